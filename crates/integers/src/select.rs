//! Selection, and what follows from it.

use crate::column::{Column, Digit, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;

impl<S: IntegerScheme> Integers<'_, S> {
    /// a where the truth value `condition` is 1, else b: c (a - b) + b, a product for each digit in
    /// which a and b may differ, free for two public integers. Depth 1.
    ///
    /// # Errors
    /// [`IntegersError::Type`] if the condition is no truth value; [`IntegersError::Length`]; those
    /// of carries and of the scheme.
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
        let length = self.common_length(&[condition, &a, &b])?;
        let bit = self.bit("selection", condition)?;
        match bit {
            Digit { cipher: None, low: 0, .. } => return Ok(Column { length, ..b }),
            Digit { cipher: None, .. } => return Ok(Column { length, ..a }),
            _ => {}
        }
        let interval = a.interval.union(b.interval);
        let [a, b] = self.aligned(&a, &b)?;
        let differences = self.pairwise((&a.digits, 1), (&b.digits, -1), &[])?;
        let digits = differences.iter().enumerate().map(|(i, d)| {
            let (x, y) = (a.digit(i), b.digit(i));
            let chosen = self.combine(&[(&self.product(&bit, d)?, 1), (&y, 1)], 0)?;
            Ok(chosen.within(x.low.min(y.low), x.high.max(y.high)))
        });
        let digits = digits.collect::<Result<_, IntegersError>>()?;
        Ok(Column { interval, anchor: a.anchor, digits, length })
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
        let chosen = self.select(&self.lt(&a, &b)?, &a, &b)?;
        Ok(Column { interval: a.interval.min(b.interval), ..chosen })
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
        let chosen = self.select(&self.gt(&a, &b)?, &a, &b)?;
        Ok(Column { interval: a.interval.max(b.interval), ..chosen })
    }

    /// x, or the nearer one of two bounds if it is outside of them.
    ///
    /// # Errors
    /// [`IntegersError::Range`] if `low` exceeds `high`; those of [`Integers::min`].
    pub fn clip(
        &self,
        x: &Column<S::Ciphertext>,
        low: i128,
        high: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        crate::interval::Interval::new(low, high)?;
        self.max(&self.min(x, high)?, low)
    }

    /// |x|: a comparison with 0 and a selection.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn abs(&self, x: &Column<S::Ciphertext>) -> Result<Column<S::Ciphertext>, IntegersError> {
        let chosen = self.select(&self.lt(x, 0)?, &self.neg(x)?, x)?;
        Ok(Column { interval: x.interval.abs(), ..chosen })
    }
}
