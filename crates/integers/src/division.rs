//! Quotients and remainders, rounded down as in Python and NumPy.

use crate::carry::DIGITS;
use crate::column::{Column, Digit, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::quotients::{floored, quotients, remainders};
use crate::split::digits_of;

/// Quotient and remainder.
pub(crate) type Both<C> = (Column<C>, Column<C>);

/// The largest number of possible values of a column that is divided by one table.
const ENTRIES: u128 = 256;

/// M and s, a multiple of 4, with ⌊y M / 2^s⌋ = ⌊y / c⌋ for all 0 <= y <= highest: M c = 2^s + e
/// with e highest < 2^s. None past 2^126.
fn reciprocal(highest: i128, c: i128) -> Option<(i128, usize)> {
    (0..31).map(|w| 4 * w).find_map(|s| {
        let power = 1i128 << s;
        let m = (power + c - 1) / c;
        let error = m * c - power;
        let exact = error.checked_mul(highest)? < power;
        (exact && m.checked_mul(highest)? >> 124 == 0).then_some((m, s))
    })
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// ⌊x / c⌋ for a public integer c, rounded down: -7 divided by 2 is -4.
    ///
    /// It is a shift for powers of two, one table for up to 256 values, and otherwise the product
    /// with a public reciprocal and its carries. For 64 bits, the quotients of all digits are
    /// summed first, and the sum of their remainders is divided; for divisors near 2^64, the
    /// quotient is computed bit by bit.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for 0; those of carries.
    pub fn div_public(
        &self,
        x: &Column<S::Ciphertext>,
        divisor: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if divisor == 0 {
            return Err(zero("division"));
        }
        if divisor < 0 {
            Interval::point(divisor)?;
            return self.div_public(&self.neg(x)?, -divisor);
        }
        let floor = |v: i128| v.div_euclid(divisor);
        let interval = Interval::new(floor(x.interval.low()), floor(x.interval.high()))?;
        if let Some(value) = x.public_value() {
            return Ok(Column::public(floor(value), interval, x.length));
        }
        if interval.points() == 1 {
            return Ok(Column::public(interval.low(), interval, x.length));
        }
        if divisor & (divisor - 1) == 0 {
            return self.shift_right(x, divisor.trailing_zeros());
        }
        if x.interval.points() <= ENTRIES {
            let table: Vec<i128> = (x.interval.low()..=x.interval.high()).map(floor).collect();
            return self.lookup(x, &table);
        }
        // From a multiple of the divisor on, so that nothing is negative.
        let base = interval.low();
        let y = self.sub(x, base * divisor)?;
        let quotient = self.quotient_of(&y, divisor)?;
        Ok(Column { interval, anchor: quotient.anchor + base, ..quotient }.narrowed())
    }

    /// x - c ⌊x / c⌋ for a public integer c; the result has the sign of c: -7 modulo 3 is 2.
    ///
    /// It takes the low bits for powers of two, one table for up to 256 values, and otherwise a
    /// quotient and the lower digits of its product with c.
    ///
    /// # Errors
    /// As [`Integers::div_public`].
    pub fn rem_public(
        &self,
        x: &Column<S::Ciphertext>,
        divisor: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if divisor == 0 {
            return Err(zero("remainder"));
        }
        if divisor < 0 {
            Interval::point(divisor)?;
            return self.neg(&self.rem_public(&self.neg(x)?, -divisor)?);
        }
        let remainder = |v: i128| v.rem_euclid(divisor);
        if let Some(value) = x.public_value() {
            let value = remainder(value);
            return Ok(Column::public(value, Interval::point(value)?, x.length));
        }
        let (low, high) = (x.interval.low(), x.interval.high());
        let base = low.div_euclid(divisor);
        if base == high.div_euclid(divisor) {
            return self.sub(x, base * divisor);
        }
        let interval = Interval::new(0, divisor - 1)?;
        if divisor == 1 {
            return Ok(Column::public(0, interval, x.length));
        }
        if divisor & (divisor - 1) == 0 {
            let lower = self.lower_digits(x, digits_of((divisor - 1).unsigned_abs()))?;
            return Ok(Column { interval, ..self.bit_and(&lower, divisor - 1)? }.narrowed());
        }
        if x.interval.points() <= ENTRIES {
            let table: Vec<i128> = (low..=high).map(remainder).collect();
            return self.lookup(x, &table);
        }
        let y = self.sub(x, base * divisor)?;
        let quotient = self.quotient_of(&y, divisor)?;
        let count = digits_of((divisor - 1).unsigned_abs());
        let product = self.times_low(&quotient, &Operand::Public(divisor), count)?;
        let digits = self.low_difference(&y, product, count)?;
        Ok(Column { interval, anchor: 0, digits, length: x.length }.narrowed())
    }

    /// ⌊a / b⌋, rounded down: -7 divided by 2 is -4. The result is 0 where b is 0, as in NumPy.
    ///
    /// If b has at most 256 possible values, it takes a table of reciprocals and a product;
    /// otherwise the quotient is computed bit by bit, with a subtraction, its borrows and a
    /// selection for each bit. If a or b may be negative, a comparison with 0 and selections are
    /// added.
    ///
    /// # Errors
    /// [`IntegersError::Length`]; those of carries.
    pub fn div<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        Ok(self.divided(a.into(), b.into(), false)?.0)
    }

    /// a - b ⌊a / b⌋, which has the sign of b: -7 modulo 3 is 2. The result is 0 where b is 0, as
    /// in NumPy.
    ///
    /// # Errors
    /// As [`Integers::div`].
    pub fn rem<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        Ok(self.divided(a.into(), b.into(), true)?.1)
    }

    /// Quotient and remainder as by [`Integers::div`] and [`Integers::rem`], at little more than
    /// the cost of one of them.
    ///
    /// # Errors
    /// As [`Integers::div`].
    pub fn div_rem<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Both<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        self.divided(a.into(), b.into(), true)
    }

    /// ⌊y / c⌋ for 0 <= y and 2 < c.
    fn quotient_of(
        &self,
        y: &Column<S::Ciphertext>,
        c: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let highest = y.interval.high();
        let interval = Interval::new(0, highest / c)?;
        if let Some((m, s)) = reciprocal(highest, c) {
            let digits = self.times_long(y, m)?;
            let whole = Interval::new(0, highest * m)?;
            let product = Column { interval: whole, anchor: 0, digits, length: y.length };
            return self.without_low(&product, s / 4, interval);
        }
        // Of all digits that exist once carries are computed: sums have fewer before.
        let count = digits_of(highest.unsigned_abs()) as i128;
        let remainders = count.saturating_mul(c - 1);
        if remainders >> 8 < highest >> 16 {
            // Σ 16^i d_i / c: whole parts, and what is left of all digits.
            let y = self.normalized(y)?;
            let [whole, rest] = self.divided_digits(&y, c)?;
            let rest = Column {
                interval: Interval::new(0, remainders)?,
                anchor: 0,
                digits: rest,
                length: y.length,
            };
            let whole = Column { interval, anchor: 0, digits: whole, length: y.length };
            let sum = self.add(&whole, &self.div_public(&rest, c)?)?;
            return self.normalized(&Column { interval, ..sum });
        }
        let divisor = Column::public(c, Interval::point(c)?, None);
        Ok(self.bit_by_bit(y, &divisor)?.0)
    }

    /// A column of `count` canonical digits that is congruent to x modulo 16^count: only carries
    /// within these digits are computed. A column that has more than can be carried as it is.
    fn lower_digits(
        &self,
        x: &Column<S::Ciphertext>,
        count: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if count > DIGITS {
            return Ok(x.clone());
        }
        let all = Interval::new(0, (1i128 << (4 * count)) - 1)?;
        let interval = if all.holds(x.interval) { x.interval } else { all };
        Ok(Column { interval, ..self.normalized_to(x, (0, count))? })
    }

    /// The upper digits of a product, which are a value of an interval.
    fn without_low(
        &self,
        product: &Column<S::Ciphertext>,
        digits: usize,
        interval: Interval,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let product = self.normalized(product)?;
        let mut upper: Vec<_> = product.digits.into_iter().skip(digits).collect();
        upper.truncate(digits_of(interval.high().unsigned_abs()));
        Ok(Column { interval, anchor: 0, digits: upper, length: product.length }.narrowed())
    }

    /// Digits 0..=15 of y - product modulo 16^count.
    fn low_difference(
        &self,
        y: &Column<S::Ciphertext>,
        product: Vec<Digit<S::Ciphertext>>,
        count: usize,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let y = self.factor(y)?;
        let y = &y[..y.len().min(count)];
        let mut digits = self.settled(self.pairwise((y, 1), (&product, -1), &[])?)?;
        digits.truncate(count);
        let end = |f: fn(&Digit<S::Ciphertext>) -> i64| crate::column::value(digits.iter().map(f));
        let interval = Interval::new(end(|d| d.low), end(|d| d.high))?;
        let difference = Column { interval, anchor: 0, digits, length: None };
        Ok(self.normalized_to(&difference, (0, count))?.digits)
    }

    fn divided(
        &self,
        a: Operand<'_, S::Ciphertext>,
        b: Operand<'_, S::Ciphertext>,
        remainder: bool,
    ) -> Result<Both<S::Ciphertext>, IntegersError> {
        let (a, b) = (self.column(a)?, self.column(b)?);
        let length = self.common_length(&[&a, &b])?;
        if let (Some(x), Some(y)) = (a.public_value(), b.public_value()) {
            let each =
                |v: i128| Ok::<_, IntegersError>(Column::public(v, Interval::point(v)?, length));
            let quotient = floored(x, y);
            return Ok((each(quotient)?, each(if y == 0 { 0 } else { x - y * quotient })?));
        }
        if let Some(c) = b.public_value() {
            let quotient = self.div_public(&a, c)?;
            let rest = if remainder { self.rem_public(&a, c)? } else { quotient.clone() };
            return Ok((quotient, rest));
        }
        let quotients = quotients(a.interval, b.interval)?;
        let rests = remainders(a.interval, b.interval)?;
        // ⌊a / b⌋ = ⌊-a / -b⌋, and ⌊a / b⌋ = -1 - ⌊(-1 - a) / b⌋ for b > 0.
        let below_zero = |x: &Column<S::Ciphertext>| match x.interval.low() < 0 {
            true => self.lt(x, 0).map(Some),
            false => Ok(None),
        };
        type Values<S> = Column<<S as everlevel_scheme::Scheme>::Ciphertext>;
        let chosen = |condition: &Option<Values<S>>, x: Values<S>, y: Values<S>| match condition {
            Some(condition) => self.select(condition, &x, &y),
            None => Ok(y),
        };
        let turned = below_zero(&b)?;
        let (dividend, divisor) = match &turned {
            Some(turned) => {
                (self.select(turned, &self.neg(&a)?, &a)?, self.normalized(&self.abs(&b)?)?)
            }
            None => (a, b),
        };
        let negative = below_zero(&dividend)?;
        let dividend = match &negative {
            Some(negative) => {
                let chosen = self.select(negative, &self.sub(-1, &dividend)?, &dividend)?;
                // The intervals of both do not tell that the chosen one is not negative.
                let interval = Interval::new(0, chosen.interval.high())?;
                self.normalized(&Column { interval, ..chosen })?
            }
            None => dividend,
        };
        let zeros = self.eq(&divisor, 0)?;
        let (quotient, rest) = self.divided_positive(&dividend, &divisor, &zeros, remainder)?;
        let valid = self.not(&zeros)?;
        let kept = |x: Column<S::Ciphertext>, interval: Interval| {
            let x = self.select(&valid, &x, 0)?;
            Ok::<_, IntegersError>(Column { interval, length, ..x }.narrowed())
        };
        let flipped = self.sub(-1, &quotient)?;
        let quotient = kept(chosen(&negative, flipped, quotient)?, quotients)?;
        if !remainder {
            return Ok((quotient.clone(), quotient));
        }
        let flipped = self.sub(&self.sub(&divisor, 1)?, &rest)?;
        let rest = chosen(&negative, flipped, rest)?;
        let flipped = self.neg(&rest)?;
        Ok((quotient, kept(chosen(&turned, flipped, rest)?, rests)?))
    }

    /// Quotient and remainder of columns that are not negative; unspecified where `zeros` says that
    /// the divisor is 0.
    fn divided_positive(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
        zeros: &Column<S::Ciphertext>,
        remainder: bool,
    ) -> Result<Both<S::Ciphertext>, IntegersError> {
        let (highest, largest) = (a.interval.high(), b.interval.high());
        // Errors of reciprocals are below b.
        let s = highest.checked_mul(largest).map_or(124, |v| 4 * digits_of(v.unsigned_abs()));
        let short = highest.leading_zeros() as usize >= s + 4;
        if b.interval.points() <= ENTRIES && short {
            let quotients = Interval::new(0, highest / b.interval.low().max(1))?;
            return self.by_table(a, b, s, quotients, remainder);
        }
        // 1 instead of 0, so that all digits stay where they belong.
        let mut divisor = self.normalized(b)?;
        let mut lowest =
            self.combine(&[(&divisor.digit(0), 1), (&self.bit("division", zeros)?, 1)], 0)?;
        let (low, high) = (divisor.digit(0).low, divisor.digit(0).high.max(1));
        lowest = lowest.within(low, high);
        divisor.digits[0] = lowest;
        divisor.interval = Interval::new(b.interval.low().max(1), largest)?;
        self.bit_by_bit(&self.normalized(a)?, &divisor)
    }

    /// Quotient and remainder by a table of reciprocals 2^s / b; the quotient is 0 where b is 0.
    fn by_table(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
        s: usize,
        quotients: Interval,
        remainder: bool,
    ) -> Result<Both<S::Ciphertext>, IntegersError> {
        let largest = b.interval.high();
        let entry = |v: i128| if v == 0 { 0 } else { ((1i128 << s) + v - 1) / v };
        let table: Vec<i128> = (b.interval.low()..=largest).map(entry).collect();
        let product = self.mul(a, &self.lookup(b, &table)?)?;
        let quotient = self.without_low(&product, s / 4, quotients)?;
        if !remainder {
            return Ok((quotient.clone(), quotient));
        }
        let count = digits_of((largest - 1).unsigned_abs());
        let product = self.times_low(&quotient, &Operand::Column(b), count)?;
        let digits = self.low_difference(a, product, count)?;
        let interval = Interval::new(0, (1i128 << (4 * count)) - 1)?;
        Ok((quotient, Column { interval, anchor: 0, digits, length: a.length }))
    }
}

fn zero(operation: &'static str) -> IntegersError {
    IntegersError::Type {
        operation,
        found: Interval { low: 0, high: 0 },
        expected: "a public divisor other than 0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_are_exact() {
        for c in (3..400).chain([999, 1000, 12_345, 65_535]) {
            let highest = 70_000;
            let (m, s) = reciprocal(highest, c).unwrap();
            assert!((0..=highest).all(|y| (y * m) >> s == y / c), "{c}");
        }
        assert!(reciprocal(u64::MAX.into(), 1_000_003).is_none());
        let (m, s) = reciprocal(u32::MAX.into(), 7).unwrap();
        assert_eq!((i128::from(u32::MAX) * m) >> s, i128::from(u32::MAX / 7));
    }
}
