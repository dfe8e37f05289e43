//! Linear maps of the slots: sums of automorphisms times plaintext diagonals, with hoisting.

use std::borrow::Borrow;

use everlevel_ring::GaloisElement;

use super::automorphisms::Automorphisms;
use crate::error::SchemeError;
use crate::spec::{Level, NextUse};

/// A vector of slot values in the base ring (see [`SlotShape`](everlevel_ring::SlotShape)) that
/// repeats along the columns.
///
/// Shape: `2 * period` values, `period` dividing the number of columns. With two rows, slot (r, j)
/// holds `values[r * period + j % period]`; with one row, slot j holds the element of GR(p^e, 2)
/// with real part `values[j % period]` and imaginary part `values[period + j % period]`. The
/// diagonals of the factors of a homomorphic transform are of this kind, and a scheme that stores
/// evaluations in slot order stores them with the same period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodicSlots {
    /// The period along a row.
    pub period: usize,
    /// `2 * period` values, reduced modulo the plaintext modulus.
    pub values: Vec<u64>,
}

/// The values of a plaintext diagonal; the representation depends on the kind of ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagonalValues {
    /// For indices that are powers of two: values of the base ring that repeat along the columns.
    Periodic(PeriodicSlots),
    /// For indices with axes: elements of GR(p^e, d), d residues each, in row-major order along the
    /// dimensions of the last axes; their number determines how many axes these are. The same
    /// elements are used at all positions of the other dimensions. D elements, the size of the last
    /// dimension, vary along this dimension only. These diagonals are the polynomials in the X_a of
    /// the last axes, and their evaluations repeat along the other axes.
    LastDimensions(Vec<u64>),
}

/// Linear maps of the slots with double hoisting: one decomposition before the products with
/// diagonals, and one division by the special modulus after them.
pub trait LinearMaps: Automorphisms {
    /// A ciphertext modulo Q P, before the division by the special modulus P: the intermediate
    /// value of hoisting.
    type Extended: Send + Sync;
    /// A plaintext diagonal prepared for multiplication with [`LinearMaps::Extended`].
    type Diagonal: Send + Sync;

    /// Prepares a plaintext diagonal modulo p^e for ciphertexts at `level` or below.
    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<Self::Diagonal, SchemeError>;

    /// What [`LinearMaps::diagonal`] prepares for `level`, from what it prepared for another level,
    /// where that takes no transform. `None` if it has to be prepared anew: by default always.
    fn diagonal_at(&self, _diagonal: &Self::Diagonal, _level: Level) -> Option<Self::Diagonal> {
        None
    }

    /// The images of `x` under all automorphisms `gs`, from one decomposition (hoisting), modulo
    /// the extended modulus Q P.
    fn hoist(
        &self,
        x: &Self::Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Self::Extended>, SchemeError>;

    /// [`LinearMaps::hoist`] of each ciphertext; a scheme may read each key once for several of
    /// them.
    fn hoist_each(
        &self,
        xs: &[&Self::Ciphertext],
        gs: &[GaloisElement],
    ) -> Result<Vec<Vec<Self::Extended>>, SchemeError> {
        xs.iter().map(|x| self.hoist(x, gs)).collect()
    }

    /// One output for each row: the sum over j of `rows[i][j] * inputs[j]` (absent entries are
    /// zero). Inputs of several levels or correction factors are refused, as are such parts below.
    fn combine(
        &self,
        inputs: &[impl Borrow<Self::Extended> + Sync],
        rows: &[Vec<Option<&Self::Diagonal>>],
    ) -> Result<Vec<Self::Extended>, SchemeError>;

    /// The sum of `g(part)` over all parts, followed by one division by the special modulus and the
    /// modulus switch for `next` (double hoisting). Each part costs a key switch unless g is the
    /// identity.
    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, Self::Extended)>,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// [`LinearMaps::galois_sum`] of each list of parts; a scheme may read each key once for
    /// several of them.
    fn galois_sum_each(
        &self,
        sums: Vec<Vec<(GaloisElement, Self::Extended)>>,
        next: NextUse,
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        sums.into_iter().map(|parts| self.galois_sum(parts, next)).collect()
    }

    /// The nested sum g_n(x_n + .. g_2(x_2 + g_1(x_1))) over the `parts` (g_1, x_1), (g_2, x_2), ..
    /// in the order in which they arrive, with the noise and the number of key switches of
    /// [`LinearMaps::galois_sum`]. Giant steps that are powers of one automorphism need only one
    /// key in this way, and only one part is in memory at a time.
    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Self::Extended), SchemeError>>,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError>;
}
