//! Conversions, automorphisms and slots against plain integer arithmetic.

use std::sync::Arc;

use everlevel_arith::Backend;
use everlevel_ring::cpu::{limb, limbs};
use everlevel_ring::{
    Basis, Coeff, Cpu, Eval, GaloisElement, Poly, PrimePower, Ring, RingError, RoundingScale,
    SlotShape, sample,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const INDEX: u64 = 64;

fn over(index: u64, primes: &[u64]) -> Cpu {
    Cpu::new(Arc::new(Ring::new(index, primes).unwrap()), Backend::detect()).unwrap()
}

fn five_primes() -> Cpu {
    let primes: Vec<u64> =
        everlevel_arith::primes::primes_congruent_one(INDEX, 1 << 30).take(5).collect();
    over(INDEX, &primes)
}

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

fn random(rng: &mut ChaCha20Rng, n: usize, bound: i64) -> Vec<i64> {
    (0..n).map(|_| (rng.next_u64() % (2 * bound as u64 + 1)) as i64 - bound).collect()
}

/// Centered coefficients (natural order) of a polynomial whose modulus exceeds twice their size.
fn integers(ring: &Ring, poly: Poly<Coeff>) -> Vec<i128> {
    let basis = poly.basis();
    let modulus: i128 = basis.iter().map(|i| ring.modulus(i).value() as i128).product();
    let stored: Vec<i128> = (0..ring.degree())
        .map(|k| {
            let (mut value, mut weight) = (0i128, 1i128);
            for (i, limb) in basis.iter().zip(limbs(&poly)) {
                let q = ring.modulus(i);
                let digit = q.mul(
                    q.sub(limb[k], q.reduce_i128(value)),
                    q.inv(q.reduce_i128(weight)).unwrap(),
                );
                value += weight * digit as i128;
                weight *= q.value() as i128;
            }
            if 2 * value > modulus { value - modulus } else { value }
        })
        .collect();
    ring.natural_order(&stored)
}

#[test]
fn products_are_negacyclic() {
    let cpu = five_primes();
    let ring = cpu.ring();
    let n = ring.degree();
    let mut rng = rng(1);
    let (a, b) = (random(&mut rng, n, 1000), random(&mut rng, n, 1000));
    let basis = Basis::of([0, 2]);
    let poly = |x: &[i64]| Poly::<Coeff>::from_signed(&cpu, basis, x).into_eval(&cpu);
    let product = integers(ring, poly(&a).mul(&cpu, &poly(&b)).into_coeff(&cpu));
    let mut want = vec![0i128; n];
    for i in 0..n {
        for j in 0..n {
            let term = (a[i] * b[j]) as i128;
            if i + j < n { want[i + j] += term } else { want[i + j - n] -= term }
        }
    }
    assert_eq!(product, want);
}

#[test]
fn products_with_monomials_move_coefficients() {
    let primes: Vec<u64> =
        everlevel_arith::primes::primes_congruent_one(1024, 1 << 50).take(2).collect();
    for index in [INDEX, 1024] {
        let cpu = over(index, &primes);
        let ring = cpu.ring();
        let n = ring.degree();
        let a = random(&mut rng(6), n, 1 << 40);
        let basis = Basis::of([0, 1]);
        for k in
            [0, 1, -1, 2, 24, -48, n as i64 / 2, n as i64, -(n as i64), 3 * n as i64 + 5, i64::MIN]
        {
            let product = Poly::<Coeff>::from_signed(&cpu, basis, &a)
                .into_eval(&cpu)
                .mul(&cpu, &Poly::monomial(&cpu, basis, k));
            let got = integers(ring, product.into_coeff(&cpu));
            for (c, &x) in a.iter().enumerate() {
                let target = (c as i64 + k.rem_euclid(2 * n as i64)) as usize % (2 * n);
                assert_eq!(
                    got[target % n],
                    if target < n { x as i128 } else { -x as i128 },
                    "X^{k}"
                );
            }
        }
    }
}

/// The exponents of the basis, by where the powers of X have their one coefficient 1.
fn exponents(cpu: &Cpu) -> Vec<i64> {
    let ring = cpu.ring();
    let power = |k| integers(ring, Poly::monomial(cpu, Basis::of([0, 1]), k).into_coeff(cpu));
    let powers: Vec<Vec<i128>> = (0..ring.index() as i64).map(power).collect();
    let unit = |c: usize| (0..ring.degree()).map(move |i| i128::from(i == c));
    let exponent = |c| powers.iter().position(|power| power.iter().copied().eq(unit(c)));
    (0..ring.degree())
        .map(|c| exponent(c).expect("every basis element is a power of X") as i64)
        .collect()
}

#[test]
fn products_with_monomials_add_up_as_many_coefficients_as_the_ring_says() {
    for (index, overlap) in [(INDEX, 1), (7, 2), (35, 4), (105, 8), (12, 2), (40, 2), (120, 4)] {
        let primes: Vec<u64> = everlevel_arith::primes::primes_congruent_one(
            Ring::prime_step(index).unwrap(),
            1 << 45,
        )
        .take(2)
        .collect();
        let cpu = over(index, &primes);
        let ring = cpu.ring();
        assert_eq!(ring.overlap(), overlap);
        let power = |k| integers(ring, Poly::monomial(&cpu, Basis::of([0, 1]), k).into_coeff(&cpu));
        let powers: Vec<Vec<i128>> = (0..index as i64).map(power).collect();
        assert!(powers.iter().flatten().all(|x| x.abs() <= 1));
        let exponents = exponents(&cpu);
        let terms = |k: usize, i: usize| {
            exponents.iter().filter(|e| powers[(k + **e as usize) % index as usize][i] != 0).count()
        };
        let most = (0..index as usize)
            .flat_map(|k| (0..ring.degree()).map(move |i| (k, i)))
            .map(|(k, i)| terms(k, i))
            .max();
        assert_eq!(most, Some(overlap), "index {index}");
    }
}

#[test]
fn automorphisms_agree_with_what_they_do_to_powers_of_x() {
    // Two rows; a prime; two, three primes; prime powers; powers of two times odd numbers.
    for index in [INDEX, 7, 15, 105, 9, 45, 12, 40, 72, 112, 120] {
        let primes: Vec<u64> = everlevel_arith::primes::primes_congruent_one(
            Ring::prime_step(index).unwrap(),
            1 << 45,
        )
        .take(2)
        .collect();
        let cpu = over(index, &primes);
        let ring = cpu.ring();
        let (n, basis) = (ring.degree(), Basis::of([0, 1]));
        assert_eq!(Ring::degree_of(index).unwrap(), n);
        let a = random(&mut rng(2), n, 1 << 20);
        let poly = Poly::<Coeff>::from_signed(&cpu, basis, &a).into_eval(&cpu);
        let exponents = exponents(&cpu);
        for g in (1..index).filter_map(|g| GaloisElement::new(index, g).ok()) {
            let mut want: Poly<Eval> = Poly::zero(&cpu, basis);
            for (&x, &e) in a.iter().zip(&exponents) {
                want.scale_add_assign(
                    &cpu,
                    &Poly::monomial(&cpu, basis, e * g.exponent() as i64),
                    x,
                );
            }
            let image = poly.galois(&cpu, g);
            assert_eq!(
                limbs(&image)[1][..],
                limbs(&want)[1][..],
                "index {index}, X^{}",
                g.exponent()
            );
            let back = image.galois(&cpu, g.inverse(ring));
            assert_eq!(limbs(&back)[0][..], limbs(&poly)[0][..]);
            // Piece by piece as well as at once.
            let (from, mut to) = (&limbs(&poly)[1], vec![u64::MAX; n]);
            for start in (0..n).step_by(5) {
                for (target, source) in
                    g.evaluation_shift(ring).pieces_of(start..(start + 5).min(n))
                {
                    to[target].copy_from_slice(&from[source]);
                }
            }
            assert_eq!(to[..], limbs(&want)[1][..]);
            for start in (0..n).step_by(5) {
                let block = start..(start + 5).min(n);
                let mut next = block.start;
                for (target, source) in g.evaluation_shift(ring).pieces_into(block.clone()) {
                    assert_eq!(target.start, next);
                    next = target.end;
                    assert_eq!(to[target], from[source]);
                }
                assert_eq!(next, block.end);
            }
            // Values that are the same along the first axes, or that repeat along a row.
            let counts = match ring.axes() {
                None => vec![1, 4, n / 2],
                Some(axes) => (0..axes.all().len())
                    .map(|i| axes.all()[i..].iter().map(|axis| axis.degree).product())
                    .collect(),
            };
            let shift = g.evaluation_shift(ring);
            for count in counts {
                let some: Vec<u64> = (0..count as u64).collect();
                shift.apply(&mut to, &some.repeat(n / count));
                assert_eq!(
                    to,
                    shift.applied_to_last(&some).repeat(n / count),
                    "index {index}, {count} values"
                );
            }
        }
    }
    assert!(matches!(
        GaloisElement::new(INDEX, 6),
        Err(RingError::NotAnAutomorphism { element: 6, .. })
    ));
}

#[test]
fn coefficients_are_not_much_larger_than_the_norm() {
    for index in [64, 7, 35, 105, 12, 40, 120] {
        let ring = Ring::new(index, &[]).unwrap();
        for seed in 0..50 {
            // Large at one coefficient, whatever the norm allows at the others.
            let a: Vec<f64> =
                random(&mut rng(seed), ring.degree(), 3).into_iter().map(|x| x as f64).collect();
            let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!(largest <= ring.norm().max(&a) * ring.coefficient_bits().exp2() * (1.0 + 1e-9));
        }
    }
}

#[test]
fn lifts_are_exact_and_centered() {
    let cpu = five_primes();
    let ring = cpu.ring();
    let mut rng = rng(3);
    let small = Basis::of([0, 1]);
    // up to half the modulus of about 2^60, both ends included
    let half = ring.modulus(0).value() as i64 * ring.modulus(1).value() as i64 / 2;
    let mut a = random(&mut rng, ring.degree(), half);
    a[0] = half;
    a[1] = -half;
    let poly = Poly::<Coeff>::from_signed(&cpu, small, &a);
    let q = ring.modulus(4);
    let natural = cpu.reduce(poly.clone(), PrimePower::new(q.value(), 1).unwrap(), 7);
    for (k, (&x, &got)) in a.iter().zip(&natural).enumerate() {
        let exact = q.mul(7, q.reduce_i64(x));
        // within rounding of half the modulus the lift may choose the other representative
        let other =
            q.mul(7, q.reduce_i128(x as i128 - x.signum() as i128 * (2 * half as i128 + 1)));
        assert!(got == exact || (k < 2 && got == other), "coefficient {k}");
    }
    // a modulus that the kernels are too narrow for
    let t = PrimePower::new(3, 39).unwrap();
    for (&x, &got) in a.iter().zip(&cpu.reduce(poly, t, 7)).skip(2) {
        assert_eq!(got, t.mul(7, t.reduce_i64(x)));
    }
}

/// A lower bound on |v| / D, short by less than three units of 2^-64 for each prime: for one prime
/// and three, from 0 to half the modulus.
#[test]
fn the_largest_fraction_is_that_of_the_integers() {
    let cpu = five_primes();
    let ring = cpu.ring();
    let mut rng = rng(5);
    for positions in [&[0][..], &[0, 1], &[1, 3, 4]] {
        let basis = Basis::of(positions.iter().copied());
        let modulus: i128 =
            positions.iter().map(|&i| i128::from(ring.modulus(i).value())).product();
        for bits in 0..62 {
            let bound = (1i64 << bits).min((modulus / 2).min(i64::MAX.into()) as i64);
            let mut a = random(&mut rng, ring.degree(), bound);
            a[bits % ring.degree()] = if bits % 2 == 0 { bound } else { -bound };
            let poly = Poly::<Coeff>::from_signed(&cpu, basis, &a);
            let any = PrimePower::new(3, 1).unwrap();
            let found = i128::from(cpu.reduce_measured(poly, any, 1).1);
            // |v| 2^64 / D, whose remainder is below a unit; 2^91 by 2^64 needs two steps.
            let largest = i128::from(bound);
            let (high, rest) = ((largest << 32) / modulus, (largest << 32) % modulus);
            let exact =
                if modulus < 1 << 94 { (high << 32) + (rest << 32) / modulus } else { high << 32 };
            let short = 6 * positions.len() as i128 + 1;
            assert!(
                (exact - short..=exact).contains(&found) || exact < short,
                "2^{bits}: {found}, {exact}"
            );
        }
    }
}

#[test]
fn division_rounds_as_integers_do() {
    let cpu = five_primes();
    let ring = cpu.ring();
    let mut rng = rng(4);
    let source = Basis::of([0, 1, 3]);
    let target = Basis::of([0, 2]);
    let dropped: i128 = [1, 3].iter().map(|&i| ring.modulus(i).value() as i128).product();
    let added = ring.modulus(2).value() as i128;
    let a = random(&mut rng, ring.degree(), 1 << 62);
    let x = Poly::<Coeff>::from_signed(&cpu, source, &a).into_eval(&cpu);

    // plain: round(A x / D)
    let plain = integers(ring, x.divided(&cpu, target, RoundingScale::PLAIN).into_coeff(&cpu));
    for (&x, &got) in a.iter().zip(&plain) {
        let scaled = x as i128 * added;
        assert!((scaled - got * dropped).abs() <= dropped / 2 + 1);
    }
    // BGV: the error is a multiple of t, and at most t/2
    let t = 257i128;
    let bgv = integers(
        ring,
        x.divided(&cpu, target, RoundingScale::plain_multiple(t as u128)).into_coeff(&cpu),
    );
    for (&x, &got) in a.iter().zip(&bgv) {
        let error = x as i128 * added - got * dropped;
        assert_eq!(error % t, 0);
        assert!(error.abs() <= t * (dropped / 2 + 1));
    }
    // of an input that was divided by t: t round(x / D)
    let times = integers(
        ring,
        x.divided(&cpu, target, RoundingScale::times_plain(t as u128)).into_coeff(&cpu),
    );
    for (&p, &got) in plain.iter().zip(&times) {
        assert_eq!(p * t, got);
    }
}

#[test]
fn bad_rings_are_refused() {
    assert!(matches!(Ring::new(30, &[]), Err(RingError::UnsupportedIndex { index: 30 })));
    assert!(matches!(Ring::new(64, &[97]), Err(RingError::BadPrime { value: 97, .. })));
    assert!(matches!(Ring::new(64, &[193, 193]), Err(RingError::RepeatedPrime { value: 193 })));
    assert!(matches!(SlotShape::new(30, 257, 1), Err(RingError::UnsupportedIndex { index: 30 })));
    for (p, e) in [(2, 1), (15, 1), (257, 0), (257, 8), (1 << 60, 1)] {
        assert!(SlotShape::new(512, p, e).is_err(), "{p}^{e}");
    }
}

#[test]
fn seeds_expand_limb_by_limb() {
    let cpu = five_primes();
    let ring = cpu.ring();
    let seed = [9; 32];
    let whole = sample::expand(&cpu, &seed, 3, Basis::of([0, 1, 4]));
    let part = sample::expand(&cpu, &seed, 3, Basis::of([4]));
    assert_eq!(limb(&whole, 4)[..], limb(&part, 4)[..]);
    assert_ne!(sample::expand_limb(&cpu, &seed, 2, 4)[..], limb(&part, 4)[..]);
    let below = |i: usize| limb(&whole, i).iter().all(|&x| x < ring.modulus(i).value());
    assert!(whole.basis().iter().all(below));
}
