//! Sums that are made where they are consumed: prime by prime in parallel, a few words at a time.

use std::ops::Range;
use std::sync::Arc;

use everlevel_arith::Modulus;
use rayon::prelude::*;

use super::access::{limb, limbs_mut, within};
use super::keys::KeyLimbs;
use super::limb::Limb;
use super::places::{Blocks, inside};
use super::processor::{CHUNK, Cpu, chunks};
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::{Accumulation, Rest, Sum};
use crate::galois::{EvaluationShift, GaloisElement};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// Contiguous places that an automorphism moves, as (target, source).
type Piece = (Range<usize>, Range<usize>);

/// What an automorphism moves from or to the places of a chunk, as `pieces` has it.
fn moves<I: Iterator<Item = Piece>>(
    shift: Option<EvaluationShift>,
    chunk: Range<usize>,
    pieces: impl Fn(EvaluationShift, Range<usize>) -> I,
) -> impl Iterator<Item = Piece> {
    let whole = shift.is_none().then(|| (chunk.clone(), chunk.clone()));
    let moved = shift.map(|shift| pieces(shift, chunk));
    whole.into_iter().chain(moved.into_iter().flatten())
}

/// What an automorphism does to a limb; none if that is nothing.
fn shift(ring: &Ring, g: GaloisElement) -> Option<EvaluationShift> {
    (!g.is_identity()).then(|| g.evaluation_shift(ring))
}

impl Sum<'_, Cpu> {
    /// What the rests are multiplied by modulo the prime at `position`; none where they vanish.
    fn rest_factor(&self, ring: &Ring, position: usize) -> Option<u64> {
        let q = ring.modulus(position);
        let factor = || q.mul(ring.product_mod(self.raise, q), self.factor.modulo(ring, position));
        (!self.raise.contains(position)).then(factor)
    }
}

impl Cpu {
    /// Adds `factor` times the evaluations of a sum modulo prime i to `outs`, all but the
    /// coefficients among its rests.
    pub(super) fn add_evaluations(
        &self,
        sum: &Sum<'_, Cpu>,
        i: usize,
        factor: u64,
        outs: &mut [Limb],
        blocks: Blocks,
    ) {
        let raise = sum.rest_factor(&self.ring, i);
        if sum.switched.is_none() && raise.is_none() {
            return;
        }
        let shift = shift(&self.ring, sum.automorphism);
        let key = sum.switched.as_ref().map(|(digits, key)| (digits.get(), &key[..]));
        let digits = sum.switched.as_ref().map(|(digits, _)| digits.modulo(self, i));
        let digits: Vec<&[u64]> = digits.iter().flatten().map(|d| &d[..]).collect();
        let blocks = blocks.with_key(key.map(|(_, key)| key));
        blocks.together(outs, |places, outs| {
            let _timer = self.time(Work::KeyProducts);
            let mut key = key.map(|(cut, key)| cut.key_limbs(self, key, i));
            let scaled = Scaled { sum, i, factor, raise, digits: &digits };
            if blocks.whole() {
                // By source, so that keys are read in order.
                for chunk in chunks(places, CHUNK) {
                    key.iter_mut().for_each(|key| key.expand(&chunk));
                    for (to, from) in moves(shift, chunk, EvaluationShift::pieces_of) {
                        scaled.add(self, key.as_ref(), outs, &to, &from);
                    }
                }
                return;
            }
            for chunk in chunks(places.clone(), CHUNK) {
                for (to, from) in moves(shift, chunk, EvaluationShift::pieces_into) {
                    key.iter_mut().for_each(|key| key.expand(&from));
                    scaled.add(self, key.as_ref(), outs, &inside(&to, &places), &from);
                }
            }
        });
    }

    /// Adds `factor` times the places `from` of a rest modulo prime i to `out`.
    fn add_rest(
        &self,
        q: Modulus,
        i: usize,
        rest: &Rest<'_, Cpu>,
        factor: u64,
        out: &mut [u64],
        from: &Range<usize>,
    ) {
        match rest {
            Rest::None | Rest::Coefficients(_) => {}
            Rest::Poly(x) => {
                self.kernels.scalar_mul_add_assign(q, out, &limb(x, i)[from.clone()], factor);
            }
            Rest::Products(pairs) => {
                let _timer = self.time(Work::Tensor);
                let (left, right): (Vec<&[u64]>, Vec<&[u64]>) = pairs
                    .iter()
                    .map(|(x, y)| (&limb(x, i)[from.clone()], &limb(y, i)[from.clone()]))
                    .unzip();
                self.kernels.inner_product_scale_add(q, out, &left, &right, factor);
            }
        }
    }

    /// Adds `factor` times the coefficients among the rests of a sum modulo prime i.
    pub(super) fn add_coefficients(
        &self,
        sum: &Sum<'_, Cpu>,
        i: usize,
        factor: u64,
        outs: &mut [Limb],
        blocks: Blocks,
    ) {
        let q = self.ring.modulus(i);
        let Some(raise) = sum.rest_factor(&self.ring, i) else { return };
        for (out, rest) in outs.iter_mut().zip(&sum.rest) {
            if let Rest::Coefficients(x) = rest {
                let (x, factor) = (limb(x, i), q.mul(factor, raise));
                blocks.each(out, |places, out| {
                    let _timer = self.time(Work::ModDown);
                    self.kernels.scalar_mul_add_assign(q, out, &x[places], factor);
                });
            }
        }
    }

    /// Polynomials from their limbs, which come prime by prime, then by result, then by component.
    pub(super) fn assembled(
        &self,
        basis: Basis,
        results: usize,
        components: usize,
        columns: Vec<Vec<Vec<Limb>>>,
    ) -> Vec<Vec<Poly<Eval>>> {
        let mut columns: Vec<_> =
            columns.into_iter().map(|column| column.into_iter().flatten()).collect();
        let next = |column: &mut _| Iterator::next(column).expect("a limb for each component");
        let mut component = || self.poly(basis, columns.iter_mut().map(next).collect());
        (0..results).map(|_| (0..components).map(|_| component()).collect()).collect()
    }

    /// Together if the keys are the same, else one after the other.
    pub(super) fn accumulated(&self, sums: Vec<Accumulation<'_, Cpu>>) {
        let alike = sums.windows(2).all(|pair| {
            let (x, y) = (&pair[0].1, &pair[1].1);
            let key = |sum: &Sum<'_, Cpu>| sum.switched.as_ref().map(|(_, key)| Arc::as_ptr(key));
            x.basis == y.basis && x.automorphism == y.automorphism && key(x) == key(y)
        });
        if alike {
            self.accumulated_alike(sums);
        } else {
            sums.into_iter().for_each(|sum| self.accumulated_alike(vec![sum]));
        }
    }

    /// Sums over one basis with one automorphism and one key.
    fn accumulated_alike(&self, sums: Vec<Accumulation<'_, Cpu>>) {
        let Some((_, first)) = sums.first() else { return };
        let ring = &self.ring;
        let shift = first.automorphism.evaluation_shift(ring);
        let positions: Vec<usize> = first.basis.iter().collect();
        let blocks = self.blocks(positions.len());
        // Prime by prime, the limbs of all components of the accumulators, sum by sum.
        let mut columns: Vec<Vec<&mut Limb>> =
            positions.iter().map(|_| Vec::with_capacity(2 * sums.len())).collect();
        let mut added = Vec::with_capacity(sums.len());
        for (acc, sum) in sums {
            assert_eq!(acc.len(), sum.rest.len(), "a rest for each component");
            for component in acc {
                let limbs = columns.iter_mut().zip(limbs_mut(component));
                limbs.for_each(|(column, limb)| column.push(limb));
            }
            added.push(sum);
        }
        columns.into_par_iter().zip(positions).for_each(|(column, i)| {
            let mut made: Vec<Limb> = column.iter().map(|_| self.limb()).collect();
            self.write_sums(&added, i, &mut made, blocks);
            for (acc, out) in column.into_iter().zip(&made) {
                blocks.each(acc, |places, acc| {
                    let _timer = self.time(Work::Automorphisms);
                    for (to, from) in shift.pieces_into(places.clone()) {
                        let acc = &mut acc[inside(&to, &places)];
                        self.kernels.add_assign(ring.modulus(i), acc, &out[from]);
                    }
                });
            }
        });
    }

    /// Writes the components of sums modulo prime i, before their automorphism: the digits times
    /// their common key, if there is one, and the rests.
    fn write_sums(&self, sums: &[Sum<'_, Cpu>], i: usize, outs: &mut [Limb], blocks: Blocks) {
        let switched =
            |sum: &Sum<'_, Cpu>| sum.switched.as_ref().map(|(digits, _)| digits.modulo(self, i));
        let digits: Option<Vec<_>> = sums.iter().map(switched).collect();
        let first = sums.first().and_then(|sum| sum.switched.as_ref());
        let switched = digits.as_ref().zip(first);
        let blocks = blocks.with_key(switched.map(|(_, (_, key))| &key[..]));
        blocks.together(outs, |places, outs| {
            let _timer = self.time(Work::KeyProducts);
            // The components of each sum.
            let mut rest = outs;
            let mut outs: Vec<&mut [&mut [u64]]> = Vec::with_capacity(sums.len());
            for sum in sums {
                let (own, others) = rest.split_at_mut(sum.rest.len());
                outs.push(own);
                rest = others;
            }
            match switched {
                None => outs.iter_mut().for_each(|o| o.iter_mut().for_each(|out| out.fill(0))),
                Some((digits, (cut, key))) => {
                    let mut key = cut.get().key_limbs(self, key, i);
                    self.write_switched(digits, i, &mut key, &mut outs, &places);
                }
            }
            for (outs, sum) in outs.into_iter().zip(sums) {
                self.add_rests(sum, i, outs, &places);
            }
        });
    }

    /// Writes the digits of sums times their common key modulo prime i, at the places of a block.
    fn write_switched(
        &self,
        digits: &[Vec<Arc<Limb>>],
        i: usize,
        key: &mut KeyLimbs<'_>,
        outs: &mut [&mut [&mut [u64]]],
        places: &Range<usize>,
    ) {
        let kernels = (self.kernels, self.ring.modulus(i));
        for chunk in chunks(places.clone(), CHUNK / digits.len()) {
            key.expand(&chunk);
            let to = inside(&chunk, places);
            for (outs, digits) in outs.iter_mut().zip(digits) {
                let digits: Vec<&[u64]> = digits.iter().map(|d| &d[chunk.clone()]).collect();
                key.write_products(kernels, outs, &to, &digits, &chunk);
            }
        }
    }

    /// Adds the rests of a sum modulo prime i, at the places of a block.
    fn add_rests(
        &self,
        sum: &Sum<'_, Cpu>,
        i: usize,
        outs: &mut [&mut [u64]],
        places: &Range<usize>,
    ) {
        let Some(factor) = sum.rest_factor(&self.ring, i) else { return };
        let q = self.ring.modulus(i);
        for (out, rest) in outs.iter_mut().zip(&sum.rest) {
            match rest {
                Rest::Poly(x) if factor == 1 => {
                    self.kernels.add_assign(q, out, &limb(x, i)[places.clone()]);
                }
                rest => self.add_rest(q, i, rest, factor, out, places),
            }
        }
    }
}

/// What is added of a sum modulo one prime: `factor` times its evaluations.
struct Scaled<'a> {
    sum: &'a Sum<'a, Cpu>,
    i: usize,
    factor: u64,
    /// What the rests are multiplied by besides.
    raise: Option<u64>,
    digits: &'a [&'a [u64]],
}

impl Scaled<'_> {
    /// Adds the places `from` to the places `to` of `outs`; the key is that of the digits.
    fn add(
        &self,
        cpu: &Cpu,
        key: Option<&KeyLimbs<'_>>,
        outs: &mut [&mut [u64]],
        to: &Range<usize>,
        from: &Range<usize>,
    ) {
        let q = cpu.ring.modulus(self.i);
        let digits = within(self.digits, from);
        for (k, (out, rest)) in outs.iter_mut().zip(&self.sum.rest).enumerate() {
            let out = &mut out[to.clone()];
            if let Some(key) = key {
                let kernels = (cpu.kernels, q);
                key.add_scaled_products(kernels, (k, &mut *out), &digits, from, self.factor);
            }
            if let Some(raise) = self.raise {
                cpu.add_rest(q, self.i, rest, q.mul(self.factor, raise), out, from);
            }
        }
    }
}
