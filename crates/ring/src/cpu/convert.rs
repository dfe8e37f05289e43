//! Conversion between bases: exact centered lifts.

use rayon::prelude::*;

use super::access::{into_limbs, limb, within};
use super::limb::{Limb, Limbs};
use super::places::inside;
use super::processor::{CHUNK, Cpu, chunks};
use super::timings::Work;
use crate::basis::Basis;
use crate::poly::{Coeff, Eval, Poly, Representation};
use crate::prime_power::PrimePower;
use crate::ring::{Residues, Ring};

/// The number of limbs that a conversion computes in one pass over the terms.
const LIMBS_AT_ONCE: usize = 6;

/// An integer polynomial v with |v| <= D/2, known by its residues modulo the primes of a small
/// basis (product D) and ready to be reduced modulo any other prime.
///
/// With y_i = v * (D/d_i)^-1 mod d_i, v = sum y_i (D/d_i) - k D, where k = round(sum y_i / d_i) in
/// floating point. The rounding can only differ from the exact one where |v| is within 2^-45 D of
/// D/2, where either choice is a residue of the same class: the lift is always correct modulo D,
/// and centered up to that.
pub(super) struct CenteredLift {
    basis: Basis,
    terms: Vec<Limb>,
    /// What it is made for.
    work: Work,
}

impl CenteredLift {
    /// From the evaluations of a polynomial: v is `scale(i)` times what its limbs of `basis` hold.
    /// One inverse transform a prime.
    pub(super) fn from_eval(
        cpu: &Cpu,
        basis: Basis,
        x: &Poly<Eval>,
        work: Work,
        scale: impl Fn(usize) -> u64 + Sync,
    ) -> Self {
        let positions: Vec<usize> = basis.iter().collect();
        let terms = positions
            .par_iter()
            .map(|&i| {
                let _timer = cpu.time(work);
                let mut limb = limb(x, i).clone();
                cpu.inverse_limb(i, &mut limb);
                cpu.kernels.scalar_mul_assign(
                    cpu.ring.modulus(i),
                    &mut limb,
                    Self::term_factor(&cpu.ring, basis, i, scale(i)),
                );
                limb
            })
            .collect();
        Self::from_terms(cpu, basis, terms, work)
    }

    /// From coefficient limbs, one for each prime of `basis` in order: v is `scale(i)` times what
    /// they hold.
    pub(super) fn from_coeff(
        cpu: &Cpu,
        basis: Basis,
        mut limbs: Vec<Limb>,
        work: Work,
        scale: impl Fn(usize) -> u64 + Sync,
    ) -> Self {
        let positions: Vec<usize> = basis.iter().collect();
        let blocks = cpu.blocks(positions.len());
        limbs.par_iter_mut().zip(&positions).for_each(|(limb, &i)| {
            let factor = Self::term_factor(&cpu.ring, basis, i, scale(i));
            blocks.each(limb, |_, words| {
                let _timer = cpu.time(work);
                cpu.kernels.scalar_mul_assign(cpu.ring.modulus(i), words, factor);
            });
        });
        Self::from_terms(cpu, basis, limbs, work)
    }

    /// From the y_i themselves: coefficient limbs already multiplied by
    /// [`CenteredLift::term_factor`].
    pub(super) fn from_terms(cpu: &Cpu, basis: Basis, mut terms: Vec<Limb>, work: Work) -> Self {
        let inverses: Vec<f64> =
            basis.iter().map(|i| 1.0 / cpu.ring.modulus(i).value() as f64).collect();
        let mut quotient = cpu.limb();
        if terms.iter().any(Limb::wipes) {
            quotient.wipe_on_drop();
        }
        {
            let views: Vec<&[u64]> = terms.iter().map(|l| &l[..]).collect();
            cpu.blocks(1).each(&mut quotient, |places, out| {
                let _timer = cpu.time(work);
                cpu.kernels.rounded_quotient(out, &within(&views, &places), &inverses);
            });
        }
        terms.push(quotient);
        CenteredLift { basis, terms, work }
    }

    /// scale (D/d_i)^-1 modulo d_i: what coefficients modulo d_i are multiplied by to give y_i.
    pub(super) fn term_factor(ring: &Ring, basis: Basis, i: usize, scale: u64) -> u64 {
        ring.modulus(i).mul(scale, ring.inverse_product(basis.minus(Basis::of([i])), i))
    }

    /// `factor` * v modulo each of the primes at the given positions: evaluations if `transform`,
    /// else coefficients.
    pub(super) fn spread(&self, cpu: &Cpu, targets: &[(usize, u64)], transform: bool) -> Vec<Limb> {
        let lifts = std::slice::from_ref(self);
        let mut limbs = Self::spread_each(lifts, cpu, targets, |i, limbs| {
            if transform {
                limbs.iter_mut().for_each(|limb| cpu.forward_limb(i, limb));
            }
        });
        limbs.pop().expect("one polynomial")
    }

    /// v of several polynomials over one basis modulo the primes of `target`, as coefficients.
    pub(super) fn spread_coeff(lifts: &[Self], cpu: &Cpu, target: Basis) -> Vec<Poly<Coeff>> {
        let targets: Vec<(usize, u64)> = target.iter().map(|i| (i, 1)).collect();
        let polynomials = Self::spread_each(lifts, cpu, &targets, |_, _| {});
        polynomials.into_iter().map(|limbs| cpu.poly(target, limbs)).collect()
    }

    /// [`CenteredLift::spread`] for several polynomials over one basis. `finish(i, limbs)` gets the
    /// coefficients of all of them modulo prime i while these are in cache.
    ///
    /// Several primes at a time go over the terms chunk by chunk, so that those are read from the
    /// second-level cache and not once more from memory for every prime.
    ///
    /// Blocks of places are made for the tasks of this call alone: others that are made at the same
    /// time, such as other digits, only make them smaller than they need to be.
    pub(super) fn spread_each(
        lifts: &[Self],
        cpu: &Cpu,
        targets: &[(usize, u64)],
        finish: impl Fn(usize, &mut [Limb]) + Sync,
    ) -> Vec<Vec<Limb>> {
        let at_once = (LIMBS_AT_ONCE / lifts.len()).max(1);
        let blocks = cpu.blocks(targets.len().div_ceil(at_once));
        let group = |targets: &[(usize, u64)]| {
            let mut out: Vec<Vec<Limb>> =
                targets.iter().map(|_| lifts.iter().map(|_| cpu.limb()).collect()).collect();
            let weights: Vec<_> = targets
                .iter()
                .map(|&(i, factor)| lifts[0].weights(&cpu.ring, cpu.ring.modulus(i), factor))
                .collect();
            blocks.together(out.iter_mut().flatten(), |places, outs| {
                let _timer = cpu.time(lifts[0].work);
                for range in chunks(places.clone(), CHUNK) {
                    let to = inside(&range, &places);
                    for (k, lift) in lifts.iter().enumerate() {
                        let views: Vec<&[u64]> =
                            lift.terms.iter().map(|term| &term[range.clone()]).collect();
                        let outs = outs.chunks_mut(lifts.len());
                        for ((outs, weights), &(i, _)) in outs.zip(&weights).zip(targets) {
                            let (q, out) = (cpu.ring.modulus(i), &mut outs[k][to.clone()]);
                            cpu.kernels.weighted_sum(q, out, &views, weights);
                        }
                    }
                }
            });
            out.par_iter_mut().zip(targets).for_each(|(limbs, &(i, _))| finish(i, limbs));
            out
        };
        by_polynomial(lifts.len(), targets.par_chunks(at_once).flat_map(group).collect())
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
    pub(super) fn largest_fraction(&self, ring: &Ring) -> u64 {
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
    pub(super) fn reduce(&self, cpu: &Cpu, t: PrimePower, factor: u64, out: &mut [u64]) {
        let _timer = cpu.time(self.work);
        let views: Vec<&[u64]> = self.terms.iter().map(|l| &l[..]).collect();
        if let Some(q) = t.word() {
            return cpu.kernels.weighted_sum(q, out, &views, &self.weights(&cpu.ring, q, factor));
        }
        let weights = self.weights(&cpu.ring, t, factor);
        for (k, x) in out.iter_mut().enumerate() {
            // At most 129 terms of less than 50 + 64 bits.
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

/// From the limbs of `count` polynomials prime by prime to those of each.
pub(super) fn by_polynomial(count: usize, primes: Vec<Vec<Limb>>) -> Vec<Vec<Limb>> {
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

impl Cpu {
    pub(super) fn converted(&self, xs: Vec<Poly<Coeff>>, to: Basis) -> Vec<Poly<Coeff>> {
        let lift = |x: Poly<Coeff>| {
            CenteredLift::from_coeff(self, x.basis(), into_limbs(x), Work::Conversions, |_| 1)
        };
        let lifts: Vec<_> = xs.into_iter().map(lift).collect();
        CenteredLift::spread_coeff(&lifts, self, to)
    }

    pub(super) fn extended(&self, xs: &[Poly<Eval>], to: Basis) -> Vec<Poly<Eval>> {
        let lift =
            |x: &Poly<Eval>| CenteredLift::from_eval(self, x.basis(), x, Work::Conversions, |_| 1);
        let lifts: Vec<_> = xs.iter().map(lift).collect();
        let lifted = CenteredLift::spread_coeff(&lifts, self, to);
        lifted.into_iter().zip(xs).map(|(wide, x)| wide.into_eval(self).joined(x)).collect()
    }
}

impl<R: Representation> Poly<R> {
    /// This polynomial modulo its primes and `other` modulo its own; the limbs are shared, not
    /// copied.
    fn joined(&self, other: &Self) -> Self {
        assert!(self.basis().intersection(other.basis()).is_empty(), "bases must not overlap");
        let basis = self.basis().union(other.basis());
        let limb = |i: usize| {
            let from = if self.basis().contains(i) { self } else { other };
            from.limbs().0[from.basis().limb_of(i).expect("one of the two holds it")].clone()
        };
        Poly::new(basis, self.degree(), Limbs(basis.iter().map(limb).collect()))
    }
}
