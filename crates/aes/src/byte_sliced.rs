//! AES on bytes in slots that hold them whole.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, Level, Plaintext};
use rayon::prelude::*;

use crate::embedding::ByteEmbedding;
use crate::error::AesError;
use crate::field::{
    AFFINE, AFFINE_CONSTANT, INVERSE_AFFINE, INVERSE_AFFINE_CONSTANT, INVERSE_MIX, MIX, mul,
    scaled, shifted, unshifted,
};
use crate::inversion::{ByteMap, Conjugations};
use crate::layout::Layout;
use crate::method::{Aes, KeySource};
use crate::round::{Direction, Round};

/// AES with one ciphertext for each of the 16 bytes of a state; each slot, an extension of GF(2^8),
/// holds this byte of one block.
///
/// A round takes 64 products and 48 automorphisms for x^254, at depth 3, and one linear map with 48
/// hoisted automorphisms and 16 more, which combines the affine map Σ c_j σ^j of SubBytes, where σ
/// is Frobenius, with ShiftRows and MixColumns. Decryption applies the inverse map before its
/// inversions, at the same cost.
pub struct ByteSliced<S: ExactScheme> {
    layout: Layout,
    conjugations: Conjugations,
    encryption: Layer<S>,
    decryption: Layer<S>,
}

/// The linear layer of one direction.
struct Layer<S: ExactScheme> {
    /// The coefficients of k times the affine map, or of the inverse map of k x, by k: for the
    /// entries of the matrix, and for 1.
    multiples: BTreeMap<u8, ByteMap<S>>,
    /// What the affine map makes of 0, in every slot.
    constant: Plaintext,
    /// (Inv)MixColumns: entry (r, k) is `mix[(k - r) mod 4]`.
    mix: [u8; 4],
}

impl<S: ExactScheme> Layer<S> {
    fn new(
        scheme: &S,
        embedding: &ByteEmbedding,
        level: Level,
        direction: Direction,
    ) -> Result<Self, AesError> {
        let (constant, mix) = match direction {
            Direction::Encrypt => (AFFINE_CONSTANT, MIX),
            Direction::Decrypt => (INVERSE_AFFINE_CONSTANT, INVERSE_MIX),
        };
        // The product comes after the affine map, or ahead of its inverse: Σ k c_j x^(2^j), Σ c_j
        // (k x)^(2^j).
        let coefficients = |k: u8| match direction {
            Direction::Encrypt => AFFINE.map(|c| mul(k, c)),
            Direction::Decrypt => scaled(INVERSE_AFFINE, k),
        };
        let shape = scheme.slot_shape();
        let multiple = |k: u8| Ok((k, ByteMap::new(scheme, embedding, coefficients(k), level)?));
        let factors = BTreeSet::from([1, mix[0], mix[1], mix[2], mix[3]]);
        let multiples = factors.into_iter().map(multiple).collect::<Result<_, AesError>>()?;
        let constant =
            scheme.encode_elements(&embedding.element(constant).repeat(shape.slots()))?;
        Ok(Layer { multiples, constant, mix })
    }

    /// Row `row` of the matrix with the affine map, or the affine map alone.
    fn row(&self, row: usize, mixes: bool) -> Vec<&ByteMap<S>> {
        let factors = if mixes { &self.mix[..] } else { &[1] };
        let entry = |k: usize| &self.multiples[&factors[(k + factors.len() - row) % factors.len()]];
        (0..factors.len()).map(entry).collect()
    }
}

impl<S: ExactScheme> ByteSliced<S> {
    /// Prepares 64 plaintexts for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// Those of [`ByteEmbedding::new`] and of the scheme.
    pub fn new(scheme: &S, level: Level) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        let embedding = ByteEmbedding::new(shape)?;
        let encryption = Layer::new(scheme, &embedding, level, Direction::Encrypt)?;
        let decryption = Layer::new(scheme, &embedding, level, Direction::Decrypt)?;
        let layout = Layout::byte_sliced(shape)?;
        Ok(ByteSliced { layout, conjugations: Conjugations::new(shape), encryption, decryption })
    }

    /// The automorphisms that it uses: the first five powers of Frobenius, the identity first.
    pub fn automorphisms(shape: &SlotShape) -> Vec<GaloisElement> {
        Conjugations::new(shape).elements().to_vec()
    }

    fn inverses(
        &self,
        scheme: &S,
        state: &[&S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        state.par_iter().map(|x| self.conjugations.inverse(scheme, x)).collect()
    }

    /// The affine map of `layer` on bytes in the order of a state, and its matrix if it `mixes`.
    /// The sum of a row of the matrix is 1, so that the constant of the affine map comes out of it
    /// as it went in.
    fn linear(
        &self,
        scheme: &S,
        layer: &Layer<S>,
        mixes: bool,
        inputs: &[&S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let height = if mixes { 4 } else { 1 };
        let rows: Vec<_> = (0..height).map(|row| layer.row(row, mixes)).collect();
        let column = |inputs: &[&S::Ciphertext]| {
            let linear = self.conjugations.linear(scheme, inputs, &rows)?;
            linear
                .iter()
                .map(|x| Ok(scheme.add_plain(x, &layer.constant)?))
                .collect::<Result<Vec<_>, AesError>>()
        };
        let columns: Vec<_> = inputs.par_chunks(height).map(column).collect::<Result<_, _>>()?;
        Ok(columns.into_iter().flatten().collect())
    }

    /// SubBytes on one byte.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn sub_byte(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, AesError> {
        let mut out = self.linear(
            scheme,
            &self.encryption,
            false,
            &[&self.conjugations.inverse(scheme, x)?],
        )?;
        Ok(out.swap_remove(0))
    }

    /// InvSubBytes on one byte.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn inverse_sub_byte(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, AesError> {
        let linear = self.linear(scheme, &self.decryption, false, &[x])?;
        self.conjugations.inverse(scheme, &linear[0])
    }
}

/// `state` with the byte at each place taken from `source` of it.
fn moved<C>(state: &[C], source: fn(usize) -> usize) -> Vec<&C> {
    (0..state.len()).map(|position| &state[source(position)]).collect()
}

impl<S: ExactScheme> Aes<S> for ByteSliced<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn round(
        &self,
        scheme: &S,
        state: Vec<S::Ciphertext>,
        round: Round,
        keys: KeySource<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        AesError::check_width("the state", state.len(), 16)?;
        let state: Vec<&S::Ciphertext> = state.iter().collect();
        let state = match round.direction {
            Direction::Encrypt => {
                let inverses = self.inverses(scheme, &state)?;
                self.linear(scheme, &self.encryption, round.mixes, &moved(&inverses, shifted))?
            }
            Direction::Decrypt => {
                let mixed = self.linear(scheme, &self.decryption, round.mixes, &state)?;
                self.inverses(scheme, &moved(&mixed, unshifted))?
            }
        };
        let lowest = state.iter().map(|x| scheme.level(x)).min().unwrap_or(Level(0));
        self.add_key(scheme, &state, round.key, lowest, keys)
    }
}
