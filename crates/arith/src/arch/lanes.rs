//! What an instruction set offers to the algorithms in [`super::vector`] and
//! [`crate::ntt::vector`].

use super::butterfly::Butterflies;
use crate::modulus::Modulus;

/// A token for an instruction set that this processor has: a holder of one may execute its
/// instructions.
///
/// `U` is a vector of [`WIDTH`](Self::WIDTH) words, `F` one of as many doubles. Doubles carry
/// integers exactly: products below 2^106 as an unevaluated sum of two, everything else below 2^53.
pub(crate) trait Lanes: Copy {
    /// Number of lanes, 4 or 8.
    const WIDTH: usize;
    /// How many products an empty [`Sum`](Self::Sum) holds; after
    /// [`sum_settle`](Self::sum_settle), one less.
    const ROOM: usize;
    /// How many vectors the sums of products take at once, so that what is read for a term serves
    /// all of them: enough for a cache line at least.
    const VECTORS: usize;
    /// A vector of words.
    type U: Copy;
    /// A vector of doubles.
    type F: Copy;
    /// A word below 2^50 in the form that [`sum_add`](Self::sum_add) multiplies.
    type Factor: Copy;
    /// A sum of products of factors.
    type Sum: Copy;
    /// The constants that reduce a `Sum`.
    type Reducer: Copy;
    /// The arithmetic of the transform.
    type Transform: Butterflies;
    /// Where packed residues are in the bytes that are read for them.
    type Unpacker: Copy;
    /// The bytes that are read for `WIDTH` packed residues.
    const PACKED_BYTES: usize;

    /// Reads `WIDTH` words.
    ///
    /// # Safety
    /// The words must be readable; no alignment is needed.
    unsafe fn load(self, source: *const u64) -> Self::U;

    /// Writes `WIDTH` words.
    ///
    /// # Safety
    /// The words must be writable; no alignment is needed.
    unsafe fn store(self, target: *mut u64, x: Self::U);

    /// For packed residues of which the first begins at bit 2 `phase` of a byte, `phase` below 4.
    fn unpacker(self, phase: usize) -> Self::Unpacker;

    /// Reads `WIDTH` residues of [`PACKED_BITS`](crate::packed::PACKED_BITS) bits.
    ///
    /// # Safety
    /// [`PACKED_BYTES`](Self::PACKED_BYTES) bytes must be readable; no alignment is needed.
    unsafe fn load_packed(self, source: *const u8, unpacker: Self::Unpacker) -> Self::U;

    /// Reads `WIDTH` half words, widened.
    ///
    /// # Safety
    /// The half words must be readable; no alignment is needed.
    unsafe fn load_halves(self, source: *const u32) -> Self::U;

    /// Writes the low halves of `WIDTH` words.
    ///
    /// # Safety
    /// The half words must be writable; no alignment is needed.
    unsafe fn store_halves(self, target: *mut u32, x: Self::U);

    /// Reads `WIDTH` doubles.
    ///
    /// # Safety
    /// The doubles must be readable; no alignment is needed.
    unsafe fn load_f(self, source: *const f64) -> Self::F;

    /// Writes `WIDTH` doubles.
    ///
    /// # Safety
    /// The doubles must be writable; no alignment is needed.
    unsafe fn store_f(self, target: *mut f64, x: Self::F);

    /// The word in every lane.
    fn splat(self, x: u64) -> Self::U;

    /// The double in every lane.
    fn splat_f(self, x: f64) -> Self::F;

    /// a + b mod 2^64.
    fn add(self, a: Self::U, b: Self::U) -> Self::U;

    /// a - b mod 2^64.
    fn sub(self, a: Self::U, b: Self::U) -> Self::U;

    /// Bitwise and.
    fn and(self, a: Self::U, b: Self::U) -> Self::U;

    /// Bitwise exclusive or.
    fn xor(self, a: Self::U, b: Self::U) -> Self::U;

    /// The products of the low halves of words.
    fn mul_halves(self, a: Self::U, b: Self::U) -> Self::U;

    /// The sums of the halves of words, each modulo 2^32.
    fn add_halves(self, a: Self::U, b: Self::U) -> Self::U;

    /// Each half rotated to the left by 0 < `by` < 32 bits.
    fn rotate_halves(self, x: Self::U, by: u32) -> Self::U;

    /// The low half of each word as its high half, the low one being 0.
    fn raise_half(self, x: Self::U) -> Self::U;

    /// The high 32 bits of each word.
    fn high_half(self, a: Self::U) -> Self::U;

    /// x - m where x >= m, else x; both below 2^63.
    fn subtract_once(self, x: Self::U, m: Self::U) -> Self::U;

    /// x + m where x is negative as a signed word, else x; |x| <= m.
    fn lift_negative(self, x: Self::U, m: Self::U) -> Self::U;

    /// a + b, rounded.
    fn add_f(self, a: Self::F, b: Self::F) -> Self::F;

    /// a - b, rounded.
    fn sub_f(self, a: Self::F, b: Self::F) -> Self::F;

    /// a b, rounded.
    fn mul_f(self, a: Self::F, b: Self::F) -> Self::F;

    /// a b + c, rounded once.
    fn mul_add_f(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;

    /// a b - c, rounded once.
    fn mul_sub_f(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;

    /// c - a b, rounded once.
    fn neg_mul_add_f(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;

    /// Words below 2^52 as doubles.
    fn widen(self, x: Self::U) -> Self::F;

    /// Integers of magnitude below 2^51 as signed words.
    fn narrow(self, x: Self::F) -> Self::U;

    /// The bits of words as doubles.
    fn as_f(self, x: Self::U) -> Self::F;

    /// Transposes a group of 64 places in place, between two arrangements of 64 / `WIDTH` vectors
    /// (`g[1]` serves only four lanes): in the one, vector a of `g[s]` holds places 8a + `WIDTH` s
    /// and following; in the other, the vectors taken in order, `g[0]` first, hold the group
    /// transposed.
    fn transpose(self, g: &mut [[Self::F; 8]; 2]);

    /// The inverse of [`transpose`](Self::transpose).
    fn transpose_back(self, g: &mut [[Self::F; 8]; 2]);

    /// Transposes the square of the first `WIDTH` vectors.
    fn transpose_square(self, v: &mut [Self::F; 8]);

    /// Prepares words below 2^50 for [`sum_add`](Self::sum_add).
    fn factor(self, x: Self::U) -> Self::Factor;

    /// The empty sum.
    fn sum_zero(self) -> Self::Sum;

    /// sum + a b, exactly, where there is [room](Self::ROOM).
    fn sum_add(self, sum: Self::Sum, a: Self::Factor, b: Self::Factor) -> Self::Sum;

    /// The constants of the transform for a modulus.
    fn transform(self, q: Modulus) -> Self::Transform;

    /// The constants for a modulus.
    fn reducer(self, q: Modulus) -> Self::Reducer;

    /// A sum with the same residues that has room again.
    fn sum_settle(self, sum: Self::Sum, reducer: Self::Reducer) -> Self::Sum;

    /// The canonical residues of a sum of `terms` products. `small` promises that it is below 2^104
    /// - 2^64.
    fn sum_reduce(
        self,
        sum: Self::Sum,
        terms: usize,
        small: bool,
        reducer: Self::Reducer,
    ) -> Self::U;
}
