//! The arithmetic of one butterfly: what differs between instruction sets without and with a wide
//! integer product.

use super::residues::Residues;
use crate::arch::lanes::{FloatModulus, Lanes};
use crate::modulus::Modulus;

/// The butterflies of the transform. Memory between passes holds words whose meaning is the
/// implementation's own; outside, canonical words.
pub(crate) trait Butterflies: Residues {
    /// Words of a twiddle in the tables, 1 or 2.
    const WORDS: usize;
    /// Whether butterflies reduce only when told to.
    const LAZY: bool;

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

    /// [`Lanes::transpose`].
    fn transpose_group(self, g: &mut [[Self::V; 8]; 2]);

    /// [`Lanes::transpose_back`].
    fn transpose_group_back(self, g: &mut [[Self::V; 8]; 2]);
}

/// Residues as signed integers in doubles; twiddles as centered doubles.
///
/// A product by a centered twiddle is at most (1/2 + B/8) q when the other factor is at most B q
/// ([`FloatModulus::mul`] with q < 2^50), so values grow slowly and are reduced rarely. Bounds
/// below are in units of q; a factor of a product must stay below 4.
///
/// *Forward.* Reducing x (to 1/2) before x + w y and x - w y makes the bound 1 + B/8, not reducing
/// makes it 1/2 + 9 B/8. Inputs are below 4. The row stage reduces and gives 3/2; the stages with
/// distance 2^s reduce where s = 3 modulo 4. Bounds, rounded up, go 1.5, 2.19, 2.97, 3.84, then
/// 1.48, 2.17, 2.94, 3.81, then 1.48 again, and so on.
///
/// *Inverse.* Sums double: B to 2 B, and w (x - y) is at most 1/2 + B/4. Stages with odd s reduce
/// their sums. Two stages take B to at most 1/2 + B/2, so from canonical input B stays below 1
/// before an even stage and below 2 before an odd one, and no factor reaches 4.
impl<L: Lanes> Butterflies for FloatModulus<L> {
    const WORDS: usize = 1;
    const LAZY: bool = true;

    #[inline(always)]
    unsafe fn twiddle(self, table: *const u64, place: usize) -> L::F {
        // SAFETY: the caller promises that the table covers the places.
        unsafe { self.lanes.load_f(table.add(place).cast()) }
    }

    #[inline(always)]
    unsafe fn store_words(self, target: *mut u64, x: L::F) {
        // SAFETY: the caller promises writable words.
        unsafe { self.lanes.store_f(target.cast(), x) }
    }

    #[inline(always)]
    fn forward(self, reduce: bool, x: L::F, y: L::F, w: L::F) -> (L::F, L::F) {
        let l = self.lanes;
        let x = if reduce { self.reduce(x) } else { x };
        let y = self.mul(y, w);
        (l.add_f(x, y), l.sub_f(x, y))
    }

    #[inline(always)]
    fn inverse(self, reduce: bool, x: L::F, y: L::F, w: L::F) -> (L::F, L::F) {
        let l = self.lanes;
        let sum = l.add_f(x, y);
        let sum = if reduce { self.reduce(sum) } else { sum };
        (sum, self.mul(l.sub_f(x, y), w))
    }

    #[inline(always)]
    fn last(self, x: L::F, y: L::F, w: [L::F; 2]) -> (L::F, L::F) {
        let l = self.lanes;
        let sum = self.canonical(self.mul(l.add_f(x, y), w[0]));
        let difference = self.canonical(self.mul(l.sub_f(x, y), w[1]));
        (l.as_f(sum), l.as_f(difference))
    }

    #[inline(always)]
    fn transpose_group(self, g: &mut [[L::F; 8]; 2]) {
        self.lanes.transpose(g);
    }

    #[inline(always)]
    fn transpose_group_back(self, g: &mut [[L::F; 8]; 2]) {
        self.lanes.transpose_back(g);
    }
}

/// Reduced residues are at most q in magnitude, wide ones at most 2q, sums at most 4q and 3q: a
/// product of a wide residue is at most 3/4 q ([`FloatModulus::mul`]), of a word below 4q at most
/// q, and doubles add exactly up to 8q.
impl<L: Lanes> Residues for FloatModulus<L> {
    const WIDTH: usize = L::WIDTH;
    const LOG_RADIX: u32 = 3;
    const TERMS: usize = 4;
    type V = L::F;
    type W = L::F;
    type Sum = L::F;

    #[inline]
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        [(q.centered(w) as f64).to_bits(), 0]
    }

    #[inline]
    fn encode_weight(q: Modulus, w: u64) -> u64 {
        (q.centered(w) as f64).to_bits()
    }

    #[inline(always)]
    fn everywhere(self, encoded: [u64; 2]) -> L::F {
        self.lanes.splat_f(f64::from_bits(encoded[0]))
    }

    #[inline(always)]
    fn zero(self) -> L::F {
        self.lanes.splat_f(0.0)
    }

    #[inline(always)]
    unsafe fn load(self, source: *const u64) -> L::F {
        // SAFETY: the caller promises readable words.
        unsafe { self.lanes.load_f(source.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64, x: L::F) {
        // SAFETY: the caller promises writable words.
        unsafe { self.lanes.store_f(target.cast(), x) }
    }

    #[inline(always)]
    unsafe fn load_words(self, source: *const u64) -> L::F {
        // SAFETY: the caller promises readable words.
        self.lanes.widen(unsafe { self.lanes.load(source) })
    }

    #[inline(always)]
    unsafe fn store_canonical(self, target: *mut u64, x: L::F) {
        // SAFETY: the caller promises writable words.
        unsafe { self.lanes.store(target, self.canonical(self.reduce(x))) }
    }

    #[inline(always)]
    fn reduce(self, x: L::F) -> L::F {
        FloatModulus::reduce(&self, x)
    }

    #[inline(always)]
    fn plus_minus(self, x: L::F, y: L::F) -> (L::F, L::F) {
        (self.lanes.add_f(x, y), self.lanes.sub_f(x, y))
    }

    #[inline(always)]
    fn mul(self, x: L::F, w: L::F) -> L::F {
        FloatModulus::mul(&self, x, w)
    }

    #[inline(always)]
    fn sum_from(self, x: L::F) -> L::F {
        x
    }

    #[inline(always)]
    fn sum_zero(self) -> L::F {
        self.zero()
    }

    #[inline(always)]
    fn sum_add(self, sum: L::F, x: L::F, weight: u64) -> L::F {
        let weight = self.lanes.splat_f(f64::from_bits(weight));
        self.lanes.add_f(sum, FloatModulus::mul(&self, x, weight))
    }

    #[inline(always)]
    fn sum_settle(self, x: L::F, y: L::F) -> (L::F, L::F) {
        (FloatModulus::reduce(&self, x), FloatModulus::reduce(&self, y))
    }

    #[inline(always)]
    fn sum_end(self, x: L::F) -> L::F {
        FloatModulus::reduce(&self, x)
    }

    #[inline(always)]
    fn sum_plus_minus(self, x: L::F, y: L::F) -> (L::F, L::F) {
        let (sum, difference) = self.plus_minus(x, y);
        (FloatModulus::reduce(&self, sum), FloatModulus::reduce(&self, difference))
    }

    #[inline(always)]
    fn transpose(self, v: &mut [L::F; 8]) {
        self.lanes.transpose_square(v);
    }
}
