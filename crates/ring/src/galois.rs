//! Automorphisms.

use std::ops::Range;

use everlevel_arith::{evaluation_index, primes};

use crate::error::RingError;
use crate::ring::Ring;

/// The automorphism X -> X^g of a ring, by its exponent g, a unit modulo the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GaloisElement(pub(crate) u64);

impl GaloisElement {
    /// X -> X.
    pub const IDENTITY: GaloisElement = GaloisElement(1);

    /// Checks that `exponent` is a unit modulo the ring's index.
    pub fn new(ring_index: u64, exponent: u64) -> Result<Self, RingError> {
        let reduced = exponent % ring_index;
        if primes::gcd(reduced, ring_index) == 1 {
            Ok(GaloisElement(reduced))
        } else {
            Err(RingError::NotAnAutomorphism { element: exponent, index: ring_index })
        }
    }

    /// The exponent g.
    pub fn exponent(self) -> u64 {
        self.0
    }

    /// Whether this is the identity.
    pub fn is_identity(self) -> bool {
        self.0 == 1
    }

    /// The inverse automorphism.
    pub fn inverse(self, ring: &Ring) -> Self {
        // Extended Euclid: r = x g modulo m throughout.
        let m = ring.index() as i64;
        let (mut r, mut x) = ((m, self.0 as i64), (0, 1));
        while r.1 > 1 {
            let quotient = r.0 / r.1;
            r = (r.1, r.0 - quotient * r.1);
            x = (x.1, x.0 - quotient * x.1);
        }
        GaloisElement(x.1.rem_euclid(m) as u64)
    }

    /// What the automorphism does to a limb of evaluations.
    pub fn evaluation_shift(self, ring: &Ring) -> EvaluationShift {
        let lengths = ring.lengths();
        let mut place = match ring.axes() {
            None => evaluation_index(ring.degree().trailing_zeros(), self.0),
            // Every automorphism is a unit modulo the index.
            Some(axes) => axes.position(self.0).unwrap_or(0),
        };
        let mut cycles = [(1, 0); MAX_CYCLES];
        for (cycle, &length) in cycles[MAX_CYCLES - lengths.len()..].iter_mut().zip(&lengths).rev()
        {
            *cycle = (length, place % length);
            place /= length;
        }
        EvaluationShift { cycles }
    }
}

/// 8 3 5 7 11 13 and 3 5 7 11 13 17 are below 2^18, but with one more prime they are not; 8 has two
/// cycles.
const MAX_CYCLES: usize = 7;

/// An automorphism on evaluations in slot order: a cyclic shift to the left along every cycle of
/// the axes, the last one contiguous. Powers of two have two: rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationShift {
    /// (length, shift), the last cycle last; unused ones first.
    cycles: [(usize, usize); MAX_CYCLES],
}

impl EvaluationShift {
    fn columns(&self) -> (usize, usize) {
        self.cycles[MAX_CYCLES - 1]
    }

    /// The row that goes to `row`.
    fn row(&self, row: usize) -> usize {
        let (mut rest, mut weight, mut out) = (row, 1, 0);
        for &(length, shift) in
            self.cycles[..MAX_CYCLES - 1].iter().rev().filter(|(length, _)| *length > 1)
        {
            out += weight * ((rest % length + shift) % length);
            weight *= length;
            rest /= length;
        }
        out
    }

    fn inverse(self) -> Self {
        let back = |(length, shift): (usize, usize)| (length, (length - shift) % length);
        EvaluationShift { cycles: self.cycles.map(back) }
    }

    /// Where the places of `targets` are taken from, as contiguous pieces (target, source).
    pub fn pieces_into(
        self,
        targets: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let (columns, shift) = self.columns();
        (targets.start / columns..targets.end.div_ceil(columns)).flat_map(move |row| {
            let (target, source) = (row * columns, self.row(row) * columns);
            let pieces = [
                (target, source + shift, columns - shift),
                (target + columns - shift, source, shift),
            ];
            let targets = targets.clone();
            pieces.into_iter().filter_map(move |(target, source, len)| {
                let (low, high) = (target.max(targets.start), (target + len).min(targets.end));
                (low < high).then(|| (low..high, source + low - target..source + high - target))
            })
        })
    }

    /// Where the places of `sources` go, as contiguous pieces (target, source).
    pub fn pieces_of(
        self,
        sources: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        self.inverse().pieces_into(sources).map(|(source, target)| (target, source))
    }

    /// What the shift does to values that are the same along all cycles but the last ones, given
    /// along these, row-major; along the last cycle alone they may also be given by a period.
    pub fn applied_to_last<T: Copy>(self, values: &[T]) -> Vec<T> {
        let (columns, shift) = self.columns();
        let columns = columns.min(values.len()).max(1);
        let shift = shift % columns;
        let source = |row: usize| {
            let (mut rest, mut weight, mut from) = (row, 1, 0);
            for &(length, shift) in self.cycles[..MAX_CYCLES - 1].iter().rev() {
                // 1 from the first cycle on along which nothing is given.
                let length = length.min(values.len() / columns / weight);
                from += weight * ((rest + shift) % length);
                weight *= length;
                rest /= length;
            }
            from * columns
        };
        let mut out = Vec::with_capacity(values.len());
        for row in 0..values.len() / columns {
            let row = &values[source(row)..][..columns];
            out.extend_from_slice(&row[shift..]);
            out.extend_from_slice(&row[..shift]);
        }
        out
    }

    /// Copies `from` to `to`, shifted.
    pub fn apply(self, to: &mut [u64], from: &[u64]) {
        for (target, source) in self.pieces_into(0..to.len()) {
            to[target].copy_from_slice(&from[source]);
        }
    }
}
