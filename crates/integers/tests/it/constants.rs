//! Columns with one value only, whether they were encrypted as such or came to it, and columns far
//! from 0: what is public of them does not make a difference.

use everlevel_integers::{Column, Integers, IntegersError, Order, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;

type C = Column<NoOpCiphertext>;

const ENTRIES: usize = 3;

/// Columns of a value, in all ways to one.
fn ways(bench: &Bench, ints: &Integers<'_, NoOp>, value: i128) -> Vec<C> {
    let kind = Type::ranged(value - 3, value + 9).unwrap();
    let x = bench.encrypt(&[value - 3, value, value + 9], kind);
    let table = vec![value; 13];
    let mut found = vec![
        bench.encrypt(&[value; ENTRIES], Type::ranged(value, value).unwrap()),
        bench.encrypt(&[value; ENTRIES], kind),
        ints.clip(&x, value, value).unwrap(),
        ints.lookup(&x, &table).unwrap(),
        ints.add(&ints.mul_public(&x, 0).unwrap(), value).unwrap(),
    ];
    if value == 0 || value == 1 {
        let all = [value - 3, value, value + 9].map(|v| v * value);
        found.push(ints.isin(&x, &if value == 0 { vec![] } else { all.to_vec() }).unwrap());
        found.truncate(5 + usize::from(value == 0));
    }
    found
}

#[test]
fn quotients_of_constants() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for a in [0, 1, 7, 16, 100] {
        for b in [0, 1, 3, 5, 7, 100, 300] {
            for x in ways(&bench, &ints, a).iter().filter(|x| x.interval().low() >= 0) {
                for y in ways(&bench, &ints, b).iter().filter(|y| y.interval().low() >= 0) {
                    // A public 0 is refused with the code of a mistake.
                    let found = match ints.div_rem(x, y) {
                        Err(IntegersError::Type { .. } | IntegersError::Value { .. }) if b == 0 => {
                            continue;
                        }
                        found => found.unwrap(),
                    };
                    let expected = (a.checked_div(b).unwrap_or(0), a.checked_rem(b).unwrap_or(0));
                    for (found, expected) in [(&found.0, expected.0), (&found.1, expected.1)] {
                        assert_eq!(bench.decrypt(found), [expected; ENTRIES], "{a} and {b}");
                        assert!(found.interval().contains(expected), "{a} and {b}");
                    }
                }
            }
        }
    }
}

#[test]
fn order_and_counts_of_constants() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for value in [0i128, 1, 9, -4, 300] {
        for x in ways(&bench, &ints, value) {
            for order in [Order::Ascending, Order::Descending] {
                assert_eq!(bench.decrypt(&ints.ranks(&x, order).unwrap()), [0, 1, 2]);
                assert_eq!(bench.decrypt(&ints.argsorted(&x, order, 3).unwrap()), [0, 1, 2]);
                assert_eq!(bench.decrypt(&ints.sorted(&x, order, 2).unwrap()), [value; 2]);
            }
            assert_eq!(bench.decrypt(&ints.argmax(&x).unwrap()), [0]);
            assert_eq!(bench.decrypt(&ints.argmin(&x).unwrap()), [0]);
            assert_eq!(bench.decrypt(&ints.maximum(&x).unwrap()), [value]);
            assert_eq!(bench.decrypt(&ints.median(&x).unwrap()), [value]);
            let sums = ints.cumsum(&x).unwrap();
            assert_eq!(bench.decrypt(&sums), [value, 2 * value, 3 * value]);
            let open =
                |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
            let bins = ints.bincount(&x).unwrap();
            for (bin, total) in (x.interval().low()..).zip(&bins) {
                let expected = if bin == value { ENTRIES as i128 } else { 0 };
                assert_eq!(total.decrypt(bench.modulus(), open).unwrap(), expected, "{value}");
            }
            assert_eq!(bins.len() as u128, x.interval().points());
        }
    }
}

/// The widest bounds, and weights that take digits far beyond the values.
#[test]
fn as_far_as_bounds_go() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let most = 1i128 << 126;
    let x = bench.encrypt(&[-most, -1, most], Type::ranged(-most, most).unwrap());
    assert_eq!(bench.decrypt(&x), [-most, -1, most]);
    assert_eq!(ints.add(&x, &x).map(|_| ()).unwrap_err().code(), "integers.range");
    // Of two that are 2^127 apart the second one would have the digits of -3 2^126.
    let bit = bench.encrypt(&[0, 1, 0], Type::Bool);
    let below = bench.encrypt(&[-most, -1, 0], Type::ranged(-most, 0).unwrap());
    let chosen = ints.select(&bit, &below, most).map(|_| ());
    assert_eq!(chosen.unwrap_err().code(), "integers.width");
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    let near = bench.encrypt(&[-9, 0, 4], Type::ranged(-9, 4).unwrap());
    let total = ints.dot(&near, &[1 << 122, 5, -(1 << 120)]).unwrap();
    assert_eq!(total.decrypt(bench.modulus(), open).unwrap(), -(9i128 << 122) - (4i128 << 120));
}

/// Tables of few values that are far from 0, beyond 64 bits as well.
#[test]
fn tables_anywhere() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let near = |x: i128| [x - 6, x - 1, x, x + 5];
    for origin in [1i128 << 31, 1 << 32, 1 << 63, (1 << 64) - 9, -(1 << 63), -(1 << 70), 1 << 100] {
        for points in [13, 200] {
            let kind = Type::ranged(origin - 6, origin - 7 + points).unwrap();
            let xs = near(origin);
            let x = bench.encrypt(&xs, kind);
            let table: Vec<i128> = (0..points).map(|v| v * v - 50).collect();
            let of = |f: &dyn Fn(i128) -> i128| xs.map(f);
            let at = |v: i128| table[(v - origin + 6) as usize];
            assert_eq!(bench.decrypt(&ints.lookup(&x, &table).unwrap()), of(&at));
            let rem = ints.rem_public(&x, 7).unwrap();
            assert_eq!(bench.decrypt(&rem), of(&|v| v.rem_euclid(7)));
            let div = ints.div_public(&x, 7).unwrap();
            assert_eq!(bench.decrypt(&div), of(&|v| v.div_euclid(7)));
            assert_eq!(bench.decrypt(&ints.abs(&x).unwrap()), of(&i128::abs));
            let found = ints.isin(&x, &[origin, origin + 5]).unwrap();
            assert_eq!(bench.decrypt(&found), [0, 0, 1, 1]);
            let clipped = ints.clip(&x, origin - 1, origin + 2).unwrap();
            assert_eq!(bench.decrypt(&clipped), of(&|v| v.clamp(origin - 1, origin + 2)));
            let places = ints.searchsorted(&[origin - 1, origin], &x, false).unwrap();
            assert_eq!(bench.decrypt(&places), [0, 0, 1, 2]);
            if points == 13 {
                let bins = ints.bincount(&x).unwrap();
                let open =
                    |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
                let bins: Vec<i128> =
                    bins.iter().map(|t| t.decrypt(bench.modulus(), open).unwrap()).collect();
                assert_eq!(bins, [1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0]);
            }
        }
    }
}
