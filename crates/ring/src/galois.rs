//! Automorphisms and the shape of the slots.

use std::ops::Range;

use everlevel_arith::{Modulus, coefficient_position, evaluation_index, primes};

use crate::error::RingError;
use crate::ring::Ring;

/// The automorphism X -> X^g of a ring, by its exponent g, a unit modulo the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GaloisElement(u64);

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

/// The slots of a plaintext ring of power-of-two index 2n: n/d slots in 2 rows, where d is the degree of a slot.
///
/// Slot (row, column), at position `row * columns + column`, holds the value at ζ^(5^column) (row 0) or
/// ζ^(-5^column) (row 1), ζ a primitive 2(n/d)-th root of unity modulo p^e in Y = X^d. Thin plaintexts (values
/// in Z/p^e) are the polynomials in Y. Rotation by k > 0 is to the left: slot (r, i) takes the value of (r, i + k).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotShape {
    index: u64,
    p: u64,
    slots: usize,
    degree: usize,
    roots: Vec<u64>,
}

impl SlotShape {
    /// The slots of the ring of index `index` modulo powers of `p` up to `p^max_exponent`.
    ///
    /// # Errors
    /// If p is no odd prime, if p is 3 modulo 4 and does not split (not available yet), or if p^max_exponent does not fit a word.
    pub fn new(index: u64, p: u64, max_exponent: u32) -> Result<Self, RingError> {
        let bad = |reason| RingError::BadPlainModulus { p, exponent: max_exponent, index, reason };
        if p >> Modulus::MAX_BITS != 0 || !primes::is_prime(p) {
            return Err(bad("p must be a prime below 2^50"));
        }
        if index.is_multiple_of(p) {
            return Err(bad("p divides the index of the ring, so the plaintext ring is not separable"));
        }
        if max_exponent == 0 {
            return Err(bad("the exponent must be at least 1"));
        }
        // d = ord_m(p); for p = 1 mod 4 the slots' base ring is reached by Y = X^d.
        let mut degree = 1usize;
        let mut power = p % index;
        while power != 1 {
            power = (power as u128 * p as u128 % index as u128) as u64;
            degree += 1;
        }
        let slots = (index / 2) as usize / degree;
        if p % 4 != 1 || slots < 16 {
            return Err(bad("p must be 1 modulo 4 and give at least 16 slots (other primes are not available yet)"));
        }
        let order = 2 * slots as u64;
        if primes::primitive_root_of_unity(p, order).is_none() {
            return Err(bad("p has no root of unity of the order that the slots need"));
        };
        let mut roots = Vec::new();
        for e in 1..=max_exponent {
            match p.checked_pow(e) {
                Some(t) if t >> Modulus::MAX_BITS == 0 => {}
                _ => return Err(bad("the plaintext modulus must stay below 2^50")),
            }
            roots.push(primes::root_mod_prime_power(p, e, order).ok_or_else(|| bad("the root of unity does not lift"))?);
        }
        Ok(SlotShape { index, p, slots, degree, roots })
    }
    /// The index m of the ring.
    pub fn ring_index(&self) -> u64 {
        self.index
    }
    /// The number of rows.
    pub fn rows(&self) -> usize {
        2
    }
    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.slots / 2
    }
    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }
    /// The degree d of a slot over Z/p^e.
    pub fn degree_of_slot(&self) -> usize {
        self.degree
    }
    /// The prime p.
    pub fn plain_prime(&self) -> u64 {
        self.p
    }
    /// The largest exponent e for which p^e is at hand.
    pub fn max_exponent(&self) -> u32 {
        self.roots.len() as u32
    }
    /// p^e.
    ///
    /// # Panics
    /// If e is 0 or above [`SlotShape::max_exponent`].
    pub fn plain_modulus(&self, e: u32) -> u64 {
        assert!(e >= 1 && e <= self.max_exponent(), "exponent within 1..=max_exponent");
        self.p.pow(e)
    }
    /// The root ζ modulo p^e; the roots for different e agree modulo the smaller power.
    ///
    /// # Panics
    /// If e is 0 or above [`SlotShape::max_exponent`].
    pub fn root(&self, e: u32) -> u64 {
        self.roots[e as usize - 1]
    }
    /// The automorphism that rotates both rows to the left by `k` (to the right for negative k).
    pub fn rotation(&self, k: i64) -> GaloisElement {
        let k = k.rem_euclid(self.columns() as i64) as u64;
        let mut g = 1u64;
        for bit in (0..64).rev() {
            g = g * g % self.index;
            if k >> bit & 1 == 1 {
                g = g * 5 % self.index;
            }
        }
        GaloisElement(g)
    }
    /// The automorphism that exchanges the rows.
    pub fn swap_rows(&self) -> GaloisElement {
        GaloisElement(self.index - 1)
    }
    /// X -> X^p: the identity on thin plaintexts, of order d.
    pub fn frobenius(&self) -> GaloisElement {
        GaloisElement(self.p % self.index)
    }
    /// The identity.
    pub fn identity(&self) -> GaloisElement {
        GaloisElement::IDENTITY
    }
    /// Whether `g` is the identity.
    pub fn is_identity(&self, g: GaloisElement) -> bool {
        g.is_identity()
    }
    /// The composition: X -> X^(g h).
    pub fn compose(&self, g: GaloisElement, h: GaloisElement) -> GaloisElement {
        GaloisElement((g.0 as u128 * h.0 as u128 % self.index as u128) as u64)
    }
}
