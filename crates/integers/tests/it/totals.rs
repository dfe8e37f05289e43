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

/// Sums of columns that are wide, or far from 0, or have digits with one value.
#[test]
fn sums_past_64_bits() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    for bits in [40, 63, 64, 79, 80, 95, 110, 122] {
        for sign in [1, -1] {
            let edge = sign * (1i128 << bits);
            for (low, high) in [(edge.min(0), edge.max(0)), (edge - 3, edge + 3), (edge, edge)] {
                let xs = [low, high, low, (low + high) / 2];
                let x = bench.encrypt(&xs, Type::ranged(low, high).unwrap());
                let told = format!("{low}..{high}");
                let expected = xs.iter().sum::<i128>();
                let read = |t: everlevel_integers::Total<_>| t.decrypt(bench.modulus(), open);
                assert_eq!(read(ints.sum(&x).unwrap()).unwrap(), expected, "{told}");
                let mean = read(ints.mean(&x).unwrap()).unwrap();
                assert_eq!(mean, expected.div_euclid(4), "{told}");
                let dot = ints.dot(&x, &[1, -1, 0, 2]).unwrap();
                assert_eq!(read(dot).unwrap(), xs[0] - xs[1] + 2 * xs[3], "{told}");
                let chosen = bench.encrypt(&[1, 0, 1, 1], Type::Bool);
                let total = ints.sum_where(&chosen, &x).unwrap();
                assert_eq!(read(total).unwrap(), xs[0] + xs[2] + xs[3], "{told}");
                let twice = ints.add(&x, &x).unwrap();
                assert_eq!(read(ints.sum(&twice).unwrap()).unwrap(), 2 * expected, "{told}");
            }
        }
    }
}

/// A digit that is joined with an anchor has as many values as there are residues: refused.
#[test]
fn chosen_sums_modulo_a_small_prime() {
    let bench = Bench::new("insecure_bgv-257-n8");
    let ints = bench.integers();
    let chosen = bench.encrypt(&[1, 0, 1], Type::Bool);
    let x = bench.encrypt(&[0, 1, 1], Type::Bool);
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    let total = ints.sum_where(&chosen, &ints.add(&x, 200).unwrap()).unwrap();
    assert_eq!(total.decrypt(bench.modulus(), open).unwrap(), 401);
    let error = ints.sum_where(&chosen, &ints.add(&x, 256).unwrap()).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "integers.set");
}
