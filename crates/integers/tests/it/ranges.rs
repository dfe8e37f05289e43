//! Membership in public ranges, and comparisons that are decided in the same way, against plain
//! ones.

use everlevel_integers::{Column, Integers, IntegersError, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;

/// Columns of one digit, of several, of digits that are the same for all values, and of four digits
/// of which the highest two have no more values than one.
#[test]
fn every_value_of_some_types() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    // Some slots stay unused, and the observer looks at what they hold.
    let most = bench.params.slots() - 3;
    for (low, high) in
        [(0, 1), (0, 10), (0, 255), (-700, 1200), (8036, 10_591), (1_000_000, 1_002_000)]
    {
        let kind = Type::ranged(low, high).unwrap();
        let all: Vec<i128> = (low..=high).collect();
        let at = |percent: i128| low + (high - low) * percent / 100;
        let cases: [Vec<(i128, i128)>; 7] = [
            vec![],
            vec![(low, high)],
            vec![(low - 5, at(40))],
            vec![(at(30), at(60))],
            vec![(at(70), high + 9)],
            vec![(at(50), at(50))],
            vec![
                (at(60), at(64)),
                (at(10), at(20)),
                (at(15), at(25)),
                (at(33), at(33)),
                (at(80), high),
            ],
        ];
        let (values, others) = ([low, at(33), at(50), at(51), high], [low - 1, at(7)]);
        for xs in all.chunks(most) {
            let x = bench.encrypt(xs, kind);
            let found = [&values[..], &others[..]].map(|v| ints.equal_each(&x, v).unwrap());
            for (value, found) in values.iter().chain(&others).zip(found.iter().flatten()) {
                let found = bench.decrypt(found);
                for (i, v) in xs.iter().enumerate() {
                    let held = found[if found.len() == 1 { 0 } else { i }];
                    assert_eq!(held, i128::from(v == value), "{v} = {value}");
                }
            }
            for ranges in &cases {
                let found = bench.decrypt(&ints.in_ranges(&x, ranges).unwrap());
                for (i, v) in xs.iter().enumerate() {
                    let held = found[if found.len() == 1 { 0 } else { i }];
                    let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(v));
                    assert_eq!(held, i128::from(expected), "{v} in {ranges:?}");
                }
            }
        }
    }
}

/// Columns of two to six digits, with entries that are equal or differ in one digit.
#[test]
fn fresh_columns_are_compared() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for (low, high) in [(8036, 10_591), (-300, 300), (0, 255), (-2_000_000, 5_000_000)] {
        let kind = Type::ranged(low, high).unwrap();
        let spread = |i: i128| low + (31 * i * i + 7 * i) % (high - low + 1);
        let xs: Vec<i128> = (0..600).map(spread).collect();
        let steps = [0i128, 1, -1, 16, -16, 255, -256];
        let near = |(i, x): (usize, &i128)| (x + steps[i % steps.len()]).clamp(low, high);
        let ys: Vec<i128> = xs.iter().enumerate().map(near).collect();
        let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
        let less = bench.decrypt(&ints.lt_fresh(&a, &b).unwrap());
        let at_most = bench.decrypt(&ints.le_fresh(&a, &b).unwrap());
        for (i, (x, y)) in xs.iter().zip(&ys).enumerate() {
            let expected = (i128::from(x < y), i128::from(x <= y));
            assert_eq!((less[i], at_most[i]), expected, "{x} and {y}");
        }
    }
}

/// Ends of ranges of eight digits, and of sixteen, which are compared one by one.
#[test]
fn ranges_of_many_digits() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let cases = [
        (Type::U32, [(7, 11), (0x1234_5678, 0xfedc_ba98)]),
        (Type::U64, [(7, 11), (0x1234_5678_9abc, 0xfedc_ba98_7654_3210)]),
    ];
    for (kind, ranges) in cases {
        let around = |(a, b): &(i128, i128)| [a - 1, *a, a + 1, b - 1, *b, b + 1];
        let mut xs: Vec<i128> = ranges.iter().flat_map(around).collect();
        xs.extend([0, kind.interval().high()]);
        let found = bench.decrypt(&ints.in_ranges(&bench.encrypt(&xs, kind), &ranges).unwrap());
        for (x, found) in xs.iter().zip(&found) {
            let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(x));
            assert_eq!(*found, i128::from(expected), "{x} in {ranges:?}");
        }
    }
}

/// 150 integers and 75 ranges, which are more than are held at the same time.
#[test]
fn long_lists_are_added_up_in_between() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let xs: Vec<i128> = (0..900).collect();
    let x = bench.encrypt(&xs, Type::ranged(0, 899).unwrap());
    let range = |i: i128| (4 * i, 4 * i + i128::from(i % 3 == 0));
    let ranges: Vec<(i128, i128)> = (0..225).map(range).collect();
    let found = bench.decrypt(&ints.in_ranges(&x, &ranges).unwrap());
    for (x, found) in xs.iter().zip(&found) {
        let expected = x % 4 == 0 || (x % 4 == 1 && x / 4 % 3 == 0);
        assert_eq!(*found, i128::from(expected), "{x}");
    }
}

type Asked<'a> = &'a dyn Fn() -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Products and depth.
fn counted(bench: &Bench, asked: Asked<'_>) -> (u64, u32) {
    let before = bench.scheme.cost();
    let out = asked().unwrap();
    let depth = out.values().map(|v| v.get().meta().depth).max().unwrap();
    ((bench.scheme.cost() - before).products, depth)
}

#[test]
fn both_ends_take_less_than_two_comparisons() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints: Integers<'_, NoOp> = Integers::new(&bench.session, &bench.params).unwrap();
    let days = Type::ranged(8036, 10_591).unwrap();
    let x = bench.encrypt(&[8036, 10_591], days);
    let together = counted(&bench, &|| ints.in_ranges(&x, &[(8766, 9130)]));
    let apart = counted(&bench, &|| ints.and(&ints.ge(&x, 8766)?, &ints.le(&x, 9130)?));
    assert_eq!(together, (31, 6));
    assert!(together.0 + 8 <= apart.0 && together.1 < apart.1, "{together:?} {apart:?}");
    // A month, whose ends have the same highest digit; and one end.
    assert_eq!(counted(&bench, &|| ints.in_ranges(&x, &[(9374, 9403)])), (27, 6));
    assert_eq!(counted(&bench, &|| ints.in_ranges(&x, &[(8036, 10_471)])), (25, 6));
    // Columns of two digits: 25 of 150 categories, and what is below 24.
    let kinds = bench.encrypt(&[0, 149], Type::ranged(0, 149).unwrap());
    assert_eq!(counted(&bench, &|| ints.in_ranges(&kinds, &[(75, 99)])), (19, 5));
    let quantities = bench.encrypt(&[1, 50], Type::ranged(1, 50).unwrap());
    assert_eq!(counted(&bench, &|| ints.in_ranges(&quantities, &[(1, 23)])), (10, 5));
}

/// A value takes a product of two truth values where all of a byte are asked for.
#[test]
fn equalities_share_truth_values_of_digits() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints: Integers<'_, NoOp> = Integers::new(&bench.session, &bench.params).unwrap();
    let x = bench.encrypt(&[0, 255], Type::U8);
    let values: Vec<i128> = (0..=255).collect();
    let before = bench.scheme.cost();
    assert_eq!(ints.equal_each(&x, &values).unwrap().len(), 256);
    let relinearizations = (bench.scheme.cost() - before).relinearizations;
    assert!((256..=256 + 2 * 23).contains(&relinearizations), "{relinearizations}");
}

/// The days of seven years have four digits, of which the highest two have eleven values.
#[test]
fn the_highest_digits_are_compared_as_one() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints: Integers<'_, NoOp> = Integers::new(&bench.session, &bench.params).unwrap();
    let days = Type::ranged(8036, 10_591).unwrap();
    let (x, y) = (bench.encrypt(&[8036, 10_591], days), bench.encrypt(&[8037, 9000], days));
    let (z, w) = (bench.encrypt(&[1, 2], Type::U16), bench.encrypt(&[1, 2], Type::U16));
    for (narrow, wide) in [
        (counted(&bench, &|| ints.lt(&x, 9000)), counted(&bench, &|| ints.lt(&z, 9000))),
        (counted(&bench, &|| ints.lt(&x, &y)), counted(&bench, &|| ints.lt(&z, &w))),
    ] {
        assert!(narrow.0 + 5 <= wide.0 && narrow.1 <= wide.1, "{narrow:?} {wide:?}");
    }
}

/// As documented.
#[test]
fn a_diagram_takes_fewer_levels_than_products() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints: Integers<'_, NoOp> = Integers::new(&bench.session, &bench.params).unwrap();
    let days = Type::ranged(8036, 10_591).unwrap();
    let (x, y) = (bench.encrypt(&[8036, 10_591], days), bench.encrypt(&[8037, 9000], days));
    assert_eq!(counted(&bench, &|| ints.lt_fresh(&x, &y)), (37, 7));
    assert_eq!(counted(&bench, &|| ints.lt(&x, &y)), (32, 8));
    // More digits than a diagram has, and a single one.
    let (x, y) = (bench.encrypt(&[1, 2], Type::U64), bench.encrypt(&[2, 2], Type::U64));
    assert_eq!(counted(&bench, &|| ints.lt_fresh(&x, &y)), counted(&bench, &|| ints.lt(&x, &y)));
    let nibble = Type::ranged(0, 15).unwrap();
    let (x, y) = (bench.encrypt(&[1, 2], nibble), bench.encrypt(&[2, 2], nibble));
    assert_eq!(counted(&bench, &|| ints.le_fresh(&x, &y)), counted(&bench, &|| ints.le(&x, &y)));
}

/// Truth values of a diagram would have to be bootstrapped where its digits were: a tree has fewer
/// sums of signs.
#[test]
fn bootstrapped_digits_are_compared_by_a_tree() {
    let bench = Bench::blank("bgv-65537-n15");
    let ints: Integers<'_, NoOp> = Integers::new(&bench.session, &bench.params).unwrap();
    let exhausted = || {
        let x = bench.encrypt(&[1], Type::U16);
        for value in x.values() {
            bench.session.refresh_in_place(value).unwrap();
        }
        x
    };
    let [fresh, plain] = [true, false].map(|fresh| {
        let (x, y) = (exhausted(), exhausted());
        let before = bench.session.bootstraps();
        let found = if fresh { ints.lt_fresh(&x, &y) } else { ints.lt(&x, &y) };
        assert!(found.is_ok());
        bench.session.bootstraps() - before
    });
    assert_eq!(fresh, plain);
}
