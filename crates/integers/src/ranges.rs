//! Membership in public ranges: comparisons with several public integers at once.

use everlevel_circuit::CircuitError;
use rayon::prelude::*;

use crate::align::constants;
use crate::column::{BASE, Column, Digit, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::narrow::top_window;
use crate::question::Question;

/// The most ends that are compared with at once: there is a sign for each digit and each of them,
/// or one or two truth values.
const ENDS: usize = 4;
/// The most truth values of digits that are held for equalities with several integers.
const TRUTHS: usize = 64;
/// The most terms of a sum that are held: those of a longer list are added up in between.
const TERMS: usize = 64;

/// Digits, and for each of several integers what is added to each digit.
type Added<C> = (Vec<Digit<C>>, Vec<Vec<i64>>);

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether an entry lies in one of these public ranges, whose ends belong to them, as 0 or 1.
    /// Ranges may overlap.
    ///
    /// The digits decide one after the other, from the highest on, and all ends of up to two ranges
    /// share the powers of the digits: a range of a year among dates of seven years takes 31
    /// products, at depth 6. With more than eight digits, or too little capacity, each end takes a
    /// comparison with a public integer, but for the powers of the digits of x, which up to four
    /// ends share. Ranges of one integer take equalities ([`Integers::equal_each`]). The answers
    /// are added up, so that several ranges take no product and no level beyond these.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn in_ranges(
        &self,
        x: &Column<S::Ciphertext>,
        ranges: &[(i128, i128)],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let x = self.column(Operand::Column(x))?;
        let (low, high) = (x.interval.low(), x.interval.high());
        let ranges = apart(ranges, (low, high));
        if let Some(value) = x.public_value() {
            let bit = i128::from(ranges.iter().any(|(a, b)| (*a..=*b).contains(&value)));
            return Ok(Column::public(bit, Interval::point(bit)?, x.length));
        }
        if let Some(found) = self.in_ranges_by_index(&x, &ranges)? {
            let (interval, digits) = (Interval::BOOL, vec![found]);
            return Ok(Column { interval, anchor: 0, digits, length: x.length }.narrowed());
        }
        let (points, ranges): (Vec<_>, Vec<_>) = ranges.into_iter().partition(|(a, b)| a == b);
        let points: Vec<i128> = points.into_iter().map(|(a, _)| a).collect();
        let (mut constant, mut found) = (0, Vec::with_capacity(TERMS));
        let digits = if ranges.is_empty() { None } else { self.digits_with_room(&x)? };
        match digits {
            Some(digits) => {
                // Digits may make up what no value of x is: there it does not matter.
                let end = |v: i128, last: i128, beyond: i128| match v == last {
                    true => beyond,
                    false => v - x.anchor,
                };
                let range =
                    |(a, b): &(i128, i128)| (end(*a, low, i128::MIN), end(*b, high, i128::MAX));
                for some in ranges.chunks(ENDS / 2) {
                    let some: Vec<_> = some.iter().map(range).collect();
                    self.add_term(&mut found, (self.digits_in_ranges(&digits, &some)?, 1))?;
                }
            }
            None => {
                // Of each range [x >= a] - [x >= b + 1], one of which may be public.
                let mut ends = Vec::new();
                for (a, b) in ranges {
                    if a > low {
                        ends.push((a, 1));
                    } else {
                        constant += 1;
                    }
                    if b < high {
                        ends.push((b + 1, -1));
                    }
                }
                for some in ends.chunks(ENDS) {
                    let (integers, signs): (Vec<i128>, Vec<i64>) = some.iter().copied().unzip();
                    for term in self.at_least(&x, &integers)?.into_iter().zip(signs) {
                        self.add_term(&mut found, term)?;
                    }
                }
            }
        }
        self.each_equal(&x, &points, &mut |equal| {
            self.add_term(&mut found, (self.bit("a range", &equal)?, 1))
        })?;
        let terms: Vec<_> = found.iter().map(|(digit, sign)| (digit, *sign)).collect();
        let digits = vec![self.combine(&terms, constant)?.within(0, 1)];
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits, length: x.length }.narrowed())
    }

    /// Adds a term, a digit times an integer, to a sum, of which a bounded number is held.
    fn add_term(
        &self,
        terms: &mut Vec<(Digit<S::Ciphertext>, i64)>,
        term: (Digit<S::Ciphertext>, i64),
    ) -> Result<(), IntegersError> {
        if terms.len() == TERMS {
            let all: Vec<_> = terms.iter().map(|(digit, sign)| (digit, *sign)).collect();
            *terms = vec![(self.combine(&all, 0)?, 1)];
        }
        terms.push(term);
        Ok(())
    }

    /// The digits of x, the highest two as one where they can be, if they have the capacity to
    /// decide membership in ranges ([`Integers::digits_in_ranges`]); `None` also for one digit, and
    /// for digits that are compared side by side or need carries.
    fn digits_with_room(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Option<Vec<Digit<S::Ciphertext>>>, IntegersError> {
        let wide = x.digits.iter().any(|d| d.points() > BASE);
        if wide || x.digits.len() < 2 || self.is_side_by_side() {
            return Ok(None);
        }
        // Tables may bootstrap their digits in place, and those of x may be modulo p^2.
        let digits = x.detached().digits;
        let top = top_window(&digits, x.interval, x.anchor);
        let digits = self.with_joined_top(digits, top)?;
        Ok(Some(digits).filter(|digits| self.has_room(digits)))
    }

    /// Whether an entry equals each of these public integers, as 0 or 1: what [`Integers::eq`]
    /// gives for each of them. The truth values of the digits are computed once for all integers
    /// that have these digits, and share powers: all 16 of a digit take 23 relinearizations. Then
    /// each integer takes a product for each digit but one.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn equal_each(
        &self,
        x: &Column<S::Ciphertext>,
        integers: &[i128],
    ) -> Result<Vec<Column<S::Ciphertext>>, IntegersError> {
        let mut out = Vec::with_capacity(integers.len());
        self.each_equal(x, integers, &mut |equal| {
            out.push(equal);
            Ok(())
        })?;
        Ok(out)
    }

    /// The same, one integer after the other.
    fn each_equal(
        &self,
        x: &Column<S::Ciphertext>,
        integers: &[i128],
        each: &mut impl FnMut(Column<S::Ciphertext>) -> Result<(), IntegersError>,
    ) -> Result<(), IntegersError> {
        let x = self.column(Operand::Column(x))?;
        // Of one digit there are 16 truth values at most.
        let count = x.digits.len();
        let most = if count <= TRUTHS / 16 { integers.len() } else { TRUTHS / count };
        let mut parts = integers.chunks(most.max(1));
        parts.try_for_each(|some| self.each_equal_of_some(&x, some, each))
    }

    fn each_equal_of_some(
        &self,
        x: &Column<S::Ciphertext>,
        integers: &[i128],
        each: &mut impl FnMut(Column<S::Ciphertext>) -> Result<(), IntegersError>,
    ) -> Result<(), IntegersError> {
        let within = integers.iter().all(|v| x.interval.contains(*v));
        let several = integers.len() > 1 && within && !self.has_room_by_index(x, 0);
        let Some((digits, added)) = self.added_at_once(x, integers, several)? else {
            return integers.iter().try_for_each(|v| each(self.eq(x, *v)?));
        };
        let (mut requests, mut wanted) = (Vec::new(), Vec::new());
        for (i, digit) in digits.iter().enumerate() {
            let mut values: Vec<i64> = added.iter().map(|all| -all[i]).collect();
            values.sort_unstable();
            values.dedup();
            let table = |value: &i64| -> Vec<i64> {
                (digit.low..=digit.high).map(|v| i64::from(v == *value)).collect()
            };
            let tables: Vec<Vec<i64>> = values.iter().map(table).collect();
            requests.push((digit.clone(), self.plan(digit.low, digit.high, tables)?));
            wanted.push(values);
        }
        let found = self.tables(requests)?;
        for all in &added {
            let truth = |(i, values): (usize, &Vec<i64>)| {
                let place = values.binary_search(&-all[i]).ok()?;
                found[i].get(place).cloned()
            };
            let truths: Option<Vec<_>> = wanted.iter().enumerate().map(truth).collect();
            let truths = truths.ok_or(CircuitError::Empty { what: "a digit" })?;
            let (interval, digits) = (Interval::BOOL, vec![self.all(truths)?]);
            each(Column { interval, anchor: 0, digits, length: x.length }.narrowed())?;
        }
        Ok(())
    }

    /// The digits of x and what is added to them for the difference to each of these integers, if
    /// there are several digits, of at most 16 values each, and no carries.
    fn added_at_once(
        &self,
        x: &Column<S::Ciphertext>,
        integers: &[i128],
        wanted: bool,
    ) -> Result<Option<Added<S::Ciphertext>>, IntegersError> {
        let count = x.digits.len();
        if !wanted || count < 2 || x.digits.iter().any(|d| d.points() > BASE) {
            return Ok(None);
        }
        let public = integers.iter().map(|v| self.column(Operand::Public(*v)));
        let public = public.collect::<Result<Vec<_>, _>>()?;
        let added: Option<Vec<Vec<i64>>> = public.iter().map(|v| constants(x, v)).collect();
        let added = added.filter(|all| all.iter().all(|c| c.len() == count));
        let Some(mut added) = added else { return Ok(None) };
        // Tables may bootstrap their digits in place, and those of x may be modulo p^2.
        let digits = x.detached().digits;
        let top = top_window(&digits, x.interval, x.anchor);
        let digits = self.with_joined_top(digits, top)?;
        if digits.len() < count {
            for all in &mut added {
                let highest = all.split_off(count - 1);
                all[count - 2] += highest.iter().map(|c| BASE * c).sum::<i64>();
            }
        }
        Ok(Some((digits, added)))
    }

    /// Whether an entry is at least each of these integers, which are between its least value and
    /// its greatest.
    fn at_least(
        &self,
        x: &Column<S::Ciphertext>,
        integers: &[i128],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let question = Question::GreaterOrEqual;
        let several = integers.len() > 1 && !self.is_side_by_side();
        let Some((digits, added)) = self.added_at_once(x, integers, several)? else {
            // Digits do not begin lower: who asks about ranges may have chosen their level.
            let alone = |v: &i128| {
                let answer = self.compared_as(x.into(), (*v).into(), question, true)?;
                self.bit("a range", &answer)
            };
            return integers.iter().map(alone).collect();
        };
        let last = digits.len() - 1;
        // Digits below others do not matter where they cannot be negative.
        let first = |all: &Vec<i64>| {
            let below = digits[..last].iter().zip(all);
            below.take_while(|(digit, c)| digit.low + **c >= 0).count()
        };
        let firsts: Vec<usize> = added.iter().map(first).collect();
        let mut requests = Vec::with_capacity(digits.len());
        for (i, digit) in digits.iter().enumerate() {
            let all = added.iter().zip(&firsts).filter(|(_, first)| **first <= i);
            let table = |(all, first): (&Vec<i64>, &usize)| -> Vec<i64> {
                let values = (digit.low..=digit.high).map(|v| v + all[i]);
                match *first == last {
                    true => values.map(|v| question.answer(v)).collect(),
                    false => values.map(i64::signum).collect(),
                }
            };
            let tables: Vec<Vec<i64>> = all.map(table).collect();
            requests.push((digit.clone(), self.plan(digit.low, digit.high, tables)?));
        }
        let mut found: Vec<_> = self.tables(requests)?.into_iter().map(Vec::into_iter).collect();
        let mut signs: Vec<Vec<Digit<S::Ciphertext>>> = Vec::with_capacity(firsts.len());
        for first in &firsts {
            signs.push(found[*first..].iter_mut().filter_map(Iterator::next).collect());
        }
        let answers = signs.into_par_iter().zip(firsts).map(|(mut signs, first)| {
            if first < last {
                return self.tree(signs, question);
            }
            // The highest digit alone has answered.
            signs.pop().ok_or_else(|| CircuitError::Empty { what: "a digit" }.into())
        });
        answers.collect()
    }
}

/// The integers of `low..=high` in these ranges, as ranges in order that do not touch.
pub(crate) fn apart(ranges: &[(i128, i128)], (low, high): (i128, i128)) -> Vec<(i128, i128)> {
    let within = ranges.iter().map(|(a, b)| ((*a).max(low), (*b).min(high)));
    let mut all: Vec<(i128, i128)> = within.filter(|(a, b)| a <= b).collect();
    all.sort_unstable();
    let mut out: Vec<(i128, i128)> = Vec::with_capacity(all.len());
    for (a, b) in all {
        match out.last_mut() {
            Some(last) if a <= last.1 + 1 => last.1 = last.1.max(b),
            _ => out.push((a, b)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn ranges_are_joined_and_clipped() {
        assert_eq!(apart(&[(5, 7), (1, 2), (3, 3), (9, 8)], (0, 10)), [(1, 3), (5, 7)]);
        assert_eq!(apart(&[(-9, 4), (4, 20)], (0, 10)), [(0, 10)]);
        assert!(apart(&[(11, 20), (-3, -1)], (0, 10)).is_empty());
        assert_eq!(apart(&[(2, 9), (3, 4)], (0, 10)), [(2, 9)]);
    }
}
