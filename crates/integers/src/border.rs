//! Entries that are chosen in public: of one column, and at the border between two columns of which
//! one continues the other.
//!
//! Slots are in a circle: the slot behind the last one is the first. So the last entries of a
//! column that fills all slots and the first ones of the next column are neighbors without being
//! moved, where they are in one ciphertext.

use rayon::prelude::*;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The entries of the first column in the second half of the slots, and those of the second
    /// column in the first half, each where it is: a column of all slots, whose last entry is the
    /// one before its first. [`Sets::across_border`](crate::Sets::across_border) are sets of them.
    ///
    /// It costs two products by plaintexts for each digit.
    ///
    /// # Errors
    /// [`IntegersError::Length`] unless the first column fills all slots;
    /// [`IntegersError::Parts`] for columns of different types, or with other digits; those of the
    /// scheme.
    pub fn bordering(
        &self,
        first: &Column<S::Ciphertext>,
        second: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let slots = self.slots();
        self.within_row(second, slots)?;
        if first.length != Some(slots) {
            let (found, expected) = (first.length.unwrap_or(0), format!("{slots}, all slots"));
            return Err(IntegersError::Length { found, expected });
        }
        let form = |d: &Digit<S::Ciphertext>| (d.cipher.is_some(), d.low, d.high);
        let alike = (first.interval, first.anchor) == (second.interval, second.anchor)
            && first.digits.iter().map(form).eq(second.digits.iter().map(form));
        if !alike {
            return Err(IntegersError::Parts { problem: "a column of another type".into() });
        }
        let half = slots / 2;
        let (mut last, earlier) = (vec![0; slots], vec![1; half]);
        last[half..].fill(1);
        let joined = |(a, b): (&Digit<S::Ciphertext>, &Digit<S::Ciphertext>)| {
            if a.cipher.is_none() {
                return Ok::<_, IntegersError>(a.clone());
            }
            let (a_part, b_part) = (self.weighed(a, &last)?, self.weighed(b, &earlier)?);
            let both = self.combine(&[(&a_part, 1), (&b_part, 1)], 0)?;
            // Each slot has an entry of one of the two.
            Ok(Digit { pad: a.pad, ..both.within(a.low, a.high) })
        };
        let pairs = first.digits.par_iter().zip(&second.digits);
        let digits = pairs.map(joined).collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(Column { digits, ..first.clone() })
    }

    /// The truth values of the entries that are chosen in public, and 0 for all others.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for other values; [`IntegersError::Length`] unless all entries are
    /// chosen or not; those of the scheme.
    pub fn only(
        &self,
        x: &Column<S::Ciphertext>,
        chosen: &[bool],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if x.length.is_some_and(|n| n != chosen.len()) {
            let expected = format!("{}, of which some are chosen", chosen.len());
            return Err(IntegersError::Length { found: x.length.unwrap_or(0), expected });
        }
        let weights: Vec<i64> = chosen.iter().map(|chosen| i64::from(*chosen)).collect();
        let kept = self.weighed(&self.bit("a choice of entries", x)?, &weights)?.within(0, 1);
        let (interval, length) = (Interval::BOOL, Some(chosen.len()));
        Ok(Column { interval, anchor: 0, digits: vec![kept], length })
    }

    /// The truth values of the first entries, as many as are chosen in public or not, and 0 for
    /// those that are not chosen: [`Integers::only`] of the first entries of a column.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for fewer entries; those of [`Integers::only`].
    pub fn only_of_first(
        &self,
        x: &Column<S::Ciphertext>,
        chosen: &[bool],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = chosen.len();
        match x.length {
            Some(found) if found < n => {
                let expected = format!("at least {n}, of which some are chosen");
                Err(IntegersError::Length { found, expected })
            }
            _ => self.only(&Column { length: Some(n), ..x.clone() }, chosen),
        }
    }

    /// Truth values of `n` entries all of which are 0, public but in a ciphertext as bootstrapping
    /// leaves it, so that they are used like those of [`Integers::ranks_in_sets`] and with the same
    /// keys. It costs a bootstrapping.
    ///
    /// # Errors
    /// [`CircuitError::NoBootstrapping`](everlevel_circuit::CircuitError::NoBootstrapping); those
    /// of the scheme.
    pub fn none_of(&self, n: usize) -> Result<Column<S::Ciphertext>, IntegersError> {
        let zero = self.weighed(&Digit::public(0), &[0])?.within(0, 1);
        let found =
            Column { interval: Interval::BOOL, anchor: 0, digits: vec![zero], length: Some(n) };
        self.renewed(&[&found])?;
        Ok(found)
    }
}
