//! Products of a matrix of constants with a column of polynomials.

use std::ops::Range;

use everlevel_arith::kernels::MAX_TERMS;
use rayon::prelude::*;

use super::access::limb;
use super::limb::Limb;
use super::processor::{CHUNK, Cpu, chunks};
use super::timings::Work;
use crate::poly::{Eval, Poly};

impl Cpu {
    /// Prime by prime, and all rows some words at a time, in parallel.
    pub(super) fn multiplied_by_matrix(
        &self,
        inputs: &[&[Poly<Eval>]],
        rows: &[&[i64]],
    ) -> Vec<Vec<Poly<Eval>>> {
        let Some(first) = inputs.first() else { return rows.iter().map(|_| Vec::new()).collect() };
        let (basis, count) = (first[0].basis(), first.len());
        let positions: Vec<usize> = basis.iter().collect();
        let columns = positions.par_iter().map(|&i| self.rows_modulo(inputs, rows, count, i));
        self.assembled(basis, rows.len(), count, columns.collect())
    }

    /// For each row, the limbs of its components modulo the prime at position i.
    fn rows_modulo(
        &self,
        inputs: &[&[Poly<Eval>]],
        rows: &[&[i64]],
        count: usize,
        i: usize,
    ) -> Vec<Vec<Limb>> {
        let mut all: Vec<Vec<Limb>> =
            rows.iter().map(|_| (0..count).map(|_| self.limb()).collect()).collect();
        // Some places of one component, and the words there of all rows.
        let parts: Vec<(usize, Range<usize>)> = (0..count)
            .flat_map(|k| chunks(0..self.ring.degree(), CHUNK).map(move |places| (k, places)))
            .collect();
        let mut outs: Vec<Vec<&mut [u64]>> = parts.iter().map(|_| Vec::new()).collect();
        for limbs in &mut all {
            let words = limbs.iter_mut().flat_map(|limb| limb.chunks_mut(CHUNK));
            outs.iter_mut().zip(words).for_each(|(outs, words)| outs.push(words));
        }
        outs.into_par_iter().zip(parts).for_each(|(mut outs, (k, places))| {
            let xs: Vec<&[u64]> = inputs.iter().map(|x| &limb(&x[k], i)[places.clone()]).collect();
            self.matrix_times(i, &mut outs, &xs, rows);
        });
        all
    }

    /// The sums of all rows modulo the prime at position i.
    fn matrix_times(&self, i: usize, outs: &mut [&mut [u64]], xs: &[&[u64]], rows: &[&[i64]]) {
        let _timer = self.time(Work::Elementwise);
        let (q, kernels) = (self.ring.modulus(i), self.kernels);
        let weights = |from: usize, xs: &[&[u64]]| -> Vec<i64> {
            rows.iter().flat_map(|row| &row[from..][..xs.len()]).copied().collect()
        };
        let mut parts = xs.chunks(MAX_TERMS);
        let first = parts.next().unwrap_or_default();
        kernels.matrix_product(q, outs, first, &weights(0, first));
        for (part, xs) in (1..).zip(parts) {
            let mut more: Vec<Vec<u64>> = outs.iter().map(|out| vec![0; out.len()]).collect();
            let mut sums: Vec<&mut [u64]> = more.iter_mut().map(Vec::as_mut_slice).collect();
            kernels.matrix_product(q, &mut sums, xs, &weights(part * MAX_TERMS, xs));
            outs.iter_mut().zip(&more).for_each(|(out, more)| kernels.add_assign(q, out, more));
        }
    }
}
