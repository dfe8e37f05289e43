//! Names of objects, jobs and tenants: what a request may state, and nothing else reaches a path.

use std::fmt;
use std::str::FromStr;

use everlevel_ring::sample::system_rng;
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::error::RemoteError;

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, |$text:ident| $valid:expr, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl FromStr for $name {
            type Err = RemoteError;

            fn from_str($text: &str) -> Result<Self, RemoteError> {
                match $valid {
                    true => Ok($name($text.into())),
                    false => Err(RemoteError::malformed($what, $expected)),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = RemoteError;

            fn try_from(text: String) -> Result<Self, RemoteError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// The name of stored bytes: their BLAKE3 hash. A table has that of the list of its files.
    ObjectId,
    "the id of an object",
    |text| is_hex(text, 64),
    "expected 64 hexadecimal digits in lower case"
);
name!(
    /// The name of a job: 128 random bits.
    JobId,
    "the id of a job",
    |text| is_hex(text, 32),
    "expected 32 hexadecimal digits in lower case"
);
name!(
    /// Whose objects and jobs they are.
    Tenant,
    "the name of a tenant",
    |text| (1..=32).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|b| b == b'-' || b.is_ascii_digit() || b.is_ascii_lowercase()),
    "expected 1 to 32 of a to z, 0 to 9 and -, the first of them not -"
);
name!(
    /// A name that a client gives to a request, so that its repetition is known as one.
    IdempotencyKey,
    "the header Idempotency-Key",
    |text| (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'),
    "expected 1 to 64 letters, digits and -"
);

impl ObjectId {
    /// The name of bytes with this hash.
    pub fn of_hash(hash: blake3::Hash) -> Self {
        ObjectId(hash.to_hex().to_string())
    }
}

/// Two hexadecimal digits for each of `N` random bytes.
///
/// # Errors
/// A system without randomness.
pub fn random_hex<const N: usize>() -> Result<String, RemoteError> {
    let mut rng = system_rng()?;
    let mut bits = [0u8; N];
    rng.fill_bytes(&mut bits);
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl JobId {
    /// A new one.
    ///
    /// # Errors
    /// A system without randomness.
    pub fn random() -> Result<Self, RemoteError> {
        Ok(JobId(random_hex::<16>()?))
    }
}

impl IdempotencyKey {
    /// A new one.
    ///
    /// # Errors
    /// A system without randomness.
    pub fn random() -> Result<Self, RemoteError> {
        Ok(IdempotencyKey(random_hex::<16>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_is_a_name() {
        for text in ["", "..", "a/b", &"A".repeat(64), &"a".repeat(63), "a\0"] {
            assert!(text.parse::<ObjectId>().is_err(), "{text:?}");
            assert!(text.parse::<JobId>().is_err(), "{text:?}");
        }
        for text in ["", "..", "a/b", "A", "-a", "a\n", "é", &"a".repeat(33)] {
            assert!(text.parse::<Tenant>().is_err(), "{text:?}");
        }
        assert!("acme-2".parse::<Tenant>().is_ok());
        assert!(serde_json::from_str::<ObjectId>("\"../../state\"").is_err());
    }
}
