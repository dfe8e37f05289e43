//! Tokens: what a client shows to a service.

use std::fmt;
use std::str::FromStr;

use crate::error::RemoteError;
use crate::name::random_hex;

const PREFIX: &str = "everlevel_";
/// How many hexadecimal digits a token has.
const DIGITS: usize = 64;

/// A token itself, which its bearer has and the service has not.
pub struct Token(String);

impl Token {
    /// A new one, of 256 random bits.
    ///
    /// # Errors
    /// A system without randomness.
    pub fn random() -> Result<Self, RemoteError> {
        Ok(Token(format!("{PREFIX}{}", random_hex::<{ DIGITS / 2 }>()?)))
    }

    /// The text, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Token {
    type Err = RemoteError;

    /// A text that may be a token, whether a service knows it or not.
    fn from_str(text: &str) -> Result<Self, RemoteError> {
        let digits = text.strip_prefix(PREFIX).unwrap_or_default();
        match digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            true => Ok(Token(text.into())),
            // What it is instead may be another secret.
            false => Err(RemoteError::malformed(
                "the token",
                format!(
                    "expected {PREFIX} and {DIGITS} hexadecimal digits, as it was printed when it \
                     was drawn, found something else"
                ),
            )),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
