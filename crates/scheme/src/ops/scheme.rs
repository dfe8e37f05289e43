//! What a ciphertext is: slots, plaintext modulus, level, noise.

use everlevel_ring::SlotShape;

use crate::error::SchemeError;
use crate::plaintext::Plaintext;
use crate::spec::{Form, Level};

/// An exact scheme: its slots, its plaintext modulus and the state of a ciphertext.
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

    /// log2 of what the norm is expected to be on average, for information only; none where there
    /// is no model of it.
    fn noise_estimate_bits(&self, _x: &Self::Ciphertext) -> Option<f64> {
        None
    }

    /// log2(modulus / (2 * noise bound)): what is left to compute with.
    fn capacity_bits(&self, x: &Self::Ciphertext) -> f64;

    /// That `x` can be a ciphertext of these parameters, by its level, plaintext modulus and noise
    /// bound and by the number, the degree and the primes of its polynomials: for what comes from
    /// somewhere else. Operations take it for granted.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`], or what is wrong with the level or the bound.
    fn check_params(&self, x: &Self::Ciphertext) -> Result<(), SchemeError>;

    /// Whether `x` is a BGV or a BFV ciphertext.
    fn form(&self, x: &Self::Ciphertext) -> Form;

    /// A plaintext modulo p^r by its slots, whole elements of GR(p^r, d): see
    /// [`Plaintext::encode_elements`].
    ///
    /// # Errors
    /// Another number of values than slots times d, or one outside of 0..p^r.
    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError>;
}
