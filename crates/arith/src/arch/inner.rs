//! Inner products over vectors: of words, and of words with packed residues.

use super::float::FloatModulus;
use super::lanes::Lanes;
use super::portable::{self, PackedFrom, Words};
use super::vector::{FEW, SMALL, at, constant, for_vectors, put, stream, stream_packed, whole};
use crate::modulus::Modulus;
use crate::packed::PACKED_BITS;

/// How the right factors of an inner product are stored.
trait Stored<L: Lanes>: Copy {
    /// The residues for the vector that starts at i.
    fn read(self, l: L, slice: &[u64], i: usize) -> L::U;
}

impl<L: Lanes> Stored<L> for Words {
    #[inline(always)]
    fn read(self, l: L, slice: &[u64], i: usize) -> L::U {
        stream(l, slice, i)
    }
}

/// Packed, from a byte and a phase on.
#[derive(Clone, Copy)]
struct Packed<L: Lanes> {
    byte: usize,
    unpacker: L::Unpacker,
}

impl<L: Lanes> Packed<L> {
    /// From the residue at a place on.
    #[inline(always)]
    fn from(l: L, place: usize) -> Self {
        Packed { byte: PACKED_BITS * place / 8, unpacker: l.unpacker(place % 4) }
    }
}

impl<L: Lanes> Stored<L> for Packed<L> {
    #[inline(always)]
    fn read(self, l: L, slice: &[u64], i: usize) -> L::U {
        // Vectors start at multiples of 4, and four residues take 25 bytes.
        stream_packed(l, slice, self.byte + i / 4 * (PACKED_BITS / 2), self.unpacker)
    }
}

/// Runs `$body` for each vector start `$i` with the canonical sum of a_j b_j; gives the number of
/// words covered.
macro_rules! for_inner_products {
    (
        $l:expr, $q:expr, $out:expr, $a:expr, $b:expr, $stored:expr,
        |$i:ident, $sum:ident| $body:expr
    ) => {{
        let (l, stored, pairs) = ($l, $stored, $a.len());
        if L::REDUCES_FEW && pairs <= FEW {
            let m = FloatModulus::new(l, $q);
            for_vectors!(l, $out, |$i| {
                let mut sum = l.splat_f(0.0);
                for (x, y) in $a.iter().zip($b) {
                    let y = l.widen(stored.read(l, y, $i));
                    sum = l.add_f(sum, m.mul(l.widen(stream(l, x, $i)), y));
                }
                let $sum = m.canonical(m.reduce(sum));
                $body
            })
        } else {
            // Products of canonical residues are below 2^100.
            let (reducer, small) = (l.reducer($q), pairs < SMALL);
            for_vectors!(l, $out, |$i| {
                let mut sum = l.sum_zero();
                for (x, y) in $a.iter().zip($b) {
                    let y = l.factor(stored.read(l, y, $i));
                    sum = l.sum_add(sum, l.factor(stream(l, x, $i)), y);
                }
                let $sum = l.sum_reduce(sum, pairs, small, reducer);
                $body
            })
        }
    }};
}

#[inline(always)]
pub(crate) fn inner_product<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
) {
    let done = for_inner_products!(l, q, out, a, b, Words, |i, sum| put(l, out, i, sum));
    portable::inner_product_from(q, done, out, a, b, Words);
}

#[inline(always)]
pub(crate) fn packed_product<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    place: usize,
) {
    let stored = Packed::from(l, place);
    let done = for_inner_products!(l, q, out, a, b, stored, |i, sum| put(l, out, i, sum));
    portable::inner_product_from(q, done, out, a, b, PackedFrom(place));
}

#[inline(always)]
pub(crate) fn inner_product_scale_add<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    c: u64,
) {
    let done = scale_add(l, q, out, a, (b, Words), c);
    portable::inner_product_scale_add_from(q, done, out, a, b, Words, c);
}

#[inline(always)]
pub(crate) fn packed_product_scale_add<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
    place: usize,
    c: u64,
) {
    let done = scale_add(l, q, out, a, (b, Packed::from(l, place)), c);
    portable::inner_product_scale_add_from(q, done, out, a, b, PackedFrom(place), c);
}

/// Adds c times the inner products in whole vectors; gives the number of words covered.
#[inline(always)]
fn scale_add<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    (b, stored): (&[&[u64]], impl Stored<L>),
    c: u64,
) -> usize {
    let (m, factor) = (FloatModulus::new(l, q), constant(l, q, c));
    for_inner_products!(l, q, out, a, b, stored, |i, sum| {
        let scaled = m.canonical(m.mul(l.widen(sum), factor));
        put(l, out, i, l.subtract_once(l.add(scaled, at(l, out, i)), m.word));
    })
}

#[inline(always)]
pub(crate) fn inner_product2<L: Lanes>(
    l: L,
    q: Modulus,
    out0: &mut [u64],
    out1: &mut [u64],
    a: &[&[u64]],
    b0: &[&[u64]],
    b1: &[&[u64]],
) {
    let done = two(l, q, out0, out1, a, (b0, b1, Words));
    portable::inner_product_from(q, done, out0, a, b0, Words);
    portable::inner_product_from(q, done, out1, a, b1, Words);
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn packed_product2<L: Lanes>(
    l: L,
    q: Modulus,
    out0: &mut [u64],
    out1: &mut [u64],
    a: &[&[u64]],
    b0: &[&[u64]],
    b1: &[&[u64]],
    place: usize,
) {
    let done = two(l, q, out0, out1, a, (b0, b1, Packed::from(l, place)));
    portable::inner_product_from(q, done, out0, a, b0, PackedFrom(place));
    portable::inner_product_from(q, done, out1, a, b1, PackedFrom(place));
}

/// Two inner products with the same left factors in whole vectors; gives the number of words
/// covered.
#[inline(always)]
fn two<L: Lanes>(
    l: L,
    q: Modulus,
    out0: &mut [u64],
    out1: &mut [u64],
    a: &[&[u64]],
    (b0, b1, stored): (&[&[u64]], &[&[u64]], impl Stored<L>),
) -> usize {
    if L::REDUCES_FEW && a.len() <= FEW {
        let m = FloatModulus::new(l, q);
        return for_vectors!(l, out0, |i| {
            let (mut sum0, mut sum1) = (l.splat_f(0.0), l.splat_f(0.0));
            for ((x, y0), y1) in a.iter().zip(b0).zip(b1) {
                let x = l.widen(stream(l, x, i));
                sum0 = l.add_f(sum0, m.mul(x, l.widen(stored.read(l, y0, i))));
                sum1 = l.add_f(sum1, m.mul(x, l.widen(stored.read(l, y1, i))));
            }
            put(l, out0, i, m.canonical(m.reduce(sum0)));
            put(l, out1, i, m.canonical(m.reduce(sum1)));
        });
    }
    // Products of canonical residues are below 2^100.
    let (reducer, small) = (l.reducer(q), a.len() < SMALL);
    for_vectors!(l, out0, |i| {
        let (mut sum0, mut sum1) = (l.sum_zero(), l.sum_zero());
        for ((x, y0), y1) in a.iter().zip(b0).zip(b1) {
            let x = l.factor(stream(l, x, i));
            sum0 = l.sum_add(sum0, x, l.factor(stored.read(l, y0, i)));
            sum1 = l.sum_add(sum1, x, l.factor(stored.read(l, y1, i)));
        }
        put(l, out0, i, l.sum_reduce(sum0, a.len(), small, reducer));
        put(l, out1, i, l.sum_reduce(sum1, a.len(), small, reducer));
    })
}
