//! Operations along a column: counts, means, products with public vectors, positions in lists.

use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::slots::digit_of;
use crate::total::Total;

/// The largest number of possible values for which one table is used.
const ENTRIES: u128 = 256;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The number of entries of a column of truth values that are 1. It takes no level, and the
    /// rotations of [`Integers::sum`].
    ///
    /// # Errors
    /// [`IntegersError::Type`] for other values; those of [`Integers::sum`].
    pub fn count(&self, x: &Column<S::Ciphertext>) -> Result<Total<S::Ciphertext>, IntegersError> {
        let digit = self.bit("counting", x)?;
        let (interval, anchor, length) = (Interval::BOOL, 0, x.length);
        self.sum(&Column { interval, anchor, digits: vec![digit], length })
    }

    /// The mean of a column, rounded down: its sum, which is divided by the number of entries at
    /// decryption, so whoever decrypts sees the sum. It costs as much as [`Integers::sum`].
    ///
    /// # Errors
    /// As [`Integers::sum`].
    pub fn mean(&self, x: &Column<S::Ciphertext>) -> Result<Total<S::Ciphertext>, IntegersError> {
        let divisor = x.length().unwrap_or(1) as i128;
        Ok(Total { divisor, interval: x.interval, ..self.sum(x)? })
    }

    /// The weighted mean Σ_i w_i x_i / Σ_i w_i with public w, rounded down. It is
    /// [`Integers::dot`], divided at decryption, so whoever decrypts sees the value of the sum. It
    /// costs as much as [`Integers::dot`].
    ///
    /// # Errors
    /// [`IntegersError::Value`] unless the sum of the weights is from 1 to 2^63 - 1; those of
    /// [`Integers::dot`].
    pub fn average(
        &self,
        x: &Column<S::Ciphertext>,
        weights: &[i128],
    ) -> Result<Total<S::Ciphertext>, IntegersError> {
        let most = i128::from(i64::MAX);
        let sum = weights.iter().fold(0i128, |sum, w| sum.saturating_add(*w));
        if !(1..=most).contains(&sum) {
            let expected = format!("weights whose sum is from 1 to {most}");
            return Err(IntegersError::Value { value: sum, position: 0, expected });
        }
        let total = self.dot(x, weights)?;
        let ends = (total.interval.low().div_euclid(sum), total.interval.high().div_euclid(sum));
        Ok(Total { divisor: sum, interval: Interval::new(ends.0, ends.1)?, ..total })
    }

    /// The scalar product Σ_i w_i x_i with public w. It takes a product by a plaintext for each
    /// digit of x and each byte of w, and the rotations of [`Integers::sum`].
    ///
    /// # Errors
    /// [`IntegersError::Length`] unless there are as many weights as entries;
    /// [`IntegersError::Range`] past 2^126; [`IntegersError::Set`] where p is too small; a missing
    /// key.
    pub fn dot(
        &self,
        x: &Column<S::Ciphertext>,
        weights: &[i128],
    ) -> Result<Total<S::Ciphertext>, IntegersError> {
        if x.length().is_some_and(|n| n != weights.len()) || weights.is_empty() {
            let expected = format!("{}, as many as there are weights", weights.len());
            return Err(IntegersError::Length { found: x.length().unwrap_or(1), expected });
        }
        let mut interval = Interval::point(0)?;
        for w in weights {
            interval = interval.checked_add(x.interval.checked_mul(Interval::point(*w)?)?)?;
        }
        let mut constant = 0i128;
        for w in weights {
            let known = x.digits.iter().rev().fold(0, |v, d| {
                let public = if d.cipher.is_none() { d.low } else { 0 };
                i128::from(BASE) * v + i128::from(public)
            });
            // Modulo 2^128, as it is decrypted: an anchor may be far from all values.
            constant = constant.wrapping_add(w.wrapping_mul(x.anchor.wrapping_add(known)));
        }
        let encrypted: Vec<&Digit<S::Ciphertext>> =
            x.digits.iter().filter(|d| d.cipher.is_some()).collect();
        let p = self.modulus().prime();
        // In bytes, unless too little is left of p for sums.
        for nibbles in [2usize, 1] {
            let parts = weight_digits(weights, nibbles);
            let mut sums: Vec<Option<Digit<S::Ciphertext>>> = Vec::new();
            let points = |d: &Digit<S::Ciphertext>| d.low.abs().max(d.high.abs()) as u64;
            let widest = encrypted.iter().map(|d| points(d)).max().unwrap_or(0);
            let largest = 2 * widest * (1 << (4 * nibbles - 1)) * parts.len() as u64;
            if largest >= p {
                continue;
            }
            for (k, d) in x.digits.iter().enumerate().filter(|(_, d)| d.cipher.is_some()) {
                for (m, part) in parts.iter().enumerate() {
                    if part.iter().all(|w| *w == 0) {
                        continue;
                    }
                    let product = self.weighed(d, part)?;
                    let power = k + nibbles * m;
                    sums.resize_with(sums.len().max(power + 1), || None);
                    sums[power] = Some(match sums[power].take() {
                        None => product,
                        Some(sum) => self.combine(&[(&sum, 1), (&product, 1)], 0)?,
                    });
                }
            }
            let mut out = Vec::new();
            for (power, sum) in (0..).zip(sums) {
                if let Some(digit) = sum {
                    out.push(self.summed(power, &digit)?);
                }
            }
            return Ok(Total { interval, constant, divisor: 1, parts: out });
        }
        Err(IntegersError::Set {
            name: self.params().name().into(),
            problem: "its plaintext modulus is too small for products with these weights: use \
                      bgv-65537-n15",
        })
    }

    /// [`Integers::dot`] with each row of a matrix.
    ///
    /// # Errors
    /// As [`Integers::dot`].
    pub fn matrix(
        &self,
        rows: &[Vec<i128>],
        x: &Column<S::Ciphertext>,
    ) -> Result<Vec<Total<S::Ciphertext>>, IntegersError> {
        rows.iter().map(|row| self.dot(x, row)).collect()
    }

    /// A column that has the sum of all entries in each entry; unlike a total, it can be computed
    /// on. It takes log2 n rotations and an exchange of rows for each digit, and carries of all
    /// digits in between, which are up to 18 products for each digit and step.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126; [`IntegersError::Width`] beyond 124 bits;
    /// [`IntegersError::Set`] where slots lie in more than two rows; a missing key; those of
    /// carries.
    pub fn sum_of_each(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let count = Interval::point(x.length.unwrap_or(1) as i128)?;
        let interval = x.interval.checked_mul(count)?;
        let x = x.clone().narrowed();
        if let Some(value) = x.public_value() {
            let value = value * count.low();
            return Ok(Column::public(value, Interval::point(value)?, x.length));
        }
        self.check_rows()?;
        let x = self.normalized(&x)?;
        let anchor = interval.anchored("the sum", x.anchor.checked_mul(count.low()))?;
        let n = x.length.unwrap_or(self.slots());
        let digits = x.digits.iter().map(|d| self.placed(&self.encrypted(d)?, n, 0));
        let above = Interval::new(0, x.interval.high() - x.anchor)?;
        let sum = Column {
            interval: above,
            anchor: 0,
            digits: digits.collect::<Result<Vec<_>, IntegersError>>()?,
            length: Some(self.slots()),
        };
        let sum = self.folded(&sum, 1, self.columns())?;
        let sum = match self.exchanged(&sum)? {
            Some(exchanged) => self.add(&sum, &exchanged)?,
            None => sum,
        };
        let reached = Interval::new(0, interval.high() - anchor)?;
        let sum = self.normalized(&Column { interval: reached, ..sum })?;
        let mut sum = Column { interval, anchor, ..sum };
        if n == self.slots() {
            // Nothing is behind it, which has to be a value like others all the same.
            let least = interval.low() - anchor;
            let digits = sum.digits.iter_mut().enumerate();
            for (k, digit) in digits.filter(|(_, d)| d.cipher.is_some()) {
                digit.pad = digit_of(least, k);
            }
        }
        self.shortened(&sum, n)
    }

    /// For each entry of x, the number of the `sorted` public integers that are less than it, or at
    /// most equal to it if `or_equal`. This is the position at which NumPy's `searchsorted` would
    /// insert it on the left, or on the right, as `digitize` does. It takes a table for up to 256
    /// values, and otherwise a comparison for each of the integers.
    ///
    /// # Errors
    /// [`IntegersError::Value`] if they are not sorted; those of comparisons.
    pub fn searchsorted(
        &self,
        sorted: &[i128],
        x: &Column<S::Ciphertext>,
        or_equal: bool,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if let Some(i) = (1..sorted.len()).find(|i| sorted[i - 1] > sorted[*i]) {
            let expected = format!("at least {}, as the list has to ascend", sorted[i - 1]);
            return Err(IntegersError::Value { value: sorted[i], position: i, expected });
        }
        let passed = |limit: i128, x: i128| limit < x || or_equal && limit == x;
        let places = |x: i128| sorted.iter().filter(|limit| passed(**limit, x)).count() as i128;
        if let Some(found) = self.tabulated(x, &places)? {
            return Ok(found);
        }
        // What all entries have passed, or none, is known.
        let (low, high) = (places(x.interval.low()), places(x.interval.high()));
        let mut sum = Column::public(low, Interval::point(low)?, x.length);
        for limit in &sorted[low as usize..high as usize] {
            let bit = if or_equal { self.ge(x, *limit)? } else { self.gt(x, *limit)? };
            sum = self.add(&sum, &bit)?;
        }
        Ok(Column { interval: Interval::new(low, high)?, ..sum })
    }

    /// Whether each entry is one of these public integers. It takes a table for up to 256 values,
    /// and otherwise a comparison for each of the integers.
    ///
    /// # Errors
    /// Those of comparisons.
    pub fn isin(
        &self,
        x: &Column<S::Ciphertext>,
        values: &[i128],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let points: Vec<(i128, i128)> = values.iter().map(|v| (*v, *v)).collect();
        if let Some(found) = self.in_ranges_by_index(x, &points)? {
            let (interval, digits) = (Interval::BOOL, vec![found]);
            return Ok(Column { interval, anchor: 0, digits, length: x.length });
        }
        let found = |x: i128| i128::from(values.contains(&x));
        if let Some(found) = self.tabulated(x, &found)? {
            return Ok(Column { interval: Interval::BOOL, ..found });
        }
        let mut distinct = values.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let mut sum: Option<Digit<S::Ciphertext>> = None;
        for value in distinct.into_iter().filter(|v| x.interval.contains(*v)) {
            let equal = self.residue(&self.eq(x, value)?, 0)?;
            // One of them at most is 1.
            sum = Some(match sum {
                None => equal,
                Some(sum) => self.combine(&[(&sum, 1), (&equal, 1)], 0)?.within(0, 1),
            });
        }
        let digits = vec![sum.unwrap_or_else(|| Digit::public(0))];
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits, length: x.length })
    }

    /// A function of the entries as one table, if there are at most 256 values.
    fn tabulated(
        &self,
        x: &Column<S::Ciphertext>,
        f: &dyn Fn(i128) -> i128,
    ) -> Result<Option<Column<S::Ciphertext>>, IntegersError> {
        if x.interval.points() > ENTRIES {
            return Ok(None);
        }
        let table: Vec<i128> = (x.interval.low()..=x.interval.high()).map(f).collect();
        self.lookup(x, &table).map(Some)
    }
}

/// Integers as digits to the base 16^nibbles, from -half to half: one list for each place.
fn weight_digits(weights: &[i128], nibbles: usize) -> Vec<Vec<i64>> {
    let base = 1i128 << (4 * nibbles);
    let mut rest = weights.to_vec();
    let mut out = Vec::new();
    while rest.iter().any(|w| *w != 0) {
        let digit = |w: &mut i128| {
            let digit = (*w + base / 2).rem_euclid(base) - base / 2;
            *w = (*w - digit) / base;
            digit as i64
        };
        out.push(rest.iter_mut().map(digit).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_sums_of_their_digits() {
        let weights =
            [0, 1, -1, 127, 128, -128, -129, 255, 65535, i128::from(u64::MAX), -(1 << 90)];
        for nibbles in [1usize, 2] {
            let digits = weight_digits(&weights, nibbles);
            let half = 1i64 << (4 * nibbles - 1);
            assert!(digits.iter().flatten().all(|d| (-half..half).contains(d)));
            for (i, w) in weights.iter().enumerate() {
                let value = digits
                    .iter()
                    .rev()
                    .fold(0i128, |v, row| (v << (4 * nibbles)) + i128::from(row[i]));
                assert_eq!(value, *w);
            }
        }
    }
}
