//! Residues one by one, in plain integer code.

use crate::arch::residues::Residues;
use crate::modulus::{Modulus, ShoupFactor, subtract_once, wide_product};

/// Residues as words: reduced ones below 2q, wide ones below 4q.
#[derive(Clone, Copy)]
pub(crate) struct Scalar(pub(crate) Modulus);

impl Scalar {
    #[inline(always)]
    fn twice(self) -> u64 {
        2 * self.0.value()
    }
}

impl Residues for Scalar {
    const WIDTH: usize = 1;
    const LOG_RADIX: u32 = 3;
    /// Products are below 2^102, and no transform is longer than this.
    const TERMS: usize = 1 << 20;
    type V = u64;
    type W = ShoupFactor;
    type Sum = u128;

    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        let ShoupFactor { value, quotient } = q.shoup(w);
        [value, quotient]
    }

    fn encode_weight(_q: Modulus, w: u64) -> u64 {
        w
    }

    #[inline(always)]
    fn everywhere(self, [value, quotient]: [u64; 2]) -> ShoupFactor {
        ShoupFactor { value, quotient }
    }

    #[inline(always)]
    fn zero(self) -> u64 {
        0
    }

    #[inline(always)]
    unsafe fn load(self, source: *const u64) -> u64 {
        // SAFETY: the caller promises a readable word.
        unsafe { *source }
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u64, x: u64) {
        // SAFETY: the caller promises a writable word.
        unsafe { *target = x }
    }

    #[inline(always)]
    unsafe fn load_words(self, source: *const u64) -> u64 {
        // SAFETY: the caller promises a readable word.
        unsafe { *source }
    }

    #[inline(always)]
    unsafe fn store_canonical(self, target: *mut u64, x: u64) {
        // SAFETY: the caller promises a writable word.
        unsafe { *target = subtract_once(self.reduce(x), self.0.value()) }
    }

    #[inline(always)]
    fn reduce(self, x: u64) -> u64 {
        subtract_once(x, self.twice())
    }

    #[inline(always)]
    fn plus_minus(self, x: u64, y: u64) -> (u64, u64) {
        (x + y, x + self.twice() - y)
    }

    #[inline(always)]
    fn mul(self, x: u64, w: ShoupFactor) -> u64 {
        self.0.mul_shoup_lazy(x, w)
    }

    #[inline(always)]
    fn sum_from(self, x: u64) -> u128 {
        u128::from(x)
    }

    #[inline(always)]
    fn sum_zero(self) -> u128 {
        0
    }

    #[inline(always)]
    fn sum_add(self, sum: u128, x: u64, weight: u64) -> u128 {
        sum + wide_product(x, weight)
    }

    #[inline(always)]
    fn sum_settle(self, x: u128, y: u128) -> (u128, u128) {
        (u128::from(self.0.reduce_u128(x)), u128::from(self.0.reduce_u128(y)))
    }

    #[inline(always)]
    fn sum_end(self, x: u128) -> u64 {
        self.0.reduce_u128(x)
    }

    #[inline(always)]
    fn sum_plus_minus(self, x: u128, y: u128) -> (u64, u64) {
        let (x, y) = (self.0.reduce_u128(x), self.0.reduce_u128(y));
        (self.0.add(x, y), self.0.sub(x, y))
    }

    #[inline(always)]
    fn transpose(self, _v: &mut [u64; 8]) {}
}
