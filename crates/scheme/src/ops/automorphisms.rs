//! Automorphisms of the ring: rotations of the columns, exchange of the rows, Frobenius.

use everlevel_ring::GaloisElement;

use super::scheme::Scheme;
use crate::error::SchemeError;
use crate::spec::Level;

/// Automorphisms of the ring; each costs a key switch.
pub trait Automorphisms: Scheme {
    /// The highest level, `from` or below, at which there is a key for the automorphism `g`; none
    /// if there is no such key. Schemes that plan keys, such as the no-op scheme, have all of them.
    fn galois_level(&self, _g: GaloisElement, from: Level) -> Option<Level> {
        Some(from)
    }

    /// Applies the automorphism X ↦ X^g: one key switch, whose noise is added.
    fn apply_galois(
        &self,
        a: &Self::Ciphertext,
        g: GaloisElement,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Applies several automorphisms to one ciphertext with a single decomposition (hoisting): a
    /// key switch for each, without its most expensive part.
    fn apply_galois_many(
        &self,
        a: &Self::Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError>;

    /// Rotations of the columns by each of `ks`, hoisted.
    fn rotate_many(
        &self,
        a: &Self::Ciphertext,
        ks: &[i64],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        let gs: Vec<GaloisElement> = ks.iter().map(|&k| self.slot_shape().rotation(k)).collect();
        self.apply_galois_many(a, &gs)
    }

    /// Rotates the columns of every row by `k` to the left (to the right for negative k),
    /// cyclically; whole slots up to Frobenius, see [`SlotShape`](everlevel_ring::SlotShape).
    ///
    /// Returns an error if an index with axes has a bad last dimension, as slots that pass the end
    /// of a row would arrive in another row. Rotations along any dimension, with masks if
    /// necessary, are in `everlevel-circuit`.
    fn rotate_columns(
        &self,
        a: &Self::Ciphertext,
        k: i64,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let shape = self.slot_shape();
        let bad = shape.axes().is_some()
            && shape
                .dimensions()
                .last()
                .is_some_and(|d| !d.good && k.rem_euclid(d.size as i64) != 0);
        if bad {
            return Err(SchemeError::BadArgument {
                what: "rotation of the columns",
                expected: "slots whose last dimension is good".into(),
                found: format!(
                    "m = {}, where one automorphism does not rotate it: use rotate_along",
                    shape.ring_index()
                ),
            });
        }
        self.apply_galois(a, shape.rotation(k))
    }

    /// Exchanges the two rows; the identity if there is one row.
    fn swap_rows(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError> {
        self.apply_galois(a, self.slot_shape().swap_rows())
    }
}
