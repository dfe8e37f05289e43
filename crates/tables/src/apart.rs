//! Sets of rows that public columns tell apart, and that are ranked at the same time.
//!
//! A server knows of each row which sets it may be in. Of those rows alone it compares pairs, and
//! only of rows that are near each other: all rows of a set are among 128 in sequence, as they are
//! where a table is sorted by its public columns and groups have no more rows. So a set is in one
//! block of rows, or in two blocks of which one follows the other.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use everlevel_integers::Sets;

use crate::across::Apart;
use crate::condition::Condition;
use crate::error::TablesError;
use crate::field::Field;
use crate::known::Known;
use crate::order::{MOST_RANKED, Ranking};
use crate::schema::Schema;

/// Rankings of sets of rows that have no row in common, as public columns tell: all of them are
/// ranked by the same comparisons.
pub(crate) struct Pass {
    /// The rankings, by their indices.
    pub(crate) rankings: Vec<usize>,
    /// What public columns do not decide of the conditions of the sets, the same for all.
    pub(crate) rest: Condition,
}

impl Pass {
    /// The passes of some rankings. Those of one aggregate have sets without common rows: these are
    /// of groups that differ in a column, and where encrypted columns do not differ, public ones
    /// do.
    pub(crate) fn all(rankings: &[Ranking], schema: &Schema) -> Vec<Self> {
        let public = |place: &usize| schema.fields().get(*place).is_some_and(Field::is_public);
        let mut found: Vec<(usize, Self)> = Vec::new();
        for (number, ranking) in rankings.iter().enumerate() {
            let rest = ranking.when.beyond(&public);
            let same = |(of, pass): &&mut (usize, Self)| *of == ranking.of && pass.rest == rest;
            match found.iter_mut().find(same) {
                Some((_, pass)) => pass.rankings.push(number),
                None => found.push((ranking.of, Pass { rankings: vec![number], rest })),
            }
        }
        found.into_iter().map(|(_, pass)| pass).collect()
    }

    /// Sets of 128 rows each in a block, for rehearsals: no others take more operations, and none
    /// take other keys. The first one is in both rows of `columns` slots, if there are more rows
    /// than that.
    pub(crate) fn pretended(&self, rows: usize, columns: usize) -> Result<Sets, TablesError> {
        let half = MOST_RANKED / 2;
        let start = match rows > columns {
            true => columns.saturating_sub(half).min(rows.saturating_sub(MOST_RANKED)),
            false => 0,
        };
        let of = |row: usize| {
            let set = match row.checked_sub(start) {
                None => 1 + row / MOST_RANKED,
                Some(0..MOST_RANKED) => 0,
                Some(behind) => start.div_ceil(MOST_RANKED) + behind / MOST_RANKED,
            };
            Some(set).filter(|set| *set < self.rankings.len())
        };
        Ok(Sets::new((0..rows).map(of).collect(), MOST_RANKED)?)
    }
}

/// Finds the rows of the sets of a pass, block by block of the columns that a server knows.
pub(crate) struct Finder<'a> {
    whens: Vec<&'a Condition>,
    slots: usize,
    /// The set of rows with the same codes.
    met: HashMap<Vec<i128>, Option<usize>>,
    of: Vec<Option<usize>>,
    ends: HashMap<usize, (usize, usize)>,
}

impl<'a> Finder<'a> {
    /// Of a pass, in a table with this number of rows in a full block, before the first one.
    pub(crate) fn new(pass: &Pass, rankings: &'a [Ranking], slots: usize) -> Self {
        let whens = pass.rankings.iter().map(|i| &rankings[*i].when).collect();
        Finder { whens, slots, met: HashMap::new(), of: Vec::new(), ends: HashMap::new() }
    }

    /// Adds the rows of the next block.
    ///
    /// # Errors
    /// [`TablesError::Unsupported`] for a set whose rows are not among 128 in sequence.
    pub(crate) fn add<C>(&mut self, known: &Known<'_, C>) -> Result<(), TablesError> {
        let mut named = BTreeSet::new();
        self.whens.iter().for_each(|when| when.columns(&mut named));
        named.retain(|place| known.knows(*place));
        for row in 0..known.rows {
            let code = |place: &usize| known.columns[*place].map_or(0, |codes| codes[row]);
            let place = self.of.len();
            let set = match self.met.entry(named.iter().map(code).collect()) {
                Entry::Occupied(found) => *found.get(),
                Entry::Vacant(new) => {
                    let may = |i: &usize| known.truth(self.whens[*i], row) != Some(false);
                    let mut all = (0..self.whens.len()).filter(may);
                    let set = all.next();
                    if all.next().is_some() {
                        let problem = format!("row {place}, from 0, is in two groups to be ranked");
                        return Err(TablesError::Data { problem });
                    }
                    *new.insert(set)
                }
            };
            if let Some(set) = set {
                let ends = self.ends.entry(set).or_insert((place, place));
                if place - ends.0 >= MOST_RANKED {
                    return Err(far(ends.0, place));
                }
                ends.1 = place;
            }
            self.of.push(set);
        }
        Ok(())
    }

    /// The rows of the sets in all blocks that were added.
    pub(crate) fn found(self) -> Apart {
        Apart::new(self.slots, self.of, self.ends)
    }
}

/// The error for rows of a set that are too far apart.
fn far(start: usize, row: usize) -> TablesError {
    TablesError::unsupported(
        &format!(
            "order by … limit and median of rows that are {} apart, ordered by the server (rows \
             {start} and {row}, from 0, which public columns put in one group)",
            row - start
        ),
        &format!(
            "the rows of a group have to be among {MOST_RANKED} in sequence: sort the rows by the \
             public columns before the table is encrypted; groups of more rows are left to the \
             reader, of listed rows, or asked for one by one in rounds (Search), by counts"
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::condition::{Comparison, Number};
    use crate::order::Pick;
    use crate::ranges::Ranges;

    /// A ranking of the rows with a code in column 0, and with another one in column 1 if a bound
    /// is given.
    fn ranking(of: usize, code: i128, below: Option<i128>) -> Ranking {
        let group = Condition::Within { column: 0, codes: Ranges::of([code]) };
        let less = |bound| {
            Condition::Compare(Comparison::Less, Number::Column(1), Number::Constant(bound))
        };
        let when = match below {
            Some(bound) => Condition::And(vec![less(bound), Condition::And(vec![group])]),
            None => group,
        };
        Ranking { of, when, keys: Vec::new(), pick: Pick::Middle }
    }

    fn schema() -> Schema {
        Schema::from_json(
            r#"{"columns": [
                {"name": "g", "type": "integer", "low": 0, "high": 9, "public": true},
                {"name": "x", "type": "integer", "low": 0, "high": 99}]}"#,
        )
        .unwrap()
    }

    /// In blocks of this number of rows.
    fn found(
        pass: &Pass,
        rankings: &[Ranking],
        codes: &[i128],
        slots: usize,
    ) -> Result<Apart, TablesError> {
        let constants = BTreeMap::<usize, everlevel_integers::EncryptedConstant<()>>::new();
        let mut finder = Finder::new(pass, rankings, slots);
        for block in codes.chunks(slots) {
            let columns = vec![Some(block), None];
            finder.add(&Known { columns, constants: &constants, rows: block.len() })?;
        }
        Ok(finder.found())
    }

    /// In one block.
    fn sets(pass: &Pass, rankings: &[Ranking], codes: &[i128]) -> Result<Sets, TablesError> {
        Ok(found(pass, rankings, codes, 256)?.within(0)?.unwrap())
    }

    #[test]
    fn rankings_that_public_columns_tell_apart_are_one_pass() {
        let rankings = [
            ranking(1, 3, Some(5)),
            ranking(2, 3, None),
            ranking(1, 4, Some(5)),
            ranking(1, 4, Some(6)),
            ranking(2, 0, None),
        ];
        let passes = Pass::all(&rankings, &schema());
        let numbers: Vec<&[usize]> = passes.iter().map(|pass| &pass.rankings[..]).collect();
        assert_eq!(numbers, [&[0, 2][..], &[1, 4], &[3]]);
        assert_eq!(passes[1].rest, Condition::Constant(true));
        let Condition::Compare(..) = &passes[0].rest else { panic!("{:?}", passes[0].rest) };

        let codes = [4, 4, 7, 3, 4, 3];
        let found = sets(&passes[0], &rankings, &codes).unwrap();
        assert_eq!(found.of(), [Some(1), Some(1), None, Some(0), Some(1), Some(0)]);
        // 128 rows in sequence, and one more.
        let with_last = |last: usize| {
            let mut codes = vec![9; last + 1];
            (codes[0], codes[last]) = (3, 3);
            sets(&passes[1], &rankings, &codes)
        };
        assert!(with_last(127).is_ok());
        assert_eq!(with_last(128).unwrap_err().code(), "table.unsupported");
        // Two of one aggregate that are not apart.
        let twice = [ranking(1, 3, None), ranking(1, 3, None)];
        let pass = &Pass::all(&twice, &schema())[0];
        assert_eq!(sets(pass, &twice, &codes).unwrap_err().code(), "table.data");
    }

    /// Rows of a set that are too far apart in two blocks are named by their places in the table.
    #[test]
    fn rows_in_two_blocks_are_counted_through() {
        let rankings = [ranking(0, 3, None)];
        let pass = &Pass::all(&rankings, &schema())[0];
        let with = |first: usize, last: usize| {
            let mut codes = vec![9; 400];
            (codes[first], codes[last]) = (3, 3);
            found(pass, &rankings, &codes, 256)
        };
        assert!(with(200, 327).unwrap().across(0).unwrap().is_some());
        let told = with(200, 328).unwrap_err();
        assert_eq!(told.code(), "table.unsupported");
        assert!(told.to_string().contains("rows 200 and 328"), "{told}");
    }

    #[test]
    fn pretended_sets_are_as_long_as_sets_can_be() {
        for (rows, columns, count) in
            [(129, 1024, 1), (1025, 1024, 1), (1060, 1024, 9), (2048, 1024, 20), (300, 1024, 2)]
        {
            let rankings: Vec<usize> = (0..count).collect();
            let pass = Pass { rankings, rest: Condition::Constant(true) };
            let sets = pass.pretended(rows, columns).unwrap();
            let places = |set: usize| {
                (0..rows).filter(|row| sets.of()[*row] == Some(set)).collect::<Vec<_>>()
            };
            let first = places(0);
            assert_eq!(first.len(), 128, "{rows}");
            let across = first.contains(&(columns - 1)) && first.contains(&columns);
            assert_eq!(across, rows > columns, "{rows}");
            let sizes: usize = (0..count).map(|set| places(set).len()).sum();
            assert!(sets.of().len() == rows && sizes <= rows);
            assert!((0..count).all(|set| !places(set).is_empty() || 128 * set > rows), "{rows}");
        }
    }
}
