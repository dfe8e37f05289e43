//! The key expansion of AES, in plain, on the client's side.

use zeroize::Zeroizing;

use crate::error::AesError;
use crate::field::{mul, sub_byte};

/// The sizes of AES keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySize {
    /// 16 bytes, 10 rounds.
    Aes128,
    /// 24 bytes, 12 rounds.
    Aes192,
    /// 32 bytes, 14 rounds.
    Aes256,
}

impl KeySize {
    /// The size by the number of bytes.
    ///
    /// # Errors
    /// [`AesError::KeyLength`] for other than 16, 24 or 32.
    pub fn of(bytes: usize) -> Result<Self, AesError> {
        match bytes {
            16 => Ok(KeySize::Aes128),
            24 => Ok(KeySize::Aes192),
            32 => Ok(KeySize::Aes256),
            found => Err(AesError::KeyLength { found }),
        }
    }

    /// How many bytes such a key has.
    pub fn bytes(self) -> usize {
        match self {
            KeySize::Aes128 => 16,
            KeySize::Aes192 => 24,
            KeySize::Aes256 => 32,
        }
    }

    /// How many rounds AES has with such a key.
    pub fn rounds(self) -> usize {
        match self {
            KeySize::Aes128 => 10,
            KeySize::Aes192 => 12,
            KeySize::Aes256 => 14,
        }
    }
}

/// The round keys of an AES key. Wiped when dropped; no `Debug`, no comparison; expanded without
/// branches or addresses that depend on the key.
pub struct KeySchedule {
    size: KeySize,
    round_keys: Zeroizing<Vec<[u8; 16]>>,
}

impl KeySchedule {
    /// Expands a key (FIPS-197, section 5.2).
    ///
    /// # Errors
    /// [`AesError::KeyLength`] for a key of other than 16, 24 or 32 bytes.
    pub fn new(key: &[u8]) -> Result<Self, AesError> {
        let size = KeySize::of(key.len())?;
        let words = key.len() / 4;
        let wanted = 16 * (size.rounds() + 1);
        let mut bytes = Zeroizing::new(Vec::with_capacity(wanted));
        bytes.extend_from_slice(key);
        let mut constant = 1;
        for word in words..wanted / 4 {
            let at = 4 * (word - 1);
            let mut last = Zeroizing::new([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            if word % words == 0 {
                last.rotate_left(1);
                *last = last.map(sub_byte);
                last[0] ^= constant;
                constant = mul(constant, 2);
            } else if words > 6 && word % words == 4 {
                *last = last.map(sub_byte);
            }
            for x in *last {
                let earlier = bytes[bytes.len() - 4 * words];
                bytes.push(earlier ^ x);
            }
        }
        let round_keys = bytes.as_chunks::<16>().0.to_vec();
        Ok(KeySchedule { size, round_keys: Zeroizing::new(round_keys) })
    }

    /// The size of the key.
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// The keys of rounds 0 (what is added ahead of the first one) to [`KeySize::rounds`].
    pub fn round_keys(&self) -> &[[u8; 16]] {
        &self.round_keys
    }
}
