//! The public data of a ciphertext.

use crate::key_id::KeyId;
use crate::spec::{Form, Level};

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
    /// ([`NoiseEstimate::AverageCase`](super::NoiseEstimate::AverageCase)): for information,
    /// nothing rests on it. The bound, where it is not known, as in files; of no account in
    /// comparisons.
    pub estimate: f64,
    /// The secret key that it decrypts under; none without an owner or with an unknown one. Of no
    /// account in comparisons, as the no-op scheme, which foretells the rest, has no keys.
    pub owner: Option<KeyId>,
}

impl PartialEq for Meta {
    fn eq(&self, other: &Self) -> bool {
        let public = |m: &Meta| (m.level, m.exponent, m.form, m.factor, m.depth);
        public(self) == public(other) && self.noise == other.noise
    }
}
