//! What bootstrapping needs of a scheme besides its operations.

use super::exact::ExactScheme;
use crate::error::SchemeError;
use crate::plaintext::Plaintext;

/// The scheme-specific ends of bootstrapping.
///
/// An exhausted ciphertext modulo q0 under the sparse key s0 has phase w = κ m + p^r ε + q0 I over
/// the integers, |I| <= B. Two ways lead on:
/// * *through* the digit removal (Chen–Han 2018): [`Bootstrappable::mod_raise_scaled`] gives p^v m
///   + I, of which v digits are removed;
/// * *round* it (message bypass, docs/adr/0003): [`Bootstrappable::mod_raise_overflow`] gives the
///   overflow part u, whose removal gives h = -I modulo p^r, and q0 h is added to
///   [`Bootstrappable::mod_raise_message`].
pub trait Bootstrappable: ExactScheme + 'static {
    /// What the first step leaves for the others.
    type Base: Send + Sync;

    /// The exponent r of the plaintext modulus p^r that is bootstrapped.
    fn message_exponent(&self) -> u32;

    /// v: how many digits [`Bootstrappable::mod_raise_scaled`] puts below the message.
    fn overflow_digits(&self) -> u32;

    /// B: the bound on |I| and |I'|.
    fn overflow_bound(&self) -> u64;

    /// The capacity below which [`Bootstrappable::to_base_modulus`] refuses a ciphertext.
    fn minimum_capacity(&self) -> f64;

    /// Switches `x` to q0 and to the sparse key. Errors if the phase could be too large for an
    /// exact bootstrapping.
    fn to_base_modulus(&self, x: &Self::Ciphertext) -> Result<Self::Base, SchemeError>;

    /// u = I' - Δ*I at the top level, |I|, |I'| <= B in every coefficient: one plaintext product
    /// for each digit. For Δ = p^v (type A) modulo p^(r+v), for any other Δ below that (type B)
    /// modulo p^r.
    fn mod_raise_overflow(
        &self,
        r: &Self::Base,
        delta: u64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The message m + q0*I modulo p^r, ready to be added to a ciphertext like `like`: one
    /// plaintext product for each digit.
    fn mod_raise_message(
        &self,
        r: &Self::Base,
        like: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The constant by which h must be multiplied before it is added to the message: q0 mod p^r,
    /// centered, divided by the unit that the message carried. 1 for sets whose primes are 1 modulo
    /// p^r, in BGV form.
    fn base_modulus_mod_t(&self, r: &Self::Base) -> i64;

    /// p^v u m + I modulo p^(r+v) at the top level, |I| <= B in every coefficient, u being a unit
    /// that [`Bootstrappable::set_correction_factor`] takes away.
    fn mod_raise_scaled(&self, r: &Self::Base) -> Result<Self::Ciphertext, SchemeError>;

    /// A transparent encryption of zero as [`Bootstrappable::prepare_thin_input`] would leave a
    /// ciphertext: for rehearsals.
    fn encrypt_zero_at(&self, capacity: f64) -> Result<Self::Ciphertext, SchemeError>;

    /// A ciphertext of a plaintext that hides nothing, at the top level: what a server knows, to be
    /// computed with as encryptions are. It has no noise; the bound that it states is that of an
    /// encryption under the secret key, so that the same operations follow.
    fn transparent(&self, x: &Plaintext) -> Result<Self::Ciphertext, SchemeError>;

    /// Switches `x` to the lowest level where switching leaves `capacity` bits above twice the
    /// floor, and leaves it exactly those: the same level and noise bound for every ciphertext. Two
    /// bits more are enough for `x`; errors if it has too few.
    fn prepare_thin_input(
        &self,
        x: &Self::Ciphertext,
        capacity: f64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// From u m to m. Free.
    fn set_correction_factor(&self, r: &Self::Base, x: Self::Ciphertext) -> Self::Ciphertext;
}
