//! AES on bits, as Doröz, Hu and Sunar evaluate it (2014, section 6): 128 ciphertexts, a block for
//! each slot, S-boxes in a tower field.
//!
//! For research: it is written against the public items of this crate, and nothing else of this
//! crate refers to it.

mod affine;
mod tower;
mod unpack;

use everlevel_ring::SlotShape;
use everlevel_scheme::{ExactScheme, Level};
use rayon::prelude::*;

use crate::field::{AFFINE_CONSTANT, INVERSE_AFFINE, INVERSE_AFFINE_CONSTANT, linearized};
use crate::{Aes, AesError, Direction, KeySource, Layout, Round};
use tower::{FROM_TOWER, TO_TOWER, invert};

pub use affine::AffineMap;
pub use unpack::UnpackBits;

/// AES with a ciphertext for each of the 128 bits of a state, bytes in their order and the most
/// significant bit first; a slot holds a bit of a block.
///
/// A round has 16 S-boxes in the tower field, 576 products, 288 relinearizations, depth 4.
/// Everything else is sums.
#[derive(Clone, Debug)]
pub struct BitSliced {
    layout: Layout,
    to_tower: AffineMap,
    encryption: Layers,
    decryption: Layers,
}

/// What surrounds the inversions of a round, without and with MixColumns.
#[derive(Clone, Debug)]
struct Layers {
    before: [AffineMap; 2],
    after: [AffineMap; 2],
}

impl BitSliced {
    /// For the slots of a ring with p = 2.
    pub fn new(shape: &SlotShape) -> Self {
        let to_tower = AffineMap::bytewise(TO_TOWER, 0);
        let substituted = Self::after_inversion().then(&AffineMap::shift_rows());
        let mixed = substituted.then(&AffineMap::mix_columns());
        let encryption =
            Layers { before: [to_tower.clone(), to_tower.clone()], after: [substituted, mixed] };

        let inverse_affine =
            AffineMap::of_bytes(|z| linearized(INVERSE_AFFINE, z) ^ INVERSE_AFFINE_CONSTANT);
        let unshifted = AffineMap::inverse_shift_rows().then(&inverse_affine).then(&to_tower);
        let unmixed = AffineMap::inverse_mix_columns().then(&unshifted);
        let from_tower = Self::after_inversion().then(&inverse_affine);
        let decryption =
            Layers { before: [unshifted, unmixed], after: [from_tower.clone(), from_tower] };
        BitSliced { layout: Layout::bit_sliced(shape), to_tower, encryption, decryption }
    }

    /// From inverses in the tower's basis to the results of SubBytes.
    fn after_inversion() -> AffineMap {
        AffineMap::bytewise(FROM_TOWER, AFFINE_CONSTANT)
    }

    /// The inverses, in the tower's basis, of the 16 bytes that `before` makes. As many bytes at a
    /// time as there are threads: one that waits would else begin with another, and more and more
    /// operands be in memory.
    fn inverses<S: ExactScheme>(
        scheme: &S,
        before: &AffineMap,
        state: Vec<S::Ciphertext>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let tower = before.evaluate(scheme, &state, None)?;
        drop(state);
        let mut inverses = Vec::with_capacity(128);
        for bytes in tower.chunks(8 * rayon::current_num_threads()) {
            let some: Vec<_> =
                bytes.par_chunks(8).map(|byte| invert(scheme, byte)).collect::<Result<_, _>>()?;
            inverses.extend(some.into_iter().flatten());
        }
        Ok(inverses)
    }

    /// SubBytes on a state of 128 ciphertexts: depth 4.
    ///
    /// # Errors
    /// [`AesError::Width`] for another number of ciphertexts, and those of the scheme.
    pub fn sub_bytes<S: ExactScheme>(
        &self,
        scheme: &S,
        state: Vec<S::Ciphertext>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        Self::after_inversion().evaluate(
            scheme,
            &Self::inverses(scheme, &self.to_tower, state)?,
            None,
        )
    }
}

impl<S: ExactScheme> Aes<S> for BitSliced {
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
        let layers = match round.direction {
            Direction::Encrypt => &self.encryption,
            Direction::Decrypt => &self.decryption,
        };
        let mixes = usize::from(round.mixes);
        let inverses = Self::inverses(scheme, &layers.before[mixes], state)?;
        let lowest = inverses.iter().map(|x| scheme.level(x)).min().unwrap_or(Level(0));
        let key = keys(round.key, lowest)?;
        layers.after[mixes].evaluate(scheme, &inverses, Some(&key))
    }
}
