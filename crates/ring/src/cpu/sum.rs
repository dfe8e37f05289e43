//! Sums that are made where they are consumed: prime by prime in parallel, a few words at a time.

use std::ops::Range;
use std::sync::Arc;

use everlevel_arith::Modulus;
use rayon::prelude::*;

use super::access::{limb, limbs_mut, within};
use super::keys::KeyLimbs;
use super::limb::Limb;
use super::processor::{CHUNK, Cpu, chunks, chunks_of};
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::{Accumulation, Hoist, Hoisted, Rest, Sum};
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

    pub(super) fn hoisted(&self, hoist: &Hoist<'_, Cpu>) -> Vec<Vec<Vec<Poly<Eval>>>> {
        let Some(first) = hoist.sources.first() else { return Vec::new() };
        let (images, count) = (hoist.images.len(), first.components.len());
        let positions: Vec<usize> = hoist.basis.iter().collect();
        // For each prime, for each image of each ciphertext, the limbs of its components.
        let columns = positions.par_iter().map(|&i| self.hoisted_limbs(hoist, i)).collect();
        let results = hoist.sources.len() * images;
        let mut all = self.assembled(hoist.basis, results, count, columns).into_iter();
        hoist.sources.iter().map(|_| all.by_ref().take(images).collect()).collect()
    }

    /// For each ciphertext, for each automorphism, the limbs of its components modulo prime i.
    fn hoisted_limbs(&self, hoist: &Hoist<'_, Cpu>, i: usize) -> Vec<Vec<Limb>> {
        let _timer = self.time(Work::KeyProducts);
        let ring = &self.ring;
        let mut works: Vec<HoistedLimbs<'_>> =
            hoist.sources.iter().map(|source| HoistedLimbs::new(self, hoist, source, i)).collect();
        // The digits of all ciphertexts have the same primes, and so the same parts of the keys.
        let cut = hoist.sources.iter().find_map(|source| source.digits.as_ref());
        let key_limbs = |key| cut.map(|cut| cut.key_limbs(self, key, i));
        let mut keys: Vec<_> =
            hoist.images.iter().map(|(_, key)| key.and_then(|key| key_limbs(key))).collect();
        if keys.iter().any(Option::is_some) {
            // Chunk by chunk, so that the digits of all ciphertexts stay in the second-level cache
            // while the keys stream by, and a part of a key while it is used for each of them.
            for chunk in chunks_of(ring, CHUNK / works.len()) {
                for (j, (&(g, _), key)) in hoist.images.iter().zip(&mut keys).enumerate() {
                    let Some(key) = key else { continue };
                    key.expand(&chunk);
                    // Each contiguous piece goes straight to where the automorphism puts it.
                    for (to, from) in g.evaluation_shift(ring).pieces_of(chunk.clone()) {
                        works.iter_mut().for_each(|work| work.write(self, key, j, &to, &from));
                    }
                }
            }
        }
        works.into_iter().flat_map(|work| work.outs).collect()
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
        // Prime by prime, for each sum the limbs of all components of its accumulator.
        let mut columns: Vec<Vec<Vec<&mut Limb>>> =
            positions.iter().map(|_| Vec::with_capacity(sums.len())).collect();
        let mut added = Vec::with_capacity(sums.len());
        for (acc, sum) in sums {
            columns.iter_mut().for_each(|column| column.push(Vec::with_capacity(acc.len())));
            for component in acc {
                let limbs = columns.iter_mut().zip(limbs_mut(component));
                limbs.for_each(|(column, limb)| column.last_mut().expect("pushed").push(limb));
            }
            added.push(sum);
        }
        columns.into_par_iter().zip(positions).for_each(|(column, i)| {
            let _timer = self.time(Work::KeyProducts);
            let q = ring.modulus(i);
            let mut made: Vec<Vec<Limb>> =
                column.iter().map(|acc| acc.iter().map(|_| self.limb()).collect()).collect();
            self.write_switched(&added, i, &mut made);
            for ((acc, mut outs), sum) in column.into_iter().zip(made).zip(&added) {
                if let Some(factor) = sum.rest_factor(ring, i) {
                    self.add_rests(sum, i, factor, &mut outs);
                }
                let _timer = self.time(Work::Automorphisms);
                for (a, out) in acc.into_iter().zip(&outs) {
                    for (target, source, len) in shift.pieces() {
                        let (to, from) = (target..target + len, source..source + len);
                        self.kernels.add_assign(q, &mut a[to], &out[from]);
                    }
                }
            }
        });
    }

    /// Writes the digits of sums times their common key modulo prime i, 0 without a key.
    fn write_switched(&self, sums: &[Sum<'_, Cpu>], i: usize, outs: &mut [Vec<Limb>]) {
        let q = self.ring.modulus(i);
        let switched =
            |sum: &Sum<'_, Cpu>| sum.switched.as_ref().map(|(digits, _)| digits.modulo(self, i));
        let digits: Option<Vec<_>> = sums.iter().map(switched).collect();
        let first = sums.first().and_then(|sum| sum.switched.as_ref());
        let (Some(digits), Some((cut, key))) = (digits, first) else {
            outs.iter_mut().flatten().for_each(|out| out.fill(0));
            return;
        };
        let mut key = cut.get().key_limbs(self, key, i);
        let digits: Vec<Vec<&[u64]>> =
            digits.iter().map(|digits| digits.iter().map(|d| &d[..]).collect()).collect();
        for chunk in chunks_of(&self.ring, CHUNK / sums.len()) {
            key.expand(&chunk);
            for (outs, digits) in outs.iter_mut().zip(&digits) {
                let digits = within(digits, &chunk);
                key.write_products((self.kernels, q), outs, &chunk, &digits, &chunk);
            }
        }
    }

    /// Adds `factor` times the rests of a sum modulo prime i.
    fn add_rests(&self, sum: &Sum<'_, Cpu>, i: usize, factor: u64, outs: &mut [Limb]) {
        let q = self.ring.modulus(i);
        for (out, rest) in outs.iter_mut().zip(&sum.rest) {
            match rest {
                Rest::Poly(x) if factor == 1 => self.kernels.add_assign(q, out, limb(x, i)),
                rest => self.add_rest(q, i, rest, factor, out, &(0..self.ring.degree())),
            }
        }
    }
}

/// The images of one ciphertext modulo one prime, while they are made.
struct HoistedLimbs<'a> {
    q: Modulus,
    /// What the ciphertext is multiplied by; 0 modulo the primes of P.
    factor: u64,
    digits: Vec<Arc<Limb>>,
    /// The components but for the last one, where they do not vanish.
    constants: Vec<&'a Limb>,
    /// For each automorphism, the limbs of its components.
    outs: Vec<Vec<Limb>>,
}

impl<'a> HoistedLimbs<'a> {
    /// Modulo the prime at `i`, with the images that have no key.
    fn new(cpu: &Cpu, hoist: &Hoist<'_, Cpu>, source: &'a Hoisted<'_, Cpu>, i: usize) -> Self {
        let (ring, q) = (&cpu.ring, cpu.ring.modulus(i));
        let ordinary = !hoist.raise.contains(i);
        let factor = || q.mul(ring.product_mod(hoist.raise, q), hoist.factor.modulo(ring, i));
        let factor = if ordinary { factor() } else { 0 };
        let limbs = |_| source.components.iter().map(|_| cpu.limb()).collect();
        let mut outs: Vec<Vec<Limb>> = hoist.images.iter().map(limbs).collect();
        for (outs, _) in outs.iter_mut().zip(&hoist.images).filter(|(_, (_, key))| key.is_none()) {
            for (out, c) in outs.iter_mut().zip(source.components) {
                if ordinary {
                    cpu.kernels.scalar_mul(q, out, limb(c, i), factor);
                } else {
                    out.fill(0);
                }
            }
        }
        let digits = source.digits.as_ref().map(|cut| cut.modulo(cpu, i, false));
        let constants = match source.components.split_last() {
            Some((_, rest)) if ordinary => rest.iter().map(|c| limb(c, i)).collect(),
            _ => Vec::new(),
        };
        HoistedLimbs { q, factor, digits: digits.unwrap_or_default(), constants, outs }
    }

    /// Writes the image under automorphism j, the key of which is given, from the places `from` to
    /// the places `to`.
    fn write(
        &mut self,
        cpu: &Cpu,
        key: &KeyLimbs<'_>,
        j: usize,
        to: &Range<usize>,
        from: &Range<usize>,
    ) {
        let digits: Vec<&[u64]> = self.digits.iter().map(|d| &d[from.clone()]).collect();
        let outs = &mut self.outs[j];
        key.write_products((cpu.kernels, self.q), outs, to, &digits, from);
        for (out, c) in outs.iter_mut().zip(&self.constants) {
            let (out, c) = (&mut out[to.clone()], &c[from.clone()]);
            cpu.kernels.scalar_mul_add_assign(self.q, out, c, self.factor);
        }
    }
}
