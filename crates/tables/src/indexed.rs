//! Indexes of columns, and the parts of them that decide conditions: sets of codes, and comparisons
//! of columns.

use std::collections::BTreeSet;

use everlevel_integers::{Step, Unary};

use crate::ranges::Ranges;

/// The index of a column: its digits in unary, and the columns that hold them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Index {
    pub(crate) unary: Unary,
    /// The truth values, in order, each with the index of its column.
    pub(crate) bits: Vec<(Step, usize)>,
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
        self.part(&self.unary.needed(&codes.iter().collect::<Vec<_>>()))
    }

    /// These truth values of it, in order; `None` for no truth values, and where a column is
    /// missing.
    pub(crate) fn part(&self, needed: &[Step]) -> Option<Index> {
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

/// The parts of indexes that decide about a condition: a set of codes of a column, or a comparison
/// of two columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Indexed {
    /// The index of the column, or those of both.
    pub(crate) indexes: Vec<Index>,
    /// The codes, or the differences of the codes of both columns.
    pub(crate) ranges: Ranges,
}

impl Indexed {
    /// Adds the columns that decide.
    pub(crate) fn reads(&self, out: &mut BTreeSet<usize>) {
        out.extend(self.indexes.iter().flat_map(Index::columns));
    }

    /// The same in columns at other indices.
    pub(crate) fn moved(&self, place: &dyn Fn(usize) -> usize) -> Self {
        let indexes = self.indexes.iter().map(|index| index.moved(place)).collect();
        Indexed { indexes, ranges: self.ranges.clone() }
    }
}
