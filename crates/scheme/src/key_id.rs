//! The owner of a key or a ciphertext.

use std::fmt;

/// The public identifier of a secret key, which every object made with the key carries: public and
/// server keys, ciphertexts, results. It distinguishes keys and reveals nothing about them.
///
/// Two objects belong together if their ids are equal. In an `Option` of an id, none stands for
/// objects without an owner (plaintexts, the no-op scheme) and for objects from a file that does
/// not state its owner. Such an object can be combined with any other; the owner of the result is
/// then unknown as well, and only the check of the phase at decryption remains.
///
/// `{}` prints the first 8 hexadecimal digits, `{:#}` all 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; 16]);

impl KeyId {
    /// The id of a single secret key.
    pub const fn of_key(bits: [u8; 16]) -> Self {
        KeyId(bits)
    }

    /// Its 128 bits.
    pub const fn bits(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if f.alternate() { &self.0[..] } else { &self.0[..4] };
        shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self:#})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_a_short_and_a_long_form() {
        let mut bits = [0xab; 16];
        (bits[0], bits[15]) = (0x01, 0x0f);
        let id = KeyId::of_key(bits);
        assert_eq!(format!("{id}"), "01ababab");
        assert_eq!(format!("{id:#}"), "01ababababababababababababab".to_string() + "ab0f");
        assert_eq!(format!("{id:?}"), format!("KeyId({id:#})"));
    }
}
