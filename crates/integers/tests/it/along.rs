//! Along a column.

use everlevel_integers::{IntegersError, Total, Type};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
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
    let wide = bench.encrypt(&[1], Type::U8);
    assert_eq!(ints.bincount(&wide).map(|_| ()).unwrap_err().code(), "integers.table");
    assert_eq!(ints.count(&wide).map(|_| ()).unwrap_err().code(), "integers.type");
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
    let long = bench.encrypt(&[1; 1025], Type::Bool);
    assert_eq!(ints.cumsum(&long).map(|_| ()).unwrap_err().code(), "integers.length");
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
