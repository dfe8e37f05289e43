//! Sets of rows that public columns tell apart, and that are ranked at the same time.
//!
//! A server knows of each row which sets it may be in. Of those rows alone it compares pairs, and
//! only of rows that are near each other: all rows of a set are among 128 in sequence, as they are
//! where a table is sorted by its public columns and groups have no more rows. So a set is in one
//! block of rows, or in two blocks of which one follows the other.

use std::collections::{BTreeSet, HashMap};

use crate::across::{Apart, SetRows};
use crate::error::TablesError;
use crate::known::Known;
use crate::order::{MOST_RANKED, Ranking};
use crate::passes::Pass;

/// The most combinations of codes of which is known which sets their rows are in, of each grouping;
/// more are found out anew.
const MOST_MET: usize = 1 << 16;

/// Passes whose conditions are on the same columns that a server knows.
struct Grouping {
    /// The columns.
    named: Vec<usize>,
    /// The passes, by their indices.
    passes: Vec<usize>,
    /// The pass and the place in it of each set of rows with the same codes.
    met: HashMap<Vec<i128>, Vec<(usize, usize)>>,
}

impl Grouping {
    /// The sets that a row may be in, of each pass one at most.
    fn sets<C>(
        &self,
        (passes, rankings): (&[Pass], &[Ranking]),
        known: &Known<'_, C>,
        (row, place): (usize, usize),
    ) -> Result<Vec<(usize, usize)>, TablesError> {
        let mut found = Vec::new();
        for pass in &self.passes {
            let all = &passes[*pass].rankings;
            let may = |set: &usize| known.truth(&rankings[all[*set]].when, row) != Some(false);
            let mut sets = (0..all.len()).filter(may);
            found.extend(sets.next().map(|set| (*pass, set)));
            if sets.next().is_some() {
                let problem = format!("row {place}, from 0, is in two groups to be ranked");
                return Err(TablesError::Data { problem });
            }
        }
        Ok(found)
    }
}

/// Finds the rows of the sets of passes, block by block of the columns that a server knows. Its
/// memory does not depend on the number of rows.
pub(crate) struct Finder<'a> {
    passes: &'a [Pass],
    rankings: &'a [Ranking],
    /// The number of rows of a full block.
    slots: usize,
    /// Known with the first block.
    groupings: Vec<Grouping>,
    /// The rows of the sets of each pass so far.
    sets: Vec<Vec<Option<SetRows>>>,
    /// The number of rows so far.
    rows: usize,
}

impl<'a> Finder<'a> {
    /// Of these passes, in a table with this number of rows in a full block, before the first one.
    pub(crate) fn new(passes: &'a [Pass], rankings: &'a [Ranking], slots: usize) -> Self {
        let sets = passes.iter().map(|pass| vec![None; pass.rankings.len()]).collect();
        Finder { passes, rankings, slots, groupings: Vec::new(), sets, rows: 0 }
    }

    /// The passes by the known columns that their conditions are on.
    fn grouped<C>(&self, known: &Known<'_, C>) -> Vec<Grouping> {
        let mut found: Vec<Grouping> = Vec::new();
        for (i, pass) in self.passes.iter().enumerate() {
            let mut named = BTreeSet::new();
            pass.rankings.iter().for_each(|i| self.rankings[*i].when.columns(&mut named));
            let named: Vec<usize> = named.into_iter().filter(|x| known.knows(*x)).collect();
            match found.iter_mut().find(|grouping| grouping.named == named) {
                Some(grouping) => grouping.passes.push(i),
                None => found.push(Grouping { named, passes: vec![i], met: HashMap::new() }),
            }
        }
        found
    }

    /// Adds the rows of the next block, in which the same columns are known.
    ///
    /// # Errors
    /// [`TablesError::Unsupported`] for a set whose rows are not among 128 in sequence.
    pub(crate) fn add<C>(&mut self, known: &Known<'_, C>) -> Result<(), TablesError> {
        if self.groupings.is_empty() {
            self.groupings = self.grouped(known);
        }
        let of = (self.passes, self.rankings);
        for row in 0..known.rows {
            let place = self.rows + row;
            for grouping in &mut self.groupings {
                let code = |place: &usize| known.columns[*place].map_or(0, |codes| codes[row]);
                let codes: Vec<i128> = grouping.named.iter().map(code).collect();
                if !grouping.met.contains_key(&codes) {
                    if grouping.met.len() >= MOST_MET {
                        grouping.met.clear();
                    }
                    let sets = grouping.sets(of, known, (row, place))?;
                    grouping.met.insert(codes.clone(), sets);
                }
                for (pass, set) in grouping.met.get(&codes).into_iter().flatten() {
                    let rows = self.sets[*pass][*set].get_or_insert(SetRows::of(place));
                    if !rows.add(place) {
                        return Err(far(rows.first(), place));
                    }
                }
            }
        }
        self.rows += known.rows;
        Ok(())
    }

    /// The rows of the sets of each pass in all blocks that were added.
    pub(crate) fn found(self) -> Vec<Apart> {
        let (slots, rows) = (self.slots, self.rows);
        self.sets.into_iter().map(|sets| Apart::new(slots, rows, sets)).collect()
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
    use everlevel_integers::Sets;

    use crate::condition::{Comparison, Condition, Number};
    use crate::order::Pick;
    use crate::ranges::Ranges;
    use crate::schema::Schema;

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
        let mut finder = Finder::new(std::slice::from_ref(pass), rankings, slots);
        for block in codes.chunks(slots) {
            let columns = vec![Some(block), None];
            finder.add(&Known { columns, constants: &constants, rows: block.len() })?;
        }
        Ok(finder.found().remove(0))
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

    /// Passes with the same public columns share what is known of codes, and each has its own sets.
    #[test]
    fn passes_are_found_together() {
        let rankings = [
            ranking(0, 3, None),
            ranking(0, 4, None),
            ranking(1, 4, Some(5)),
            ranking(2, 4, None),
            ranking(2, 9, None),
        ];
        let passes = Pass::all(&rankings, &schema());
        assert_eq!(passes.len(), 3);
        let codes: Vec<i128> = [4, 3, 0, 4].into_iter().cycle().take(20).collect();
        let codes: Vec<i128> = codes.into_iter().chain(vec![0; 400]).chain([9]).collect();
        let constants = BTreeMap::<usize, everlevel_integers::EncryptedConstant<()>>::new();
        let mut finder = Finder::new(&passes, &rankings, 256);
        for block in codes.chunks(256) {
            let columns = vec![Some(block), None];
            finder.add(&Known { columns, constants: &constants, rows: block.len() }).unwrap();
        }
        assert_eq!(finder.groupings.len(), 1);
        assert_eq!(finder.groupings[0].met.len(), 4);
        let found = finder.found();
        let own = |pass: usize, block: usize, set: usize| {
            let rows = codes.len().saturating_sub(256 * block).min(256);
            let own = found[pass].own((block, rows), set);
            (0..rows).filter(|row| own[*row]).map(|row| 256 * block + row).collect::<Vec<_>>()
        };
        let with = |code: i128| {
            let rows = (0..codes.len()).filter(|row| codes[*row] == code);
            rows.collect::<Vec<_>>()
        };
        assert_eq!((own(0, 0, 0), own(0, 0, 1)), (with(3), with(4)));
        assert_eq!((own(1, 0, 0), own(2, 0, 0)), (with(4), with(4)));
        assert_eq!((own(2, 0, 1), own(2, 1, 1)), (vec![], vec![420]));
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
