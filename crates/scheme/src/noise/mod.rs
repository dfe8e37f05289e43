//! Levels and noise: the one model that every scheme follows.
//!
//! **Norm.** A ciphertext carries a bound on the canonical norm ‖v‖ = max over complex primitive
//! m-th roots ζ of |v(ζ)| of its phase v = c0 + c1 s = κ m + t ε (an integer polynomial once
//! reduced to be centered). The norm is sub-additive and sub-multiplicative and bounds every
//! coefficient, so decryption is exact as long as the bound is below half the modulus.
//!
//! **Fresh randomness.** A polynomial with independent, strictly sub-Gaussian coefficients of
//! variance σ² (uniform, ternary and centered binomial ones are) has |v(ζ)| > K σ √n with
//! probability at most 2^-170 at one ζ: each of 16 directions of the plane exceeds K cos(π/16) σ √n
//! with probability at most exp(-K² cos²(π/16)), so K = √((170 + 4) ln 2) / cos(π/16) = 11.20. The
//! union over all embeddings and all events of a bootstrap (about 2^25) stays below 2^-128. Events
//! are:
//! * rounding in modulus switching: τ0 + τ1 s with τ uniform in ±t/2; ‖·‖ <= t K √(n/12) √(1 +
//!   ‖s‖²). This is the *floor*.
//! * key switching: Σ_i D_i e_i / P over the digits D_i, uniform in ± half the digit: t K √(n/12)
//!   ‖e‖ √(Σ (D_i/P)²).
//! * encryption: t e, or t (e v + e0 + e1 s) under a public key.
//!
//! **Fixed randomness.** The secret and the errors inside keys are drawn once and re-drawn until
//! ‖s‖ <= 3.5 √(2n/3) (3.5 √h for a sparse one) and ‖e‖ <= 4 σ √n, so those enter as bounds, not as
//! tails. Rounding errors and digits are modelled as uniform and independent of the keys, as they
//! are for uniform c1. Everything after that (sums, products, automorphisms, plaintext constants)
//! is deterministic.
//!
//! **NTRU.** The phase is c f, f = t u + 1 with the largest t of the set: ‖u‖, ‖g‖ <= 3.5 σ √n, so
//! ‖f‖ <= 1 + t 3.5 σ √n. A rounding is τ f, the floor t K √(n/12) ‖f‖; the error of a key is g s +
//! f e, with s and e as the errors above; that of an encryption t (g s + f e) + κ m f, and whatever
//! polynomial is added to a ciphertext is multiplied by f ([`NoiseModel::added`]).
//!
//! **Coefficient law.** For decryption and for the entry of bootstrapping only the coefficients
//! count; there the last rounding is bounded by the law of its coefficients (15.4 standard
//! deviations: two-sided 2^-170), which is 8 bits smaller than the floor.
//!
//! **Average.** The same formulas without their tails and limits ([`Account::Average`]), sums being
//! sums of squares, estimate the root mean square of the embeddings. That takes operands for
//! independent, which they need not be: it is printed beside the bounds, and no decision rests on
//! it.
//!
//! All bounds are log2 of magnitudes ("bits").

mod extended;
mod failure;
mod model;
mod raising;
mod transitions;

use crate::form::Form;
use crate::params::Level;

pub use extended::{ExtendedMeta, embedding_profile};
pub use failure::{Events, NEVER};
pub use model::{Account, NoiseModel};

/// log2 of the probability that one modelled event exceeds its bound.
pub const EVENT_LOG2: f64 = -170.0;
/// K: the canonical tail factor.
const TAIL: f64 = 11.20;
/// The two-sided tail factor of one real coefficient.
const COEFFICIENT_TAIL: f64 = 15.40;

/// w: the base of the digits that raised polynomials are cut into: about √p, and 32 for small p.
///
/// The product of a raised polynomial with the encrypted sparse secret is the first thing a
/// bootstrapping pays noise for; digits of half the length save log2(p)/2 - 1 bits of modulus for
/// one more plaintext product.
pub fn raise_digit(p: u64) -> u64 {
    if p < SMALL_PRIME { 32 } else { p.isqrt() + 1 }
}

/// Below, digits to the base √p would be too many.
const SMALL_PRIME: u64 = 64;

/// How many digits hold coefficients modulo p^e.
pub(crate) fn raise_digit_count(p: u64, e: u32) -> usize {
    if p < SMALL_PRIME { raise_digit_ranges(p, p.pow(e)).len() } else { 2 * e as usize }
}

/// The ranges of the digits to base w of integers in ±range/2: w for all but the last one.
pub(crate) fn raise_digit_ranges(p: u64, range: u64) -> Vec<f64> {
    let w = raise_digit(p) as f64;
    let (mut ranges, mut rest) = (Vec::new(), range as f64);
    while rest > w {
        ranges.push(w);
        rest = rest / w + 1.0;
    }
    ranges.push(rest);
    ranges
}

/// log2(2^a + 2^b).
pub fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2
    }
}

/// log2 of the root of the sum of the squares of 2^a and 2^b.
pub(crate) fn log_hypot(a: f64, b: f64) -> f64 {
    log_add(2.0 * a, 2.0 * b) / 2.0
}

/// What is public about a ciphertext beside its polynomials.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// Its level.
    pub level: Level,
    /// The exponent e of its plaintext modulus p^e.
    pub exponent: u32,
    /// Where it keeps its message.
    pub form: Form,
    /// The unit κ modulo p^e that its message is multiplied by.
    pub factor: u64,
    /// How many products of ciphertexts lie on the longest path that led here, from a fresh or
    /// raised one.
    pub depth: u32,
    /// log2 of the bound on the canonical norm of its phase w = κ m + t ε (in BFV form: of t times
    /// its phase modulo q).
    pub noise: f64,
    /// log2 of what the root mean square of its embeddings is expected to be
    /// ([`Account::Average`]): for information, nothing rests on it. The bound, where it is not
    /// known, as in files; of no account in comparisons.
    pub estimate: f64,
}

impl PartialEq for Meta {
    fn eq(&self, other: &Self) -> bool {
        let public = |m: &Meta| (m.level, m.exponent, m.form, m.factor, m.depth);
        public(self) == public(other) && self.noise == other.noise
    }
}
