//! Order statistics of a column: all pairs of its entries side by side in one ciphertext for each
//! digit.
//!
//! Of n entries, block k = 1 .. K holds in its slot i the pair of entry i and entry i + k modulo n;
//! K is n / 2, as the other pairs are these the other way round. Copies of the column one after the
//! other are the second entries of blocks of n + 1 slots, and copies with a gap of one slot are the
//! first ones, so that both take log2 n rotations and no product. With a public tie the comparison
//! is a strict order, the one of NumPy's stable sorts.

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::slots::digit_of;

/// Signs that are joined with a tie in one table: 2^1 to 2^3, and the tie itself.
const JOINED: usize = 3;
/// Signs that are joined without one.
const GROUP: usize = 4;

/// Which entries come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least; of equal ones the first.
    Ascending,
    /// The largest; of equal ones the first.
    Descending,
}

/// Whether all pairs of n entries, each once, fit a row.
fn pairs_fit(n: usize, columns: usize) -> bool {
    let used = n / 2 * (n + 1) + 1;
    used <= columns && used.div_ceil(n) * n <= columns
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The longest column whose ranks can be computed: 180 entries on `bgv-65537-n15`.
    pub fn longest_ranked(&self) -> usize {
        let columns = self.columns();
        (1..=columns).take_while(|n| pairs_fit(*n, columns)).last().unwrap_or(0)
    }

    /// How many entries come before each entry: a permutation of 0 .. n - 1, that of NumPy's stable
    /// `argsort` turned round.
    ///
    /// Cost: one comparison of as many digits as the column has, on n^2 / 2 pairs side by side, and
    /// some 4 log2 n rotations a digit; carries of the counts.
    ///
    /// # Errors
    /// [`IntegersError::Length`] beyond [`Integers::longest_ranked`]; a missing key; those of
    /// comparisons.
    pub fn ranks(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.within_row(x, self.longest_ranked())?;
        let x = x.clone().narrowed();
        if n == 1 || x.public_value().is_some() {
            return self.places(n, x.length);
        }
        let x = self.normalized(&x)?;
        let (blocks, stride) = (n / 2, n as i64 + 1);
        let before = self.before(&x, n, order)?;
        // The pairs of each block, from its first slot on; of even n the last block has each pair
        // of its entries twice.
        let pairs = |blocks: usize| -> Vec<i64> {
            (0..blocks * (n + 1)).map(|t| i64::from(t % (n + 1) < n)).collect()
        };
        let bits = |blocks: usize| {
            let digit = self.weighed(&before, &pairs(blocks))?.within(0, 1);
            let (interval, length) = (Interval::BOOL, Some(n));
            Ok::<_, IntegersError>(Column { interval, anchor: 0, digits: vec![digit], length })
        };
        let kept = |x: Column<S::Ciphertext>| {
            let digits = x.digits.iter().map(|d| self.placed(d, n, 0));
            let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
            Ok::<_, IntegersError>(Column { digits, ..x })
        };
        // Entries i + k before entry i, and entries i - k that it does not come before.
        let later = kept(self.folded(&bits(blocks)?, stride, blocks)?)?;
        let others = blocks - usize::from(n.is_multiple_of(2));
        let turned = {
            let x = bits(others)?;
            let digits = x.digits.iter().map(|d| self.rotated(d, -1));
            Column { digits: digits.collect::<Result<_, IntegersError>>()?, ..x }
        };
        let count = (blocks * (n + 1) + 1).div_ceil(n);
        let rank = self.add(&later, others as u64)?;
        let rank = if others == 0 {
            rank
        } else {
            self.sub(&rank, &kept(self.folded(&turned, n as i64, count)?)?)?
        };
        Ok(Column { interval: Interval::new(0, n as i128 - 1)?, ..rank })
    }

    /// The ranks 0 .. n - 1 of entries that are all the same: public, but different in each slot.
    pub(crate) fn places(
        &self,
        n: usize,
        length: Option<usize>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.listed(n, |i| i as i128, length)
    }

    /// Public integers that differ from entry to entry.
    pub(crate) fn listed(
        &self,
        n: usize,
        value: impl Fn(usize) -> i128,
        length: Option<usize>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let least = (0..n).map(&value).min().unwrap_or(0);
        let interval = Interval::new(least, (0..n).map(&value).max().unwrap_or(least))?;
        let digit = |k: usize| {
            let values: Vec<i64> = (0..n).map(|i| digit_of(value(i) - least, k)).collect();
            self.weighed(&Digit::public(1), &values)
        };
        let count = crate::split::digits_of((interval.high() - least).unsigned_abs());
        let digits = (0..count).map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { interval, anchor: least, digits, length })
    }

    /// Whether entry i + k modulo n comes before entry i, in slot (k - 1) (n + 1) + i for k from 1
    /// to n / 2; something in other slots.
    fn before(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let (blocks, stride) = (n / 2, n as i64 + 1);
        let copies = (blocks * (n + 1) + 1).div_ceil(n);
        let sign = if order == Order::Ascending { 1 } else { -1 };
        let mut digits = Vec::new();
        for d in x.digits.iter().filter(|d| d.cipher.is_some()) {
            let d = self.placed(d, n, 0)?;
            let first = self.gathered(&d, -stride, blocks)?;
            let second = self.rotated(&self.gathered(&d, -(n as i64), copies)?, 1)?;
            let difference = self.combine(&[(&second, sign), (&first, -sign)], 0)?;
            digits.push(Digit { pad: 0, ..difference });
        }
        // Of equal entries the one that is first in the column: -1 where that is i + k modulo n.
        let tie = |t: usize| {
            let (k, i) = (t / (n + 1) + 1, t % (n + 1));
            if i + k >= n { -1 } else { 1 }
        };
        let ties: Vec<i64> = (0..self.slots()).map(tie).collect();
        loop {
            let signs = self.map(&digits, |_, x| x.signum())?;
            if signs.len() > JOINED {
                digits = signs.chunks(GROUP).map(|s| self.weighted(s)).collect::<Result<_, _>>()?;
                continue;
            }
            let terms: Vec<_> = signs.iter().zip(1..).map(|(s, j)| (s, 1i64 << j)).collect();
            let joined = self.combine(&terms, 0)?;
            let most = (2i64 << signs.len()) - 1;
            let tied = self.raised(&joined, &ties, (-most, most), 0)?;
            let answers = self.map(&[tied], |_, x| i64::from(x < 0))?;
            return answers.into_iter().next().ok_or_else(|| {
                everlevel_circuit::CircuitError::Empty { what: "the list of digits" }.into()
            });
        }
    }

    /// The entry of this rank, from 0: a column of one entry. Ranks, an equality, a selection.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for a rank that there is none of; those of [`Integers::ranks`].
    pub fn nth(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        rank: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.within_row(x, self.longest_ranked())?;
        let x = self.normalized(x)?;
        if rank == 0 && n == 1 || rank < n && x.public_value().is_some() {
            return Ok(Column { length: Some(1), ..x });
        }
        let chosen = self.chosen(&x, n, order, rank)?;
        let digit = |d: &Digit<S::Ciphertext>| {
            if d.cipher.is_none() {
                return Ok(d.clone());
            }
            let own = self.product(&chosen, d)?;
            self.placed(&self.gathered(&own, 1, n)?, 1, d.pad)
        };
        let digits = x.digits.iter().map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { digits, length: Some(1), ..x })
    }

    /// The place of the entry of this rank: a column of one entry.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn arg_nth(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        rank: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.within_row(x, self.longest_ranked())?;
        if rank < n && (n == 1 || x.public_value().is_some()) {
            return Ok(Column::public(rank as i128, Interval::point(rank as i128)?, Some(1)));
        }
        let chosen = self.chosen(x, n, order, rank)?;
        let digit = |k: usize| {
            let places: Vec<i64> = (0..n).map(|i| digit_of(i as i128, k)).collect();
            let own = self.weighed(&chosen, &places)?;
            self.placed(&self.gathered(&own, 1, n)?, 1, 0)
        };
        let count = crate::split::digits_of(n as u128 - 1);
        let digits = (0..count).map(digit).collect::<Result<_, IntegersError>>()?;
        let interval = Interval::new(0, n as i128 - 1)?;
        Ok(Column { interval, anchor: 0, digits, length: Some(1) })
    }

    /// Which entry has this rank, as 0 or 1; 0 behind the column.
    fn chosen(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
        rank: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        if rank >= n {
            let expected = format!("more than {rank}, the rank that is asked for");
            return Err(IntegersError::Length { found: n, expected });
        }
        let found = self.eq(&self.ranks(x, order)?, rank as u64)?;
        let bit = self.residue(&found, 0)?;
        Ok(self.weighed(&bit, &vec![1; n])?.within(0, 1))
    }

    /// The largest entry: a column of one entry.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn maximum(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.nth(x, Order::Descending, 0)
    }

    /// The least entry: a column of one entry.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn minimum(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.nth(x, Order::Ascending, 0)
    }

    /// Where the largest entry is, the first one of equal ones.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn argmax(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.arg_nth(x, Order::Descending, 0)
    }

    /// Where the least entry is, the first one of equal ones.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn argmin(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.arg_nth(x, Order::Ascending, 0)
    }

    /// The entry that `numerator / denominator` of the others do not exceed: rank
    /// ⌊(n - 1) numerator / denominator⌋, NumPy's `quantile` of method `lower`.
    ///
    /// # Errors
    /// [`IntegersError::Value`] unless 0 <= numerator <= denominator, 0 < denominator; those of
    /// [`Integers::nth`].
    pub fn quantile(
        &self,
        x: &Column<S::Ciphertext>,
        numerator: u32,
        denominator: u32,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if denominator == 0 || numerator > denominator {
            let expected = format!("a numerator up to the denominator, {denominator}, above 0");
            return Err(IntegersError::Value { value: numerator.into(), position: 0, expected });
        }
        let n = self.within_row(x, self.longest_ranked())?;
        let rank = (n as u64 - 1) * u64::from(numerator) / u64::from(denominator);
        self.nth(x, Order::Ascending, rank as usize)
    }

    /// The median; of an even number of entries the lower one of the two in the middle, NumPy's
    /// `quantile(0.5, method="lower")`.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn median(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.quantile(x, 1, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_fit() {
        let longest = |columns: usize| (1..=columns).filter(|n| pairs_fit(*n, columns)).max();
        assert_eq!(longest(16384), Some(180));
        assert_eq!(longest(1024), Some(44));
        // All shorter ones fit, too.
        assert!((1..=180).all(|n| pairs_fit(n, 16384)));
    }
}
