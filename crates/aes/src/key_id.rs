//! The ids of AES keys.
//!
//! An id is a hash of the key, cut to 128 bits: data under AES carry no name of their own, so
//! their label states it, and the encrypted key states it, too. It is public, as check
//! values of keys are elsewhere. Of a uniformly random key a random oracle tells nothing but to
//! somebody who guesses all of it: a guess can be tested, which known plaintext allows as well. A
//! key that can be guessed (made of a password, say) is confirmed by its id: such keys are none
//! for AES either.

use std::fmt;

/// The public name of an AES key, which its encryption and the data under it carry: it tells keys
/// apart. Equal keys have equal ids, wherever they are used.
///
/// In print `{}` gives the first 8 hexadecimal digits, `{:#}` all 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AesKeyId([u8; 16]);

impl AesKeyId {
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
