//! Eight lanes.

use super::ifma::IfmaModulus;
use super::{Avx512, vouched};
use crate::arch::lanes::Lanes;
use crate::kernels::MAX_TERMS;
use crate::modulus::Modulus;
use crate::packed::{MASK, PACKED_BITS};
use core::arch::x86_64::*;

/// The constants of [`Lanes::sum_reduce`]: powers of two modulo q with their 52-bit Shoup
/// quotients.
#[derive(Clone, Copy)]
pub(crate) struct Reducer {
    q: __m512i,
    /// -q modulo 2^52.
    minus_q: __m512i,
    /// floor(2^52 / q): the quotient of the factor 1.
    one: __m512i,
    /// 2^52 mod q.
    middle: [__m512i; 2],
    /// 2^102 mod q.
    top: [__m512i; 2],
}

/// Bits of the middle part of a sum that is not small.
pub(in crate::arch) const MIDDLE: u32 = 50;

/// Two vectors of 64-bit sums: of the low and of the high 52-bit halves of products.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    low: __m512i,
    high: __m512i,
}

impl Lanes for Avx512 {
    const WIDTH: usize = 8;
    const ROOM: usize = MAX_TERMS;
    const VECTORS: usize = 1;
    type U = __m512i;
    type F = __m512d;
    type Factor = __m512i;
    type Sum = Sum;
    type Reducer = Reducer;
    type Transform = IfmaModulus;
    /// For each residue the four half words that it is among, and the bits ahead of it there.
    type Unpacker = [__m512i; 2];
    const PACKED_BYTES: usize = 64;

    #[inline(always)]
    unsafe fn load(self, source: *const u64) -> __m512i {
        // SAFETY: the caller promises eight readable words.
        unsafe { _mm512_loadu_si512(source.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64, x: __m512i) {
        // SAFETY: the caller promises eight writable words.
        unsafe { _mm512_storeu_si512(target.cast(), x) }
    }

    #[inline(always)]
    fn unpacker(self, phase: usize) -> [__m512i; 2] {
        let bit = |k: usize| (2 * phase + PACKED_BITS * k) as u64;
        let halves: [u64; 8] =
            std::array::from_fn(|k| bit(k) / 16 * 0x0001_0001_0001_0001 + 0x0003_0002_0001_0000);
        let shifts: [u64; 8] = std::array::from_fn(|k| bit(k) % 16);
        // SAFETY: arrays of eight words.
        unsafe { [self.load(halves.as_ptr()), self.load(shifts.as_ptr())] }
    }

    #[inline(always)]
    unsafe fn load_packed(self, source: *const u8, unpacker: [__m512i; 2]) -> __m512i {
        // The shifts are even and below 16: 50 bits are left.
        // SAFETY: the caller promises 64 readable bytes.
        unsafe {
            let halves = _mm512_permutexvar_epi16(unpacker[0], _mm512_loadu_si512(source.cast()));
            _mm512_and_si512(_mm512_srlv_epi64(halves, unpacker[1]), self.splat(MASK))
        }
    }

    #[inline(always)]
    unsafe fn load_halves(self, source: *const u32) -> __m512i {
        // SAFETY: the caller promises eight readable half words.
        unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(source.cast())) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, target: *mut u32, x: __m512i) {
        // SAFETY: the caller promises eight writable half words.
        unsafe { _mm256_storeu_si256(target.cast(), _mm512_cvtepi64_epi32(x)) }
    }

    #[inline(always)]
    unsafe fn load_f(self, source: *const f64) -> __m512d {
        // SAFETY: the caller promises eight readable doubles.
        unsafe { _mm512_loadu_pd(source) }
    }

    #[inline(always)]
    unsafe fn store_f(self, target: *mut f64, x: __m512d) {
        // SAFETY: the caller promises eight writable doubles.
        unsafe { _mm512_storeu_pd(target, x) }
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        vouched!(self, _mm512_set1_epi64(x as i64))
    }

    #[inline(always)]
    fn splat_f(self, x: f64) -> __m512d {
        vouched!(self, _mm512_set1_pd(x))
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        vouched!(self, _mm512_add_epi64(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        vouched!(self, _mm512_sub_epi64(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        vouched!(self, _mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        vouched!(self, _mm512_xor_si512(a, b))
    }

    #[inline(always)]
    fn mul_halves(self, a: __m512i, b: __m512i) -> __m512i {
        vouched!(self, _mm512_mul_epu32(a, b))
    }

    #[inline(always)]
    fn add_halves(self, a: __m512i, b: __m512i) -> __m512i {
        vouched!(self, _mm512_add_epi32(a, b))
    }

    #[inline(always)]
    fn rotate_halves(self, x: __m512i, by: u32) -> __m512i {
        vouched!(self, _mm512_rolv_epi32(x, _mm512_set1_epi32(by as i32)))
    }

    #[inline(always)]
    fn raise_half(self, x: __m512i) -> __m512i {
        vouched!(self, _mm512_slli_epi64::<32>(x))
    }

    #[inline(always)]
    fn high_half(self, a: __m512i) -> __m512i {
        vouched!(self, _mm512_srli_epi64::<32>(a))
    }

    #[inline(always)]
    fn subtract_once(self, x: __m512i, m: __m512i) -> __m512i {
        // A negative difference wraps to a word above every x.
        vouched!(self, _mm512_min_epu64(x, _mm512_sub_epi64(x, m)))
    }

    #[inline(always)]
    fn lift_negative(self, x: __m512i, m: __m512i) -> __m512i {
        vouched!(self, _mm512_min_epu64(x, _mm512_add_epi64(x, m)))
    }

    #[inline(always)]
    fn add_f(self, a: __m512d, b: __m512d) -> __m512d {
        vouched!(self, _mm512_add_pd(a, b))
    }

    #[inline(always)]
    fn sub_f(self, a: __m512d, b: __m512d) -> __m512d {
        vouched!(self, _mm512_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul_f(self, a: __m512d, b: __m512d) -> __m512d {
        vouched!(self, _mm512_mul_pd(a, b))
    }

    #[inline(always)]
    fn mul_add_f(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        vouched!(self, _mm512_fmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn mul_sub_f(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        vouched!(self, _mm512_fmsub_pd(a, b, c))
    }

    #[inline(always)]
    fn neg_mul_add_f(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        vouched!(self, _mm512_fnmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn widen(self, x: __m512i) -> __m512d {
        vouched!(self, _mm512_cvtepu64_pd(x))
    }

    #[inline(always)]
    fn narrow(self, x: __m512d) -> __m512i {
        vouched!(self, _mm512_cvtpd_epi64(x))
    }

    #[inline(always)]
    fn as_f(self, x: __m512i) -> __m512d {
        vouched!(self, _mm512_castsi512_pd(x))
    }

    #[inline(always)]
    fn transpose(self, g: &mut [[__m512d; 8]; 2]) {
        self.transpose_square(&mut g[0]);
    }

    #[inline(always)]
    fn transpose_back(self, g: &mut [[__m512d; 8]; 2]) {
        self.transpose_square(&mut g[0]);
    }

    #[inline(always)]
    fn transpose_square(self, v: &mut [__m512d; 8]) {
        *v = vouched!(self, {
            // Pairs of neighbors, then pairs of pairs, then halves.
            let (a0, a1) = (_mm512_unpacklo_pd(v[0], v[1]), _mm512_unpackhi_pd(v[0], v[1]));
            let (a2, a3) = (_mm512_unpacklo_pd(v[2], v[3]), _mm512_unpackhi_pd(v[2], v[3]));
            let (a4, a5) = (_mm512_unpacklo_pd(v[4], v[5]), _mm512_unpackhi_pd(v[4], v[5]));
            let (a6, a7) = (_mm512_unpacklo_pd(v[6], v[7]), _mm512_unpackhi_pd(v[6], v[7]));
            // 128-bit pieces 0, 2 of both operands (0x88) or 1, 3 (0xDD).
            let b0 = _mm512_shuffle_f64x2::<0x88>(a0, a2);
            let b1 = _mm512_shuffle_f64x2::<0x88>(a1, a3);
            let b2 = _mm512_shuffle_f64x2::<0xDD>(a0, a2);
            let b3 = _mm512_shuffle_f64x2::<0xDD>(a1, a3);
            let b4 = _mm512_shuffle_f64x2::<0x88>(a4, a6);
            let b5 = _mm512_shuffle_f64x2::<0x88>(a5, a7);
            let b6 = _mm512_shuffle_f64x2::<0xDD>(a4, a6);
            let b7 = _mm512_shuffle_f64x2::<0xDD>(a5, a7);
            [
                _mm512_shuffle_f64x2::<0x88>(b0, b4),
                _mm512_shuffle_f64x2::<0x88>(b1, b5),
                _mm512_shuffle_f64x2::<0x88>(b2, b6),
                _mm512_shuffle_f64x2::<0x88>(b3, b7),
                _mm512_shuffle_f64x2::<0xDD>(b0, b4),
                _mm512_shuffle_f64x2::<0xDD>(b1, b5),
                _mm512_shuffle_f64x2::<0xDD>(b2, b6),
                _mm512_shuffle_f64x2::<0xDD>(b3, b7),
            ]
        });
    }

    #[inline(always)]
    fn factor(self, x: __m512i) -> __m512i {
        x
    }

    #[inline(always)]
    fn sum_zero(self) -> Sum {
        Sum { low: self.splat(0), high: self.splat(0) }
    }

    #[inline(always)]
    fn sum_add(self, sum: Sum, a: __m512i, b: __m512i) -> Sum {
        vouched!(
            self,
            Sum {
                low: _mm512_madd52lo_epu64(sum.low, a, b),
                high: _mm512_madd52hi_epu64(sum.high, a, b)
            }
        )
    }

    #[inline(always)]
    fn transform(self, q: Modulus) -> IfmaModulus {
        IfmaModulus::new(self, q)
    }

    #[inline(always)]
    fn reducer(self, q: Modulus) -> Reducer {
        let shoup = |w: u64| [self.splat(w), self.splat(q.scaled_quotient(w, 52))];
        Reducer {
            q: self.splat(q.value()),
            minus_q: self.splat((1 << 52) - q.value()),
            one: self.splat((1 << 52) / q.value()),
            middle: shoup(q.reduce_u128(1 << 52)),
            top: shoup(q.reduce_u128(1 << (52 + MIDDLE))),
        }
    }

    #[inline(always)]
    fn sum_settle(self, sum: Sum, _reducer: Reducer) -> Sum {
        sum
    }

    #[inline(always)]
    fn sum_reduce(self, sum: Sum, _terms: usize, small: bool, r: Reducer) -> __m512i {
        // The sum is low + 2^52 high with low < 2^63 and high < 2^61. Write it as low + 2^52
        // middle + 2^102 top with low < 2^52, and divide the parts by q at once, Shoup's way: each
        // of the quotients loses less than 1 by its floor, and the rounding of the constants loses
        // less than middle / 2^52 and f = 2^52/q - floor(2^52/q). If the sum is small, top = 0 and
        // middle < 2^52: the remainder is below (3 + f) q < 2^52, and below 4q. Else middle < 2^50
        // and top < 2^12: the remainder is below (13/4 + f) q < 2^52, and below 5q.
        vouched!(self, {
            let zero = _mm512_setzero_si512();
            let high = _mm512_add_epi64(sum.high, _mm512_srli_epi64::<52>(sum.low));
            let mut middle = high;
            let mut quotient = _mm512_madd52hi_epu64(zero, sum.low, r.one);
            let mut remainder = sum.low;
            if !small {
                let top = _mm512_srli_epi64::<MIDDLE>(high);
                middle = _mm512_and_si512(high, _mm512_set1_epi64((1 << MIDDLE) - 1));
                quotient = _mm512_madd52hi_epu64(quotient, top, r.top[1]);
                remainder = _mm512_madd52lo_epu64(remainder, top, r.top[0]);
            }
            quotient = _mm512_madd52hi_epu64(quotient, middle, r.middle[1]);
            remainder = _mm512_madd52lo_epu64(remainder, middle, r.middle[0]);
            remainder = _mm512_madd52lo_epu64(remainder, quotient, r.minus_q);
            let mut x = _mm512_and_si512(remainder, _mm512_set1_epi64((1 << 52) - 1));
            let twice = _mm512_add_epi64(r.q, r.q);
            if !small {
                x = self.subtract_once(x, _mm512_add_epi64(twice, twice));
            }
            self.subtract_once(self.subtract_once(x, twice), r.q)
        })
    }
}
