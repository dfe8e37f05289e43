//! Conversion between bases: exact centered lifts, and division with rounding.

use std::array::from_fn;

use everlevel_arith::kernels;
use rayon::prelude::*;

use crate::basis::Basis;
use crate::limb::Limb;
use crate::poly::{Eval, Poly};
use crate::prime_power::PrimePower;
use crate::ring::{Residues, Ring};

/// How many limbs a conversion makes in one go over the terms.
const LIMBS_AT_ONCE: usize = 6;
/// Words of each term that stay in cache meanwhile.
const CHUNK: usize = 2048;

/// An integer polynomial v with |v| <= D/2, known by its residues modulo the primes of a small basis (product D) and
/// ready to be reduced modulo any other prime.
///
/// With y_i = v * (D/d_i)^-1 mod d_i, v = sum y_i (D/d_i) - k D, where k = round(sum y_i / d_i) in floating point. The
/// rounding can only differ from the exact one where |v| is within 2^-45 D of D/2, where either choice is a
/// residue of the same class: the lift is always correct modulo D, and centered up to that.
pub struct CenteredLift {
    basis: Basis,
    terms: Vec<Limb>,
}

impl CenteredLift {
    /// From the evaluations of a polynomial: v is `scale(i)` times what its limbs of `basis` hold. One inverse transform a prime.
    pub fn from_eval(ring: &Ring, basis: Basis, x: &Poly<Eval>, scale: impl Fn(usize) -> u64 + Sync) -> Self {
        let positions: Vec<usize> = basis.iter().collect();
        let terms = positions
            .par_iter()
            .map(|&i| {
                let mut limb = x.limb(i).clone();
                ring.inverse_limb(i, &mut limb);
                kernels::scalar_mul_assign(ring.modulus(i), &mut limb, Self::term_factor(ring, basis, i, scale(i)));
                limb
            })
            .collect();
        Self::from_terms(ring, basis, terms)
    }
    /// From coefficient limbs, one for each prime of `basis` in order.
    pub fn from_coeff(ring: &Ring, basis: Basis, mut limbs: Vec<Limb>) -> Self {
        let positions: Vec<usize> = basis.iter().collect();
        limbs.par_iter_mut().zip(&positions).for_each(|(limb, &i)| {
            kernels::scalar_mul_assign(ring.modulus(i), limb, Self::term_factor(ring, basis, i, 1));
        });
        Self::from_terms(ring, basis, limbs)
    }
    /// From the y_i themselves: coefficient limbs already multiplied by [`CenteredLift::term_factor`].
    pub fn from_terms(ring: &Ring, basis: Basis, mut terms: Vec<Limb>) -> Self {
        let inverses: Vec<f64> = basis.iter().map(|i| 1.0 / ring.modulus(i).value() as f64).collect();
        let mut quotient = ring.limb();
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
    /// `factor` * v modulo each of the primes at the given positions: evaluations if `transform`, else coefficients.
    pub fn spread(&self, ring: &Ring, targets: &[(usize, u64)], transform: bool) -> Vec<Limb> {
        let [limbs] = Self::spread_each([self], ring, targets, |i, [limb]| {
            if transform {
                ring.forward_limb(i, limb);
            }
        });
        limbs
    }
    /// [`CenteredLift::spread`] for several polynomials over one basis. `finish(i, limbs)` gets the coefficients of all
    /// of them modulo prime i while these are in cache.
    ///
    /// Several primes at a time go over the terms chunk by chunk, so that those are read from the second-level cache and not
    /// once more from memory for every prime.
    fn spread_each<const N: usize>(
        lifts: [&Self; N],
        ring: &Ring,
        targets: &[(usize, u64)],
        finish: impl Fn(usize, &mut [Limb; N]) + Sync,
    ) -> [Vec<Limb>; N] {
        let group = |targets: &[(usize, u64)]| {
            let mut out: Vec<[Limb; N]> = targets.iter().map(|_| from_fn(|_| ring.limb())).collect();
            let weights: Vec<_> = targets.iter().map(|&(i, factor)| lifts[0].weights(ring, ring.modulus(i), factor)).collect();
            for start in (0..ring.degree()).step_by(CHUNK) {
                let range = start..(start + CHUNK).min(ring.degree());
                for (k, lift) in lifts.iter().enumerate() {
                    let views: Vec<&[u64]> = lift.terms.iter().map(|term| &term[range.clone()]).collect();
                    for ((limbs, weights), &(i, _)) in out.iter_mut().zip(&weights).zip(targets) {
                        kernels::weighted_sum(ring.modulus(i), &mut limbs[k][range.clone()], &views, weights);
                    }
                }
            }
            out.par_iter_mut().zip(targets).for_each(|(limbs, &(i, _))| finish(i, limbs));
            out
        };
        by_polynomial(targets.par_chunks((LIMBS_AT_ONCE / N).max(1)).flat_map(group).collect())
    }
    /// What the terms are multiplied by to give `factor` * v modulo `q`.
    fn weights(&self, ring: &Ring, q: impl Residues + Copy, factor: u64) -> Vec<u64> {
        let mut weights: Vec<u64> =
            self.basis.iter().map(|i| q.product(factor, ring.product_mod(self.basis.minus(Basis::of([i])), q))).collect();
        weights.push(q.negative(q.product(factor, ring.product_mod(self.basis, q))));
        weights
    }
    /// Writes `factor` * v modulo `t` (canonical residues), coefficient by coefficient. Moduli of up to 50 bits are several times faster.
    pub fn reduce(&self, ring: &Ring, t: PrimePower, factor: u64, out: &mut [u64]) {
        let views: Vec<&[u64]> = self.terms.iter().map(|l| &l[..]).collect();
        if let Some(q) = t.word() {
            return kernels::weighted_sum(q, out, &views, &self.weights(ring, q, factor));
        }
        let weights = self.weights(ring, t, factor);
        for (k, x) in out.iter_mut().enumerate() {
            // At most 129 terms of less than 50 + 62 bits.
            *x = t.reduce_u128(views.iter().zip(&weights).map(|(term, w)| u128::from(term[k]) * u128::from(*w)).sum());
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

    /// BGV's modulus switching for plaintext modulus t: x/D up to a rounding error that is a multiple of t.
    pub fn plain_multiple(t: u64) -> Self {
        RoundingScale { alpha: Constant::Inverse(t), beta: t, gamma: 1 }
    }
    /// The same for an input that was divided by t before: t * round(x / D).
    pub fn times_plain(t: u64) -> Self {
        RoundingScale { alpha: Constant::Integer(1), beta: t, gamma: t }
    }
}

/// Divides with rounding: from the polynomial's basis S to `target` T, with A = product of T \ S and D = product of S \ T,
/// returns (gamma A x - beta v) / D, where v is alpha A x modulo D, centered.
///
/// Exact over the integers when beta alpha = gamma mod D, which the constructors of [`RoundingScale`] ensure. Cost:
/// |S \ T| inverse transforms and |T| forward ones. The rounding error beta v / D is at most beta/2 in each coefficient.
pub fn divide_round(ring: &Ring, x: &Poly<Eval>, target: Basis, scale: RoundingScale) -> Poly<Eval> {
    let [quotient] = divide_round_produced(ring, x.basis(), target, scale, |i, factor, [out]| {
        kernels::scalar_mul_add_assign(ring.modulus(i), out, x.limb(i), factor);
    });
    quotient
}

/// [`divide_round`] for N polynomials over `source` that are made limb by limb, for about as many as fit the caches at a time:
/// `add(i, factor, out)` adds `factor` times their evaluations modulo prime i to `out`, and is called once for each prime of `source`.
pub fn divide_round_produced<const N: usize>(
    ring: &Ring,
    source: Basis,
    target: Basis,
    scale: RoundingScale,
    add: impl Fn(usize, u64, [&mut Limb; N]) + Sync,
) -> [Poly<Eval>; N] {
    let (added, dropped) = (target.minus(source), source.minus(target));
    // Adds (gamma A / D) x, unless the prime is a new one.
    let finish = |i: usize, limbs: &mut [Limb; N]| {
        if source.contains(i) {
            let q = ring.modulus(i);
            let gamma = q.mul(q.reduce_u64(scale.gamma), ring.product_mod(added, q));
            add(i, q.mul(ring.inverse_product(dropped, i), gamma), limbs.each_mut());
        }
    };
    let only_raised = |i: usize| {
        let mut limbs = from_fn(|_| ring.zero_limb());
        finish(i, &mut limbs);
        limbs
    };
    let term = |i: usize| {
        let entry = ring.modulus(i).mul(scale.alpha.modulo(ring, i), ring.product_mod(added, ring.modulus(i)));
        let mut limbs = from_fn(|_| ring.zero_limb());
        add(i, CenteredLift::term_factor(ring, dropped, i, entry), limbs.each_mut());
        limbs.iter_mut().for_each(|limb| ring.inverse_limb(i, limb));
        limbs
    };
    let positions: Vec<usize> = target.iter().collect();
    let limbs = if dropped.is_empty() {
        by_polynomial(positions.into_par_iter().map(only_raised).collect())
    } else {
        let falling: Vec<usize> = dropped.iter().collect();
        let terms = by_polynomial(falling.into_par_iter().map(term).collect());
        let lifts = terms.map(|terms| CenteredLift::from_terms(ring, dropped, terms));
        let minus_beta = |i: usize| {
            let q = ring.modulus(i);
            (i, q.neg(q.mul(ring.inverse_product(dropped, i), q.reduce_u64(scale.beta))))
        };
        let targets: Vec<(usize, u64)> = positions.into_iter().map(minus_beta).collect();
        CenteredLift::spread_each(lifts.each_ref(), ring, &targets, |i, limbs| {
            limbs.iter_mut().for_each(|limb| ring.forward_limb(i, limb));
            finish(i, limbs);
        })
    };
    limbs.map(|limbs| Poly::from_limbs(target, limbs))
}

/// From the limbs of N polynomials prime by prime to those of each.
fn by_polynomial<const N: usize>(primes: Vec<[Limb; N]>) -> [Vec<Limb>; N] {
    let mut polynomials = from_fn(|_| Vec::with_capacity(primes.len()));
    for limbs in primes {
        polynomials.iter_mut().zip(limbs).for_each(|(polynomial, limb)| polynomial.push(limb));
    }
    polynomials
}
