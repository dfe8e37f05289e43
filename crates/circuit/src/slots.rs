//! The group that moves the slots of a power-of-two ring, and what it does to periodic vectors.
//!
//! Shape-specific, with `transform.rs`: all other files see [`SlotMove`] only as the label of a diagonal.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::PeriodicSlots;

use crate::error::CircuitError;
use crate::modular::PrimePower;

/// A move of the slots: both rows rotated left by `shift` columns, then exchanged if `swap`.
///
/// Output slot (r, i) holds input slot (r xor swap, (i + shift) mod columns). These moves are the Galois group of
/// the thin plaintexts; unlike exponents of automorphisms they are known modulo the stabiliser of the slots (the
/// powers of Frobenius), so equal moves have equal labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotMove {
    /// Left rotation, in 0..columns.
    pub shift: usize,
    /// Whether the rows are exchanged.
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
        if self.swap { shape.compose(rotation, shape.swap_rows()) } else { rotation }
    }
}

/// Two rows and a power of two of columns, or an error.
pub(crate) fn check_columns(shape: &SlotShape) -> Result<usize, CircuitError> {
    let (rows, columns) = (shape.rows(), shape.columns());
    if rows == 2 && columns.is_power_of_two() { Ok(columns) } else { Err(CircuitError::UnsupportedShape { rows, columns }) }
}

/// The value of a periodic vector in slot (row, column); period at least 1.
pub(crate) fn value_at(v: &PeriodicSlots, row: usize, column: usize) -> u64 {
    v.values[row * v.period + column % v.period]
}

/// A periodic vector in two rows from a function of (row, column).
pub(crate) fn periodic(period: usize, mut f: impl FnMut(usize, usize) -> u64) -> PeriodicSlots {
    let values = (0..2).flat_map(|r| (0..period).map(move |i| (r, i))).map(|(r, i)| f(r, i)).collect();
    PeriodicSlots { period, values }
}

/// The moved vector: a move keeps the period.
pub(crate) fn moved(v: &PeriodicSlots, by: SlotMove) -> PeriodicSlots {
    periodic(v.period, |r, i| value_at(v, r ^ usize::from(by.swap), i + by.shift))
}

/// The slotwise product; the periods divide each other (both are powers of two).
pub(crate) fn product(a: &PeriodicSlots, b: &PeriodicSlots, t: &PrimePower) -> PeriodicSlots {
    periodic(a.period.max(b.period), |r, i| t.mul(value_at(a, r, i), value_at(b, r, i)))
}

/// The slotwise sum.
pub(crate) fn sum(a: &PeriodicSlots, b: &PeriodicSlots, t: &PrimePower) -> PeriodicSlots {
    periodic(a.period.max(b.period), |r, i| t.add(value_at(a, r, i), value_at(b, r, i)))
}

/// The same vector with its least period: shorter diagonals are cheaper to hold.
pub(crate) fn shrunk(mut v: PeriodicSlots) -> PeriodicSlots {
    while v.period.is_multiple_of(2) {
        let half = v.period / 2;
        let repeats = (0..2).all(|r| (0..half).all(|i| v.values[r * v.period + i] == v.values[r * v.period + half + i]));
        if !repeats {
            break;
        }
        v = periodic(half, |r, i| value_at(&v, r, i));
    }
    v
}
