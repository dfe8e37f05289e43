//! Conversion between bases: exact centered lifts.

use std::ops::Range;

use everlevel_arith::NttTable;
use rayon::prelude::*;

use super::access::{into_limbs, limb, within};
use super::limb::{Limb, Limbs};
use super::places::{Blocks, inside};
use super::processor::{CHUNK, Cpu, Made, chunks};
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
                let factor = Self::term_factor(&cpu.ring, basis, i, scale(i));
                cpu.inverse_limb_times(i, &mut limb, factor);
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
        let mut limbs = Self::spread_each(lifts, cpu, targets, transform, |i, limbs, made| {
            if transform {
                limbs.iter_mut().for_each(|limb| cpu.forward_from(i, limb, made));
            }
        });
        limbs.pop().expect("one polynomial")
    }

    /// v of several polynomials over one basis modulo the primes of `target`, as coefficients.
    pub(super) fn spread_coeff(lifts: &[Self], cpu: &Cpu, target: Basis) -> Vec<Poly<Coeff>> {
        let targets: Vec<(usize, u64)> = target.iter().map(|i| (i, 1)).collect();
        let polynomials = Self::spread_each(lifts, cpu, &targets, false, |_, _, _| {});
        polynomials.into_iter().map(|limbs| cpu.poly(target, limbs)).collect()
    }

    /// [`CenteredLift::spread`] for several polynomials over one basis. `finish(i, limbs, made)`
    /// gets those of all of them modulo prime i while they are in cache: coefficients, or what the
    /// first step of their forward transforms has made of these, which it may only be if
    /// `transform`.
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
        transform: bool,
        finish: impl Fn(usize, &mut [Limb], Made) + Sync,
    ) -> Vec<Vec<Limb>> {
        let groups = targets.len().div_ceil((LIMBS_AT_ONCE / lifts.len()).max(1)).max(1);
        let blocks = cpu.blocks(groups);
        let group = |targets: &[(usize, u64)]| {
            let mut out: Vec<Vec<Limb>> =
                targets.iter().map(|_| lifts.iter().map(|_| cpu.limb()).collect()).collect();
            let weights: Vec<Vec<u64>> = targets
                .iter()
                .map(|&(i, factor)| lifts[0].weights(&cpu.ring, cpu.ring.modulus(i), factor))
                .collect();
            let tables: Option<Vec<&NttTable>> = match transform && blocks.whole() {
                true => targets.iter().map(|&(i, _)| cpu.in_pieces(i)).collect(),
                false => None,
            };
            let made = match tables {
                Some(tables) => Self::write_pieces(lifts, cpu, &tables, &weights, &mut out),
                None => Self::write_blocks(lifts, cpu, targets, &weights, &mut out, blocks),
            };
            out.par_iter_mut().zip(targets).for_each(|(limbs, &(i, _))| finish(i, limbs, made));
            out
        };
        // As even as possible: the end of a region waits for the largest group.
        let at_once = targets.len().div_ceil(groups).max(1);
        by_polynomial(lifts.len(), targets.par_chunks(at_once).flat_map(group).collect())
    }

    /// Writes `factor` * v of each lift modulo some primes, as coefficients.
    fn write_blocks(
        lifts: &[Self],
        cpu: &Cpu,
        targets: &[(usize, u64)],
        weights: &[Vec<u64>],
        out: &mut [Vec<Limb>],
        blocks: Blocks,
    ) -> Made {
        blocks.together(out.iter_mut().flatten(), |places, outs| {
            let _timer = cpu.time(lifts[0].work);
            for range in chunks(places.clone(), CHUNK) {
                let to = inside(&range, &places);
                for (k, lift) in lifts.iter().enumerate() {
                    let views = lift.views(&range);
                    let outs = outs.chunks_mut(lifts.len());
                    for ((outs, weights), &(i, _)) in outs.zip(weights).zip(targets) {
                        let (q, out) = (cpu.ring.modulus(i), &mut outs[k][to.clone()]);
                        cpu.kernels.weighted_sum(q, out, &views, weights);
                    }
                }
            }
        });
        Made::Nothing
    }

    /// Writes `factor` * v of each lift modulo some primes, the tables of which are given, and
    /// makes the first step of their forward transforms: piece by piece, so that this finds the
    /// coefficients in the nearest cache, and the terms are read once for all primes.
    fn write_pieces(
        lifts: &[Self],
        cpu: &Cpu,
        tables: &[&NttTable],
        weights: &[Vec<u64>],
        out: &mut [Vec<Limb>],
    ) -> Made {
        // The degree, and so the pieces, are the same modulo every prime.
        for piece in 0..tables.first().map_or(0, |table| table.pieces()) {
            let places = tables[0].places_of(piece);
            for (k, lift) in lifts.iter().enumerate() {
                let views = places.clone().map(|places| lift.views(&places));
                for ((limbs, weights), table) in out.iter_mut().zip(weights).zip(tables) {
                    let limb = &mut limbs[k];
                    {
                        let _timer = cpu.time(lift.work);
                        for (places, views) in places.iter().zip(&views) {
                            let out = &mut limb[places.clone()];
                            cpu.kernels.weighted_sum(table.modulus(), out, views, weights);
                        }
                    }
                    let _timer = cpu.time(Work::Transforms);
                    table.forward_piece(limb, piece);
                }
            }
        }
        Made::Pieces
    }

    /// The terms at some places.
    fn views(&self, places: &Range<usize>) -> Vec<&[u64]> {
        self.terms.iter().map(|term| &term[places.clone()]).collect()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel_arith::{Backend, primes};

    use super::*;

    /// Degrees whose transforms have one piece and several, more primes than are taken at once, one
    /// and two polynomials, and threads for which places are divided and for which they are not.
    #[test]
    fn evaluations_are_transforms_of_coefficients() {
        for index in [1 << 9, 1 << 15] {
            let step = Ring::prime_step(index).unwrap();
            let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << 50).take(10).collect();
            let ring = Arc::new(Ring::new(index, &moduli).unwrap());
            for backend in Backend::available() {
                let cpu = Cpu::new(ring.clone(), backend).unwrap();
                for threads in [1, 16] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                    let several = ring.degree() == 1 << 14 && backend != Backend::Portable;
                    pool.build().unwrap().install(|| compare(&cpu, several && threads == 1));
                }
            }
        }
    }

    /// Compares both ways modulo 8 primes; `pieces` says whether the second one begins transforms.
    fn compare(cpu: &Cpu, pieces: bool) {
        let lift = |seed: u64| {
            let limb = |i: usize| {
                let (q, mut limb) = (cpu.ring.modulus(i).value(), cpu.limb());
                for (k, x) in limb.iter_mut().enumerate() {
                    *x = (k as u64 + 1).wrapping_mul(seed) % q;
                }
                limb
            };
            let limbs = (0..2).map(limb).collect();
            CenteredLift::from_coeff(cpu, Basis::of([0, 1]), limbs, Work::ModUp, |_| 1)
        };
        let lifts = [lift(0x9E37_79B9_7F4A_7C15), lift(0xBF58_476D_1CE4_E5B9)];
        let targets: Vec<(usize, u64)> = (2..10).map(|i| (i, i as u64)).collect();
        for lifts in [&lifts[..1], &lifts[..]] {
            let expected =
                CenteredLift::spread_each(lifts, cpu, &targets, false, |i, limbs, made| {
                    assert!(made == Made::Nothing);
                    limbs.iter_mut().for_each(|limb| cpu.forward_limb(i, limb));
                });
            let found = CenteredLift::spread_each(lifts, cpu, &targets, true, |i, limbs, made| {
                assert_eq!(made == Made::Pieces, pieces);
                limbs.iter_mut().for_each(|limb| cpu.forward_from(i, limb, made));
            });
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!((found.len(), expected.len()), (targets.len(), targets.len()));
                assert!(found.iter().zip(expected).all(|(x, y)| x[..] == y[..]));
            }
            assert_eq!((found.len(), expected.len()), (lifts.len(), lifts.len()));
        }
    }
}
