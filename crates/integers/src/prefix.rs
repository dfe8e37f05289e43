//! Prefix sums.

use rayon::prelude::*;

use crate::carry::Next;
use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::encode::standard_form;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::slots::digit_of;
use crate::split::digits_of;

impl<S: IntegerScheme> Integers<'_, S> {
    /// Prefix sums: entry i is x_0 + .. + x_i. It takes log2 n rotations, a product by a plaintext
    /// after each, and carries in between, where sums of digits have become too large, which are up
    /// to 18 products for each digit and step. If the entries lie in two rows, the sum of the first
    /// row takes an exchange of rows, two products by plaintexts and log2 n rotations for each
    /// digit, and carries once more.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for a column without length; [`IntegersError::Width`] beyond 124
    /// bits; [`IntegersError::Set`] for entries in several rows of slots, if these are more than
    /// two; a missing key; those of carries.
    pub fn cumsum(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.within_row(x, self.slots())?;
        let x = x.clone().narrowed();
        if let Some(value) = x.public_value() {
            Interval::point(value)?.checked_mul(Interval::point(n as i128)?)?;
            return self.listed(n, |i| (i as i128 + 1) * value, x.length);
        }
        if self.columns() < n {
            self.check_rows()?;
        }
        self.prefix_sums(&self.normalized(&x)?, n, n)
    }

    /// The same of each of the lists of `each` entries that the n entries of a canonical column
    /// consist of: of one, or of several of which each is in one row of slots.
    pub(crate) fn prefix_sums(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        each: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (count, anchor) = (each as i128, x.anchor);
        let all = Interval::point(count)?;
        let interval = x.interval.union(x.interval.checked_mul(all)?);
        let lowest = interval.anchored("a prefix sum", anchor.checked_mul(count))?;
        // Above the anchor, so that nothing is negative.
        let above = Interval::new(0, x.interval.high() - anchor)?.checked_mul(all)?;
        let digits = x.digits.iter().map(|d| self.placed(&self.encrypted(d)?, n, 0));
        let mut sum = Column {
            interval: Interval::new(0, x.interval.high() - anchor)?,
            anchor: 0,
            digits: digits.collect::<Result<Vec<_>, IntegersError>>()?,
            length: x.length,
        };
        let columns = self.columns();
        let row = each.min(columns);
        let mut step = 1;
        while step < row {
            sum = self.addable(sum, Next::Mask)?;
            // What comes round in a row is of its end, and what comes to the first entries of a
            // list of the list before.
            let place = |i: usize| i % each % columns;
            let weights: Vec<i64> = (0..n).map(|i| i64::from(place(i) >= step)).collect();
            let moved = sum.digits.par_iter().map(|d| match d.cipher {
                None if d.low == 0 => Ok(d.clone()),
                _ => self.weighed(&self.rotated(d, -(step as i64))?, &weights),
            });
            let digits = moved.collect::<Result<Vec<_>, IntegersError>>()?;
            let high = (2 * step).min(row) as i128 * (x.interval.high() - anchor);
            let moved = Column { digits, ..sum.clone() };
            sum = self.add(&sum, &moved)?;
            sum.interval = Interval::new(0, high.min(sum.interval.high()))?;
            step *= 2;
        }
        if columns < each {
            sum = self.addable(sum, Next::Mask)?;
            sum = self.add(&sum, &self.sum_of_first_row(&sum, n)?)?;
        }
        sum.interval = above;
        if anchor == 0 && x.interval.low() == 0 {
            return Ok(Column { interval, ..sum });
        }
        let sum = self.normalized(&sum)?;
        // The anchor, which is 0 or negative, as often as there are entries up to each, above that
        // of all of a list; behind the column what makes the least value.
        let public = |i: usize| match i < n {
            true => anchor * ((i % each) as i128 + 1 - count),
            false => interval.low() - lowest,
        };
        let digits = digits_of(((1 - count) * anchor).unsigned_abs())
            .max(digits_of((interval.low() - lowest).unsigned_abs()));
        let zero = Digit::public(0);
        let mut out = Vec::new();
        for k in 0..digits.max(sum.digits.len()) {
            let own = sum.digits.get(k).unwrap_or(&zero);
            let added: Vec<i64> = (0..self.slots()).map(|i| digit_of(public(i), k)).collect();
            let pad = digit_of(public(n), k);
            let one = self.encrypted(own)?;
            out.push(self.raised(&one, &added, (own.low, own.high + BASE - 1), own.pad + pad)?);
        }
        Ok(Column { interval, anchor: lowest, digits: out, length: x.length })
    }

    /// The last prefix sum of the first of two rows, in the entries of the second row, where both
    /// rows have `n` entries together; 0 in all other slots.
    fn sum_of_first_row(
        &self,
        sums: &Column<S::Ciphertext>,
        n: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let columns = self.columns();
        let [mut last, mut second] = [vec![0; columns], vec![0; n]];
        last[columns - 1] = 1;
        second[columns..].fill(1);
        let digit = |d: &Digit<S::Ciphertext>| {
            if d.cipher.is_none() && d.low == 0 {
                return Ok(d.clone());
            }
            let sum = self.swapped(&self.weighed(d, &last)?)?;
            let sum = self.gathered(&sum, 1, columns)?;
            // All slots of the second row have it.
            if n == self.slots() { Ok(sum) } else { self.weighed(&sum, &second) }
        };
        let digits = sums.digits.iter().map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { digits, ..sums.clone() })
    }

    /// The column in a form in which two such columns can be added without carries; its own carries
    /// are computed if necessary.
    pub(crate) fn addable(
        &self,
        x: Column<S::Ciphertext>,
        next: Next,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match x.digits.iter().any(|d| d.points() > BASE) {
            true => self.normalized_before(&x, standard_form(x.interval), next),
            false => Ok(x),
        }
    }

    /// The digit as a ciphertext, if it is public.
    pub(crate) fn encrypted(
        &self,
        d: &Digit<S::Ciphertext>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        match d.cipher {
            Some(_) => Ok(d.clone()),
            None => Ok(Digit { pad: d.low, ..self.weighed(d, &vec![1; self.slots()])? }),
        }
    }
}
