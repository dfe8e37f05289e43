//! Ranks as they come out of comparisons of pairs.
//!
//! A rank is a sum of truth values. While it has fewer possible values than there are residues, it
//! is added up in one slot as it is, without any carry. One table then splits it into digits, or
//! decides whether it is the rank of a position. Of 128 ranks that table has depth 7 or 8, which
//! what is left of fresh encryptions suffices for on `bgv-65537-n15`, while carries take a table
//! and a bootstrapping for every few steps of the sum.

use crate::column::{BASE, Column, Digit, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;

/// The levels that a truth value that chooses entries takes: a product by an entry, two or three by
/// plaintexts, and sums.
const CHOICE: f64 = 3.5;

/// Ranks of the entries of a column.
pub(crate) enum Ranked<C> {
    /// As one integer in each slot, with 0 behind the column.
    Whole(Digit<C>),
    /// Both as that and in blocks: in each slot, the rank of the entry at its place in a block.
    Repeated {
        /// The ranks in every block, 0 where a block has no entry.
        rank: Digit<C>,
        /// Those of the first block, with 0 behind the column.
        whole: Digit<C>,
        /// The slots of a block, which is no shorter than the column; as many blocks fill a row.
        block: usize,
    },
    /// As a column like others.
    Digits(Column<C>),
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether ranks of `n` entries as integers can be split into digits.
    pub(crate) fn splits(
        &self,
        rank: &Digit<S::Ciphertext>,
        n: usize,
    ) -> Result<bool, IntegersError> {
        // Up to the square of the base: two digits.
        if n as i64 > BASE * BASE {
            return Ok(false);
        }
        let rank = rank.clone().within(0, n as i64 - 1);
        Ok(rank.points() <= POINTS || self.fits_mapped(&rank, |x| x / BASE)?)
    }

    /// Ranks of `n` entries as a column.
    pub(crate) fn rank_column(
        &self,
        ranks: &Ranked<S::Ciphertext>,
        n: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let rank = match ranks {
            Ranked::Whole(rank) | Ranked::Repeated { whole: rank, .. } => rank,
            Ranked::Digits(column) => return Ok(column.clone()),
        };
        let digits = if rank.points() <= POINTS {
            vec![rank.clone()]
        } else {
            let upper = self.map_one(rank.clone(), |x| x / BASE)?;
            let lower = self.combine(&[(rank, 1), (&upper, -BASE)], 0)?.within(0, BASE - 1);
            vec![lower, upper]
        };
        Ok(Column {
            interval: Interval::new(0, n as i128 - 1)?,
            anchor: 0,
            digits,
            length: Some(n),
        })
    }

    /// Bootstraps truth values that choose entries if they lack the capacity for all that follows,
    /// so that each is bootstrapped once, and not every digit that it chooses.
    pub(crate) fn readied_choices(
        &self,
        bits: &[Digit<S::Ciphertext>],
    ) -> Result<(), IntegersError> {
        if !self.session().can_bootstrap() {
            return Ok(());
        }
        let needed = self.session().minimum_capacity() + CHOICE * self.level_bits();
        let scheme = self.session().scheme();
        let stale = bits.iter().filter_map(|bit| {
            let x = bit.cipher.as_ref()?;
            (scheme.capacity_bits(&x.get()) < needed).then_some(x)
        });
        self.refresh_all(&stale.collect::<Vec<_>>())
    }
}
