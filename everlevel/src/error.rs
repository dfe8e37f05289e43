//! The error of the facade.

use everlevel_aes::AesError;
use everlevel_circuit::CircuitError;
use everlevel_integers::IntegersError;
use everlevel_ring::RingError;
use everlevel_scheme::SchemeError;
use everlevel_wire::WireError;

/// The error type of this crate. Every message states what was expected, what was found and what to
/// do.
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

/// Errors that AES only passes on keep their variant of [`Error`].
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

/// Errors that typed integers only pass on keep their variant of [`Error`].
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
    /// A stable code for programs, which does not change when messages do, such as
    /// `wire.truncated`. docs/errors.md lists all codes.
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
