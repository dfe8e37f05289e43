//! Indexes of columns, and sets of codes that they decide.

use std::collections::BTreeSet;

use everlevel_integers::{Step, Unary};

use crate::condition::Condition;
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
    pub(crate) fn of_set(&self, codes: &Ranges) -> Option<Index> {
        let needed = self.unary.needed(&codes.iter().collect::<Vec<_>>());
        let mut bits = self.bits.clone();
        bits.retain(|(step, _)| needed.binary_search(step).is_ok());
        let there = !needed.is_empty() && bits.len() == needed.len();
        there.then(|| Index { unary: self.unary.clone(), bits })
    }

    /// The same truth values in columns at other indices.
    fn moved(&self, place: &dyn Fn(usize) -> usize) -> Self {
        let bits = self.bits.iter().map(|(step, column)| (*step, place(*column))).collect();
        Index { unary: self.unary.clone(), bits }
    }
}

/// A set of codes of a column, by the part of its index that decides about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Indexed {
    /// The same condition on the column itself.
    asked: Box<Condition>,
    index: Index,
    codes: Ranges,
}

impl Indexed {
    /// A condition by the parts of indexes that decide about it; `None` where it is another one
    /// than a set of codes, or they are missing.
    pub(crate) fn of(asked: &Condition, schema: &Schema) -> Option<Indexed> {
        let Condition::Within { column, codes } = asked else { return None };
        let index = schema.index(*column)?.of_set(codes)?;
        Some(Indexed { asked: Box::new(asked.clone()), index, codes: codes.clone() })
    }

    /// The same condition on the columns themselves.
    pub(crate) fn asked(&self) -> &Condition {
        &self.asked
    }

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

    /// Whether a row meets the condition, by its codes.
    pub(crate) fn holds(&self, row: &dyn Fn(usize) -> i128) -> bool {
        self.asked.holds(row)
    }

    /// Adds its column, and those that decide.
    pub(crate) fn columns(&self, out: &mut BTreeSet<usize>) {
        self.asked.columns(out);
        self.reads(out);
    }

    /// Adds the columns that decide.
    pub(crate) fn reads(&self, out: &mut BTreeSet<usize>) {
        out.extend(self.index.columns());
    }

    /// The same condition on columns at other indices.
    pub(crate) fn moved(&self, place: &dyn Fn(usize) -> usize) -> Self {
        Indexed {
            asked: Box::new(self.asked.moved(place)),
            index: self.index.moved(place),
            codes: self.codes.clone(),
        }
    }
}
