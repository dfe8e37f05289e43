//! Whose a key or a ciphertext is.

use std::fmt;

/// The public name of a secret key, which everything that was made with the key carries: public and
/// server keys, ciphertexts, results. It tells keys apart and says nothing about them.
///
/// Two objects belong together if their ids are equal. Where there is an `Option` of one, none
/// stands for what has no owner (plaintexts, the no-op scheme) and for what came from a file that
/// does not name its owner; it goes together with everything, of the result nothing is known
/// either, and the check of the phase at decryption is what is left.
///
/// In print `{}` gives the first 8 hexadecimal digits, `{:#}` all 32.
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
