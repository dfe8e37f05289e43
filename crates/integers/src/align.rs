//! Brings columns to digits that meet the requirements of an operation.

use crate::carry::canonical_form;
use crate::column::{BASE, Column, Digit, Operand, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::encode::standard_form;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::split::split;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The operand as a column.
    pub(crate) fn column(
        &self,
        x: Operand<'_, S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match x {
            Operand::Column(x) => Ok(x.clone().narrowed()),
            Operand::Public(value) => Ok(Column::public(value, Interval::point(value)?, None)),
        }
    }

    /// The length of a result of these operands.
    pub(crate) fn common_length(
        &self,
        columns: &[&Column<S::Ciphertext>],
    ) -> Result<Option<usize>, IntegersError> {
        let mut lengths = columns.iter().filter_map(|x| x.length);
        let Some(first) = lengths.next() else { return Ok(None) };
        match lengths.find(|n| *n != first) {
            None => Ok(Some(first)),
            Some(found) => {
                let expected = format!("{first}, as many as the other operand has");
                Err(IntegersError::Length { found, expected })
            }
        }
    }

    /// The sum k_1 d_1 + k_2 d_2 of two columns, digit by digit, without limits on the windows.
    pub(crate) fn pairwise(
        &self,
        a: (&[Digit<S::Ciphertext>], i64),
        b: (&[Digit<S::Ciphertext>], i64),
        constants: &[i64],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let zero = Digit::public(0);
        let count = a.0.len().max(b.0.len()).max(constants.len());
        let digit = |digits: &[Digit<S::Ciphertext>], i: usize| digits.get(i).cloned();
        (0..count)
            .map(|i| {
                let (x, y) = (digit(a.0, i), digit(b.0, i));
                let constant = constants.get(i).copied().unwrap_or(0);
                let x = x.as_ref().unwrap_or(&zero);
                let y = y.as_ref().unwrap_or(&zero);
                self.combine(&[(x, a.1), (y, b.1)], constant)
            })
            .collect()
    }

    /// Digits in -15..=15 whose value is that of a - b.
    pub(crate) fn difference(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let (mut a, mut b) = (a.clone(), b.clone());
        for attempt in 0.. {
            if let Some(constants) = constants(&a, &b) {
                return self.pairwise((&a.digits, 1), (&b.digits, -1), &constants);
            }
            [a, b] = self.closer([a, b], attempt)?;
        }
        Ok(Vec::new())
    }

    /// Both columns with the same anchor, and with digits that together have at most 31 possible
    /// values, or 16 where that is possible: then a selection between the two has no carries.
    pub(crate) fn aligned(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<[Column<S::Ciphertext>; 2], IntegersError> {
        let fit = |a: &Column<S::Ciphertext>, b: &Column<S::Ciphertext>| {
            let fit = |points: i64| {
                let room = |x: &Digit<S::Ciphertext>, y: &Digit<S::Ciphertext>| {
                    (x.high - (points - 1) - y.low, x.low + (points - 1) - y.high)
                };
                let count = a.digits.len().max(b.digits.len());
                let windows = (0..count).map(|i| room(&a.digit(i), &b.digit(i))).collect();
                // Two anchors may be 2^127 apart, which wraps.
                let apart = b.anchor.checked_sub(a.anchor)?;
                fitted(apart, windows, (1 - points, points - 1))
            };
            fit(BASE).or_else(|| fit(POINTS))
        };
        let (mut a, mut b) = (a.clone(), b.clone());
        for attempt in 0.. {
            if let Some(constants) = fit(&a, &b) {
                b.digits = self.pairwise((&b.digits, 1), (&[], 0), &constants)?;
                b.anchor = a.anchor;
                break;
            }
            [a, b] = self.closer([a, b], attempt)?;
        }
        Ok([a, b])
    }

    /// The next step if two columns do not fit together: carries, and then one anchor for both.
    fn closer(
        &self,
        [mut a, mut b]: [Column<S::Ciphertext>; 2],
        attempt: usize,
    ) -> Result<[Column<S::Ciphertext>; 2], IntegersError> {
        let (anchor, digits) = standard_form(a.interval.union(b.interval));
        match attempt {
            0 => {
                for x in [&mut a, &mut b].into_iter().filter(|x| !x.is_canonical()) {
                    *x = self.normalized_to(x, standard_form(x.interval))?;
                }
            }
            1 => {
                for x in [&mut a, &mut b].into_iter().filter(|x| x.public_value().is_none()) {
                    if !canonical_form(x, anchor) {
                        *x = self.normalized_to(x, (anchor, digits))?;
                    }
                }
            }
            _ => {
                return Err(IntegersError::Width {
                    interval: a.interval.union(b.interval),
                    digits,
                    highest: crate::carry::DIGITS,
                });
            }
        }
        Ok([a, b])
    }
}

/// What is added to the digits of a less those of b, so that they make a - b and lie in -15..=15;
/// none if that takes carries.
pub(crate) fn constants<C>(a: &Column<C>, b: &Column<C>) -> Option<Vec<i64>> {
    let narrow = BASE - 1;
    let room = |low: i64, high: i64| (-narrow - low, narrow - high);
    let windows = (0..a.digits.len().max(b.digits.len())).map(|i| {
        let (x, y) = (a.digit(i), b.digit(i));
        room(x.low - y.high, x.high - y.low)
    });
    fitted(a.anchor.checked_sub(b.anchor)?, windows.collect(), room(0, 0))
}

/// Digits with Σ 16^i c_i = k in the ranges given, or in `above` beyond them.
pub(crate) fn fitted(k: i128, mut ranges: Vec<(i64, i64)>, above: (i64, i64)) -> Option<Vec<i64>> {
    let needed = crate::split::digits_of(k.unsigned_abs());
    while ranges.len() < needed {
        ranges.push(above);
    }
    split(k, &ranges, false)
}
