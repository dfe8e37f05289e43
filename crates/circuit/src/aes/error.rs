//! Errors of AES.

use crate::error::CircuitError;

/// What can be wrong with AES or with its use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AesError {
    /// A key of another length than AES has.
    #[error("an AES key of {found} bytes: expected 16, 24 or 32")]
    KeyLength {
        /// Bytes given.
        found: usize,
    },
    /// More rounds than AES has with such a key.
    #[error("{found} rounds of AES: expected at most {highest}")]
    Rounds {
        /// Rounds asked for.
        found: usize,
        /// Rounds there are.
        highest: usize,
    },
    /// A state or a round key has the wrong number of ciphertexts.
    #[error("{what} of AES has {found} ciphertexts: expected {expected}")]
    Width {
        /// Which.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// Slots without a subfield of bytes.
    #[error("slots of degree {degree} hold no bytes: AES by bytes needs a degree that is a multiple of 8; take it by bits")]
    NoBytes {
        /// The degree of a slot.
        degree: usize,
    },
    /// A decrypted slot is outside of the subfield.
    #[error("slot {slot} holds no {what}: this is no state of AES")]
    NotInField {
        /// The slot.
        slot: usize,
        /// What it should hold.
        what: &'static str,
    },
}

impl AesError {
    pub(crate) fn check_width(what: &'static str, found: usize, expected: usize) -> Result<(), Self> {
        if found == expected { Ok(()) } else { Err(AesError::Width { what, found, expected }) }
    }
    pub(crate) fn check_prime(p: u64) -> Result<(), CircuitError> {
        if p == 2 { Ok(()) } else { Err(CircuitError::ModulusMismatch { expected: 2, found: p }) }
    }
}
