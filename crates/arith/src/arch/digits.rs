//! The kernels for integers in digits to a base below 2^32, over vectors: see [`super::vector`].

use super::lanes::Lanes;
use super::portable;
use super::vector::{add_terms, at, for_vectors, put, whole};
use crate::modulus::Modulus;

/// `slice[i..i + WIDTH]` as a vector.
#[inline(always)]
fn halves_at<L: Lanes>(l: L, slice: &[u32], i: usize) -> L::U {
    debug_assert!(i + L::WIDTH <= slice.len());
    // SAFETY: the kernels pass indices below whole(length) of slices of one checked length.
    unsafe { l.load_halves(slice.as_ptr().add(i)) }
}

#[inline(always)]
pub(crate) fn digit_residues<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    digits: &[&[u32]],
    weights: &[u64],
    offset: u64,
) {
    // At most MAX_DIGITS products below 2^82 and a residue.
    let reducer = l.reducer(q);
    let (constant, one) = (l.factor(l.splat(offset)), l.factor(l.splat(1)));
    // The constant is the first term.
    let done = for_vectors!(l, out, |i| {
        let mut sums = [[l.sum_zero()]];
        add_terms!(l, reducer, digits.len() + 1, sums, |terms| {
            let sum = &mut sums[0][0];
            if terms.start == 0 {
                *sum = l.sum_add(*sum, constant, one);
            }
            let rows = terms.start.max(1) - 1..terms.end - 1;
            for (row, &w) in digits[rows.clone()].iter().zip(&weights[rows]) {
                *sum = l.sum_add(*sum, l.factor(halves_at(l, row, i)), l.factor(l.splat(w)));
            }
        });
        put(l, out, i, l.sum_reduce(sums[0][0], digits.len() + 1, true, reducer));
    });
    portable::digit_residues_from(q, done, out, digits, weights, offset);
}

/// Vectors for which a weight is broadcast once.
const WIDE: usize = 4;

#[inline(always)]
pub(crate) fn multiply_add_halves<L: Lanes>(l: L, acc: &mut [u64], xs: &[&[u64]], weights: &[u32]) {
    let mut i = 0;
    while i + WIDE * L::WIDTH <= acc.len() {
        let mut sums: [L::U; WIDE] = std::array::from_fn(|k| at(l, acc, i + k * L::WIDTH));
        for (x, &w) in xs.iter().zip(weights) {
            let w = l.splat(u64::from(w));
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = l.add(*sum, l.mul_halves(at(l, x, i + k * L::WIDTH), w));
            }
        }
        for (k, sum) in sums.into_iter().enumerate() {
            put(l, acc, i + k * L::WIDTH, sum);
        }
        i += WIDE * L::WIDTH;
    }
    portable::multiply_add_halves_from(i, acc, xs, weights);
}

#[inline(always)]
pub(crate) fn carry_digits<L: Lanes>(
    l: L,
    base: u32,
    out: &mut [u32],
    acc: &[u64],
    carry: &mut [u64],
    constant: u32,
) {
    let (p, inverse) = (l.splat(u64::from(base)), l.splat_f(1.0 / f64::from(base)));
    let (rounder, shift) = (l.splat_f(portable::ROUNDER), l.splat_f((1u64 << 32) as f64));
    let (low_half, one, constants) =
        (l.splat(u64::from(u32::MAX)), l.splat(1), l.splat(u64::from(constant)));
    let done = for_vectors!(l, acc, |i| {
        let sum = l.add(l.add(at(l, acc, i), at(l, carry, i)), constants);
        // The sum is below 2^32 p, so the nearest integer to the rounded quotient is the quotient's
        // floor or one more.
        let real = l.mul_add_f(l.widen(l.high_half(sum)), shift, l.widen(l.and(sum, low_half)));
        let quotient = l.narrow(l.sub_f(l.mul_add_f(real, inverse, rounder), rounder));
        let rest = l.sub(sum, l.mul_halves(quotient, p));
        let excess = l.and(l.high_half(rest), one);
        // SAFETY: `out` has the length of `acc`, see `halves_at`.
        unsafe { l.store_halves(out.as_mut_ptr().add(i), l.lift_negative(rest, p)) };
        put(l, carry, i, l.sub(quotient, excess));
    });
    portable::carry_digits(base, &mut out[done..], &acc[done..], &mut carry[done..], constant);
}
