//! Encrypted round keys: from the client, or [expanded](crate::expansion) by the server.

use everlevel_scheme::{ExactScheme, Level};

use crate::error::AesError;
use crate::key::KeySize;

/// The encrypted round keys of one AES key, in the layout of a way of evaluation.
pub struct RoundKeys<S: ExactScheme> {
    size: KeySize,
    keys: Vec<Vec<S::Ciphertext>>,
}

impl<S: ExactScheme> RoundKeys<S> {
    /// Keys as the client encrypted them: those of rounds 0 to [`KeySize::rounds`], in this order,
    /// whatever the direction of use.
    ///
    /// # Errors
    /// [`AesError::RoundKeys`] for another number of them.
    pub fn new(size: KeySize, keys: Vec<Vec<S::Ciphertext>>) -> Result<Self, AesError> {
        let expected = size.rounds() + 1;
        if keys.len() != expected {
            return Err(AesError::RoundKeys { found: keys.len(), expected });
        }
        Ok(RoundKeys { size, keys })
    }

    /// The size of the key that they come from.
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// The keys of rounds 0 to [`KeySize::rounds`].
    pub fn keys(&self) -> &[Vec<S::Ciphertext>] {
        &self.keys
    }

    /// The level of a round's key, the lowest of its ciphertexts'.
    pub fn level(&self, scheme: &S, round: usize) -> Level {
        self.keys
            .get(round)
            .and_then(|key| key.iter().map(|x| scheme.level(x)).min())
            .unwrap_or(Level(0))
    }

    /// The keys, as AES asks for them.
    pub fn source<'k>(
        &'k self,
        scheme: &'k S,
    ) -> impl FnMut(usize, Level) -> Result<Vec<S::Ciphertext>, AesError> + 'k {
        |round, level| self.key(scheme, round, level)
    }

    /// The keys for another layout, as AES asks for them: each is a packed one that `unpack` takes
    /// apart when it is asked for.
    pub fn unpacking_source<'k>(
        &'k self,
        scheme: &'k S,
        unpack: impl Fn(&S::Ciphertext) -> Result<Vec<S::Ciphertext>, AesError> + 'k,
    ) -> impl FnMut(usize, Level) -> Result<Vec<S::Ciphertext>, AesError> + 'k {
        move |round, level| {
            let key = self.key(scheme, round, level)?;
            AesError::check_width("a packed round key", key.len(), 1)?;
            unpack(&key[0])
        }
    }

    /// The key of a round, for use at `level`: a copy.
    ///
    /// # Errors
    /// [`AesError::Rounds`] for a round that there is not, [`AesError::KeyLevel`] for a key below
    /// `level`, which would cost the state its capacity.
    pub fn key(
        &self,
        scheme: &S,
        round: usize,
        level: Level,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let highest = self.size.rounds();
        let key = self.keys.get(round).ok_or(AesError::Rounds { found: round, highest })?;
        let found = self.level(scheme, round);
        if found < level {
            Err(AesError::KeyLevel { round, found, needed: level })
        } else {
            Ok(key.clone())
        }
    }
}
