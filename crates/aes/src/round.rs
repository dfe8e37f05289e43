//! The order of the steps of AES in both directions.

use crate::error::AesError;
use crate::key::KeySize;

/// Which way blocks go through AES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

/// What is computed: AES in one direction, or its first rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cipher {
    /// The size of the key.
    pub size: KeySize,
    /// The direction.
    pub direction: Direction,
    /// How many rounds, [`KeySize::rounds`] being all of them.
    pub rounds: usize,
}

impl Cipher {
    /// All rounds.
    pub fn new(size: KeySize, direction: Direction) -> Self {
        Cipher { size, direction, rounds: size.rounds() }
    }

    /// The first `rounds` rounds.
    #[must_use]
    pub fn reduced(self, rounds: usize) -> Self {
        Cipher { rounds, ..self }
    }

    /// The number of the round key that is added after `number` rounds.
    pub fn key(&self, number: usize) -> usize {
        match self.direction {
            Direction::Encrypt => number,
            Direction::Decrypt => self.size.rounds().saturating_sub(number),
        }
    }

    /// A round by its number, from 1 on.
    pub fn round(&self, number: usize) -> Round {
        let unmixed = match self.direction {
            Direction::Encrypt => self.size.rounds(),
            Direction::Decrypt => 1,
        };
        Round { direction: self.direction, key: self.key(number), mixes: number != unmixed }
    }

    pub(crate) fn check(&self) -> Result<(), AesError> {
        let highest = self.size.rounds();
        if self.rounds > highest {
            Err(AesError::Rounds { found: self.rounds, highest })
        } else {
            Ok(())
        }
    }
}

/// A round of AES: from one addition of a round key to the next.
///
/// Encryption: SubBytes, ShiftRows, MixColumns, key. Decryption: InvMixColumns, InvShiftRows,
/// InvSubBytes, key, the order of FIPS-197's InvCipher (section 5.3), so that both directions add
/// the same round keys, and one linear map lies between the inversions of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The direction.
    pub direction: Direction,
    /// Which round key is added.
    pub key: usize,
    /// Whether it has MixColumns or its inverse: all but the last round of encryption and the first
    /// of decryption.
    pub mixes: bool,
}
