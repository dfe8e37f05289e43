//! Where in a table the sets of rows lie that public columns tell apart: in one block of rows, or
//! across the border between two blocks.

use std::collections::HashMap;

use everlevel_integers::Sets;

use crate::apart::Pass;
use crate::error::TablesError;
use crate::order::{MOST_RANKED, Room};

/// Which sets a block has in a rehearsal.
#[derive(Clone, Copy)]
pub(crate) struct Pretends {
    /// Sets of rows of this block alone.
    pub(crate) within: bool,
    /// A set that begins in the block before.
    pub(crate) before: bool,
    /// A set that ends in the next block.
    pub(crate) after: bool,
}

impl Pretends {
    /// All that there can be.
    pub(crate) const ALL: Pretends = Pretends { within: true, before: true, after: true };

    /// Whether there are none.
    pub(crate) fn is_empty(self) -> bool {
        !self.within && !self.before && !self.after
    }
}

/// Where the rows of a set lie that are in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All rows of the set are in the block.
    Within,
    /// The set begins in the block before.
    Before,
    /// It ends in the next block.
    After,
    /// It has no row in the block.
    Absent,
}

/// The rows of the sets of a pass in a table, block by block, as public columns tell.
#[derive(Debug)]
pub(crate) struct Apart {
    /// The number of rows of a full block.
    slots: usize,
    /// For each row the place in the pass of the ranking that it may be in.
    of: Vec<Option<usize>>,
    /// The first and the last row of each set that has rows.
    ends: HashMap<usize, (usize, usize)>,
}

impl Apart {
    /// The sets of which each row is in the one of this number, or in none, with the first and the
    /// last row of each.
    pub(crate) fn new(
        slots: usize,
        of: Vec<Option<usize>>,
        ends: HashMap<usize, (usize, usize)>,
    ) -> Self {
        Apart { slots, of, ends }
    }

    /// The sets about a block of a rehearsal, from the numbers of rows of the block before, of the
    /// block itself and of the next one, of which the first and the last are 0 where there is no
    /// such block. The block has the number 1 if there is one before, and otherwise 0. Sets across
    /// a border have 128 rows as well.
    pub(crate) fn pretended(
        pass: &Pass,
        [before, rows, after]: [usize; 3],
        room: Room,
        pretends: Pretends,
    ) -> Result<Self, TablesError> {
        let Room { slots, columns, .. } = room;
        let mut of = vec![None; before];
        match pretends.within {
            true => of.extend_from_slice(pass.pretended(rows, columns)?.of()),
            false => of.resize(before + rows, None),
        }
        of.resize(before + rows + after, None);
        // Sets with numbers of their own lie across the borders.
        let borders =
            [(pretends.before && before > 0, before), (pretends.after && after > 0, before + rows)];
        for (i, (_, border)) in borders.into_iter().enumerate().filter(|(_, x)| x.0) {
            // The others of the block stay as long as they are, but for a row.
            of[border + 1 - MOST_RANKED..=border].fill(Some(pass.rankings.len() + i));
        }
        let mut ends = HashMap::new();
        for (row, set) in of.iter().enumerate() {
            if let Some(set) = set {
                ends.entry(*set).or_insert((row, row)).1 = row;
            }
        }
        Ok(Apart { slots, of, ends })
    }

    /// Whether a set has rows in two blocks, of which the first one is that of this number.
    fn crosses(&self, set: usize, first: usize) -> bool {
        let block = |row: usize| row / self.slots;
        let ends = self.ends.get(&set);
        ends.is_some_and(|(a, b)| block(*a) == first && block(*b) == first + 1)
    }

    /// The sets all of whose rows are in a block; none if there are no such sets.
    ///
    /// # Errors
    /// Those of [`Sets::new`].
    pub(crate) fn within(&self, block: usize) -> Result<Option<Sets>, TablesError> {
        let start = (block * self.slots).min(self.of.len());
        let rows = &self.of[start..self.of.len().min(start + self.slots)];
        let whole = |set: &usize| self.part(block, *set) == Part::Within;
        let of: Vec<_> = rows.iter().map(|set| set.filter(whole)).collect();
        match of.iter().any(Option::is_some) {
            true => Ok(Some(Sets::new(of, MOST_RANKED)?)),
            false => Ok(None),
        }
    }

    /// The sets that have rows in a block and in the next one, slot by slot of the column that has
    /// the second half of the one and the first half of the other
    /// ([`Integers::bordering`](everlevel_integers::Integers::bordering)); none if there are no
    /// such sets.
    ///
    /// # Errors
    /// Those of [`Sets::across_border`].
    pub(crate) fn across(&self, block: usize) -> Result<Option<Sets>, TablesError> {
        let start = block * self.slots;
        let slot = |slot: usize| {
            let row = if slot < self.slots / 2 { start + self.slots + slot } else { start + slot };
            let set = self.of.get(row).copied().flatten();
            set.filter(|set| self.crosses(*set, block))
        };
        let of: Vec<_> = (0..self.slots).map(slot).collect();
        match of.iter().any(Option::is_some) {
            true => Ok(Some(Sets::across_border(of, MOST_RANKED)?)),
            false => Ok(None),
        }
    }

    /// Where the rows of a set are, as seen from a block.
    pub(crate) fn part(&self, block: usize, set: usize) -> Part {
        let Some((first, last)) = self.ends.get(&set) else { return Part::Absent };
        let (first, last) = (first / self.slots, last / self.slots);
        match (first == block, last == block) {
            (true, true) => Part::Within,
            (true, false) => Part::After,
            (false, true) => Part::Before,
            (false, false) => Part::Absent,
        }
    }

    /// Which rows of a block are in a set.
    pub(crate) fn own(&self, (block, rows): (usize, usize), set: usize) -> Vec<bool> {
        let start = block * self.slots;
        (start..start + rows).map(|row| self.of.get(row) == Some(&Some(set))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;

    /// In blocks of 256 rows.
    fn found(of: Vec<Option<usize>>) -> Apart {
        let mut ends = HashMap::new();
        for (row, set) in of.iter().enumerate() {
            if let Some(set) = set {
                ends.entry(*set).or_insert((row, row)).1 = row;
            }
        }
        Apart::new(256, of, ends)
    }

    /// Blocks of 256 rows: some sets are in one of them, and some across a border.
    #[test]
    fn sets_lie_in_a_block_or_across_a_border() {
        use Part::{Absent, After, Before, Within};
        // Two sets across the first border, row by row, and one that ends with the second block.
        let sets: Vec<Option<usize>> = (0..600)
            .map(|row| match row {
                200..230 => Some(0),
                240..270 => Some(1 + row % 2),
                500..512 => Some(3),
                512..520 => Some(4),
                _ => None,
            })
            .collect();
        let apart = found(sets);
        let parts = |block: usize| (0..6).map(|set| apart.part(block, set)).collect::<Vec<_>>();
        assert_eq!(parts(0), [Within, After, After, Absent, Absent, Absent]);
        assert_eq!(parts(1), [Absent, Before, Before, Within, Absent, Absent]);
        assert_eq!(parts(2), [Absent, Absent, Absent, Absent, Within, Absent]);
        let within = apart.within(0).unwrap().unwrap();
        assert!((0..256).all(|i| within.of()[i] == (200..230).contains(&i).then_some(0)));
        assert!((0..3).all(|block| apart.within(block).unwrap().is_some()));
        let across = apart.across(0).unwrap().unwrap();
        for (slot, set) in across.of().iter().enumerate() {
            let row = if slot < 128 { 256 + slot } else { slot };
            let expected = (240..270).contains(&row).then_some(1 + row % 2);
            assert_eq!(*set, expected, "{slot}");
        }
        assert!(apart.across(1).unwrap().is_none() && apart.across(2).unwrap().is_none());
        let own = apart.own((1, 256), 2);
        let expected = (256..512).map(|row| (256..270).contains(&row) && row % 2 == 1);
        assert_eq!(own, expected.collect::<Vec<_>>());
        assert_eq!(apart.own((2, 88), 4).len(), 88);
        // Behind the last row there is nothing.
        let found = found(vec![None; 300]);
        assert!((0..2).all(|block| found.within(block).unwrap().is_none()));
    }

    #[test]
    fn pretended_blocks_have_what_is_asked_for() {
        let rankings: Vec<usize> = (0..3).collect();
        let pass = Pass { rankings, rest: Condition::Constant(true) };
        let room = Room { rows: 9_999, slots: 2048, columns: 1024 };
        let all = Pretends::ALL;
        let none = Pretends { within: false, before: false, after: false };
        for (blocks, pretends, expected) in [
            ([0, 2048, 2048], all, (true, false, true)),
            ([0, 2048, 0], all, (true, false, false)),
            ([2048, 2048, 2048], all, (true, true, true)),
            ([2048, 2048, 9], all, (true, true, true)),
            ([2048, 900, 0], all, (true, true, false)),
            ([2048, 2048, 9], Pretends { after: false, ..all }, (true, true, false)),
            ([2048, 2048, 9], Pretends { before: false, ..all }, (true, false, true)),
            ([0, 2048, 9], none, (false, false, false)),
        ] {
            let found = Apart::pretended(&pass, blocks, room, pretends).unwrap();
            let number = usize::from(blocks[0] > 0);
            let within = found.within(number).unwrap().is_some();
            let before = number > 0 && found.across(0).unwrap().is_some();
            let after = found.across(number).unwrap().is_some();
            assert_eq!((within, before, after), expected, "{blocks:?}");
        }
        // Of 128 rows on both sides, one of them behind the border.
        let found = Apart::pretended(&pass, [2048, 2048, 1], room, all).unwrap();
        let across = found.across(1).unwrap().unwrap();
        let places = (0..2048).filter(|slot| across.of()[*slot].is_some());
        assert_eq!(places.collect::<Vec<_>>(), (0..1).chain(1921..2048).collect::<Vec<_>>());
    }
}
