//! Division bit by bit, for divisors with too many values for a table.

use rayon::prelude::*;

use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::division::Both;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::split::{digits_of, public_digits};

impl<S: IntegerScheme> Integers<'_, S> {
    /// Quotient and remainder of canonical columns, 0 < b, above anchor 0: for each bit of a,
    /// r = 2 r + bit, and b is subtracted where that leaves nothing negative.
    pub(crate) fn bit_by_bit(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Both<S::Ciphertext>, IntegersError> {
        let a = self.with_digits(self.normalized(a)?);
        let bits = self.bits_of(&a.digits)?;
        let largest = b.interval.high() - 1;
        let mut rest = Column::public(0, Interval::point(0)?, a.length);
        let mut quotient = vec![Digit::public(0); a.digits.len()];
        for (i, bit) in bits.iter().enumerate().rev() {
            let doubled = self.doubled(&rest, bit)?;
            if doubled.interval.high() < b.interval.low() {
                rest = doubled;
                continue;
            }
            let difference = self.normalized(&self.sub(&doubled, b)?)?;
            if let (Some(v), Some(old)) = (difference.public_value(), doubled.public_value()) {
                let digit = &mut quotient[i / 4];
                *digit = self.combine(&[(digit, 1)], i64::from(v >= 0) << (i % 4))?;
                let value = if v >= 0 { v } else { old };
                let point = Interval::point(value)?;
                rest = self.with_digits(Column::public(value, point, a.length));
                continue;
            }
            let top = difference.digits.len().saturating_sub(1);
            let negative = difference.anchor < 0;
            // The anchor of values that can be negative is -8 16^top.
            let fits = match difference.digits.get(top) {
                Some(digit) if negative => {
                    self.map(std::slice::from_ref(digit), |_, v| i64::from(v >= BASE / 2))?
                }
                _ => vec![Digit::public(1)],
            };
            let fits = fits.into_iter().next().unwrap_or_else(|| Digit::public(1));
            let interval = Interval::new(0, doubled.interval.high().min(largest))?;
            self.readied_factor(&fits)?;
            let count = digits_of(interval.high().unsigned_abs());
            let digits = (0..count).into_par_iter().map(|j| {
                let anchor = if negative && j == top { BASE / 2 } else { 0 };
                let (less, more) = (difference.digit(j), doubled.digit(j));
                let change = self.combine(&[(&less, 1), (&more, -1)], -anchor)?;
                let chosen = self.combine(&[(&self.product(&fits, &change)?, 1), (&more, 1)], 0)?;
                let (low, high) = (chosen.low.max(0), chosen.high.min(BASE - 1));
                Ok::<_, IntegersError>(chosen.within(low, high))
            });
            let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
            let found = Column { interval, anchor: 0, digits, length: a.length };
            rest = self.with_digits(found.narrowed());
            let digit = &mut quotient[i / 4];
            *digit = self.combine(&[(digit, 1), (&fits, 1 << (i % 4))], 0)?;
        }
        let interval = Interval::new(0, a.interval.high() / b.interval.low().max(1))?;
        quotient.truncate(digits_of(interval.high().unsigned_abs()));
        Ok((Column { interval, anchor: 0, digits: quotient, length: a.length }, rest))
    }

    /// A public column as digits above the anchor 0; other columns are returned as they are.
    fn with_digits(&self, x: Column<S::Ciphertext>) -> Column<S::Ciphertext> {
        match x.public_value() {
            None => x,
            Some(v) => {
                Column { anchor: 0, digits: public_digits(v, digits_of(v.unsigned_abs())), ..x }
            }
        }
    }

    /// 2 x + bit of a canonical column above anchor 0, which has digits even where it is public.
    fn doubled(
        &self,
        x: &Column<S::Ciphertext>,
        bit: &Digit<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let interval = Interval::new(0, 2 * x.interval.high() + 1)?;
        let carries = self.map(&x.digits, |_, v| v >> 3)?;
        let count = digits_of(interval.high().unsigned_abs());
        let digits = (0..count).map(|i| {
            let zero = Digit::public(0);
            let below = if i == 0 { bit } else { carries.get(i - 1).unwrap_or(&zero) };
            let own = carries.get(i).unwrap_or(&zero);
            let sum = self.combine(&[(&x.digit(i), 2), (own, -BASE), (below, 1)], 0)?;
            let (low, high) = (sum.low.max(0), sum.high.min(BASE - 1));
            Ok(sum.within(low, high))
        });
        let digits = digits.collect::<Result<_, IntegersError>>()?;
        let found = Column { interval, anchor: 0, digits, length: x.length };
        Ok(self.with_digits(found.narrowed()))
    }
}
