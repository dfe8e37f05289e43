//! Key expansion on encrypted keys (FIPS-197, section 5.2).
//!
//! There are 10, 8 or 13 applications of SubWord in a row for keys of 16, 24 or 32 bytes, each of
//! depth 3, as a round. In encryption the key of round i is about as deep as the state that it is
//! added to, so the server may as well expand the key itself. Decryption begins with the last key
//! and needs room for both, or a refresh.

use everlevel_scheme::{ExactScheme, Level, Plaintext};
use rayon::prelude::*;

use crate::byte_sliced::ByteSliced;
use crate::error::AesError;
use crate::field::mul;
use crate::key::KeySize;
use crate::line::LineMap;
use crate::method::Aes;
use crate::packed::Packed;
use crate::refresh::Refresh;
use crate::round_keys::RoundKeys;

/// The same block everywhere, in the first ciphertext of a state.
fn everywhere<S: ExactScheme>(
    scheme: &S,
    aes: &impl Aes<S>,
    block: [u8; 16],
) -> Result<Plaintext, AesError> {
    Ok(scheme.encode_elements(&aes.encode(&vec![block; aes.blocks()])[0])?)
}

impl<S: ExactScheme> RoundKeys<S> {
    /// Expands a key for [`ByteSliced`]: `key` has 16, 24 or 32 ciphertexts, each with its byte in
    /// all slots. Four S-boxes a step. The words that the next ones are made of are refreshed, if
    /// there is a `refresh`, before a step for which they lack capacity.
    ///
    /// # Errors
    /// [`AesError::KeyLength`] for another number of ciphertexts, and those of the scheme and of
    /// `refresh`.
    pub fn expand(
        scheme: &S,
        aes: &ByteSliced<S>,
        key: Vec<S::Ciphertext>,
        refresh: Option<&Refresh<'_, S>>,
    ) -> Result<Self, AesError> {
        let size = KeySize::of(key.len())?;
        let words = key.len() / 4;
        // The last words, as many as the key has: each is replaced by its sum with the one before.
        let mut recent = key.clone();
        let mut bytes = key;
        let mut constant = 1;
        for word in words..4 * (size.rounds() + 1) {
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
                last =
                    last.par_iter().map(|x| aes.sub_byte(scheme, x)).collect::<Result<_, _>>()?;
            }
            if period == 0 {
                last[0] = scheme.add_plain(&last[0], &everywhere(scheme, aes, [constant; 16])?)?;
                constant = mul(constant, 2);
            }
            for (x, last) in recent[at..at + 4].iter_mut().zip(&last) {
                *x = scheme.add(x, last)?;
            }
            bytes.extend_from_slice(&recent[at..at + 4]);
        }
        RoundKeys::new(size, bytes.chunks(16).map(<[_]>::to_vec).collect())
    }

    /// Expands a key for [`Packed`]: `key` has its bytes as a block in one ciphertext, or in two
    /// (the rest of 24 bytes being 0). One S-box a step, and two linear maps of a few rotations;
    /// for 24 bytes some more to gather round keys. Refreshed as [`RoundKeys::expand`].
    ///
    /// # Errors
    /// [`AesError::Width`] for another number of ciphertexts, and those of the scheme and of
    /// `refresh`.
    pub fn expand_packed(
        scheme: &S,
        aes: &Packed<S>,
        size: KeySize,
        key: Vec<S::Ciphertext>,
        refresh: Option<&Refresh<'_, S>>,
    ) -> Result<Self, AesError> {
        let words = size.bytes() / 4;
        AesError::check_width("a packed key", key.len(), words.div_ceil(4))?;
        let level = key.iter().map(|x| scheme.level(x)).max().unwrap_or(Level(0));
        let fresh = |recent: Vec<S::Ciphertext>| match refresh {
            Some(refresh) => refresh.before_round(scheme, recent),
            None => Ok(recent),
        };
        let map = |sources: &dyn Fn(usize) -> Vec<usize>| LineMap::new(scheme, level, sources);
        // The column of a period's last word in its part; up to which column its second part goes.
        let (last_column, end) = ((words - 1) % 4, 4 * (words - 4));
        let prefix_sums = map(&|place| (place % 4..=place).step_by(4).collect())?;
        let rotated_word = map(&|place| vec![4 * last_column + (place % 4 + 1) % 4])?;
        let second_sums = map(&|place| {
            if place < end { (place % 4..=place).step_by(4).collect() } else { Vec::new() }
        })?;
        let last_word = map(&|place| if place < end { vec![12 + place % 4] } else { Vec::new() })?;

        let mut periods = vec![key.clone()];
        let mut recent = key;
        let mut constant = 1;
        for begin in (words..4 * (size.rounds() + 1)).step_by(words) {
            recent = fresh(recent)?;
            let substituted = aes.sub_bytes(scheme, &recent[recent.len() - 1])?;
            let sum = scheme.add(
                &prefix_sums.apply(scheme, &recent[0])?,
                &rotated_word.apply(scheme, &substituted)?,
            )?;
            let constants = std::array::from_fn(|place| if place % 4 == 0 { constant } else { 0 });
            recent[0] = scheme.add_plain(&sum, &everywhere(scheme, aes, constants)?)?;
            constant = mul(constant, 2);
            if words > 4 && begin + 4 < 4 * (size.rounds() + 1) {
                let last = match size {
                    KeySize::Aes256 => {
                        recent = fresh(recent)?;
                        &aes.sub_bytes(scheme, &recent[0])?
                    }
                    _ => &recent[0],
                };
                recent[1] = scheme.add(
                    &second_sums.apply(scheme, &recent[1])?,
                    &last_word.apply(scheme, last)?,
                )?;
            }
            periods.push(recent.clone());
        }
        let keys = match size {
            KeySize::Aes192 => gathered(scheme, level, &periods)?,
            _ => periods
                .into_iter()
                .flatten()
                .take(size.rounds() + 1)
                .map(|part| vec![part])
                .collect(),
        };
        RoundKeys::new(size, keys)
    }
}

/// Round keys, four words each, from periods of six words.
fn gathered<S: ExactScheme>(
    scheme: &S,
    level: Level,
    periods: &[Vec<S::Ciphertext>],
) -> Result<Vec<Vec<S::Ciphertext>>, AesError> {
    // From the left half to the right one, and back.
    let right =
        LineMap::new(scheme, level, |place| if place < 8 { Vec::new() } else { vec![place - 8] })?;
    let left =
        LineMap::new(scheme, level, |place| if place < 8 { vec![place + 8] } else { Vec::new() })?;
    let key = |round: usize| {
        let pair = &periods[round / 3 * 2..];
        Ok(vec![match round % 3 {
            0 => pair[0][0].clone(),
            1 => scheme.add(&pair[0][1], &right.apply(scheme, &pair[1][0])?)?,
            _ => {
                scheme.add(&left.apply(scheme, &pair[1][0])?, &right.apply(scheme, &pair[1][1])?)?
            }
        }])
    };
    (0..=KeySize::Aes192.rounds()).map(key).collect()
}
