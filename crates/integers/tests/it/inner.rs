//! Sums of the products of two columns, which are computed from the digits of both.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{Column, Encrypted, Integers, IntegersError, Total, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::exhausted::exhausted;
use crate::wide::values;

const SET: &str = "insecure_bgv-65537-n11";

fn open(bench: &Bench, x: &Total<NoOpCiphertext>) -> i128 {
    let slots = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    x.decrypt(bench.modulus(), slots).unwrap()
}

fn ranged(low: i128, high: i128) -> Type {
    Type::ranged(low, high).unwrap()
}

fn sum_of(xs: &[i128], ys: &[i128]) -> i128 {
    xs.iter().zip(ys).map(|(x, y)| x * y).sum()
}

/// Sum and mean of the products, and the interval of the sum.
fn check(
    bench: &Bench,
    (xs, x): (&[i128], &Column<NoOpCiphertext>),
    (ys, y): (&[i128], &Column<NoOpCiphertext>),
    told: &str,
) {
    let ints = bench.integers();
    let expected = sum_of(xs, ys);
    let total = ints.sum_of_products(x, y).unwrap_or_else(|e| panic!("{told}: {e}"));
    assert_eq!(open(bench, &total), expected, "{told}");
    assert!(total.interval().contains(expected), "{told}");
    let mean = ints.mean_of_products(x, y).unwrap();
    assert_eq!(open(bench, &mean), expected.div_euclid(xs.len() as i128), "{told}");
    // As it is stored and read again.
    let (slots, modulus) = (bench.params.slots(), bench.modulus());
    let parts = Encrypted::from(total).to_parts(slots, modulus).unwrap();
    let Encrypted::Total(again) = Encrypted::from_parts(parts, slots, modulus).unwrap() else {
        panic!("{told}")
    };
    assert_eq!(open(bench, &again), expected, "{told}");
}

/// Every pair of bytes, one at a time in the slots that are read, so that none hides another: the
/// least and the largest products of digits are among them.
#[test]
fn all_pairs_of_bytes() {
    let bench = Bench::leveled("bgv-65537-n15");
    let slots = bench.params.slots();
    for (kind, low) in [(Type::U8, 0i128), (Type::I8, -128)] {
        for part in 0..65536 / slots {
            let pair = |i: usize| {
                let n = (part * slots + i) as i128;
                (low + n / 256, low + n % 256)
            };
            let (xs, ys): (Vec<i128>, Vec<i128>) = (0..slots).map(pair).unzip();
            let (x, y) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
            check(&bench, (&xs, &x), (&ys, &y), &format!("{kind}, part {part}"));
        }
        // All entries at an end: sums of digits reach the ends of their windows.
        let ends = kind.interval();
        for (a, b) in
            [(ends.low(), ends.low()), (ends.low(), ends.high()), (ends.high(), ends.high())]
        {
            let (xs, ys) = (vec![a; slots], vec![b; slots]);
            let (x, y) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
            check(&bench, (&xs, &x), (&ys, &y), &format!("{a} times {b}"));
            check(&bench, (&xs, &x), (&xs, &x), &format!("{a} squared"));
        }
    }
}

/// Types of all widths, narrow and far ranges, columns shorter than the slots, and sums that were
/// not carried.
#[test]
fn products_of_all_types() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    for (left, right, n) in [
        (Type::U8, Type::U16, 2048),
        (Type::I8, Type::U8, 2041),
        (Type::I16, Type::I16, 100),
        (Type::U32, Type::U32, 1500),
        (Type::I32, Type::U16, 1),
        (ranged(-(1 << 50), 1 << 50), Type::U32, 9),
        (Type::Bool, Type::I32, 2047),
        (Type::Bool, Type::Bool, 2048),
        (ranged(-7, 9), ranged(1000, 1300), 1030),
        (ranged(18, 120), ranged(-3000, -2000), 2048),
        (ranged(5, 5), Type::U8, 77),
        (ranged(0, 5), ranged(2, 6), 2046),
        (ranged(-1, 1), Type::I64, 2048),
        (ranged(1 << 40, (1 << 40) + 3), ranged(-(1 << 50), 1 << 50), 64),
    ] {
        let (xs, ys) = (values(left, n, 7), values(right, n, 8));
        let (x, y) = (bench.encrypt(&xs, left), bench.encrypt(&ys, right));
        let told = format!("{left} * {right}");
        check(&bench, (&xs, &x), (&ys, &y), &told);
        check(&bench, (&xs, &x), (&xs, &x.clone()), &format!("{left} squared"));
        let (twice, less) = (ints.add(&x, &x).unwrap(), ints.sub(3, &y).unwrap());
        let doubled: Vec<i128> = xs.iter().map(|x| 2 * x).collect();
        let fewer: Vec<i128> = ys.iter().map(|y| 3 - y).collect();
        check(&bench, (&doubled, &twice), (&fewer, &less), &format!("sums of {told}"));
        check(&bench, (&doubled, &twice), (&doubled, &twice), &format!("2 {left} squared"));
    }
    // Equal columns of other ciphertexts.
    let xs = values(Type::I16, 50, 1);
    let (x, y) = (bench.encrypt(&xs, Type::I16), bench.encrypt(&xs, Type::I16));
    check(&bench, (&xs, &x), (&xs, &y), "twice the same");
}

#[test]
fn columns_without_capacity() {
    let bench = Bench::new("bgv-65537-n15");
    let pairs = [(Type::U8, Type::U16), (Type::I16, Type::I16), (Type::Bool, Type::I32)];
    for (left, right) in pairs {
        let (xs, ys) = (values(left, 100, 7), values(right, 100, 8));
        let (x, y) = (exhausted(&bench, &xs, left), exhausted(&bench, &ys, right));
        check(&bench, (&xs, &x), (&ys, &y), &format!("{left} * {right}"));
        check(&bench, (&xs, &x), (&xs, &x), &format!("{left} squared"));
    }
}

/// Slots that a set uses, of which some are behind the column.
#[test]
fn on_used_slots() {
    let bench = Bench::with_used_slots(SET, 64);
    for n in [64, 61, 1] {
        let (xs, ys) = (values(Type::U16, n, 3), values(Type::I8, n, 4));
        let (x, y) = (bench.encrypt(&xs, Type::U16), bench.encrypt(&ys, Type::I8));
        check(&bench, (&xs, &x), (&ys, &y), &format!("{n} entries"));
        check(&bench, (&ys, &y), (&ys, &y), &format!("{n} squares"));
    }
}

#[test]
fn refused() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let code =
        |x: &Column<_>, y: &Column<_>| ints.sum_of_products(x, y).map(|_| ()).map_err(|e| e.code());
    let (x, y) = (bench.encrypt(&[1, 2, 3], Type::U8), bench.encrypt(&[1, 2], Type::U8));
    assert_eq!(code(&x, &y), Err("integers.length"));
    let wide = bench.encrypt(&[1, 2, 3], Type::U64);
    assert_eq!(code(&wide, &wide), Err("integers.range"));
    // The products fit, but not their sum.
    let high = ranged(0, 1 << 62);
    let long = bench.encrypt(&vec![1; 1000], high);
    assert_eq!(code(&long, &long), Err("integers.range"));
    // Few values, modulo a small prime.
    let small = Bench::new("insecure_bgv-257-n8");
    let x = small.encrypt(&[1, 0, 3, 2], ranged(0, 3));
    let found = small.integers().sum_of_products(&x, &x).unwrap();
    assert_eq!(open(&small, &found), 14);
}

type Sum = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Total<NoOpCiphertext>, IntegersError>;

/// Products, relinearizations and ciphertexts of results, as documented.
#[test]
fn counts() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let of_two: Sum = |s, x, y| s.sum_of_products(x, y);
    let of_one: Sum = |s, x, _| s.sum_of_products(x, x);
    for (left, right, sum, expected) in [
        (Type::U8, Type::U8, of_two, (4, 3, 3)),
        (Type::U16, Type::U16, of_two, (16, 7, 7)),
        (Type::U32, Type::U32, of_two, (64, 15, 15)),
        (Type::I8, Type::I8, of_two, (4, 3, 3)),
        (Type::U8, Type::U16, of_two, (8, 5, 5)),
        (Type::Bool, Type::U8, of_two, (1, 1, 1)),
        (Type::Bool, Type::U16, of_two, (2, 2, 2)),
        (Type::U8, Type::U8, of_one, (3, 3, 3)),
        (Type::U16, Type::U16, of_one, (10, 7, 7)),
        (Type::U32, Type::U32, of_one, (36, 15, 15)),
    ] {
        let (x, y) = (bench.encrypt(&[1, 0], left), bench.encrypt(&[1, 1], right));
        let before = bench.scheme.cost();
        let found = sum(&ints, &x, &y).unwrap();
        let cost = bench.scheme.cost() - before;
        let told = (cost.products, cost.relinearizations, found.values().count());
        assert_eq!(told, expected, "{left} * {right}");
    }
}

/// Sums and means of products that are written within them, and what these took with the product
/// in a statement of its own.
#[test]
fn programs() {
    let bench = Bench::leveled("bgv-65537-n15");
    let (xs, ys, bits) = ([3, 255, 17, 0, 96], [-128, 127, -1, 5, 0], [1, 0, 1, 1, 0]);
    let inputs = BTreeMap::from([
        ("x".to_string(), bench.encrypt(&xs, Type::U8)),
        ("y".to_string(), bench.encrypt(&ys, Type::I8)),
        ("b".to_string(), bench.encrypt(&bits, Type::Bool)),
    ]);
    let run = |text: &str| {
        let before = bench.scheme.cost();
        let program = Program::parse(text).unwrap();
        let found = bench.integers().run(&program, &inputs, &BTreeMap::new(), &mut |_| ());
        let found = found.unwrap();
        let Encrypted::Total(total) = &found["t"] else { panic!("{text}") };
        let sum = open(&bench, total);
        assert!(total.interval().contains(sum), "{text}");
        (sum, (bench.scheme.cost() - before).products)
    };
    let sum = |f: fn(i128, i128, i128) -> i128| -> i128 {
        (0..xs.len()).map(|i| f(xs[i], ys[i], bits[i])).sum()
    };
    type Case = (&'static str, fn(i128, i128, i128) -> i128, Option<u64>);
    let cases: [Case; 14] = [
        ("t = sum(x * y)", |x, y, _| x * y, Some(4)),
        ("t = sum(x*x)", |x, _, _| x * x, Some(3)),
        ("t = sum(x^2)", |x, _, _| x * x, Some(3)),
        ("t = sum(b * x)", |x, _, b| b * x, Some(1)),
        ("t = sum(b^2)", |_, _, b| b, Some(0)),
        ("t = sum(-x * y)", |x, y, _| -x * y, None),
        ("t = sum((-1) * x * y)", |x, y, _| -x * y, None),
        ("t = sum(16 * x * y)", |x, y, _| 16 * x * y, None),
        ("t = sum(x * 3 * y)", |x, y, _| 3 * x * y, None),
        ("t = sum(x * b * y)", |x, y, b| x * b * y, None),
        ("t = sum(5 * x)", |x, _, _| 5 * x, None),
        ("t = sum(x * 0)", |_, _, _| 0, None),
        ("t = sum(0 * x * y)", |_, _, _| 0, None),
        ("t = sum((x - y) * (y + 1))", |x, y, _| (x - y) * (y + 1), None),
    ];
    for (text, f, products) in cases {
        let (found, taken) = run(text);
        assert_eq!(found, sum(f), "{text}");
        assert!(products.is_none_or(|products| products == taken), "{text}: {taken}");
    }
    assert_eq!(run("t = mean(x * y)"), (sum(|x, y, _| x * y).div_euclid(5), 4));
    // In a statement of its own it is a column, which other statements may read.
    let (found, taken) = run("p = x * y; t = sum(p)");
    assert_eq!(found, sum(|x, y, _| x * y));
    assert!(taken > 100, "{taken}");
}
