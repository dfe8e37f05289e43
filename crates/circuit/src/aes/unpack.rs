//! Round keys for all ways of evaluation from one ciphertext a key.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{DiagonalValues, Level, NextUse, Scheme};
use rayon::prelude::*;

use super::embedding::ByteEmbedding;
use super::field::{linearized, mul};
use super::line::Line;
use super::{AesError, RoundKeys};
use crate::error::CircuitError;

/// From one ciphertext with the bytes of a block along a line, as [`Packed`](super::Packed) has
/// them, to 16 that hold one byte each, in all slots of the line. A round key, the same in all
/// blocks, becomes one for [`ByteSliced`](super::ByteSliced): a client sends 11, 13 or 15
/// ciphertexts, whichever way the server goes.
///
/// 15 hoisted automorphisms and 16 sums of them, each with its mask.
pub struct UnpackBytes<S: Scheme> {
    /// ρ^0, .., ρ^15.
    rotations: Vec<GaloisElement>,
    /// 1 at one place of the line.
    places: Vec<S::Diagonal>,
}

impl<S: Scheme> UnpackBytes<S> {
    /// Prepares 16 plaintexts for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// Those of [`Packed::new`](super::Packed::new).
    pub fn new(scheme: &S, level: Level) -> Result<Self, CircuitError> {
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
    pub fn apply(&self, scheme: &S, x: &S::Ciphertext) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let parts = scheme.galois_many(x, &self.rotations)?;
        let byte = |i: usize| {
            // At place p, byte i is k = i - p to the right.
            let row = (0..16).map(|k| Some(&self.places[(i + 16 - k) % 16])).collect();
            let sum = scheme.combine(&parts, &[row])?.swap_remove(0);
            Ok(scheme.galois_sum(vec![(self.rotations[0], sum)], NextUse::LinearMap)?)
        };
        (0..16).map(byte).collect()
    }

    /// Packed round keys as a [`KeySource`](super::KeySource) for
    /// [`ByteSliced`](super::ByteSliced): each is unpacked when it is asked for.
    pub fn source<'k>(
        &'k self,
        scheme: &'k S,
        keys: &'k RoundKeys<S>,
    ) -> impl FnMut(usize, Level) -> Result<Vec<S::Ciphertext>, CircuitError> + 'k {
        |round, level| {
            let key = keys.key(scheme, round, level)?;
            AesError::check_width("a packed round key", key.len(), 1)?;
            self.apply(scheme, &key[0])
        }
    }
}

/// The bits of bytes: from a ciphertext of [`UnpackBytes`] to eight, and so from a packed round key
/// to one for [`BitSliced`](super::BitSliced).
///
/// Bit i of a byte is the trace of δ_i times it, δ being dual to the basis 1, x, .., x^7: eight
/// sums Σ_j δ_i^(2^j) σ^j of seven hoisted automorphisms, σ Frobenius.
pub struct UnpackBits<S: Scheme> {
    bytes: UnpackBytes<S>,
    /// σ^0, .., σ^7.
    images: Vec<GaloisElement>,
    /// The δ_i^(2^j), the most significant bit first.
    duals: Vec<Vec<S::Diagonal>>,
}

impl<S: Scheme> UnpackBits<S> {
    /// Prepares 80 plaintexts for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// Those of [`UnpackBytes::new`].
    pub fn new(scheme: &S, level: Level) -> Result<Self, CircuitError> {
        let shape = scheme.slot_shape();
        let embedding = ByteEmbedding::new(shape)?;
        let diagonal = |byte: u8| {
            let values = embedding.element(byte).repeat(shape.columns());
            scheme.diagonal(&DiagonalValues::LastDimensions(values), 1, level)
        };
        let row = |bit: usize| {
            let conjugates = std::iter::successors(Some(dual(7 - bit)), |y| Some(mul(*y, *y)));
            conjugates.take(8).map(diagonal).collect::<Result<Vec<_>, _>>()
        };
        let duals = (0..8).map(row).collect::<Result<_, _>>()?;
        let next = |g: &GaloisElement| Some(shape.compose(*g, shape.frobenius()));
        let images = std::iter::successors(Some(shape.identity()), next).take(8).collect();
        Ok(UnpackBits { bytes: UnpackBytes::new(scheme, level)?, images, duals })
    }

    /// The 128 bits in the order of [`BitSliced`](super::BitSliced), at the level of `x` or
    /// somewhat below; noise grows twice as it does for bytes.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn apply(&self, scheme: &S, x: &S::Ciphertext) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let bits = |byte: &S::Ciphertext| {
            let parts = scheme.galois_many(byte, &self.images)?;
            let bit = |row: &Vec<S::Diagonal>| {
                let sum = scheme.combine(&parts, &[row.iter().map(Some).collect()])?.swap_remove(0);
                Ok(scheme.galois_sum(vec![(self.images[0], sum)], NextUse::LinearMap)?)
            };
            self.duals.iter().map(bit).collect::<Result<Vec<_>, CircuitError>>()
        };
        let all: Vec<_> =
            self.bytes.apply(scheme, x)?.par_iter().map(bits).collect::<Result<_, _>>()?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Packed round keys as a [`KeySource`](super::KeySource) for [`BitSliced`](super::BitSliced).
    pub fn source<'k>(
        &'k self,
        scheme: &'k S,
        keys: &'k RoundKeys<S>,
    ) -> impl FnMut(usize, Level) -> Result<Vec<S::Ciphertext>, CircuitError> + 'k {
        |round, level| {
            let key = keys.key(scheme, round, level)?;
            AesError::check_width("a packed round key", key.len(), 1)?;
            self.apply(scheme, &key[0])
        }
    }
}

/// δ_i: the byte whose product with x^i has trace 1, and with the other powers of x trace 0.
fn dual(i: usize) -> u8 {
    let traces =
        |delta: u8| (0..8).fold(0, |bits, k| bits | linearized([1; 8], mul(delta, 1 << k)) << k);
    (0..=255).find(|&delta| traces(delta) == 1 << i).unwrap_or(0)
}
