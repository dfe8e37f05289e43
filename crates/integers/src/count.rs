//! Bits of digits, and the number of bits that are 1.

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The number of bits of x that are 1. No value may be negative. It costs 7 products for each
    /// digit, at depth 4, and for more than 7 digits a polynomial on the possible sums.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for values that may be negative; those of carries.
    pub fn popcount(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if x.interval.low() < 0 {
            return Err(IntegersError::Type {
                operation: "counting of bits",
                found: x.interval,
                expected: "values that are not negative: take abs, or wrap to an unsigned type",
            });
        }
        let bits = 128 - x.interval.high().leading_zeros();
        let interval = Interval::new(0, bits.into())?;
        if let Some(value) = x.public_value() {
            return Ok(Column::public(value.count_ones().into(), interval, x.length));
        }
        let x = self.normalized_to(x, (0, crate::split::digits_of(x.interval.high() as u128)))?;
        let counts = self.map(&x.digits, |_, v| v.count_ones().into())?;
        let terms: Vec<_> = counts.iter().map(|c| (c, 1)).collect();
        let digits = self.settled(vec![self.combine(&terms, 0)?])?;
        Ok(Column { interval, anchor: 0, digits, length: x.length }.narrowed())
    }

    /// The bits of digits 0..=15, lowest first, four for each.
    pub(crate) fn bits_of(
        &self,
        digits: &[Digit<S::Ciphertext>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let requests = digits.iter().map(|d| {
            let bit = |j: u32| (d.low..=d.high).map(|v| v >> j & 1).collect();
            Ok((d.clone(), self.plan(d.low, d.high, (0..4).map(bit).collect())?))
        });
        let requests = requests.collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(self.tables(requests)?.into_iter().flatten().collect())
    }
}
