//! The kinds of objects.

use std::fmt;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum ObjectKind {
    /// A parameter set.
    Params = 1,
    /// A secret key.
    SecretKey = 2,
    /// A public key.
    PublicKey = 3,
    /// Server keys.
    ServerKeys = 4,
    /// A vector of plaintexts.
    Plaintexts = 5,
    /// A vector of ciphertexts.
    Ciphertexts = 6,
    /// A vector of ciphertexts that can only be decrypted.
    Results = 7,
    /// A parameter set of LTV over prime powers.
    LtvParams = 8,
    /// A secret key of it.
    LtvSecretKey = 9,
    /// A public key of it.
    LtvPublicKey = 10,
    /// Evaluation keys of it.
    LtvEvalKeys = 11,
    /// A vector of its ciphertexts.
    LtvCiphertexts = 12,
    /// Noise bounds of ciphertexts, authenticated.
    Manifest = 13,
}

impl ObjectKind {
    const ALL: [ObjectKind; 13] = [
        ObjectKind::Params,
        ObjectKind::SecretKey,
        ObjectKind::PublicKey,
        ObjectKind::ServerKeys,
        ObjectKind::Plaintexts,
        ObjectKind::Ciphertexts,
        ObjectKind::Results,
        ObjectKind::LtvParams,
        ObjectKind::LtvSecretKey,
        ObjectKind::LtvPublicKey,
        ObjectKind::LtvEvalKeys,
        ObjectKind::LtvCiphertexts,
        ObjectKind::Manifest,
    ];

    /// The kind with this number.
    pub(crate) fn of(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u16 == number)
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ObjectKind::Params => "parameters",
            ObjectKind::SecretKey => "a secret key",
            ObjectKind::PublicKey => "a public key",
            ObjectKind::ServerKeys => "server keys",
            ObjectKind::Plaintexts => "plaintexts",
            ObjectKind::Ciphertexts => "ciphertexts",
            ObjectKind::Results => "results for decryption",
            ObjectKind::LtvParams => "parameters of LTV over prime powers",
            ObjectKind::LtvSecretKey => "a secret key of LTV over prime powers",
            ObjectKind::LtvPublicKey => "a public key of LTV over prime powers",
            ObjectKind::LtvEvalKeys => "evaluation keys of LTV over prime powers",
            ObjectKind::LtvCiphertexts => "ciphertexts of LTV over prime powers",
            ObjectKind::Manifest => "a manifest of noise bounds",
        })
    }
}
