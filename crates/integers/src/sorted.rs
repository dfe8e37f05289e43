//! Sorts: the ranks of a column compared with all places.
//!
//! Block b of n + 1 slots holds in its slot i whether entry i has rank i + b modulo n. Of these an
//! entry has one, and slots that are n apart belong to one place, so that sums of them are the
//! column in order. Where n blocks do not fit a row, a part of them is done after the other: from
//! block b on they begin in slot b, which leaves every place where it is.

use std::ops::Range;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Order;
use crate::slots::digit_of;

/// The slots of a part of the blocks: its first block is its first slot, too.
fn slots(part: &Range<usize>, n: usize) -> usize {
    part.start + part.len() * (n + 1)
}

/// Sums of slots that are n apart which reach all slots of a part.
fn rounds(part: &Range<usize>, n: usize) -> usize {
    slots(part, n).div_ceil(n)
}

/// The n blocks in parts that fit a row of `columns` slots, rotations of which do not meet; none if
/// a block does not fit.
fn parts(n: usize, columns: usize) -> Option<Vec<Range<usize>>> {
    let (mut out, mut first) = (Vec::new(), 0);
    while first < n {
        let fits = |end: &usize| rounds(&(first..*end), n) * n <= columns;
        let end = (first + 1..=n).take_while(fits).last()?;
        out.push(first..end);
        first = end;
    }
    Some(out)
}

/// Whether entry i has rank i + b modulo n, of a part of the blocks b.
struct Matches<C> {
    part: Range<usize>,
    bits: Digit<C>,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The entries in order, or the first `take` of them: a stable sort, as NumPy's of kind
    /// `stable`. Ranks, and each of them compared with each place; depth 6 more. The comparison
    /// with places is done in two parts where n (n + 1) slots are more than a row.
    ///
    /// # Errors
    /// [`IntegersError::Length`] beyond [`Integers::longest_ranked`], or for no entry or more than
    /// there are; those of [`Integers::ranks`].
    pub fn sorted(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        take: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let x = self.normalized(&x.clone().narrowed())?;
        let n = self.sortable(&x, take)?;
        if n == 1 || x.public_value().is_some() {
            return Ok(Column { length: Some(take), ..x });
        }
        let matches = self.matches(&x, n, order)?;
        let digit = |d: &Digit<S::Ciphertext>| {
            if d.cipher.is_none() {
                return Ok(d.clone());
            }
            let entries = self.placed(d, n, 0)?;
            let chosen = |m: &Matches<S::Ciphertext>| {
                self.product(&m.bits, &self.copies(&entries, n, &m.part)?)
            };
            self.in_order(&matches, n, take, d.pad, chosen)
        };
        let digits = x.digits.iter().map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { digits, length: Some(take), ..x })
    }

    /// The places in the column of the entries in order, or of the first `take` of them: NumPy's
    /// `argsort` of kind `stable`.
    ///
    /// # Errors
    /// As [`Integers::sorted`].
    pub fn argsorted(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        take: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.sortable(x, take)?;
        let x = x.clone().narrowed();
        if n == 1 || x.public_value().is_some() {
            return self.places(take, Some(take));
        }
        let matches = self.matches(&x, n, order)?;
        let interval = Interval::new(0, n as i128 - 1)?;
        let digit = |k: usize| {
            let chosen = |m: &Matches<S::Ciphertext>| {
                self.weighed(&m.bits, &each(n, &m.part, |_, i| digit_of(i as i128, k)))
            };
            self.in_order(&matches, n, take, 0, chosen)
        };
        let count = crate::split::digits_of(n as u128 - 1);
        let digits = (0..count).map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { interval, anchor: 0, digits, length: Some(take) })
    }

    fn sortable(&self, x: &Column<S::Ciphertext>, take: usize) -> Result<usize, IntegersError> {
        let n = self.within_row(x, self.longest_ranked())?;
        if (1..=n).contains(&take) {
            return Ok(n);
        }
        let expected = format!("1 to {n} of the entries");
        Err(IntegersError::Length { found: take, expected })
    }

    /// A digit of n entries and zeros behind them, in each block of a part.
    fn copies(
        &self,
        d: &Digit<S::Ciphertext>,
        n: usize,
        part: &Range<usize>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let copies = self.gathered(d, -(n as i64 + 1), part.len())?;
        if part.start == 0 { Ok(copies) } else { self.rotated(&copies, -(part.start as i64)) }
    }

    /// What `chosen` leaves of each part, added up in the first `take` places.
    fn in_order(
        &self,
        matches: &[Matches<S::Ciphertext>],
        n: usize,
        take: usize,
        pad: i64,
        chosen: impl Fn(&Matches<S::Ciphertext>) -> Result<Digit<S::Ciphertext>, IntegersError>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let sums = matches.iter().map(|m| self.gathered(&chosen(m)?, n as i64, rounds(&m.part, n)));
        let sums = sums.collect::<Result<Vec<_>, _>>()?;
        // An entry is in one of the parts.
        let (low, high) = sums.iter().fold((0, 0), |(l, h), d| (d.low.min(l), d.high.max(h)));
        let terms: Vec<_> = sums.iter().map(|d| (d, 1)).collect();
        let sum = self.combine(&terms, 0)?.within(low, high);
        self.placed(&Digit { pad: 0, ..sum }, take, pad)
    }

    /// Which entry has which rank, part by part; 0 in slots that are of no entry.
    fn matches(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
    ) -> Result<Vec<Matches<S::Ciphertext>>, IntegersError> {
        let rank = self.normalized(&self.ranks(x, order)?)?;
        let Some(parts) = parts(n, self.columns()) else {
            let expected = "fewer, for blocks of them to fit a row of slots".into();
            return Err(IntegersError::Length { found: n, expected });
        };
        let digits = rank.digits.iter().map(|d| self.placed(d, n, 0));
        let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
        let one = |part: Range<usize>| {
            let mut differences = Vec::with_capacity(digits.len());
            for (k, d) in digits.iter().enumerate() {
                let copies = self.copies(d, n, &part)?;
                let wanted = each(n, &part, |b, i| -digit_of(((i + b) % n) as i128, k));
                let least = wanted.iter().copied().min().unwrap_or(0);
                differences.push(self.raised(&copies, &wanted, (least, copies.high), 0)?);
            }
            let zeros = self.map(&differences, |_, x| i64::from(x == 0))?;
            let mut equal = zeros.into_iter();
            let first = equal.next().unwrap_or_else(|| Digit::public(1));
            let both = equal.try_fold(first, |all, next| self.product(&all, &next))?;
            let bits = self.weighed(&both, &each(n, &part, |_, _| 1))?.within(0, 1);
            Ok(Matches { part, bits })
        };
        parts.into_iter().map(one).collect()
    }
}

/// A public integer for each block and entry of a part, 0 in other slots.
fn each(n: usize, part: &Range<usize>, value: impl Fn(usize, usize) -> i64) -> Vec<i64> {
    let mut out = vec![0; slots(part, n)];
    for (t, slot) in out.iter_mut().enumerate().skip(part.start) {
        let (block, i) = ((t - part.start) / (n + 1), (t - part.start) % (n + 1));
        if i < n {
            *slot = value(part.start + block, i);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts follow each other, fit, and bring each pair of a place and an entry to its place.
    #[test]
    fn blocks_in_parts() {
        for (columns, n, expected) in
            [(16384, 127, 1), (16384, 128, 2), (16384, 180, 2), (1024, 31, 1), (1024, 44, 2)]
        {
            let found = parts(n, columns).unwrap();
            assert_eq!(found.len(), expected, "{n} in {columns}");
            assert_eq!(
                found.iter().flat_map(Clone::clone).collect::<Vec<_>>(),
                (0..n).collect::<Vec<_>>()
            );
            let mut places = vec![vec![false; n]; n];
            for part in &found {
                assert!(rounds(part, n) * n <= columns);
                let numbers = each(n, part, |b, i| (b * n + i + 1) as i64);
                for (t, number) in numbers.iter().enumerate().filter(|(_, v)| **v > 0) {
                    let (b, i) = ((*number as usize - 1) / n, (*number as usize - 1) % n);
                    assert_eq!(t % n, (i + b) % n);
                    assert!(!std::mem::replace(&mut places[t % n][i], true));
                }
            }
            assert!(places.iter().flatten().all(|found| *found));
        }
        assert_eq!(parts(40, 40), None);
    }
}
