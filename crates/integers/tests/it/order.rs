//! Order statistics against plain sorts.

use everlevel_integers::{Column, Integers, IntegersError, Order, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::exhausted::exhausted;
use crate::wide::values;

const SET: &str = "insecure_bgv-65537-n11";

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// The places of the entries in order, equal ones as they stand.
pub fn places(xs: &[i128], order: Order) -> Vec<i128> {
    let mut out: Vec<usize> = (0..xs.len()).collect();
    match order {
        Order::Ascending => out.sort_by_key(|i| xs[*i]),
        Order::Descending => out.sort_by_key(|i| -xs[*i]),
    }
    out.into_iter().map(|i| i as i128).collect()
}

fn check(bench: &Bench, kind: Type, xs: &[i128]) {
    for order in [Order::Ascending, Order::Descending] {
        check_in(bench, kind, xs, order);
    }
}

fn check_in(bench: &Bench, kind: Type, xs: &[i128], order: Order) {
    let ints = bench.integers();
    let (x, n) = (bench.encrypt(xs, kind), xs.len());
    let expected = places(xs, order);
    let ranks = bench.decrypt(&ints.ranks(&x, order).unwrap());
    for (rank, place) in expected.iter().enumerate() {
        assert_eq!(ranks[*place as usize], rank as i128, "{kind} {n} {order:?}: {xs:?}");
    }
    let sorted: Vec<i128> = expected.iter().map(|i| xs[*i as usize]).collect();
    for rank in [0, n / 3, n - 1] {
        let found = ints.nth(&x, order, rank).unwrap();
        assert_eq!(bench.decrypt(&found), [sorted[rank]], "{kind} {n}");
        // It is a column like others.
        assert_eq!(bench.decrypt(&ints.add(&found, 5).unwrap()), [sorted[rank] + 5]);
        let found = ints.arg_nth(&x, order, rank).unwrap();
        assert_eq!(bench.decrypt(&found), [expected[rank]], "{kind} {n}");
    }
    for take in [n, n.div_ceil(3)] {
        let found = ints.sorted(&x, order, take).unwrap();
        assert_eq!(found.length(), Some(take));
        assert_eq!(bench.decrypt(&found), sorted[..take], "{kind} {n}");
        let found = ints.argsorted(&x, order, take).unwrap();
        assert_eq!(bench.decrypt(&found), expected[..take], "{kind} {n}");
    }
}

#[test]
fn entries_are_ordered() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    assert_eq!((ints.longest_ranked(), ints.longest_ordered()), (44, 2048));
    for (kind, n) in [
        (Type::U8, 44),
        (Type::I16, 31),
        (Type::U8, 32),
        (Type::U32, 30),
        (Type::I64, 9),
        (Type::Bool, 7),
        (Type::ranged(1000, 1005).unwrap(), 16),
        (Type::U8, 3),
        (Type::I8, 2),
        (Type::U16, 1),
        (Type::ranged(7, 7).unwrap(), 5),
    ] {
        check(&bench, kind, &values(kind, n, n as u64));
    }
    // All are equal, and all the orders of three.
    check(&bench, Type::U8, &[200; 8]);
    for code in 0..27 {
        let xs = [code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1];
        let x = bench.encrypt(&xs, Type::ranged(-1, 1).unwrap());
        for order in [Order::Ascending, Order::Descending] {
            let ranks = bench.decrypt(&ints.ranks(&x, order).unwrap());
            for (rank, place) in places(&xs, order).into_iter().enumerate() {
                assert_eq!(ranks[place as usize], rank as i128, "{xs:?}");
            }
        }
    }
}

#[test]
fn statistics() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let xs = [30i128, -2, 77, 5, 77, -2];
    let x = bench.encrypt(&xs, Type::I8);
    let one = |found| bench.decrypt(&found)[0];
    assert_eq!(one(ints.maximum(&x).unwrap()), 77);
    assert_eq!(one(ints.minimum(&x).unwrap()), -2);
    assert_eq!(one(ints.argmax(&x).unwrap()), 2);
    assert_eq!(one(ints.argmin(&x).unwrap()), 1);
    assert_eq!(one(ints.median(&x).unwrap()), 5);
    assert_eq!(one(ints.quantile(&x, 9, 10).unwrap()), 77);
    assert_eq!(one(ints.quantile(&x, 0, 1).unwrap()), -2);
    for (found, code) in [
        (ints.quantile(&x, 3, 2), "integers.value"),
        (ints.quantile(&x, 0, 0), "integers.value"),
        (ints.nth(&x, Order::Ascending, 6), "integers.length"),
        (ints.sorted(&x, Order::Ascending, 0), "integers.length"),
        (ints.sorted(&x, Order::Ascending, 7), "integers.length"),
    ] {
        assert_eq!(found.map(|_| ()).unwrap_err().code(), code);
    }
}

/// Products of ciphertexts, rotations and depth of operations on 15 bytes: all pairs in one
/// comparison, whose lowest digit decides between equal entries, and one table of two digits.
#[test]
fn counts() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let cases: [(&str, Operation, (u64, u64, u32)); 3] = [
        ("ranks", |s, x| s.ranks(x, Order::Ascending), (25, 24, 6)),
        ("searchsorted", |s, x| s.searchsorted(&[3, 9], x, true), (29, 0, 5)),
        ("isin", |s, x| s.isin(x, &[3, 9]), (29, 0, 5)),
    ];
    let mut found = Vec::new();
    for (name, operation, _) in cases {
        let x = bench.encrypt(&[7; 15], Type::U8);
        let before = bench.scheme.cost();
        let out = operation(&ints, &x);
        let cost = bench.scheme.cost() - before;
        let depth = out.map(|out| out.values().map(|v| v.get().meta().depth).max().unwrap());
        let rotations = cost.key_switches - cost.relinearizations;
        found.push((name, cost.products, rotations, depth.unwrap()));
    }
    let expected =
        cases.map(|(name, _, (products, rotations, depth))| (name, products, rotations, depth));
    assert_eq!(found, expected);
}

/// The longest column of the set that everything here is for is sorted, in three parts.
#[test]
fn the_longest_sort() {
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let x = bench.encrypt(&[7; 180], Type::U16);
    for take in [180, 3] {
        let found = ints.sorted(&x, Order::Ascending, take).unwrap();
        assert_eq!((found.length(), found.interval()), (Some(take), x.interval()));
    }
}

/// Bootstrappings and products of ciphertexts, at most, for 128 fresh entries on the set that
/// everything here is for. Ranks take 10 products for the lowest digit and 14 for each other one,
/// the products that join them, and a table of 128 values; a sort takes a table of 255 differences
/// of ranks and positions instead, a product for each digit, and a bootstrapping of the truth
/// values that choose entries.
#[test]
fn fresh_entries_take_few_bootstrappings() {
    let ranks: Operation = |s, x| s.ranks(x, Order::Descending);
    let sorted: Operation = |s, x| s.sorted(x, Order::Ascending, 128);
    let places: Operation = |s, x| s.argsorted(x, Order::Ascending, 128);
    for (name, operation, kind, refreshes, products) in [
        ("ranks", ranks, Type::U8, 0, 50),
        ("ranks", ranks, Type::U16, 0, 80),
        ("sorted", sorted, Type::U8, 1, 80),
        ("sorted", sorted, Type::U16, 1, 110),
        ("argsorted", places, Type::U16, 1, 110),
    ] {
        let bench = Bench::blank("bgv-65537-n15");
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let x = bench.encrypt(&[7; 128], kind);
        let before = bench.scheme.cost();
        let found = operation(&ints, &x).unwrap();
        let cost = bench.scheme.cost() - before;
        let counted = (bench.session.bootstraps(), cost.products);
        assert_eq!(found.length(), Some(128));
        assert!(
            counted.0 <= refreshes && counted.1 <= products,
            "{name} of {kind}: {} bootstrappings, {} products",
            counted.0,
            counted.1
        );
    }
}

/// Fewer entries than fill a row with their ordered pairs are arranged as if they did.
#[test]
fn a_hundred_fresh_entries_take_one_bootstrapping() {
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let x = bench.encrypt(&[7; 100], Type::U16);
    for take in [100, 7] {
        let before = bench.session.bootstraps();
        let found = ints.sorted(&x, Order::Ascending, take).unwrap();
        assert_eq!((found.length(), found.interval()), (Some(take), x.interval()));
        assert!(bench.session.bootstraps() - before <= 1, "the first {take}");
    }
}

/// Entries that are bootstrapped first leave too little for tables of all ranks: these have carries
/// then.
#[test]
fn exhausted_entries_are_ordered() {
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    for kind in [Type::U8, Type::U16] {
        let x = exhausted(&bench, &[7; 128], kind);
        let ranks = ints.ranks(&x, Order::Ascending).unwrap();
        assert_eq!((ranks.length(), ranks.interval().high()), (Some(128), 127));
        let found = ints.sorted(&x, Order::Descending, 128).unwrap();
        assert_eq!((found.length(), found.interval()), (Some(128), x.interval()));
    }
}

/// Columns of more entries than a digit counts: those whose pairs fit a row, and one whose pairs do
/// not.
const MANY: [(Type, usize); 4] =
    [(Type::U16, 40), (Type::U8, 44), (Type::Bool, 33), (Type::I8, 70)];

/// Ranks of more entries than one digit counts, with every slot that enters a table checked, with
/// and without equal entries, in one order or the other.
#[test]
fn more_entries_than_a_digit_counts() {
    let bench = Bench::new(SET);
    let orders = [Order::Ascending, Order::Descending].into_iter().cycle();
    for ((kind, n), order) in MANY.into_iter().zip(orders) {
        check_in(&bench, kind, &values(kind, n, 100 + n as u64), order);
    }
    check_in(&bench, Type::U8, &[9; 32], Order::Ascending);
}

#[test]
#[ignore = "some seconds: in both orders"]
fn many_more_entries_than_a_digit_counts_in_full() {
    let bench = Bench::new(SET);
    for (kind, n) in MANY {
        check(&bench, kind, &values(kind, n, 100 + n as u64));
    }
    check(&bench, Type::U8, &[9; 32]);
}

/// Columns whose ordered pairs fill rows of 64 slots modulo 257, without bootstrapping, and the 256
/// slots of a row that a larger ring repeats: with as many entries as there may be, as few, and
/// equal ones, and with every slot that enters a table checked.
#[test]
fn pairs_fill_rows_of_other_lengths() {
    let leveled = Bench::leveled("insecure_bgv-257-n8");
    assert_eq!(leveled.params.slot_shape().columns(), 64);
    for (kind, n) in [(Type::U8, 5), (Type::Bool, 7), (Type::ranged(-9, 3).unwrap(), 8)] {
        check(&leveled, kind, &values(kind, n, 7 + n as u64));
    }
    check(&leveled, Type::U8, &[255; 6]);
    let repeated = Bench::with_used_slots(SET, 512);
    assert_eq!(repeated.params.slot_shape().columns(), 256);
    for (kind, n) in [(Type::I8, 9), (Type::U8, 16)] {
        check(&repeated, kind, &values(kind, n, 9 + n as u64));
    }
}

/// Nothing of what slots behind a column hold reaches its order: the digit behind this one is 10,
/// as its entries were negated.
#[test]
fn slots_behind_a_column_have_no_rank() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let xs: Vec<i128> = (0..20).map(|i| i * 7 % 11 - 5).collect();
    let x = bench.encrypt(&xs, Type::ranged(-5, 5).unwrap());
    let turned = ints.neg(&x).unwrap();
    let mut expected: Vec<i128> = xs.iter().map(|v| -v).collect();
    expected.sort_unstable();
    let found = ints.sorted(&turned, Order::Ascending, 20).unwrap();
    assert_eq!(bench.decrypt(&found), expected);
    let ranks = bench.decrypt(&ints.ranks(&turned, Order::Descending).unwrap());
    let largest_first: Vec<i128> = xs.iter().map(|v| -v).collect();
    for (rank, place) in places(&largest_first, Order::Descending).into_iter().enumerate() {
        assert_eq!(ranks[place as usize], rank as i128);
    }
}
