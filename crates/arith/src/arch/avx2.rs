//! Four lanes: AVX2 with fused multiply-add.

use super::float::FloatModulus;
use super::lanes::Lanes;
use super::portable::ROUNDER;
use crate::modulus::Modulus;
use crate::packed::{MASK, PACKED_BITS};
use core::arch::x86_64::*;

/// Executes instructions on the strength of a token.
macro_rules! vouched {
    ($token:expr, $instructions:expr) => {{
        let Avx2(()) = $token;
        // SAFETY: the token exists only on processors with these instructions, and they touch
        // registers only.
        unsafe { $instructions }
    }};
}

/// Proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The nearest integers.
    #[inline(always)]
    fn round(self, x: __m256d) -> __m256d {
        vouched!(self, _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x))
    }

    /// # Safety
    /// [`Backend::Avx2`](crate::Backend::Avx2) must be available.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// 2^52: its bits with an integer below 2^52 or-ed in are the double 2^52 + that integer.
const TWO_52: f64 = 4_503_599_627_370_496.0;
/// 2^103, from which sums of products start: up to twice that, the unit of a double is 2^51.
pub(super) const START: f64 = TWO_52 * TWO_52 / 2.0;
/// Products of words below 2^50 that add up below [`START`], and as many halves of 2^51 to 2^53.
pub(super) const ROOM: usize = 8;
/// Products whose low parts add up to 2^52 at most.
pub(super) const FEW: usize = 4;
/// The byte at which the upper two of four packed residues are read: they end at byte 25.75.
const HALF: usize = 12;
/// A sum of products as [`START`] and a multiple of 2^51, and what is left: see
/// [`Lanes::sum_add`].
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    high: __m256d,
    low: __m256d,
}

impl Lanes for Avx2 {
    const WIDTH: usize = 4;
    const ROOM: usize = ROOM;
    const VECTORS: usize = 2;
    type U = __m256i;
    type F = __m256d;
    type Factor = __m256d;
    type Sum = Sum;
    type Reducer = FloatModulus<Avx2>;
    type Transform = FloatModulus<Avx2>;
    /// For each residue the eight bytes that it is among, and the bits ahead of it there.
    type Unpacker = [__m256i; 2];
    const PACKED_BYTES: usize = HALF + 16;

    #[inline(always)]
    unsafe fn load(self, source: *const u64) -> __m256i {
        // SAFETY: the caller promises four readable words.
        unsafe { _mm256_loadu_si256(source.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64, x: __m256i) {
        // SAFETY: the caller promises four writable words.
        unsafe { _mm256_storeu_si256(target.cast(), x) }
    }

    #[inline(always)]
    fn unpacker(self, phase: usize) -> [__m256i; 2] {
        // Within its half, the upper one of which begins at byte 12.
        let bit = |k: usize| (2 * phase + PACKED_BITS * k - 8 * HALF * (k / 2)) as u64;
        let bytes: [u64; 4] =
            std::array::from_fn(|k| bit(k) / 8 * 0x0101_0101_0101_0101 + 0x0706_0504_0302_0100);
        let shifts: [u64; 4] = std::array::from_fn(|k| bit(k) % 8);
        // SAFETY: arrays of four words.
        unsafe { [self.load(bytes.as_ptr()), self.load(shifts.as_ptr())] }
    }

    #[inline(always)]
    unsafe fn load_packed(self, source: *const u8, unpacker: [__m256i; 2]) -> __m256i {
        // SAFETY: the caller promises 28 readable bytes.
        unsafe {
            let low = _mm_loadu_si128(source.cast());
            let high = _mm_loadu_si128(source.add(HALF).cast());
            let bytes = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), unpacker[0]);
            _mm256_and_si256(_mm256_srlv_epi64(bytes, unpacker[1]), self.splat(MASK))
        }
    }

    #[inline(always)]
    unsafe fn load_halves(self, source: *const u32) -> __m256i {
        // SAFETY: the caller promises four readable half words.
        unsafe { _mm256_cvtepu32_epi64(_mm_loadu_si128(source.cast())) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, target: *mut u32, x: __m256i) {
        // SAFETY: the caller promises four writable half words.
        unsafe {
            let packed = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
            _mm_storeu_si128(target.cast(), _mm256_castsi256_si128(packed));
        }
    }

    #[inline(always)]
    unsafe fn load_f(self, source: *const f64) -> __m256d {
        // SAFETY: the caller promises four readable doubles.
        unsafe { _mm256_loadu_pd(source) }
    }

    #[inline(always)]
    unsafe fn store_f(self, target: *mut f64, x: __m256d) {
        // SAFETY: the caller promises four writable doubles.
        unsafe { _mm256_storeu_pd(target, x) }
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        vouched!(self, _mm256_set1_epi64x(x as i64))
    }

    #[inline(always)]
    fn splat_f(self, x: f64) -> __m256d {
        vouched!(self, _mm256_set1_pd(x))
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        vouched!(self, _mm256_add_epi64(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        vouched!(self, _mm256_sub_epi64(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        vouched!(self, _mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        vouched!(self, _mm256_xor_si256(a, b))
    }

    #[inline(always)]
    fn mul_halves(self, a: __m256i, b: __m256i) -> __m256i {
        vouched!(self, _mm256_mul_epu32(a, b))
    }

    #[inline(always)]
    fn add_halves(self, a: __m256i, b: __m256i) -> __m256i {
        vouched!(self, _mm256_add_epi32(a, b))
    }

    #[inline(always)]
    fn rotate_halves(self, x: __m256i, by: u32) -> __m256i {
        vouched!(self, {
            let left = _mm256_sllv_epi32(x, _mm256_set1_epi32(by as i32));
            _mm256_or_si256(left, _mm256_srlv_epi32(x, _mm256_set1_epi32(32 - by as i32)))
        })
    }

    #[inline(always)]
    fn raise_half(self, x: __m256i) -> __m256i {
        vouched!(self, _mm256_slli_epi64::<32>(x))
    }

    #[inline(always)]
    fn high_half(self, a: __m256i) -> __m256i {
        vouched!(self, _mm256_srli_epi64::<32>(a))
    }

    #[inline(always)]
    fn subtract_once(self, x: __m256i, m: __m256i) -> __m256i {
        let difference = self.sub(x, m);
        self.lift_negative(difference, m)
    }

    #[inline(always)]
    fn lift_negative(self, x: __m256i, m: __m256i) -> __m256i {
        vouched!(self, {
            let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
            _mm256_add_epi64(x, _mm256_and_si256(negative, m))
        })
    }

    #[inline(always)]
    fn add_f(self, a: __m256d, b: __m256d) -> __m256d {
        vouched!(self, _mm256_add_pd(a, b))
    }

    #[inline(always)]
    fn sub_f(self, a: __m256d, b: __m256d) -> __m256d {
        vouched!(self, _mm256_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul_f(self, a: __m256d, b: __m256d) -> __m256d {
        vouched!(self, _mm256_mul_pd(a, b))
    }

    #[inline(always)]
    fn mul_add_f(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        vouched!(self, _mm256_fmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn mul_sub_f(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        vouched!(self, _mm256_fmsub_pd(a, b, c))
    }

    #[inline(always)]
    fn neg_mul_add_f(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        vouched!(self, _mm256_fnmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn widen(self, x: __m256i) -> __m256d {
        vouched!(self, {
            let offset = _mm256_set1_pd(TWO_52);
            _mm256_sub_pd(
                _mm256_castsi256_pd(_mm256_or_si256(x, _mm256_castpd_si256(offset))),
                offset,
            )
        })
    }

    #[inline(always)]
    fn narrow(self, x: __m256d) -> __m256i {
        vouched!(self, {
            let offset = _mm256_set1_pd(ROUNDER);
            _mm256_sub_epi64(
                _mm256_castpd_si256(_mm256_add_pd(x, offset)),
                _mm256_castpd_si256(offset),
            )
        })
    }

    #[inline(always)]
    fn as_f(self, x: __m256i) -> __m256d {
        vouched!(self, _mm256_castsi256_pd(x))
    }

    #[inline(always)]
    fn transpose(self, g: &mut [[__m256d; 8]; 2]) {
        for half in g {
            let low = transpose_square(self, [half[0], half[1], half[2], half[3]]);
            let high = transpose_square(self, [half[4], half[5], half[6], half[7]]);
            for b in 0..4 {
                half[2 * b] = low[b];
                half[2 * b + 1] = high[b];
            }
        }
    }

    #[inline(always)]
    fn transpose_back(self, g: &mut [[__m256d; 8]; 2]) {
        for half in g {
            let low = transpose_square(self, [half[0], half[2], half[4], half[6]]);
            let high = transpose_square(self, [half[1], half[3], half[5], half[7]]);
            half[..4].copy_from_slice(&low);
            half[4..].copy_from_slice(&high);
        }
    }

    #[inline(always)]
    fn transpose_square(self, v: &mut [__m256d; 8]) {
        let square = transpose_square(self, [v[0], v[1], v[2], v[3]]);
        v[..4].copy_from_slice(&square);
    }

    #[inline(always)]
    fn factor(self, x: __m256i) -> __m256d {
        self.widen(x)
    }

    #[inline(always)]
    fn sum_zero(self) -> Sum {
        Sum { high: self.splat_f(START), low: self.splat_f(0.0) }
    }

    #[inline(always)]
    fn sum_add(self, sum: Sum, a: __m256d, b: __m256d) -> Sum {
        // `high` stays below 2^104, so it is rounded to a multiple of 2^51; the rest, at most 2^50
        // in magnitude, is what the second operation gives exactly, and at most eight of them add
        // up exactly.
        let high = self.mul_add_f(a, b, sum.high);
        let low = self.mul_add_f(a, b, self.sub_f(sum.high, high));
        Sum { high, low: self.add_f(sum.low, low) }
    }

    #[inline(always)]
    fn transform(self, q: Modulus) -> FloatModulus<Avx2> {
        FloatModulus::new(self, q)
    }

    #[inline(always)]
    fn reducer(self, q: Modulus) -> FloatModulus<Avx2> {
        FloatModulus::new(self, q)
    }

    #[inline(always)]
    fn sum_settle(self, sum: Sum, m: FloatModulus<Avx2>) -> Sum {
        Sum { high: self.splat_f(START), low: settled(sum, m) }
    }

    #[inline(always)]
    fn sum_reduce(self, sum: Sum, terms: usize, _small: bool, m: FloatModulus<Avx2>) -> __m256i {
        m.canonical(if terms <= FEW { few_settled(sum, m) } else { settled(sum, m) })
    }
}

/// A sum modulo q, at most (1/2 + 2^-50) q in magnitude. Its low part is at most 2^53, and is
/// reduced first.
#[inline(always)]
fn settled(sum: Sum, m: FloatModulus<Avx2>) -> __m256d {
    few_settled(Sum { low: without_multiples(sum.low, m), ..sum }, m)
}

/// [`settled`] for at most [`FEW`] products: the low part is at most 2^52, so what is left of the
/// high one, without [`START`], adds to it exactly.
#[inline(always)]
fn few_settled(sum: Sum, m: FloatModulus<Avx2>) -> __m256d {
    let token = m.lanes;
    let high = without_multiples(token.sub_f(sum.high, token.splat_f(START)), m);
    m.reduce(token.add_f(high, sum.low))
}

/// An integer x, |x| <= 2^53 q, minus a multiple of q: at most 5/2 q in magnitude, or 3/2 q if |x|
/// <= 2^52 q.
///
/// The quotient is rounded twice by 2^-53 of it, so that it is wrong by less than 2, or 1, and is
/// then the nearest integer to that.
#[inline(always)]
fn without_multiples(x: __m256d, m: FloatModulus<Avx2>) -> __m256d {
    let token = m.lanes;
    let quotient = token.round(token.mul_f(x, m.inverse));
    token.neg_mul_add_f(quotient, m.q, x)
}

/// Transposes a 4 x 4 matrix.
#[inline(always)]
fn transpose_square(token: Avx2, v: [__m256d; 4]) -> [__m256d; 4] {
    vouched!(token, {
        let a0 = _mm256_unpacklo_pd(v[0], v[1]);
        let a1 = _mm256_unpackhi_pd(v[0], v[1]);
        let a2 = _mm256_unpacklo_pd(v[2], v[3]);
        let a3 = _mm256_unpackhi_pd(v[2], v[3]);
        [
            _mm256_permute2f128_pd::<0x20>(a0, a2),
            _mm256_permute2f128_pd::<0x20>(a1, a3),
            _mm256_permute2f128_pd::<0x31>(a0, a2),
            _mm256_permute2f128_pd::<0x31>(a1, a3),
        ]
    })
}
