//! Truth values that pass from digit to digit: comparisons, carries and what is made of them, for
//! fresh operands and for those that have to be bootstrapped first.

use std::sync::Arc;

use everlevel_circuit::Session;
use everlevel_integers::{Column, Encoded, Integers, IntegersError, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme, SchemeError};

use crate::common::Bench;
use crate::wide::values;

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// A column with a few bits of capacity above what bootstrapping needs, for sums of some terms.
fn worn(bench: &Bench, values: &[i128], kind: Type) -> Column<NoOpCiphertext> {
    let left = bench.session.minimum_capacity() + 8.0;
    // High enough for noise above that of a switch of the modulus.
    let level = Level(bench.params.chain().top().0 / 4);
    let encoded = Encoded::new(values, kind, bench.params.slots()).unwrap();
    encoded
        .encrypt(|slots| {
            let plaintext = Plaintext::encode(&bench.params, slots)?;
            bench.scheme.encrypt_exhausted(&plaintext, level, left)
        })
        .unwrap_or_else(|e: SchemeError| panic!("{e}"))
}

/// Bootstrappings of two exhausted columns. A digit takes one in a comparison, and where carries
/// are computed. For a minimum differences are compared and multiplied, and are bootstrapped once
/// for that: a digit takes one then, and so do each four signs, and the truth value where the last
/// table has four signs.
#[test]
fn exhausted_columns_take_few_bootstrappings() {
    let cases: [(&str, Operation, [usize; 4]); 4] = [
        ("lt", |s, a, b| s.lt(a, b), [2, 4, 8, 16]),
        ("min", |s, a, b| s.min(a, b), [3, 6, 11, 22]),
        ("max", |s, a, b| s.max(a, b), [3, 6, 11, 22]),
        ("add", |s, a, b| s.normalized(&s.add(a, b)?), [2, 4, 8, 16]),
    ];
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let mut found = Vec::new();
    for (name, operation, _) in cases {
        let count = |kind: Type| {
            let (a, b) = (worn(&bench, &[1, 2], kind), worn(&bench, &[2, 2], kind));
            let before = bench.session.bootstraps();
            operation(&ints, &a, &b).unwrap_or_else(|e| panic!("{name} of {kind}: {e}"));
            bench.session.bootstraps() - before
        };
        found.push((name, [Type::U8, Type::U16, Type::U32, Type::U64].map(count)));
    }
    assert_eq!(found, cases.map(|(name, _, expected)| (name, expected)));
}

/// The lesser of a column and a public integer: its differences are bootstrapped once, too.
#[test]
fn an_exhausted_column_and_a_public_integer() {
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let x = worn(&bench, &[1, 2], Type::U32);
    ints.min(&x, 0x7654_3217).unwrap();
    assert_eq!(bench.session.bootstraps(), 11);
}

/// Name, operation, and the same of integers.
type Case = (&'static str, Operation, fn(i128, i128) -> i128);

#[test]
fn values_are_right() {
    let cases: [Case; 9] = [
        ("<", |s, a, b| s.lt(a, b), |x, y| (x < y).into()),
        ("<=", |s, a, b| s.le(a, b), |x, y| (x <= y).into()),
        (">", |s, a, b| s.gt(a, b), |x, y| (x > y).into()),
        (">=", |s, a, b| s.ge(a, b), |x, y| (x >= y).into()),
        ("min", |s, a, b| s.min(a, b), i128::min),
        ("max", |s, a, b| s.max(a, b), i128::max),
        ("+", |s, a, b| s.normalized(&s.add(a, b)?), |x, y| x + y),
        ("-", |s, a, b| s.normalized(&s.sub(a, b)?), |x, y| x - y),
        ("clip", |s, a, _| s.clip(a, 21, 99), |x, _| x.clamp(21, 99)),
    ];
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let odd = Type::ranged(-100, 3_000).unwrap();
    for kind in [Type::U8, Type::I16, Type::U32, odd] {
        let (xs, mut ys) = (values(kind, 60, 3), values(kind, 60, 4));
        // Equal ones, and neighbours.
        ys[..9].copy_from_slice(&xs[..9]);
        for (x, y) in xs[9..18].iter().zip(&mut ys[9..18]) {
            *y = (x + 1).min(kind.interval().high());
        }
        for (name, operation, plain) in cases {
            let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| plain(*x, *y)).collect();
            let fresh = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
            let worn = (worn(&bench, &xs, kind), worn(&bench, &ys, kind));
            for (state, (a, b)) in [("fresh", fresh), ("exhausted", worn)] {
                let found = bench.decrypt(&operation(&ints, &a, &b).unwrap());
                assert_eq!(found, expected, "{name} of {state} {kind}");
            }
        }
    }
}

/// Half of a sign modulo a prime of 34 bits, whose square is no word: what overflows is noticed
/// without `--release`.
#[test]
fn signs_modulo_a_large_prime() {
    let spec = ParamsSpec {
        words: 40,
        ..ParamsSpec::new("insecure_bgv-17179926529-n7", 256, 17_179_926_529)
    };
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let scheme = Arc::new(NoOp::new(&params, 1));
    let bench = Bench { session: Session::leveled(scheme.clone()), params, scheme };
    let ints = bench.integers();
    let (xs, ys) = ([0, 255, 17, 16, 15, 31, 200], [0, 254, 17, 31, 16, 16, 201]);
    let (a, b) = (bench.encrypt(&xs, Type::U8), bench.encrypt(&ys, Type::U8));
    let expected = |f: fn(&i128, &i128) -> bool| -> Vec<i128> {
        xs.iter().zip(&ys).map(|(x, y)| f(x, y).into()).collect()
    };
    assert_eq!(bench.decrypt(&ints.lt(&a, &b).unwrap()), expected(|x, y| x < y));
    assert_eq!(bench.decrypt(&ints.le(&a, &b).unwrap()), expected(|x, y| x <= y));
}

/// Carries that pass all digits, or end in one of them.
#[test]
fn carries_pass_digits() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let high = i128::from(u64::MAX);
    let xs: Vec<i128> = (0..16).map(|i| high - (1 << (4 * i))).chain([high, high, 0]).collect();
    let ys: Vec<i128> = (0..16).map(|i| 1 << (4 * i)).chain([1, high, 0]).collect();
    let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| x + y + 1).collect();
    let fresh = (bench.encrypt(&xs, Type::U64), bench.encrypt(&ys, Type::U64));
    for (a, b) in [fresh, (worn(&bench, &xs, Type::U64), worn(&bench, &ys, Type::U64))] {
        let sum = ints.add(&ints.normalized(&ints.add(&a, &b).unwrap()).unwrap(), 1).unwrap();
        assert_eq!(bench.decrypt(&ints.normalized(&sum).unwrap()), expected);
    }
}

/// Fresh columns begin lower as far as results have the capacity that tables of signs would leave.
#[test]
fn fresh_columns_begin_lower() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let left = |x: &Column<NoOpCiphertext>| {
        let capacities = x.values().map(|v| bench.scheme.capacity_bits(&v.get()));
        capacities.fold(f64::INFINITY, f64::min)
    };
    // A product takes less than 40 bits.
    for (kind, depth) in [(Type::U8, 8), (Type::U16, 10), (Type::U32, 13), (Type::U64, 15)] {
        let (a, b) = (bench.encrypt(&[1, 2], kind), bench.encrypt(&[2, 2], kind));
        let found = ints.lt(&a, &b).unwrap();
        assert!(left(&found) >= left(&a) - 40.0 * f64::from(depth), "{kind}: {}", left(&found));
    }
    // A comparison for tables of data begins where the columns are.
    let (a, b) = (bench.encrypt(&[1, 2], Type::U64), bench.encrypt(&[2, 2], Type::U64));
    let cost = |operation: Operation| {
        let before = bench.scheme.cost();
        let found = operation(&ints, &a, &b).unwrap();
        (bench.scheme.cost() - before, left(&found))
    };
    let (low, high) = (cost(|s, a, b| s.lt(a, b)), cost(|s, a, b| s.lt_fresh(a, b)));
    assert_eq!(low.0.products, high.0.products);
    assert!(low.1 < high.1, "{} and {} bits are left", low.1, high.1);
    assert!(5 * low.0.transforms < 4 * high.0.transforms, "{:?} {:?}", low.0, high.0);
}
