//! The largest value that has a flag, as bits in every slot.

use everlevel_circuit::sums::PowerSum;
use everlevel_ring::GaloisElement;
use everlevel_scheme::{ExactScheme, NextUse, Params, Plaintext};
use rayon::prelude::*;

use super::levels::{Levels, lowered};
use super::product::product;
use super::slots::{COLUMN, LINE, ROW, Slots, VALUES};
use crate::error::SuiteError;

/// From the flags of values, which are all 0 for those that do not occur, the largest value that
/// does, or 0, in bits.
///
/// Let g_v be 1 if no value from v on occurs: products over rows and columns, and four steps along
/// lines. The largest value is the v with g_(v + 1) + g_v = 1, so its bit k is the sum of these
/// over all v whose bit k is 1. Of a run of such v two terms are left, those at its ends: the bit
/// is 1 + Σ g_v over the multiples v of 2^k from 2^k to 15.
pub(super) struct Largest<S: ExactScheme> {
    levels: Levels,
    rows: PowerSum,
    columns: PowerSum,
    line: PowerSum,
    steps: Vec<Step<S>>,
    /// For each bit, the values in whose places g_v counts, in column 0.
    counted: Vec<S::Diagonal>,
}

/// A step along lines: from a place to one further on.
struct Step<S: ExactScheme> {
    rotation: GaloisElement,
    /// Places from where it does not pass the end.
    within: S::Diagonal,
    /// 1 in the others.
    beyond: Plaintext,
}

impl<S: ExactScheme> Largest<S> {
    /// For flags at any level.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn new(
        scheme: &S,
        params: &Params,
        slots: &Slots,
        levels: Levels,
    ) -> Result<Self, SuiteError> {
        let (shape, top) = (scheme.slot_shape(), params.chain().top());
        let bits = VALUES.ilog2();
        let step = |k: u32| {
            let length = 1usize << k;
            let within = slots.mask(|place, _| place + length < VALUES);
            Ok(Step {
                rotation: shape.rotation_along(LINE, length as i64),
                within: scheme.diagonal(&within, 1, top)?,
                beyond: slots.bits(params, |place| place + length >= VALUES)?,
            })
        };
        let counted = |k: u32| {
            let mask = slots.mask(|v, column| column == 0 && v > 0 && v.is_multiple_of(1 << k));
            Ok(scheme.diagonal(&mask, 1, top)?)
        };
        Ok(Largest {
            levels,
            rows: PowerSum::along(shape, ROW)?,
            columns: PowerSum::along(shape, COLUMN)?,
            line: PowerSum::along(shape, LINE)?,
            steps: (0..bits).map(step).collect::<Result<_, SuiteError>>()?,
            counted: (0..bits).map(counted).collect::<Result<_, SuiteError>>()?,
        })
    }

    /// The bits of the largest value in every slot, the lowest first, from ciphertexts of flags.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn digit(
        &self,
        scheme: &S,
        flags: &[S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let identity = scheme.slot_shape().identity();
        let absent = flags
            .iter()
            .map(|flags| scheme.add_scalar(&lowered(scheme, flags, self.levels.fresh)?, 1));
        let absent = product(scheme, absent.collect::<Result<_, _>>()?)?;
        let absent = self.rows.multiply(scheme, &absent)?;
        // In column 0, where no factor has passed the end of its row.
        let mut none = self.columns.multiply(scheme, &absent)?;
        for step in &self.steps {
            let x = scheme.prepare(&none, NextUse::LinearMap)?;
            let parts = scheme.hoist(&x, &[step.rotation])?;
            let moved = scheme.combine(&parts, &[vec![Some(&step.within)]])?.swap_remove(0);
            let moved = scheme.galois_sum(vec![(identity, moved)], NextUse::Product)?;
            let moved = scheme.add_plain(&moved, &step.beyond)?;
            none = scheme.mul(&x, &moved, NextUse::LinearMap)?;
        }
        let none =
            scheme.prepare(&lowered(scheme, &none, self.levels.digit)?, NextUse::LinearMap)?;
        let parts = scheme.hoist(&none, &[identity])?;
        let rows: Vec<Vec<_>> = self.counted.iter().map(|mask| vec![Some(mask)]).collect();
        let copied = |sum: S::Extended| {
            let sum = scheme.galois_sum(vec![(identity, sum)], NextUse::LinearMap)?;
            let sum = self.columns.apply(scheme, &self.line.apply(scheme, &sum)?)?;
            Ok(scheme.add_scalar(&sum, 1)?)
        };
        scheme.combine(&parts, &rows)?.into_par_iter().map(copied).collect()
    }
}
