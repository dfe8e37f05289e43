//! The kernels in plain integer code: the oracle of the vector bodies, and what finishes the ends
//! of their slices.

pub(crate) use super::portable_bits::unpack_residues;
use crate::modulus::{Modulus, wide_product};
use crate::packed::residue_at;

/// 1.5 * 2^52: adding it to a number of magnitude below 2^51 leaves the nearest integer (ties to
/// even) in the low bits.
pub(crate) const ROUNDER: f64 = 6_755_399_441_055_744.0;

pub(crate) fn add_assign(q: Modulus, a: &mut [u64], b: &[u64]) {
    for (x, &y) in a.iter_mut().zip(b) {
        *x = q.add(*x, y);
    }
}

pub(crate) fn sub_assign(q: Modulus, a: &mut [u64], b: &[u64]) {
    for (x, &y) in a.iter_mut().zip(b) {
        *x = q.sub(*x, y);
    }
}

pub(crate) fn neg_assign(q: Modulus, a: &mut [u64]) {
    for x in a {
        *x = q.neg(*x);
    }
}

pub(crate) fn add(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    for ((o, &x), &y) in out.iter_mut().zip(a).zip(b) {
        *o = q.add(x, y);
    }
}

pub(crate) fn sub(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    for ((o, &x), &y) in out.iter_mut().zip(a).zip(b) {
        *o = q.sub(x, y);
    }
}

pub(crate) fn mul(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    for ((o, &x), &y) in out.iter_mut().zip(a).zip(b) {
        *o = q.mul(x, y);
    }
}

pub(crate) fn mul_assign(q: Modulus, a: &mut [u64], b: &[u64]) {
    for (x, &y) in a.iter_mut().zip(b) {
        *x = q.mul(*x, y);
    }
}

pub(crate) fn mul_add_assign(q: Modulus, acc: &mut [u64], a: &[u64], b: &[u64]) {
    for ((o, &x), &y) in acc.iter_mut().zip(a).zip(b) {
        *o = q.mul_add(x, y, *o);
    }
}

pub(crate) fn scalar_mul(q: Modulus, out: &mut [u64], a: &[u64], c: u64) {
    let c = q.shoup(c);
    for (o, &x) in out.iter_mut().zip(a) {
        *o = q.mul_shoup(x, c);
    }
}

pub(crate) fn scalar_mul_assign(q: Modulus, a: &mut [u64], c: u64) {
    let c = q.shoup(c);
    for x in a {
        *x = q.mul_shoup(*x, c);
    }
}

pub(crate) fn scalar_mul_add_assign(q: Modulus, out: &mut [u64], a: &[u64], c: u64) {
    let c = q.shoup(c);
    for (o, &x) in out.iter_mut().zip(a) {
        *o = q.add(*o, q.mul_shoup(x, c));
    }
}

/// How the right factors of an inner product are stored.
pub(crate) trait Stored: Copy {
    /// Residue i of a slice.
    fn residue(self, slice: &[u64], i: usize) -> u64;
}

/// As words.
#[derive(Clone, Copy)]
pub(crate) struct Words;

impl Stored for Words {
    #[inline(always)]
    fn residue(self, slice: &[u64], i: usize) -> u64 {
        slice[i]
    }
}

/// Packed, from this place on.
#[derive(Clone, Copy)]
pub(crate) struct PackedFrom(pub(crate) usize);

impl Stored for PackedFrom {
    #[inline(always)]
    fn residue(self, slice: &[u64], i: usize) -> u64 {
        residue_at(slice, self.0 + i)
    }
}

/// Gives `put` the sums of a_j b_j, with the words that they are for, from index `start` on.
#[inline(always)]
fn for_inner_products(
    q: Modulus,
    start: usize,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    stored: impl Stored,
    put: impl Fn(&mut u64, u64),
) {
    for (i, o) in out.iter_mut().enumerate().skip(start) {
        let products = a.iter().zip(b).map(|(x, y)| wide_product(x[i], stored.residue(y, i)));
        put(o, q.reduce_u128(products.sum()));
    }
}

/// Writes sum_j a_j b_j for the indices from `start` on.
pub(crate) fn inner_product_from(
    q: Modulus,
    start: usize,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    stored: impl Stored,
) {
    for_inner_products(q, start, out, a, b, stored, |o, sum| *o = sum);
}

/// Adds c sum_j a_j b_j for the indices from `start` on.
pub(crate) fn inner_product_scale_add_from(
    q: Modulus,
    start: usize,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    stored: impl Stored,
    c: u64,
) {
    let c = q.shoup(c);
    let put = |o: &mut u64, sum| *o = q.add(*o, q.mul_shoup(sum, c));
    for_inner_products(q, start, out, a, b, stored, put);
}

pub(crate) fn inner_product(q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) {
    inner_product_from(q, 0, out, a, b, Words);
}

pub(crate) fn inner_product2(
    q: Modulus,
    out0: &mut [u64],
    out1: &mut [u64],
    a: &[&[u64]],
    b0: &[&[u64]],
    b1: &[&[u64]],
) {
    inner_product_from(q, 0, out0, a, b0, Words);
    inner_product_from(q, 0, out1, a, b1, Words);
}

pub(crate) fn inner_product_scale_add(
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    c: u64,
) {
    inner_product_scale_add_from(q, 0, out, a, b, Words, c);
}

pub(crate) fn packed_product(
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    place: usize,
) {
    inner_product_from(q, 0, out, a, b, PackedFrom(place));
}

pub(crate) fn packed_product2(
    q: Modulus,
    out0: &mut [u64],
    out1: &mut [u64],
    a: &[&[u64]],
    b0: &[&[u64]],
    b1: &[&[u64]],
    place: usize,
) {
    inner_product_from(q, 0, out0, a, b0, PackedFrom(place));
    inner_product_from(q, 0, out1, a, b1, PackedFrom(place));
}

pub(crate) fn packed_product_scale_add(
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    place: usize,
    c: u64,
) {
    inner_product_scale_add_from(q, 0, out, a, b, PackedFrom(place), c);
}

/// Writes sum_j w_j x_j for the indices from `start` on.
pub(crate) fn weighted_sum_from(
    q: Modulus,
    start: usize,
    out: &mut [u64],
    xs: &[&[u64]],
    weights: &[u64],
) {
    for (i, o) in out.iter_mut().enumerate().skip(start) {
        let sum: u128 = xs.iter().zip(weights).map(|(x, &w)| wide_product(x[i], w)).sum();
        *o = q.reduce_u128(sum);
    }
}

pub(crate) fn weighted_sum(q: Modulus, out: &mut [u64], xs: &[&[u64]], weights: &[u64]) {
    weighted_sum_from(q, 0, out, xs, weights);
}

/// The rows of a matrix product, each by a kernel for weighted sums.
#[inline(always)]
pub(crate) fn rows_of_matrix(
    q: Modulus,
    outs: &mut [&mut [u64]],
    xs: &[&[u64]],
    weights: &[i64],
    weighted_sum: impl Fn(&mut [u64], &[u64]),
) {
    let mut residues = vec![0; xs.len()];
    for (row, out) in outs.iter_mut().enumerate() {
        let weights = &weights[row * xs.len()..][..xs.len()];
        residues.iter_mut().zip(weights).for_each(|(residue, &w)| *residue = q.reduce_i64(w));
        weighted_sum(out, &residues);
    }
}

pub(crate) fn matrix_product(q: Modulus, outs: &mut [&mut [u64]], xs: &[&[u64]], weights: &[i64]) {
    rows_of_matrix(q, outs, xs, weights, |out, weights| weighted_sum(q, out, xs, weights));
}

/// Writes round(sum_j y_j inverse_j) for the indices from `start` on.
pub(crate) fn rounded_quotient_from(
    start: usize,
    out: &mut [u64],
    ys: &[&[u64]],
    inverses: &[f64],
) {
    for (i, o) in out.iter_mut().enumerate().skip(start) {
        let mut sum = 0.0;
        for (y, &inverse) in ys.iter().zip(inverses) {
            sum += y[i] as f64 * inverse;
        }
        *o = (sum + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits());
    }
}

pub(crate) fn rounded_quotient(out: &mut [u64], ys: &[&[u64]], inverses: &[f64]) {
    rounded_quotient_from(0, out, ys, inverses);
}

pub(crate) fn sub_scale(q: Modulus, x: &mut [u64], v: &[u64], c: u64) {
    let c = q.shoup(c);
    for (x, &v) in x.iter_mut().zip(v) {
        *x = q.mul_shoup(q.sub(*x, v), c);
    }
}

pub(crate) fn scale_sub(q: Modulus, out: &mut [u64], x: &[u64], cx: u64, v: &[u64], cv: u64) {
    let (cx, cv) = (q.shoup(cx), q.shoup(cv));
    for ((o, &x), &v) in out.iter_mut().zip(x).zip(v) {
        *o = q.sub(q.mul_shoup(x, cx), q.mul_shoup(v, cv));
    }
}

pub(crate) fn reduce_assign(q: Modulus, a: &mut [u64]) {
    for x in a {
        *x = q.reduce_u64(*x);
    }
}

pub(crate) fn from_signed(q: Modulus, out: &mut [u64], a: &[i64]) {
    for (o, &x) in out.iter_mut().zip(a) {
        *o = q.reduce_i64(x);
    }
}

/// Writes constant + sum_j w_j digit_j for the indices from `start` on.
pub(crate) fn digit_residues_from(
    q: Modulus,
    start: usize,
    out: &mut [u64],
    digits: &[&[u32]],
    weights: &[u64],
    constant: u64,
) {
    for (i, o) in out.iter_mut().enumerate().skip(start) {
        let sum: u128 =
            digits.iter().zip(weights).map(|(row, &w)| wide_product(row[i].into(), w)).sum();
        *o = q.reduce_u128(sum + u128::from(constant));
    }
}

pub(crate) fn digit_residues(
    q: Modulus,
    out: &mut [u64],
    digits: &[&[u32]],
    weights: &[u64],
    constant: u64,
) {
    digit_residues_from(q, 0, out, digits, weights, constant);
}

/// Adds sum_j w_j x_j for the indices from `start` on.
pub(crate) fn multiply_add_halves_from(
    start: usize,
    acc: &mut [u64],
    xs: &[&[u64]],
    weights: &[u32],
) {
    for (i, a) in acc.iter_mut().enumerate().skip(start) {
        for (x, &w) in xs.iter().zip(weights) {
            *a = a.wrapping_add((x[i] & u64::from(u32::MAX)) * u64::from(w));
        }
    }
}

pub(crate) fn multiply_add_halves(acc: &mut [u64], xs: &[&[u64]], weights: &[u32]) {
    multiply_add_halves_from(0, acc, xs, weights);
}

pub(crate) fn carry_digits(
    base: u32,
    out: &mut [u32],
    acc: &[u64],
    carry: &mut [u64],
    constant: u32,
) {
    let p = u64::from(base);
    for ((o, &a), c) in out.iter_mut().zip(acc).zip(carry) {
        let sum = a.wrapping_add(*c).wrapping_add(u64::from(constant));
        (*o, *c) = ((sum % p) as u32, sum / p);
    }
}

/// The words of a block of ChaCha20.
pub(crate) const BLOCK: usize = 8;

/// What ChaCha20 makes a block from: constants, key, number of the block and of the stream.
pub(crate) fn chacha_state(key: &[u32; 8], stream: u64, block: u64) -> [u32; 16] {
    let mut state = [0; 16];
    state[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    state[4..12].copy_from_slice(key);
    let ends = [block as u32, (block >> 32) as u32, stream as u32, (stream >> 32) as u32];
    state[12..].copy_from_slice(&ends);
    state
}

pub(crate) fn chacha20(key: &[u32; 8], stream: u64, mut block: u64, out: &mut [u64]) {
    for out in out.chunks_mut(BLOCK) {
        let start = chacha_state(key, stream, block);
        let mut x = start;
        let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
            let steps = [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)];
            for (sum, other, turned, by) in steps {
                x[sum] = x[sum].wrapping_add(x[other]);
                x[turned] = (x[turned] ^ x[sum]).rotate_left(by);
            }
        };
        for _ in 0..10 {
            (0..4).for_each(|k| quarter(k, 4 + k, 8 + k, 12 + k));
            (0..4).for_each(|k| quarter(k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4));
        }
        let word = |k: usize| u64::from(x[k].wrapping_add(start[k]));
        out.iter_mut().enumerate().for_each(|(k, out)| *out = word(2 * k) | word(2 * k + 1) << 32);
        block = block.wrapping_add(1);
    }
}
