//! Other plaintext moduli for the same phase, and the two forms of a ciphertext.

use super::scheme::Scheme;
use crate::error::SchemeError;
use crate::spec::Form;

/// Changes of the plaintext modulus p^e and of the form, all free of key switches.
pub trait PlainModulus: Scheme {
    /// The same message in the other form. Free: noise, level and factor stay. A converted
    /// ciphertext may need a constant to be aligned with others, where the primes are not 1 modulo
    /// the plaintext modulus.
    fn convert(&self, a: &Self::Ciphertext, form: Form) -> Self::Ciphertext;

    /// Forgets digits: x mod p^e to x mod p^k, k <= e. Free.
    fn reduce_plain_modulus(
        &self,
        a: &Self::Ciphertext,
        k: u32,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Some y modulo p^e with y = x modulo p^k, for a ciphertext of x modulo p^k, k <= e: x + p^k
    /// g, g being *anything*, a whole polynomial that depends on the noise. What is done with y
    /// must not depend on g, or must remove it. Free, and the noise bound stays: the phase κ x +
    /// p^k ε, which is what decryption reduces modulo p^k, is taken modulo p^e. Only later
    /// operations pay for the larger modulus.
    ///
    /// # Errors
    /// An exponent below that of x, or above the largest one of the parameters
    /// ([`extended_exponent`](crate::ParamsSpec::extended_exponent)).
    fn extend_plain_modulus(
        &self,
        a: &Self::Ciphertext,
        e: u32,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Exact division: p*x mod p^e to x mod p^(e-1). The caller knows that every slot is a multiple
    /// of p. Free, and the noise shrinks by p.
    fn divide_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;

    /// The way back: x mod p^(e-1) to p*x mod p^e, up to the largest exponent of the parameters.
    /// Free of key switches; the noise grows by p, as the modulus of the plaintext does.
    fn multiply_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;
}
