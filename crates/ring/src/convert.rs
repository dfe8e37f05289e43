//! Conversion between bases: exact centered lifts, and division with rounding.

use everlevel_arith::kernels;
use rayon::prelude::*;

use crate::basis::Basis;
use crate::limb::Limb;
use crate::poly::{Eval, Poly};
use crate::prime_power::PrimePower;
use crate::ring::{Residues, Ring};

/// How many primes [`CenteredLift::spread`] goes over the terms for.
const PRIMES_AT_ONCE: usize = 6;
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
    ///
    /// Several primes at a time go over the terms chunk by chunk, so that those are read from the second-level cache and not
    /// once more from memory for every prime.
    pub fn spread(&self, ring: &Ring, targets: &[(usize, u64)], transform: bool) -> Vec<Limb> {
        let mut out: Vec<Limb> = targets.iter().map(|_| ring.limb()).collect();
        out.par_chunks_mut(PRIMES_AT_ONCE).zip(targets.par_chunks(PRIMES_AT_ONCE)).for_each(|(limbs, targets)| {
            let weights: Vec<_> = targets.iter().map(|&(i, factor)| self.weights(ring, ring.modulus(i), factor)).collect();
            for start in (0..ring.degree()).step_by(CHUNK) {
                let range = start..(start + CHUNK).min(ring.degree());
                let views: Vec<&[u64]> = self.terms.iter().map(|term| &term[range.clone()]).collect();
                for ((limb, weights), &(i, _)) in limbs.iter_mut().zip(&weights).zip(targets) {
                    kernels::weighted_sum(ring.modulus(i), &mut limb[range.clone()], &views, weights);
                }
            }
            if transform {
                limbs.par_iter_mut().zip(targets).for_each(|(limb, &(i, _))| ring.forward_limb(i, limb));
            }
        });
        out
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
    let division = Division::new(ring, x.basis(), target, scale);
    let lift =
        (!division.dropped.is_empty()).then(|| CenteredLift::from_eval(ring, division.dropped, x, |i| division.entry_factor(i)));
    let limbs = division
        .spread(target, lift.as_ref())
        .into_par_iter()
        .map(|(i, v)| division.finish(i, v, x.basis().contains(i).then(|| &x.limb(i)[..])))
        .collect();
    Poly::from_limbs(target, limbs)
}

/// [`divide_round`] for two polynomials over `source` that are made limb by limb: `produce(i)` gives their evaluations modulo
/// prime i, once for each prime of `source`. A limb that stays is divided while it is still in cache.
pub fn divide_round_produced(
    ring: &Ring,
    source: Basis,
    target: Basis,
    scale: RoundingScale,
    produce: impl Fn(usize) -> (Limb, Limb) + Sync,
) -> (Poly<Eval>, Poly<Eval>) {
    let division = Division::new(ring, source, target, scale);
    let falling: Vec<usize> = division.dropped.iter().collect();
    let (t0, t1): (Vec<Limb>, Vec<Limb>) = falling
        .par_iter()
        .map(|&i| {
            let (mut x0, mut x1) = produce(i);
            let factor = CenteredLift::term_factor(ring, division.dropped, i, division.entry_factor(i));
            for x in [&mut x0, &mut x1] {
                ring.inverse_limb(i, x);
                kernels::scalar_mul_assign(ring.modulus(i), x, factor);
            }
            (x0, x1)
        })
        .unzip();
    let lift = |terms: Vec<Limb>| (!terms.is_empty()).then(|| CenteredLift::from_terms(ring, division.dropped, terms));
    let (lift0, lift1) = (lift(t0), lift(t1));
    let (spread0, spread1) = (division.spread(target, lift0.as_ref()), division.spread(target, lift1.as_ref()));
    let (l0, l1): (Vec<Limb>, Vec<Limb>) = spread0
        .into_par_iter()
        .zip(spread1)
        .map(|((i, v0), (_, v1))| {
            let made = source.contains(i).then(|| produce(i));
            let (x0, x1) = (made.as_ref().map(|x| &x.0[..]), made.as_ref().map(|x| &x.1[..]));
            (division.finish(i, v0, x0), division.finish(i, v1, x1))
        })
        .unzip();
    (Poly::from_limbs(target, l0), Poly::from_limbs(target, l1))
}

/// What a division does modulo each prime.
struct Division<'r> {
    ring: &'r Ring,
    added: Basis,
    dropped: Basis,
    scale: RoundingScale,
}

impl<'r> Division<'r> {
    fn new(ring: &'r Ring, source: Basis, target: Basis, scale: RoundingScale) -> Self {
        Division { ring, added: target.minus(source), dropped: source.minus(target), scale }
    }
    /// alpha A modulo prime i.
    fn entry_factor(&self, i: usize) -> u64 {
        let q = self.ring.modulus(i);
        let alpha = match self.scale.alpha {
            Constant::Integer(a) => q.reduce_u64(a),
            Constant::Inverse(a) => q.inv(q.reduce_u64(a)).expect("the primes of a ring are coprime to t"),
        };
        q.mul(alpha, self.ring.product_mod(self.added, q))
    }
    /// -beta v / D in evaluations modulo every prime of the target (absent: D = 1).
    fn spread(&self, target: Basis, lift: Option<&CenteredLift>) -> Vec<(usize, Option<Limb>)> {
        let factor = |i: usize| {
            let q = self.ring.modulus(i);
            q.neg(q.mul(self.ring.inverse_product(self.dropped, i), q.reduce_u64(self.scale.beta)))
        };
        match lift {
            Some(lift) => {
                let targets: Vec<(usize, u64)> = target.iter().map(|i| (i, factor(i))).collect();
                target.iter().zip(lift.spread(self.ring, &targets, true).into_iter().map(Some)).collect()
            }
            None => target.iter().map(|i| (i, None)).collect(),
        }
    }
    /// (gamma A x - beta v) / D modulo prime i, from what was spread and the limb of x (absent: a prime that is added).
    fn finish(&self, i: usize, spread: Option<Limb>, x: Option<&[u64]>) -> Limb {
        let (ring, q) = (self.ring, self.ring.modulus(i));
        let added = q.mul(q.reduce_u64(self.scale.gamma), ring.product_mod(self.added, q));
        let keep = q.mul(ring.inverse_product(self.dropped, i), added);
        match (spread, x) {
            (Some(mut v), x) => {
                if let Some(x) = x {
                    kernels::scalar_mul_add_assign(q, &mut v, x, keep);
                }
                v
            }
            (None, Some(x)) => {
                let mut out = ring.limb();
                kernels::scalar_mul(q, &mut out, x, keep);
                out
            }
            (None, None) => ring.zero_limb(),
        }
    }
}
