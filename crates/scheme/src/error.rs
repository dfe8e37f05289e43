//! Errors of the schemes.

use everlevel_ring::RingError;

use crate::key_id::KeyId;
use crate::spec::level::Level;

/// The errors of a scheme. Every message states what was expected, what was found and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemeError {
    /// A parameter set is inconsistent.
    #[error("parameter set {name}: {problem}")]
    BadParams {
        /// The set's name.
        name: String,
        /// The problem, what was expected, and what to do.
        problem: String,
    },
    /// No parameter set has this name.
    #[error("no parameter set is named {name}; known sets: {known}")]
    UnknownParams {
        /// The name asked for.
        name: String,
        /// The existing names.
        known: String,
    },
    /// A set below 128 bits without the explicit opt-in.
    #[error(
        "parameter set {name} has {bits:.1} bits of security, below 128: it is for research only \
         and must be asked for explicitly; real data need a set such as bgv-65537-n15"
    )]
    Insecure {
        /// The set's name.
        name: String,
        /// The weakest key's security.
        bits: f64,
    },
    /// A set whose bootstrapping fails often, without the explicit opt-in, which is separate from
    /// the one for low security.
    #[error(
        "a bootstrapping of parameter set {name} gives wrong values, without an error, with \
         probability 2^{failure_log2:.1}, above 2^-40: raise overflow_bound or lower \
         sparse_weight; if wrong values are acceptable, ask for them explicitly (allow_failures)"
    )]
    FrequentFailures {
        /// The set's name.
        name: String,
        /// log2 of the probability.
        failure_log2: f64,
    },
    /// The noise bound of the result would be too large: the result could be wrong.
    #[error(
        "{operation} refused: its noise bound 2^{noise_bits:.1} does not fit the modulus \
         2^{modulus_bits:.1} at level {level}; refresh (bootstrap) the operands first, for \
         which a set such as bgv-65537-n15 has room"
    )]
    NoiseOverflow {
        /// The operation.
        operation: &'static str,
        /// log2 of the noise bound of the result.
        noise_bits: f64,
        /// log2 of the modulus.
        modulus_bits: f64,
        /// The level.
        level: Level,
    },
    /// The caller cancelled the work.
    #[error("the computation was cancelled before it was done")]
    Cancelled,
    /// Operands of different plaintext moduli.
    #[error(
        "{operation}: operands have plaintext moduli p^{left} and p^{right}; bring them to the \
         same modulus first"
    )]
    PlainModulusMismatch {
        /// The operation.
        operation: &'static str,
        /// The exponent of the left operand.
        left: u32,
        /// The exponent of the right operand.
        right: u32,
    },
    /// A BGV and a BFV operand.
    #[error(
        "{operation}: one operand is in {left} form and the other in {right} form; convert one of \
         them, which is free"
    )]
    FormMismatch {
        /// The operation.
        operation: &'static str,
        /// The form of the left operand.
        left: &'static str,
        /// The form of the right operand.
        right: &'static str,
    },
    /// Keys or ciphertexts of two owners.
    #[error(
        "{operation} refused: one part belongs to the secret key {left} and the other to the \
         secret key {right}; give keys and ciphertexts of one owner, or bring the ciphertexts to \
         the other key first (a change of keys)"
    )]
    WrongKey {
        /// The operation.
        operation: &'static str,
        /// The owner of the operand, or of the left one.
        left: KeyId,
        /// The owner of the key in use, or of the right operand.
        right: KeyId,
    },
    /// The decrypted phase or values cannot be an honest result.
    #[error(
        "decryption refused: under this secret key the ciphertext holds nothing that its noise \
         bound, its slots and its range allow; it was made for another key, was changed, states a \
         wrong bound or range, or holds values of another kind than requested: check which key it \
         belongs to and get it again"
    )]
    NotDecryptable,
    /// A ciphertext without a known owner, for which no check would detect a wrong key.
    #[error(
        "{operation} refused: the ciphertext does not say which secret key it belongs to, and \
         {problem}"
    )]
    UnknownOwner {
        /// The operation.
        operation: &'static str,
        /// Why a wrong key would not be detected, and what to do.
        problem: &'static str,
    },
    /// A key was not generated.
    #[error(
        "{operation} needs the {key}, which the server keys do not contain; add it to the key plan \
         and generate the keys again"
    )]
    MissingKey {
        /// The operation.
        operation: &'static str,
        /// Which key.
        key: String,
    },
    /// A key exists but cannot be read.
    #[error("the {key} cannot be read: {problem}")]
    UnreadableKey {
        /// Which key.
        key: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A key exists for lower levels only.
    #[error(
        "{operation} at level {level} needs the {key} at that level, but it was generated for \
         lower levels only; extend the key plan and generate the keys again"
    )]
    KeyTooShort {
        /// The operation.
        operation: &'static str,
        /// Which key.
        key: String,
        /// The level of the operand.
        level: Level,
    },
    /// An object belongs to another parameter set.
    #[error(
        "{object} belongs to another parameter set than {name}: use keys and ciphertexts of one set"
    )]
    WrongParams {
        /// The object.
        object: &'static str,
        /// The set in use.
        name: String,
    },
    /// A level that does not exist or cannot be reached.
    #[error("level {found} is not available: expected a level from 0 to {highest}")]
    BadLevel {
        /// The requested level.
        found: Level,
        /// The highest possible level.
        highest: Level,
    },
    /// An argument of the wrong shape or value.
    #[error("{what}: expected {expected}, found {found}")]
    BadArgument {
        /// Which argument.
        what: &'static str,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// An error of the ring layer.
    #[error(transparent)]
    Ring(#[from] RingError),
}

impl SchemeError {
    /// Replaces every error that depends on the decrypted values by the one error of decryption;
    /// keeps all others.
    pub(crate) fn of_decrypted(self) -> Self {
        match self {
            SchemeError::Ring(RingError::NotThin { .. }) => SchemeError::NotDecryptable,
            e => e,
        }
    }
}

everlevel_ring::error_codes!(SchemeError {
    BadParams => "scheme.bad-params",
    UnknownParams => "scheme.unknown-params",
    Insecure => "scheme.insecure",
    FrequentFailures => "scheme.frequent-failures",
    NoiseOverflow => "scheme.noise-overflow",
    PlainModulusMismatch => "scheme.plain-modulus-mismatch",
    FormMismatch => "scheme.form-mismatch",
    WrongKey => "scheme.wrong-key",
    NotDecryptable => "scheme.not-decryptable",
    UnknownOwner => "scheme.unknown-owner",
    MissingKey => "scheme.missing-key",
    UnreadableKey => "scheme.unreadable-key",
    Cancelled => "scheme.cancelled",
    KeyTooShort => "scheme.key-too-short",
    WrongParams => "scheme.wrong-params",
    BadLevel => "scheme.bad-level",
    BadArgument => "scheme.bad-argument",
} inner { Ring });
