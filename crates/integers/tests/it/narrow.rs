//! Intervals and digits of results are no wider than the operations make them.

use everlevel_integers::{Column, Integers, IntegersError, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::wide::values;

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Name, operation, what it gives, the interval of the result of two columns of 16 bits, and its
/// ciphertexts.
type Case = (&'static str, Operation, fn(i128, i128) -> i128, (i128, i128), usize);

#[test]
fn results_are_narrow() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let n = bench.params.slots() - 1;
    let (xs, ys) = (values(Type::U16, n, 1), values(Type::U16, n, 2));
    let (a, b) = (bench.encrypt(&xs, Type::U16), bench.encrypt(&ys, Type::U16));
    let cases: [Case; 15] = [
        ("min", |s, a, _| s.min(a, 100), |x, _| x.min(100), (0, 100), 2),
        ("max", |s, a, _| s.max(a, 65_000), |x, _| x.max(65_000), (65_000, 65_535), 3),
        ("clip", |s, a, _| s.clip(a, 1000, 1009), |x, _| x.clamp(1000, 1009), (1000, 1009), 2),
        ("low bits", |s, a, _| s.bit_and(a, 15), |x, _| x & 15, (0, 15), 1),
        ("high bits", |s, a, _| s.bit_and(a, 0xf000), |x, _| x & 0xf000, (0, 0xf000), 1),
        ("all ones", |s, a, _| s.bit_or(a, 0xfff0), |x, _| x | 0xfff0, (0xfff0, 0xffff), 1),
        (
            "bits of a byte",
            |s, a, b| s.bit_and(&s.min(a, 255)?, b),
            |x, y| x.min(255) & y,
            (0, 255),
            2,
        ),
        (
            "xor",
            |s, a, b| s.bit_xor(&s.min(a, 9)?, &s.min(b, 3)?),
            |x, y| x.min(9) ^ y.min(3),
            (0, 11),
            1,
        ),
        ("shift", |s, a, _| s.shift_right(a, 9), |x, _| x >> 9, (0, 127), 2),
        ("quotient", |s, a, _| s.div_public(a, 3000), |x, _| x / 3000, (0, 21), 2),
        ("rest", |s, a, _| s.rem_public(a, 3000), |x, _| x % 3000, (0, 2999), 3),
        ("never", |s, a, _| s.eq(a, 70_000), |_, _| 0, (0, 0), 0),
        ("neither", |s, a, b| s.and(&s.eq(a, 70_000)?, &s.lt(a, b)?), |_, _| 0, (0, 0), 0),
        (
            "abs",
            |s, a, b| s.abs(&s.sub(&s.min(a, 3)?, &s.min(b, 12)?)?),
            |x, y| (x.min(3) - y.min(12)).abs(),
            (0, 12),
            1,
        ),
        ("ones", |s, a, _| s.popcount(a), |x, _| i128::from(x.count_ones()), (0, 16), 1),
    ];
    for (name, operation, f, interval, ciphertexts) in cases {
        let found = operation(&ints, &a, &b).unwrap();
        let shown = (found.interval().low(), found.interval().high(), found.ciphertexts());
        assert_eq!(shown, (interval.0, interval.1, ciphertexts), "{name}");
        let values = bench.decrypt(&found);
        for i in 0..n {
            let value = values[if values.len() == 1 { 0 } else { i }];
            assert_eq!(value, f(xs[i], ys[i]), "{name} of {}, {}", xs[i], ys[i]);
        }
    }
}

/// What is computed on a column, with a table.
type Next = fn(&Integers<'_, NoOp>, &Column<NoOpCiphertext>, &[i128]);

/// What is computed on min(x, 100) takes what it takes on a column that was encrypted so.
#[test]
fn what_follows_takes_less() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let kind = Type::ranged(0, 100).unwrap();
    let byte = bench.encrypt(&values(kind, 9, 1), kind);
    let small = ints.min(&bench.encrypt(&values(Type::U8, 9, 1), Type::U8), 100).unwrap();
    let table: Vec<i128> = (0..=100).collect();
    let follow: [Next; 4] = [
        |s, x, _| drop(s.lt(x, 50).unwrap()),
        |s, x, _| drop(s.normalized(&s.add(x, x).unwrap()).unwrap()),
        |s, x, table| drop(s.lookup(x, table).unwrap()),
        |s, x, _| drop(s.bit_xor(x, x).unwrap()),
    ];
    for (i, operation) in follow.iter().enumerate() {
        let products = |x: &Column<NoOpCiphertext>| {
            let before = bench.scheme.cost().products;
            operation(&ints, x, &table);
            bench.scheme.cost().products - before
        };
        assert_eq!(products(&small), products(&byte), "operation {i}");
    }
}
