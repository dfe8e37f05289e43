//! Products and depth, as documented.

use everlevel_circuit::PrimePower;
use everlevel_integers::{Column, Integers, IntegersError, TablePlan, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{NoOp, Scheme};

use crate::common::Bench;

fn plan(low: i64, high: i64, tables: &[fn(i64) -> i64]) -> (u32, usize, usize) {
    let t = PrimePower::new(65537, 1).unwrap();
    let tables: Vec<Vec<i64>> = tables.iter().map(|f| (low..=high).map(f).collect()).collect();
    let costs = TablePlan::new(t, low, high, &tables).unwrap().costs();
    (costs.depth, costs.products, costs.relinearizations)
}

#[test]
fn tables() {
    let step: fn(i64) -> i64 = |x| i64::from(x > 0);
    let any: [fn(i64) -> i64; 4] = [|x| x * x * x % 13, |x| x % 7, |x| x / 3, |x| x & 5];
    for (what, found, expected) in [
        ("sign of -15..15", plan(-15, 15, &[i64::signum]), (5, 10, 9)),
        ("sign of -7..7", plan(-7, 7, &[i64::signum]), (4, 6, 5)),
        ("sign of -3..3", plan(-3, 3, &[i64::signum]), (3, 3, 3)),
        ("step on -15..15", plan(-15, 15, &[step]), (5, 10, 9)),
        ("step on -7..7", plan(-7, 7, &[step]), (4, 7, 6)),
        ("step on -3..3", plan(-3, 3, &[step]), (3, 3, 3)),
        ("step on -1..1", plan(-1, 1, &[step]), (1, 1, 1)),
        ("zero on -15..15", plan(-15, 15, &[|x| i64::from(x == 0)]), (5, 8, 7)),
        ("a nibble, once", plan(0, 15, &any[..1]), (4, 7, 6)),
        ("a nibble, twice", plan(0, 15, &any[..2]), (4, 10, 8)),
        ("a nibble, four times", plan(0, 15, &any), (4, 11, 11)),
    ] {
        assert_eq!(found, expected, "{what}");
    }
}

/// Truth values of digits, which are equal to a public one or to each other.
#[test]
fn tables_by_squares() {
    let t = PrimePower::new(65537, 1).unwrap();
    let plan = |low: i64, high: i64, v: i64| {
        let entries: Vec<i64> = (low..=high).map(|x| i64::from(x == v)).collect();
        let costs = TablePlan::by_squares(t, low, high, &entries).unwrap().costs();
        (costs.depth, costs.products, costs.relinearizations)
    };
    assert_eq!([0, 3, 7].map(|v| plan(0, 15, v)), [(4, 5, 4), (4, 6, 5), (4, 6, 4)]);
    assert_eq!([plan(-7, 8, 0), plan(0, 7, 5), plan(0, 1, 1)], [(4, 6, 4), (3, 4, 3), (0, 0, 0)]);
    assert_eq!([plan(-15, 15, 0), plan(-12, 15, 0)], [(5, 7, 5); 2]);
    // More points, and a function that is not even, have the ways of other tables.
    for high in [40, 15] {
        let entries: Vec<i64> = (-high..=high).map(i64::signum).collect();
        let squares = TablePlan::by_squares(t, -high, high, &entries).unwrap();
        let blocks = TablePlan::new(t, -high, high, &[entries]).unwrap();
        assert_eq!((squares.costs(), squares.ways()), (blocks.costs(), blocks.ways()));
    }
}

/// Squares leave as much capacity as blocks of coefficients, but for the bits of a few sums.
#[test]
fn squares_take_no_more_capacity() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let scheme = &*bench.scheme;
    let fresh = bench.encrypt(&[1], Type::U8);
    let x = fresh.values().next().unwrap().get();
    for (low, high, v) in (0..16i64).map(|v| (0i64, 15i64, v)).chain([(-15, 15, 0)]) {
        let entries: Vec<i64> = (low..=high).map(|x| i64::from(x == v)).collect();
        let squares = TablePlan::by_squares(bench.modulus(), low, high, &entries).unwrap();
        let blocks = TablePlan::new(bench.modulus(), low, high, &[entries]).unwrap();
        let left = |plan: &TablePlan| {
            let y = plan.evaluate(scheme, &x, 0).unwrap().remove(0).unwrap();
            scheme.capacity_bits(&y)
        };
        let (squares, blocks) = (left(&squares), left(&blocks));
        assert!(squares >= blocks - 6.0, "{v} of {low}..={high}: {squares} and {blocks}");
    }
}

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// Name, operation, and products and depth for each width.
type Case = (&'static str, Operation, [(u64, u32); 4]);

/// Products of ciphertexts and depth of operations on fresh columns of 8, 16, 32 and 64 bits.
#[test]
fn operations() {
    let bench = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let cases: [Case; 6] = [
        ("lt", |s, a, b| s.lt(a, b), [(22, 7), (47, 8), (98, 9), (201, 10)]),
        ("eq", |s, a, b| s.eq(a, b), [(15, 6), (31, 7), (63, 8), (127, 9)]),
        ("min", |s, a, b| s.min(a, b), [(24, 8), (51, 9), (106, 10), (217, 11)]),
        ("add", |s, a, b| s.normalized(&s.add(a, b)?), [(22, 7), (48, 8), (104, 9), (224, 10)]),
        ("lt 100", |s, a, _| s.lt(a, 100), [(16, 6), (0, 0), (0, 0), (0, 0)]),
        ("eq 100", |s, a, _| s.eq(a, 100), [(13, 5), (0, 0), (0, 0), (0, 0)]),
    ];
    for (name, operation, expected) in cases {
        let kinds = [Type::U8, Type::U16, Type::U32, Type::U64];
        for (kind, expected) in kinds.into_iter().zip(expected).filter(|(_, e)| e.0 > 0) {
            let (a, b) = (bench.encrypt(&[1, 2], kind), bench.encrypt(&[2, 2], kind));
            let before = bench.scheme.cost();
            let out = operation(&ints, &a, &b).unwrap();
            let products = (bench.scheme.cost() - before).products;
            let depth = out.values().map(|v| v.get().meta().depth).max().unwrap();
            assert_eq!((products, depth), expected, "{name} of {kind}");
        }
    }
}

/// A table of 31 points fits a bootstrapped ciphertext of the set that everything here is for, and
/// its results can be bootstrapped again: one of the ways of evaluation leaves what sums of four
/// signs take.
#[test]
fn depth_five_fits_after_bootstrapping() {
    let bench = Bench::blank("bgv-65537-n15");
    let (scheme, session) = (&*bench.scheme, &bench.session);
    let fresh = bench.encrypt(&[1], Type::U8);
    session.refresh_in_place(fresh.values().next().unwrap()).unwrap();
    let x = session.refresh(fresh.values().next().unwrap()).unwrap().get();
    let left = |f: fn(i64) -> i64| {
        let entries = (-15..=15).map(f).collect();
        let plan = TablePlan::new(bench.modulus(), -15, 15, &[entries]).unwrap();
        let run = |way| plan.evaluate(scheme, &x, way).unwrap().remove(0).unwrap();
        (0..plan.ways()).map(|way| scheme.capacity_bits(&run(way))).fold(0.0, f64::max)
    };
    for f in [i64::signum, |x| i64::from(x > 0), |x| i64::from(x == 0), |x| x * x % 7] {
        assert!(left(f) >= session.minimum_capacity() + 6.0, "{} bits are left", left(f));
    }
}

/// Name, operation, the same of plain integers, and products and depth.
type Comparison = (&'static str, Operation, fn(i128, i128) -> bool, (u64, u32));

/// Sums of single digits are compared in one table, without carries: with such a sum, with a digit,
/// and with a public integer.
#[test]
fn sums_of_single_digits() {
    let bench = Bench::leveled("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let xs: Vec<i128> = (0..256).map(|i| i % 16).collect();
    let ys: Vec<i128> = (0..256).map(|i| i / 16).collect();
    let nibble = Type::ranged(0, 15).unwrap();
    let (a, b) = (bench.encrypt(&xs, nibble), bench.encrypt(&ys, nibble));
    let sum = ints.add(&a, &b).unwrap();
    let cases: [Comparison; 5] = [
        ("sum < 2b", |s, x, y| s.lt(x, &s.add(y, y)?), |x, y| x + y < 2 * y, (15, 6)),
        ("sum <= b", |s, x, y| s.le(x, y), |x, y| x + y <= y, (13, 6)),
        ("sum == 2b", |s, x, y| s.eq(x, &s.add(y, y)?), |x, y| x == y, (13, 6)),
        ("sum >= 7", |s, x, _| s.ge(x, 7), |x, y| x + y >= 7, (12, 5)),
        ("sum < 21", |s, x, _| s.lt(x, 21), |x, y| x + y < 21, (12, 5)),
    ];
    let mut found = Vec::new();
    for (name, operation, plain, _) in cases {
        let before = bench.scheme.cost();
        let out = operation(&ints, &sum, &b).unwrap();
        let products = (bench.scheme.cost() - before).products;
        let depth = out.values().map(|v| v.get().meta().depth).max().unwrap();
        let expected: Vec<_> = xs.iter().zip(&ys).map(|(x, y)| plain(*x, *y).into()).collect();
        assert_eq!(bench.decrypt(&out), expected, "{name}");
        found.push((name, (products, depth)));
    }
    assert_eq!(found, cases.map(|(name, .., cost)| (name, cost)));
}

/// A table of more than 31 points does not fit what bootstrapping leaves on this set: there the
/// same comparison takes carries, and is right.
#[test]
fn sums_of_exhausted_digits() {
    let bench = Bench::new("bgv-65537-n15");
    let ints = bench.integers();
    let nibble = Type::ranged(0, 15).unwrap();
    let xs: Vec<i128> = (0..16).collect();
    let exhausted = |values: &[i128]| {
        let x = bench.encrypt(values, nibble);
        for value in x.values() {
            bench.session.refresh_in_place(value).unwrap();
        }
        x
    };
    let (a, b) = (exhausted(&xs), exhausted(&[9; 16]));
    let (sum, other) = (ints.add(&a, &b).unwrap(), ints.add(&b, &b).unwrap());
    let expected: Vec<i128> = xs.iter().map(|x| i128::from(x + 9 < 18)).collect();
    assert_eq!(bench.decrypt(&ints.lt(&sum, &other).unwrap()), expected);
    let expected: Vec<i128> = xs.iter().map(|x| i128::from(x + 9 == 18)).collect();
    assert_eq!(bench.decrypt(&ints.eq(&sum, &other).unwrap()), expected);
}
