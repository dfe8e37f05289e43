//! Where in a table the sets of rows lie that public columns tell apart: in one block of rows, or
//! across the border between two blocks.

use everlevel_integers::Sets;

use crate::error::TablesError;
use crate::order::{MOST_RANKED, Room};
use crate::passes::Pass;

/// Which sets of a pass a block has in a rehearsal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// No sets.
    pub(crate) const NONE: Pretends = Pretends { within: false, before: false, after: false };

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

/// The rows of a set, which are among 128 in sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetRows {
    first: usize,
    /// Which of the rows from the first one on are in the set, a bit for each.
    members: u128,
}

const _: () = assert!(MOST_RANKED == u128::BITS as usize);

impl SetRows {
    /// One row.
    pub(crate) fn of(first: usize) -> Self {
        SetRows { first, members: 1 }
    }

    /// The first row.
    pub(crate) fn first(self) -> usize {
        self.first
    }

    /// The last row.
    fn last(self) -> usize {
        self.first + MOST_RANKED - 1 - self.members.leading_zeros() as usize
    }

    /// Adds a row behind the first one; whether it is among the 128 from that on.
    pub(crate) fn add(&mut self, row: usize) -> bool {
        let near = row - self.first < MOST_RANKED;
        if near {
            self.members |= 1 << (row - self.first);
        }
        near
    }

    fn has(self, row: usize) -> bool {
        let distance = row.checked_sub(self.first).filter(|distance| *distance < MOST_RANKED);
        distance.is_some_and(|distance| (self.members >> distance) & 1 == 1)
    }

    fn rows(self) -> impl Iterator<Item = usize> {
        (self.first..=self.last()).filter(move |row| self.has(*row))
    }
}

/// The rows of the sets of a pass in a table, block by block, as public columns tell. It takes 48
/// bytes for each set, however many rows there are.
#[derive(Debug)]
pub(crate) struct Apart {
    /// The number of rows of a full block.
    slots: usize,
    /// The number of rows.
    rows: usize,
    /// The rows of each set, by the place of its ranking in the pass; none if it has none.
    sets: Vec<Option<SetRows>>,
}

impl Apart {
    /// The sets of a table with this number of rows, in full blocks of `slots` rows and a last one.
    pub(crate) fn new(slots: usize, rows: usize, sets: Vec<Option<SetRows>>) -> Self {
        Apart { slots, rows, sets }
    }

    /// The sets about a block of a rehearsal, from the numbers of rows of the block before, of the
    /// block itself and of the next one, of which the first and the last are 0 where there is no
    /// such block. The block has the number 1 if there is one before, and otherwise 0. Sets across
    /// a border have 128 rows as well, whichever rows others of the block have.
    pub(crate) fn pretended(
        pass: &Pass,
        [before, rows, after]: [usize; 3],
        room: Room,
        pretends: Pretends,
    ) -> Result<Self, TablesError> {
        let Room { slots, columns, .. } = room;
        let mut sets: Vec<Option<SetRows>> = vec![None; pass.rankings.len()];
        if pretends.within {
            for (row, set) in pass.pretended(rows, columns)?.of().iter().enumerate() {
                let Some(set) = *set else { continue };
                sets[set].get_or_insert(SetRows::of(before + row)).add(before + row);
            }
        }
        // Sets with numbers of their own lie across the borders, with a row behind each.
        let borders =
            [(pretends.before && before > 0, before), (pretends.after && after > 0, before + rows)];
        for (_, border) in borders.into_iter().filter(|x| x.0) {
            sets.push(Some(SetRows { first: border + 1 - MOST_RANKED, members: u128::MAX }));
        }
        Ok(Apart { slots, rows: before + rows + after, sets })
    }

    /// The sets that are as stated, as seen from a block, with their rows.
    fn those(&self, block: usize, part: Part) -> impl Iterator<Item = (usize, SetRows)> {
        let sets = self.sets.iter().enumerate().filter_map(|(set, rows)| Some((set, (*rows)?)));
        sets.filter(move |(set, _)| self.part(block, *set) == part)
    }

    /// Whether a set has rows in a block.
    pub(crate) fn is_in(&self, block: usize) -> bool {
        (0..self.sets.len()).any(|set| self.part(block, set) != Part::Absent)
    }

    /// The sets all of whose rows are in a block; none if there are no such sets.
    ///
    /// # Errors
    /// Those of [`Sets::new`].
    pub(crate) fn within(&self, block: usize) -> Result<Option<Sets>, TablesError> {
        let start = block * self.slots;
        let mut of = vec![None; self.rows.saturating_sub(start).min(self.slots)];
        for (set, rows) in self.those(block, Part::Within) {
            rows.rows().for_each(|row| of[row - start] = Some(set));
        }
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
        let mut of = vec![None; self.slots];
        for (set, rows) in self.those(block, Part::After) {
            // Each is in its own slot: half of a block has at least 128 rows.
            rows.rows().for_each(|row| of[row % self.slots] = Some(set));
        }
        match of.iter().any(Option::is_some) {
            true => Ok(Some(Sets::across_border(of, MOST_RANKED)?)),
            false => Ok(None),
        }
    }

    /// Where the rows of a set are, as seen from a block.
    pub(crate) fn part(&self, block: usize, set: usize) -> Part {
        let Some(rows) = self.sets.get(set).copied().flatten() else { return Part::Absent };
        let (first, last) = (rows.first() / self.slots, rows.last() / self.slots);
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
        let set = self.sets.get(set).copied().flatten();
        (start..start + rows).map(|row| set.is_some_and(|set| set.has(row))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;

    /// In blocks of 256 rows.
    fn found(of: Vec<Option<usize>>) -> Apart {
        let mut sets: Vec<Option<SetRows>> = vec![None; 5];
        for (row, set) in of.iter().enumerate() {
            if let Some(set) = *set {
                assert!(sets[set].get_or_insert(SetRows::of(row)).add(row));
            }
        }
        Apart::new(256, of.len(), sets)
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
        let none = Pretends::NONE;
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
        // Those of the block have as many rows, even where all of them are about its borders.
        let room = Room { rows: 9_999, slots: 256, columns: 128 };
        let found = Apart::pretended(&pass, [256, 256, 256], room, all).unwrap();
        let within = found.within(1).unwrap().unwrap();
        let of_first = (0..256).filter(|row| within.of()[*row] == Some(0));
        assert_eq!(of_first.collect::<Vec<_>>(), (64..192).collect::<Vec<_>>());
        for border in 0..2 {
            let across = found.across(border).unwrap().unwrap();
            assert_eq!(across.of().iter().flatten().count(), 128);
        }
    }

    /// Rows of a set are told apart up to the 128th.
    #[test]
    fn rows_of_a_set_are_bits() {
        let mut rows = SetRows::of(300);
        assert!(rows.add(302) && rows.add(427) && !rows.add(428));
        assert_eq!((rows.first(), rows.last()), (300, 427));
        assert_eq!(rows.rows().collect::<Vec<_>>(), [300, 302, 427]);
        assert!(rows.has(302) && !rows.has(301) && !rows.has(299) && !rows.has(428));
    }
}
