//! Entries in order from their ranks, which are compared with positions.
//!
//! For all positions, block b of n + 1 slots holds in its slot i whether entry i has rank i + b
//! modulo n. Each entry has one of these ranks, and slots that are n apart belong to the same
//! position, so their sums are the column in order. If n blocks do not fit a row, they are
//! processed in parts: the part from block b on begins in slot b, so that every position keeps its
//! slots.
//!
//! For few positions, block b of n slots holds in its slot i whether entry i has rank b, and the
//! sum of a block moves to position b. So do blocks of more slots where ranks are in each of them
//! already.

use std::ops::Range;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Of;
use crate::ranked::Ranked;
use crate::slots::digit_of;

/// The meaning of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// The position at the same distance from the entry in all slots.
    Distance,
    /// One position.
    Place,
}

/// The comparisons of n ranks with the first positions.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    n: usize,
    take: usize,
    block: Block,
    /// Slots of a block.
    stride: usize,
    /// The blocks of each comparison.
    parts: Vec<Range<usize>>,
    /// Whether the last rank has the first position.
    reversed: bool,
}

impl Places {
    /// The comparisons in rows of `columns` slots; `None` if a block does not fit.
    pub(crate) fn new(n: usize, take: usize, columns: usize) -> Option<Self> {
        let per_part = columns / n;
        if per_part == 0 {
            return None;
        }
        let few = take.div_ceil(per_part);
        let all = distances(n, columns);
        // Places take more rotations than distances, and fewer comparisons where there are few.
        match all {
            Some(parts) if parts.len() < 2 * few => {
                let (block, stride) = (Block::Distance, n + 1);
                Some(Places { n, take, block, stride, parts, reversed: false })
            }
            _ => {
                let parts = (0..few).map(|i| i * per_part..take.min((i + 1) * per_part));
                let (block, parts) = (Block::Place, parts.collect());
                Some(Places { n, take, block, stride: n, parts, reversed: false })
            }
        }
    }

    /// The number of comparisons that it takes.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The first of them alone, or all of them.
    pub(crate) fn first(mut self, parts: usize) -> Self {
        self.parts.truncate(parts);
        self
    }

    /// The same positions of entries that are ranked from the other end.
    pub(crate) fn counted_from_the_end(self) -> Self {
        Places { reversed: !self.reversed, ..self }
    }

    /// The comparisons with ranks as they are arranged.
    pub(crate) fn beside<C>(&self, ranks: &Ranked<C>) -> Self {
        match ranks {
            Ranked::Repeated { block, .. } => self.one_each(*block),
            Ranked::Whole(_) | Ranked::Digits(_) => self.clone(),
        }
    }

    /// The rank of the entry that comes to a position.
    fn rank(&self, place: usize) -> usize {
        if self.reversed { self.n - 1 - place } else { place }
    }

    /// All positions in one comparison, each in a block of `stride` slots. As many of these as
    /// there are positions have to fit a row.
    fn one_each(&self, stride: usize) -> Self {
        let parts = std::iter::once(0..self.take).collect();
        Places { block: Block::Place, stride, parts, ..*self }
    }

    /// Blocks of the largest part.
    fn blocks(&self) -> usize {
        self.parts.iter().map(Range::len).max().unwrap_or(0)
    }

    /// The slot of the first block of a part.
    fn start(&self, part: &Range<usize>) -> usize {
        if self.block == Block::Distance { part.start } else { 0 }
    }

    /// A public integer for each place and entry of a part, 0 in other slots.
    fn each(&self, part: &Range<usize>, value: impl Fn(usize, usize) -> i64) -> Vec<i64> {
        let (n, stride, start) = (self.n, self.stride, self.start(part));
        let mut out = vec![0; start + part.len() * stride];
        for (t, slot) in out[start..].iter_mut().enumerate() {
            let (b, i) = (part.start + t / stride, t % stride);
            if i < n {
                *slot = value(if self.block == Block::Distance { (i + b) % n } else { b }, i);
            }
        }
        out
    }
}

/// The number of slots, each n after the one before, whose sums cover all slots of a part of
/// distances.
fn rounds(part: &Range<usize>, n: usize) -> usize {
    (part.start + part.len() * (n + 1)).div_ceil(n)
}

/// The n distances in parts that fit a row of `columns` slots without overlapping when they are
/// rotated; `None` if a block does not fit.
fn distances(n: usize, columns: usize) -> Option<Vec<Range<usize>>> {
    let (mut out, mut first) = (Vec::new(), 0);
    while first < n {
        let fits = |end: &usize| rounds(&(first..*end), n) * n <= columns;
        let end = (first + 1..=n).take_while(fits).last()?;
        out.push(first..end);
        first = end;
    }
    Some(out)
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The first entries in order, or their positions, from the ranks of at least two entries; x is
    /// canonical. Each part takes an equality, and a product for each digit.
    pub(crate) fn sorted_by_ranks(
        &self,
        x: &Column<S::Ciphertext>,
        ranks: &Ranked<S::Ciphertext>,
        of: Of,
        places: &Places,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let places = places.beside(ranks);
        self.sorted_by_choices(x, &self.chosen_places(ranks, &places)?, of, &places)
    }

    /// The same from the truth values that say which entry comes to which position.
    pub(crate) fn sorted_by_choices(
        &self,
        x: &Column<S::Ciphertext>,
        chosen: &[Digit<S::Ciphertext>],
        of: Of,
        places: &Places,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (n, length) = (places.n, Some(places.take));
        if of == Of::Entries {
            let digit = |d: &Digit<S::Ciphertext>| {
                if d.cipher.is_none() {
                    return Ok(d.clone());
                }
                let entries = self.block_copies(d, places)?;
                let own = places.parts.iter().zip(chosen).map(|(part, bits)| {
                    self.product(bits, &self.rotated(&entries, -(places.start(part) as i64))?)
                });
                self.in_order(&own.collect::<Result<Vec<_>, _>>()?, places, d.pad)
            };
            let digits = x.digits.iter().map(digit).collect::<Result<_, IntegersError>>()?;
            return Ok(Column { digits, length, ..x.clone() });
        }
        let digit = |k: usize| {
            let own = places.parts.iter().zip(chosen).map(|(part, bits)| {
                self.weighed(bits, &places.each(part, |_, i| digit_of(i as i128, k)))
            });
            self.in_order(&own.collect::<Result<Vec<_>, _>>()?, places, 0)
        };
        let interval = Interval::new(0, n as i128 - 1)?;
        let count = crate::split::digits_of(n as u128 - 1);
        let digits = (0..count).map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { interval, anchor: 0, digits, length })
    }

    /// A digit of n entries, and zeros behind them, in each block.
    fn block_copies(
        &self,
        d: &Digit<S::Ciphertext>,
        places: &Places,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let entries = self.cleared(d, places.n)?;
        self.gathered(&entries, -(places.stride as i64), places.blocks())
    }

    /// Which entry has the rank of which position, part by part, of positions beside the ranks; 0
    /// in slots without a meaning.
    pub(crate) fn chosen_places(
        &self,
        ranks: &Ranked<S::Ciphertext>,
        places: &Places,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let equal = match self.equal_at_once(ranks, places)? {
            Some(equal) => equal,
            None => self.equal_by_digits(ranks, places)?,
        };
        self.readied_choices(&equal)?;
        let kept = |(part, equal): (&Range<usize>, &Digit<S::Ciphertext>)| {
            Ok(self.weighed(equal, &places.each(part, |_, _| 1))?.within(0, 1))
        };
        places.parts.iter().zip(&equal).map(kept).collect()
    }

    /// Whether ranks are equal to positions, part by part, as one table of each difference; `None`
    /// for ranks in digits, and where the tables do not fit.
    fn equal_at_once(
        &self,
        ranks: &Ranked<S::Ciphertext>,
        places: &Places,
    ) -> Result<Option<Vec<Digit<S::Ciphertext>>>, IntegersError> {
        let most = places.n as i64 - 1;
        if 2 * most as u64 >= self.modulus().prime() {
            return Ok(None);
        }
        let copies = match ranks {
            Ranked::Whole(rank) => self.block_copies(rank, places)?,
            Ranked::Repeated { rank, .. } => rank.clone(),
            Ranked::Digits(_) => return Ok(None),
        };
        let difference = |part: &Range<usize>| {
            let own = self.rotated(&copies, -(places.start(part) as i64))?;
            let wanted = places.each(part, |place, _| -(places.rank(place) as i64));
            self.raised(&own, &wanted, (-most, most), 0)
        };
        let zero = |x: i64| i64::from(x == 0);
        // All parts are at the same level.
        if let Some(first) = places.parts.first()
            && !self.fits_mapped(&difference(first)?, zero)?
        {
            return Ok(None);
        }
        let differences = places.parts.iter().map(difference).collect::<Result<Vec<_>, _>>()?;
        match self.map(&differences, |_, x| zero(x)) {
            Err(IntegersError::Depth { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// The same by digits of the ranks.
    fn equal_by_digits(
        &self,
        ranks: &Ranked<S::Ciphertext>,
        places: &Places,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let rank = self.normalized(&self.rank_column(ranks, places.n)?)?;
        let copies = rank.digits.iter().map(|d| self.block_copies(d, places));
        let copies = copies.collect::<Result<Vec<_>, IntegersError>>()?;
        self.readied(&copies)?;
        let one = |part: &Range<usize>| {
            let mut differences = Vec::with_capacity(copies.len());
            for (k, d) in copies.iter().enumerate() {
                let own = self.rotated(d, -(places.start(part) as i64))?;
                let wanted = places.each(part, |place, _| {
                    let rank = places.rank(place) as i128;
                    -digit_of(rank, k)
                });
                let least = wanted.iter().copied().min().unwrap_or(0);
                differences.push(self.raised(&own, &wanted, (least, own.high), 0)?);
            }
            self.all(self.map(&differences, |_, x| i64::from(x == 0))?)
        };
        places.parts.iter().map(one).collect()
    }

    /// The chosen entries of all parts, added up in the first positions.
    fn in_order(
        &self,
        chosen: &[Digit<S::Ciphertext>],
        places: &Places,
        pad: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let (low, high) = chosen.iter().fold((0, 0), |(l, h), d| (d.low.min(l), d.high.max(h)));
        let added = |x: &[Digit<S::Ciphertext>]| {
            let terms: Vec<_> = x.iter().map(|d| (d, 1)).collect();
            // An entry is in one of the parts.
            Ok::<_, IntegersError>(self.combine(&terms, 0)?.within(low, high))
        };
        let n = places.n;
        let sum = match places.block {
            Block::Distance => {
                let rounds = places.parts.iter().map(|part| rounds(part, n)).max().unwrap_or(0);
                self.gathered(&added(chosen)?, n as i64, rounds)?
            }
            Block::Place => {
                let part = |(part, d): (&Range<usize>, &Digit<S::Ciphertext>)| {
                    let stride = places.stride;
                    let sums = self.gathered(d, 1, stride)?;
                    let slots = 0..part.len() * stride;
                    let first: Vec<i64> =
                        slots.map(|t| i64::from(t.is_multiple_of(stride))).collect();
                    let sums = self.weighed(&sums, &first)?;
                    let sums = self.gathered(&sums, stride as i64 - 1, part.len())?;
                    let kept = self.placed(&sums, part.len(), 0)?;
                    self.rotated(&kept, -(part.start as i64))
                };
                let parts = places.parts.iter().zip(chosen).map(part);
                added(&parts.collect::<Result<Vec<_>, IntegersError>>()?)?
            }
        };
        self.placed(&Digit { pad: 0, ..sum }, places.take, pad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that parts follow each other, fit, and bring each pair of a position and an entry to
    /// its slot.
    #[test]
    fn blocks_in_parts() {
        for (columns, n, expected) in [
            (16384, 127, 1),
            (16384, 130, 2),
            (16384, 180, 2),
            (1024, 31, 1),
            (1024, 44, 2),
            (1024, 300, 150),
        ] {
            let places = Places::new(n, n, columns).unwrap();
            let found = &places.parts;
            assert_eq!(places.block, Block::Distance);
            assert_eq!(found.len(), expected, "{n} in {columns}");
            assert_eq!(
                found.iter().flat_map(Clone::clone).collect::<Vec<_>>(),
                (0..n).collect::<Vec<_>>()
            );
            let mut seen = vec![vec![false; n]; n];
            for part in found {
                assert!(rounds(part, n) * n <= columns);
                let numbers = places.each(part, |place, i| (place * n + i + 1) as i64);
                for (t, number) in numbers.iter().enumerate().filter(|(_, v)| **v > 0) {
                    let (place, i) = ((*number as usize - 1) / n, (*number as usize - 1) % n);
                    assert_eq!(t % n, place);
                    assert!(!std::mem::replace(&mut seen[place][i], true));
                }
            }
            assert!(seen.iter().flatten().all(|found| *found));
        }
        assert_eq!(distances(40, 40), None);
        assert!(Places::new(40, 1, 39).is_none());
    }

    #[test]
    fn few_places_take_fewer_parts() {
        for (n, take, block, parts) in [
            (180, 91, Block::Place, 1),
            (180, 92, Block::Distance, 2),
            (1000, 16, Block::Place, 1),
            (1000, 17, Block::Place, 2),
            (1000, 1000, Block::Distance, 67),
            (128, 128, Block::Place, 1),
        ] {
            let places = Places::new(n, take, 16384).unwrap();
            assert_eq!((places.block, places.parts.len()), (block, parts), "{take} of {n}");
            let slots = places.parts.iter().map(|part| places.each(part, |_, _| 1).len());
            assert!(slots.max().unwrap() <= 16384);
            assert_eq!(places.first(1).parts.len(), 1);
        }
        let places = Places::new(100, 90, 16384).unwrap().one_each(128);
        let slots = places.each(&(0..90), |place, i| (100 * place + i + 1) as i64);
        assert_eq!((places.parts(), places.blocks(), slots.len()), (1, 90, 90 * 128));
        for (slot, number) in slots.into_iter().enumerate() {
            let (place, i) = (slot / 128, slot % 128);
            assert_eq!(number, if i < 100 { (100 * place + i + 1) as i64 } else { 0 });
        }
    }
}
