//! Rankings that are computed at the same time.

use everlevel_integers::Sets;

use crate::condition::Condition;
use crate::error::TablesError;
use crate::field::Field;
use crate::order::{Key, MOST_RANKED, Ranking, Room};
use crate::schema::Schema;

/// Key switches of a bootstrapping under `bgv-65537-n15`, the unit of the estimates below.
const BOOTSTRAPPING: usize = 93;
/// Key switches of a comparison for each digit: products, and a rotation.
const COMPARED: usize = 15;
/// Key switches of a distance beside the comparison: sums that move on.
const MOVED: usize = 2;
/// The number of distances whose truth values are bootstrapped together.
const CHUNK: usize = 15;

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

    /// Whether its sets are ranked together, by the same comparisons, and not each by itself, which
    /// takes that all pairs of rows of the table are compared.
    ///
    /// It follows from the number of rows and of sets, from the slots, and from query and schema,
    /// so that whoever has these decides alike. Of a table whose pairs can be compared it is the
    /// way with fewer key switches by an estimate, which takes rows of a set to be as far apart as
    /// there are rows: which ones public columns put together is not known when a plan is made.
    pub(crate) fn is_together(&self, rankings: &[Ranking], room: Room) -> bool {
        if !room.compares_all() {
            return true;
        }
        let sets = self.rankings.len();
        // Few used slots are a row that has fewer slots than neighbors of a set.
        if sets < 2 || room.rows < 2 || room.columns < MOST_RANKED {
            return false;
        }
        let keys = self.rankings.iter().take(1).flat_map(|i| &rankings[*i].keys);
        let digits = keys.map(Key::digits).sum::<u32>() as usize;
        let filtered = !matches!(self.rest, Condition::Constant(_));
        together(room, digits, filtered) < sets * alone(room, digits, filtered)
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

/// Key switches of the sets of a table of at most 128 rows, ranked together by numbers of some
/// digits, and where `filtered` an encrypted condition says which rows count: a comparison for each
/// distance, and what dry runs bootstrap for every 15 of them and at the end.
fn together(room: Room, digits: usize, filtered: bool) -> usize {
    let distances = room.rows - 1;
    let (moved, chunk) = if filtered { (MOVED + 5, 9) } else { (MOVED, 2) };
    let bootstrappings = 15 + chunk * distances.div_ceil(CHUNK);
    distances * (COMPARED * digits + moved) + BOOTSTRAPPING * bootstrappings
}

/// The same of one set that is ranked by itself, by all pairs of rows of the table: they take a
/// comparison for as many of them as there are slots, copies, and what dry runs bootstrap.
fn alone(room: Room, digits: usize, filtered: bool) -> usize {
    let Room { rows, slots, columns, .. } = room;
    let pairs = rows / 2 * (rows + 1);
    let comparisons = if pairs < columns { 1 } else { pairs.div_ceil(slots) };
    // The condition is a digit more, and is counted.
    let steps = rows.next_power_of_two().trailing_zeros() as usize;
    let (digits, counted) = if filtered { (digits + 1, 2 * steps) } else { (digits, 0) };
    let bootstrappings = 19 + 4 * comparisons + counted;
    comparisons * COMPARED * digits + 4 * steps * digits + BOOTSTRAPPING * bootstrappings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::{Comparison, Number};
    use crate::order::Pick;

    /// From which number of sets on they are ranked together, of a key of four digits.
    fn least(rows: usize, (slots, columns): (usize, usize), rest: &Condition) -> Option<usize> {
        let key = || Key {
            value: Number::Column(0),
            places: None,
            null: None,
            low: 0,
            high: 9_999,
            descending: false,
        };
        let when = || Condition::Constant(true);
        let ranking = || Ranking { of: 0, when: when(), keys: vec![key()], pick: Pick::Middle };
        let rankings: Vec<Ranking> = (0..256).map(|_| ranking()).collect();
        let room = Room { rows, slots, columns };
        let together = |sets: &usize| {
            let pass = Pass { rankings: (0..*sets).collect(), rest: rest.clone() };
            pass.is_together(&rankings, room)
        };
        let found = (1..=256).find(together);
        // More sets are ranked together, too.
        assert!(found.is_none_or(|least| (least..=256).all(|sets| together(&sets))));
        found
    }

    #[test]
    fn sets_are_ranked_together_from_a_few_on() {
        let all = Condition::Constant(true);
        let less = Condition::Compare(Comparison::Less, Number::Column(1), Number::Constant(5));
        for room in [(2_048, 1_024), (32_768, 16_384)] {
            for rest in [&all, &less] {
                // No rows and one row have nothing to compare, and one set has all rows.
                assert_eq!((least(0, room, rest), least(1, room, rest)), (None, None));
                for rows in 2..=128 {
                    let found = least(rows, room, rest);
                    assert!(found.is_some_and(|least| (2..=8).contains(&least)), "{rows}");
                }
                assert_eq!(least(129, room, rest), Some(1));
            }
            assert_eq!(least(8, room, &all), Some(2));
        }
        // A row of slots is shorter than the rows that a set may be among.
        assert_eq!(least(64, (128, 64), &all), None);
        assert_eq!(least(64, (256, 128), &all).map(|least| least > 1), Some(true));
    }
}
