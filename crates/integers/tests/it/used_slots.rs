//! Columns on a set that uses fewer slots than its ring has.

use everlevel_integers::{IntegersError, Type};

use crate::common::Bench;
use crate::wide::values;

#[test]
fn columns_and_totals_of_used_slots() {
    let bench = Bench::with_used_slots("insecure_bgv-65537-n11", 64);
    assert_eq!(bench.params.slots(), 64);
    let ints = bench.integers();
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    for (kind, n, minima) in [(Type::U8, 64usize, 4), (Type::I16, 61, 2), (Type::U32, 7, 1)] {
        let (xs, ys) = (values(kind, n, 3), values(kind, n, 4));
        let (x, y) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
        let sum = xs.iter().sum::<i128>();
        let total = ints.sum(&x).unwrap();
        assert_eq!(total.decrypt(bench.modulus(), open).unwrap(), sum, "{kind}");
        let each = ints.sum_of_each(&x).unwrap();
        assert_eq!(bench.decrypt(&each), vec![sum; n], "{kind}");
        // Of bytes, deeper than a fresh ciphertext allows.
        let mut least = x;
        for _ in 0..minima {
            least = ints.min(&least, &y).unwrap();
        }
        let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| *x.min(y)).collect();
        assert_eq!(bench.decrypt(&least), expected, "{kind}");
    }
    assert!(bench.session.bootstraps() > 0);
}
