//! AES with whole blocks in one ciphertext.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, Level, NextUse, Plaintext};
use rayon::prelude::*;

use crate::embedding::ByteEmbedding;
use crate::error::AesError;
use crate::field::{
    AFFINE, AFFINE_CONSTANT, INVERSE_AFFINE, INVERSE_AFFINE_CONSTANT, INVERSE_MIX, MIX,
};
use crate::inversion::{ByteMap, Conjugations};
use crate::layout::Layout;
use crate::line::Line;
use crate::method::{Aes, KeySource};
use crate::round::{Direction, Round};

/// AES with one ciphertext for a state: the 16 bytes of a block are along a dimension of 16 slots,
/// with byte i in the order of FIPS-197 at place i, and there is a block for each place of the
/// other dimensions. It has the lowest latency, and one ciphertext for each round key.
///
/// A round takes 4 products and 3 automorphisms for x^254, at depth 3, and two linear maps: the
/// affine map Σ c_j σ^j of SubBytes, where σ is Frobenius, with 3 hoisted automorphisms and one
/// more; and ShiftRows with MixColumns, with 3 hoisted automorphisms and 3 more. Decryption applies
/// the inverse maps before its inversion, at the same cost (docs/adr/0018).
pub struct Packed<S: ExactScheme> {
    layout: Layout,
    conjugations: Conjugations,
    embedding: ByteEmbedding,
    line: Line,
    /// What layers are prepared for.
    level: Level,
    /// Those of encryption and of decryption, once they are prepared.
    layers: [OnceLock<Box<Layer<S>>>; 2],
}

/// ShiftRows and then MixColumns, or InvMixColumns and then InvShiftRows, along the line.
///
/// Byte r + 4c, in row r and column c, comes from the bytes k + 4(c + k) of ShiftRows' column,
/// which lie 5k - r to its right; or from k + 4(c - r), k - 5r to its right. Either way that is
/// a k - b r, (a, b) = (5, 1) or (1, 5), modulo 16, and with ρ the rotation to the left by one and
/// e the mask of row 0
///
/// out = Σ_r ρ^(-b r) (e Σ_k m_(k - r) ρ^(a k) x) :
///
/// three hoisted automorphisms and three giant steps for the 13 rotations that the map consists of.
struct Mixing<S: ExactScheme> {
    /// ρ^(a k).
    babies: Vec<GaloisElement>,
    /// ρ^(-b).
    giant: GaloisElement,
    /// Entry (r, k) of (Inv)MixColumns is `matrix[(k - r) mod 4]`.
    matrix: [u8; 4],
    /// Constants in row 0, by the byte.
    multiples: BTreeMap<u8, S::Diagonal>,
}

impl<S: ExactScheme> Mixing<S> {
    fn new(
        scheme: &S,
        embedding: &ByteEmbedding,
        line: &Line,
        level: Level,
        direction: Direction,
    ) -> Result<Self, AesError> {
        let matrix = match direction {
            Direction::Encrypt => MIX,
            Direction::Decrypt => INVERSE_MIX,
        };
        let (babies, giant) = Self::automorphisms(scheme.slot_shape(), line, direction);
        let multiple = |k: u8| {
            let values = line.diagonal(|byte| embedding.element(if byte % 4 == 0 { k } else { 0 }));
            Ok((k, scheme.diagonal(&values, 1, level)?))
        };
        let factors = BTreeSet::from([1, matrix[0], matrix[1], matrix[2], matrix[3]]);
        let multiples = factors.into_par_iter().map(multiple).collect::<Result<_, AesError>>()?;
        Ok(Mixing { babies, giant, matrix, multiples })
    }

    fn automorphisms(
        shape: &SlotShape,
        line: &Line,
        direction: Direction,
    ) -> (Vec<GaloisElement>, GaloisElement) {
        let (a, b) = match direction {
            Direction::Encrypt => (5, 1),
            Direction::Decrypt => (1, 5),
        };
        ((0..4).map(|k| line.rotation(shape, a * k)).collect(), line.rotation(shape, -b))
    }

    /// Both steps, or only the (inverse) ShiftRows, whose matrix is 1.
    fn apply(&self, scheme: &S, x: &S::Ciphertext, mixes: bool) -> Result<S::Ciphertext, AesError> {
        let x = scheme.prepare(x, NextUse::LinearMap)?;
        let entry = |r: usize, k: usize| match mixes {
            true => Some(&self.multiples[&self.matrix[(k + 4 - r) % 4]]),
            false => (k == r).then(|| &self.multiples[&1]),
        };
        let rows = [0, 1, 2, 3].map(|r| (0..4).map(|k| entry(r, k)).collect());
        self.added(scheme, &scheme.hoist(&x, &self.babies)?, &rows)
    }

    /// Σ_r ρ^(-b r) of the sums that the rows make of images.
    fn added(
        &self,
        scheme: &S,
        images: &[impl Borrow<S::Extended> + Sync],
        rows: &[Vec<Option<&S::Diagonal>>; 4],
    ) -> Result<S::Ciphertext, AesError> {
        // Row 3 goes three steps, row 0 none.
        let giants = [self.giant, self.giant, self.giant, scheme.slot_shape().identity()];
        let part = |(row, giant): (&Vec<_>, GaloisElement)| {
            Ok((giant, scheme.combine(images, std::slice::from_ref(row))?.swap_remove(0)))
        };
        Ok(scheme.galois_chain(rows.iter().rev().zip(giants).map(part), NextUse::LinearMap)?)
    }
}

/// What lies between the inversions of a direction.
struct Layer<S: ExactScheme> {
    /// The affine map without its constant.
    affine: ByteMap<S>,
    /// What it makes of 0, in every slot.
    constant: Plaintext,
    mixing: Mixing<S>,
}

impl<S: ExactScheme> Layer<S> {
    fn new(
        scheme: &S,
        embedding: &ByteEmbedding,
        line: &Line,
        level: Level,
        direction: Direction,
    ) -> Result<Self, AesError> {
        let (affine, constant) = match direction {
            Direction::Encrypt => (AFFINE, AFFINE_CONSTANT),
            Direction::Decrypt => (INVERSE_AFFINE, INVERSE_AFFINE_CONSTANT),
        };
        let affine = ByteMap::new(scheme, embedding, affine, level)?;
        let constant = scheme
            .encode_elements(&embedding.element(constant).repeat(scheme.slot_shape().slots()))?;
        Ok(Layer {
            affine,
            constant,
            mixing: Mixing::new(scheme, embedding, line, level, direction)?,
        })
    }
}

impl<S: ExactScheme> Packed<S> {
    /// Prepares 26 plaintexts for ciphertexts at `level` or below, in parallel: those of both
    /// directions.
    ///
    /// # Errors
    /// [`AesError::NoLine`] for slots without a good dimension of 16 ahead of the last one, those
    /// of [`ByteEmbedding::new`] and of the scheme.
    pub fn new(scheme: &S, level: Level) -> Result<Self, AesError> {
        let aes = Self::unprepared(scheme, level)?;
        let prepare = |direction| aes.layer(scheme, direction).map(|_| ());
        let (encryption, decryption) =
            rayon::join(|| prepare(Direction::Encrypt), || prepare(Direction::Decrypt));
        encryption.and(decryption)?;
        Ok(aes)
    }

    /// Prepares the plaintexts of one direction, in parallel: 12 for encryption, 14 for decryption.
    /// Those of the other one are prepared when they are needed first, by each thread that needs
    /// them then.
    ///
    /// # Errors
    /// As [`Packed::new`]; those of the scheme also where the other direction is used first.
    pub fn in_direction(scheme: &S, level: Level, direction: Direction) -> Result<Self, AesError> {
        let aes = Self::unprepared(scheme, level)?;
        aes.layer(scheme, direction)?;
        Ok(aes)
    }

    fn unprepared(scheme: &S, level: Level) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        Ok(Packed {
            layout: Layout::packed(shape)?,
            conjugations: Conjugations::new(shape),
            embedding: ByteEmbedding::new(shape)?,
            line: Line::of(shape)?,
            level,
            layers: [OnceLock::new(), OnceLock::new()],
        })
    }

    /// What lies between the inversions of a direction.
    fn layer(&self, scheme: &S, direction: Direction) -> Result<&Layer<S>, AesError> {
        let [encryption, decryption] = &self.layers;
        let held = match direction {
            Direction::Encrypt => encryption,
            Direction::Decrypt => decryption,
        };
        if let Some(layer) = held.get() {
            return Ok(layer);
        }
        let made = Layer::new(scheme, &self.embedding, &self.line, self.level, direction)?;
        Ok(held.get_or_init(|| Box::new(made)))
    }

    /// SubBytes on a state: depth 3.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn sub_bytes(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, AesError> {
        let layer = self.layer(scheme, Direction::Encrypt)?;
        Ok(scheme.add_plain(&self.substituted(scheme, x)?, &layer.constant)?)
    }

    /// SubBytes without its constant.
    pub(crate) fn substituted(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, AesError> {
        let layer = self.layer(scheme, Direction::Encrypt)?;
        self.linear(scheme, layer, &self.conjugations.inverse(scheme, x)?)
    }

    /// The images of which ShiftRows and MixColumns of encryption are sums.
    pub(crate) fn images(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<Vec<S::Extended>, AesError> {
        Ok(scheme.hoist(x, &self.layer(scheme, Direction::Encrypt)?.mixing.babies)?)
    }

    /// ShiftRows and MixColumns of what [`Packed::substituted`] made, from [`Packed::images`] of
    /// several states: row r has the diagonals of all images, in their order, which are 0 where the
    /// row of a place is not 0. SubBytes' constant is not added.
    pub(crate) fn mixed(
        &self,
        scheme: &S,
        images: &[&S::Extended],
        rows: &[Vec<Option<&S::Diagonal>>; 4],
    ) -> Result<S::Ciphertext, AesError> {
        self.layer(scheme, Direction::Encrypt)?.mixing.added(scheme, images, rows)
    }

    /// A round of encryption without the constant of SubBytes and without the key.
    fn unkeyed(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        round: Round,
    ) -> Result<S::Ciphertext, AesError> {
        let linear = self.substituted(scheme, x)?;
        let layer = self.layer(scheme, Direction::Encrypt)?;
        layer.mixing.apply(scheme, &linear, round.mixes)
    }

    /// The key of a round of encryption, from 0 on, with the constant that SubBytes adds in that
    /// round. Rows of the matrix have the sum 1, so the constant may come after it, and several
    /// states that use a key need not each add both.
    pub(crate) fn with_constant(
        &self,
        scheme: &S,
        round: usize,
        key: Vec<S::Ciphertext>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        if round == 0 {
            return Ok(key);
        }
        let layer = self.layer(scheme, Direction::Encrypt)?;
        key.iter().map(|x| Ok(scheme.add_plain(x, &layer.constant)?)).collect()
    }

    /// A round of encryption with keys of [`Packed::with_constant`].
    pub(crate) fn round_with_constant(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        round: Round,
        keys: KeySource<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let out = self.unkeyed(scheme, x, round)?;
        let level = scheme.level(&out);
        self.add_key(scheme, &[out], round.key, level, keys)
    }

    /// The affine map of a layer without its constant.
    fn linear(
        &self,
        scheme: &S,
        layer: &Layer<S>,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, AesError> {
        Ok(self.conjugations.linear(scheme, &[x], &[vec![&layer.affine]])?.swap_remove(0))
    }

    /// The automorphisms that a direction uses: seven or eight need keys.
    ///
    /// # Errors
    /// [`AesError::NoLine`].
    pub fn automorphisms(
        shape: &SlotShape,
        direction: Direction,
    ) -> Result<Vec<GaloisElement>, AesError> {
        let (babies, giant) = Mixing::<S>::automorphisms(shape, &Line::of(shape)?, direction);
        let all: BTreeSet<_> = Conjugations::new(shape)
            .elements()
            .iter()
            .copied()
            .chain(babies)
            .chain([giant])
            .collect();
        Ok(all.into_iter().collect())
    }
}

impl<S: ExactScheme> Aes<S> for Packed<S> {
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
        AesError::check_width("the state", state.len(), 1)?;
        let (x, layer) = (&state[0], self.layer(scheme, round.direction)?);
        let out = match round.direction {
            Direction::Encrypt => {
                // Rows of the matrix have the sum 1, so the constant may come after it.
                scheme.add_plain(&self.unkeyed(scheme, x, round)?, &layer.constant)?
            }
            Direction::Decrypt => {
                let linear =
                    self.linear(scheme, layer, &layer.mixing.apply(scheme, x, round.mixes)?)?;
                self.conjugations.inverse(scheme, &scheme.add_plain(&linear, &layer.constant)?)?
            }
        };
        let level = scheme.level(&out);
        self.add_key(scheme, &[out], round.key, level, keys)
    }
}
