//! The arithmetic of transforms: vectors of residues in forms that are reduced late.

use crate::modulus::Modulus;

/// Vectors of residues modulo q, in two redundant forms: *reduced* ones, and *wide* ones, which may
/// be the sum of two reduced ones. A reduced one is also wide. What the forms are is the
/// implementation's own; memory between passes holds either.
pub(crate) trait Residues: Copy {
    /// Number of lanes: 1, 4 or 8.
    const WIDTH: usize;
    /// The largest butterfly of a power-of-two length that fits the registers: its binary
    /// logarithm, 1 to 4.
    const LOG_RADIX: u32;
    /// How many products a [`Sum`](Self::Sum) holds before it must be settled.
    const TERMS: usize;
    /// A vector of residues.
    type V: Copy;
    /// A vector of constant factors.
    type W: Copy;
    /// A sum of products.
    type Sum: Copy;

    /// The words of the constant factor w < q; an arithmetic may need only the first.
    fn encode(q: Modulus, w: u64) -> [u64; 2];

    /// The word of the factor w < q in a sum of products.
    fn encode_weight(q: Modulus, w: u64) -> u64;

    /// A factor in every lane.
    fn everywhere(self, encoded: [u64; 2]) -> Self::W;

    /// The residue 0.
    fn zero(self) -> Self::V;

    /// Reads what [`store`](Self::store) wrote.
    ///
    /// # Safety
    /// `WIDTH` words must be readable.
    unsafe fn load(self, source: *const u64) -> Self::V;

    /// Writes a vector for a later pass.
    ///
    /// # Safety
    /// `WIDTH` words must be writable.
    unsafe fn store(self, target: *mut u64, x: Self::V);

    /// Reads words below 4q, which [`reduce`](Self::reduce) accepts.
    ///
    /// # Safety
    /// `WIDTH` words must be readable.
    unsafe fn load_words(self, source: *const u64) -> Self::V;

    /// Writes the canonical words of wide residues.
    ///
    /// # Safety
    /// `WIDTH` words must be writable.
    unsafe fn store_canonical(self, target: *mut u64, x: Self::V);

    /// A wide residue, reduced.
    fn reduce(self, x: Self::V) -> Self::V;

    /// (x + y, x - y), wide, for reduced x and y.
    fn plus_minus(self, x: Self::V, y: Self::V) -> (Self::V, Self::V);

    /// w x, reduced, for wide x.
    fn mul(self, x: Self::V, w: Self::W) -> Self::V;

    /// The sum that is a reduced x.
    fn sum_from(self, x: Self::V) -> Self::Sum;

    /// The empty sum.
    fn sum_zero(self) -> Self::Sum;

    /// sum + w x for wide x and the word of a weight.
    fn sum_add(self, sum: Self::Sum, x: Self::V, weight: u64) -> Self::Sum;

    /// The same residues as sums that take [`TERMS`](Self::TERMS) more products; x was begun by
    /// [`sum_from`](Self::sum_from), y by [`sum_zero`](Self::sum_zero).
    fn sum_settle(self, x: Self::Sum, y: Self::Sum) -> (Self::Sum, Self::Sum);

    /// A sum begun by [`sum_from`](Self::sum_from), reduced.
    fn sum_end(self, x: Self::Sum) -> Self::V;

    /// (x + y, x - y), reduced, of x and y as for [`sum_settle`](Self::sum_settle).
    fn sum_plus_minus(self, x: Self::Sum, y: Self::Sum) -> (Self::V, Self::V);

    /// Transposes the square of the first `WIDTH` vectors.
    fn transpose(self, v: &mut [Self::V; 8]);
}
