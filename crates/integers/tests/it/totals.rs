//! Sums over slots.

use everlevel_integers::{IntegersError, Type};

use crate::common::Bench;
use crate::wide::values;

#[test]
fn sums_are_exact() {
    for name in ["insecure_bgv-65537-n11", "bgv-65537-n15"] {
        let bench = Bench::leveled(name);
        let ints = bench.integers();
        let slots = bench.params.slots();
        for (kind, count) in [
            (Type::Bool, slots),
            (Type::U8, slots),
            (Type::I16, slots - 77),
            (Type::U64, 3),
            (Type::ranged(100, 105).unwrap(), slots / 2),
        ] {
            let xs = values(kind, count, 5);
            let x = bench.encrypt(&xs, kind);
            let shifted = ints.add(&ints.add(&x, &x).unwrap(), 7).unwrap();
            for (column, factor, constant) in [(&x, 1, 0), (&shifted, 2, 7)] {
                let total = ints.sum(column).unwrap();
                let open =
                    |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
                let expected = xs.iter().map(|x| factor * x + constant).sum::<i128>();
                assert_eq!(total.decrypt(bench.modulus(), open).unwrap(), expected);
                assert!(total.interval().contains(expected));

                // Of those below a value in the middle.
                let middle = xs[xs.len() / 2];
                let below = ints.lt(&x, middle).unwrap();
                let total = ints.sum_where(&below, column).unwrap();
                let chosen = xs.iter().filter(|x| **x < middle);
                let expected = chosen.map(|x| factor * x + constant).sum::<i128>();
                assert_eq!(total.decrypt(bench.modulus(), open).unwrap(), expected);
                assert!(total.interval().contains(expected));
            }
        }
    }
}
