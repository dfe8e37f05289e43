//! Changes of length: other values behind the entries of a column, more entries, and the entries of
//! several columns in one.

use everlevel_circuit::Value;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::encode::standard_form;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::slots::digit_of;

impl<C> Column<C> {
    /// The same column in values of its own: they stay as they are where those of others are
    /// bootstrapped in place. No ciphertext is copied.
    #[must_use]
    pub fn detached(&self) -> Self {
        let own = |d: &Digit<C>| {
            let cipher = d.cipher.as_ref().map(Value::detached);
            Digit { cipher, ..d.clone() }
        };
        Column { digits: self.digits.iter().map(own).collect(), ..*self }
    }

    /// The same column; public integers, which stand for a column of any length, as `n` entries.
    #[must_use]
    pub fn of_length(&self, n: usize) -> Self {
        Column { length: self.length.or(Some(n)), ..self.clone() }
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The same column with `value` in the slots behind its entries. It costs nothing if they hold
    /// it already, and otherwise carries, if there are any, and a product by a plaintext for each
    /// digit.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for a public integer, which is in all slots;
    /// [`IntegersError::Width`] beyond 124 bits; those of carries and of the scheme.
    pub fn padded(
        &self,
        x: &Column<S::Ciphertext>,
        value: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let interval = x.interval.union(Interval::point(value)?);
        if x.pad() == value && x.is_canonical() || x.length == Some(self.slots()) {
            return Ok(Column { interval, ..x.clone() });
        }
        let n = self.within_row(x, self.slots())?;
        if let Some(own) = x.public_value() {
            let all = self.listed(self.slots(), |i| if i < n { own } else { value }, None)?;
            let behind = value - all.anchor;
            let digits = all.digits.into_iter().enumerate();
            let digits = digits.map(|(k, d)| Digit { pad: digit_of(behind, k), ..d }).collect();
            return Ok(Column { interval, anchor: all.anchor, digits, length: x.length });
        }
        let (anchor, count) = standard_form(interval);
        let x = self.normalized_to(&Column { interval, ..x.clone() }, (anchor, count))?;
        let digit = |k: usize| {
            let (own, wanted) = (x.digit(k), digit_of(value - x.anchor, k));
            match own.cipher {
                None if own.low == wanted => Ok(own),
                _ => self.placed(&self.encrypted(&own)?, n, wanted),
            }
        };
        let digits = (0..count.max(x.digits.len())).map(digit).collect::<Result<_, _>>()?;
        Ok(Column { interval, digits, ..x })
    }

    /// The column with more entries, `n` in all; the new ones are `value`. It costs as much as
    /// [`Integers::padded`].
    ///
    /// # Errors
    /// [`IntegersError::Length`] for fewer entries than there are, or more than slots; those of
    /// [`Integers::padded`].
    pub fn extended(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        value: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.within_row(x, self.slots())?;
        if n < length || n > self.slots() {
            let expected = format!("{length} to {}", self.slots());
            return Err(IntegersError::Length { found: n, expected });
        }
        let padded = if n == length { x.clone() } else { self.padded(x, value)? };
        Ok(Column { length: Some(n), ..padded })
    }

    /// The first entries of several columns as the entries of one column, which has to fit a row of
    /// slots. It costs a product by a plaintext and a rotation for each digit of each column, and
    /// carries.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for no columns, or more than a row has slots;
    /// [`IntegersError::Width`] beyond 124 bits; a missing key; those of carries.
    pub fn stacked(
        &self,
        columns: &[Column<S::Ciphertext>],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = columns.len();
        let Some(first) = columns.first().filter(|_| n <= self.columns()) else {
            let expected = format!("1 to {} columns", self.columns());
            return Err(IntegersError::Length { found: n, expected });
        };
        let interval = columns.iter().fold(first.interval, |all, x| all.union(x.interval));
        let (anchor, count) = standard_form(interval);
        let columns = columns.iter().map(|x| match x.public_value() {
            Some(value) => Ok(Column {
                anchor,
                digits: (0..count).map(|k| Digit::public(digit_of(value - anchor, k))).collect(),
                ..x.clone()
            }),
            None => self.normalized_to(&Column { interval, ..x.clone() }, (anchor, count)),
        });
        let columns = columns.collect::<Result<Vec<_>, IntegersError>>()?;
        let digit = |k: usize| {
            let one = |(i, x): (usize, &Column<S::Ciphertext>)| {
                let own = self.placed(&self.encrypted(&x.digit(k))?, 1, 0)?;
                self.rotated(&own, -(i as i64))
            };
            let placed = columns.iter().enumerate().map(one);
            let placed = placed.collect::<Result<Vec<_>, IntegersError>>()?;
            let terms: Vec<_> = placed.iter().map(|d| (d, 1)).collect();
            let sum = self.combine(&terms, 0)?;
            let ends = placed.iter().fold((0, 0), |(a, b), d| (a.min(d.low), b.max(d.high)));
            let sum = Digit { pad: 0, ..sum.within(ends.0, ends.1) };
            // What is behind the column is a value like others, too: the least one.
            let pad = digit_of(interval.low() - anchor, k);
            if pad == 0 {
                return Ok(sum);
            }
            let mut behind = vec![pad; self.slots()];
            behind[..n].fill(0);
            self.raised(&sum, &behind, (ends.0, ends.1.max(pad)), pad)
        };
        let digits = (0..count).map(digit).collect::<Result<_, _>>()?;
        Ok(Column { interval, anchor, digits, length: Some(n) })
    }
}
