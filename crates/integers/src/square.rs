//! Ranks of a column whose ordered pairs fill a row of slots.
//!
//! A row of N² slots holds all ordered pairs of up to N entries, N a power of two, for columns of
//! more than N / 2 of them. Block k = 1 .. N - 1 holds in its slot i the pair of entry i and entry
//! i + k modulo N; blocks have N + 1 slots, and the first one begins in slot 1. Copies of the
//! column without gaps are the second entries of the pairs: slot s holds entry s modulo N. Copies
//! with a gap of one slot are the first ones, without the one of them that would go past the end of
//! the row. Both take log2 N rotations and no product.
//!
//! Slots that are N apart belong to pairs with the same second entry, so that their sums around the
//! row are the ranks, and are so in each of the N blocks of N slots: places are compared with ranks
//! where these are, and ranks are neither masked nor copied before. Half of the pairs would decide
//! about the others, but their counts take two sums, a mask and copies, which is 30 bits that a
//! sort of 16-bit entries may lack.

use everlevel_circuit::CircuitError;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Order;
use crate::ranked::Ranked;

/// The arrangement of the ordered pairs of n entries in a row of N² slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Square {
    n: usize,
    /// N.
    side: usize,
}

impl Square {
    /// The arrangement; `None` where the pairs do not fill a row.
    pub(crate) fn new(n: usize, columns: usize) -> Option<Self> {
        let side = n.next_power_of_two();
        (side.checked_mul(side)? == columns).then_some(Square { n, side })
    }

    /// A public integer for each pair, of entry i and entry i + k modulo N; 0 in other slots.
    fn each(&self, value: impl Fn(usize, usize) -> i64) -> Vec<i64> {
        let mut out = vec![0; self.side * self.side];
        for k in 1..self.side {
            let first = (k - 1) * (self.side + 1) + 1;
            for i in (0..self.n).filter(|i| (i + k) % self.side < self.n) {
                out[first + i] = value(k, i);
            }
        }
        out
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The number of entries that come before each of at least two entries; x is canonical.
    pub(crate) fn ranked_in_square(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        square: &Square,
    ) -> Result<Ranked<S::Ciphertext>, IntegersError> {
        let n = square.n;
        let bit = self.square_of_pairs(x, order, square)?;
        if self.splits(&bit, n)? {
            let rank = self.gathered(&bit, square.side as i64, square.side)?;
            let rank = rank.within(0, n as i64 - 1);
            let whole = self.placed(&rank, n, 0)?;
            if self.splits(&whole, n)? {
                return Ok(Ranked::Repeated { rank, whole, block: square.side });
            }
        }
        Ok(Ranked::Digits(self.carried_in_square(bit, square)?))
    }

    /// Whether the first entry of each pair comes before the second one; 0 in other slots.
    pub(crate) fn square_of_pairs(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        square: &Square,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let entries = x.digits.iter().filter(|d| d.cipher.is_some());
        let copies = entries.map(|d| self.square_copies(d, square)).collect::<Result<Vec<_>, _>>();
        let (first, second): (Vec<_>, Vec<_>) = copies?.into_iter().map(|[a, b]| (a, b)).unzip();
        self.readied(&first)?;
        self.readied(&second)?;
        // Of equal entries the one that is first in the column.
        let ties = square.each(|k, i| if i + k >= square.side { -1 } else { 0 });
        let sign = self.precedence(&first, &second, order, &ties)?;
        // (1 + sign) / 2 for pairs.
        let t = self.modulus();
        let half = t.centered(t.inv(2).map_err(CircuitError::from)?);
        let halves = square.each(|_, _| half);
        self.raised(&self.weighed(&sign, &halves)?, &halves, (0, 1), 0)
    }

    /// Ranks as digits, whose carries are computed as they become necessary.
    pub(crate) fn carried_in_square(
        &self,
        bit: Digit<S::Ciphertext>,
        square: &Square,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (n, length) = (square.n, Some(square.n));
        let bits = Column { interval: Interval::BOOL, anchor: 0, digits: vec![bit], length };
        let sum = self.folded(&bits, square.side as i64, square.side)?;
        let digits = sum.digits.iter().map(|d| self.placed(d, n, 0));
        let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(Column { interval: Interval::new(0, n as i128 - 1)?, digits, length, ..sum })
    }

    /// A digit of the first and of the second entries of the pairs.
    fn square_copies(
        &self,
        d: &Digit<S::Ciphertext>,
        square: &Square,
    ) -> Result<[Digit<S::Ciphertext>; 2], IntegersError> {
        let d = self.cleared(d, square.n)?;
        // To the left: the copy in slot 0 is left out, and the others begin in slot 1.
        let all = self.gathered(&d, square.side as i64 + 1, square.side)?;
        let first = self.combine(&[(&all, 1), (&d, -1)], 0)?.within(d.low, d.high);
        let second = self.gathered(&d, square.side as i64, square.side)?;
        Ok([first, second])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_whose_pairs_fill_a_row() {
        let fill = |columns: usize| -> Vec<usize> {
            (2..=columns).filter(|n| Square::new(*n, columns).is_some()).collect()
        };
        assert_eq!(fill(16384), (65..=128).collect::<Vec<_>>());
        assert_eq!(fill(1024), (17..=32).collect::<Vec<_>>());
        assert!(fill(8192).is_empty());
    }

    /// Checks that every ordered pair is in one slot, that the copies bring its entries there, and
    /// that slots which are N apart have the same second entry.
    #[test]
    fn squares_hold_every_ordered_pair_once() {
        for columns in [16usize, 64, 1024] {
            let side = columns.isqrt();
            for n in side / 2 + 1..=side {
                let square = Square::new(n, columns).unwrap();
                // Entry i is i + 1.
                let copies = |step: usize, from: usize| {
                    let mut out = vec![0; columns];
                    for b in from..side {
                        (0..n).for_each(|i| out[(i + b * (columns - step)) % columns] += i + 1);
                    }
                    out
                };
                let (first, second) = (copies(side + 1, 1), copies(side, 0));
                let numbers = square.each(|k, i| (k * n + i) as i64);
                let mut found = vec![0u8; n * n];
                for (slot, number) in numbers.iter().enumerate().filter(|(_, v)| **v > 0) {
                    let (k, i) = (*number as usize / n, *number as usize % n);
                    let j = (i + k) % side;
                    assert_eq!((first[slot], second[slot], slot % side), (i + 1, j + 1, j));
                    found[i * n + j] += 1;
                }
                let expected = |place: usize| u8::from(place / n != place % n);
                assert!((0..n * n).all(|place| found[place] == expected(place)), "{n}");
            }
        }
    }
}
