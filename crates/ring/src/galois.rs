//! Automorphisms.

use std::ops::Range;

use everlevel_arith::{coefficient_position, evaluation_index};

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
        let (mut a, mut b) = (reduced, ring_index);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        if a == 1 {
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
        // The group has exponent dividing m/4 (or 2 for tiny m): g^(m/4 - 1) inverts g.
        let m = ring.index();
        let (mut r, mut base, mut e) = (1u64, self.0, m / 4 - 1);
        while e > 0 {
            if e & 1 == 1 {
                r = (r as u128 * base as u128 % m as u128) as u64;
            }
            base = (base as u128 * base as u128 % m as u128) as u64;
            e >>= 1;
        }
        GaloisElement(r)
    }
    /// What the automorphism does to a limb of evaluations.
    pub fn evaluation_shift(self, ring: &Ring) -> EvaluationShift {
        let half = ring.degree() / 2;
        let index = evaluation_index(ring.log_degree(), self.0);
        EvaluationShift { swap: index >= half, shift: index % half, half }
    }
    /// The column shift of [`GaloisElement::evaluation_shift`].
    pub fn column_shift(self, ring: &Ring) -> usize {
        self.evaluation_shift(ring).shift
    }
    /// For each stored coefficient: where it goes, and whether it changes sign.
    pub(crate) fn coefficient_map(self, ring: &Ring) -> Vec<(u32, bool)> {
        let (n, m) = (ring.degree(), ring.index());
        let mut map = vec![(0, false); n];
        for c in 0..n {
            let target = (c as u128 * self.0 as u128 % m as u128) as usize;
            let from = coefficient_position(ring.log_degree(), c);
            map[from] = (coefficient_position(ring.log_degree(), target % n) as u32, target >= n);
        }
        map
    }
}

/// An automorphism on evaluations in slot order: rows shifted left by `shift`, and exchanged if `swap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationShift {
    swap: bool,
    shift: usize,
    half: usize,
}

impl EvaluationShift {
    /// The contiguous pieces of the shift as (target, source, length).
    pub fn pieces(self) -> impl Iterator<Item = (usize, usize, usize)> {
        let EvaluationShift { swap, shift, half } = self;
        (0..2).flat_map(move |row| {
            let source = if swap { 1 - row } else { row };
            [(row * half, source * half + shift, half - shift), (row * half + half - shift, source * half, shift)]
        })
    }
    /// Where the places of `sources` go, as contiguous pieces (target, source).
    pub fn pieces_of(self, sources: Range<usize>) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        self.pieces().filter_map(move |(target, source, len)| {
            let (low, high) = (source.max(sources.start), (source + len).min(sources.end));
            (low < high).then(|| (target + low - source..target + high - source, low..high))
        })
    }
    /// Copies `from` to `to`, shifted.
    pub fn apply(self, to: &mut [u64], from: &[u64]) {
        for (target, source, len) in self.pieces() {
            to[target..target + len].copy_from_slice(&from[source..source + len]);
        }
    }
}
