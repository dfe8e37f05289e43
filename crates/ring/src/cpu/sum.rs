//! Sums that are made where they are consumed: prime by prime in parallel, a few words at a time.

use std::ops::Range;

use everlevel_arith::Modulus;
use rayon::prelude::*;

use super::access::{limb, limbs_mut, within};
use super::limb::Limb;
use super::processor::{Cpu, chunks};
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::{Hoist, Rest, Sum};
use crate::galois::{EvaluationShift, GaloisElement};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// Where an automorphism puts the places of a chunk, as contiguous pieces (target, source).
fn moves(
    shift: Option<EvaluationShift>,
    chunk: Range<usize>,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let whole = shift.is_none().then(|| (chunk.clone(), chunk.clone()));
    let pieces = shift.into_iter().flat_map(move |shift| shift.pieces_of(chunk.clone()));
    whole.into_iter().chain(pieces)
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
    ) {
        let _timer = self.time(Work::KeyProducts);
        let q = self.ring.modulus(i);
        let raise = sum.rest_factor(&self.ring, i);
        let shift = shift(&self.ring, sum.automorphism);
        let Some((digits, key)) = &sum.switched else {
            let Some(raise) = raise else { return };
            for chunk in chunks(&self.ring) {
                for (to, from) in moves(shift, chunk) {
                    for (out, rest) in outs.iter_mut().zip(&sum.rest) {
                        self.add_rest(
                            q,
                            i,
                            rest,
                            q.mul(factor, raise),
                            &mut out[to.clone()],
                            &from,
                        );
                    }
                }
            }
            return;
        };
        let mut key = digits.get().key_limbs(self, key, i);
        let digits = digits.modulo(self, i);
        let digits: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
        for chunk in chunks(&self.ring) {
            key.expand(&chunk);
            for (to, from) in moves(shift, chunk) {
                let digits = within(&digits, &from);
                for (k, (out, rest)) in outs.iter_mut().zip(&sum.rest).enumerate() {
                    let out = &mut out[to.clone()];
                    let kernels = (self.kernels, q);
                    key.add_scaled_products(kernels, (k, &mut *out), &digits, &from, factor);
                    if let Some(raise) = raise {
                        self.add_rest(q, i, rest, q.mul(factor, raise), out, &from);
                    }
                }
            }
        }
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
    ) {
        let q = self.ring.modulus(i);
        let Some(raise) = sum.rest_factor(&self.ring, i) else { return };
        for (out, rest) in outs.iter_mut().zip(&sum.rest) {
            if let Rest::Coefficients(x) = rest {
                self.kernels.scalar_mul_add_assign(q, out, limb(x, i), q.mul(factor, raise));
            }
        }
    }

    pub(super) fn hoisted(&self, hoist: &Hoist<'_, Cpu>) -> Vec<Vec<Poly<Eval>>> {
        let count = hoist.components.len();
        let positions: Vec<usize> = hoist.basis.iter().collect();
        // For each prime, for each automorphism, the limbs of its components.
        let columns = positions.par_iter().map(|&i| self.hoisted_limbs(hoist, i)).collect();
        self.assembled(hoist.basis, hoist.images.len(), count, columns)
    }

    /// For each automorphism, the limbs of its components modulo prime i.
    fn hoisted_limbs(&self, hoist: &Hoist<'_, Cpu>, i: usize) -> Vec<Vec<Limb>> {
        let _timer = self.time(Work::KeyProducts);
        let (ring, count) = (&self.ring, hoist.components.len());
        let q = ring.modulus(i);
        let ordinary = !hoist.raise.contains(i);
        let factor = || q.mul(ring.product_mod(hoist.raise, q), hoist.factor.modulo(ring, i));
        let factor = if ordinary { factor() } else { 0 };
        let mut all: Vec<Vec<Limb>> =
            hoist.images.iter().map(|_| (0..count).map(|_| self.limb()).collect()).collect();
        for (outs, _) in all.iter_mut().zip(&hoist.images).filter(|(_, (_, key))| key.is_none()) {
            for (out, c) in outs.iter_mut().zip(hoist.components) {
                if ordinary {
                    self.kernels.scalar_mul(q, out, limb(c, i), factor);
                } else {
                    out.fill(0);
                }
            }
        }
        let Some(cut) = &hoist.digits else { return all };
        let digits = cut.modulo(self, i, false);
        let digits: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
        let images = hoist.images.iter();
        let mut keys: Vec<_> =
            images.map(|(_, key)| key.map(|key| cut.key_limbs(self, key, i))).collect();
        let constants: Vec<&Limb> = match hoist.components.split_last() {
            Some((_, rest)) if ordinary => rest.iter().map(|c| limb(c, i)).collect(),
            _ => Vec::new(),
        };
        // Chunk by chunk, so that the digits stay in the second-level cache while the keys stream
        // by.
        for chunk in chunks(ring) {
            for ((&(g, _), key), outs) in hoist.images.iter().zip(&mut keys).zip(&mut all) {
                let Some(key) = key else { continue };
                key.expand(&chunk);
                // Each contiguous piece goes straight to where the automorphism puts it.
                for (to, from) in g.evaluation_shift(ring).pieces_of(chunk.clone()) {
                    let digits = within(&digits, &from);
                    key.write_products((self.kernels, q), outs, &to, &digits, &from);
                    for (out, c) in outs.iter_mut().zip(&constants) {
                        let (out, c) = (&mut out[to.clone()], &c[from.clone()]);
                        self.kernels.scalar_mul_add_assign(q, out, c, factor);
                    }
                }
            }
        }
        all
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

    pub(super) fn accumulated(&self, acc: &mut [Poly<Eval>], sum: &Sum<'_, Cpu>) {
        let ring = &self.ring;
        let shift = sum.automorphism.evaluation_shift(ring);
        let positions: Vec<usize> = sum.basis.iter().collect();
        // Prime by prime, the limbs of all components.
        let mut columns: Vec<Vec<&mut Limb>> =
            positions.iter().map(|_| Vec::with_capacity(acc.len())).collect();
        acc.iter_mut().for_each(|a| {
            columns.iter_mut().zip(limbs_mut(a)).for_each(|(column, limb)| column.push(limb))
        });
        columns.into_par_iter().zip(positions).for_each(|(column, i)| {
            let _timer = self.time(Work::KeyProducts);
            let q = ring.modulus(i);
            let mut sums: Vec<Limb> = column.iter().map(|_| self.limb()).collect();
            match &sum.switched {
                Some((digits, key)) => {
                    let mut key = digits.get().key_limbs(self, key, i);
                    let digits = digits.modulo(self, i);
                    let digits: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
                    for chunk in chunks(ring) {
                        key.expand(&chunk);
                        let digits = within(&digits, &chunk);
                        key.write_products((self.kernels, q), &mut sums, &chunk, &digits, &chunk);
                    }
                }
                None => sums.iter_mut().for_each(|sum| sum.fill(0)),
            }
            if let Some(factor) = sum.rest_factor(ring, i) {
                for (out, rest) in sums.iter_mut().zip(&sum.rest) {
                    match rest {
                        Rest::Poly(x) if factor == 1 => {
                            self.kernels.add_assign(q, out, limb(x, i));
                        }
                        rest => self.add_rest(q, i, rest, factor, out, &(0..ring.degree())),
                    }
                }
            }
            let _timer = self.time(Work::Automorphisms);
            for (a, sum) in column.into_iter().zip(&sums) {
                for (target, source, len) in shift.pieces() {
                    self.kernels.add_assign(
                        q,
                        &mut a[target..target + len],
                        &sum[source..source + len],
                    );
                }
            }
        });
    }
}
