//! Changes of the plaintext modulus, and conversion between the two forms of a ciphertext.

use super::scheme::Scheme;
use crate::error::SchemeError;
use crate::spec::Form;

/// Changes of the plaintext modulus p^e and of the form; none needs a key switch.
pub trait PlainModulus: Scheme {
    /// The same message in the given form: a multiplication by t or 1/t modulo Q, which changes
    /// neither noise bound nor level nor correction factor. If the primes are not 1 modulo the
    /// plaintext modulus, sums with other ciphertexts may need a multiplication by a constant to
    /// align the correction factors. A ciphertext of another parameter set, which all operations
    /// with errors refuse, stays as it is.
    fn convert(&self, a: &Self::Ciphertext, form: Form) -> Self::Ciphertext;

    /// Reduces the plaintext modulus: x modulo p^e becomes x modulo p^k, k <= e. Free of cost and
    /// noise.
    fn reduce_plain_modulus(
        &self,
        a: &Self::Ciphertext,
        k: u32,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Extends the plaintext modulus: from an encryption of x modulo p^k to one of y = x + p^k g
    /// modulo p^e, k <= e, where g is an *arbitrary* polynomial that depends on the noise. Later
    /// computation on y must not depend on g, or must remove it. Free of cost, and the noise bound
    /// does not change: the phase κ x + p^k ε is interpreted modulo p^e instead of p^k. Only later
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

    /// Exact division: p x modulo p^e becomes x modulo p^(e-1). The caller must ensure that every
    /// slot is a multiple of p. It costs a multiplication by 1/p modulo Q, and the phase is divided
    /// by p.
    fn divide_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;

    /// The inverse: x modulo p^(e-1) becomes p x modulo p^e, up to the largest exponent of the
    /// parameters. No key switch; the phase is multiplied by p, as is the plaintext modulus.
    fn multiply_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;
}
