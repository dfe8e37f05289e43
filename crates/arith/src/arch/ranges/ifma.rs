//! The arithmetic by integer fused multiply-add, by bounds on numbers that are not negative.

use super::bounds::{Bounds, Q, both, read, transposed, up, write};
use crate::arch::avx512::ifma::{IfmaModulus, LOG_SUM, OFFSET};
use crate::arch::butterfly::Butterflies;
use crate::arch::residues::Residues;
use crate::modulus::Modulus;

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

#[test]
#[should_panic(expected = "is subtracted from")]
fn twice_as_many_terms_are_too_many() {
    let mut odd = IfmaRanges.sum_zero();
    for _ in 0..2 * <IfmaModulus as Residues>::TERMS {
        odd = IfmaRanges.sum_add(odd, [4.0; 8], 1);
    }
    IfmaRanges.sum_plus_minus(IfmaRanges.sum_from([2.0; 8]), odd);
}
