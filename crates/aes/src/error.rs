//! Errors of AES.

use everlevel_circuit::CircuitError;
use everlevel_ring::RingError;
use everlevel_scheme::{Level, SchemeError};

use crate::key_id::AesKeyId;

/// The errors of AES and its use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AesError {
    /// The scheme refused an operation.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The ring refused a modulus or an inverse.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// A circuit or a bootstrapping refused for a reason of its own; errors of the scheme and of
    /// the ring have their variants here, wherever they come from.
    #[error(transparent)]
    Circuit(CircuitError),
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
    /// An initialization vector or a nonce of another length than its mode has.
    #[error("{what} of {found} bytes: expected {expected}")]
    NonceLength {
        /// Which.
        what: &'static str,
        /// Bytes given.
        found: usize,
        /// Bytes expected.
        expected: &'static str,
    },
    /// A first counter that the counter's bits do not hold.
    #[error(
        "the first counter value {found} is too large: the nonce leaves {bits} bits for the counter"
    )]
    CounterStart {
        /// The counter.
        found: u128,
        /// Its width.
        bits: u32,
    },
    /// A counter would wrap, and its keystream repeat.
    #[error(
        "the number of blocks to encrypt is {blocks}, and {left} are left under this nonce before \
         the counter of {bits} bits wraps: use another nonce for the rest"
    )]
    CounterOverflow {
        /// The width of the counter.
        bits: u32,
        /// Blocks asked for.
        blocks: usize,
        /// Blocks that are left.
        left: u128,
    },
    /// Data that are no whole number of blocks, in a mode that needs one.
    #[error(
        "{found} bytes to decrypt in CBC or ECB mode: expected a multiple of 16; the padding is \
         part of the data"
    )]
    DataLength {
        /// Bytes given.
        found: usize,
    },
    /// More data than a state holds, or none of it in the slots.
    #[error("{found} bytes: a state holds at most {highest}; process the data in several parts")]
    BatchLength {
        /// Bytes given or asked for.
        found: usize,
        /// Bytes that there is room for.
        highest: usize,
    },
    /// Data after data that ended within a block.
    #[error(
        "cannot append after byte {offset}: the previous chunk ended with a partial block; start \
         a new stream at the next counter value"
    )]
    Ended {
        /// How many bytes came before.
        offset: u64,
    },
    /// Another number of round keys than AES has.
    #[error("the number of round keys is {found}: expected {expected}")]
    RoundKeys {
        /// Keys given.
        found: usize,
        /// Keys expected.
        expected: usize,
    },
    /// A round key at too low a level.
    #[error(
        "the key of round {round} is at level {found}, the state at level {needed}: encrypt it at \
         that level or above"
    )]
    KeyLevel {
        /// The round.
        round: usize,
        /// The key's level.
        found: Level,
        /// The state's level.
        needed: Level,
    },
    /// Slots without a subfield of bytes.
    #[error(
        "slot degree {degree} is not a multiple of 8, so slots cannot hold bytes; take \
         a set such as aes-bgv-leveled, or the bit-sliced method"
    )]
    NoBytes {
        /// The degree of a slot.
        degree: usize,
    },
    /// No place for the bytes of a block in one ciphertext.
    #[error(
        "slots with dimensions of {sizes:?}: AES with whole blocks in a ciphertext needs a good \
         dimension of 16 slots, which indices have that 17 divides and that have a larger prime \
         factor: take a set such as aes-bgv-leveled, or the byte-sliced method"
    )]
    NoLine {
        /// The sizes of the dimensions.
        sizes: Vec<usize>,
    },
    /// Plaintexts that are not bits.
    #[error(
        "AES on ciphertexts needs plaintext modulus 2, found {found}: take a set such as \
         aes-bgv-leveled"
    )]
    PlainModulus {
        /// The prime of the plaintext modulus.
        found: u64,
    },
    /// A decrypted slot is outside of the subfield.
    #[error("slot {slot} does not hold a {what}: this is not a state of AES")]
    NotInField {
        /// The slot.
        slot: usize,
        /// What it should hold.
        what: &'static str,
    },
    /// Data under one AES key and the encryption of another.
    #[error(
        "the data are encrypted with AES key {data}, but the encrypted AES key is {key}: give an \
         encrypted AES key and data that belong together"
    )]
    WrongKey {
        /// The key of the data.
        data: AesKeyId,
        /// The key that was encrypted.
        key: AesKeyId,
    },
    /// An encrypted key that nothing is known of.
    #[error(
        "the data are encrypted with AES key {data}, and the encrypted AES key does not say which \
         key it is: encrypt the AES key again"
    )]
    UnknownKey {
        /// The key of the data.
        data: AesKeyId,
    },
    /// The caller requested something else than an upload states.
    #[error(
        "{what} {asked} contradicts the upload, which states {stated}: leave it out, or give the \
         upload that it belongs to"
    )]
    Contradiction {
        /// What.
        what: &'static str,
        /// What was asked for.
        asked: String,
        /// What the upload states.
        stated: String,
    },
}

everlevel_ring::error_codes!(AesError {
    KeyLength => "aes.key-length",
    Rounds => "aes.rounds",
    Width => "aes.width",
    NonceLength => "aes.nonce-length",
    CounterStart => "aes.counter-start",
    CounterOverflow => "aes.counter-overflow",
    DataLength => "aes.data-length",
    BatchLength => "aes.batch-length",
    Ended => "aes.ended",
    RoundKeys => "aes.round-keys",
    KeyLevel => "aes.key-level",
    NoBytes => "aes.no-bytes",
    NoLine => "aes.no-line",
    PlainModulus => "aes.plain-modulus",
    NotInField => "aes.not-in-field",
    WrongKey => "aes.wrong-key",
    UnknownKey => "aes.unknown-key",
    Contradiction => "aes.contradiction",
} inner { Scheme, Ring, Circuit });

/// What a circuit only passed on keeps the variant that it has here.
impl From<CircuitError> for AesError {
    fn from(e: CircuitError) -> Self {
        match e {
            CircuitError::Scheme(e) => AesError::Scheme(e),
            CircuitError::Ring(e) => AesError::Ring(e),
            e => AesError::Circuit(e),
        }
    }
}

impl AesError {
    /// Checks a number of ciphertexts, as every way of evaluation has to.
    ///
    /// # Errors
    /// [`AesError::Width`] if `found` is not `expected`.
    pub fn check_width(what: &'static str, found: usize, expected: usize) -> Result<(), Self> {
        if found == expected { Ok(()) } else { Err(AesError::Width { what, found, expected }) }
    }

    pub(crate) fn check_batch(found: usize, highest: usize) -> Result<(), Self> {
        if found <= highest { Ok(()) } else { Err(AesError::BatchLength { found, highest }) }
    }

    pub(crate) fn check_prime(p: u64) -> Result<(), Self> {
        if p == 2 { Ok(()) } else { Err(AesError::PlainModulus { found: p }) }
    }
}
