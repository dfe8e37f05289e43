//! Sums of products, each with one reduction at its end.

use std::ops::Range;

use everlevel_arith::kernels::MAX_TERMS;
use rayon::prelude::*;

use super::access::limb;
use super::limb::Limb;
use super::processor::{Cpu, chunks};
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::Pair;
use crate::poly::{Eval, Poly};

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
        let columns = positions.into_par_iter().map(|i| self.summed_modulo(i, sums));
        // Prime by prime, the limbs of all sums; a sum takes the next limb of each.
        let columns: Vec<Vec<Limb>> = columns.collect();
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        let next = |column: &mut std::vec::IntoIter<Limb>| column.next().expect("a limb a sum");
        sums.iter().map(|_| self.poly(basis, columns.iter_mut().map(next).collect())).collect()
    }

    /// The limbs of all sums modulo the prime at position i.
    fn summed_modulo(&self, i: usize, sums: &[Vec<Pair<'_, Self>>]) -> Vec<Limb> {
        let _timer = self.time(Work::Tensor);
        let q = self.ring.modulus(i);
        let mut out: Vec<Limb> = sums.iter().map(|_| self.limb()).collect();
        for places in chunks(&self.ring) {
            for (out, pairs) in out.iter_mut().zip(sums) {
                let out = &mut out[places.clone()];
                let mut parts = pairs.chunks(MAX_TERMS);
                let (x, y) = factors(parts.next().unwrap_or_default(), i, &places);
                self.kernels.inner_product(q, out, &x, &y);
                for part in parts {
                    let (x, y) = factors(part, i, &places);
                    self.kernels.inner_product_scale_add(q, out, &x, &y, 1);
                }
            }
        }
        out
    }
}
