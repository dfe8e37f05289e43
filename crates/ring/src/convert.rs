//! Conversion between bases: exact centered lifts, and division with rounding.

use everlevel_arith::kernels;
use rayon::prelude::*;

use crate::basis::Basis;
use crate::limb::Limb;
use crate::poly::{Coeff, Eval, Poly};
use crate::prime_power::PrimePower;
use crate::ring::{Residues, Ring};

/// How many limbs a conversion makes in one go over the terms.
const LIMBS_AT_ONCE: usize = 6;
/// Words of each term that stay in cache meanwhile.
const CHUNK: usize = 2048;

/// An integer polynomial v with |v| <= D/2, known by its residues modulo the primes of a small
/// basis (product D) and ready to be reduced modulo any other prime.
///
/// With y_i = v * (D/d_i)^-1 mod d_i, v = sum y_i (D/d_i) - k D, where k = round(sum y_i / d_i) in
/// floating point. The rounding can only differ from the exact one where |v| is within 2^-45 D of
/// D/2, where either choice is a residue of the same class: the lift is always correct modulo D,
/// and centered up to that.
pub struct CenteredLift {
    basis: Basis,
    terms: Vec<Limb>,
}

impl CenteredLift {
    /// From the evaluations of a polynomial: v is `scale(i)` times what its limbs of `basis` hold.
    /// One inverse transform a prime.
    pub fn from_eval(
        ring: &Ring,
        basis: Basis,
        x: &Poly<Eval>,
        scale: impl Fn(usize) -> u64 + Sync,
    ) -> Self {
        let positions: Vec<usize> = basis.iter().collect();
        let terms = positions
            .par_iter()
            .map(|&i| {
                let mut limb = x.limb(i).clone();
                ring.inverse_limb(i, &mut limb);
                kernels::scalar_mul_assign(
                    ring.modulus(i),
                    &mut limb,
                    Self::term_factor(ring, basis, i, scale(i)),
                );
                limb
            })
            .collect();
        Self::from_terms(ring, basis, terms)
    }

    /// From coefficient limbs, one for each prime of `basis` in order: v is `scale(i)` times what
    /// they hold.
    pub fn from_coeff(
        ring: &Ring,
        basis: Basis,
        mut limbs: Vec<Limb>,
        scale: impl Fn(usize) -> u64 + Sync,
    ) -> Self {
        let positions: Vec<usize> = basis.iter().collect();
        limbs.par_iter_mut().zip(&positions).for_each(|(limb, &i)| {
            kernels::scalar_mul_assign(
                ring.modulus(i),
                limb,
                Self::term_factor(ring, basis, i, scale(i)),
            );
        });
        Self::from_terms(ring, basis, limbs)
    }

    /// From the y_i themselves: coefficient limbs already multiplied by
    /// [`CenteredLift::term_factor`].
    pub fn from_terms(ring: &Ring, basis: Basis, mut terms: Vec<Limb>) -> Self {
        let inverses: Vec<f64> =
            basis.iter().map(|i| 1.0 / ring.modulus(i).value() as f64).collect();
        let mut quotient = ring.limb();
        if terms.iter().any(Limb::wipes) {
            quotient.wipe_on_drop();
        }
        {
            let views: Vec<&[u64]> = terms.iter().map(|l| &l[..]).collect();
            kernels::rounded_quotient(&mut quotient, &views, &inverses);
        }
        terms.push(quotient);
        CenteredLift { basis, terms }
    }

    /// scale (D/d_i)^-1 modulo d_i: what coefficients modulo d_i are multiplied by to give y_i.
    pub fn term_factor(ring: &Ring, basis: Basis, i: usize, scale: u64) -> u64 {
        ring.modulus(i).mul(scale, ring.inverse_product(basis.minus(Basis::of([i])), i))
    }

    /// `factor` * v modulo each of the primes at the given positions: evaluations if `transform`,
    /// else coefficients.
    pub fn spread(&self, ring: &Ring, targets: &[(usize, u64)], transform: bool) -> Vec<Limb> {
        let lifts = std::slice::from_ref(self);
        let mut limbs = Self::spread_each(lifts, ring, targets, |i, limbs| {
            if transform {
                limbs.iter_mut().for_each(|limb| ring.forward_limb(i, limb));
            }
        });
        limbs.pop().expect("one polynomial")
    }

    /// v of several polynomials over one basis modulo the primes of `target`, as coefficients.
    pub fn spread_coeff(lifts: &[Self], ring: &Ring, target: Basis) -> Vec<Poly<Coeff>> {
        let targets: Vec<(usize, u64)> = target.iter().map(|i| (i, 1)).collect();
        let polynomials = Self::spread_each(lifts, ring, &targets, |_, _| {});
        polynomials.into_iter().map(|limbs| Poly::from_limbs(target, limbs)).collect()
    }

    /// [`CenteredLift::spread`] for several polynomials over one basis. `finish(i, limbs)` gets the
    /// coefficients of all of them modulo prime i while these are in cache.
    ///
    /// Several primes at a time go over the terms chunk by chunk, so that those are read from the
    /// second-level cache and not once more from memory for every prime.
    fn spread_each(
        lifts: &[Self],
        ring: &Ring,
        targets: &[(usize, u64)],
        finish: impl Fn(usize, &mut [Limb]) + Sync,
    ) -> Vec<Vec<Limb>> {
        let group = |targets: &[(usize, u64)]| {
            let mut out: Vec<Vec<Limb>> =
                targets.iter().map(|_| lifts.iter().map(|_| ring.limb()).collect()).collect();
            let weights: Vec<_> = targets
                .iter()
                .map(|&(i, factor)| lifts[0].weights(ring, ring.modulus(i), factor))
                .collect();
            for start in (0..ring.degree()).step_by(CHUNK) {
                let range = start..(start + CHUNK).min(ring.degree());
                for (k, lift) in lifts.iter().enumerate() {
                    let views: Vec<&[u64]> =
                        lift.terms.iter().map(|term| &term[range.clone()]).collect();
                    for ((limbs, weights), &(i, _)) in out.iter_mut().zip(&weights).zip(targets) {
                        kernels::weighted_sum(
                            ring.modulus(i),
                            &mut limbs[k][range.clone()],
                            &views,
                            weights,
                        );
                    }
                }
            }
            out.par_iter_mut().zip(targets).for_each(|(limbs, &(i, _))| finish(i, limbs));
            out
        };
        by_polynomial(
            lifts.len(),
            targets.par_chunks((LIMBS_AT_ONCE / lifts.len()).max(1)).flat_map(group).collect(),
        )
    }

    /// What the terms are multiplied by to give `factor` * v modulo `q`.
    fn weights(&self, ring: &Ring, q: impl Residues + Copy, factor: u64) -> Vec<u64> {
        let mut weights: Vec<u64> = self
            .basis
            .iter()
            .map(|i| q.product(factor, ring.product_mod(self.basis.minus(Basis::of([i])), q)))
            .collect();
        weights.push(q.negative(q.product(factor, ring.product_mod(self.basis, q))));
        weights
    }

    /// A lower bound on the largest |v| / D of all coefficients, in units of 2^-64 and short of it
    /// by less than 3 units for each prime: a product of words for each prime and coefficient, in
    /// constant time.
    pub fn largest_fraction(&self, ring: &Ring) -> u64 {
        // y / d = y ⌊2^(63+b) / d⌋ / 2^(63+b) for d of b bits, short by less than 2 units of 2^-64
        // before the last rounding. Integers that sum up to v / D do not show in 64 bits.
        let scales: Vec<(u64, u32)> = self
            .basis
            .iter()
            .map(|i| {
                let d = ring.modulus(i).value();
                let bits = u64::BITS - d.leading_zeros();
                // d is no power of two, so this is below 2^64.
                (((1u128 << (63 + bits)) / u128::from(d)) as u64, bits - 1)
            })
            .collect();
        let fraction = |k: usize| {
            self.terms.iter().zip(&scales).fold(0u64, |sum, (term, &(scale, shift))| {
                sum.wrapping_add(((u128::from(term[k]) * u128::from(scale)) >> shift) as u64)
            })
        };
        let largest =
            (0..ring.degree()).fold(0, |max, k| (fraction(k) as i64).unsigned_abs().max(max));
        largest.saturating_sub(3 * scales.len() as u64)
    }

    /// Writes `factor` * v modulo `t` (canonical residues), coefficient by coefficient. Moduli of
    /// up to 50 bits are several times faster.
    pub fn reduce(&self, ring: &Ring, t: PrimePower, factor: u64, out: &mut [u64]) {
        let views: Vec<&[u64]> = self.terms.iter().map(|l| &l[..]).collect();
        if let Some(q) = t.word() {
            return kernels::weighted_sum(q, out, &views, &self.weights(ring, q, factor));
        }
        let weights = self.weights(ring, t, factor);
        for (k, x) in out.iter_mut().enumerate() {
            // At most 129 terms of less than 50 + 62 bits.
            *x = t.reduce_u128(
                views
                    .iter()
                    .zip(&weights)
                    .map(|(term, w)| u128::from(term[k]) * u128::from(*w))
                    .sum(),
            );
        }
    }
}

/// The three integer constants of a division with rounding, see [`divide_round`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundingScale {
    /// alpha: an integer, or the inverse of one modulo every prime of the polynomial.
    pub alpha: Constant,
    /// beta.
    pub beta: u64,
    /// gamma.
    pub gamma: u64,
}

/// An integer or its inverse, modulo any prime that it is coprime to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// The integer itself.
    Integer(u64),
    /// Its modular inverse.
    Inverse(u64),
}

impl Constant {
    fn modulo(self, ring: &Ring, i: usize) -> u64 {
        match self {
            Constant::Integer(a) => ring.modulus(i).reduce_u64(a),
            Constant::Inverse(a) => ring.inverse_of(a, i),
        }
    }
}

impl RoundingScale {
    /// Plain division: round(x / D).
    pub const PLAIN: Self = RoundingScale { alpha: Constant::Integer(1), beta: 1, gamma: 1 };

    /// BGV's modulus switching for plaintext modulus t: x/D up to a rounding error that is a
    /// multiple of t.
    pub fn plain_multiple(t: u64) -> Self {
        RoundingScale { alpha: Constant::Inverse(t), beta: t, gamma: 1 }
    }

    /// The same for an input that was divided by t before: t * round(x / D).
    pub fn times_plain(t: u64) -> Self {
        RoundingScale { alpha: Constant::Integer(1), beta: t, gamma: t }
    }
}

/// Divides with rounding: from the polynomial's basis S to `target` T, with A = product of T \ S
/// and D = product of S \ T, returns (gamma A x - beta v) / D, where v is alpha A x modulo D,
/// centered.
///
/// Exact over the integers when beta alpha = gamma mod D, which the constructors of
/// [`RoundingScale`] ensure. Cost:
/// |S \ T| inverse transforms and |T| forward ones. The rounding error beta v / D is at most beta/2 in each coefficient.
pub fn divide_round(
    ring: &Ring,
    x: &Poly<Eval>,
    target: Basis,
    scale: RoundingScale,
) -> Poly<Eval> {
    let mut quotient =
        divide_round_produced(ring, 1, x.basis(), target, scale, |i, factor, out| {
            kernels::scalar_mul_add_assign(ring.modulus(i), &mut out[0], x.limb(i), factor);
        });
    quotient.pop().expect("one polynomial")
}

/// [`divide_round`] for `count` polynomials over `source` that are made limb by limb, for about as
/// many as fit the caches at a time: `add(i, factor, out)` adds `factor` times their evaluations
/// modulo prime i to `out`, and is called once for each prime of `source`.
pub fn divide_round_produced(
    ring: &Ring,
    count: usize,
    source: Basis,
    target: Basis,
    scale: RoundingScale,
    add: impl Fn(usize, u64, &mut [Limb]) + Sync,
) -> Vec<Poly<Eval>> {
    divide_round_sum(ring, count, source, target, scale, add, |_, _, _| {})
}

/// [`divide_round_produced`] for sums of two parts: `add` has the evaluations of one,
/// `add_coefficients` the coefficients of the other, which share the transforms of the remainder.
pub fn divide_round_sum(
    ring: &Ring,
    count: usize,
    source: Basis,
    target: Basis,
    scale: RoundingScale,
    add: impl Fn(usize, u64, &mut [Limb]) + Sync,
    add_coefficients: impl Fn(usize, u64, &mut [Limb]) + Sync,
) -> Vec<Poly<Eval>> {
    let falling = |i: usize, factor: u64| {
        let mut limbs = evaluated(ring, count, i, factor, &add);
        add_coefficients(i, factor, &mut limbs);
        limbs
    };
    let staying = |i: usize, factor: Option<u64>, limbs: &mut [Limb]| {
        if let Some(factor) = factor {
            add_coefficients(i, factor, limbs);
        }
        limbs.iter_mut().for_each(|limb| ring.forward_limb(i, limb));
        if let Some(factor) = factor {
            add(i, factor, limbs);
        }
    };
    let quotients = divided(ring, count, source, target, scale, falling, staying);
    quotients.into_iter().map(|limbs| Poly::from_limbs(target, limbs)).collect()
}

/// [`divide_round_produced`] to coefficients: one inverse transform for each prime of `source`, no
/// forward ones.
pub fn divide_round_to_coeff(
    ring: &Ring,
    count: usize,
    source: Basis,
    target: Basis,
    scale: RoundingScale,
    add: impl Fn(usize, u64, &mut [Limb]) + Sync,
) -> Vec<Poly<Coeff>> {
    let staying = |i: usize, factor: Option<u64>, limbs: &mut [Limb]| {
        let Some(factor) = factor else { return };
        for (limb, made) in limbs.iter_mut().zip(evaluated(ring, count, i, factor, &add)) {
            kernels::add_assign(ring.modulus(i), limb, &made);
        }
    };
    let falling = |i: usize, factor: u64| evaluated(ring, count, i, factor, &add);
    let quotients = divided(ring, count, source, target, scale, falling, staying);
    quotients.into_iter().map(|limbs| Poly::from_limbs(target, limbs)).collect()
}

/// [`divide_round`] of coefficients: no transforms.
pub fn divide_round_coeff(
    ring: &Ring,
    x: &Poly<Coeff>,
    target: Basis,
    scale: RoundingScale,
) -> Poly<Coeff> {
    let falling = |i: usize, factor: u64| {
        let mut limb = ring.limb();
        kernels::scalar_mul(ring.modulus(i), &mut limb, x.limb(i), factor);
        vec![limb]
    };
    let staying = |i: usize, factor: Option<u64>, limbs: &mut [Limb]| {
        if let Some(factor) = factor {
            kernels::scalar_mul_add_assign(ring.modulus(i), &mut limbs[0], x.limb(i), factor);
        }
    };
    let mut quotient = divided(ring, 1, x.basis(), target, scale, falling, staying);
    Poly::from_limbs(target, quotient.pop().expect("one polynomial"))
}

/// The coefficients modulo prime i of the `count` polynomials that `add` makes the evaluations of.
fn evaluated(
    ring: &Ring,
    count: usize,
    i: usize,
    factor: u64,
    add: impl Fn(usize, u64, &mut [Limb]),
) -> Vec<Limb> {
    let mut limbs: Vec<Limb> = (0..count).map(|_| ring.zero_limb()).collect();
    add(i, factor, &mut limbs);
    limbs.iter_mut().for_each(|limb| ring.inverse_limb(i, limb));
    limbs
}

/// The limbs of `count` quotients, see [`divide_round`]. `falling(i, factor)` gives `factor` times
/// the coefficients of the dividends modulo a prime that is dropped; `staying(i, factor, limbs)`
/// adds `factor` times the dividends (None: the prime is a new one) to -beta v / D, of which it
/// gets the coefficients.
fn divided(
    ring: &Ring,
    count: usize,
    source: Basis,
    target: Basis,
    scale: RoundingScale,
    falling: impl Fn(usize, u64) -> Vec<Limb> + Sync,
    staying: impl Fn(usize, Option<u64>, &mut [Limb]) + Sync,
) -> Vec<Vec<Limb>> {
    let (added, dropped) = (target.minus(source), source.minus(target));
    // gamma A / D.
    let factor = |i: usize| {
        let q = ring.modulus(i);
        let gamma = q.mul(q.reduce_u64(scale.gamma), ring.product_mod(added, q));
        source.contains(i).then(|| q.mul(ring.inverse_product(dropped, i), gamma))
    };
    let term = |i: usize| {
        let entry = ring
            .modulus(i)
            .mul(scale.alpha.modulo(ring, i), ring.product_mod(added, ring.modulus(i)));
        falling(i, CenteredLift::term_factor(ring, dropped, i, entry))
    };
    let lost: Vec<usize> = dropped.iter().collect();
    let terms = by_polynomial(count, lost.into_par_iter().map(term).collect());
    let lifts: Vec<CenteredLift> =
        terms.into_iter().map(|terms| CenteredLift::from_terms(ring, dropped, terms)).collect();
    let minus_beta = |i: usize| {
        let q = ring.modulus(i);
        (i, q.neg(q.mul(ring.inverse_product(dropped, i), q.reduce_u64(scale.beta))))
    };
    let targets: Vec<(usize, u64)> = target.iter().map(minus_beta).collect();
    CenteredLift::spread_each(&lifts, ring, &targets, |i, limbs| staying(i, factor(i), limbs))
}

/// From the limbs of `count` polynomials prime by prime to those of each.
fn by_polynomial(count: usize, primes: Vec<Vec<Limb>>) -> Vec<Vec<Limb>> {
    let mut polynomials: Vec<Vec<Limb>> =
        (0..count).map(|_| Vec::with_capacity(primes.len())).collect();
    for limbs in primes {
        polynomials
            .iter_mut()
            .zip(limbs)
            .for_each(|(polynomial, limb): (&mut Vec<Limb>, Limb)| polynomial.push(limb));
    }
    polynomials
}
