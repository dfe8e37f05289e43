//! Encrypted round keys: from the client, or expanded by the server.

use everlevel_scheme::{Level, Plaintext, Scheme};
use rayon::prelude::*;

use super::byte_sliced::ByteSliced;
use super::field::mul;
use super::{Aes, AesError, KeySize, Refresh};
use crate::error::CircuitError;

/// The encrypted round keys of one AES key, in the layout of a way of evaluation.
pub struct RoundKeys<S: Scheme> {
    size: KeySize,
    keys: Vec<Vec<S::Ciphertext>>,
}

impl<S: Scheme> RoundKeys<S> {
    /// Keys as the client encrypted them: those of rounds 0 to [`KeySize::rounds`], in this order, whatever the direction of use.
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
        self.keys.get(round).and_then(|key| key.iter().map(|x| scheme.level(x)).min()).unwrap_or(Level(0))
    }
    /// The keys, as AES asks for them.
    pub fn source<'k>(&'k self, scheme: &'k S) -> impl FnMut(usize, Level) -> Result<Vec<S::Ciphertext>, CircuitError> + 'k {
        |round, level| self.key(scheme, round, level)
    }
    /// The key of a round, for use at `level`: a copy.
    ///
    /// # Errors
    /// [`AesError::Rounds`] for a round that there is not, [`AesError::KeyLevel`] for a key below `level`, which would cost the state its capacity.
    pub fn key(&self, scheme: &S, round: usize, level: Level) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let highest = self.size.rounds();
        let key = self.keys.get(round).ok_or(AesError::Rounds { found: round, highest })?;
        let found = self.level(scheme, round);
        if found < level { Err(AesError::KeyLevel { round, found, needed: level }.into()) } else { Ok(key.clone()) }
    }
}

impl<S: Scheme> RoundKeys<S> {
    /// Expands an encrypted key for [`ByteSliced`] (FIPS-197, section 5.2): `key` has 16, 24 or 32 ciphertexts, each with its byte in all slots.
    ///
    /// Four S-boxes for each of 10, 8 or 13 steps of depth 3 in a row, the keys of later rounds being at lower levels: in encryption just low enough, as the key of
    /// round i is i S-boxes deep, as is the state (for 24 and 32 bytes less deep, and about as deep). Decryption begins with the last key and needs room for both,
    /// or `refresh`, which is applied to as many words as the key has before a step that lacks capacity.
    ///
    /// # Errors
    /// [`AesError::KeyLength`] for another number of ciphertexts, and those of the scheme and of `refresh`.
    pub fn expand(
        scheme: &S,
        aes: &ByteSliced<S>,
        key: Vec<S::Ciphertext>,
        refresh: Option<&Refresh<'_, S>>,
    ) -> Result<Self, CircuitError> {
        let size = KeySize::of(key.len())?;
        let words = key.len() / 4;
        let wanted = 16 * (size.rounds() + 1);
        // The last words, as many as the key has: each is replaced by its sum with the one before.
        let mut recent = key.clone();
        let mut bytes = key;
        let mut constant = 1;
        for word in words..wanted / 4 {
            let (period, at) = (word % words, 4 * (word % words));
            let substituted = period == 0 || words > 6 && period == 4;
            if let (true, Some(refresh)) = (substituted, refresh) {
                recent = refresh.before_round(scheme, recent)?;
            }
            let before = (at + 4 * words - 4) % (4 * words);
            let mut last = recent[before..before + 4].to_vec();
            if period == 0 {
                last.rotate_left(1);
            }
            if substituted {
                last = last.par_iter().map(|x| aes.sub_byte(scheme, x)).collect::<Result<_, _>>()?;
            }
            if period == 0 {
                last[0] = scheme.add_plain(&last[0], &every_slot(scheme, aes, constant)?)?;
                constant = mul(constant, 2);
            }
            for (x, last) in recent[at..at + 4].iter_mut().zip(&last) {
                *x = scheme.add(x, last)?;
            }
            bytes.extend_from_slice(&recent[at..at + 4]);
        }
        let keys = bytes.chunks(16).map(<[_]>::to_vec).collect();
        Ok(RoundKeys { size, keys })
    }
}

/// A byte in every slot.
fn every_slot<S: Scheme>(scheme: &S, aes: &ByteSliced<S>, byte: u8) -> Result<Plaintext, CircuitError> {
    let elements = aes.encode(&vec![[byte; 16]; aes.blocks()]);
    Ok(scheme.encode_elements(&elements[0])?)
}
