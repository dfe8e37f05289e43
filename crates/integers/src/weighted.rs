//! Sums of multiples of columns by public integers.

use crate::column::{BASE, Column, Digit, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;

/// The largest number of values of a digit that is reduced in one step.
const WIDEST: i64 = 512;

/// A column that is not constant, and its factor.
struct Term<'a, C> {
    column: &'a Column<C>,
    factor: i128,
    /// Digits of the factor, lowest first.
    digits: Vec<i64>,
}

impl<C> Term<'_, C> {
    /// The amounts by which the digits of the multiple increase the number of values of each place.
    fn spread(&self) -> Vec<i64> {
        let mut out = vec![0; self.column.digits.len() + self.digits.len() - 1];
        for (i, digit) in self.column.digits.iter().enumerate() {
            for (k, factor) in self.digits.iter().enumerate() {
                out[i + k] += (digit.points() - 1) * factor.abs();
            }
        }
        out
    }
}

/// Terms that are summed before carries are computed, and the number of values that each place then
/// has.
struct Bin<'a, C> {
    terms: Vec<Term<'a, C>>,
    widths: Vec<i64>,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Σ k_i x_i for public integers k_i, whose carries are computed once for all terms.
    ///
    /// Multiples of digits are summed place by place, which is free. In a place of more than 31
    /// values, up to 512, the part above 15 is then carried to the next place, by a polynomial on
    /// its values. A sum of few values is treated as one place if that is less work. The digits of
    /// the result are as wide as those of a sum of two columns.
    ///
    /// It costs about 2 √w products for each place of w values, at depth log2 w; a place of a sum
    /// of n bytes has 15 n + 1 values.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126; [`IntegersError::Length`] for columns of several
    /// lengths; those of carries.
    pub fn weighted_sum(
        &self,
        terms: &[(&Column<S::Ciphertext>, i128)],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let columns: Vec<_> = terms.iter().map(|(x, _)| *x).collect();
        let length = self.common_length(&columns)?;
        let mut interval = Interval::point(0)?;
        let mut constant = 0i128;
        let mut varying = Vec::with_capacity(terms.len());
        for (column, factor) in terms {
            let part = column.interval.checked_mul(Interval::point(*factor)?)?;
            interval = interval.checked_add(part)?;
            match column.public_value() {
                Some(value) => {
                    let sum = value.checked_mul(*factor).and_then(|v| constant.checked_add(v));
                    constant = interval.anchored("the sum", sum)?;
                }
                None if *factor == 0 => {}
                None => {
                    let digits = balanced(*factor);
                    varying.push(Term { column, factor: *factor, digits });
                }
            }
        }
        let found = match &varying[..] {
            [] => return Ok(Column::public(constant, interval, length)),
            [term] => {
                let found = self.mul_public(term.column, term.factor)?;
                let anchor = found.anchor.checked_add(constant);
                Column { anchor: interval.anchored("the sum", anchor)?, ..found }
            }
            _ => self.varying_sum(varying, interval, constant)?,
        };
        Ok(Column { interval, length, ..found }.narrowed())
    }

    /// The sum of terms that are not constants, and of a constant.
    fn varying_sum(
        &self,
        terms: Vec<Term<'_, S::Ciphertext>>,
        interval: Interval,
        constant: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let bins = binned(terms);
        let whole = i64::try_from(interval.points()).ok().filter(|points| *points <= WIDEST);
        if let Some(points) = whole
            && points < (self.modulus().value() / 2) as i64
            && let Some(pad) = pad_of(&bins, constant)
            && interval.contains(pad)
            && work([points - 1].iter()) < work(bins.iter().flat_map(|bin| &bin.widths))
        {
            let terms = bins.into_iter().flat_map(|bin| bin.terms).collect();
            return self.as_one_digit(terms, interval, (constant, pad));
        }
        let mut sums = Vec::with_capacity(bins.len());
        for Bin { terms, widths } in bins {
            if let ([term], true) = (&terms[..], widths.iter().any(|w| *w >= WIDEST)) {
                sums.push(self.mul_public(term.column, term.factor)?);
                continue;
            }
            let anchor = anchor_of(&terms, interval, 0)?;
            let digits = self.sums_of_places(&terms, widths.len())?;
            let digits = self.settled(digits)?;
            let end = |f: fn(&Digit<S::Ciphertext>) -> i64| {
                anchor + crate::column::value(digits.iter().map(f))
            };
            let interval = Interval::new(end(|d| d.low), end(|d| d.high))?;
            sums.push(Column { interval, anchor, digits, length: None });
        }
        if sums.len() == 1 {
            let sum = sums.remove(0);
            let anchor = interval.anchored("the sum", sum.anchor.checked_add(constant))?;
            return Ok(Column { anchor, ..sum });
        }
        let terms = sums.iter().map(|x| Term { column: x, factor: 1, digits: vec![1] });
        self.varying_sum(terms.collect(), interval, constant)
    }

    /// The multiples of digits, summed place by place.
    fn sums_of_places(
        &self,
        terms: &[Term<'_, S::Ciphertext>],
        places: usize,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let sum = |place: usize| {
            let mut parts = Vec::new();
            for term in terms {
                for (k, factor) in term.digits.iter().enumerate() {
                    let digit = place.checked_sub(k).and_then(|i| term.column.digits.get(i));
                    parts.extend(digit.map(|digit| (digit, *factor)));
                }
            }
            self.combine(&parts, 0)
        };
        (0..places).map(sum).collect()
    }

    /// The digits of a multiple above the multiple of the anchor, if sums of multiples of digits
    /// have no more values than digits may have.
    pub(crate) fn free_multiple(
        &self,
        column: &Column<S::Ciphertext>,
        factor: i128,
    ) -> Result<Option<Vec<Digit<S::Ciphertext>>>, IntegersError> {
        let term = Term { column, factor, digits: signed_digits(factor) };
        let spread = term.spread();
        if spread.iter().any(|most| *most >= POINTS) {
            return Ok(None);
        }
        self.sums_of_places(&[term], spread.len()).map(Some)
    }

    /// The sum as one digit above the least value of the interval, where that of unused slots lies
    /// as well, then of at most 31 values.
    fn as_one_digit(
        &self,
        terms: Vec<Term<'_, S::Ciphertext>>,
        interval: Interval,
        (constant, pad): (i128, i128),
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let t = self.modulus();
        let centered = |x: i128| t.centered(t.reduce_i128(x));
        let added = anchor_of(&terms, interval, constant)?;
        let mut parts = Vec::new();
        for term in &terms {
            let mut weight = i128::from(t.reduce_i128(term.factor));
            for digit in &term.column.digits {
                parts.push((digit, centered(weight)));
                weight = i128::from(t.reduce_i128(i128::from(BASE) * weight));
            }
        }
        let digit = self.combine(&parts, centered(added - interval.low()))?;
        let high = (interval.high() - interval.low()) as i64;
        let digit = Digit { pad: (pad - interval.low()) as i64, ..digit.within(0, high) };
        let digits = self.settled(vec![digit])?;
        Ok(Column { interval, anchor: interval.low(), digits, length: None })
    }
}

/// The anchor of a sum of terms and a constant.
fn anchor_of<C>(
    terms: &[Term<'_, C>],
    interval: Interval,
    constant: i128,
) -> Result<i128, IntegersError> {
    let anchor = terms.iter().try_fold(constant, |sum, term| {
        sum.checked_add(term.column.anchor.checked_mul(term.factor)?)
    });
    interval.anchored("the sum", anchor)
}

/// The sum in slots behind the columns, if it is in the range that results may have.
fn pad_of<C>(bins: &[Bin<'_, C>], constant: i128) -> Option<i128> {
    bins.iter().flat_map(|bin| &bin.terms).try_fold(constant, |sum, term| {
        sum.checked_add(term.factor.checked_mul(term.column.pad())?)
    })
}

/// A factor as digits: the factor itself if it is small, otherwise digits from -7 to 8, which lead
/// to the fewest values.
fn balanced(factor: i128) -> Vec<i64> {
    if factor.abs() < i128::from(BASE) {
        return vec![factor as i64];
    }
    signed_digits(factor)
}

/// A factor as digits from -7 to 8.
fn signed_digits(factor: i128) -> Vec<i64> {
    let (mut out, mut left) = (Vec::new(), factor);
    while left != 0 {
        let digit = (left + 7).rem_euclid(16) - 7;
        out.push(digit as i64);
        left = (left - digit) >> 4;
    }
    out
}

/// Groups terms, in their order, as long as no place has too many values.
fn binned<C>(terms: Vec<Term<'_, C>>) -> Vec<Bin<'_, C>> {
    let mut bins: Vec<Bin<'_, C>> = Vec::new();
    for term in terms {
        let spread = term.spread();
        let fits = |bin: &&mut Bin<'_, C>| {
            spread.iter().zip(&bin.widths).all(|(a, b)| a + b < WIDEST)
                && spread.iter().all(|a| *a < WIDEST)
        };
        match bins.iter_mut().find(fits) {
            Some(bin) => {
                bin.widths.resize(bin.widths.len().max(spread.len()), 0);
                bin.widths.iter_mut().zip(&spread).for_each(|(w, a)| *w += a);
                bin.terms.push(term);
            }
            None => bins.push(Bin { terms: vec![term], widths: spread }),
        }
    }
    bins
}

/// The work of bringing places with these widths back to digits, up to a factor.
fn work<'a>(widths: impl Iterator<Item = &'a i64>) -> f64 {
    widths.filter(|w| **w >= POINTS).map(|w| (*w as f64).sqrt()).sum()
}
