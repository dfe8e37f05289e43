//! The group that moves the slots of a power-of-two ring, and what it does to periodic vectors.
//!
//! Shape-specific, with `transform/columns.rs`: all other files see [`SlotMove`] only as the label
//! of a diagonal.

use everlevel_ring::{GaloisElement, GaussianRing, SlotShape};
use everlevel_scheme::PeriodicSlots;

/// A move of the slots of the base ring: all rows rotated left by `shift` columns, then i
/// conjugated in each column if `swap`.
///
/// Output column j holds input column (j + shift) mod columns, conjugated if `swap`: with two rows
/// they are exchanged, with one row nothing moves, but every value in GR(p^e, 2) is conjugated.
/// These moves are the Galois group of the base ring; unlike exponents of automorphisms they are
/// known modulo its stabiliser (powers of Frobenius), so equal moves have equal labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotMove {
    /// Left rotation, in 0..columns.
    pub shift: usize,
    /// Whether i is conjugated in each column: the rows exchanged, or Frobenius where there is one
    /// row.
    pub swap: bool,
}

impl SlotMove {
    /// No move.
    pub const IDENTITY: SlotMove = SlotMove { shift: 0, swap: false };

    /// The left rotation by `k` modulo `columns` (at least 1).
    pub(crate) fn rotation(k: i64, columns: usize) -> Self {
        SlotMove { shift: k.rem_euclid(columns as i64) as usize, swap: false }
    }

    /// The composition of two moves, in either order.
    pub(crate) fn then(self, other: SlotMove, columns: usize) -> Self {
        SlotMove { shift: (self.shift + other.shift) % columns, swap: self.swap ^ other.swap }
    }

    /// The move back.
    pub(crate) fn inverse(self, columns: usize) -> Self {
        SlotMove { shift: (columns - self.shift) % columns, swap: self.swap }
    }

    /// The automorphism of the ring that moves its slots like this.
    pub fn galois_element(self, shape: &SlotShape) -> GaloisElement {
        if self == SlotMove::IDENTITY {
            return shape.identity();
        }
        // The shorter way round gives the same element; rotation() reduces it.
        let rotation = shape.rotation(self.shift as i64);
        if self.swap { shape.compose(rotation, shape.conjugation()) } else { rotation }
    }
}

/// The Gaussian integer in a column of a periodic vector; period at least 1.
pub(crate) fn value_at(v: &PeriodicSlots, column: usize) -> [u64; 2] {
    let column = column % v.period;
    [v.values[column], v.values[v.period + column]]
}

/// A periodic vector from a function of the column.
pub(crate) fn periodic(period: usize, f: impl FnMut(usize) -> [u64; 2]) -> PeriodicSlots {
    let columns: Vec<[u64; 2]> = (0..period).map(f).collect();
    PeriodicSlots {
        period,
        values: columns.iter().map(|x| x[0]).chain(columns.iter().map(|x| x[1])).collect(),
    }
}

/// The moved vector: a move keeps the period.
pub(crate) fn moved(v: &PeriodicSlots, by: SlotMove, ring: &GaussianRing) -> PeriodicSlots {
    periodic(v.period, |j| {
        let x = value_at(v, j + by.shift);
        if by.swap { ring.conjugate(x) } else { x }
    })
}

/// The product, column by column; the periods divide each other (both are powers of two).
pub(crate) fn product(a: &PeriodicSlots, b: &PeriodicSlots, ring: &GaussianRing) -> PeriodicSlots {
    periodic(a.period.max(b.period), |j| ring.mul(value_at(a, j), value_at(b, j)))
}

/// The sum, column by column.
pub(crate) fn sum(a: &PeriodicSlots, b: &PeriodicSlots, ring: &GaussianRing) -> PeriodicSlots {
    periodic(a.period.max(b.period), |j| ring.add(value_at(a, j), value_at(b, j)))
}

/// The same vector with its least period: shorter diagonals need less memory.
pub(crate) fn shrunk(mut v: PeriodicSlots) -> PeriodicSlots {
    while v.period.is_multiple_of(2) {
        let half = v.period / 2;
        if (0..half).any(|j| value_at(&v, j) != value_at(&v, half + j)) {
            break;
        }
        v = periodic(half, |j| value_at(&v, j));
    }
    v
}
