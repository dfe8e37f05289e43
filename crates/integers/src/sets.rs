//! Public sets of entries of a column that are near each other.

use std::collections::BTreeMap;

use crate::column::BASE;
use crate::error::IntegersError;

/// The largest number of neighboring entries that a set is among: ranks have two digits.
pub(crate) const MOST: usize = (BASE * BASE) as usize;

/// Disjoint public sets of entries of a column, each among a few neighboring entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sets {
    of: Vec<Option<usize>>,
    /// The number of neighboring entries that each set is among at most.
    pub(crate) most: usize,
    /// The largest distance between two entries of a set.
    pub(crate) reach: usize,
    /// Whether the second half of the entries comes before the first half.
    pub(crate) turned: bool,
}

/// Entries with another one of their set at a given distance behind them.
pub(crate) struct Pairs {
    /// 1 for each entry whose other one is in the same row of slots, and 0 for others.
    pub(crate) within: Vec<i64>,
    /// The same for those whose other one is in the next row.
    pub(crate) across: Vec<i64>,
}

impl Pairs {
    pub(crate) fn is_empty(&self) -> bool {
        !self.within.contains(&1) && !self.across.contains(&1)
    }

    /// Both.
    pub(crate) fn all(&self) -> Vec<i64> {
        self.within.iter().zip(&self.across).map(|(a, b)| a + b).collect()
    }
}

impl Sets {
    /// The sets of which each entry is in the one of this number, or in none. The entries of a set
    /// are among `most` neighboring entries, others between them or not.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for a set whose entries are further apart, and unless `most` is
    /// from 2 to 256.
    pub fn new(of: Vec<Option<usize>>, most: usize) -> Result<Self, IntegersError> {
        Self::in_order(of, most, false)
    }

    /// The same of all slots, where the second half of the entries comes before the first half, as
    /// in the columns of [`Integers::bordering`](crate::Integers::bordering): the last entry is the
    /// one before the first.
    ///
    /// # Errors
    /// As [`Sets::new`].
    pub fn across_border(of: Vec<Option<usize>>, most: usize) -> Result<Self, IntegersError> {
        Self::in_order(of, most, true)
    }

    fn in_order(of: Vec<Option<usize>>, most: usize, turned: bool) -> Result<Self, IntegersError> {
        if !(2..=MOST).contains(&most) {
            let expected = format!("from 2 to {MOST} neighboring ones that a set is among");
            return Err(IntegersError::Length { found: most, expected });
        }
        let (mut first, mut reach) = (BTreeMap::new(), 0);
        let start = if turned { of.len() / 2 } else { 0 };
        for (place, entry) in (start..of.len()).chain(0..start).enumerate() {
            if let Some(set) = &of[entry] {
                reach = reach.max(place - *first.entry(*set).or_insert(place));
            }
        }
        if reach >= most {
            let expected = format!("at most {most} neighboring ones that a set is among");
            return Err(IntegersError::Length { found: reach + 1, expected });
        }
        Ok(Sets { of, most, reach, turned })
    }

    /// The set of each entry.
    pub fn of(&self) -> &[Option<usize>] {
        &self.of
    }

    /// The pairs of a set at a distance, in rows of `columns` slots.
    pub(crate) fn pairs(&self, distance: usize, columns: usize) -> Pairs {
        let n = self.of.len();
        let none = vec![0; n];
        let mut pairs = Pairs { within: none.clone(), across: none };
        let start = if self.turned { n / 2 } else { 0 };
        // By their places in the order of the entries.
        for place in 0..n.saturating_sub(distance) {
            let (first, second) = ((start + place) % n, (start + place + distance) % n);
            if self.of[first].is_some() && self.of[first] == self.of[second] {
                // A row that has all entries ends where it begins.
                match n <= columns || first % columns + distance < columns {
                    true => pairs.within[first] = 1,
                    false => pairs.across[first] = 1,
                }
            }
        }
        pairs
    }

    /// 1 for each entry that is in a set, and 0 for others.
    pub(crate) fn members(&self) -> Vec<i64> {
        self.of.iter().map(|set| i64::from(set.is_some())).collect()
    }

    /// The number of entries of the set of each entry, 0 for those in none.
    pub(crate) fn sizes(&self) -> Vec<i128> {
        let mut sizes: BTreeMap<usize, i128> = BTreeMap::new();
        self.of.iter().flatten().for_each(|set| *sizes.entry(*set).or_insert(0) += 1);
        let size = |set: &Option<usize>| set.and_then(|set| sizes.get(&set)).copied().unwrap_or(0);
        self.of.iter().map(size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair of entries of a set is met once, at its distance, in the row of its first entry.
    #[test]
    fn pairs_are_met_once() {
        let of: Vec<Option<usize>> =
            (0..60).map(|i: usize| (i % 7 != 3).then_some(i / 9 * 2 + i % 2)).collect();
        let sets = Sets::new(of.clone(), 9).unwrap();
        assert_eq!((sets.reach, sets.of().len()), (8, 60));
        for columns in [32usize, 64] {
            let mut met = vec![];
            for distance in 1..=sets.reach {
                let pairs = sets.pairs(distance, columns);
                assert_eq!(pairs.is_empty(), !pairs.all().contains(&1));
                for (place, found) in pairs.all().iter().enumerate() {
                    let across = place / columns != (place + distance) / columns;
                    assert_eq!(pairs.across[place], i64::from(*found == 1 && across));
                    met.extend((*found == 1).then_some((place, place + distance)));
                }
            }
            met.sort_unstable();
            let all = (0..60).flat_map(|i| (i + 1..60).map(move |j| (i, j)));
            let same = |(i, j): &(usize, usize)| of[*i].is_some() && of[*i] == of[*j];
            assert_eq!(met, all.filter(same).collect::<Vec<_>>(), "{columns}");
        }
        let size = |i: usize| of.iter().filter(|set| set.is_some() && **set == of[i]).count();
        assert_eq!(sets.sizes(), (0..60).map(|i| size(i) as i128).collect::<Vec<_>>());
        assert_eq!(sets.members().iter().sum::<i64>(), of.iter().flatten().count() as i64);
    }

    /// The last entries come before the first ones, and none of the middle is next to another.
    #[test]
    fn pairs_across_a_border_are_met_once() {
        let of: Vec<Option<usize>> = (0..64usize)
            .map(|slot| match slot {
                0..5 | 59..64 => Some(slot % 2),
                30..34 => Some(2),
                _ => None,
            })
            .collect();
        // The entries about the middle are the first and the last of all.
        assert!(Sets::across_border(of.clone(), 40).is_err());
        let of: Vec<_> = of.into_iter().map(|set| set.filter(|set| *set < 2)).collect();
        let sets = Sets::across_border(of.clone(), 10).unwrap();
        assert_eq!(sets.reach, 8);
        let order = |entry: usize| (entry + 32) % 64;
        for columns in [32usize, 64] {
            let mut met = vec![];
            for distance in 1..=sets.reach {
                let pairs = sets.pairs(distance, columns);
                for (first, found) in pairs.all().iter().enumerate() {
                    let round = first % columns + distance >= columns;
                    let across = *found == 1 && columns == 32 && round;
                    assert_eq!(pairs.across[first], i64::from(across));
                    met.extend((*found == 1).then_some((first, (first + distance) % 64)));
                }
            }
            met.sort_unstable();
            let all = (0..64).flat_map(|i| (0..64).map(move |j| (i, j)));
            let same = |(i, j): &(usize, usize)| of[*i].is_some() && of[*i] == of[*j];
            let expected = all.filter(|(i, j)| order(*i) < order(*j)).filter(same);
            assert_eq!(met, expected.collect::<Vec<_>>(), "{columns}");
        }
    }

    #[test]
    fn sets_are_among_few_entries() {
        let far = |apart: usize| {
            let mut of = vec![None; apart + 1];
            (of[0], of[apart]) = (Some(5), Some(5));
            of
        };
        assert!(Sets::new(far(7), 8).is_ok());
        assert!(matches!(Sets::new(far(8), 8), Err(IntegersError::Length { found: 9, .. })));
        assert!(Sets::new(vec![None, Some(1)], 2).is_ok());
        for most in [0, 1, 257] {
            assert!(matches!(Sets::new(far(1), most), Err(IntegersError::Length { .. })));
        }
    }
}
