//! Rankings that are computed at the same time.

use everlevel_integers::Sets;

use crate::condition::Condition;
use crate::error::TablesError;
use crate::field::Field;
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
