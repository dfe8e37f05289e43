//! The public data of a ciphertext.

use crate::key_id::KeyId;
use crate::spec::{Form, Level, SetId};

/// The public data of a ciphertext, apart from its polynomials.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// Its level.
    pub level: Level,
    /// The exponent e of its plaintext modulus p^e.
    pub exponent: u32,
    /// Its form, BGV or BFV.
    pub form: Form,
    /// Its correction factor: the unit κ modulo p^e by which the message is multiplied in the
    /// phase.
    pub factor: u64,
    /// The number of products of ciphertexts on the longest path from a fresh or raised ciphertext
    /// to this one.
    pub depth: u32,
    /// log2 of the bound on the canonical norm of its phase w = κ m + t ε (in BFV form: of t times
    /// its phase modulo q).
    pub noise: f64,
    /// log2 of the estimated root mean square of its embeddings
    /// ([`NoiseEstimate::AverageCase`](super::NoiseEstimate::AverageCase)), for information: no
    /// decision depends on it. If it is unknown, as for files, the bound is used instead.
    /// Comparisons ignore it.
    pub estimate: f64,
    /// The secret key that it decrypts under; none without an owner or with an unknown one.
    /// Comparisons ignore it, as the no-op scheme, which predicts the other fields, has no keys.
    pub owner: Option<KeyId>,
    /// The parameter set; none where it is not known, as in the descriptor of a file. Every
    /// ciphertext of a [`Params`](crate::Params) has it. Comparisons ignore it.
    pub set: Option<SetId>,
}

impl PartialEq for Meta {
    fn eq(&self, other: &Self) -> bool {
        let public = |m: &Meta| (m.level, m.exponent, m.form, m.factor, m.depth);
        public(self) == public(other) && self.noise == other.noise
    }
}
