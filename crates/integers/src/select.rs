//! Selection, and the operations based on it.

use rayon::prelude::*;

use crate::column::{Column, Digit, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;

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
        self.one_of(condition, (a, b), interval)
    }

    /// a or b, where the interval of the chosen one is known. Digits that follow from this interval
    /// take no product.
    fn one_of(
        &self,
        condition: &Column<S::Ciphertext>,
        (a, b): (Column<S::Ciphertext>, Column<S::Ciphertext>),
        interval: Interval,
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
                let difference = self.combine(&[(&x, 1), (&y, -1)], 0)?;
                let product = self.product(&bit, &difference)?;
                let chosen = self.combine(&[(&product, 1), (&y, 1)], 0)?;
                *digit = chosen.within(digit.low, digit.high);
            }
            Ok::<_, IntegersError>(())
        };
        found.digits.par_iter_mut().enumerate().try_for_each(choose)?;
        Ok(found.shortened())
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
        let less = self.lt(&a, &b)?;
        self.one_of(&less, (a, b), interval)
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
        let greater = self.gt(&a, &b)?;
        self.one_of(&greater, (a, b), interval)
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
        self.one_of(&self.lt(x, 0)?, (self.neg(x)?, x.clone()), x.interval.abs())
    }
}
