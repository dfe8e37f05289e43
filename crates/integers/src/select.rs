//! Selection, and the operations based on it.

use rayon::prelude::*;

use crate::carry::canonical_form;
use crate::column::{Column, Digit, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::question::Question;
use crate::split::{digits_of, public_digits};

/// The column; a public integer as digits above the anchor of another column, if it is not below.
fn above_anchor_of<C>(other: &Column<C>, x: Column<C>) -> Column<C> {
    let above = x.public_value().and_then(|v| v.checked_sub(other.anchor)).filter(|v| *v >= 0);
    match above.filter(|_| other.public_value().is_none()) {
        Some(v) => {
            let digits = public_digits(v, digits_of(v.unsigned_abs()));
            Column { anchor: other.anchor, digits, ..x }
        }
        None => x,
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// a where the truth value `condition` is 1, and b elsewhere, computed as c (a - b) + b. It
    /// costs a product for each digit in which a and b may differ, at depth 1; it is free for two
    /// public integers.
    ///
    /// # Errors
    /// [`IntegersError::Type`] if the condition is not a truth value; [`IntegersError::Length`];
    /// those of carries and of the scheme.
    pub fn select<'b>(
        &self,
        condition: &Column<S::Ciphertext>,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        let (a, b) = (self.column(a.into())?, self.column(b.into())?);
        let interval = a.interval.union(b.interval);
        self.one_of(condition, (a, b), interval, &[])
    }

    /// a or b, where the interval of the chosen one is known, and maybe the differences of their
    /// digits. Digits that follow from this interval take no product.
    fn one_of(
        &self,
        condition: &Column<S::Ciphertext>,
        (a, b): (Column<S::Ciphertext>, Column<S::Ciphertext>),
        interval: Interval,
        differences: &[Digit<S::Ciphertext>],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.common_length(&[condition, &a, &b])?;
        let bit = self.bit("selection", condition)?;
        match bit {
            Digit { cipher: None, low: 0, .. } => return Ok(Column { length, ..b }),
            Digit { cipher: None, .. } => return Ok(Column { length, ..a }),
            _ => {}
        }
        let [a, b] = self.aligned(&a, &b)?;
        // What is known before anything is computed.
        let digits = (0..a.digits.len().max(b.digits.len())).map(|i| {
            let (x, y) = (a.digit(i), b.digit(i));
            let pad = bit.pad * (x.pad - y.pad) + y.pad;
            let (low, high) = (x.low.min(y.low), x.high.max(y.high));
            Digit { cipher: bit.cipher.clone(), low, high, pad, steps: None }
        });
        let known = Column { interval, anchor: a.anchor, digits: digits.collect(), length };
        let mut found = known.narrowed();
        // Between two public digits there is no product.
        let multiplied = |(i, digit): (usize, &Digit<S::Ciphertext>)| {
            let either = a.digit(i).cipher.is_some() || b.digit(i).cipher.is_some();
            digit.cipher.is_some() && either
        };
        if found.digits.iter().enumerate().any(multiplied) {
            self.readied_factor(&bit)?;
        }
        let choose = |(i, digit): (usize, &mut Digit<S::Ciphertext>)| {
            if digit.cipher.is_some() {
                let (x, y) = (a.digit(i), b.digit(i));
                let difference = match differences.get(i) {
                    Some(known) => known.clone(),
                    None => self.combine(&[(&x, 1), (&y, -1)], 0)?,
                };
                let product = self.product(&bit, &difference)?;
                let chosen = self.combine(&[(&product, 1), (&y, 1)], 0)?;
                *digit = chosen.within(digit.low, digit.high);
            }
            Ok::<_, IntegersError>(())
        };
        found.digits.par_iter_mut().enumerate().try_for_each(choose)?;
        Ok(found.shortened())
    }

    /// a or b, whichever the answer about a - b says; a if it is 1.
    ///
    /// Where both have canonical digits above the same anchor, differences of these digits are what
    /// is compared and what is multiplied. So those that are bootstrapped for the comparison need
    /// not be bootstrapped again.
    fn extreme(
        &self,
        (a, b): (Column<S::Ciphertext>, Column<S::Ciphertext>),
        question: Question,
        interval: Interval,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (x, y) = (above_anchor_of(&b, a.clone()), above_anchor_of(&a, b.clone()));
        let (a, b, differences) = match canonical_form(&x, x.anchor) && canonical_form(&y, x.anchor)
        {
            true => {
                let differences = self.pairwise((&x.digits, 1), (&y.digits, -1), &[])?;
                (x, y, differences)
            }
            false => (a, b, Vec::new()),
        };
        let first = self.compared_columns((&a, &b), question, false, &differences)?;
        self.one_of(&first, (a, b), interval, &differences)
    }

    /// The lesser of a and b: a comparison and a selection.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn min<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        let (a, b) = (self.column(a.into())?, self.column(b.into())?);
        let interval = a.interval.min(b.interval);
        self.extreme((a, b), Question::Less, interval)
    }

    /// The greater of a and b: a comparison and a selection.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn max<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        let (a, b) = (self.column(a.into())?, self.column(b.into())?);
        let interval = a.interval.max(b.interval);
        self.extreme((a, b), Question::Greater, interval)
    }

    /// x, or the nearer of two bounds if x is outside of them.
    ///
    /// # Errors
    /// [`IntegersError::Range`] if `low` exceeds `high`; those of [`Integers::min`].
    pub fn clip(
        &self,
        x: &Column<S::Ciphertext>,
        low: i128,
        high: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        Interval::new(low, high)?;
        self.max(&self.min(x, high)?, low)
    }

    /// |x|: a comparison with 0 and a selection.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn abs(&self, x: &Column<S::Ciphertext>) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.one_of(&self.lt(x, 0)?, (self.neg(x)?, x.clone()), x.interval.abs(), &[])
    }
}
