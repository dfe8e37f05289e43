//! Round keys by bytes from one ciphertext a key.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{ExactScheme, Level, NextUse};

use crate::embedding::ByteEmbedding;
use crate::error::AesError;
use crate::line::Line;
use crate::round_keys::RoundKeys;

/// From one ciphertext with the bytes of a block along a line, as [`Packed`](crate::Packed) has
/// them, to 16 that hold one byte each, in all slots of the line. A round key, the same in all
/// blocks, becomes one for [`ByteSliced`](crate::ByteSliced): a client sends 11, 13 or 15
/// ciphertexts, whichever way the server goes.
///
/// 15 hoisted automorphisms and 16 sums of them, each with its mask.
pub struct UnpackBytes<S: ExactScheme> {
    /// ρ^0, .., ρ^15.
    rotations: Vec<GaloisElement>,
    /// 1 at one place of the line.
    places: Vec<S::Diagonal>,
}

impl<S: ExactScheme> UnpackBytes<S> {
    /// Prepares 16 plaintexts for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// Those of [`Packed::new`](crate::Packed::new).
    pub fn new(scheme: &S, level: Level) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        let (embedding, line) = (ByteEmbedding::new(shape)?, Line::of(shape)?);
        let place = |p: usize| {
            scheme.diagonal(&line.diagonal(|byte| embedding.element(u8::from(byte == p))), 1, level)
        };
        let places = (0..16).map(place).collect::<Result<_, _>>()?;
        Ok(UnpackBytes { rotations: (0..16).map(|k| line.rotation(shape, k)).collect(), places })
    }

    /// The bytes in their order, at the level of `x` or somewhat below. Their noise is some 9 bits
    /// above that of `x` or of a key switch there, which of them is larger: keys that are meant for
    /// a state are best some 30 bits of modulus above it, so that it vanishes on the way down.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn apply(&self, scheme: &S, x: &S::Ciphertext) -> Result<Vec<S::Ciphertext>, AesError> {
        let parts = scheme.hoist(x, &self.rotations)?;
        let byte = |i: usize| {
            // At place p, byte i is k = i - p to the right.
            let row = (0..16).map(|k| Some(&self.places[(i + 16 - k) % 16])).collect();
            let sum = scheme.combine(&parts, &[row])?.swap_remove(0);
            Ok(scheme.galois_sum(vec![(self.rotations[0], sum)], NextUse::LinearMap)?)
        };
        (0..16).map(byte).collect()
    }

    /// Packed round keys as a [`KeySource`](crate::KeySource) for
    /// [`ByteSliced`](crate::ByteSliced): each is unpacked when it is asked for.
    pub fn source<'k>(
        &'k self,
        scheme: &'k S,
        keys: &'k RoundKeys<S>,
    ) -> impl FnMut(usize, Level) -> Result<Vec<S::Ciphertext>, AesError> + 'k {
        keys.unpacking_source(scheme, |key| self.apply(scheme, key))
    }
}

impl<S: ExactScheme> RoundKeys<S> {
    /// Keys for [`ByteSliced`](crate::ByteSliced) from those for [`Packed`](crate::Packed), which
    /// are a sixteenth of the size: 15 key switches for each.
    ///
    /// # Errors
    /// [`AesError::Width`] for keys that are not packed, those of the scheme.
    pub fn unpacked(&self, scheme: &S, unpack: &UnpackBytes<S>) -> Result<Self, AesError> {
        let mut source = unpack.source(scheme, self);
        let keys = (0..=self.size().rounds()).map(|round| source(round, Level(0)));
        let keys = keys.collect::<Result<_, _>>()?;
        RoundKeys::new(self.size(), keys)
    }
}
