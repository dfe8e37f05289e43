//! Inner products over vectors: of words, and of words with packed residues.

// Register arrays are walked by index on purpose: loops with constant bounds unroll and leave no
// array behind.
#![allow(clippy::needless_range_loop)]

use super::float::FloatModulus;
use super::lanes::Lanes;
use super::portable::{self, PackedFrom, Words};
use super::vector::{SMALL, add_terms, at, constant, put, stream, stream_packed};
use crate::modulus::Modulus;
use crate::packed::PACKED_BITS;

/// How the right factors of an inner product are stored.
trait Stored<L: Lanes>: Copy {
    /// The residues for the vector that starts at i; those of a line to come are asked for if
    /// `ahead`.
    fn read(self, l: L, slice: &[u64], i: usize, ahead: bool) -> L::U;
}

impl<L: Lanes> Stored<L> for Words {
    #[inline(always)]
    fn read(self, l: L, slice: &[u64], i: usize, ahead: bool) -> L::U {
        if ahead { stream(l, slice, i) } else { at(l, slice, i) }
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
    fn read(self, l: L, slice: &[u64], i: usize, ahead: bool) -> L::U {
        // Vectors start at multiples of 4, and four residues take 25 bytes.
        let byte = self.byte + i / 4 * (PACKED_BITS / 2);
        stream_packed(l, slice, byte, self.unpacker, ahead)
    }
}

/// Runs `$body` with the canonical sum of a_j b_kj for each k below `$sums` and each start `$i` of
/// a vector, for as many `$vectors` at a time as the instruction set takes; gives the number of
/// words covered.
macro_rules! inner_products {
    (
        [$($vectors:literal)*], $sums:literal, $l:expr, $q:expr, $length:expr, $a:expr, $b:expr,
        $stored:expr, |$k:pat, $i:ident, $sum:ident| $body:expr
    ) => {{
        let (l, reducer, length, mut done) = ($l, $l.reducer($q), $length, 0);
        $(while $vectors <= L::VECTORS && done + $vectors * L::WIDTH <= length {
            let sums: [[L::U; $vectors]; $sums] = products(l, reducer, $a, $b, $stored, done);
            for k in 0..$sums {
                for v in 0..$vectors {
                    let ($k, $i, $sum) = (k, done + v * L::WIDTH, sums[k][v]);
                    $body;
                }
            }
            done += $vectors * L::WIDTH;
        })*
        done
    }};
}

/// The canonical sums for the V vectors from place `i` on.
#[inline(always)]
fn products<L: Lanes, const V: usize, const K: usize>(
    l: L,
    reducer: L::Reducer,
    a: &[&[u64]],
    b: [&[&[u64]]; K],
    stored: impl Stored<L>,
    i: usize,
) -> [[L::U; V]; K] {
    // Products of canonical residues are below 2^100.
    let (terms, small) = (a.len(), a.len() < SMALL);
    let mut sums = [[l.sum_zero(); V]; K];
    add_terms!(l, reducer, terms, sums, |some| {
        let (a, b) = (&a[some.clone()], b.map(|b| &b[some.clone()]));
        for term in 0..a.len() {
            for v in 0..V {
                let (place, ahead) = (i + v * L::WIDTH, v == 0);
                let x = l.factor(Words.read(l, a[term], place, ahead));
                for k in 0..K {
                    let y = l.factor(stored.read(l, b[k][term], place, ahead));
                    sums[k][v] = l.sum_add(sums[k][v], x, y);
                }
            }
        }
    });
    let mut canonical = [[l.splat(0); V]; K];
    for k in 0..K {
        for v in 0..V {
            canonical[k][v] = l.sum_reduce(sums[k][v], terms, small, reducer);
        }
    }
    canonical
}

#[inline(always)]
pub(crate) fn inner_product<L: Lanes>(
    l: L,
    q: Modulus,
    out: &mut [u64],
    a: &[&[u64]],
    b: &[&[u64]],
) {
    let done =
        inner_products!([2 1], 1, l, q, out.len(), a, [b], Words, |_, i, sum| put(l, out, i, sum));
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
    let done =
        inner_products!([2 1], 1, l, q, out.len(), a, [b], stored, |_, i, sum| put(l, out, i, sum));
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
    inner_products!([2 1], 1, l, q, out.len(), a, [b], stored, |_, i, sum| {
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
/// words covered.
#[inline(always)]
fn two<L: Lanes>(
    l: L,
    q: Modulus,
    out0: &mut [u64],
    out1: &mut [u64],
    a: &[&[u64]],
    (b0, b1, stored): (&[&[u64]], &[&[u64]], impl Stored<L>),
) -> usize {
    let length = out0.len();
    let outs = [out0, out1];
    inner_products!([2 1], 2, l, q, length, a, [b0, b1], stored, |k, i, sum| {
        put(l, outs[k], i, sum);
    })
}
