//! The operations that bootstrapping needs in addition to those of every scheme.

use super::exact::ExactScheme;
use crate::error::SchemeError;
use crate::plaintext::Plaintext;

/// The scheme-specific first and last steps of bootstrapping.
///
/// An exhausted ciphertext modulo q0 under the sparse key s0 has phase w = κ m + p^r ε + q0 I over
/// the integers, with |I| <= B. There are two ways to continue:
/// * the message passes through the digit removal (Chen–Han 2018):
///   [`Bootstrappable::mod_raise_scaled`] returns p^v m + I, of which v digits are removed;
/// * the message bypasses the digit removal (Ma–Huang–Wang–Wang 2024, docs/adr/0003):
///   [`Bootstrappable::mod_raise_overflow`] returns u = I' - p^v I, from which digit removal
///   computes h = -I modulo p^r, and q0 h is added to the result of
///   [`Bootstrappable::mod_raise_message`].
pub trait Bootstrappable: ExactScheme + 'static {
    /// The result of the first step, from which the others start.
    type Base: Send + Sync;

    /// The exponent r of the plaintext modulus p^r that is bootstrapped.
    fn message_exponent(&self) -> u32;

    /// v: the number of base-p digits below the message in the result of
    /// [`Bootstrappable::mod_raise_scaled`].
    fn overflow_digits(&self) -> u32;

    /// B: the bound on |I| and |I'|.
    fn overflow_bound(&self) -> u64;

    /// The capacity below which [`Bootstrappable::to_base_modulus`] refuses a ciphertext.
    fn minimum_capacity(&self) -> f64;

    /// Switches `x` to the modulus q0 and to the sparse key. Returns an error if the phase could be
    /// too large for an exact bootstrapping.
    fn to_base_modulus(&self, x: &Self::Ciphertext) -> Result<Self::Base, SchemeError>;

    /// u = I' - Δ I at the top level, where I' is the overflow of the ciphertext times Δ modulo q0,
    /// and |I|, |I'| <= B in every coefficient. It costs one plaintext product for each encryption
    /// of the sparse key. The plaintext modulus is p^(r+v) for Δ = p^v (type A), and p^r for any
    /// other Δ below that (type B).
    fn mod_raise_overflow(
        &self,
        r: &Self::Base,
        delta: u64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The message and the overflow, m + q0 I modulo p^r, in a form that can be added to a
    /// ciphertext such as `like`. It costs one plaintext product for each encryption of the sparse
    /// key.
    fn mod_raise_message(
        &self,
        r: &Self::Base,
        like: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The constant by which h must be multiplied before it is added to the message: q0 mod p^r,
    /// centered, divided by the correction factor of the message. It is 1 for sets whose primes are
    /// 1 modulo p^r, in BGV form.
    fn base_modulus_mod_t(&self, r: &Self::Base) -> i64;

    /// p^v u m + I modulo p^(r+v) at the top level, with |I| <= B in every coefficient, where u is
    /// a unit that [`Bootstrappable::set_correction_factor`] removes after the digit removal.
    fn mod_raise_scaled(&self, r: &Self::Base) -> Result<Self::Ciphertext, SchemeError>;

    /// A transparent encryption of zero with the level and noise bound of a result of
    /// [`Bootstrappable::prepare_thin_input`], for rehearsals.
    fn encrypt_zero_at(&self, capacity: f64) -> Result<Self::Ciphertext, SchemeError>;

    /// A transparent ciphertext of a plaintext, at the top level, which hides nothing: for public
    /// data in computations on encrypted data. It has no noise; its stated bound is that of an
    /// encryption under the secret key, so that later operations are the same.
    fn transparent(&self, x: &Plaintext) -> Result<Self::Ciphertext, SchemeError>;

    /// A transparent ciphertext of a plaintext for sums with ciphertexts such as `like`, whose
    /// level, form and factor it has. Its bound is that of any plaintext, so a sum is what
    /// [`add_plain`](crate::Arithmetic::add_plain) makes, with the same bound, and the plaintext is
    /// transformed once for several of them.
    ///
    /// # Errors
    /// As [`add_plain`](crate::Arithmetic::add_plain).
    fn addend(
        &self,
        x: &Plaintext,
        like: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Switches `x` to the lowest level at which a noise bound of twice the floor leaves `capacity`
    /// bits, and sets its noise bound so that exactly `capacity` bits are left: level and bound are
    /// the same for every ciphertext. `x` needs two bits more; returns an error if it has less.
    fn prepare_thin_input(
        &self,
        x: &Self::Ciphertext,
        capacity: f64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Changes an encryption of u m to one of m, by its correction factor. Free of cost and noise.
    fn set_correction_factor(&self, r: &Self::Base, x: Self::Ciphertext) -> Self::Ciphertext;
}
