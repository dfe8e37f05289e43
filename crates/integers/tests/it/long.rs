//! Order of columns that are longer than one comparison of all pairs.

use everlevel_integers::{Column, Integers, IntegersError, Order, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::wide::values;

/// On a toy set a row has 1,024 slots: with every slot that enters a table checked, from one more
/// entry than its pairs have room for to all slots, with equal entries, the last ones among them.
#[test]
fn long_columns_are_ordered() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let place = |xs: &[i128], best: i128| xs.iter().position(|x| *x == best).unwrap() as i128;

    let xs = values(Type::U8, 45, 3);
    let x = bench.encrypt(&xs, Type::U8);
    let mut sorted = xs.clone();
    sorted.sort_unstable();
    assert_eq!(bench.decrypt(&ints.sorted(&x, Order::Ascending, 45).unwrap()), sorted);
    assert_eq!(bench.decrypt(&ints.median(&x).unwrap()), [sorted[22]]);

    let bits: Vec<i128> = (0..513).map(|i| i % 2).collect();
    let x = bench.encrypt(&bits, Type::Bool);
    let before = |i: usize| if i.is_multiple_of(2) { i / 2 } else { 257 + i / 2 };
    let expected: Vec<i128> = (0..513).map(|i| before(i) as i128).collect();
    assert_eq!(bench.decrypt(&ints.ranks(&x, Order::Ascending).unwrap()), expected);

    for n in [1025usize, 2048] {
        let mut xs: Vec<i128> = (0..n as i128).map(|i| i * i % 97 - 48).collect();
        xs[n - 1] = 127;
        let x = bench.encrypt(&xs, Type::I8);
        assert_eq!(bench.decrypt(&ints.maximum(&x).unwrap()), [127]);
        assert_eq!(bench.decrypt(&ints.argmin(&x).unwrap()), [place(&xs, -48)]);
    }
}

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Name, operation, entries, and products, key switches and bootstrappings.
type Case = (&'static str, Operation, usize, (u64, u64, usize));

/// What it takes on the set that everything here is for, for fresh columns of 16 bits.
#[test]
fn counts() {
    let cases: [Case; 3] = [
        ("ranks", |s, x| s.ranks(x, Order::Ascending), 1000, (1581, 3239, 22)),
        ("sorted", |s, x| s.sorted(x, Order::Ascending, 256), 256, (387, 892, 5)),
        ("maximum", |s, x| s.maximum(x), 32768, (2302, 8299, 80)),
    ];
    counted(&cases);
}

/// The others that are documented.
#[test]
#[ignore = "some ten seconds"]
fn many_counts_in_full() {
    let cases: [Case; 3] = [
        ("sorted", |s, x| s.sorted(x, Order::Ascending, 4096), 4096, (12760, 47044, 458)),
        ("first 10", |s, x| s.sorted(x, Order::Descending, 10), 4096, (8112, 29824, 290)),
        ("argmax", |s, x| s.argmax(x), 32768, (4653, 16951, 164)),
    ];
    counted(&cases);
}

fn counted(cases: &[Case]) {
    let mut found = Vec::new();
    for &(name, operation, n, _) in cases {
        let bench = Bench::blank("bgv-65537-n15");
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let x = bench.encrypt(&vec![7; n], Type::U16);
        let before = (bench.scheme.cost(), bench.session.bootstraps());
        operation(&ints, &x).unwrap();
        let cost = bench.scheme.cost() - before.0;
        let refreshes = bench.session.bootstraps() - before.1;
        found.push((name, n, (cost.products, cost.key_switches, refreshes)));
    }
    let expected: Vec<_> = cases.iter().map(|&(name, _, n, counts)| (name, n, counts)).collect();
    assert_eq!(found, expected);
}
