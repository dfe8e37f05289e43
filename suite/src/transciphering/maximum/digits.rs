//! The bits of numbers.

use everlevel_aes::integers::ByteBits;
use everlevel_ring::GaloisElement;
use everlevel_scheme::{ExactScheme, Level, NextUse};
use rayon::prelude::*;

use super::slots::{LINE, Slots};
use crate::error::SuiteError;

/// The bits of a byte of each number, the lowest first.
pub(super) type Byte<S> = Vec<<S as everlevel_scheme::Scheme>::Ciphertext>;

/// The bits of numbers whose bytes lie in two places, each bit in both of them: so the number is
/// there twice.
pub(super) struct Digits<S: ExactScheme> {
    bits: ByteBits<S>,
    /// The identity, and by a place to the left and to the right.
    moves: [GaloisElement; 3],
    /// The places of the first bytes, and those of the second ones.
    places: [S::Diagonal; 2],
}

impl<S: ExactScheme> Digits<S> {
    /// For states at `top` or below.
    ///
    /// # Errors
    /// Those of [`ByteBits::new`] and of the scheme.
    pub fn new(scheme: &S, slots: &Slots, top: Level) -> Result<Self, SuiteError> {
        let shape = scheme.slot_shape();
        let [first, second] =
            [0, 1].map(|byte| scheme.diagonal(&slots.mask(|q, _| q % 2 == byte), 1, top));
        Ok(Digits {
            bits: ByteBits::new(scheme, 1, top)?,
            moves: [0, 1, -1].map(|k| shape.rotation_along(LINE, k)),
            places: [first?, second?],
        })
    }

    /// The bits of the higher and of the lower bytes of a state: for each of them two hoisted
    /// automorphisms and two masks more than by [`ByteBits`].
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn split(&self, scheme: &S, state: &S::Ciphertext) -> Result<[Byte<S>; 2], SuiteError> {
        let [first, second] = &self.places;
        let rows = [vec![Some(first), None, Some(second)], vec![Some(second), Some(first), None]];
        let both = |bit: &S::Ciphertext| {
            let parts = scheme.hoist(&scheme.prepare(bit, NextUse::LinearMap)?, &self.moves)?;
            let sums = scheme.combine(&parts, &rows)?.into_iter();
            let sums =
                sums.map(|sum| scheme.galois_sum(vec![(self.moves[0], sum)], NextUse::LinearMap));
            Ok(sums.collect::<Result<Vec<_>, _>>()?)
        };
        let bits = self.bits.split(scheme, state)?;
        let bits = bits.par_iter().map(both).collect::<Result<Vec<_>, SuiteError>>()?;
        let mut bytes = [Vec::with_capacity(bits.len()), Vec::with_capacity(bits.len())];
        for bit in bits {
            bytes.iter_mut().zip(bit).for_each(|(byte, bit)| byte.push(bit));
        }
        Ok(bytes)
    }
}
