//! Ranks of a column: all pairs of its entries side by side in one ciphertext for each digit.
//!
//! For n entries, block k = 1 .. K holds in its slot i the pair of entry i and entry i + k modulo
//! n; K is n / 2, because the other pairs are the same with the entries exchanged. A block has n +
//! 1 slots. Copies of the column without gaps are the second entries of the pairs, and copies with
//! a gap of one slot are the first ones, so that both take log2 n rotations and no product. Public
//! values decide between equal entries, so that the comparison is a strict order, that of NumPy's
//! stable sorts.
//!
//! Blocks that do not fit a row of slots are compared part by part, in both rows. The first entries
//! are the same in all parts; the second ones are those of the previous part, rotated by as many
//! slots as that part has blocks. The counts for the second entries are rotated back in the same
//! way.

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Order;

/// The number of signs that one table combines with the value that decides between equal entries:
/// with the weights 2^1 to 2^3, and 1 for that value.
const JOINED: usize = 3;
/// The number of signs that one table combines without such a value.
const GROUP: usize = 4;

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
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (n, blocks, parts) = (tiles.n, tiles.blocks as i64, tiles.parts);
        let entries = x.digits.iter().filter(|d| d.cipher.is_some());
        let copies = entries.map(|d| self.pair_copies(d, tiles)).collect::<Result<Vec<_>, _>>()?;
        let (first, mut second): (Vec<_>, Vec<_>) = copies.into_iter().map(|[a, b]| (a, b)).unzip();
        self.readied(&first)?;
        self.readied(&second)?;
        // Of even n the last block has each pair of its entries twice.
        let even = n.is_multiple_of(2);
        let bits = |before: &Digit<S::Ciphertext>, part: usize, twice: bool| {
            let counted = |k: usize, _| i64::from(twice || !even || k < n / 2);
            let bit = self.weighed(before, &tiles.each(part, counted))?.within(0, 1);
            let (interval, length) = (Interval::BOOL, Some(n));
            Ok::<_, IntegersError>(Column { interval, anchor: 0, digits: vec![bit], length })
        };
        let mut sums: Option<[Column<S::Ciphertext>; 2]> = None;
        for part in 0..parts {
            let steps = if part == 0 { 1 } else { blocks };
            second =
                second.iter().map(|d| self.rotated(d, steps)).collect::<Result<Vec<_>, _>>()?;
            let before = self.before(
                &first,
                &second,
                order,
                &tiles.each(part, |k, i| {
                    // Of equal entries the one that is first in the column.
                    if i + k >= n { -1 } else { 1 }
                }),
            )?;
            let found = [bits(&before, part, true)?, bits(&before, part, false)?];
            sums = Some(match sums {
                None => found,
                Some([later, others]) => [
                    self.add(&later, &found[0])?,
                    self.add(&self.turned(&others, blocks)?, &found[1])?,
                ],
            });
        }
        let Some([mut later, others]) = sums else { return self.places(n, x.length) };
        let mut others = self.turned(&others, -(blocks * (parts as i64 - 1) + 1))?;
        if tiles.rows > 1 {
            // What was found in the other row.
            if let (Some(below), Some(rest)) = (self.exchanged(&later)?, self.exchanged(&others)?) {
                later = self.add(&later, &below)?;
                others = self.add(&others, &self.turned(&rest, -(tiles.start(1, 0) as i64))?)?;
            }
        }
        let kept = |x: Column<S::Ciphertext>| {
            let digits = x.digits.iter().map(|d| self.placed(d, n, 0));
            let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
            Ok::<_, IntegersError>(Column { digits, ..x })
        };
        // Entries i + k before entry i, and entries i - k that it does not come before.
        let count = n / 2 - usize::from(even);
        let mut rank =
            self.add(&kept(self.folded(&later, n as i64 + 1, tiles.blocks)?)?, count as u64)?;
        if count > 0 {
            let rounds = tiles.slots().div_ceil(n);
            rank = self.sub(&rank, &kept(self.folded(&others, n as i64, rounds)?)?)?;
        }
        Ok(Column { interval: Interval::new(0, n as i128 - 1)?, length: x.length, ..rank })
    }

    /// A digit of the first and of the second entries of the pairs in the first part; the second
    /// ones still have to be rotated by one slot.
    fn pair_copies(
        &self,
        d: &Digit<S::Ciphertext>,
        tiles: &Tiles,
    ) -> Result<[Digit<S::Ciphertext>; 2], IntegersError> {
        let d = self.placed(d, tiles.n, 0)?;
        let first = self.gathered(&d, -(tiles.n as i64 + 1), tiles.blocks)?;
        let second = self.gathered(&d, -(tiles.n as i64), tiles.slots().div_ceil(tiles.n))?;
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

    /// Whether the second entry comes before the first, slot by slot; public values decide between
    /// equal entries.
    fn before(
        &self,
        first: &[Digit<S::Ciphertext>],
        second: &[Digit<S::Ciphertext>],
        order: Order,
        ties: &[i64],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let sign = if order == Order::Ascending { 1 } else { -1 };
        let differences = first.iter().zip(second).map(|(first, second)| {
            let difference = self.combine(&[(second, sign), (first, -sign)], 0)?;
            Ok::<_, IntegersError>(Digit { pad: 0, ..difference })
        });
        let mut digits = differences.collect::<Result<Vec<_>, _>>()?;
        loop {
            let signs = self.map(&digits, |_, x| x.signum())?;
            if signs.len() > JOINED {
                digits = signs.chunks(GROUP).map(|s| self.weighted(s)).collect::<Result<_, _>>()?;
                continue;
            }
            let terms: Vec<_> = signs.iter().zip(1..).map(|(s, j)| (s, 1i64 << j)).collect();
            let joined = self.combine(&terms, 0)?;
            let most = (2i64 << signs.len()) - 1;
            let tied = self.raised(&joined, ties, (-most, most), 0)?;
            return self.map_one(tied, |x| i64::from(x < 0));
        }
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
