//! The arithmetic in doubles, by bounds on magnitudes.

use super::bounds::{Bounds, EXACT, Q, add_up, both, read, transposed, write};
use crate::arch::avx2::Avx2;
use crate::arch::butterfly::Butterflies;
use crate::arch::float::FloatModulus;
use crate::arch::portable::ROUNDER;
use crate::arch::residues::Residues;
use crate::modulus::Modulus;

/// Magnitudes below it are rounded to integers by adding [`ROUNDER`].
const ROUNDED: f64 = ROUNDER / 3.0;

/// What [`FloatModulus::mul`] gives, for x w at most `product` q: its lemma.
pub(super) fn float_product(product: f64) -> f64 {
    assert!(product <= ROUNDED, "a product of {product} q");
    add_up(0.5, product / (2.0 * ROUNDED))
}

/// What [`FloatModulus::reduce`] gives, for at most x q and x q at most `size`: its lemma.
pub(super) fn float_reduced(x: f64, size: f64) -> f64 {
    assert!(size <= EXACT && x <= ROUNDED, "{x} q is not reduced");
    add_up(0.5, x / EXACT)
}

/// [`FloatModulus`] by bounds on magnitudes.
#[derive(Clone, Copy)]
pub(crate) struct FloatRanges;

impl FloatRanges {
    fn add(x: Bounds, y: Bounds) -> Bounds {
        let sum = both(x, y, add_up);
        assert!(sum.iter().all(|s| s * Q <= EXACT), "a sum of {sum:?} q is not exact");
        sum
    }

    fn canonical(x: Bounds) -> Bounds {
        assert!(x.iter().all(|&x| x <= 1.0), "{x:?} q has no canonical word after one addition");
        [1.0; 8]
    }
}

impl Residues for FloatRanges {
    const WIDTH: usize = 8;
    const LOG_RADIX: u32 = <FloatModulus<Avx2> as Residues>::LOG_RADIX;
    const TERMS: usize = <FloatModulus<Avx2> as Residues>::TERMS;
    type V = Bounds;
    type W = f64;
    type Sum = Bounds;

    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        [Self::encode_weight(q, w), 0]
    }

    fn encode_weight(q: Modulus, w: u64) -> u64 {
        let encoded = f64::from_bits(<FloatModulus<Avx2> as Residues>::encode_weight(q, w));
        assert!(2.0 * encoded.abs() < q.value() as f64, "a factor is centered");
        0.5f64.to_bits()
    }

    fn everywhere(self, encoded: [u64; 2]) -> f64 {
        f64::from_bits(encoded[0])
    }

    fn zero(self) -> Bounds {
        [0.0; 8]
    }

    #[inline(never)]
    unsafe fn load(self, source: *const u64) -> Bounds {
        // SAFETY: the caller promises readable words.
        unsafe { read(source) }
    }

    #[inline(never)]
    unsafe fn store(self, target: *mut u64, x: Bounds) {
        // SAFETY: the caller promises writable words.
        unsafe { write(target, x) }
    }

    #[inline(never)]
    unsafe fn load_words(self, source: *const u64) -> Bounds {
        // SAFETY: the caller promises readable words.
        let x = unsafe { read(source) };
        assert!(x.iter().all(|&x| x <= 4.0), "words of {x:?} q");
        x
    }

    #[inline(never)]
    unsafe fn store_canonical(self, target: *mut u64, x: Bounds) {
        // SAFETY: the caller promises writable words.
        unsafe { write(target, Self::canonical(self.reduce(x))) }
    }

    #[inline(never)]
    fn reduce(self, x: Bounds) -> Bounds {
        x.map(|x| float_reduced(x, x * Q))
    }

    #[inline(never)]
    fn plus_minus(self, x: Bounds, y: Bounds) -> (Bounds, Bounds) {
        (Self::add(x, y), Self::add(x, y))
    }

    #[inline(never)]
    fn mul(self, x: Bounds, w: f64) -> Bounds {
        x.map(|x| float_product(x * w * Q))
    }

    #[inline(never)]
    fn sum_from(self, x: Bounds) -> Bounds {
        x
    }

    fn sum_zero(self) -> Bounds {
        self.zero()
    }

    #[inline(never)]
    fn sum_add(self, sum: Bounds, x: Bounds, weight: u64) -> Bounds {
        Self::add(sum, self.mul(x, f64::from_bits(weight)))
    }

    #[inline(never)]
    fn sum_settle(self, x: Bounds, y: Bounds) -> (Bounds, Bounds) {
        (self.reduce(x), self.reduce(y))
    }

    #[inline(never)]
    fn sum_end(self, x: Bounds) -> Bounds {
        self.reduce(x)
    }

    #[inline(never)]
    fn sum_plus_minus(self, x: Bounds, y: Bounds) -> (Bounds, Bounds) {
        let sum = self.reduce(Self::add(x, y));
        (sum, sum)
    }

    #[inline(never)]
    fn transpose(self, v: &mut [Bounds; 8]) {
        *v = transposed(*v);
    }
}

impl Butterflies for FloatRanges {
    const LAZY: bool = <FloatModulus<Avx2> as Butterflies>::LAZY;

    fn stored(encoded: [u64; 2]) -> u64 {
        <FloatModulus<Avx2> as Butterflies>::stored(encoded)
    }

    fn restored(self, word: u64) -> f64 {
        self.everywhere([word, 0])
    }

    #[inline(never)]
    unsafe fn twiddle(self, table: *const u64, place: usize) -> f64 {
        // SAFETY: the caller promises that the table covers the places.
        unsafe { read(table.add(place)) }.into_iter().fold(0.0, f64::max)
    }

    #[inline(never)]
    unsafe fn store_words(self, target: *mut u64, x: Bounds) {
        // SAFETY: the caller promises writable words.
        unsafe { write(target, x) }
    }

    #[inline(never)]
    fn forward(self, reduce: bool, x: Bounds, y: Bounds, w: f64) -> (Bounds, Bounds) {
        let x = if reduce { self.reduce(x) } else { x };
        self.plus_minus(x, self.mul(y, w))
    }

    #[inline(never)]
    fn inverse(self, reduce: bool, x: Bounds, y: Bounds, w: f64) -> (Bounds, Bounds) {
        let (sum, difference) = self.plus_minus(x, y);
        (if reduce { self.reduce(sum) } else { sum }, self.mul(difference, w))
    }

    #[inline(never)]
    fn last(self, x: Bounds, y: Bounds, w: [f64; 2]) -> (Bounds, Bounds) {
        let (sum, difference) = self.plus_minus(x, y);
        (Self::canonical(self.mul(sum, w[0])), Self::canonical(self.mul(difference, w[1])))
    }

    fn transpose_group(self, g: &mut [[Bounds; 8]; 2]) {
        self.transpose(&mut g[0]);
    }

    fn transpose_group_back(self, g: &mut [[Bounds; 8]; 2]) {
        self.transpose(&mut g[0]);
    }
}

#[test]
#[should_panic(expected = "a product of")]
fn five_lazy_stages_are_too_many() {
    let (mut x, w) = ([4.0; 8], 0.5);
    for stage in 0..6 {
        x = FloatRanges.forward(stage == 0, x, x, w).0;
    }
}
