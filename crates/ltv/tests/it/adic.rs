//! Polynomials modulo p^k in digits, against integers and against residues modulo a prime that the
//! digits know nothing of.

use std::sync::Arc;

use everlevel_arith::{Backend, primes};
use everlevel_ltv::adic::share_of_units;
use everlevel_ltv::{AdicPoly, AdicRing};
use everlevel_ring::cpu::{from_limbs, limb};
use everlevel_ring::{Basis, Coeff, Cpu, Poly, Ring};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const INDICES: [u64; 5] = [32, 256, 3 * 5 * 7, 45, 8 * 15];

fn ring(index: u64, block: usize) -> AdicRing {
    let p = primes::primes_congruent_one(Ring::prime_step(index).unwrap(), 1 << 31).next().unwrap();
    AdicRing::new(index, p as u32, block, 8, Backend::detect()).unwrap()
}

/// Random digits, with runs of the extreme ones.
fn random(ring: &AdicRing, rows: usize, rng: &mut ChaCha20Rng) -> AdicPoly {
    let (n, h) = (ring.ring().degree(), (ring.prime() / 2) as i64);
    let row = |rng: &mut ChaCha20Rng| -> Vec<i64> {
        (0..n)
            .map(|_| match rng.next_u64() % 8 {
                0 => h,
                1 => -h,
                2 => 0,
                _ => (rng.next_u64() % ring.prime()) as i64 - h,
            })
            .collect()
    };
    let terms: Vec<AdicPoly> =
        (0..rows).map(|j| ring.shifted(&ring.from_signed(&row(rng), 1), j, rows)).collect();
    ring.sum(&terms.iter().collect::<Vec<_>>())
}

/// The coefficients, in natural order, as residues modulo `other`.
fn residues(ring: &AdicRing, x: &AdicPoly, other: &Cpu) -> Poly<Coeff> {
    let (q, h) = (other.ring().modulus(0), ring.prime() / 2);
    let mut limb = other.zero_limb();
    for row in x.digits().collect::<Vec<_>>().into_iter().rev() {
        limb.iter_mut().zip(row).for_each(|(r, &d)| {
            *r =
                q.add(q.mul(*r, q.reduce_u64(ring.prime())), q.reduce_i64(i64::from(d) - h as i64));
        });
    }
    from_limbs(other, Basis::of([0]), vec![limb])
}

fn other(index: u64) -> Cpu {
    let q = primes::primes_congruent_one(Ring::prime_step(index).unwrap(), 1 << 45).next().unwrap();
    Cpu::new(Arc::new(Ring::new(index, &[q]).unwrap()), Backend::detect()).unwrap()
}

#[test]
fn products_are_exact() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for (index, block) in INDICES.into_iter().flat_map(|m| [1, 2, 3, 6].map(|block| (m, block))) {
        let (adic, q) = (ring(index, block), other(index));
        for (left, right) in [(1, 1), (3, 2), (7, 7), (6, 13)] {
            let (a, b) = (random(&adic, left, &mut rng), random(&adic, right, &mut rng));
            // One row more than the factors' holds the product.
            let product = adic.mul(&a, &b, left + right + 1);
            let mut expected = residues(&adic, &a, &q).into_eval(&q);
            expected.mul_assign(&q, &residues(&adic, &b, &q).into_eval(&q));
            let found = residues(&adic, &product, &q).into_eval(&q);
            assert_eq!(
                limb(&found, 0)[..],
                limb(&expected, 0)[..],
                "index {index}, blocks of {block}, {left} by {right} rows"
            );
            // Modulo less.
            let low = adic.mul(&a.truncated(left.min(2)), &b.truncated(right.min(2)), 2);
            assert_eq!(low, product.truncated(2));
        }
    }
}

#[test]
fn rows_are_added_negated_and_divided() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let adic = ring(32, 2);
    let (n, p) = (adic.ring().degree(), adic.prime() as i128);
    let value = |x: &AdicPoly| -> Vec<i128> {
        let rows: Vec<&[u32]> = x.digits().collect();
        let value =
            |i: usize| rows.iter().rev().fold(0, |v, row| v * p + i128::from(row[i]) - p / 2);
        (0..n).map(value).collect()
    };
    let centered = |x: i128, q: i128| (x + q / 2).rem_euclid(q) - q / 2;
    for _ in 0..50 {
        let (a, b, c) =
            (random(&adic, 3, &mut rng), random(&adic, 3, &mut rng), random(&adic, 3, &mut rng));
        let (x, y, z) = (value(&a), value(&b), value(&c));
        let q = p.pow(3);
        assert!(
            value(&adic.sum(&[&a, &b, &c]))
                .into_iter()
                .eq((0..n).map(|i| centered(x[i] + y[i] + z[i], q)))
        );
        assert!(value(&adic.neg(&a)).into_iter().eq(x.iter().map(|x| -x)));
        for c in [0, 1, 2, 1 << 16, (1 << 31) - 1] {
            assert!(
                value(&adic.scale(&a, c))
                    .into_iter()
                    .eq(x.iter().map(|x| centered(x * i128::from(c), q)))
            );
        }
        assert!(value(&a.truncated(2)).into_iter().eq(x.iter().map(|&x| centered(x, p * p))));
        for places in 1..3 {
            let (d, rest) = (p.pow(places), p.pow(3 - places));
            for (i, v) in value(&adic.divide_even(&a, places as usize)).into_iter().enumerate() {
                let error = centered(x[i] - v * d, q);
                assert!(
                    error % 2 == 0 && error.abs() < d && centered((x[i] - error) / d, rest) == v,
                    "{x:?}, {v}"
                );
            }
        }
        let parities: Vec<u64> =
            adic.ring().natural_order(&x).iter().map(|x| (x & 1) as u64).collect();
        assert_eq!(adic.parities(&a), parities);
        let (doubles, scale) = adic.approximate(&a);
        for (d, x) in doubles.iter().zip(adic.ring().natural_order(&x)) {
            assert!((d * scale.exp2() - x as f64).abs() <= 1e-12 * q as f64);
        }
        for bits in [1, 5, 16, 31] {
            let windows = adic.windows(&a, bits);
            let digits: Vec<Vec<u64>> = (0..windows.count()).map(|t| windows.digit(t)).collect();
            for (i, &x) in x.iter().enumerate() {
                let sum =
                    digits.iter().rev().fold(0i128, |v, row| (v << bits) + i128::from(row[i]));
                assert_eq!(sum, x.rem_euclid(q));
            }
        }
    }
}

#[test]
fn sums_with_small_factors_are_exact_modulo_fewer_primes() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for (index, bits) in INDICES.into_iter().flat_map(|m| [1, 8, 16].map(|bits| (m, bits))) {
        let (rows, terms) = (13, 40);
        let adic = ring(index, 6).narrowed(bits, terms, rows).unwrap();
        assert!(adic.narrow_primes().len() < adic.transform_primes().len(), "{index}, {bits}");
        let (n, h) = (adic.ring().degree(), (adic.prime() / 2) as i64);
        let highest = (1i64 << bits) - 1;
        let keys: Vec<AdicPoly> = (0..terms).map(|_| random(&adic, rows, &mut rng)).collect();
        let factors: Vec<AdicPoly> = (0..terms)
            .map(|j| match j % 2 {
                0 => vec![highest; n],
                _ => (0..n).map(|_| rng.next_u64() as i64 & highest).collect(),
            })
            .map(|natural: Vec<i64>| adic.from_signed(&natural, 1))
            .collect();
        let words = |x: &AdicPoly| -> Vec<u64> {
            x.digits().flatten().map(|&digit| (i64::from(digit) - h) as u64).collect()
        };
        let small: Vec<_> = factors.iter().map(|x| adic.evaluate_words(&words(x))).collect();
        let large: Vec<_> = keys.iter().map(|x| adic.evaluate_narrow(x)).collect();
        let sum = adic.inner_products(adic.narrow_blocks(rows), |o| {
            small.iter().zip(&large).map(|(x, blocks)| (x, &blocks[o])).collect()
        });
        let products: Vec<AdicPoly> =
            keys.iter().zip(&factors).map(|(key, x)| adic.mul(key, x, rows)).collect();
        assert_eq!(
            adic.digits(sum, rows),
            adic.sum(&products.iter().collect::<Vec<_>>()),
            "{index}, {bits}"
        );
    }
    assert!(ring(32, 1).narrowed(16, usize::MAX, 13).is_err());
}

#[test]
fn inverses_are_found_where_there_are_any() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    for index in INDICES {
        let adic = ring(index, 3);
        let n = adic.ring().degree();
        let a: Vec<i64> = (0..n).map(|_| (rng.next_u64() % 5) as i64 - 2).collect();
        let inverse = adic.inverse(&a, 10).unwrap();
        let one = adic.from_signed(&adic.constant(1), 10);
        assert_eq!(adic.mul(&adic.from_signed(&a, 1), &inverse, 10), one);
        assert_eq!(adic.inverse(&vec![0; n], 10), None);
        // X - ζ for a root ζ of unity modulo p is no unit.
        if index.is_power_of_two() {
            let mut root = vec![0; n];
            let position = adic.transform_primes().len();
            root[0] = -adic.ring().modulus(position).centered(adic.ring().root(position));
            root[1] = 1;
            assert_eq!(adic.inverse(&root, 3), None);
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    for (prime, block) in [(97, 0), (97, 17), (13, 2)] {
        assert!(AdicRing::new(32, prime, block, 1, Backend::Portable).is_err());
    }
    assert!(AdicRing::new(32, 101, 2, 1, Backend::Portable).is_err());
}

#[test]
fn invertible_polynomials_are_as_many_as_the_formula_says() {
    // p = 1 modulo m: 64 evaluations modulo a prime so small that about half of all polynomials
    // have a zero among them.
    let (index, p) = (128, 257);
    let ring = AdicRing::new(index, p, 1, 1, Backend::detect()).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let draws = 4000;
    let units = (0..draws)
        .filter(|_| {
            let a: Vec<i64> = (0..64)
                .map(|_| (rng.next_u64() % u64::from(p)) as i64 - i64::from(p / 2))
                .collect();
            ring.inverse(&a, 1).is_some()
        })
        .count();
    let (expected, deviation) =
        (share_of_units(index, u64::from(p)), 0.5 / f64::from(draws).sqrt());
    assert!(
        (units as f64 / f64::from(draws) - expected).abs() < 4.0 * deviation,
        "{units} of {draws}, expected {expected}"
    );
}
