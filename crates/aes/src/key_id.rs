//! The ids of AES keys.
//!
//! An id is a hash of the key, cut to 128 bits: data under AES carry no name of their own, so
//! whoever labels them states it, and the encrypted key states it, too. It is public, as check
//! values of keys are elsewhere. Of a uniformly random key a random oracle tells nothing but to
//! somebody who guesses all of it: a guess can be tested, which known plaintext allows as well. A
//! key that can be guessed (made of a password, say) is confirmed by its id: such keys are none
//! for AES either.

use std::fmt;

use zeroize::Zeroize;

use crate::error::AesError;
use crate::key::KeySize;

/// What separates ids of AES keys from everything else that is hashed.
const CONTEXT: &str = "everlevel 2026-11-24 id of an AES key";

/// The public name of an AES key, which its encryption and the data under it carry: it tells keys
/// apart. Equal keys have equal ids, wherever they are used.
///
/// In print `{}` gives the first 8 hexadecimal digits, `{:#}` all 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AesKeyId([u8; 16]);

impl AesKeyId {
    /// The id of a key. Time does not depend on the key, but on its length.
    ///
    /// # Errors
    /// [`AesError::KeyLength`] for other than 16, 24 or 32 bytes.
    pub fn of(key: &[u8]) -> Result<Self, AesError> {
        let size = KeySize::of(key.len())?;
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&[size.bytes() as u8]).update(key);
        let mut hash = hasher.finalize();
        let mut bits = [0; 16];
        bits.copy_from_slice(&hash.as_bytes()[..16]);
        hasher.zeroize();
        hash.zeroize();
        Ok(AesKeyId(bits))
    }

    /// The id with these 128 bits.
    pub const fn from_bits(bits: [u8; 16]) -> Self {
        AesKeyId(bits)
    }

    /// The id of 32 hexadecimal digits; none of anything else.
    pub fn from_hex(digits: &str) -> Option<Self> {
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let digit = |c: u8| char::from(c).to_digit(16).map(|x| x as u8);
        let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
        let bytes: Vec<u8> = bytes.collect::<Option<_>>().filter(|_| rest.is_empty())?;
        bytes.try_into().ok().map(AesKeyId)
    }

    /// Its 128 bits.
    pub const fn bits(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for AesKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if f.alternate() { &self.0[..] } else { &self.0[..4] };
        shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for AesKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AesKeyId({self:#})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_differ_have_other_ids() {
        let key = [7; 32];
        let ids = [16, 24, 32].map(|bytes| AesKeyId::of(&key[..bytes]).unwrap());
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
        assert_eq!(AesKeyId::of(&key[..16]).unwrap(), ids[0]);
        let mut other = key;
        other[15] ^= 1;
        assert_ne!(AesKeyId::of(&other[..16]).unwrap(), ids[0]);
        assert_eq!(AesKeyId::of(&key[..17]), Err(AesError::KeyLength { found: 17 }));
        // As docs/format.md has it.
        let hash = blake3::derive_key(CONTEXT, &[&[16], &key[..16]].concat());
        assert_eq!(ids[0].bits()[..], hash[..16]);
    }

    #[test]
    fn ids_are_printed_and_read() {
        let id = AesKeyId::of(&[0; 16]).unwrap();
        let long = format!("{id:#}");
        assert_eq!((long.len(), format!("{id}")), (32, long[..8].to_string()));
        assert_eq!(AesKeyId::from_hex(&long), Some(id));
        assert_eq!(AesKeyId::from_hex(&long.to_uppercase()), Some(id));
        for text in ["", "00", &long[1..], &format!("{long}0"), &long.replace(&long[..1], "g")] {
            assert_eq!(AesKeyId::from_hex(text), None, "{text}");
        }
    }
}
