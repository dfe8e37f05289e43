//! Ranks of a column: all pairs of its entries side by side in one ciphertext for each digit.
//!
//! For n entries, block k = 1 .. K holds in its slot i the pair of entry i and entry i + k modulo
//! n; K is n / 2, because the other pairs are the same with the entries exchanged. A block has n +
//! 1 slots. Copies of the column without gaps are the second entries of the pairs, and copies with
//! a gap of one slot are the first ones, so that both take log2 n rotations and no product. Public
//! values decide between equal entries, so that the comparison is a strict order, that of NumPy's
//! stable sorts.
//!
//! Columns whose ordered pairs fill a row are compared in another arrangement
//! ([`Square`](crate::square::Square)).
//!
//! Blocks that do not fit a row of slots are compared part by part, in both rows. The first entries
//! are the same in all parts; the second ones are those of the previous part, rotated by as many
//! slots as that part has blocks. The counts for the second entries are rotated back in the same
//! way.

use everlevel_circuit::CircuitError;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Order;
use crate::ranked::Ranked;
use crate::square::Square;

/// The arrangement of the blocks of n entries in rows and parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    n: usize,
    /// Slots of a row.
    columns: usize,
    /// Rows that are used.
    rows: usize,
    /// Blocks of a part in a row.
    blocks: usize,
    parts: usize,
}

impl Tiles {
    /// The arrangement in one row if that is enough, otherwise in all `rows`, in as few parts as
    /// possible; `None` if a block does not fit a row.
    pub(crate) fn new(n: usize, columns: usize, rows: usize) -> Option<Self> {
        let all = n / 2;
        let spread = |rows: usize, parts: usize| {
            let blocks = all.div_ceil(rows * parts);
            Tiles { n, columns, rows, blocks, parts }
        };
        let more = (1..=all).map(|parts| spread(rows, parts));
        std::iter::once(spread(1, 1)).chain(more).find(|t| t.slots() <= columns / n * n)
    }

    /// The number of comparisons that it takes.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// The first of the parts alone, or all of them.
    pub(crate) fn first(self, parts: usize) -> Self {
        Tiles { parts: parts.min(self.parts), ..self }
    }

    /// Blocks before those of a row and a part.
    fn start(&self, row: usize, part: usize) -> usize {
        (row * self.parts + part) * self.blocks
    }

    /// The number of slots of a row that are occupied when the last part is rotated to its place.
    fn slots(&self) -> usize {
        self.start(self.rows - 1, self.parts - 1) + self.blocks * (self.n + 1) + 1
    }

    /// The number of slots, each n after the one before, whose sums cover all of them.
    fn rounds(&self) -> usize {
        self.slots().div_ceil(self.n)
    }

    /// The number of pairs of each entry with one before it: of even n the last block has each pair
    /// of its entries twice.
    fn others(&self) -> usize {
        self.n / 2 - usize::from(self.n.is_multiple_of(2))
    }

    /// 1 for the pairs of a part; those that the last block has twice are left out unless `twice`.
    fn counted(&self, part: usize, twice: bool) -> Vec<i64> {
        self.each(part, |k, _| i64::from(twice || k <= self.others()))
    }

    /// A public integer for each pair of a part, of entry i and entry i + k; 0 in other slots.
    fn each(&self, part: usize, value: impl Fn(usize, usize) -> i64) -> Vec<i64> {
        let stride = self.n + 1;
        let mut out = vec![0; (self.rows - 1) * self.columns + self.blocks * stride];
        for row in 0..self.rows {
            let first = self.start(row, part) + 1;
            for (block, k) in
                (first..first + self.blocks).take_while(|k| *k <= self.n / 2).enumerate()
            {
                let slot = row * self.columns + block * stride;
                (0..self.n).for_each(|i| out[slot + i] = value(k, i));
            }
        }
        out
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The number of entries that come before each of at least two entries; x is canonical.
    pub(crate) fn ranked(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        tiles: &Tiles,
    ) -> Result<Ranked<S::Ciphertext>, IntegersError> {
        let n = tiles.n;
        if let Some(square) = Square::new(n, tiles.columns) {
            return self.ranked_in_square(x, order, &square);
        }
        let Some([later, others]) = self.counted_pairs(x, order, tiles)? else {
            return Ok(Ranked::Digits(self.places(n, x.length)?));
        };
        if let ([later], [others]) = (&later.digits[..], &others.digits[..])
            && self.splits(later, n)?
        {
            let rank = self.whole_ranks(later, others, tiles)?;
            if self.splits(&rank, n)? {
                return Ok(Ranked::Whole(rank));
            }
        }
        Ok(Ranked::Digits(self.carried_ranks(&later, &others, tiles)?))
    }

    /// The numbers of entries that come before others, added up over all parts, but not over the
    /// blocks: of entries i + k before entry i, and of entries i - k that it does not come before,
    /// in the slots of the pairs. `None` if there are no parts.
    pub(crate) fn counted_pairs(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        tiles: &Tiles,
    ) -> Result<Option<[Column<S::Ciphertext>; 2]>, IntegersError> {
        let (n, blocks, parts) = (tiles.n, tiles.blocks as i64, tiles.parts);
        let entries = x.digits.iter().filter(|d| d.cipher.is_some());
        let copies = entries.map(|d| self.pair_copies(d, tiles)).collect::<Result<Vec<_>, _>>()?;
        let (first, mut second): (Vec<_>, Vec<_>) = copies.into_iter().map(|[a, b]| (a, b)).unzip();
        self.readied(&first)?;
        self.readied(&second)?;
        let mut sums: Option<[Column<S::Ciphertext>; 2]> = None;
        for part in 0..parts {
            let steps = if part == 0 { 1 } else { blocks };
            second =
                second.iter().map(|d| self.rotated(d, steps)).collect::<Result<Vec<_>, _>>()?;
            // Of equal entries the one that is first in the column.
            let ties = tiles.each(part, |k, i| if i + k >= n { -1 } else { 0 });
            let sign = self.precedence(&first, &second, order, &ties)?;
            let bits = |twice: bool| {
                let bit = self.second_first(&sign, &tiles.counted(part, twice))?;
                let (interval, length) = (Interval::BOOL, Some(n));
                Ok::<_, IntegersError>(Column { interval, anchor: 0, digits: vec![bit], length })
            };
            let found = [bits(true)?, bits(false)?];
            sums = Some(match sums {
                None => found,
                Some([later, others]) => [
                    self.add(&later, &found[0])?,
                    self.add(&self.turned(&others, blocks)?, &found[1])?,
                ],
            });
        }
        let Some([mut later, others]) = sums else { return Ok(None) };
        let mut others = self.turned(&others, -(blocks * (parts as i64 - 1) + 1))?;
        if tiles.rows > 1 {
            // What was found in the other row.
            if let (Some(below), Some(rest)) = (self.exchanged(&later)?, self.exchanged(&others)?) {
                later = self.add(&later, &below)?;
                others = self.add(&others, &self.turned(&rest, -(tiles.start(1, 0) as i64))?)?;
            }
        }
        Ok(Some([later, others]))
    }

    /// (1 - sign) / 2 where `counted` is 1, and 0 where it is 0 or ends: whether the second entry
    /// comes first.
    fn second_first(
        &self,
        sign: &Digit<S::Ciphertext>,
        counted: &[i64],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let t = self.modulus();
        let half = t.centered(t.inv(2).map_err(CircuitError::from)?);
        let weights: Vec<i64> = counted.iter().map(|c| -half * c).collect();
        let added: Vec<i64> = counted.iter().map(|c| half * c).collect();
        self.raised(&self.weighed(sign, &weights)?, &added, (0, 1), 0)
    }

    /// Ranks as integers, 0 behind the column, from the counts of all pairs.
    fn whole_ranks(
        &self,
        later: &Digit<S::Ciphertext>,
        others: &Digit<S::Ciphertext>,
        tiles: &Tiles,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let (n, count) = (tiles.n, tiles.others());
        let mut sum = self.gathered(later, n as i64 + 1, tiles.blocks)?;
        if count > 0 {
            let rest = self.gathered(others, n as i64, tiles.rounds())?;
            sum = self.combine(&[(&sum, 1), (&rest, -1)], 0)?;
        }
        self.raised(&self.placed(&sum, n, 0)?, &vec![count as i64; n], (0, n as i64 - 1), 0)
    }

    /// Ranks as digits, whose carries are computed as they become necessary.
    pub(crate) fn carried_ranks(
        &self,
        later: &Column<S::Ciphertext>,
        others: &Column<S::Ciphertext>,
        tiles: &Tiles,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (n, count) = (tiles.n, tiles.others());
        let kept = |x: Column<S::Ciphertext>| {
            let digits = x.digits.iter().map(|d| self.placed(d, n, 0));
            let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
            Ok::<_, IntegersError>(Column { digits, ..x })
        };
        let mut rank =
            self.add(&kept(self.folded(later, n as i64 + 1, tiles.blocks)?)?, count as u64)?;
        if count > 0 {
            rank = self.sub(&rank, &kept(self.folded(others, n as i64, tiles.rounds())?)?)?;
        }
        Ok(Column { interval: Interval::new(0, n as i128 - 1)?, length: Some(n), ..rank })
    }

    /// A digit of the first and of the second entries of the pairs in the first part; the second
    /// ones still have to be rotated by one slot.
    fn pair_copies(
        &self,
        d: &Digit<S::Ciphertext>,
        tiles: &Tiles,
    ) -> Result<[Digit<S::Ciphertext>; 2], IntegersError> {
        let d = self.cleared(d, tiles.n)?;
        let first = self.gathered(&d, -(tiles.n as i64 + 1), tiles.blocks)?;
        let second = self.gathered(&d, -(tiles.n as i64), tiles.rounds())?;
        if tiles.rows == 1 {
            return Ok([first, second]);
        }
        let with = |x: &Digit<S::Ciphertext>, below: Digit<S::Ciphertext>| {
            Ok::<_, IntegersError>(self.combine(&[(x, 1), (&below, 1)], 0)?.within(x.low, x.high))
        };
        let moved = self.rotated(&second, tiles.start(1, 0) as i64)?;
        Ok([with(&first, self.swapped(&first)?)?, with(&second, self.swapped(&moved)?)?])
    }

    /// A column rotated to the left.
    fn turned(
        &self,
        x: &Column<S::Ciphertext>,
        steps: i64,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let digits = x.digits.iter().map(|d| self.rotated(d, steps));
        Ok(Column { digits: digits.collect::<Result<_, IntegersError>>()?, ..x.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_fit_one_row() {
        let one = |n: usize, columns: usize| Tiles::new(n, columns, 1).map(|t| t.parts) == Some(1);
        assert!((1..=180).all(|n| one(n, 16384)));
        assert!((181..600).all(|n| !one(n, 16384)));
        assert!((1..=44).all(|n| one(n, 1024)));
        assert!(!one(45, 1024));
    }

    /// Checks that every pair is in one slot of one part, and that the rotations bring its entries
    /// there.
    #[test]
    fn tiles_hold_every_pair_once() {
        for (columns, rows) in [(64, 1), (64, 2), (256, 2), (1024, 1), (1024, 2)] {
            for n in 2..=columns {
                let Some(tiles) = Tiles::new(n, columns, rows) else {
                    assert!(n > columns / 2, "{n} of {columns}");
                    continue;
                };
                let mut found = vec![0u8; n * n];
                for part in 0..tiles.parts {
                    let numbers = tiles.each(part, |k, i| (k * n + i) as i64);
                    for (slot, number) in numbers.iter().enumerate().filter(|(_, v)| **v > 0) {
                        let (row, t) = (slot / columns, slot % columns);
                        let (k, i) = (*number as usize / n, *number as usize % n);
                        let start = tiles.start(row, part);
                        let place = t + 1 + start;
                        assert!(place < columns / n * n, "{n} of {columns}");
                        assert_eq!((t % (n + 1), place % n), (i, (i + k) % n));
                        found[i * n + (i + k) % n] += 1;
                    }
                }
                let twice = |i: usize, j: usize| found[i * n + j] + found[j * n + i];
                for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    let half = n.is_multiple_of(2) && i - j == n / 2;
                    assert_eq!(twice(i, j), 1 + u8::from(half), "{i} {j} of {n} in {columns}");
                }
            }
        }
    }
}
