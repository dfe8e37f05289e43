//! The error of the facade.

use everlevel_aes::AesError;
use everlevel_circuit::CircuitError;
use everlevel_integers::IntegersError;
use everlevel_ring::RingError;
use everlevel_scheme::SchemeError;
use everlevel_wire::WireError;

/// What can go wrong. Every message says what was expected, what was found and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Parameters, keys, noise, operands.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Circuits and bootstrapping.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    /// AES on ciphertexts.
    #[error(transparent)]
    Aes(AesError),
    /// Typed integers.
    #[error(transparent)]
    Integers(IntegersError),
    /// Bytes and files.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The ring layer: encodings, the system's randomness.
    #[error(transparent)]
    Ring(#[from] RingError),
}

/// What AES only passed on keeps the variant that it has here.
impl From<AesError> for Error {
    fn from(e: AesError) -> Self {
        match e {
            AesError::Scheme(e) => Error::Scheme(e),
            AesError::Circuit(e) => Error::Circuit(e),
            AesError::Ring(e) => Error::Ring(e),
            e => Error::Aes(e),
        }
    }
}

/// What typed integers only passed on keeps the variant that it has here.
impl From<IntegersError> for Error {
    fn from(e: IntegersError) -> Self {
        match e {
            IntegersError::Scheme(e) => Error::Scheme(e),
            IntegersError::Circuit(e) => Error::Circuit(e),
            IntegersError::Ring(e) => Error::Ring(e),
            e => Error::Integers(e),
        }
    }
}

impl Error {
    /// A name for programs, which does not change when messages do: `wire.truncated`, for example.
    /// docs/errors.md has them all.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Scheme(e) => e.code(),
            Error::Circuit(e) => e.code(),
            Error::Aes(e) => e.code(),
            Error::Integers(e) => e.code(),
            Error::Wire(e) => e.code(),
            Error::Ring(e) => e.code(),
        }
    }
}
