//! The maximum of the numbers of packed states, over any scheme that bootstraps bits.

mod digits;
mod flags;
mod largest;
pub(super) mod levels;
mod product;
mod slots;
#[cfg(test)]
mod tests;

use everlevel_circuit::CircuitError;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Bootstrappable, Level, NextUse, Params, Plaintext, SchemeError};
use rayon::prelude::*;

use self::digits::{Byte, Digits};
use self::flags::Flags;
use self::largest::Largest;
use self::levels::{Levels, lowered};
use self::product::product;
use self::slots::Slots;
use super::protocol::BITS;
use crate::error::SuiteError;

/// The digits of a number: the halves of its bytes, the highest first.
const DIGITS: usize = 4;
/// The bits of a digit.
const DIGIT: usize = 4;

/// The maximum of numbers of 16 bits, whose bytes lie side by side along lines, the higher one
/// first.
///
/// Digit by digit, the highest first: of the numbers that are left, which values of the digit occur
/// ([`Flags`]) is told by bits, one in each slot of one ciphertext, which are refreshed together;
/// the largest value ([`Largest`]) is compared with the digits, and numbers with another one drop
/// out. Bits of numbers and which of them are left are never refreshed.
///
/// Depth from the bits of a number to its last flag, in products of two ciphertexts: 3 for the
/// comparisons of the last digit with all values, 1 for the comparison of the digit before, 1 for
/// the weights and the two comparisons before, and 1 for the norm.
pub(super) struct Maximum<S: Bootstrappable> {
    digits: Digits<S>,
    flags: Flags<S>,
    refresh: Bootstrapper<S>,
    largest: Largest<S>,
    /// Of each bit of the result, its place along lines.
    places: Vec<Plaintext>,
}

impl<S: Bootstrappable> Maximum<S> {
    /// With this number of random bits for each value at least.
    ///
    /// # Errors
    /// Slots that do not hold packed states in rows, lines and columns, a set without
    /// bootstrapping, and those of the scheme.
    pub fn new(
        scheme: &S,
        params: &Params,
        levels: Levels,
        random_bits: usize,
    ) -> Result<Self, SuiteError> {
        let plan = BootstrapPlan::for_mode(params, BootstrapMode::Thin)?;
        Self::with(scheme, params, levels, random_bits, Bootstrapper::new(scheme, plan)?)
    }

    /// The same, with what a rehearsal on another scheme of these parameters knows of
    /// bootstrappings: where they begin need not be found with keys.
    ///
    /// # Errors
    /// As [`Maximum::new`].
    pub fn rehearsed<R: Bootstrappable>(
        scheme: &S,
        params: &Params,
        levels: Levels,
        random_bits: usize,
        rehearsal: &Maximum<R>,
    ) -> Result<Self, SuiteError> {
        let refresh = Bootstrapper::rehearsed(scheme, &rehearsal.refresh)?;
        Self::with(scheme, params, levels, random_bits, refresh)
    }

    fn with(
        scheme: &S,
        params: &Params,
        levels: Levels,
        random_bits: usize,
        refresh: Bootstrapper<S>,
    ) -> Result<Self, SuiteError> {
        let (slots, top) = (Slots::new(scheme.slot_shape())?, params.chain().top());
        let place = |bit: usize| slots.bits(params, |place| place == bit);
        Ok(Maximum {
            digits: Digits::new(scheme, &slots, top)?,
            flags: Flags::new(scheme, params, &slots, levels, random_bits)?,
            refresh,
            largest: Largest::new(scheme, params, &slots, levels)?,
            places: (0..BITS as usize).map(place).collect::<Result<_, SuiteError>>()?,
        })
    }

    /// log2 of the probability that a result is too small, by the weights alone: that in any of the
    /// steps the largest value is missed. No result is too large.
    #[cfg(test)]
    pub fn error_log2(&self) -> f64 {
        self.flags.error_log2() + (DIGITS as f64).log2()
    }

    /// The maximum of the numbers of all states: bit i in place i of every line. Every line of
    /// every state counts.
    ///
    /// `random` makes words that are independent of the numbers.
    ///
    /// # Errors
    /// Those of the scheme: above all too little capacity; no states.
    pub fn run(
        &self,
        scheme: &S,
        states: &[S::Ciphertext],
        random: &mut impl FnMut() -> u64,
    ) -> Result<S::Ciphertext, SuiteError> {
        if states.is_empty() {
            return Err(CircuitError::Empty { what: "the list of states" }.into());
        }
        // The same weights in all steps: what is left in one does not depend on them as long as
        // no step has failed.
        let weights: Vec<Vec<Plaintext>> =
            states.iter().map(|_| self.flags.weights(random)).collect();
        let split = |state: &S::Ciphertext| self.digits.split(scheme, state);
        let bits: Vec<[Byte<S>; 2]> =
            states.par_iter().map(split).collect::<Result<_, SuiteError>>()?;
        let (mut left, mut also): (Option<Vec<S::Ciphertext>>, Option<Vec<_>>) = (None, None);
        let mut found = Vec::with_capacity(DIGITS);
        for step in 0..DIGITS {
            let (byte, low) = (step / 2, step % 2 == 1);
            let half = if low { 0..DIGIT } else { DIGIT..2 * DIGIT };
            let digits: Vec<_> = bits.iter().map(|bytes| &bytes[byte][half.clone()]).collect();
            let (before, beside) = (left.as_deref(), also.as_deref());
            let flags = self.flags.compute(scheme, &digits, before, beside, &weights)?;
            let fresh = flags.iter().map(|flags| self.refresh.bootstrap(scheme, flags));
            let fresh = fresh.collect::<Result<Vec<_>, CircuitError>>()?;
            let largest = self.largest.digit(scheme, &fresh)?;
            // The last comparison is no factor of weights, whose noise would come on top of the
            // longest chain of products.
            match DIGITS - step {
                1 => {}
                2 => also = Some(self.kept(scheme, &digits, None, &largest)?),
                _ => left = Some(self.kept(scheme, &digits, left.as_deref(), &largest)?),
            }
            found.push(largest);
        }
        self.result(scheme, &found)
    }

    /// Which numbers are left: those that were (absent: all of them) and whose digit is this one.
    fn kept(
        &self,
        scheme: &S,
        digits: &[&[S::Ciphertext]],
        left: Option<&[S::Ciphertext]>,
        digit: &[S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        // Once for all states, whose bits are at one level.
        let level = digits.iter().flat_map(|bits| bits.iter()).map(|bit| scheme.level(bit)).max();
        let lower = |x: &S::Ciphertext| lowered(scheme, x, level.unwrap_or(Level(0)));
        let digit = digit.iter().map(lower).collect::<Result<Vec<_>, SchemeError>>()?;
        let kept = |(state, bits): (usize, &&[S::Ciphertext])| {
            let same = bits
                .iter()
                .zip(&digit)
                .map(|(bit, wanted)| scheme.linear_combination(&[(bit, 1), (wanted, 1)], 1));
            let same = product(scheme, same.collect::<Result<_, SchemeError>>()?)?;
            match left {
                None => Ok(same),
                Some(left) => Ok(scheme.mul(&left[state], &same, NextUse::Product)?),
            }
        };
        digits.par_iter().enumerate().map(kept).collect()
    }

    /// All bits of all digits, the highest digit first, in their places.
    fn result(
        &self,
        scheme: &S,
        digits: &[Vec<S::Ciphertext>],
    ) -> Result<S::Ciphertext, SuiteError> {
        let bits = digits.iter().rev().flatten().zip(&self.places);
        let parts = bits.map(|(bit, place)| scheme.mul_plain(bit, place));
        let parts = parts.collect::<Result<Vec<_>, SchemeError>>()?;
        let terms: Vec<_> = parts.iter().map(|part| (part, 1)).collect();
        Ok(scheme.linear_combination(&terms, 0)?)
    }
}
