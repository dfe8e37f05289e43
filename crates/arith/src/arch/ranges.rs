//! The ranges of lazy arithmetic: models of both arithmetics of the transforms in which a residue
//! is a bound on it. The sweeps of the transforms are generic, so they run on the models as they
//! are: every operation checks that its operands are in the range that it is documented for. What
//! the models say of an operation, `edges` checks on the operation itself. Nothing is inlined: the
//! sweeps are written out, and so much code takes minutes to compile.

use super::avx2::{Avx2, HIGH, LIFT, PART};
use super::avx512::ifma::{IfmaModulus, LOG_SUM, OFFSET};
use super::butterfly::Butterflies;
use super::float::FloatModulus;
use super::portable::ROUNDER;
use super::residues::Residues;
use super::vector::{FEW, SMALL};
use crate::kernels::{MAX_DIGITS, MAX_TERMS};
use crate::modulus::Modulus;

/// A bound on the residue in each lane, in units of q: on its magnitude, or on a number that is not
/// negative. Bounds are not met, since words are below theirs and q is below 2^50.
type Bounds = [f64; 8];

/// All moduli are below it.
const Q: f64 = (1u64 << Modulus::MAX_BITS) as f64;
/// Integers up to it are exact in doubles.
const EXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
/// Magnitudes below it are rounded to integers by adding [`ROUNDER`].
const ROUNDED: f64 = ROUNDER / 3.0;

/// No less than the exact value of what was computed as x.
fn up(x: f64) -> f64 {
    x * (1.0 + 1e-12)
}

/// x + y, no less than exactly. Exact sums stay as they are, since some bounds are met.
fn add_up(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if sum - x == y && sum - y == x { sum } else { up(sum) }
}

/// # Safety
/// Eight words must be readable.
unsafe fn read(source: *const u64) -> Bounds {
    // SAFETY: the caller promises readable words.
    std::array::from_fn(|i| f64::from_bits(unsafe { *source.add(i) }))
}

/// # Safety
/// Eight words must be writable.
unsafe fn write(target: *mut u64, x: Bounds) {
    for (i, bound) in x.into_iter().enumerate() {
        // SAFETY: the caller promises writable words.
        unsafe { *target.add(i) = bound.to_bits() };
    }
}

fn both(x: Bounds, y: Bounds, f: impl Fn(f64, f64) -> f64) -> Bounds {
    std::array::from_fn(|i| f(x[i], y[i]))
}

fn transposed(v: [Bounds; 8]) -> [Bounds; 8] {
    std::array::from_fn(|i| std::array::from_fn(|j| v[j][i]))
}

/// What [`FloatModulus::mul`] gives, for x w at most `product` q: its lemma.
fn float_product(product: f64) -> f64 {
    assert!(product <= ROUNDED, "a product of {product} q");
    add_up(0.5, product / (2.0 * ROUNDED))
}

/// What [`FloatModulus::reduce`] gives, for at most x q and x q at most `size`: its lemma.
fn float_reduced(x: f64, size: f64) -> f64 {
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

/// [`IfmaModulus`] by bounds on numbers that are not negative.
#[derive(Clone, Copy)]
pub(crate) struct IfmaRanges;

/// A factor: whatever it is, a product is below 2q.
#[derive(Clone, Copy)]
pub(crate) struct Factor;

/// A sum of products: its bound, whether it begins with [`OFFSET`] q, and how many low parts it
/// holds.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    bound: Bounds,
    begun: bool,
    terms: u32,
}

impl IfmaRanges {
    /// Numbers modulo 2^52 stand for themselves.
    fn word(x: Bounds) -> Bounds {
        assert!(x.iter().all(|x| x * Q <= (1u64 << 52) as f64), "{x:?} q does not fit 52 bits");
        x
    }

    /// From above -q (`begun`: from above [`OFFSET`] q - q) to below 2q.
    #[inline(never)]
    fn reduce_sum(x: Bounds) -> Bounds {
        assert!(x.iter().all(|&x| x <= (1u64 << LOG_SUM) as f64), "a sum of {x:?} q");
        [2.0; 8]
    }
}

impl Residues for IfmaRanges {
    const WIDTH: usize = 8;
    const LOG_RADIX: u32 = <IfmaModulus as Residues>::LOG_RADIX;
    const TERMS: usize = <IfmaModulus as Residues>::TERMS;
    type V = Bounds;
    type W = Factor;
    type Sum = Sum;

    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        <IfmaModulus as Residues>::encode(q, w)
    }

    fn encode_weight(q: Modulus, w: u64) -> u64 {
        let weight = <IfmaModulus as Residues>::encode_weight(q, w);
        assert!(weight < q.value());
        weight
    }

    fn everywhere(self, _encoded: [u64; 2]) -> Factor {
        Factor
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
        Self::word(unsafe { read(source) })
    }

    #[inline(never)]
    unsafe fn store_canonical(self, target: *mut u64, x: Bounds) {
        let reduced = self.reduce(x);
        assert!(reduced.iter().all(|&x| x <= 2.0));
        // SAFETY: the caller promises writable words.
        unsafe { write(target, [1.0; 8]) }
    }

    #[inline(never)]
    fn reduce(self, x: Bounds) -> Bounds {
        Self::word(x).map(|x| x.min(2.0))
    }

    #[inline(never)]
    fn plus_minus(self, x: Bounds, y: Bounds) -> (Bounds, Bounds) {
        assert!(y.iter().all(|&y| y <= 2.0), "{y:?} q is subtracted from 2q");
        (Self::word(both(x, y, |x, y| x + y)), Self::word(x.map(|x| x + 2.0)))
    }

    #[inline(never)]
    fn mul(self, x: Bounds, _w: Factor) -> Bounds {
        Self::word(x).map(|_| 2.0)
    }

    #[inline(never)]
    fn sum_from(self, x: Bounds) -> Sum {
        Sum { bound: Self::word(x).map(|x| x + OFFSET as f64), begun: true, terms: 0 }
    }

    fn sum_zero(self) -> Sum {
        Sum { bound: self.zero(), begun: false, terms: 0 }
    }

    #[inline(never)]
    fn sum_add(self, sum: Sum, x: Bounds, _weight: u64) -> Sum {
        let product = Self::word(x).map(|x| up(x * Q / (1u64 << 52) as f64));
        // Low parts are below 2^52 and their sum has to fit a word.
        assert!(sum.terms < 1 << 12, "the low parts of {} products", sum.terms + 1);
        Sum { bound: both(sum.bound, product, |a, b| a + b), terms: sum.terms + 1, ..sum }
    }

    #[inline(never)]
    fn sum_settle(self, x: Sum, y: Sum) -> (Sum, Sum) {
        let (x, y) =
            (self.sum_end(x), Self::reduce_sum(Sum { begun: true, ..y }.bound.map(|y| y + 1.0)));
        (self.sum_from(x), Sum { bound: y, ..self.sum_zero() })
    }

    #[inline(never)]
    fn sum_end(self, x: Sum) -> Bounds {
        assert!(x.begun && OFFSET >= 1, "the sum may be negative");
        Self::reduce_sum(x.bound)
    }

    #[inline(never)]
    fn sum_plus_minus(self, x: Sum, y: Sum) -> (Bounds, Bounds) {
        assert!(x.begun && !y.begun);
        assert!(
            y.bound.iter().all(|&y| y <= (OFFSET - 1) as f64),
            "{:?} q is subtracted from {OFFSET} q",
            y.bound
        );
        let (sum, difference) = (both(x.bound, y.bound, |x, y| x + y), x.bound.map(|x| x + 1.0));
        (Self::reduce_sum(sum), Self::reduce_sum(difference))
    }

    #[inline(never)]
    fn transpose(self, v: &mut [Bounds; 8]) {
        *v = transposed(*v);
    }
}

impl Butterflies for IfmaRanges {
    const LAZY: bool = <IfmaModulus as Butterflies>::LAZY;

    fn stored(encoded: [u64; 2]) -> u64 {
        <IfmaModulus as Butterflies>::stored(encoded)
    }

    fn restored(self, _word: u64) -> Factor {
        Factor
    }

    #[inline(never)]
    unsafe fn twiddle(self, _table: *const u64, _place: usize) -> Factor {
        Factor
    }

    #[inline(never)]
    unsafe fn store_words(self, target: *mut u64, x: Bounds) {
        // SAFETY: the caller promises writable words.
        unsafe { write(target, x) }
    }

    #[inline(never)]
    fn forward(self, _reduce: bool, x: Bounds, y: Bounds, w: Factor) -> (Bounds, Bounds) {
        // The sum is made with the product, and the difference is 2x + 2q less the sum: modulo 2^52
        // the same numbers.
        self.plus_minus(self.reduce(x), self.mul(y, w))
    }

    #[inline(never)]
    fn inverse(self, _reduce: bool, x: Bounds, y: Bounds, w: Factor) -> (Bounds, Bounds) {
        let (sum, difference) = self.plus_minus(x, y);
        (self.reduce(sum), self.mul(difference, w))
    }

    #[inline(never)]
    fn last(self, x: Bounds, y: Bounds, w: [Factor; 2]) -> (Bounds, Bounds) {
        let (sum, difference) = self.plus_minus(x, y);
        let canonical = |x: Bounds| x.map(|x| if x <= 2.0 { 1.0 } else { f64::NAN });
        (canonical(self.mul(sum, w[0])), canonical(self.mul(difference, w[1])))
    }

    fn transpose_group(self, g: &mut [[Bounds; 8]; 2]) {
        self.transpose(&mut g[0]);
    }

    fn transpose_group_back(self, g: &mut [[Bounds; 8]; 2]) {
        self.transpose(&mut g[0]);
    }
}

/// The largest word of a residue or a term, and log2 of it, rounded up.
const WORD: u128 = (1 << Modulus::MAX_BITS) - 1;

#[test]
fn sums_of_few_products_are_exact() {
    // A residue or a word below 2^50 times a centered factor, and two residues that are not
    // centered.
    for product in [0.5 * Q, Q] {
        let sum = FEW as f64 * float_product(product);
        assert!(sum * Q <= EXACT, "{FEW} products are {sum} q");
        assert!(float_reduced(sum, sum * Q) < 1.0);
    }
    // A difference of two words, and of two products.
    assert!(float_product(0.5 * Q) < 1.0);
    assert!(2.0 * float_product(0.5 * Q) < 2.0);
    // A word below 2^52, and the parts of a signed word: 2^32 and 3/2 q.
    assert!(float_reduced((1u64 << 52) as f64 / 3.0, (1u64 << 52) as f64) < 1.0);
    let parts = (1u64 << 32) as f64 + 1.5 * Q;
    assert!(float_reduced(parts / 3.0, parts) < 1.0);
}

#[test]
fn small_sums_are_small() {
    let limit = (1 << 104) - (1 << 64);
    assert!((SMALL - 1) as u128 * WORD * WORD < limit);
    assert!(MAX_DIGITS as u128 * u128::from(u32::MAX) * WORD + WORD < limit);
}

#[test]
fn sums_in_doubles_have_room() {
    let terms = MAX_TERMS as u128;
    // 2^103 and a product stay below 2^104, where the unit is 2^51.
    const { assert!(WORD * WORD < 1 << 102 && HIGH == 103 - 52) };
    // What is left of a product is at most half of that unit.
    let low = terms << (HIGH - 1);
    assert!(low <= 1 << LIFT, "{MAX_TERMS} low parts");
    // Lifted, and with its carry, the sum fits signed words and, cut, doubles.
    let high = terms * (WORD * WORD).div_ceil(1 << HIGH);
    let middle = (high << (HIGH - PART)) + ((low + (1 << LIFT)) >> PART);
    assert!(low + (1 << LIFT) < 1 << 63 && middle < 1 << 63);
    assert!((middle >> PART) < 1 << 52 && PART <= 52);
    let part = (1u64 << PART) as f64;
    let (top, middle) = ((middle >> PART) as f64, part);
    let scaled = float_product(0.5 * middle) + float_product(0.5 * top);
    // In the unit 1, for the largest and the smallest modulus.
    for q in [Q, 3.0] {
        let sum = scaled * q + part;
        assert!(float_reduced(sum / q, sum) < 1.0);
    }
}

#[test]
fn sums_in_words_have_room() {
    use super::avx512::lanes::MIDDLE;
    let terms = MAX_TERMS as u128;
    let (low, high) = (terms << 52, terms * (WORD * WORD).div_ceil(1 << 52));
    assert!(low <= 1 << 63 && high + (low >> 52) < 1 << 61);
    let top = (high + (low >> 52)) >> MIDDLE;
    assert!(top < 1 << 12);
    let unit = (1u128 << 52) as f64;
    for q in [3, 5, (1 << 49) - 1, (1 << 49) + 1, (1 << 52) / 9 * 2, (1 << 52) / 5 + 1, WORD as u64]
    {
        // f q for f = 2^52/q - floor(2^52/q).
        let lost = ((1u64 << 52) % q) as f64;
        let q = q as f64;
        // Three quotients lose 1 each, the constants of top and middle what they are multiplied by.
        let remainder = q * (3.0 + top as f64 / unit + (1u64 << MIDDLE) as f64 / unit) + lost;
        assert!(remainder < unit && remainder <= 5.0 * q, "a remainder of {} q", remainder / q);
        // Small sums have two quotients, and a middle part below 2^52.
        let remainder = q * 3.0 + lost;
        assert!(remainder < unit && remainder <= 4.0 * q, "a remainder of {} q", remainder / q);
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

#[test]
#[should_panic(expected = "is subtracted from")]
fn twice_as_many_terms_are_too_many() {
    let mut odd = IfmaRanges.sum_zero();
    for _ in 0..2 * <IfmaModulus as Residues>::TERMS {
        odd = IfmaRanges.sum_add(odd, [4.0; 8], 1);
    }
    IfmaRanges.sum_plus_minus(IfmaRanges.sum_from([2.0; 8]), odd);
}
