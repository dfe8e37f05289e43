//! Plaintext diagonals in evaluations.

use std::ops::Range;

use everlevel_arith::{Axes, NttTable, TensorTable, kernels, scatter_natural};
use everlevel_ring::{Basis, RingError};

use crate::evaluator::Evaluator;
use crate::evaluator::key_switch::CHUNK;
use crate::keys::EvalKeys;
use everlevel_scheme::DiagonalValues;
use everlevel_scheme::SchemeError;
use everlevel_scheme::diagonal_plaintext;
use everlevel_scheme::spec::Level;

/// Shortest stored period of a diagonal, in columns: below that, kernels would be called on crumbs.
const SHORTEST_PERIOD: usize = 1024;

/// A plaintext diagonal in evaluations: periodic along the rows, like the slots it came from. For
/// indices with axes all places are one row.
pub struct Diagonal {
    exponent: u32,
    row: usize,
    period: usize,
    basis: Basis,
    limbs: Vec<Vec<u64>>,
    profile: Vec<f64>,
}

impl Diagonal {
    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.limbs.iter().map(|l| l.len() as u64 * 8).sum()
    }

    /// Whether it multiplies ciphertexts of this plaintext exponent over this basis.
    pub(super) fn fits(&self, exponent: u32, basis: Basis) -> bool {
        self.exponent == exponent && basis.is_subset(self.basis)
    }

    pub(super) fn period(&self) -> usize {
        self.period
    }

    pub(super) fn profile(&self) -> &[f64] {
        &self.profile
    }

    /// The evaluations at places that do not cross a period.
    pub(super) fn piece(&self, position: usize, places: Range<usize>) -> &[u64] {
        let at = places.start / self.row * self.period + places.start % self.row % self.period;
        let limb = &self.limbs[self.basis.limb_of(position).expect("checked by the caller")];
        &limb[at..at + places.len()]
    }
}

impl<K: EvalKeys> Evaluator<K> {
    pub(super) fn make_diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<Diagonal, SchemeError> {
        let params = self.params();
        let (coefficients, profile) = diagonal_plaintext(params, values, e)?;
        let basis = params.chain().extended(level);
        let (row, period, limbs) = match params.slot_shape().axes() {
            None => self.periodic_limbs(&coefficients, basis)?,
            Some(axes) => self.last_axes_limbs(axes, &coefficients, basis)?,
        };
        Ok(Diagonal { exponent: e, row, period, basis, limbs, profile })
    }

    /// Row length, period and two rows of a period for each prime.
    fn periodic_limbs(
        &self,
        coefficients: &[i64],
        basis: Basis,
    ) -> Result<(usize, usize, Vec<Vec<u64>>), SchemeError> {
        let ring = self.params().ring();
        let len = coefficients.len();
        let half = ring.degree() / 2;
        let period = (len / 2).max(SHORTEST_PERIOD).min(half);
        let log = len.trailing_zeros();
        let mut stored = vec![0i64; len];
        scatter_natural(log, coefficients, &mut stored);
        let limb = |i| {
            let q = ring.modulus(i);
            let mut small = vec![0; len];
            kernels::from_signed(q, &mut small, &stored);
            let root = q.pow(ring.root(i), (ring.degree() / len) as u64);
            NttTable::new(q, log, root).map_err(RingError::from)?.forward(&mut small);
            Ok((0..2 * period)
                .map(|k| small[k / period * (len / 2) + k % period % (len / 2)])
                .collect())
        };
        Ok((half, period, basis.iter().map(limb).collect::<Result<_, SchemeError>>()?))
    }

    /// Row length, period and a period for each prime: the values along the last axes, often enough
    /// for the kernels.
    fn last_axes_limbs(
        &self,
        axes: &Axes,
        coefficients: &[i64],
        basis: Basis,
    ) -> Result<(usize, usize, Vec<Vec<u64>>), SchemeError> {
        let ring = self.params().ring();
        let lines = ring.degree() / coefficients.len();
        let fitting = |c: &usize| lines.is_multiple_of(*c) && c * coefficients.len() <= CHUNK;
        let copies = (1..=lines.min(CHUNK)).rev().find(fitting).unwrap_or(1);
        let limb = |i| {
            let mut line = vec![0; coefficients.len()];
            kernels::from_signed(ring.modulus(i), &mut line, coefficients);
            self.last_axes_table(axes, coefficients.len(), i)?.forward(&mut line);
            Ok(line.repeat(copies))
        };
        Ok((
            ring.degree(),
            copies * coefficients.len(),
            basis.iter().map(limb).collect::<Result<_, SchemeError>>()?,
        ))
    }

    /// The transform along the last axes, with so many coefficients, modulo the prime at
    /// `position`.
    fn last_axes_table(
        &self,
        axes: &Axes,
        coefficients: usize,
        position: usize,
    ) -> Result<&TensorTable, SchemeError> {
        let ring = self.params().ring();
        // There are such axes, or there would be no coefficients.
        let last = axes.last_of_degree(coefficients).unwrap_or(axes.all());
        let table = || {
            // The product of the X_a, which are its powers as they are those of X.
            let (index, exponent) =
                last.iter().fold((1, 0), |(n, e), axis| (n * axis.index, e + axis.exponent));
            let q = ring.modulus(position);
            TensorTable::new(q, &Axes::new(index)?, q.pow(ring.root(position), exponent))
        };
        let tables = &self.last_axes[last.len() - 1];
        tables[position].get_or_init(table).as_ref().map_err(|error| RingError::from(*error).into())
    }
}
