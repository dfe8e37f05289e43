//! Along a column.

use everlevel_integers::{Encrypted, Integers, IntegersError, Total, Type};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::exhausted::exhausted;
use crate::wide::values;

const SET: &str = "insecure_bgv-65537-n11";

fn open(bench: &Bench, x: &Total<NoOpCiphertext>) -> i128 {
    let slots = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    x.decrypt(bench.modulus(), slots).unwrap()
}

fn kinds() -> Vec<Type> {
    let ranged = [(18, 120), (1000, 1010), (-7, 9)].map(|(l, h)| Type::ranged(l, h).unwrap());
    [Type::U8, Type::I8, Type::I16, Type::U32].into_iter().chain(ranged).collect()
}

/// A sum to be computed on: what each entry is of it, and whether it reaches a limit.
#[test]
fn sums_in_each_entry() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    for (kind, n) in kinds().into_iter().zip([2048, 2041, 7, 1, 100, 1030, 2047]) {
        let xs = values(kind, n, 3);
        let x = bench.encrypt(&xs, kind);
        let sum: i128 = xs.iter().sum();
        let found = ints.sum_of_each(&x).unwrap();
        assert_eq!(found.interval().low(), n as i128 * kind.interval().low());
        assert_eq!(found.interval().high(), n as i128 * kind.interval().high());
        assert_eq!(bench.decrypt(&found), vec![sum; n], "{kind}");
        let rest = ints.sub(&found, &x).unwrap();
        assert_eq!(bench.decrypt(&rest), xs.iter().map(|x| sum - x).collect::<Vec<_>>());
        // As a total of it, what unused slots hold does not count.
        assert_eq!(open(&bench, &ints.sum(&found).unwrap()), n as i128 * sum);
        for limit in [sum, sum + 1] {
            let reached = ints.ge(&found, limit).unwrap();
            let chosen = bench.decrypt(&ints.select(&reached, &x, -1).unwrap());
            let expected = |x: &i128| if sum >= limit { *x } else { -1 };
            assert_eq!(chosen, xs.iter().map(expected).collect::<Vec<_>>(), "{kind} {limit}");
        }
    }
}

/// What is computed of a column of all slots is stored like any other: there is nothing behind it.
#[test]
fn columns_of_all_slots_are_stored() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let slots = bench.params.slots();
    for (low, high) in [(1000, 1010), (-7, 9), (-300, -5)] {
        let kind = Type::ranged(low, high).unwrap();
        let xs = values(kind, slots, 4);
        let x = bench.encrypt(&xs, kind);
        let sum: i128 = xs.iter().sum();
        let total = ints.sum_of_each(&x).unwrap();
        assert_eq!(bench.decrypt(&total), vec![sum; slots], "{kind}");
        let above = ints.gt(&total, sum - 1).unwrap();
        assert_eq!(bench.decrypt(&above), vec![1; slots], "{kind}");
        for found in [total, ints.cumsum(&x).unwrap(), ints.mul_public(&x, 5).unwrap()] {
            let parts = Encrypted::Column(found).to_parts(slots, bench.modulus());
            let problem = parts.err().map(|e| e.to_string());
            assert_eq!(problem, None, "{kind}");
        }
    }
}

#[test]
fn totals() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    for (kind, n) in kinds().into_iter().zip([2048, 2041, 7, 1, 100, 1030, 2047]) {
        let xs = values(kind, n, 3);
        let x = bench.encrypt(&xs, kind);
        let sum: i128 = xs.iter().sum();
        assert_eq!(open(&bench, &ints.mean(&x).unwrap()), sum.div_euclid(n as i128), "{kind}");
        let above = ints.gt(&x, xs[0]).unwrap();
        let expected = xs.iter().filter(|v| **v > xs[0]).count() as i128;
        assert_eq!(open(&bench, &ints.count(&above).unwrap()), expected, "{kind}");
        let rows: Vec<Vec<i128>> = [(Type::I8, 4), (Type::Bool, 5), (Type::I64, 6), (Type::U16, 7)]
            .iter()
            .map(|(kind, seed)| values(*kind, n, *seed))
            .chain([vec![0; n]])
            .collect();
        let doubled = ints.add(&ints.add(&x, &x).unwrap(), -3).unwrap();
        for (column, f) in [(&x, (|x| x) as fn(i128) -> i128), (&doubled, |x| 2 * x - 3)] {
            for (row, found) in rows.iter().zip(ints.matrix(&rows, column).unwrap()) {
                let expected: i128 = row.iter().zip(&xs).map(|(w, x)| w * f(*x)).sum();
                assert_eq!(open(&bench, &found), expected, "{kind}");
                assert!(found.interval().contains(expected));
            }
        }
        let weights: Vec<i128> = (0..n as i128).map(|i| 3 * (i % 7) - 8).collect();
        let weights = [&[9 * n as i128], &weights[1..]].concat();
        let dot: i128 = weights.iter().zip(&xs).map(|(w, x)| w * x).sum();
        let found = ints.average(&x, &weights).unwrap();
        assert_eq!(open(&bench, &found), dot.div_euclid(weights.iter().sum()), "{kind}");
        let none = ints.average(&x, &vec![0; n]).map(|_| ()).unwrap_err();
        assert_eq!(none.code(), "integers.value");
        let code = ints.dot(&x, &vec![1; n + 1]).map(|_| ()).unwrap_err().code();
        assert_eq!(code, "integers.length");
    }
    let kind = Type::ranged(-3, 20).unwrap();
    let xs = values(kind, 2000, 1);
    let bins = ints.bincount(&bench.encrypt(&xs, kind)).unwrap();
    assert_eq!(bins.len(), 24);
    for (bin, found) in (-3..).zip(&bins) {
        let expected = xs.iter().filter(|v| **v == bin).count() as i128;
        assert_eq!(open(&bench, found), expected);
    }
    let wide = bench.encrypt(&[1], Type::ranged(0, 256).unwrap());
    assert_eq!(ints.bincount(&wide).map(|_| ()).unwrap_err().code(), "integers.table");
    assert_eq!(ints.count(&wide).map(|_| ()).unwrap_err().code(), "integers.type");
}

/// More values than one table has: of all pairs of digits, and with slots behind the column that
/// hold the least value.
#[test]
fn counts_of_many_values() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let ranged = |low, high| Type::ranged(low, high).unwrap();
    for (kind, n) in
        [(Type::U8, 2048), (Type::I8, 1500), (ranged(18, 120), 2047), (ranged(-3, 28), 5)]
    {
        let xs = values(kind, n, 9);
        let bins = ints.bincount(&bench.encrypt(&xs, kind)).unwrap();
        assert_eq!(bins.len() as u128, kind.interval().points());
        for (bin, found) in (kind.interval().low()..).zip(&bins) {
            let expected = xs.iter().filter(|v| **v == bin).count() as i128;
            assert_eq!(open(&bench, found), expected, "{bin} of {kind}");
            assert_eq!(found.interval().high(), n as i128);
        }
    }
    // Sums, whose digits are not canonical, and what slots behind the column hold is no 0.
    let x = bench.encrypt(&[3, 250, 3], Type::U8);
    let doubled = ints.add(&ints.min(&x, 90).unwrap(), 7).unwrap();
    let bins = ints.bincount(&doubled).unwrap();
    let found: Vec<i128> = bins.iter().map(|bin| open(&bench, bin)).collect();
    assert_eq!((found[3], found[90], found.iter().sum::<i128>()), (2, 1, 3));
    // Public ones.
    let public = ints.lookup(&x, &[5; 256]).unwrap();
    let found: Vec<i128> =
        ints.bincount(&public).unwrap().iter().map(|bin| open(&bench, bin)).collect();
    assert_eq!(found, [3]);
    // Bounds that say less than the digits do: a bin for each value within them.
    let xs = values(ranged(16, 60), 2048, 3);
    let full = ints.padded(&bench.encrypt(&xs, ranged(16, 60)), 0).unwrap();
    let bins = ints.bincount(&full).unwrap();
    assert_eq!(bins.len(), 61);
    for (bin, found) in (0..).zip(&bins) {
        let expected = xs.iter().filter(|v| **v == bin).count() as i128;
        assert_eq!(open(&bench, found), expected, "{bin}");
    }
    // Rows of 64 slots.
    let small = Bench::new("insecure_bgv-257-n8");
    let ints = small.integers();
    let xs: Vec<i128> = (0..128).map(|i| i * i % 40).collect();
    let bins = ints.bincount(&small.encrypt(&xs, ranged(0, 39))).unwrap();
    for (bin, found) in (0..).zip(&bins) {
        let slots = |c: &_| Ok::<_, IntegersError>(small.scheme.decrypt(c)?.decode(&small.params)?);
        let expected = xs.iter().filter(|v| **v == bin).count() as i128;
        assert_eq!(found.decrypt(small.modulus(), slots).unwrap(), expected);
    }
    let refused = ints.bincount(&small.encrypt(&xs, Type::U8)).map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), "integers.set");
}

/// What counts and prefix sums take on the set that everything here is for.
#[test]
fn counts() {
    type Case = (&'static str, Type, (u64, u64, usize));
    let ranged = |high| Type::ranged(0, high).unwrap();
    let cases: [Case; 7] = [
        ("bincount", Type::Bool, (0, 30, 0)),
        ("bincount", ranged(15), (56, 66, 0)),
        ("bincount", ranged(31), (77, 100, 0)),
        ("bincount", Type::U8, (322, 357, 0)),
        ("worn", Type::U8, (962, 3801, 37)),
        ("cumsum", Type::Bool, (1044, 4592, 46)),
        ("cumsum", Type::U16, (3310, 13412, 132)),
    ];
    let mut found = Vec::new();
    for (name, kind, _) in cases {
        let bench = Bench::blank("bgv-65537-n15");
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let x = bench.encrypt(&vec![kind.interval().low(); bench.params.slots()], kind);
        match name {
            "bincount" => drop(ints.bincount(&x).unwrap()),
            "worn" => drop(ints.bincount(&exhausted(&bench, &[0; 7], kind)).unwrap()),
            _ => drop(ints.cumsum(&x).unwrap()),
        }
        let cost = bench.scheme.cost();
        let counts = (cost.products, cost.key_switches, bench.session.bootstraps());
        found.push((name, kind, counts));
    }
    assert_eq!(found, cases);
}

#[test]
fn prefix_sums() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    for (kind, n) in kinds().into_iter().zip([1024, 40, 33, 17, 1, 31, 2]) {
        let xs = values(kind, n, 5);
        let x = bench.encrypt(&xs, kind);
        let found = ints.cumsum(&x).unwrap();
        let sums = |xs: &[i128]| -> Vec<i128> {
            xs.iter()
                .scan(0, |sum, x| {
                    *sum += x;
                    Some(*sum)
                })
                .collect()
        };
        assert_eq!(bench.decrypt(&found), sums(&xs), "{kind}");
        // It is a column like others.
        let above = ints.gt(&found, 100).unwrap();
        let expected: Vec<i128> = sums(&xs).iter().map(|v| i128::from(*v > 100)).collect();
        assert_eq!(bench.decrypt(&above), expected, "{kind}");
        let total = ints.sum(&found).unwrap();
        assert_eq!(open(&bench, &total), sums(&xs).iter().sum::<i128>(), "{kind}");
    }
    let public = ints.lookup(&bench.encrypt(&[1, 2, 3], Type::U8), &[-4; 256]).unwrap();
    assert_eq!(bench.decrypt(&ints.cumsum(&public).unwrap()), [-4, -8, -12]);
}

/// Columns of both rows of slots: from one entry more than a row to all slots.
#[test]
fn prefix_sums_of_two_rows() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let ranged = |low, high| Type::ranged(low, high).unwrap();
    for (kind, n) in [(Type::Bool, 1025), (ranged(1000, 1010), 2048), (ranged(-7, 9), 2047)] {
        let xs = values(kind, n, 8);
        let found = ints.cumsum(&bench.encrypt(&xs, kind)).unwrap();
        let sums = |i: usize| xs[..=i].iter().sum::<i128>();
        let expected: Vec<i128> = (0..n).map(sums).collect();
        assert_eq!(bench.decrypt(&found), expected, "{kind}");
        assert_eq!(open(&bench, &ints.sum(&found).unwrap()), expected.iter().sum(), "{kind}");
        let above = ints.gt(&found, expected[1024]).unwrap();
        let expected: Vec<i128> =
            expected.iter().map(|v| i128::from(*v > expected[1024])).collect();
        assert_eq!(bench.decrypt(&above), expected, "{kind}");
    }
}

#[test]
fn places_in_lists() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    for kind in kinds() {
        let xs = values(kind, bench.params.slots() - 3, 6);
        let x = bench.encrypt(&xs, kind);
        let mut list = xs[..9].to_vec();
        list.extend([-1000, 10, 10, 1005, 1 << 40]);
        list.sort_unstable();
        for or_equal in [false, true] {
            let found = ints.searchsorted(&list, &x, or_equal).unwrap();
            let place =
                |x: &i128| list.iter().filter(|v| *v < x || or_equal && *v == x).count() as i128;
            assert_eq!(bench.decrypt(&found), xs.iter().map(place).collect::<Vec<_>>(), "{kind}");
        }
        let found = ints.isin(&x, &list[2..]).unwrap();
        let expected: Vec<i128> = xs.iter().map(|x| i128::from(list[2..].contains(x))).collect();
        assert_eq!(bench.decrypt(&found), expected, "{kind}");
        let negated = bench.decrypt(&ints.not(&found).unwrap());
        assert!(negated.iter().zip(&expected).all(|(a, b)| a + b == 1));
    }
    let x = bench.encrypt(&[1], Type::U16);
    let error = ints.searchsorted(&[3, 2], &x, false).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "integers.value");
}
