//! Round keys by bits from one ciphertext a key.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{DiagonalValues, ExactScheme, Level, NextUse};
use rayon::prelude::*;

use crate::field::{linearized, mul};
use crate::{AesError, ByteEmbedding, RoundKeys, UnpackBytes};

/// The bits of bytes: from a ciphertext of [`UnpackBytes`] to eight, and so from a packed round key
/// to one for [`BitSliced`](super::BitSliced).
///
/// Bit i of a byte is the trace of δ_i times it, δ being dual to the basis 1, x, .., x^7: eight
/// sums Σ_j δ_i^(2^j) σ^j of seven hoisted automorphisms, σ Frobenius.
pub struct UnpackBits<S: ExactScheme> {
    bytes: UnpackBytes<S>,
    /// σ^0, .., σ^7.
    images: Vec<GaloisElement>,
    /// The δ_i^(2^j), the most significant bit first.
    duals: Vec<Vec<S::Diagonal>>,
}

impl<S: ExactScheme> UnpackBits<S> {
    /// Prepares 80 plaintexts for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// Those of [`UnpackBytes::new`].
    pub fn new(scheme: &S, level: Level) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        let embedding = ByteEmbedding::new(shape)?;
        let diagonal = |byte: u8| {
            let values = embedding.element(byte).repeat(shape.carrier_slots());
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
    pub fn apply(&self, scheme: &S, x: &S::Ciphertext) -> Result<Vec<S::Ciphertext>, AesError> {
        let bits = |byte: &S::Ciphertext| {
            let parts = scheme.hoist(byte, &self.images)?;
            let bit = |row: &Vec<S::Diagonal>| {
                let sum = scheme.combine(&parts, &[row.iter().map(Some).collect()])?.swap_remove(0);
                Ok(scheme.galois_sum(vec![(self.images[0], sum)], NextUse::LinearMap)?)
            };
            self.duals.iter().map(bit).collect::<Result<Vec<_>, AesError>>()
        };
        let all: Vec<_> =
            self.bytes.apply(scheme, x)?.par_iter().map(bits).collect::<Result<_, _>>()?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Packed round keys as a [`KeySource`](crate::KeySource) for [`BitSliced`](super::BitSliced).
    pub fn source<'k>(
        &'k self,
        scheme: &'k S,
        keys: &'k RoundKeys<S>,
    ) -> impl FnMut(usize, Level) -> Result<Vec<S::Ciphertext>, AesError> + 'k {
        keys.unpacking_source(scheme, |key| self.apply(scheme, key))
    }
}

/// δ_i: the byte whose product with x^i has trace 1, and with the other powers of x trace 0.
fn dual(i: usize) -> u8 {
    let traces =
        |delta: u8| (0..8).fold(0, |bits, k| bits | linearized([1; 8], mul(delta, 1 << k)) << k);
    (0..=255).find(|&delta| traces(delta) == 1 << i).unwrap_or(0)
}
