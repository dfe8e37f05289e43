//! Comparisons of short columns whose digits are side by side in one ciphertext: one table gives
//! the signs of all digits, and rotations combine them.
//!
//! Digit j moves j blocks to the left, where a block has room for the entries and its number of
//! slots is a power of two. The slots behind the entries hold a public value, which is subtracted,
//! so that digits can be added up without masks.

use everlevel_circuit::CircuitError;

use crate::column::{BASE, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::question::Question;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The answer for Σ 16^i d_i, |d_i| <= 15, of `length` entries, the same as that of the tree of
    /// signs. It takes a rotation for each digit, a table for each of the log4 k layers, two
    /// rotations between layers, and at the end a rotation back and a product by a plaintext. The
    /// result is `None` if digits are not compared side by side, or do not fit a row.
    pub(crate) fn tree_beside(
        &self,
        digits: &[Digit<S::Ciphertext>],
        length: Option<usize>,
        question: Question,
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        let Some(n) = length.filter(|_| self.is_side_by_side()) else { return Ok(None) };
        let (count, block) = (digits.len().next_power_of_two(), n.next_power_of_two());
        let fits = self.columns().is_power_of_two() && count * block <= self.columns();
        if count < 2 || !fits || digits.iter().any(|d| d.cipher.is_none()) {
            return Ok(None);
        }
        let mut sign = self.gathered_digits(digits, n, block)?;
        let (mut joined, mut step) = (1, block as i64);
        while joined < count {
            sign = self.map_one(sign, i64::signum)?;
            // Up to four signs, as Σ 2^i s_i, in the block of the highest of them.
            for weight in [2, 4] {
                if joined < count {
                    let lower = self.rotated(&sign, step)?;
                    sign = self.combine(&[(&sign, weight), (&lower, 1)], 0)?;
                    (joined, step) = (2 * joined, 2 * step);
                }
            }
        }
        let answer = self.map_one(sign, |x| question.answer(x))?;
        let answer = self.rotated(&answer, -(((digits.len() - 1) * block) as i64))?;
        let pad = digits.iter().rev().fold(0i128, |v, d| i128::from(BASE) * v + i128::from(d.pad));
        Ok(Some(self.placed(&answer, n, question.answer(pad.signum() as i64))?))
    }

    /// Each digit j of `n` entries, moved j blocks to the left, with 0 in all other slots.
    fn gathered_digits(
        &self,
        digits: &[Digit<S::Ciphertext>],
        n: usize,
        block: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let cleared = digits.iter().map(|d| self.cleared(d, n));
        let mut parts = cleared.collect::<Result<Vec<_>, IntegersError>>()?;
        let mut step = block as i64;
        while parts.len() > 1 {
            let pair = |pair: &[Digit<S::Ciphertext>]| {
                let [a, b] = pair else { return Ok(pair[0].clone()) };
                let sum = self.combine(&[(a, 1), (&self.rotated(b, step)?, 1)], 0)?;
                // No two of them are other than 0.
                Ok::<_, IntegersError>(sum.within(a.low.min(b.low), a.high.max(b.high)))
            };
            parts = parts.chunks(2).map(pair).collect::<Result<_, _>>()?;
            step *= 2;
        }
        let sum = parts.pop();
        sum.ok_or_else(|| CircuitError::Empty { what: "the digits" }.into())
    }
}
