//! The kernels over vectors: whole vectors here, the last few words by the portable bodies.
//!
//! Every function expects slices of equal length, which the public kernels have checked.

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use super::float::FloatModulus;
use super::lanes::Lanes;
use super::portable;
use crate::modulus::Modulus;

/// Number of words of `length` that whole vectors cover.
#[inline(always)]
pub(super) fn whole<L: Lanes>(length: usize) -> usize {
    length - length % L::WIDTH
}

/// `slice[i..i + WIDTH]` as a vector.
#[inline(always)]
pub(super) fn at<L: Lanes>(l: L, slice: &[u64], i: usize) -> L::U {
    debug_assert!(i + L::WIDTH <= slice.len());
    // SAFETY: the kernels pass indices below whole(length) of slices of one checked length.
    unsafe { l.load(slice.as_ptr().add(i)) }
}

/// Writes a vector to `slice[i..i + WIDTH]`.
#[inline(always)]
pub(super) fn put<L: Lanes>(l: L, slice: &mut [u64], i: usize, x: L::U) {
    debug_assert!(i + L::WIDTH <= slice.len());
    // SAFETY: as in `at`.
    unsafe { l.store(slice.as_mut_ptr().add(i), x) }
}

/// Writes the bits of a vector of doubles to `slice[i..i + WIDTH]`.
#[inline(always)]
pub(super) fn put_bits<L: Lanes>(l: L, slice: &mut [u64], i: usize, x: L::F) {
    assert!(i + L::WIDTH <= slice.len(), "room for a vector");
    // SAFETY: as just checked; doubles are written as words.
    unsafe { l.store_f(slice.as_mut_ptr().add(i).cast(), x) }
}

/// How many vectors ahead of their use the factors of an inner product are asked for.
const AHEAD: usize = 16;

/// [`at`], for one of many streams from far: the processor's own prefetching stops at the end of
/// each page, so the line that comes [`AHEAD`] vectors later is asked for here.
#[inline(always)]
pub(super) fn stream<L: Lanes>(l: L, slice: &[u64], i: usize) -> L::U {
    // SAFETY: a hint: any address will do.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(i + AHEAD * L::WIDTH).cast())
    };
    at(l, slice, i)
}

/// The residues of a packed slice from bit 8 `byte` and a phase on, which `unpacker` knows; if
/// `ahead`, those to come are asked for as by [`stream`].
#[inline(always)]
pub(super) fn stream_packed<L: Lanes>(
    l: L,
    packed: &[u64],
    byte: usize,
    unpacker: L::Unpacker,
    ahead: bool,
) -> L::U {
    debug_assert!(byte + L::PACKED_BYTES <= 8 * packed.len());
    let first = packed.as_ptr().cast::<u8>();
    if ahead {
        // SAFETY: a hint: any address will do.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(byte + 8 * AHEAD * L::WIDTH).cast())
        };
    }
    // SAFETY: the residues are among those that the kernels have checked the slice to hold, after
    // which there are two more words: at most 14 bytes more than the residues have are read.
    unsafe { l.load_packed(first.add(byte), unpacker) }
}

/// A constant factor c < q as a double of least magnitude.
#[inline(always)]
pub(super) fn constant<L: Lanes>(l: L, q: Modulus, c: u64) -> L::F {
    l.splat_f(q.centered(c) as f64)
}

/// Sums of fewer products of words below 2^50 are small: see
/// [`Lanes::sum_reduce`](super::lanes::Lanes::sum_reduce).
pub(super) const SMALL: usize = 16;

/// Runs `$body` for each vector start `$i` below the length of `$slice`; gives the number of words
/// covered.
macro_rules! for_vectors {
    ($l:expr, $slice:expr, |$i:ident| $body:expr) => {{
        let covered = whole::<L>($slice.len());
        let mut $i = 0;
        while $i < covered {
            $body;
            $i += L::WIDTH;
        }
        covered
    }};
}

#[inline(always)]
pub(crate) fn add_assign<L: Lanes>(l: L, q: Modulus, a: &mut [u64], b: &[u64]) {
    let m = l.splat(q.value());
    let done = for_vectors!(l, a, |i| {
        let sum = l.add(at(l, a, i), at(l, b, i));
        put(l, a, i, l.subtract_once(sum, m));
    });
    portable::add_assign(q, &mut a[done..], &b[done..]);
}

#[inline(always)]
pub(crate) fn sub_assign<L: Lanes>(l: L, q: Modulus, a: &mut [u64], b: &[u64]) {
    let m = l.splat(q.value());
    let done = for_vectors!(l, a, |i| {
        let difference = l.sub(at(l, a, i), at(l, b, i));
        put(l, a, i, l.lift_negative(difference, m));
    });
    portable::sub_assign(q, &mut a[done..], &b[done..]);
}

#[inline(always)]
pub(crate) fn neg_assign<L: Lanes>(l: L, q: Modulus, a: &mut [u64]) {
    let (m, zero) = (l.splat(q.value()), l.splat(0));
    let done = for_vectors!(l, a, |i| {
        let negative = l.sub(zero, at(l, a, i));
        put(l, a, i, l.lift_negative(negative, m));
    });
    portable::neg_assign(q, &mut a[done..]);
}

#[inline(always)]
pub(crate) fn add<L: Lanes>(l: L, q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    let m = l.splat(q.value());
    let done = for_vectors!(l, out, |i| {
        let sum = l.add(at(l, a, i), at(l, b, i));
        put(l, out, i, l.subtract_once(sum, m));
    });
    portable::add(q, &mut out[done..], &a[done..], &b[done..]);
}

#[inline(always)]
pub(crate) fn sub<L: Lanes>(l: L, q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    let m = l.splat(q.value());
    let done = for_vectors!(l, out, |i| {
        let difference = l.sub(at(l, a, i), at(l, b, i));
        put(l, out, i, l.lift_negative(difference, m));
    });
    portable::sub(q, &mut out[done..], &a[done..], &b[done..]);
}

#[inline(always)]
pub(crate) fn mul<L: Lanes>(l: L, q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    let m = FloatModulus::new(l, q);
    let done = for_vectors!(l, out, |i| {
        let product = m.mul(l.widen(at(l, a, i)), l.widen(at(l, b, i)));
        put(l, out, i, m.canonical(product));
    });
    portable::mul(q, &mut out[done..], &a[done..], &b[done..]);
}

#[inline(always)]
pub(crate) fn mul_assign<L: Lanes>(l: L, q: Modulus, a: &mut [u64], b: &[u64]) {
    let m = FloatModulus::new(l, q);
    let done = for_vectors!(l, a, |i| {
        let product = m.mul(l.widen(at(l, a, i)), l.widen(at(l, b, i)));
        put(l, a, i, m.canonical(product));
    });
    portable::mul_assign(q, &mut a[done..], &b[done..]);
}

#[inline(always)]
pub(crate) fn mul_add_assign<L: Lanes>(l: L, q: Modulus, acc: &mut [u64], a: &[u64], b: &[u64]) {
    let m = FloatModulus::new(l, q);
    let done = for_vectors!(l, acc, |i| {
        let product = m.mul(l.widen(at(l, a, i)), l.widen(at(l, b, i)));
        let sum = l.add(m.canonical(product), at(l, acc, i));
        put(l, acc, i, l.subtract_once(sum, m.word));
    });
    portable::mul_add_assign(q, &mut acc[done..], &a[done..], &b[done..]);
}

#[inline(always)]
pub(crate) fn scalar_mul<L: Lanes>(l: L, q: Modulus, out: &mut [u64], a: &[u64], c: u64) {
    let (m, factor) = (FloatModulus::new(l, q), constant(l, q, c));
    let done = for_vectors!(l, out, |i| {
        put(l, out, i, m.canonical(m.mul(l.widen(at(l, a, i)), factor)));
    });
    portable::scalar_mul(q, &mut out[done..], &a[done..], c);
}

#[inline(always)]
pub(crate) fn scalar_mul_assign<L: Lanes>(l: L, q: Modulus, a: &mut [u64], c: u64) {
    let (m, factor) = (FloatModulus::new(l, q), constant(l, q, c));
    let done = for_vectors!(l, a, |i| {
        put(l, a, i, m.canonical(m.mul(l.widen(at(l, a, i)), factor)));
    });
    portable::scalar_mul_assign(q, &mut a[done..], c);
}

#[inline(always)]
pub(crate) fn scalar_mul_add_assign<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    a: &[u64],
    c: u64,
) {
    let (m, factor) = (FloatModulus::new(l, q), constant(l, q, c));
    let done = for_vectors!(l, out, |i| {
        let sum = l.add(m.canonical(m.mul(l.widen(at(l, a, i)), factor)), at(l, out, i));
        put(l, out, i, l.subtract_once(sum, m.word));
    });
    portable::scalar_mul_add_assign(q, &mut out[done..], &a[done..], c);
}

pub(super) use for_vectors;

/// Runs `$body`, which adds products to `$sums`, an array of arrays of sums, for ranges of terms
/// that the sums have room for, up to `$terms` of them.
macro_rules! add_terms {
    ($l:expr, $reducer:expr, $terms:expr, $sums:ident, |$range:ident| $body:expr) => {{
        let (terms, mut start, mut end) = ($terms, 0, L::ROOM.min($terms));
        loop {
            let $range = start..end;
            $body;
            if end == terms {
                break;
            }
            for sum in $sums.iter_mut().flatten() {
                *sum = $l.sum_settle(*sum, $reducer);
            }
            (start, end) = (end, terms.min(end + L::ROOM - 1));
        }
    }};
}

pub(super) use add_terms;

/// [`weighted_sum`] by V vectors at a time from a place on, in whole ones; gives the place of the
/// first word that is left.
#[inline(always)]
fn weighted_sums<L: Lanes, const V: usize>(
    l: L,
    q: Modulus,
    from: usize,
    out: &mut [u64],
    xs: &[&[u64]],
    weights: &[u64],
) -> usize {
    // Products of words below 2^50 and residues are below 2^100.
    let (reducer, terms, step) = (l.reducer(q), xs.len(), V * L::WIDTH);
    let small = terms < SMALL;
    let mut i = from;
    while i + step <= out.len() {
        let mut sums = [[l.sum_zero(); V]];
        add_terms!(l, reducer, terms, sums, |some| {
            for (x, &w) in xs[some.clone()].iter().zip(&weights[some]) {
                let w = l.factor(l.splat(w));
                for (v, sum) in sums[0].iter_mut().enumerate() {
                    *sum = l.sum_add(*sum, l.factor(at(l, x, i + v * L::WIDTH)), w);
                }
            }
        });
        for (v, &sum) in sums[0].iter().enumerate() {
            put(l, out, i + v * L::WIDTH, l.sum_reduce(sum, terms, small, reducer));
        }
        i += step;
    }
    i
}

#[inline(always)]
pub(crate) fn weighted_sum<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    xs: &[&[u64]],
    weights: &[u64],
) {
    // Two lines for a constant that is read.
    let done = match L::VECTORS {
        1 => weighted_sums::<L, 1>(l, q, 0, out, xs, weights),
        _ => weighted_sums::<L, 4>(l, q, 0, out, xs, weights),
    };
    let done = weighted_sums::<L, 1>(l, q, done, out, xs, weights);
    portable::weighted_sum_from(q, done, out, xs, weights);
}

#[inline(always)]
pub(crate) fn rounded_quotient<L: Lanes>(l: L, out: &mut [u64], ys: &[&[u64]], inverses: &[f64]) {
    let rounder = l.splat_f(portable::ROUNDER);
    let done = for_vectors!(l, out, |i| {
        let mut sum = l.splat_f(0.0);
        for (y, &inverse) in ys.iter().zip(inverses) {
            sum = l.add_f(sum, l.mul_f(l.widen(at(l, y, i)), l.splat_f(inverse)));
        }
        put(l, out, i, l.narrow(l.sub_f(l.add_f(sum, rounder), rounder)));
    });
    portable::rounded_quotient_from(done, out, ys, inverses);
}

#[inline(always)]
pub(crate) fn sub_scale<L: Lanes>(l: L, q: Modulus, x: &mut [u64], v: &[u64], c: u64) {
    let (m, factor) = (FloatModulus::new(l, q), constant(l, q, c));
    let done = for_vectors!(l, x, |i| {
        let difference = l.sub_f(l.widen(at(l, x, i)), l.widen(at(l, v, i)));
        put(l, x, i, m.canonical(m.mul(difference, factor)));
    });
    portable::sub_scale(q, &mut x[done..], &v[done..], c);
}

#[inline(always)]
pub(crate) fn scale_sub<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    x: &[u64],
    cx: u64,
    v: &[u64],
    cv: u64,
) {
    let m = FloatModulus::new(l, q);
    let (x_factor, v_factor) = (constant(l, q, cx), constant(l, q, cv));
    let twice = l.add(m.word, m.word);
    let done = for_vectors!(l, out, |i| {
        let left = m.mul(l.widen(at(l, x, i)), x_factor);
        let right = m.mul(l.widen(at(l, v, i)), v_factor);
        // Each product is below 5/8 q in magnitude, the difference below 5/4 q.
        let difference = l.lift_negative(l.narrow(l.sub_f(left, right)), twice);
        put(l, out, i, l.subtract_once(difference, m.word));
    });
    portable::scale_sub(q, &mut out[done..], &x[done..], cx, &v[done..], cv);
}

#[inline(always)]
pub(crate) fn reduce_assign<L: Lanes>(l: L, q: Modulus, a: &mut [u64]) {
    let m = FloatModulus::new(l, q);
    let done = for_vectors!(l, a, |i| {
        put(l, a, i, m.canonical(m.reduce(l.widen(at(l, a, i)))));
    });
    portable::reduce_assign(q, &mut a[done..]);
}

#[inline(always)]
pub(crate) fn from_signed<L: Lanes>(l: L, q: Modulus, out: &mut [u64], a: &[i64]) {
    let m = FloatModulus::new(l, q);
    // x + 2^63 is unsigned: high 2^32 + low with two halves of 32 bits, each exact as a double.
    let (sign, low_half) = (l.splat(1 << 63), l.splat(u64::from(u32::MAX)));
    let weight = constant(l, q, q.reduce_u64(1 << 32));
    let offset = constant(l, q, q.reduce_u64(1 << 63));
    let done = for_vectors!(l, out, |i| {
        // SAFETY: `a` has the length of `out`, and signed words may be read as words.
        let x = l.xor(unsafe { l.load(a.as_ptr().add(i).cast()) }, sign);
        let high = m.mul(l.widen(l.high_half(x)), weight);
        let low = l.sub_f(l.widen(l.and(x, low_half)), offset);
        // Below 2^32 + 3/2 q in magnitude.
        put(l, out, i, m.canonical(m.reduce(l.add_f(high, low))));
    });
    portable::from_signed(q, &mut out[done..], &a[done..]);
}
