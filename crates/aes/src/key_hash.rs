//! Ids of AES keys, made of the keys.

use zeroize::Zeroize;

use crate::error::AesError;
use crate::key::KeySize;
use crate::key_id::AesKeyId;

/// What separates ids of AES keys from everything else that is hashed.
const CONTEXT: &str = "everlevel 2026-11-24 id of an AES key";

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
        Ok(AesKeyId::from_bits(bits))
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
}
