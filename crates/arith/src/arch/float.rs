//! Residues in doubles: the arithmetic of instruction sets without a wide integer product.

use super::butterfly::Butterflies;
use super::lanes::Lanes;
use super::portable::ROUNDER;
use super::residues::Residues;
use crate::modulus::Modulus;

/// The constants of arithmetic in doubles modulo q.
#[derive(Clone, Copy)]
pub(crate) struct FloatModulus<L: Lanes> {
    pub(crate) lanes: L,
    /// q.
    pub(crate) q: L::F,
    /// 1/q, rounded.
    pub(crate) inverse: L::F,
    /// 1.5 * 2^52: adding and subtracting it rounds magnitudes below 2^51 to integers.
    pub(crate) rounder: L::F,
    /// q as a word.
    pub(crate) word: L::U,
}

impl<L: Lanes> FloatModulus<L> {
    #[inline(always)]
    pub(crate) fn new(lanes: L, q: Modulus) -> Self {
        Self {
            lanes,
            q: lanes.splat_f(q.value() as f64),
            inverse: lanes.splat_f(1.0 / q.value() as f64),
            rounder: lanes.splat_f(ROUNDER),
            word: lanes.splat(q.value()),
        }
    }

    /// x w modulo q, exactly, for integers with |x w| < 2^51 q: of magnitude at most (1/2 + e) q
    /// with e = |x w / q| / 2^52.
    ///
    /// The product is h + l exactly. The quotient b is the nearest integer to h/q up to two
    /// relative errors of 2^-53, hence e. h - b q is an integer below 2^53, so the fused operation
    /// gives it exactly.
    #[inline(always)]
    pub(crate) fn mul(&self, x: L::F, w: L::F) -> L::F {
        let l = self.lanes;
        let high = l.mul_f(x, w);
        let low = l.mul_sub_f(x, w, high);
        let quotient = l.sub_f(l.mul_add_f(high, self.inverse, self.rounder), self.rounder);
        l.add_f(l.neg_mul_add_f(quotient, self.q, high), low)
    }

    /// x modulo q, exactly, for integers |x| < 2^53 with |x| < 2^51 q: of magnitude at most (1/2 +
    /// e) q with e = |x / q| / 2^53.
    #[inline(always)]
    pub(crate) fn reduce(&self, x: L::F) -> L::F {
        let l = self.lanes;
        let quotient = l.sub_f(l.mul_add_f(x, self.inverse, self.rounder), self.rounder);
        l.neg_mul_add_f(quotient, self.q, x)
    }

    /// The canonical word of an integer in (-q, q).
    #[inline(always)]
    pub(crate) fn canonical(&self, x: L::F) -> L::U {
        self.lanes.lift_negative(self.lanes.narrow(x), self.word)
    }
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
    const LAZY: bool = true;

    #[inline]
    fn stored(encoded: [u64; 2]) -> u64 {
        encoded[0]
    }

    #[inline(always)]
    fn restored(self, word: u64) -> L::F {
        self.everywhere([word, 0])
    }

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
