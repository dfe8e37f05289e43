//! AES on bytes in slots that hold them whole.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{DiagonalValues, Level, NextUse, Plaintext, Scheme};
use rayon::prelude::*;

use super::embedding::ByteEmbedding;
use super::field::{AFFINE, AFFINE_CONSTANT, MIX, mul, shifted};
use super::{Aes, AesError, KeySource};
use crate::error::CircuitError;

/// AES with a ciphertext for each of the 16 bytes of a state; a slot, an extension of GF(2^8), holds a byte of a block.
///
/// A round has 64 products and 48 automorphisms for x^254, depth 3, and one linear map, 112 hoisted automorphisms, for all the rest: SubBytes' affine map
/// Σ c_j σ^j, σ Frobenius, with ShiftRows and MixColumns folded in.
pub struct ByteSliced<S: Scheme> {
    embedding: ByteEmbedding,
    /// σ^0, .., σ^7.
    images: Vec<GaloisElement>,
    /// k c_j for k = 1, 2, 3.
    multiples: [Vec<S::Diagonal>; 3],
    /// SubBytes' constant in every slot.
    constant: Plaintext,
    slots: usize,
}

impl<S: Scheme> ByteSliced<S> {
    /// Prepares 24 plaintexts for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// Those of [`ByteEmbedding::new`] and of the scheme.
    pub fn new(scheme: &S, level: Level) -> Result<Self, CircuitError> {
        let shape = scheme.slot_shape();
        let embedding = ByteEmbedding::new(shape)?;
        let diagonal = |byte: u8| {
            let values = embedding.element(byte).repeat(shape.columns());
            scheme.diagonal(&DiagonalValues::LastDimensions(values), 1, level)
        };
        let multiples = |k: u8| AFFINE.iter().map(|&c| diagonal(mul(k, c))).collect::<Result<Vec<_>, _>>();
        let multiples = [multiples(1)?, multiples(2)?, multiples(3)?];
        let constant = scheme.encode_elements(&embedding.element(AFFINE_CONSTANT).repeat(shape.slots()))?;
        Ok(ByteSliced { embedding, images: Self::automorphisms(shape), multiples, constant, slots: shape.slots() })
    }
    /// The automorphisms that it uses: the first eight powers of Frobenius, the identity first.
    pub fn automorphisms(shape: &SlotShape) -> Vec<GaloisElement> {
        let next = |g: &GaloisElement| Some(shape.compose(*g, shape.frobenius()));
        std::iter::successors(Some(shape.identity()), next).take(8).collect()
    }
    /// x^254: four products, depth 3, and three automorphisms.
    fn inverse(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        let power = |x: &S::Ciphertext, j: usize| scheme.apply_galois(x, self.images[j]);
        let x2 = power(x, 1)?;
        let x3 = scheme.mul(x, &x2, NextUse::LinearMap)?;
        let x12 = power(&x3, 2)?;
        let x15 = scheme.mul(&x12, &x3, NextUse::LinearMap)?;
        let x14 = scheme.mul(&x12, &x2, NextUse::Product)?;
        let x240 = power(&x15, 4)?;
        Ok(scheme.mul(&x240, &x14, NextUse::LinearMap)?)
    }
    /// The affine map of SubBytes on `inputs`, then the matrix `factors`: one output for each of its rows. The sum of a row is 1, as it is in AES, so that SubBytes'
    /// constant comes out of it as it went in.
    fn combine(&self, scheme: &S, inputs: &[&S::Ciphertext], factors: &[&[u8]]) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let mut parts = Vec::with_capacity(8 * inputs.len());
        for x in scheme.prepare_together(inputs, NextUse::LinearMap)? {
            parts.extend(scheme.galois_many(&x, &self.images)?);
        }
        let row = |factors: &&[u8]| factors.iter().flat_map(|&k| self.multiples[usize::from(k) - 1].iter().map(Some)).collect();
        let rows: Vec<Vec<_>> = factors.iter().map(row).collect();
        let sums = scheme.combine(&parts, &rows)?;
        let finish = |sum| {
            let linear = scheme.galois_sum(vec![(self.images[0], sum)], NextUse::LinearMap)?;
            Ok(scheme.add_plain(&linear, &self.constant)?)
        };
        sums.into_iter().map(finish).collect()
    }
    /// SubBytes on one byte.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn sub_byte(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        let mut out = self.combine(scheme, &[&self.inverse(scheme, x)?], &[&[1]])?;
        Ok(out.swap_remove(0))
    }
}

impl<S: Scheme> Aes<S> for ByteSliced<S> {
    fn width(&self) -> usize {
        16
    }
    fn blocks(&self) -> usize {
        self.slots
    }
    fn depth_of_round(&self) -> u32 {
        3
    }
    fn encode(&self, blocks: &[[u8; 16]]) -> Vec<Vec<u64>> {
        let missing = self.slots.saturating_sub(blocks.len()) * self.embedding.degree();
        let slots = |position: usize| {
            let elements = blocks.iter().flat_map(|block| self.embedding.element(block[position])).copied();
            elements.chain(std::iter::repeat_n(0, missing)).collect()
        };
        (0..16).map(slots).collect()
    }
    fn decode(&self, elements: &[Vec<u64>]) -> Result<Vec<[u8; 16]>, CircuitError> {
        AesError::check_width("the decrypted state", elements.len(), 16)?;
        let degree = self.embedding.degree();
        let count = elements.iter().map(Vec::len).min().unwrap_or(0) / degree;
        let mut blocks = vec![[0; 16]; count];
        for (position, ciphertext) in elements.iter().enumerate() {
            for (slot, (block, element)) in blocks.iter_mut().zip(ciphertext.chunks(degree)).enumerate() {
                block[position] = self.embedding.byte(element).ok_or(AesError::NotInField { slot, what: "byte" })?;
            }
        }
        Ok(blocks)
    }
    fn round(
        &self,
        scheme: &S,
        state: Vec<S::Ciphertext>,
        number: usize,
        last: bool,
        keys: KeySource<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        AesError::check_width("the state", state.len(), 16)?;
        let inverses: Vec<_> = state.par_iter().map(|x| self.inverse(scheme, x)).collect::<Result<_, _>>()?;
        let shifted: Vec<&S::Ciphertext> = (0..16).map(|position| &inverses[shifted(position)]).collect();
        let columns: Vec<_> = if last {
            shifted.par_chunks(1).map(|byte| self.combine(scheme, byte, &[&[1]])).collect::<Result<_, _>>()?
        } else {
            let [a, b, c, d] = MIX;
            let rows: [&[u8]; 4] = [&[a, b, c, d], &[d, a, b, c], &[c, d, a, b], &[b, c, d, a]];
            shifted.par_chunks(4).map(|column| self.combine(scheme, column, &rows)).collect::<Result<_, _>>()?
        };
        let state: Vec<_> = columns.into_iter().flatten().collect();
        let lowest = state.iter().map(|x| scheme.level(x)).min().unwrap_or(Level(0));
        self.add_key(scheme, &state, number, lowest, keys)
    }
}
