//! Butterflies on the 52-bit multiply-add of AVX-512.

use super::{Avx512, vouched};
use crate::arch::butterfly::Butterflies;
use crate::arch::lanes::Lanes;
use crate::arch::residues::Residues;
use crate::modulus::Modulus;
use core::arch::x86_64::*;

/// Residues as integers modulo 2^52: a lane stands for its low 52 bits, whose value is below 4q <
/// 2^52. What is above bit 52 is left over from carries and never matters: products ignore it,
/// additions keep it out of the low bits.
///
/// No comparison is needed before the end. A residue x is reduced by subtracting floor(x r / 2^52)
/// q with r = floor(2^52 / q): two instructions, the result is below 2q. A product by a twiddle w
/// with the quotient w' = floor(2^52 w / q) is w x - floor(x w' / 2^52) q, below 2q for every x
/// (Shoup).
///
/// *Forward:* x < 4q is reduced to 2q, w y is below 2q, so x + w y and x - w y + 2q are below 4q.
/// *Inverse:* x, y < 2q; x + y < 4q is reduced to 2q and w (x - y + 2q) is below 2q.
#[derive(Clone, Copy)]
pub(crate) struct IfmaModulus {
    token: Avx512,
    zero: __m512i,
    /// -q modulo 2^52.
    minus_q: __m512i,
    /// floor(2^52 / q).
    ratio: __m512i,
    q: __m512i,
    twice: __m512i,
    one: __m512i,
    two: __m512i,
    mask: __m512i,
    /// 1/q modulo 2^52.
    inverse: __m512i,
    /// [`OFFSET`] q, and what reduces sums: a shift that takes numbers below 2^12 q to 2^51, and
    /// floor(2^(52 + shift) / q).
    offset: __m512i,
    shift: __m512i,
    sum_ratio: __m512i,
}

impl IfmaModulus {
    #[inline(always)]
    pub(crate) fn new(token: Avx512, q: Modulus) -> Self {
        let shift = (q.bits() + LOG_SUM).saturating_sub(51);
        Self {
            token,
            zero: token.splat(0),
            minus_q: token.splat((1 << 52) - q.value()),
            ratio: token.splat((1 << 52) / q.value()),
            q: token.splat(q.value()),
            twice: token.splat(2 * q.value()),
            one: token.splat(1),
            two: token.splat(2),
            mask: token.splat((1 << 52) - 1),
            inverse: token.splat(q.word_inverse()),
            offset: token.splat(OFFSET * q.value()),
            shift: token.splat(u64::from(shift)),
            sum_ratio: token.splat((1 << (52 + shift)) / q.value()),
        }
    }

    /// A factor w > 0 and its quotient, from the quotient: with w' q = 2^52 w - r, where 0 < r < q,
    /// w is floor(w' q / 2^52) + 1.
    #[inline(always)]
    fn with_factor(self, quotient: __m512i) -> [__m512i; 2] {
        [vouched!(self.token, _mm512_madd52hi_epu64(self.one, quotient, self.q)), quotient]
    }

    /// From below 2^12 q to below 2q.
    #[inline(always)]
    pub(in crate::arch) fn reduce_sum(self, x: __m512i) -> __m512i {
        // The quotient loses less than 1 by its floor, 1/2 by the rounding of the ratio and 2^shift
        // / q by the shift.
        vouched!(self.token, {
            let quotient =
                _mm512_madd52hi_epu64(self.zero, _mm512_srlv_epi64(x, self.shift), self.sum_ratio);
            _mm512_madd52lo_epu64(x, quotient, self.minus_q)
        })
    }

    /// A sum divided by 2^52: above -q, below high + 2^-52 low.
    #[inline(always)]
    fn montgomery(self, sum: Sum) -> __m512i {
        // m q has the same low bits as the sum, so that their difference is one of high parts.
        vouched!(self.token, {
            let m = _mm512_madd52lo_epu64(self.zero, sum.low, self.inverse);
            let carried = _mm512_add_epi64(sum.high, _mm512_srli_epi64::<52>(sum.low));
            _mm512_sub_epi64(carried, _mm512_madd52hi_epu64(self.zero, m, self.q))
        })
    }

    /// The canonical word of a residue below 2q.
    #[inline(always)]
    pub(in crate::arch) fn canonical(self, x: __m512i) -> __m512i {
        self.token.subtract_once(self.token.and(x, self.mask), self.q)
    }
}

impl Butterflies for IfmaModulus {
    const LAZY: bool = false;

    #[inline]
    fn stored(encoded: [u64; 2]) -> u64 {
        encoded[1]
    }

    #[inline(always)]
    fn restored(self, word: u64) -> [__m512i; 2] {
        self.with_factor(self.token.splat(word))
    }

    #[inline(always)]
    unsafe fn twiddle(self, table: *const u64, place: usize) -> [__m512i; 2] {
        // SAFETY: the caller promises that the table covers eight places from `place` on.
        self.with_factor(unsafe { self.token.load(table.add(place)) })
    }

    #[inline(always)]
    unsafe fn store_words(self, target: *mut u64, x: __m512i) {
        // SAFETY: the caller promises writable words.
        unsafe { self.token.store(target, x) }
    }

    #[inline(always)]
    fn forward(self, _reduce: bool, x: __m512i, y: __m512i, w: [__m512i; 2]) -> (__m512i, __m512i) {
        // With x reduced, the product is added to it as it is made; x - w y + 2q is 2x + 2q less
        // that sum.
        let x = self.reduce(x);
        vouched!(self.token, {
            let quotient = _mm512_madd52hi_epu64(self.zero, y, w[1]);
            let sum = _mm512_madd52lo_epu64(x, y, w[0]);
            let sum = _mm512_madd52lo_epu64(sum, quotient, self.minus_q);
            let doubled = _mm512_madd52lo_epu64(self.twice, x, self.two);
            (sum, self.token.sub(doubled, sum))
        })
    }

    #[inline(always)]
    fn inverse(self, _reduce: bool, x: __m512i, y: __m512i, w: [__m512i; 2]) -> (__m512i, __m512i) {
        let l = self.token;
        (self.reduce(l.add(x, y)), self.mul(l.sub(l.add(x, self.twice), y), w))
    }

    #[inline(always)]
    fn last(self, x: __m512i, y: __m512i, w: [[__m512i; 2]; 2]) -> (__m512i, __m512i) {
        let l = self.token;
        let sum = self.mul(l.add(x, y), w[0]);
        let difference = self.mul(l.sub(l.add(x, self.twice), y), w[1]);
        (self.canonical(sum), self.canonical(difference))
    }

    #[inline(always)]
    fn transpose_group(self, g: &mut [[__m512i; 8]; 2]) {
        self.transpose(&mut g[0]);
    }

    #[inline(always)]
    fn transpose_group_back(self, g: &mut [[__m512i; 8]; 2]) {
        self.transpose(&mut g[0]);
    }
}

/// A sum of products is low + 2^52 high, in units of 2^-52: weights carry a factor 2^52, and
/// Montgomery's reduction takes it off. Sums that begin with a residue begin with [`OFFSET`] q,
/// too, so that others may be subtracted from them.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    low: __m512i,
    high: __m512i,
}

/// A bound of sums, in units of q: of up to TERMS products below q each, of 2q where they begin,
/// and of q for Montgomery's reduction.
pub(in crate::arch) const OFFSET: u64 = 1024;
/// What [`IfmaModulus::reduce_sum`] reduces is below 2^12 q.
pub(in crate::arch) const LOG_SUM: u32 = 12;

/// Reduced residues are below 2q, wide ones below 4q.
impl Residues for IfmaModulus {
    const WIDTH: usize = 8;
    const LOG_RADIX: u32 = 4;
    const TERMS: usize = 512;
    type V = __m512i;
    type W = [__m512i; 2];
    type Sum = Sum;

    #[inline]
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        [w, q.scaled_quotient(w, 52)]
    }

    #[inline]
    fn encode_weight(q: Modulus, w: u64) -> u64 {
        q.reduce_u128(u128::from(w) << 52)
    }

    #[inline(always)]
    fn everywhere(self, encoded: [u64; 2]) -> [__m512i; 2] {
        [self.token.splat(encoded[0]), self.token.splat(encoded[1])]
    }

    #[inline(always)]
    fn zero(self) -> __m512i {
        self.zero
    }

    #[inline(always)]
    unsafe fn load(self, source: *const u64) -> __m512i {
        // SAFETY: the caller promises readable words.
        unsafe { self.token.load(source) }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64, x: __m512i) {
        // SAFETY: the caller promises writable words.
        unsafe { self.token.store(target, x) }
    }

    #[inline(always)]
    unsafe fn load_words(self, source: *const u64) -> __m512i {
        // SAFETY: the caller promises readable words.
        unsafe { self.token.load(source) }
    }

    #[inline(always)]
    unsafe fn store_canonical(self, target: *mut u64, x: __m512i) {
        // SAFETY: the caller promises writable words.
        unsafe { self.token.store(target, self.canonical(self.reduce(x))) }
    }

    #[inline(always)]
    fn reduce(self, x: __m512i) -> __m512i {
        vouched!(self.token, {
            let quotient = _mm512_madd52hi_epu64(self.zero, x, self.ratio);
            _mm512_madd52lo_epu64(x, quotient, self.minus_q)
        })
    }

    #[inline(always)]
    fn plus_minus(self, x: __m512i, y: __m512i) -> (__m512i, __m512i) {
        let l = self.token;
        (l.add(x, y), l.sub(l.add(x, self.twice), y))
    }

    #[inline(always)]
    fn mul(self, x: __m512i, w: [__m512i; 2]) -> __m512i {
        vouched!(self.token, {
            let quotient = _mm512_madd52hi_epu64(self.zero, x, w[1]);
            let product = _mm512_madd52lo_epu64(self.zero, x, w[0]);
            _mm512_madd52lo_epu64(product, quotient, self.minus_q)
        })
    }

    #[inline(always)]
    fn sum_from(self, x: __m512i) -> Sum {
        let l = self.token;
        Sum { low: self.zero, high: l.add(l.and(x, self.mask), self.offset) }
    }

    #[inline(always)]
    fn sum_zero(self) -> Sum {
        Sum { low: self.zero, high: self.zero }
    }

    #[inline(always)]
    fn sum_add(self, sum: Sum, x: __m512i, weight: u64) -> Sum {
        let w = self.token.splat(weight);
        vouched!(
            self.token,
            Sum {
                low: _mm512_madd52lo_epu64(sum.low, x, w),
                high: _mm512_madd52hi_epu64(sum.high, x, w)
            }
        )
    }

    #[inline(always)]
    fn sum_settle(self, x: Sum, y: Sum) -> (Sum, Sum) {
        let l = self.token;
        let (x, y) = (
            self.reduce_sum(self.montgomery(x)),
            self.reduce_sum(l.add(self.montgomery(y), self.q)),
        );
        (self.sum_from(x), Sum { low: self.zero, high: l.and(y, self.mask) })
    }

    #[inline(always)]
    fn sum_end(self, x: Sum) -> __m512i {
        self.reduce_sum(self.montgomery(x))
    }

    #[inline(always)]
    fn sum_plus_minus(self, x: Sum, y: Sum) -> (__m512i, __m512i) {
        let l = self.token;
        let (x, y) = (self.montgomery(x), self.montgomery(y));
        (self.reduce_sum(l.add(x, y)), self.reduce_sum(l.sub(x, y)))
    }

    #[inline(always)]
    fn transpose(self, v: &mut [__m512i; 8]) {
        let mut doubles = [vouched!(self.token, _mm512_castsi512_pd(self.zero)); 8];
        for a in 0..8 {
            doubles[a] = vouched!(self.token, _mm512_castsi512_pd(v[a]));
        }
        self.token.transpose_square(&mut doubles);
        for a in 0..8 {
            v[a] = vouched!(self.token, _mm512_castpd_si512(doubles[a]));
        }
    }
}
