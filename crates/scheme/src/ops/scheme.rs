//! The public data of ciphertexts: slots, plaintext modulus, level, noise bound.

use everlevel_ring::SlotShape;

use crate::error::SchemeError;
use crate::plaintext::Plaintext;
use crate::spec::{Form, Level};

/// An exact scheme: its slots, its plaintext modulus and the public data of its ciphertexts.
///
/// Values are vectors of integers modulo `p^e`, or of elements of GR(p^e, d), one per slot; `e` is
/// a property of the ciphertext (bootstrapping moves between `p^(r+v)` and `p^r`).
pub trait Scheme: Send + Sync {
    /// An encrypted vector, with its level and its noise bound.
    type Ciphertext: Clone + Send + Sync;

    /// Rows, columns and automorphisms of the slots.
    fn slot_shape(&self) -> &SlotShape;

    /// The prime p of the plaintext modulus p^e.
    fn plain_prime(&self) -> u64;

    /// The exponent e of the plaintext modulus p^e of `x`.
    fn plain_exponent(&self, x: &Self::Ciphertext) -> u32;

    /// The level of `x`: its place in the modulus chain, 0 being the lowest.
    fn level(&self, x: &Self::Ciphertext) -> Level;

    /// log2 of the bound on the canonical norm of the phase of `x` (in BFV form of t times that,
    /// see [`crate::Form`]).
    fn noise_bound_bits(&self, x: &Self::Ciphertext) -> f64;

    /// log2 of the root mean square of the embeddings of the phase, estimated for information only;
    /// none if there is no model of it.
    fn noise_estimate_bits(&self, _x: &Self::Ciphertext) -> Option<f64> {
        None
    }

    /// The capacity in bits, log2(modulus / (2 * noise bound)): the noise budget that the bound
    /// guarantees.
    fn capacity_bits(&self, x: &Self::Ciphertext) -> f64;

    /// Checks that `x` can be a ciphertext of these parameters, by its level, plaintext modulus and
    /// noise bound and by the number, the degree and the primes of its polynomials. Use it for
    /// ciphertexts of unknown origin: operations refuse those of another parameter set, and assume
    /// the rest.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`], or an error about the level or the bound.
    fn check_params(&self, x: &Self::Ciphertext) -> Result<(), SchemeError>;

    /// Whether `x` is a BGV or a BFV ciphertext.
    fn form(&self, x: &Self::Ciphertext) -> Form;

    /// Encodes a plaintext modulo p^r whose slots hold whole elements of GR(p^r, d): see
    /// [`Plaintext::encode_elements`].
    ///
    /// # Errors
    /// A number of values other than slots times d, or a value outside of 0..p^r.
    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError>;
}
