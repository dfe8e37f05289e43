//! Butterflies on the 52-bit multiply-add of AVX-512.

use super::butterfly::Butterflies;
use crate::Modulus;
use crate::arch::avx512::{Avx512, vouched};
use crate::arch::lanes::Lanes;
use core::arch::x86_64::*;

/// Residues as integers modulo 2^52: a lane stands for its low 52 bits, whose value is below 4q < 2^52. What is above
/// bit 52 is left over from carries and never matters: products ignore it, additions keep it out of the low bits.
///
/// No comparison is needed before the end. A residue x is reduced by subtracting floor(x r / 2^52) q with
/// r = floor(2^52 / q): two instructions, the result is below 2q. A product by a twiddle w with the quotient
/// w' = floor(2^52 w / q) is w x - floor(x w' / 2^52) q, below 2q for every x (Shoup).
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
    mask: __m512i,
}

impl IfmaModulus {
    #[inline(always)]
    pub(crate) fn new(token: Avx512, q: Modulus) -> Self {
        Self {
            token,
            zero: token.splat(0),
            minus_q: token.splat((1 << 52) - q.value()),
            ratio: token.splat((1 << 52) / q.value()),
            q: token.splat(q.value()),
            twice: token.splat(2 * q.value()),
            mask: token.splat((1 << 52) - 1),
        }
    }

    /// From below 2^52 to below 2q.
    #[inline(always)]
    fn reduce(self, x: __m512i) -> __m512i {
        vouched!(self.token, {
            let quotient = _mm512_madd52hi_epu64(self.zero, x, self.ratio);
            _mm512_madd52lo_epu64(x, quotient, self.minus_q)
        })
    }

    /// w x, below 2q, for any x.
    #[inline(always)]
    fn mul(self, x: __m512i, w: [__m512i; 2]) -> __m512i {
        vouched!(self.token, {
            let quotient = _mm512_madd52hi_epu64(self.zero, x, w[1]);
            let product = _mm512_madd52lo_epu64(self.zero, x, w[0]);
            _mm512_madd52lo_epu64(product, quotient, self.minus_q)
        })
    }

    /// The canonical word of a residue below 2q.
    #[inline(always)]
    fn canonical(self, x: __m512i) -> __m512i {
        self.token.subtract_once(self.token.and(x, self.mask), self.q)
    }
}

impl Butterflies for IfmaModulus {
    const WIDTH: usize = 8;
    const WORDS: usize = 2;
    const LAZY: bool = false;
    type V = __m512i;
    type W = [__m512i; 2];

    #[inline]
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        [w, q.scaled_quotient(w, 52)]
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
    unsafe fn twiddle(self, table: *const u64, place: usize) -> [__m512i; 2] {
        // SAFETY: the caller promises that the table covers eight places from `place` on, two words each.
        unsafe { [self.token.load(table.add(2 * place)), self.token.load(table.add(2 * place + 8))] }
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
    unsafe fn store_words(self, target: *mut u64, x: __m512i) {
        // SAFETY: the caller promises writable words.
        unsafe { self.token.store(target, x) }
    }
    #[inline(always)]
    unsafe fn store_canonical(self, target: *mut u64, x: __m512i) {
        // SAFETY: the caller promises writable words.
        unsafe { self.token.store(target, self.canonical(self.reduce(x))) }
    }
    #[inline(always)]
    fn forward(self, _reduce: bool, x: __m512i, y: __m512i, w: [__m512i; 2]) -> (__m512i, __m512i) {
        let l = self.token;
        let (x, y) = (self.reduce(x), self.mul(y, w));
        (l.add(x, y), l.sub(l.add(x, self.twice), y))
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
    fn transpose(self, g: &mut [[__m512i; 8]; 2]) {
        let mut doubles = [[vouched!(self.token, _mm512_castsi512_pd(self.zero)); 8]; 2];
        for a in 0..8 {
            doubles[0][a] = vouched!(self.token, _mm512_castsi512_pd(g[0][a]));
        }
        self.token.transpose(&mut doubles);
        for a in 0..8 {
            g[0][a] = vouched!(self.token, _mm512_castpd_si512(doubles[0][a]));
        }
    }
    #[inline(always)]
    fn transpose_back(self, g: &mut [[__m512i; 8]; 2]) {
        self.transpose(g);
    }
}
