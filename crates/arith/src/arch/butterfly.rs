//! The arithmetic of one butterfly: what differs between instruction sets without and with a wide
//! integer product.

use super::residues::Residues;

/// The butterflies of the transform. Memory between passes holds words whose meaning is the
/// implementation's own; outside, canonical words.
pub(crate) trait Butterflies: Residues {
    /// Whether butterflies reduce only when told to.
    const LAZY: bool;

    /// The word of an encoded factor that tables hold; the factor is not 0.
    fn stored(encoded: [u64; 2]) -> u64;

    /// The factor of a word of a table, in every lane.
    fn restored(self, word: u64) -> Self::W;

    /// Reads the twiddles at `WIDTH` consecutive places.
    ///
    /// # Safety
    /// `place` is a multiple of `WIDTH`, at least 8, and the table covers the places.
    unsafe fn twiddle(self, table: *const u64, place: usize) -> Self::W;

    /// Writes words as they are.
    ///
    /// # Safety
    /// `WIDTH` words must be writable.
    unsafe fn store_words(self, target: *mut u64, x: Self::V);

    /// (x + w y, x - w y). A lazy arithmetic reduces x first if `reduce`.
    fn forward(self, reduce: bool, x: Self::V, y: Self::V, w: Self::W) -> (Self::V, Self::V);

    /// (x + y, w (x - y)). A lazy arithmetic reduces the sum if `reduce`.
    fn inverse(self, reduce: bool, x: Self::V, y: Self::V, w: Self::W) -> (Self::V, Self::V);

    /// (w0 (x + y), w1 (x - y)) as canonical words, for [`store_words`](Self::store_words).
    fn last(self, x: Self::V, y: Self::V, w: [Self::W; 2]) -> (Self::V, Self::V);

    /// [`Lanes::transpose`](super::lanes::Lanes::transpose).
    fn transpose_group(self, g: &mut [[Self::V; 8]; 2]);

    /// [`Lanes::transpose_back`](super::lanes::Lanes::transpose_back).
    fn transpose_group_back(self, g: &mut [[Self::V; 8]; 2]);
}
