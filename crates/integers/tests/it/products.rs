//! Products of two columns, squares, products modulo 2^bits.

use everlevel_integers::{Column, Integers, IntegersError, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::wide::values;

#[test]
fn all_pairs_of_bytes() {
    let bench = Bench::leveled("bgv-65537-n15");
    let ints = bench.integers();
    let slots = bench.params.slots();
    for (kind, low) in [(Type::U8, 0i128), (Type::I8, -128)] {
        for part in 0..65536 / slots {
            let pair = |i: usize| {
                let n = (part * slots + i) as i128;
                (low + n / 256, low + n % 256)
            };
            let xs: Vec<i128> = (0..slots).map(|i| pair(i).0).collect();
            let ys: Vec<i128> = (0..slots).map(|i| pair(i).1).collect();
            let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
            let product = ints.mul(&a, &b).unwrap();
            let found = bench.decrypt(&product);
            let wrapped = bench.decrypt(&ints.mul_wrapped(&a, &b, kind).unwrap());
            for i in 0..slots {
                let expected = xs[i] * ys[i];
                assert_eq!(found[i], expected, "{} * {}", xs[i], ys[i]);
                let expected =
                    if low == 0 { expected as u8 as i128 } else { expected as i8 as i128 };
                assert_eq!(wrapped[i], expected, "{} * {} wrapped", xs[i], ys[i]);
            }
        }
    }
}

#[test]
fn all_squares_of_16_bits() {
    let bench = Bench::leveled("bgv-65537-n15");
    let ints = bench.integers();
    let slots = bench.params.slots() as i128;
    for (kind, low) in [(Type::U16, 0i128), (Type::I16, -32768)] {
        for part in 0..65536 / slots {
            let first = low + part * slots;
            let xs: Vec<i128> = (first..first + slots).collect();
            let square = ints.square(&bench.encrypt(&xs, kind)).unwrap();
            assert_eq!(square.interval().low(), 0);
            let found = bench.decrypt(&square);
            assert!(found.iter().zip(&xs).all(|(y, x)| *y == x * x));
        }
    }
}

fn wrapped(v: i128, kind: Type) -> i128 {
    let interval = kind.interval();
    (v - interval.low()).rem_euclid(interval.points() as i128) + interval.low()
}

/// Through refreshes, with unused slots, and on with what comes out.
#[test]
fn refreshed() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let n = bench.params.slots() - 3;
    let ranged = |low, high| Type::ranged(low, high).unwrap();
    for (left, right) in [
        (Type::U8, Type::U16),
        (Type::I8, Type::U8),
        (Type::I16, Type::I16),
        (Type::U32, Type::U32),
        (Type::I32, Type::U16),
        (Type::Bool, Type::U32),
        (Type::I16, Type::Bool),
        (ranged(-7, 9), ranged(1000, 1300)),
        (ranged(18, 120), ranged(-3000, -2000)),
        (ranged(5, 5), Type::U8),
        (ranged(0, 5), ranged(2, 6)),
    ] {
        let (xs, ys) = (values(left, n, 7), values(right, n, 8));
        let (a, b) = (bench.encrypt(&xs, left), bench.encrypt(&ys, right));
        let product = ints.mul(&a, &b).unwrap();
        let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| x * y).collect();
        assert_eq!(bench.decrypt(&product), expected, "{left} * {right}");
        let less = ints.lt(&product, &a).unwrap();
        let is_less = |(x, v): (&i128, &i128)| i128::from(v < x);
        let found = bench.decrypt(&less);
        let found = if found.len() == 1 { vec![found[0]; n] } else { found };
        assert_eq!(found, xs.iter().zip(&expected).map(is_less).collect::<Vec<_>>());
        let sum = ints.normalized(&ints.add(&product, &b).unwrap()).unwrap();
        let total: Vec<i128> = expected.iter().zip(&ys).map(|(v, y)| v + y).collect();
        assert_eq!(bench.decrypt(&sum), total, "{left} * {right} + {right}");
    }
}

#[test]
fn wrapping() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let n = bench.params.slots();
    for kind in [Type::U64, Type::I64, Type::I32, Type::U16] {
        let (xs, ys) = (values(kind, n, 5), values(kind, n, 6));
        let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
        let expected = |f: &dyn Fn(i128, i128) -> i128| -> Vec<i128> {
            xs.iter().zip(&ys).map(|(x, y)| wrapped(f(*x, *y), kind)).collect()
        };
        let found = ints.mul_wrapped(&a, &b, kind).unwrap();
        assert_eq!(bench.decrypt(&found), expected(&|x, y| x.wrapping_mul(y)), "{kind}");
        let found = ints.mul_wrapped(&a, -3, kind).unwrap();
        assert_eq!(bench.decrypt(&found), expected(&|x, _| -3 * x), "{kind}");
        let found = ints.mul_wrapped(-40_503, &a, kind).unwrap();
        assert_eq!(bench.decrypt(&found), expected(&|x, _| -40_503 * x), "{kind}");
    }
}

/// Constants of many digits, with no table on more than one digit.
#[test]
fn public_factors() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for (kind, factor) in [
        (Type::U8, 255),
        (Type::I8, 1000),
        (Type::U16, 40_503),
        (Type::I32, 16_777_619),
        (Type::U32, 2_654_435_769),
        (Type::ranged(-4, 3000).unwrap(), -123_456_789_012),
    ] {
        let xs = values(kind, bench.params.slots() - 1, 9);
        let a = bench.encrypt(&xs, kind);
        for found in [ints.mul_public(&a, factor).unwrap(), ints.mul(factor, &a).unwrap()] {
            let expected: Vec<i128> = xs.iter().map(|x| x * factor).collect();
            assert_eq!(bench.decrypt(&found), expected, "{kind} * {factor}");
        }
    }
}

/// Factors that take nothing, one table a digit, two of them, and more; of digits as they are
/// encrypted, and of those of a difference.
#[test]
fn small_public_factors() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let others = [24, 30, 60, 91, 100, 144, 225, 240, 255, 257, 1000, -5, -15, -100];
    for kind in [Type::U8, Type::I16, Type::ranged(-1, 0).unwrap(), Type::ranged(95, 111).unwrap()]
    {
        let n = bench.params.slots() - 3;
        let (xs, ys) = (values(kind, n, 3), values(kind, n, 4));
        let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
        let difference = ints.sub(&a, &b).unwrap();
        for factor in (2..=20).chain(others) {
            let found = ints.mul_public(&a, factor).unwrap();
            let expected: Vec<i128> = xs.iter().map(|x| x * factor).collect();
            assert_eq!(bench.decrypt(&found), expected, "{kind} * {factor}");
            assert_eq!(bench.decrypt(&ints.normalized(&found).unwrap()), expected);
            let found = ints.mul_public(&difference, factor).unwrap();
            let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| (x - y) * factor).collect();
            assert_eq!(bench.decrypt(&found), expected, "a difference of {kind} * {factor}");
        }
    }
}

/// Multiples of multiples, in which digits that are public stay small.
#[test]
fn multiples_of_multiples() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let xs = [-70_000, 0, 7, 10, 70_000];
    let mut x = ints.clip(&bench.encrypt(&xs, Type::I32), 0, 10).unwrap();
    let mut expected = xs.map(|v| v.clamp(0, 10));
    for round in 0..24 {
        let factor = if round % 2 == 0 { 13 } else { 14 };
        match ints.mul_public(&x, factor) {
            Ok(next) => x = next,
            // Digits begin lower than the values.
            Err(error) => {
                assert!(round > 16 && error.code() == "integers.range", "{error}");
                break;
            }
        }
        expected = expected.map(|v| v * factor);
        assert_eq!(bench.decrypt(&x), expected);
    }
}

/// A factor of 126 bits, and a digit that has more values than its column.
#[test]
fn the_largest_factor() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let (a, b) = (bench.encrypt(&[5, 200, 7], Type::U8), bench.encrypt(&[9, 3, 7], Type::U8));
    let x = ints.clip(&ints.sub(&a, &b).unwrap(), 0, 1).unwrap();
    let most = (1i128 << 126) - 1;
    assert_eq!(bench.decrypt(&ints.mul_public(&x, most).unwrap()), [0, most, 0]);
}

#[test]
fn refused() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let a = bench.encrypt(&[1, 2], Type::U64);
    let b = bench.encrypt(&[1, 2, 3], Type::U8);
    let before = bench.scheme.cost();
    for (found, code) in [
        (ints.mul(&a, &a), "integers.range"),
        (ints.square(&a), "integers.range"),
        (ints.mul(&a, &b), "integers.length"),
        (ints.mul_wrapped(&b, &b, Type::Bool), "integers.type"),
        (ints.mul_wrapped(&b, &b, Type::ranged(0, 9).unwrap()), "integers.type"),
    ] {
        assert_eq!(found.map(|_| ()).unwrap_err().code(), code);
    }
    assert_eq!(bench.scheme.cost(), before, "nothing was computed");
}

/// Digits of the products have more values than there are residues.
#[test]
fn a_small_prime_is_refused() {
    let bench = Bench::new("insecure_bgv-257-n8");
    let ints = bench.integers();
    let a = bench.encrypt(&[i64::MAX.into(), -3], Type::I64);
    let b = bench.encrypt(&[i64::MIN.into(), 5], Type::I64);
    for found in [ints.mul(&a, &b), ints.mul_wrapped(&a, &b, Type::I64)] {
        let error = found.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "integers.set");
        assert!(error.to_string().contains("bgv-65537-n15"), "{error}");
    }
}

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Name, operation, type, and what it takes.
type Case = (&'static str, Operation, Type, (u64, u64, u32));

/// Products, relinearizations and depth on fresh columns.
#[test]
fn counts() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let cases: [Case; 9] = [
        ("mul", |s, a, b| s.mul(a, b), Type::U8, (164, 80, 11)),
        ("mul", |s, a, b| s.mul(a, b), Type::U16, (540, 198, 12)),
        ("mul", |s, a, b| s.mul(a, b), Type::U32, (1850, 464, 13)),
        ("wrapped", |s, a, b| s.mul_wrapped(a, b, Type::U8), Type::U8, (111, 68, 11)),
        ("square", |s, a, _| s.square(a), Type::U8, (53, 40, 11)),
        ("square", |s, a, _| s.square(a), Type::U16, (205, 122, 12)),
        ("square", |s, a, _| s.square(a), Type::U32, (710, 318, 13)),
        ("by 1000", |s, a, _| s.mul_public(a, 1000), Type::U16, (98, 90, 10)),
        ("bit_and", |s, a, b| s.bit_and(a, b), Type::U8, (64, 58, 5)),
    ];
    for (name, operation, kind, expected) in cases {
        let (a, b) = (bench.encrypt(&[1, 2], kind), bench.encrypt(&[2, 2], kind));
        let before = bench.scheme.cost();
        let out = operation(&ints, &a, &b).unwrap();
        let cost = bench.scheme.cost() - before;
        let depth = out.values().map(|v| v.get().meta().depth).max().unwrap();
        assert_eq!((cost.products, cost.relinearizations, depth), expected, "{name} of {kind}");
    }
}

/// What a public factor takes at most: products and relinearizations for each digit, those of one
/// more digit, and depth. Nothing, if sums of multiples of digits have few enough values.
#[test]
fn counts_of_public_factors() {
    let bench = Bench::leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    for (kind, digits) in [(Type::U8, 2), (Type::U16, 4), (Type::U32, 8)] {
        for (factor, each, more, depth) in [
            (2, (0, 0), (0, 0), 0),
            (15, (0, 0), (0, 0), 0),
            (17, (0, 0), (0, 0), 0),
            (255, (0, 0), (0, 0), 0),
            (3, (7, 6), (0, 0), 4),
            (5, (7, 6), (0, 0), 4),
            (10, (7, 6), (0, 0), 4),
            (60, (7, 6), (0, 0), 4),
            (100, (18, 17), (11, 11), 9),
        ] {
            let x = bench.encrypt(&[1, 2], kind);
            let before = bench.scheme.cost();
            let out = ints.mul_public(&x, factor).unwrap();
            let cost = bench.scheme.cost() - before;
            let found = out.values().map(|v| v.get().meta().depth).max().unwrap();
            assert_eq!(bench.decrypt(&out), [factor, 2 * factor]);
            assert!(cost.products <= digits * each.0 + more.0, "{kind} * {factor}: {cost:?}");
            assert!(cost.relinearizations <= digits * each.1 + more.1, "{kind} * {factor}");
            assert!(found <= depth, "{kind} * {factor}: depth {found}");
        }
    }
}
