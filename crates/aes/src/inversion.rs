//! S-boxes on bytes in slots: inversion in GF(2^8), and F_2-linear maps.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{DiagonalValues, ExactScheme, Level, NextUse};
use rayon::prelude::*;

use crate::embedding::ByteEmbedding;
use crate::error::AesError;
use crate::field::mul;

/// σ^0, .., σ^4, σ being Frobenius: the automorphisms of inversions and of linear maps.
#[derive(Clone, Debug)]
pub(crate) struct Conjugations([GaloisElement; 5]);

impl Conjugations {
    pub(crate) fn new(shape: &SlotShape) -> Self {
        let power =
            |k: usize| (0..k).fold(shape.identity(), |g, _| shape.compose(g, shape.frobenius()));
        Conjugations(std::array::from_fn(power))
    }

    /// All of them, the identity first.
    pub(crate) fn elements(&self) -> &[GaloisElement] {
        &self.0
    }

    /// x^254: four products, depth 3, and three automorphisms.
    ///
    /// # Errors
    /// Those of the scheme.
    pub(crate) fn inverse<S: ExactScheme>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, AesError> {
        let power = |x: &S::Ciphertext, j: usize| scheme.apply_galois(x, self.0[j]);
        let x2 = power(x, 1)?;
        let x3 = scheme.mul(x, &x2, NextUse::LinearMap)?;
        let x12 = power(&x3, 2)?;
        let x15 = scheme.mul(&x12, &x3, NextUse::LinearMap)?;
        let x14 = scheme.mul(&x12, &x2, NextUse::Product)?;
        let x240 = power(&x15, 4)?;
        Ok(scheme.mul(&x240, &x14, NextUse::LinearMap)?)
    }

    /// One output for each row of `maps`: the sum of the images of `inputs` under them, rounded
    /// once. Three hoisted automorphisms an input and one an output.
    ///
    /// # Errors
    /// Those of the scheme.
    pub(crate) fn linear<S: ExactScheme>(
        &self,
        scheme: &S,
        inputs: &[&S::Ciphertext],
        maps: &[Vec<&ByteMap<S>>],
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let mut parts = Vec::with_capacity(4 * inputs.len());
        for x in scheme.prepare_together(inputs, NextUse::LinearMap)? {
            parts.extend(scheme.hoist(&x, &self.0[..4])?);
        }
        let halves = maps.iter().flat_map(|row| [(row, 0), (row, 1)]);
        let rows: Vec<Vec<_>> = halves
            .map(|(row, half)| row.iter().flat_map(|map| map.0[half].iter().map(Some)).collect())
            .collect();
        let mut sums = scheme.combine(&parts, &rows)?.into_iter();
        let mut outputs = Vec::with_capacity(maps.len());
        while let (Some(low), Some(high)) = (sums.next(), sums.next()) {
            outputs.push(
                scheme.galois_sum(vec![(self.0[0], low), (self.0[4], high)], NextUse::LinearMap)?,
            );
        }
        Ok(outputs)
    }
}

/// An F_2-linear map on bytes, Σ c_j σ^j = Σ_(j < 4) c_j σ^j + σ^4 Σ_(j < 4) σ^-4(c_(j + 4)) σ^j:
/// the constants of both sums. Half of the automorphisms need no keys in this way, and half of the
/// images no memory.
pub(crate) struct ByteMap<S: ExactScheme>([Vec<S::Diagonal>; 2]);

impl<S: ExactScheme> ByteMap<S> {
    /// Prepares 8 plaintexts for ciphertexts at `level` or below, in parallel.
    ///
    /// # Errors
    /// Those of the scheme.
    pub(crate) fn new(
        scheme: &S,
        embedding: &ByteEmbedding,
        coefficients: [u8; 8],
        level: Level,
    ) -> Result<Self, AesError> {
        let places = scheme.slot_shape().carrier_slots();
        let diagonal = |byte: &u8| {
            let values = embedding.element(*byte).repeat(places);
            scheme.diagonal(&DiagonalValues::LastDimensions(values), 1, level)
        };
        // σ has order 8 on bytes.
        let moved = |byte: u8| (0..4).fold(byte, |y, _| mul(y, y));
        let [low, high] = [&coefficients[..4], &coefficients[4..]];
        let high = high.iter().map(|&c| moved(c));
        let bytes: Vec<u8> = low.iter().copied().chain(high).collect();
        let mut low = bytes.par_iter().map(diagonal).collect::<Result<Vec<_>, _>>()?;
        let high = low.split_off(4);
        Ok(ByteMap([low, high]))
    }
}
