//! Indexes: columns whose codes are also stored in unary, by which conditions are decided.
//!
//! Queries name columns and codes. Where a query is laid out for a server, sets of codes of a
//! column with an index become sets by the columns of the index on which they depend.

use std::collections::BTreeSet;

use everlevel_integers::{Step, Unary};

use crate::condition::Condition;
use crate::error::TablesError;
use crate::ranges::Ranges;
use crate::schema::Schema;

/// The index of a column: its digits in unary, and the columns that hold them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Index {
    unary: Unary,
    /// The truth values, in order, each with the index of its column.
    bits: Vec<(Step, usize)>,
}

impl Index {
    /// An index of which these parts are there, in columns from `first` on.
    pub(crate) fn new(unary: Unary, parts: impl Iterator<Item = usize>, first: usize) -> Self {
        let steps = unary.steps();
        let bits = parts.zip(first..).filter_map(|(part, place)| {
            let step = part.checked_sub(1).and_then(|i| steps.get(i));
            step.map(|step| (*step, place))
        });
        Index { bits: bits.collect(), unary }
    }

    /// The indices of its columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.bits.iter().map(|(_, place)| *place)
    }

    /// Its columns for some codes, in order.
    pub(crate) fn of_codes(&self, codes: &[i128]) -> impl Iterator<Item = (usize, Vec<i128>)> {
        self.bits.iter().map(|(step, place)| {
            let bit = |code: &i128| self.unary.holds(*code, *step).into();
            (*place, codes.iter().map(bit).collect())
        })
    }

    /// The part of it on which membership in a set depends; `None` for a set of all codes or none,
    /// and where a column is missing.
    fn of_set(&self, codes: &Ranges) -> Option<Index> {
        let needed = self.unary.needed(&codes.iter().collect::<Vec<_>>());
        let mut bits = self.bits.clone();
        bits.retain(|(step, _)| needed.binary_search(step).is_ok());
        let there = !needed.is_empty() && bits.len() == needed.len();
        there.then(|| Index { unary: self.unary.clone(), bits })
    }
}

/// A set of codes of a column, by the part of its index that decides about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Indexed {
    column: usize,
    index: Index,
    codes: Ranges,
}

impl Indexed {
    /// The digits of the column in unary.
    pub(crate) fn unary(&self) -> &Unary {
        &self.index.unary
    }

    /// The ranges of the codes.
    pub(crate) fn ranges(&self) -> Vec<(i128, i128)> {
        self.codes.iter().collect()
    }

    /// The truth values that decide, each with the index of its column.
    pub(crate) fn bits(&self) -> &[(Step, usize)] {
        &self.index.bits
    }

    /// Whether a row is in the set, by its code.
    pub(crate) fn holds(&self, row: &dyn Fn(usize) -> i128) -> bool {
        self.codes.contains(row(self.column))
    }

    /// Adds its column, and those that decide.
    pub(crate) fn columns(&self, out: &mut BTreeSet<usize>) {
        out.insert(self.column);
        out.extend(self.index.columns());
    }

    /// The same set by columns at other indices.
    pub(crate) fn moved(&self, place: &dyn Fn(usize) -> usize) -> Self {
        let bits = self.bits().iter().map(|(step, column)| (*step, place(*column))).collect();
        let index = Index { unary: self.unary().clone(), bits };
        Indexed { column: place(self.column), index, codes: self.codes.clone() }
    }
}

impl Condition {
    /// The same condition, where sets of codes of columns with an index are decided by the index.
    #[must_use]
    pub(crate) fn by_index(self, schema: &Schema) -> Condition {
        let all =
            |all: Vec<Condition>| all.into_iter().map(|c| c.by_index(schema)).collect::<Vec<_>>();
        match self {
            Condition::Within { column, codes } => {
                match schema.index(column).and_then(|index| index.of_set(&codes)) {
                    Some(index) => Condition::Indexed(Indexed { column, index, codes }),
                    None => Condition::Within { column, codes },
                }
            }
            Condition::And(parts) => Condition::And(all(parts)),
            Condition::Or(parts) => Condition::Or(all(parts)),
            Condition::Not(c) => Condition::Not(Box::new(c.by_index(schema))),
            c @ (Condition::Constant(_) | Condition::Compare(..) | Condition::Indexed(_)) => c,
        }
    }

    /// Adds the columns of indexes that decide about its sets of codes.
    pub(crate) fn index_columns(&self, schema: &Schema, out: &mut BTreeSet<usize>) {
        match self {
            Condition::Within { column, codes } => {
                let index = schema.index(*column).and_then(|index| index.of_set(codes));
                out.extend(index.iter().flat_map(Index::columns));
            }
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|c| c.index_columns(schema, out));
            }
            Condition::Not(c) => c.index_columns(schema, out),
            Condition::Constant(_) | Condition::Compare(..) | Condition::Indexed(_) => {}
        }
    }
}

/// Checks that the columns of each index hold the digits of its codes.
pub(crate) fn check(schema: &Schema, columns: &[Vec<i128>]) -> Result<(), TablesError> {
    for (place, field) in schema.fields().iter().enumerate() {
        let Some(index) = schema.index(place) else { continue };
        for (bits, expected) in index.of_codes(&columns[place]) {
            if columns[bits] != expected {
                let problem = format!("the index of {:?} is not that of its values", field.name());
                return Err(TablesError::Data { problem });
            }
        }
    }
    Ok(())
}

/// The columns of a table, with those of indexes if these were left out.
pub(crate) fn completed(schema: &Schema, columns: Vec<Vec<i128>>) -> Vec<Vec<i128>> {
    let values: Vec<usize> = schema.values().collect();
    if columns.len() != values.len() {
        return columns;
    }
    let mut all = Vec::with_capacity(schema.fields().len());
    for (place, codes) in values.into_iter().zip(columns) {
        let index = schema.index(place);
        let bits = index.iter().flat_map(|index| index.of_codes(&codes));
        let bits: Vec<_> = bits.map(|(_, bits)| bits).collect();
        all.push(codes);
        all.extend(bits);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_decided_by_an_index_that_is_there() {
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "x", "type": "integer", "low": -5, "high": 40, "index": true}]}"#,
        );
        let schema = schema.unwrap();
        let within = |column: usize, codes: Ranges| Condition::Within { column, codes };
        let set = within(0, Ranges::between(3, 20));
        let indexed = set.clone().by_index(&schema);
        assert!(matches!(indexed, Condition::Indexed(_)));
        for code in -5..=40 {
            assert_eq!(indexed.holds(&|_| code), set.holds(&|_| code), "{code}");
        }
        // All codes or none depend on nothing.
        for codes in [Ranges::of([]), Ranges::between(-5, 40), Ranges::between(-90, 90)] {
            let all = within(0, codes);
            assert_eq!(all.clone().by_index(&schema), all);
        }
        assert_eq!(set.clone().by_index(&schema.at([0])), set);
        let behind = within(99, Ranges::of([1]));
        assert_eq!(behind.clone().by_index(&schema), behind);
    }
}
