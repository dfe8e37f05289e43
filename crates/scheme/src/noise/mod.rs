//! Levels and noise: the one model that every scheme follows.
//!
//! **Norm.** A ciphertext carries a bound on the canonical norm ‖v‖ = max over complex primitive
//! m-th roots ζ of |v(ζ)| of its phase v = c0 + c1 s = κ m + t ε (an integer polynomial once
//! reduced to be centered). The norm is sub-additive and sub-multiplicative and bounds every
//! coefficient, so decryption is exact as long as the bound is below half the modulus.
//!
//! **Fresh randomness.** A polynomial with independent, strictly sub-Gaussian coefficients of
//! variance σ² (uniform, ternary and centered binomial ones are) has |v(ζ)| > K σ √n with
//! probability at most 2^-170 at one ζ: the component in each of 16 directions of the complex plane
//! exceeds K cos(π/16) σ √n with probability at most exp(-K² cos²(π/16) / (1 + ρ)), so K = √(174
//! (1 + ρ) ln 2) / cos(π/16), 11.20 for ρ = 0 (16 · 2^-174 = 2^-170). Here (1 + ρ)/2 is the largest
//! share of the variance that one direction can have, ρ = max |Σ ζ^(2e)| / n over ζ, e the
//! exponents of the basis ([`Ring::noncircularity`](everlevel_ring::Ring::noncircularity)): 0 for
//! powers of two, 1/n for indices without square factor, and up to 0.42 for 3^k, where K is 13.3.
//! The union over all embeddings and all events of a bootstrapping (about 2^25) stays below 2^-128.
//! The events are:
//! * rounding in modulus switching: τ0 + τ1 s with τ uniform in ±t/2; ‖·‖ <= t K √(n/12) √(1 +
//!   ‖s‖²). This is the *floor*.
//! * key switching: Σ_i D_i e_i / P over the digits D_i, uniform in ± half the digit: t K √(n/12)
//!   ‖e‖ √(Σ (D_i/P)²).
//! * encryption: t e, or t (e v + e0 + e1 s) under a public key.
//!
//! **Fixed randomness.** The secret and the errors inside keys are drawn again until ‖s‖ <= 3.5
//! √(2n/3) (3.5 √h for a sparse secret) and ‖e‖ <= 4 σ √n, so they enter as bounds, without tail
//! factors. Rounding errors and digits are modeled as uniform and independent of the keys, as they
//! are for uniform c1. All other operations (sums, products, automorphisms, plaintext constants)
//! are deterministic.
//!
//! **NTRU.** The phase is c f, f = t u + 1 with the largest t of the set: ‖u‖, ‖g‖ <= 3.5 σ √n, so
//! ‖f‖ <= 1 + t 3.5 σ √n. A rounding is τ f, the floor t K √(n/12) ‖f‖; the error of a key is g s +
//! f e, with s and e as the errors above; the phase of an encryption is t (g s + f e) + κ m f, and
//! every polynomial that is added to a ciphertext is multiplied by f ([`NoiseModel::added`]).
//!
//! **Coefficient law.** For decryption and for the entry of bootstrapping only the coefficients
//! count; there the last rounding is bounded by the law of its coefficients (15.4 standard
//! deviations: two-sided 2^-170), which is 8 bits smaller than the floor. That of a component which
//! s² multiplies has the deviation of s² (Σ (s²)_i² <= ‖s‖² Σ s_i² for a power of two).
//!
//! **Average.** The same formulas without their tails and limits ([`NoiseEstimate::AverageCase`]),
//! with sums of squares for sums, estimate the root mean square of the embeddings. This assumes
//! independent operands, which need not hold: the estimate is printed beside the bounds, and no
//! decision depends on it.
//!
//! All bounds are log2 of magnitudes ("bits").

mod alignment;
mod bootstrap;
pub(crate) mod extended;
mod failure;
mod levels;
pub(crate) mod logarithm;
pub(crate) mod meta;
mod model;
mod overflow;
mod plain_modulus;
mod profile;
mod raise_digits;
mod tracker;
mod transitions;

pub use alignment::AlignedTerm;
pub use extended::ExtendedMeta;
pub use failure::{Events, NEVER};
pub use logarithm::log_add;
pub use meta::Meta;
pub use model::{EVENT_LOG2, NoiseEstimate, NoiseModel};
pub use overflow::least_overflow_bound;
pub use profile::Profile;
pub(crate) use raise_digits::raise_digit_count;
pub use raise_digits::{raise_digit, raise_digit_ranges};
pub use tracker::NoiseTracker;
