//! The constants of an engine: rational numbers modulo all primes, and those of divisions.

use crate::ring::Ring;

/// A rational number modulo any prime: the denominator is invertible modulo every one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The numerator.
    pub numerator: i128,
    /// The denominator.
    pub denominator: u64,
}

impl Constant {
    /// 1.
    pub const ONE: Self = Constant { numerator: 1, denominator: 1 };

    /// 1 / `denominator`.
    pub const fn inverse(denominator: u64) -> Self {
        Constant { numerator: 1, denominator }
    }

    /// The residue modulo the prime at `position`.
    pub fn modulo(self, ring: &Ring, position: usize) -> u64 {
        let q = ring.modulus(position);
        let numerator = q.reduce_i128(self.numerator);
        if self.denominator == 1 {
            return numerator;
        }
        q.mul(numerator, ring.inverse_of(self.denominator, position))
    }
}

impl From<i128> for Constant {
    fn from(numerator: i128) -> Self {
        Constant { numerator, denominator: 1 }
    }
}

impl From<i64> for Constant {
    fn from(numerator: i64) -> Self {
        i128::from(numerator).into()
    }
}

impl From<i32> for Constant {
    fn from(numerator: i32) -> Self {
        i128::from(numerator).into()
    }
}

impl From<u64> for Constant {
    fn from(numerator: u64) -> Self {
        i128::from(numerator).into()
    }
}

/// The three constants of a division with rounding, see
/// [`Engine::divide`](crate::Engine::divide): exact where beta alpha is gamma modulo D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundingScale {
    /// alpha.
    pub alpha: Constant,
    /// beta.
    pub beta: u64,
    /// gamma.
    pub gamma: u64,
}

impl RoundingScale {
    /// Plain division: round(x / D).
    pub const PLAIN: Self = RoundingScale { alpha: Constant::ONE, beta: 1, gamma: 1 };

    /// BGV's modulus switching for plaintext modulus t: x/D up to a rounding error that is a
    /// multiple of t.
    pub fn plain_multiple(t: u64) -> Self {
        RoundingScale { alpha: Constant::inverse(t), beta: t, gamma: 1 }
    }

    /// The same for an input that was divided by t before: t * round(x / D).
    pub fn times_plain(t: u64) -> Self {
        RoundingScale { alpha: Constant::ONE, beta: t, gamma: t }
    }

    /// round(t x / D).
    pub fn scaled(t: u64) -> Self {
        RoundingScale { alpha: t.into(), beta: 1, gamma: t }
    }
}
