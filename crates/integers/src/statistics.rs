//! Order statistics of a column: ranks, sorts, entries of a rank.
//!
//! Short columns are put in order by comparing all pairs, longer ones by a network where that is
//! faster.

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::network;
use crate::order::{Of, Order, Wanted};
use crate::pairs::Tiles;
use crate::places::Places;
use crate::ranked::Ranked;
use crate::slots::digit_of;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The length of the longest column that can be ordered, 32,768 entries on `bgv-65537-n15`: the
    /// number of slots, if that is a power of two.
    pub fn longest_ordered(&self) -> usize {
        network::longest(self.columns(), self.slots())
    }

    /// The length of the longest column whose pairs all fit a row of slots, so that ranks take one
    /// comparison: 180 entries on `bgv-65537-n15`.
    pub fn longest_ranked(&self) -> usize {
        let one = |n: &usize| Tiles::new(*n, self.columns(), 1).is_some_and(|t| t.parts() == 1);
        (1..=self.columns()).take_while(one).last().unwrap_or(0)
    }

    /// The rank of each entry: the number of entries that come before it. The ranks are the inverse
    /// permutation of NumPy's stable `argsort`.
    ///
    /// It costs comparisons of n^2 / 2 pairs, in parallel in all slots, which is one comparison and
    /// about 4 log2 n rotations for each digit for up to [`Integers::longest_ranked`] entries, or 2
    /// log2 n where all ordered pairs fill a row (65 to 128 entries on `bgv-65537-n15`). Up to 256
    /// ranks are added up as integers, and split into two digits by one table, if the capacity
    /// suffices for it; otherwise their digits are added up with carries. If two sorts of the
    /// positions are cheaper, these are used instead.
    ///
    /// # Errors
    /// [`IntegersError::Length`] beyond [`Integers::longest_ordered`]; a missing key; those of
    /// comparisons.
    pub fn ranks(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.within_row(x, self.longest_ordered())?;
        let x = x.clone().narrowed();
        if n == 1 || x.public_value().is_some() {
            return self.places(n, x.length);
        }
        let x = self.normalized(&x)?;
        match self.pairs_if_faster(&x, n, Wanted::Ranks)? {
            Some(tiles) => self.rank_column(&self.ranked(&x, order, &tiles)?, n),
            None => self.ranked_by_network(&x, n, order),
        }
    }

    /// The entries in order, or the first `take` of them: a stable sort, as in NumPy with
    /// `kind="stable"`.
    ///
    /// It costs [`Integers::ranks`] and a comparison of each rank with the requested positions, in
    /// parts that fit a row of slots: one table of the difference, if the capacity suffices for it,
    /// otherwise one for each digit of the ranks. If a bitonic network takes less time by
    /// the model, it is used instead: m (m + 1) / 2 layers sort 2^m entries, and m (m + 1) / 2 +
    /// (l - m) (m + 1) layers find the first 2^m of 2^l; each layer takes a comparison, two
    /// rotations and a product for each digit.
    ///
    /// # Errors
    /// [`IntegersError::Length`] beyond [`Integers::longest_ordered`], for `take` = 0, or for more
    /// entries than there are; those of [`Integers::ranks`].
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
        self.first(&x, n, order, (take, Of::Entries))
    }

    /// The positions in the column of the entries in order, or of the first `take` of them, as
    /// NumPy's `argsort` with `kind="stable"`. The cost is as for [`Integers::sorted`]; the network
    /// has the digits of positions in addition to those of entries.
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
        self.first(&self.normalized(&x)?, n, order, (take, Of::Places))
    }

    fn sortable(&self, x: &Column<S::Ciphertext>, take: usize) -> Result<usize, IntegersError> {
        let n = self.within_row(x, self.longest_ordered())?;
        if (1..=n).contains(&take) {
            return Ok(n);
        }
        let expected = format!("1 to {n} of the entries");
        Err(IntegersError::Length { found: take, expected })
    }

    fn first(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
        (take, of): (usize, Of),
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let tiles = self.pairs_if_faster(x, n, Wanted::First(take, of))?;
        let Some((tiles, places)) = tiles.zip(Places::new(n, take, self.columns())) else {
            return self.sorted_by_network(x, n, order, (take, of));
        };
        self.sorted_by_ranks(x, &self.ranked(x, order, &tiles)?, of, &places)
    }

    /// The entry of this rank, counted from 0, as a column of one entry. It costs ranks, an
    /// equality and a selection, or the network for the entries on the nearer side of the rank.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for a rank that does not exist; those of [`Integers::ranks`].
    pub fn nth(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        rank: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.with_rank(x, rank)?;
        let x = self.normalized(&x.clone().narrowed())?;
        if n == 1 || x.public_value().is_some() {
            return Ok(Column { length: Some(1), ..x });
        }
        self.one(&x, n, order, (rank, Of::Entries))
    }

    /// The position of the entry of this rank, as a column of one entry.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn arg_nth(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        rank: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = self.with_rank(x, rank)?;
        let x = x.clone().narrowed();
        if n == 1 || x.public_value().is_some() {
            return Ok(Column::public(rank as i128, Interval::point(rank as i128)?, Some(1)));
        }
        self.one(&self.normalized(&x)?, n, order, (rank, Of::Places))
    }

    /// The number of entries, if one of them has this rank.
    fn with_rank(&self, x: &Column<S::Ciphertext>, rank: usize) -> Result<usize, IntegersError> {
        let n = self.within_row(x, self.longest_ordered())?;
        if rank < n {
            return Ok(n);
        }
        let expected = format!("more than {rank}, the rank that is asked for");
        Err(IntegersError::Length { found: n, expected })
    }

    fn one(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
        (rank, of): (usize, Of),
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match self.pairs_if_faster(x, n, Wanted::Nth(rank, of))? {
            Some(tiles) => self.nth_by_ranks(x, &self.ranked(x, order, &tiles)?, rank, of),
            None => self.nth_by_network(x, n, order, (rank, of)),
        }
    }

    /// The entry of a rank, or its position, from the ranks of all entries.
    pub(crate) fn nth_by_ranks(
        &self,
        x: &Column<S::Ciphertext>,
        ranks: &Ranked<S::Ciphertext>,
        rank: usize,
        of: Of,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = x.length.unwrap_or(0);
        self.nth_by_choice(x, &self.chosen_rank(ranks, n, rank)?, of)
    }

    /// Which of n entries has a rank; 0 behind the column.
    pub(crate) fn chosen_rank(
        &self,
        ranks: &Ranked<S::Ciphertext>,
        n: usize,
        rank: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let whole = match ranks {
            Ranked::Whole(own) | Ranked::Repeated { rank: own, .. } => {
                self.mapped_if_it_fits(own, |x| i64::from(x == rank as i64))?
            }
            Ranked::Digits(_) => None,
        };
        let found = match whole {
            Some(found) => found,
            None => self.residue(&self.eq(&self.rank_column(ranks, n)?, rank as u64)?, 0)?,
        };
        self.readied_choices(std::slice::from_ref(&found))?;
        Ok(self.weighed(&found, &vec![1; n])?.within(0, 1))
    }

    /// The chosen entry, or its position.
    pub(crate) fn nth_by_choice(
        &self,
        x: &Column<S::Ciphertext>,
        bit: &Digit<S::Ciphertext>,
        of: Of,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = x.length.unwrap_or(0);
        let one = |chosen: Digit<S::Ciphertext>, pad: i64| {
            self.placed(&self.gathered(&chosen, 1, n)?, 1, pad)
        };
        if of == Of::Entries {
            let digit = |d: &Digit<S::Ciphertext>| match d.cipher {
                None => Ok(d.clone()),
                Some(_) => one(self.product(bit, d)?, d.pad),
            };
            let digits = x.digits.iter().map(digit).collect::<Result<_, IntegersError>>()?;
            return Ok(Column { digits, length: Some(1), ..x.clone() });
        }
        let digit = |k: usize| {
            let places: Vec<i64> = (0..n).map(|i| digit_of(i as i128, k)).collect();
            one(self.weighed(bit, &places)?, 0)
        };
        let count = crate::split::digits_of(n as u128 - 1);
        let digits = (0..count).map(digit).collect::<Result<_, IntegersError>>()?;
        let interval = Interval::new(0, n as i128 - 1)?;
        Ok(Column { interval, anchor: 0, digits, length: Some(1) })
    }

    /// The largest entry, as a column of one entry.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn maximum(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.nth(x, Order::Descending, 0)
    }

    /// The least entry, as a column of one entry.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn minimum(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.nth(x, Order::Ascending, 0)
    }

    /// The position of the largest entry, the first one of equal entries.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn argmax(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.arg_nth(x, Order::Descending, 0)
    }

    /// The position of the least entry, the first one of equal entries.
    ///
    /// # Errors
    /// As [`Integers::nth`].
    pub fn argmin(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.arg_nth(x, Order::Ascending, 0)
    }

    /// The quantile `numerator / denominator`: the entry of rank ⌊(n - 1) numerator / denominator⌋,
    /// as NumPy's `quantile` with `method="lower"`.
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
        let n = self.within_row(x, self.longest_ordered())?;
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
