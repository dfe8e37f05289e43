//! Division with rounding.

use rayon::prelude::*;

use super::access::limb;
use super::convert::{CenteredLift, by_polynomial};
use super::limb::Limb;
use super::places::Blocks;
use super::processor::Cpu;
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::{RoundingScale, Sum};
use crate::poly::{Coeff, Eval, Poly};

impl Cpu {
    /// The sum is made limb by limb where it is divided, for about as many primes as fit the caches
    /// at a time.
    pub(super) fn divided_sum(
        &self,
        sum: &Sum<'_, Cpu>,
        target: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Eval>> {
        let falling = |i: usize, factor: u64, blocks: Blocks| {
            let mut limbs = self.evaluated(sum, i, factor, blocks);
            self.add_coefficients(sum, i, factor, &mut limbs, blocks);
            limbs
        };
        let staying = |i: usize, factor: Option<u64>, limbs: &mut [Limb], blocks: Blocks| {
            if let Some(factor) = factor {
                self.add_coefficients(sum, i, factor, limbs, blocks);
            }
            blocks.limbs(limbs, |limb| self.forward_limb(i, limb));
            if let Some(factor) = factor {
                self.add_evaluations(sum, i, factor, limbs, blocks);
            }
        };
        let count = sum.rest.len();
        let quotients = self.divided(count, sum.basis, target, scale, falling, staying);
        quotients.into_iter().map(|limbs| self.poly(target, limbs)).collect()
    }

    /// One inverse transform for each prime of the sum, no forward ones.
    pub(super) fn divided_sum_to_coeff(
        &self,
        sum: &Sum<'_, Cpu>,
        target: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Coeff>> {
        let staying = |i: usize, factor: Option<u64>, limbs: &mut [Limb], blocks: Blocks| {
            let Some(factor) = factor else { return };
            let made = self.evaluated(sum, i, factor, blocks);
            for (limb, made) in limbs.iter_mut().zip(&made) {
                blocks.each(limb, |places, out| {
                    let _timer = self.time(Work::ModDown);
                    self.kernels.add_assign(self.ring.modulus(i), out, &made[places]);
                });
            }
        };
        let falling =
            |i: usize, factor: u64, blocks: Blocks| self.evaluated(sum, i, factor, blocks);
        let count = sum.rest.len();
        let quotients = self.divided(count, sum.basis, target, scale, falling, staying);
        quotients.into_iter().map(|limbs| self.poly(target, limbs)).collect()
    }

    /// No transforms.
    pub(super) fn divided_coeff(
        &self,
        x: &Poly<Coeff>,
        target: Basis,
        scale: RoundingScale,
    ) -> Poly<Coeff> {
        let falling = |i: usize, factor: u64, blocks: Blocks| {
            let (mut out, x) = (self.limb(), limb(x, i));
            blocks.each(&mut out, |places, out| {
                let _timer = self.time(Work::ModDown);
                self.kernels.scalar_mul(self.ring.modulus(i), out, &x[places], factor);
            });
            vec![out]
        };
        let staying = |i: usize, factor: Option<u64>, limbs: &mut [Limb], blocks: Blocks| {
            let Some(factor) = factor else { return };
            let x = limb(x, i);
            blocks.each(&mut limbs[0], |places, out| {
                let _timer = self.time(Work::ModDown);
                self.kernels.scalar_mul_add_assign(self.ring.modulus(i), out, &x[places], factor);
            });
        };
        let mut quotient = self.divided(1, x.basis(), target, scale, falling, staying);
        self.poly(target, quotient.pop().expect("one polynomial"))
    }

    /// `factor` times the coefficients modulo prime i of what a sum has in evaluations.
    fn evaluated(&self, sum: &Sum<'_, Cpu>, i: usize, factor: u64, blocks: Blocks) -> Vec<Limb> {
        let mut limbs: Vec<Limb> = sum.rest.iter().map(|_| self.zero_limb()).collect();
        self.add_evaluations(sum, i, factor, &mut limbs, blocks);
        blocks.limbs(&mut limbs, |limb| self.inverse_limb(i, limb));
        limbs
    }

    /// The limbs of `count` quotients. `falling(i, factor, blocks)` gives `factor` times the
    /// coefficients of the dividends modulo a prime that is dropped; `staying(i, factor, limbs,
    /// blocks)` adds `factor` times the dividends (None: the prime is a new one) to -beta v / D, of
    /// which it gets the coefficients. They may divide their places into the blocks.
    fn divided(
        &self,
        count: usize,
        source: Basis,
        target: Basis,
        scale: RoundingScale,
        falling: impl Fn(usize, u64, Blocks) -> Vec<Limb> + Sync,
        staying: impl Fn(usize, Option<u64>, &mut [Limb], Blocks) + Sync,
    ) -> Vec<Vec<Limb>> {
        let ring = &self.ring;
        let (added, dropped) = (target.minus(source), source.minus(target));
        // gamma A / D.
        let factor = |i: usize| {
            let q = ring.modulus(i);
            let gamma = q.mul(q.reduce_u128(scale.gamma), ring.product_mod(added, q));
            source.contains(i).then(|| q.mul(ring.inverse_product(dropped, i), gamma))
        };
        let (lost_blocks, kept_blocks) = (self.blocks(dropped.len()), self.blocks(target.len()));
        let term = |i: usize| {
            let q = ring.modulus(i);
            let entry = q.mul(scale.alpha.modulo(ring, i), ring.product_mod(added, q));
            falling(i, CenteredLift::term_factor(ring, dropped, i, entry), lost_blocks)
        };
        let lost: Vec<usize> = dropped.iter().collect();
        let terms = by_polynomial(count, lost.into_par_iter().map(term).collect());
        let lift = |terms| CenteredLift::from_terms(self, dropped, terms, Work::ModDown);
        let lifts: Vec<CenteredLift> = terms.into_iter().map(lift).collect();
        let minus_beta = |i: usize| {
            let q = ring.modulus(i);
            (i, q.neg(q.mul(ring.inverse_product(dropped, i), q.reduce_u128(scale.beta))))
        };
        let targets: Vec<(usize, u64)> = target.iter().map(minus_beta).collect();
        CenteredLift::spread_each(&lifts, self, &targets, |i, limbs| {
            staying(i, factor(i), limbs, kept_blocks);
        })
    }
}
