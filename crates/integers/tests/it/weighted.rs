//! Sums of multiples of columns.

use everlevel_integers::{Column, Integers, IntegersError, Type};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::wide::values;

/// Columns of these types with these factors against plain sums.
fn check(bench: &Bench, terms: &[(Type, i128)]) {
    let ints = bench.integers();
    let n = bench.params.slots() - 5;
    let plain: Vec<Vec<i128>> =
        terms.iter().zip(1..).map(|((kind, _), seed)| values(*kind, n, seed)).collect();
    let columns: Vec<Column<NoOpCiphertext>> =
        terms.iter().zip(&plain).map(|((kind, _), xs)| bench.encrypt(xs, *kind)).collect();
    let given: Vec<_> = columns.iter().zip(terms).map(|(x, (_, k))| (x, *k)).collect();
    let sum = ints.weighted_sum(&given).unwrap();
    let expected: Vec<i128> =
        (0..n).map(|i| terms.iter().zip(&plain).map(|((_, k), xs)| k * xs[i]).sum()).collect();
    assert_eq!(bench.decrypt(&sum), expected, "{terms:?}");
    assert!(expected.iter().all(|v| sum.interval().contains(*v)));
    if !bench.session.can_bootstrap() {
        return;
    }
    // What comes out goes on.
    assert_eq!(bench.decrypt(&ints.normalized(&sum).unwrap()), expected, "{terms:?}");
    let positive = ints.gt(&sum, 0).unwrap();
    let expected: Vec<i128> = expected.iter().map(|v| i128::from(*v > 0)).collect();
    let found = bench.decrypt(&positive);
    assert!(found == expected || found.len() == 1 && expected.iter().all(|v| *v == found[0]));
}

#[test]
fn equal_to_plain_sums() {
    let ranged = |low, high| Type::ranged(low, high).unwrap();
    let many = |kind, count: i128, factor: i128| -> Vec<(Type, i128)> {
        (0..count).map(|i| (kind, if i % 3 == 1 { -factor - i % 2 } else { factor })).collect()
    };
    let cases: Vec<Vec<(Type, i128)>> = vec![
        vec![(Type::U8, 1)],
        vec![(Type::U8, 5), (Type::I8, -3)],
        vec![(Type::Bool, 7), (Type::Bool, -9), (ranged(3, 4), 100)],
        vec![(ranged(0, 15), 3), (ranged(-4, 11), -2), (ranged(100, 107), 5)],
        vec![(Type::U16, 1_000), (Type::I16, -4_096), (Type::Bool, 65_535)],
        vec![(Type::I32, 31), (Type::U8, 1 << 40), (Type::I16, 0)],
        vec![(Type::U64, 0x0123_4567_89ab_cdef), (Type::U8, -1)],
        many(Type::Bool, 35, 1),
        many(Type::U8, 20, 3),
        many(Type::I8, 40, 1),
        many(ranged(0, 15), 8, 3),
        many(ranged(-1, 1), 100, 2),
    ];
    let bench = Bench::new("insecure_bgv-65537-n11");
    cases.iter().for_each(|case| check(&bench, case));
    let leveled = Bench::leveled("insecure_bgv-65537-n11");
    cases[..4].iter().for_each(|case| check(&leveled, case));
    // Without bootstrapping, longer ones fit the set that everything here is for.
    let blank = Bench::blank_leveled("bgv-65537-n15");
    let ints = Integers::new(&blank.session, &blank.params).unwrap();
    for case in cases.iter().filter(|case| case.len() < 9) {
        let lowest = |kind: Type| blank.encrypt(&[kind.interval().low(); 3], kind);
        let columns: Vec<_> = case.iter().map(|(kind, _)| lowest(*kind)).collect();
        let given: Vec<_> = columns.iter().zip(case).map(|(x, (_, k))| (x, *k)).collect();
        ints.weighted_sum(&given).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    }
}

/// Sums of sums, whose digits are wide already, and constants.
#[test]
fn of_results() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let n = bench.params.slots();
    let (xs, ys) = (values(Type::U8, n, 1), values(Type::I16, n, 2));
    let (a, b) = (bench.encrypt(&xs, Type::U8), bench.encrypt(&ys, Type::I16));
    let (sum, difference) = (ints.add(&a, &b).unwrap(), ints.sub(&a, &b).unwrap());
    let seven = ints.sub(&ints.add(&a, 7).unwrap(), &a).unwrap();
    let same = ints.add(7, 0).unwrap();
    let found = ints
        .weighted_sum(&[(&sum, 9), (&difference, -20), (&seven, 3), (&same, 2), (&a, 0)])
        .unwrap();
    let expected: Vec<i128> =
        xs.iter().zip(&ys).map(|(x, y)| 9 * (x + y) - 20 * (x - y) + 35).collect();
    assert_eq!(bench.decrypt(&found), expected);
    let only = ints.weighted_sum(&[(&same, 6), (&a, 0)]).unwrap();
    assert_eq!(only.public_value(), Some(42));
    assert_eq!(ints.weighted_sum(&[]).unwrap().public_value(), Some(0));
}

/// Products of a sum whose carries are computed once, and of one that adds multiples.
#[test]
fn cheaper_than_multiples() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let kind = Type::ranged(0, 60).unwrap();
    let columns: Vec<_> =
        (0..4).map(|seed| bench.encrypt(&values(kind, bench.params.slots(), seed), kind)).collect();
    let terms: Vec<_> = columns.iter().zip([3, -2, 3, 1]).collect();
    let before = bench.scheme.cost();
    let found = ints.normalized(&ints.weighted_sum(&terms).unwrap()).unwrap();
    let together = (bench.scheme.cost() - before).products;
    let before = bench.scheme.cost();
    let mut sum = ints.mul_public(terms[0].0, terms[0].1).unwrap();
    for (x, k) in &terms[1..] {
        sum = ints.add(&sum, &ints.mul_public(x, *k).unwrap()).unwrap();
    }
    let sum = ints.normalized(&sum).unwrap();
    let one_by_one = (bench.scheme.cost() - before).products;
    assert_eq!(bench.decrypt(&found), bench.decrypt(&sum));
    assert!(2 * together < one_by_one, "{together} products, and {one_by_one} one by one");
}

#[test]
fn refused() {
    let bench = Bench::leveled("bgv-65537-n15");
    let ints = bench.integers();
    let (a, b) = (bench.encrypt(&[1, 2, 3], Type::U8), bench.encrypt(&[1, 2], Type::U8));
    assert!(matches!(
        ints.weighted_sum(&[(&a, 1), (&b, 1)]).err(),
        Some(IntegersError::Length { .. })
    ));
    assert!(matches!(
        ints.weighted_sum(&[(&a, 1 << 125), (&a, 1 << 125)]).err(),
        Some(IntegersError::Range { .. })
    ));
    assert!(ints.weighted_sum(&[(&a, i128::MIN)]).is_err());
}
