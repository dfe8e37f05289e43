//! Plaintexts whose evaluations repeat, and linear combinations with them.

use std::collections::BTreeSet;
use std::ops::{DerefMut, Range};

use everlevel_arith::kernels::MAX_TERMS;
use everlevel_arith::{Axes, Modulus, NttTable, TensorTable, scatter_natural};
use rayon::prelude::*;

use super::access::limb;
use super::limb::Limb;
use super::places::{Blocks, inside};
use super::processor::{CHUNK, Cpu};
use super::timings::Work;
use crate::basis::Basis;
use crate::error::RingError;
use crate::poly::{Eval, Poly};

/// Shortest stored period of a diagonal, in columns: shorter ones would make calls of kernels
/// inefficient.
const SHORTEST_PERIOD: usize = 1024;

/// A plaintext in evaluations that are periodic along the rows, as the slots are that it came from.
/// For indices with axes all places are one row.
pub struct Diagonal {
    row: usize,
    period: usize,
    basis: Basis,
    limbs: Vec<Vec<u64>>,
}

impl Diagonal {
    pub(super) fn memory_bytes(&self) -> u64 {
        self.limbs.iter().map(|l| l.len() as u64 * 8).sum()
    }

    /// The evaluations at places that do not cross a period.
    fn piece(&self, position: usize, places: Range<usize>) -> &[u64] {
        let at = places.start / self.row * self.period + places.start % self.row % self.period;
        let limb = &self.limbs[self.basis.limb_of(position).expect("checked by the caller")];
        &limb[at..at + places.len()]
    }
}

impl Cpu {
    pub(super) fn repeated(
        &self,
        coefficients: &[i64],
        basis: Basis,
    ) -> Result<Diagonal, RingError> {
        let (degree, found) = (self.ring.degree(), coefficients.len());
        let fits = match self.ring.axes() {
            None => found.is_power_of_two() && (16..=degree).contains(&found),
            Some(axes) => axes.last_of_degree(found).is_some(),
        };
        if !fits {
            return Err(RingError::ResidueCount { found, expected: degree });
        }
        let (row, period, limbs) = match self.ring.axes() {
            None => self.periodic_limbs(coefficients, basis)?,
            Some(axes) => self.last_axes_limbs(axes, coefficients, basis)?,
        };
        Ok(Diagonal { row, period, basis, limbs })
    }

    /// Row length, period and two rows of a period for each prime.
    fn periodic_limbs(
        &self,
        coefficients: &[i64],
        basis: Basis,
    ) -> Result<(usize, usize, Vec<Vec<u64>>), RingError> {
        let ring = &self.ring;
        let len = coefficients.len();
        let half = ring.degree() / 2;
        let period = (len / 2).max(SHORTEST_PERIOD).min(half);
        let log = len.trailing_zeros();
        let mut stored = vec![0i64; len];
        scatter_natural(log, coefficients, &mut stored);
        let limb = |i| {
            let q = ring.modulus(i);
            let mut small = vec![0; len];
            self.kernels.from_signed(q, &mut small, &stored);
            let root = q.pow(ring.root(i), (ring.degree() / len) as u64);
            NttTable::new(q, log, root, self.backend())?.forward(&mut small);
            Ok((0..2 * period)
                .map(|k| small[k / period * (len / 2) + k % period % (len / 2)])
                .collect())
        };
        Ok((half, period, basis.iter().map(limb).collect::<Result<_, RingError>>()?))
    }

    /// Row length, period and a period for each prime: the values along the last axes, often enough
    /// for the kernels.
    fn last_axes_limbs(
        &self,
        axes: &Axes,
        coefficients: &[i64],
        basis: Basis,
    ) -> Result<(usize, usize, Vec<Vec<u64>>), RingError> {
        let ring = &self.ring;
        let lines = ring.degree() / coefficients.len();
        let fitting = |c: &usize| lines.is_multiple_of(*c) && c * coefficients.len() <= CHUNK;
        let copies = (1..=lines.min(CHUNK)).rev().find(fitting).unwrap_or(1);
        let limb = |i| {
            let mut line = vec![0; coefficients.len()];
            self.kernels.from_signed(ring.modulus(i), &mut line, coefficients);
            self.last_axes_table(axes, coefficients.len(), i)?.forward(&mut line);
            Ok(line.repeat(copies))
        };
        let limbs = basis.iter().map(limb).collect::<Result<_, RingError>>()?;
        Ok((ring.degree(), copies * coefficients.len(), limbs))
    }

    /// The transform along the last axes, with `coefficients` coefficients, modulo the prime at
    /// `position`.
    fn last_axes_table(
        &self,
        axes: &Axes,
        coefficients: usize,
        position: usize,
    ) -> Result<&TensorTable, RingError> {
        // There are such axes, or there would be no coefficients.
        let last = axes.last_of_degree(coefficients).unwrap_or(axes.all());
        let table = || {
            // The product of the X_a, which are its powers as they are those of X.
            let (index, exponent) =
                last.iter().fold((1, 0), |(n, e), axis| (n * axis.index, e + axis.exponent));
            let q = self.ring.modulus(position);
            let root = q.pow(self.ring.root(position), exponent);
            TensorTable::new(q, &Axes::new(index)?, root, self.backend())
        };
        let tables = &self.last_axes[last.len() - 1];
        tables[position].get_or_init(table).as_ref().map_err(|error| (*error).into())
    }

    pub(super) fn combined(
        &self,
        inputs: &[&[Poly<Eval>]],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Vec<Vec<Poly<Eval>>> {
        let Some(first) = inputs.first() else { return rows.iter().map(|_| Vec::new()).collect() };
        let (basis, count) = (first[0].basis(), first.len());
        let positions: Vec<usize> = basis.iter().collect();
        let blocks = self.blocks(positions.len());
        let columns = positions
            .par_iter()
            .map(|&i| self.combined_limbs(inputs, rows, count, i, blocks))
            .collect();
        self.assembled(basis, rows.len(), count, columns)
    }

    /// For each row, the limbs of its components modulo prime i.
    fn combined_limbs(
        &self,
        inputs: &[&[Poly<Eval>]],
        rows: &[Vec<Option<&Diagonal>>],
        count: usize,
        i: usize,
        blocks: Blocks,
    ) -> Vec<Vec<Limb>> {
        let mut all: Vec<Vec<Limb>> =
            rows.iter().map(|_| (0..count).map(|_| self.limb()).collect()).collect();
        let periods: BTreeSet<usize> = rows.iter().flatten().flatten().map(|d| d.period).collect();
        blocks.together(all.iter_mut().flatten(), |places, outs| {
            let _timer = self.time(Work::Diagonals);
            let mut diagonals = Vec::new();
            let mut pieces: Vec<Vec<&[u64]>> = vec![Vec::new(); count];
            let mut end = places.start;
            while end < places.end {
                let start = end;
                let next = periods.iter().map(|period| start + period - start % period).min();
                end = next.unwrap_or(places.end).min(start + CHUNK).min(places.end);
                let range = start..end;
                for (row, outs) in rows.iter().zip(outs.chunks_mut(count.max(1))) {
                    diagonals.clear();
                    pieces.iter_mut().for_each(Vec::clear);
                    for (x, d) in inputs.iter().zip(row) {
                        if let Some(d) = d {
                            diagonals.push(d.piece(i, range.clone()));
                            for (piece, c) in pieces.iter_mut().zip(*x) {
                                piece.push(&limb(c, i)[range.clone()]);
                            }
                        }
                    }
                    let (q, to) = (self.ring.modulus(i), inside(&range, &places));
                    self.write_inner_products(q, outs, to, &diagonals, &pieces);
                }
            }
        });
        all
    }

    /// Writes Σ diagonal_j x_kj to the places `to` of every component k, from slices of that
    /// length.
    fn write_inner_products(
        &self,
        q: Modulus,
        outs: &mut [impl DerefMut<Target = [u64]>],
        to: Range<usize>,
        diagonals: &[&[u64]],
        inputs: &[Vec<&[u64]>],
    ) {
        let (first, more) = diagonals.split_at(diagonals.len().min(MAX_TERMS));
        let count = first.len();
        match (&mut *outs, inputs) {
            ([o0, o1], [x0, x1]) => {
                let (o0, o1) = (&mut o0[to.clone()], &mut o1[to.clone()]);
                self.kernels.inner_product2(q, o0, o1, first, &x0[..count], &x1[..count]);
            }
            (outs, inputs) => outs.iter_mut().zip(inputs).for_each(|(out, x)| {
                self.kernels.inner_product(q, &mut out[to.clone()], first, &x[..count]);
            }),
        }
        // What is beyond the terms that a kernel takes at once.
        for (part, diagonals) in more.chunks(MAX_TERMS).enumerate() {
            let from = (part + 1) * MAX_TERMS;
            for (out, x) in outs.iter_mut().zip(inputs) {
                let (out, x) = (&mut out[to.clone()], &x[from..][..diagonals.len()]);
                self.kernels.inner_product_scale_add(q, out, diagonals, x, 1);
            }
        }
    }
}
