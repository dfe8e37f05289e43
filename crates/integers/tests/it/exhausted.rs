//! Operands that have nothing left but what bootstrapping needs, on the set that everything here is
//! for.

use everlevel_integers::{Column, Encoded, Integers, IntegersError, Interval, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, Plaintext, SchemeError};

use crate::common::Bench;
use crate::wide::values;

/// A column at the lowest level, with as much capacity as bootstrapping takes.
pub fn exhausted(bench: &Bench, values: &[i128], kind: Type) -> Column<NoOpCiphertext> {
    with_left(bench, values, kind, 0.0)
}

/// The same with `bits` more bits of capacity.
pub fn with_left(bench: &Bench, values: &[i128], kind: Type, bits: f64) -> Column<NoOpCiphertext> {
    let left = bench.session.minimum_capacity() + bits;
    let encoded = Encoded::new(values, kind, bench.params.slots()).unwrap();
    encoded
        .encrypt(|slots| {
            let plaintext = Plaintext::encode(&bench.params, slots)?;
            bench.scheme.encrypt_exhausted(&plaintext, Level(1), left)
        })
        .unwrap_or_else(|e: SchemeError| panic!("{e}"))
}

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Name, operation, type, and how many ciphertexts are bootstrapped at most: a few more or less, as
/// digits are done in parallel that share some.
type Case = (&'static str, Operation, Type, usize);

/// What `bgv-65537-n15` leaves after bootstrapping is enough for every operation. The rehearsal
/// knows levels and noise bounds, not values.
#[test]
fn everything_fits() {
    let cases: [Case; 15] = [
        ("mul", |s, a, b| s.mul(a, b), Type::U8, 12),
        ("mul", |s, a, b| s.mul(a, b), Type::U16, 30),
        ("mul", |s, a, b| s.mul(a, b), Type::I16, 30),
        ("mul", |s, a, b| s.mul(a, b), Type::U32, 80),
        ("square", |s, a, _| s.square(a), Type::I16, 18),
        ("wrapped", |s, a, b| s.mul_wrapped(a, b, Type::U16), Type::U16, 25),
        ("wrapped", |s, a, b| s.mul_wrapped(a, b, Type::I32), Type::I32, 66),
        ("// 10", |s, a, _| s.div_public(a, 10), Type::U16, 28),
        ("// -7", |s, a, _| s.div_public(a, -7), Type::I16, 31),
        ("% 10", |s, a, _| s.rem_public(a, 10), Type::U16, 30),
        ("% 1000", |s, a, _| s.rem_public(a, 1000), Type::U32, 82),
        ("// 30", |s, a, b| s.div(a, &s.clip(b, 0, 30)?), Type::U16, 70),
        ("%", |s, a, b| s.rem(a, b), Type::U16, 168),
        ("times 1000", |s, a, _| s.mul_public(a, 1000), Type::U64, 46),
        ("* <", |s, a, b| s.mul(a, &s.lt(a, b)?), Type::U32, 20),
    ];
    fits(&cases);
}

/// The same operations on wider types.
#[test]
#[ignore = "some seconds"]
fn many_widths_fit_in_full() {
    let cases: [Case; 7] = [
        ("mul", |s, a, b| s.mul(a, b), Type::I32, 80),
        ("square", |s, a, _| s.square(a), Type::U32, 54),
        ("wrapped", |s, a, b| s.mul_wrapped(a, b, Type::U64), Type::U64, 160),
        ("// 1000", |s, a, _| s.div_public(a, 1000), Type::I32, 68),
        ("// 10", |s, a, _| s.div_public(a, 10), Type::U64, 90),
        ("% 30", |s, a, b| s.rem(a, &s.clip(b, 0, 30)?), Type::U32, 164),
        ("//", |s, a, b| s.div(a, b), Type::U16, 164),
    ];
    fits(&cases);
}

fn fits(cases: &[Case]) {
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let mut all = Vec::new();
    for &(name, operation, kind, expected) in cases {
        let n = bench.params.slots() - 1;
        let (xs, ys) = (values(kind, n, 1), values(kind, n, 2));
        let (a, b) = (exhausted(&bench, &xs, kind), exhausted(&bench, &ys, kind));
        let before = bench.session.bootstraps();
        operation(&ints, &a, &b).unwrap_or_else(|e| panic!("{name} of {kind}: {e}"));
        all.push((name, kind, bench.session.bootstraps() - before, expected));
    }
    assert!(all.iter().all(|(_, _, found, most)| found <= most), "{all:?}");
}

/// Results are operands again, as often as one likes.
#[test]
fn chains_do_not_end() {
    chained(2);
}

#[test]
#[ignore = "some ten seconds"]
fn many_links_of_chains_in_full() {
    chained(12);
}

/// The first time of exhausted columns, then of its own results.
fn chained(times: usize) {
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let limits = Interval::new(0, 65_535).unwrap();
    let encrypt = |kind: Type| exhausted(&bench, &values(kind, 9, 1), kind);
    let (mut x, y) = (encrypt(Type::U16), encrypt(Type::U16));
    let z = encrypt(Type::ranged(1, 200).unwrap());
    for _ in 0..times {
        let product = ints.mul(&x, &y).unwrap();
        let (quotient, rest) = ints.div_rem(&product, &z).unwrap();
        let next = ints.add(&ints.div_public(&quotient, 10).unwrap(), &rest).unwrap();
        x = ints.clip(&next, limits.low(), limits.high()).unwrap();
        assert_eq!(x.interval(), limits);
    }
}
