//! Membership in public ranges, against plain comparisons.

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
    let bench = Bench::leveled("bgv-65537-n15");
    let ints: Integers<'_, NoOp> = Integers::new(&bench.session, &bench.params).unwrap();
    let days = Type::ranged(8036, 10_591).unwrap();
    let x = bench.encrypt(&[8036, 10_591], days);
    let together = counted(&bench, &|| ints.in_ranges(&x, &[(8766, 9130)]));
    let apart = counted(&bench, &|| ints.and(&ints.ge(&x, 8766)?, &ints.le(&x, 9130)?));
    assert!(together.0 + 8 <= apart.0 && together.1 < apart.1, "{together:?} {apart:?}");
}

/// A value takes a product of two truth values where all of a byte are asked for.
#[test]
fn equalities_share_truth_values_of_digits() {
    let bench = Bench::leveled("bgv-65537-n15");
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
    let bench = Bench::leveled("bgv-65537-n15");
    let ints: Integers<'_, NoOp> = Integers::new(&bench.session, &bench.params).unwrap();
    let days = Type::ranged(8036, 10_591).unwrap();
    let (x, y) = (bench.encrypt(&[8036, 10_591], days), bench.encrypt(&[8037, 9000], days));
    let (z, w) = (bench.encrypt(&[1, 2], Type::U16), bench.encrypt(&[1, 2], Type::U16));
    for (narrow, wide) in [
        (counted(&bench, &|| ints.lt(&x, 9000)), counted(&bench, &|| ints.lt(&z, 9000))),
        (counted(&bench, &|| ints.lt(&x, &y)), counted(&bench, &|| ints.lt(&z, &w))),
    ] {
        assert!(narrow.0 + 5 <= wide.0 && narrow.1 < wide.1, "{narrow:?} {wide:?}");
    }
}
