//! Quotients, remainders, shifts, counts of bits, casts, tables of several outputs.

use everlevel_integers::{Column, Integers, IntegersError, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::wide::values;

/// Checks a result against a function of two columns in the clear.
macro_rules! check {
    ($bench:expr, $found:expr, $xs:expr, $ys:expr, $f:expr, $what:expr) => {{
        let found = $bench.decrypt(&$found.unwrap_or_else(|e| panic!("{}: {e}", $what)));
        for (i, (x, y)) in $xs.iter().zip(&$ys).enumerate() {
            let value = found[if found.len() == 1 { 0 } else { i }];
            assert_eq!(value, $f(*x, *y), "{} of {x}, {y}", $what);
        }
    }};
}

/// Up to 40, and about powers of two.
#[test]
fn small_public_divisors_of_bytes() {
    let ends = [50, 63, 64, 65, 85, 99, 127, 128, 129, 191, 254, 255, 256, 257, 300];
    small_divisors((1..=40).chain(ends));
}

#[test]
#[ignore = "some ten seconds"]
fn many_public_divisors_of_bytes_in_full() {
    small_divisors(1..=300);
}

/// Of all bytes, by these divisors and those less than 0.
fn small_divisors(divisors: impl Iterator<Item = i128> + Clone) {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for (kind, low) in [(Type::U8, 0i128), (Type::I8, -128)] {
        let xs: Vec<i128> = (low..low + 256).collect();
        let x = bench.encrypt(&xs, kind);
        for c in divisors.clone().flat_map(|c| [c, -c]) {
            let floor = |x: i128, c: i128| {
                let q = x.div_euclid(c);
                if c < 0 && x.rem_euclid(c) != 0 { q - 1 } else { q }
            };
            let all = vec![c; 256];
            check!(bench, ints.div_public(&x, c), xs, all, floor, "//");
            let rem = |x: i128, c: i128| x - c * floor(x, c);
            check!(bench, ints.rem_public(&x, c), xs, all, rem, "%");
        }
    }
}

#[test]
fn public_divisors() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for (kind, divisors) in [
        (Type::U16, &[3i128, 10, 100, 1000, 40_000, -7][..]),
        (Type::I16, &[10, 60]),
        (Type::U32, &[100, 4_000_000_000]),
        (Type::I32, &[86_400]),
        (Type::U64, &[10]),
        (Type::ranged(-5000, 100_000).unwrap(), &[365]),
    ] {
        let xs = values(kind, bench.params.slots() - 2, 4);
        let x = bench.encrypt(&xs, kind);
        for &c in divisors {
            let all = vec![c; xs.len()];
            let rem = |x: i128, c: i128| (x.rem_euclid(c) + if c < 0 { c } else { 0 }) % c;
            check!(bench, ints.div_public(&x, c), xs, all, |x, c| (x - rem(x, c)) / c, "//");
            check!(bench, ints.rem_public(&x, c), xs, all, rem, "%");
        }
    }
}

/// Divisors that have no short reciprocal, of values near them, whose highest bits are public.
#[test]
fn public_divisors_near_the_dividends() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let c = 10_000_000_000_000_000_000i128;
    let xs = [c - 1000, c - 1, c, c + 1, c + 1000];
    let x = bench.encrypt(&xs, Type::ranged(c - 1000, c + 1000).unwrap());
    assert_eq!(bench.decrypt(&ints.div_public(&x, c).unwrap()), [0, 0, 1, 1, 1]);
    assert_eq!(bench.decrypt(&ints.rem_public(&x, c).unwrap()), [c - 1000, c - 1, 0, 1, 1000]);
    // A public dividend.
    let ys = [1, 3, 7, 299, 300, 301, 65_535];
    let y = bench.encrypt(&ys, Type::ranged(1, 65_535).unwrap());
    let (q, r) = ints.div_rem(1000, &y).unwrap();
    assert_eq!(bench.decrypt(&q), [1000, 333, 142, 3, 3, 3, 0]);
    assert_eq!(bench.decrypt(&r), [0, 1, 6, 103, 100, 97, 1000]);
}

/// Of sums, which have fewer digits before their carries are computed than after.
#[test]
fn public_divisors_of_sums() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let mut xs = values(Type::U64, bench.params.slots() - 2, 4);
    // Of twice this each of 17 digits leaves the largest remainder that it can by 3, together 33.
    xs[0] = 0xf777_7777_7777_7777;
    let doubled = ints.mul_public(&bench.encrypt(&xs, Type::U64), 2).unwrap();
    for c in [3i128, 10] {
        let all = vec![c; xs.len()];
        check!(bench, ints.div_public(&doubled, c), xs, all, |x: i128, c: i128| 2 * x / c, "//");
        check!(bench, ints.rem_public(&doubled, c), xs, all, |x: i128, c: i128| 2 * x % c, "%");
    }
}

#[test]
fn encrypted_divisors() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let ranged = |low, high| Type::ranged(low, high).unwrap();
    for (left, right) in [
        (Type::U8, Type::U8),
        (Type::U16, Type::U8),
        (Type::U8, ranged(3, 20)),
        (ranged(0, 3000), ranged(0, 700)),
        (ranged(0, 900), ranged(300, 1000)),
        (Type::I8, Type::I8),
        (Type::I8, Type::U8),
        (Type::U8, ranged(-9, -3)),
        (Type::I16, ranged(-20, 0)),
        (ranged(-900, -3), ranged(-300, 700)),
        (ranged(-5, -5), Type::I8),
        // The highest bits of these dividends are public, and some of them 1.
        (ranged(1000, 1000), ranged(0, 700)),
        (ranged(512, 900), ranged(300, 1000)),
        (ranged(70, 100), ranged(1, 300)),
    ] {
        let n = bench.params.slots() - 1;
        let (xs, ys) = (values(left, n, 1), values(right, n, 2));
        let (a, b) = (bench.encrypt(&xs, left), bench.encrypt(&ys, right));
        let (q, r) = ints.div_rem(&a, &b).unwrap();
        // As in Python: of the sign of the divisor.
        let rest = |x: i128, y: i128| if y == 0 { 0 } else { ((x % y) + y) % y };
        let quotient = |x: i128, y: i128| if y == 0 { 0 } else { (x - rest(x, y)) / y };
        let own = ints.rem(&a, &b).unwrap();
        check!(bench, Ok::<_, IntegersError>(own), xs, ys, rest, "rem");
        check!(bench, Ok::<_, IntegersError>(q), xs, ys, quotient, "//");
        check!(bench, Ok::<_, IntegersError>(r), xs, ys, rest, "%");
    }
}

/// All pairs of integers from -22 to 22, zero among the divisors.
#[test]
fn all_pairs_of_signed_integers() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let kind = Type::ranged(-22, 22).unwrap();
    let (xs, ys): (Vec<i128>, Vec<i128>) =
        (-22..=22).flat_map(|x| (-22..=22).map(move |y| (x, y))).unzip();
    let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
    let (q, r) = ints.div_rem(&a, &b).unwrap();
    assert_eq!((q.interval().low(), q.interval().high()), (-22, 22));
    assert_eq!((r.interval().low(), r.interval().high()), (-21, 21));
    let rest = |x: i128, y: i128| if y == 0 { 0 } else { ((x % y) + y) % y };
    let quotient = |x: i128, y: i128| if y == 0 { 0 } else { (x - rest(x, y)) / y };
    check!(bench, Ok::<_, IntegersError>(q), xs, ys, quotient, "//");
    check!(bench, Ok::<_, IntegersError>(r), xs, ys, rest, "%");
}

#[test]
fn shifts_and_counts() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let n = bench.params.slots() - 1;
    for kind in [Type::U8, Type::I8, Type::U16, Type::I32, Type::U64] {
        let xs = values(kind, n, 1);
        let x = bench.encrypt(&xs, kind);
        for (amounts, seed) in [(Type::ranged(0, 3).unwrap(), 2), (Type::ranged(1, 40).unwrap(), 3)]
        {
            let ys = values(amounts, n, seed);
            let by = bench.encrypt(&ys, amounts);
            check!(bench, ints.shift_right_by(&x, &by), xs, ys, |x: i128, n| x >> n, ">>");
            check!(bench, ints.shift_left_by(&x, &by), xs, ys, |x: i128, n| x << n, "<<");
            check!(bench, ints.shift_right_by(&x, &by), xs, ys, |x: i128, n| x >> n, ">>");
        }
        check!(bench, ints.shift_left(&x, 7), xs, xs, |x: i128, _| x << 7, "<< 7");
        if kind.interval().low() == 0 {
            let count = |x: i128, _| i128::from(x.count_ones());
            check!(bench, ints.popcount(&x), xs, xs, count, "popcount");
        }
    }
}

#[test]
fn tables() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for (low, high) in [(0i128, 255), (-3, 20), (7, 7)] {
        let kind = Type::ranged(low, high).unwrap();
        let xs = values(kind, bench.params.slots() - 1, 3);
        let x = bench.encrypt(&xs, kind);
        let f: [fn(i128) -> i128; 3] = [|v| v * v, |_| -5, |v| v % 3];
        let tables: Vec<Vec<i128>> = f.iter().map(|f| (low..=high).map(f).collect()).collect();
        let tables: Vec<&[i128]> = tables.iter().map(Vec::as_slice).collect();
        let found = ints.lookup_all(&x, &tables).unwrap();
        assert_eq!(found.len(), 3);
        for (y, f) in found.into_iter().zip(f) {
            check!(bench, Ok::<_, IntegersError>(y), xs, xs, |v, _| f(v), "lookup_all");
        }
    }
    for (left, right) in [((0, 15), (-8, 7)), ((0, 63), (1, 4)), ((0, 1), (100, 200))] {
        let kinds = [left, right].map(|(low, high)| Type::ranged(low, high).unwrap());
        let (xs, ys) = (values(kinds[0], 2048, 1), values(kinds[1], 2048, 2));
        let (x, y) = (bench.encrypt(&xs, kinds[0]), bench.encrypt(&ys, kinds[1]));
        let f = |x: i128, y: i128| (x * 31 + y * y) % 77;
        let table: Vec<Vec<i128>> =
            (left.0..=left.1).map(|x| (right.0..=right.1).map(|y| f(x, y)).collect()).collect();
        check!(bench, ints.lookup_pair(&x, &y, &table), xs, ys, f, "lookup_pair");
    }
}

#[test]
fn refused() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let (a, b) = (bench.encrypt(&[1, 2], Type::U8), bench.encrypt(&[-1, 2], Type::I8));
    let before = bench.scheme.cost();
    for (found, code) in [
        (ints.div_public(&a, 0), "integers.type"),
        (ints.rem_public(&a, 0), "integers.type"),
        (ints.div(&a, &bench.encrypt(&[1], Type::U8)), "integers.length"),
        (ints.rem(&bench.encrypt(&[1], Type::I8), &a), "integers.length"),
        (ints.popcount(&b), "integers.type"),
        (ints.shift_left_by(&a, &b), "integers.type"),
        (ints.shift_left_by(&a, &a), "integers.range"),
        (ints.shift_left(&a, 127), "integers.range"),
        (ints.cast(&a, Type::I8), "integers.type"),
        (ints.lookup_pair(&a, &a, &[vec![0]]), "integers.table"),
        (ints.lookup_all(&a, &[&[1, 2]]).map(|mut all| all.remove(0)), "integers.table"),
    ] {
        assert_eq!(found.map(|_| ()).unwrap_err().code(), code);
    }
    assert_eq!(bench.scheme.cost(), before, "nothing was computed");
    assert_eq!(ints.cast(&a, Type::I16).unwrap().interval(), Type::U8.interval());
}

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Name, operation, type, and products, relinearizations and depth.
type Case = (&'static str, Operation, Type, (u64, u64, u32));

#[test]
fn counts() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let cases: [Case; 5] = [
        ("popcount", |s, a, _| s.popcount(a), Type::U16, (28, 24, 4)),
        ("shift", |s, a, b| s.shift_right_by(a, b), Type::U8, (85, 76, 13)),
        ("by 10", |s, a, _| s.div_public(a, 10), Type::U8, (32, 29, 5)),
        ("modulo 10", |s, a, _| s.rem_public(a, 10), Type::U8, (32, 29, 5)),
        ("pair", |s, a, b| s.lookup_pair(a, b, &[vec![3, 1], vec![3, 1]]), Type::Bool, (2, 2, 2)),
    ];
    let mut all = Vec::new();
    for (name, operation, kind, expected) in cases {
        let (a, b) = (bench.encrypt(&[1, 0], kind), bench.encrypt(&[0, 1], kind));
        let before = bench.scheme.cost();
        let out = operation(&ints, &a, &b).unwrap();
        let cost = bench.scheme.cost() - before;
        let depth = out.values().map(|v| v.get().meta().depth).max().unwrap();
        all.push((name, (cost.products, cost.relinearizations, depth), expected));
    }
    assert!(all.iter().all(|(_, found, expected)| found == expected), "{all:?}");
}

/// The lowest bits of sums: carries of the lowest digits only.
#[test]
fn lowest_bits_of_sums() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let (xs, ys) = ([0, 65_535, 255, 4_097], [1, 65_535, 1, 61_440]);
    let (a, b) = (bench.encrypt(&xs, Type::U16), bench.encrypt(&ys, Type::U16));
    let (sum, difference) = (ints.add(&a, &b).unwrap(), ints.sub(&a, &b).unwrap());
    for divisor in [1, 2, 8, 16, 64, 256, 2_048, 1 << 16, 1 << 17, 1 << 20] {
        let found = ints.rem_public(&sum, divisor).unwrap();
        let expected = [0, 1, 2, 3].map(|i| (xs[i] + ys[i]) % divisor);
        assert_eq!(bench.decrypt(&found), expected, "a sum modulo {divisor}");
        assert!(expected.iter().all(|v| found.interval().contains(*v)));
        let found = ints.rem_public(&difference, divisor).unwrap();
        let expected = [0, 1, 2, 3].map(|i| (xs[i] - ys[i]).rem_euclid(divisor));
        assert_eq!(bench.decrypt(&found), expected, "a difference modulo {divisor}");
    }
    // More digits than can be carried.
    let wide = bench.encrypt(&[-1, 5], Type::ranged(-9, 1 << 126).unwrap());
    let error = ints.rem_public(&wide, 1 << 125).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "integers.width");
}

/// One table of a sum of four digits, which takes some 60 products with all carries.
#[test]
fn counts_of_lowest_bits() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let x = bench.encrypt(&[1, 2], Type::U16);
    let sum = ints.add(&x, &x).unwrap();
    let before = bench.scheme.cost();
    ints.rem_public(&sum, 16).unwrap();
    let products = (bench.scheme.cost() - before).products;
    assert!(products < 15, "{products} products");
    let before = bench.scheme.cost();
    ints.rem_public(&x, 256).unwrap();
    let cost = bench.scheme.cost() - before;
    assert_eq!((cost.products, cost.key_switches), (0, 0));
}
