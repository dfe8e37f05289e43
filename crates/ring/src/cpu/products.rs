//! Sums of products, each with one reduction at its end.

use std::ops::Range;

use everlevel_arith::Modulus;
use everlevel_arith::kernels::MAX_TERMS;
use rayon::prelude::*;

use super::access::{limb, within};
use super::limb::Limb;
use super::places::{Blocks, inside};
use super::processor::{CHUNK, Cpu, chunks};
use super::stored::StoredPoly;
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::Pair;
use crate::poly::{Eval, Poly};
use crate::sample::{Seed, Uniform};

/// The component of a right factor that has no seed.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    /// As words.
    Words(&'a Poly<Eval>),
    /// As files have it.
    Stored(&'a StoredPoly),
}

/// The factors of a product of ciphertexts: x0 and x1, y0, and the seed of y1.
pub type SeededPair<'a> = ([&'a Poly<Eval>; 2], Body<'a>, &'a Seed);

/// Words of factors that stay in the cache of a core while all sums over their places are made.
const CACHED: usize = 1 << 16;

/// How many places are taken at a time, whole vectors, if the longest sum has `longest` products.
fn together(longest: usize) -> usize {
    (CACHED / (2 * longest.max(1))).clamp(CHUNK / 16, CHUNK) / 64 * 64
}

/// Some places of the limbs modulo the prime at position i: of the left and of the right factors.
fn factors<'a>(
    pairs: &[Pair<'a, Cpu>],
    i: usize,
    places: &Range<usize>,
) -> (Vec<&'a [u64]>, Vec<&'a [u64]>) {
    let within = |x: &'a Poly<Eval>| &limb(x, i)[places.clone()];
    pairs.iter().map(|&(x, y)| (within(x), within(y))).unzip()
}

impl Cpu {
    /// Prime by prime in parallel, and all sums a few words at a time, so that a factor that
    /// several of them have comes from the cache.
    pub(super) fn summed_products(
        &self,
        basis: Basis,
        sums: &[Vec<Pair<'_, Self>>],
    ) -> Vec<Poly<Eval>> {
        let positions: Vec<usize> = basis.iter().collect();
        let blocks = self.blocks(positions.len());
        let columns = positions.into_par_iter().map(|i| self.summed_modulo(i, sums, blocks));
        self.of_columns(basis, sums.len(), columns.collect())
    }

    /// For each list Σ x0 y0, Σ (x0 y1 + x1 y0) and Σ x1 y1, y1 being the expansion of a seed as
    /// component 0 ([`sample::expand`](crate::sample::expand)), of which a few words at a time are
    /// made where they are multiplied, as are those of y0 where that is stored. Each list modulo
    /// each prime is a task, as the stream of a seed is made in order; those of one prime follow
    /// each other, so that factors that several lists have come from a cache.
    pub fn sums_of_seeded_products(
        &self,
        basis: Basis,
        sums: &[Vec<SeededPair<'_>>],
    ) -> Vec<Poly<Eval>> {
        let tasks = basis.iter().flat_map(|i| sums.iter().map(move |pairs| (i, pairs)));
        let tasks: Vec<(usize, &Vec<SeededPair<'_>>)> = tasks.collect();
        let made = tasks.into_par_iter().map(|(i, pairs)| self.seeded_modulo(i, pairs));
        let mut made = made.collect::<Vec<_>>().into_iter();
        let columns = basis.iter().map(|_| made.by_ref().take(sums.len()).flatten().collect());
        self.of_columns(basis, 3 * sums.len(), columns.collect())
    }

    /// A number of polynomials: each takes the next limb modulo every prime.
    fn of_columns(&self, basis: Basis, count: usize, columns: Vec<Vec<Limb>>) -> Vec<Poly<Eval>> {
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        let next = |column: &mut std::vec::IntoIter<Limb>| column.next().expect("a limb a sum");
        (0..count).map(|_| self.poly(basis, columns.iter_mut().map(next).collect())).collect()
    }

    /// The limbs of all sums modulo the prime at position i.
    fn summed_modulo(&self, i: usize, sums: &[Vec<Pair<'_, Self>>], blocks: Blocks) -> Vec<Limb> {
        let q = self.ring.modulus(i);
        let mut out: Vec<Limb> = sums.iter().map(|_| self.limb()).collect();
        let longest = sums.iter().map(Vec::len).max().unwrap_or_default();
        blocks.together(&mut out, |block, outs| {
            let _timer = self.time(Work::Tensor);
            for places in chunks(block.clone(), together(longest)) {
                for (out, pairs) in outs.iter_mut().zip(sums) {
                    let (x, y) = factors(pairs, i, &places);
                    self.write_sum(q, &mut out[inside(&places, &block)], &x, &y);
                }
            }
        });
        out
    }

    /// The three limbs of a list modulo the prime at position i.
    fn seeded_modulo(&self, i: usize, pairs: &[SeededPair<'_>]) -> [Limb; 3] {
        let _timer = self.time(Work::Products);
        let q = self.ring.modulus(i);
        let mut out: [Limb; 3] = std::array::from_fn(|_| self.limb());
        let words = together(2 * pairs.len());
        let stream = |pair: &SeededPair<'_>| Uniform::new(self, pair.2, 0, i);
        let mut streams: Vec<Uniform> = pairs.iter().map(stream).collect();
        let (mut made, mut unpacked) = (vec![0; pairs.len() * words], vec![0; pairs.len() * words]);
        let x: [Vec<&[u64]>; 2] =
            [0, 1].map(|k| pairs.iter().map(|pair| &limb(pair.0[k], i)[..]).collect());
        for places in chunks(0..self.ring.degree(), words) {
            for (stream, made) in streams.iter_mut().zip(made.chunks_mut(words)) {
                stream.fill(&mut made[..places.len()]);
            }
            let y1: Vec<&[u64]> = made.chunks(words).map(|made| &made[..places.len()]).collect();
            let mut y0: Vec<&[u64]> = Vec::with_capacity(pairs.len());
            for (&(_, body, _), unpacked) in pairs.iter().zip(unpacked.chunks_mut(words)) {
                y0.push(match body {
                    Body::Words(body) => &limb(body, i)[places.clone()],
                    Body::Stored(body) => {
                        let unpacked = &mut unpacked[..places.len()];
                        body.unpack(self, i, places.start, unpacked);
                        unpacked
                    }
                });
            }
            let [x0, x1] = x.each_ref().map(|x| within(x, &places));
            let [d0, d1, d2] = &mut out;
            self.write_sum(q, &mut d0[places.clone()], &x0, &y0);
            let (x, y) = ([&x0[..], &x1].concat(), [&y1[..], &y0].concat());
            self.write_sum(q, &mut d1[places.clone()], &x, &y);
            self.write_sum(q, &mut d2[places.clone()], &x1, &y1);
        }
        out
    }

    /// out = Σ x y.
    fn write_sum(&self, q: Modulus, out: &mut [u64], x: &[&[u64]], y: &[&[u64]]) {
        let (x, more) = x.split_at(x.len().min(MAX_TERMS));
        let (y, others) = y.split_at(x.len());
        self.kernels.inner_product(q, out, x, y);
        for (x, y) in more.chunks(MAX_TERMS).zip(others.chunks(MAX_TERMS)) {
            self.kernels.inner_product_scale_add(q, out, x, y, 1);
        }
    }
}
