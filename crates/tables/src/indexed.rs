//! Indexes of columns, and conditions that they decide: sets of codes, and comparisons of columns.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_integers::{Column, IntegerScheme, Step, Unary, UnaryPair};

use crate::block::Block;
use crate::condition::{Comparison, Condition, Number};
use crate::error::TablesError;
use crate::field::Field;
use crate::ranges::Ranges;
use crate::schema::Schema;
use crate::starts::Part;

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
        self.part(&self.unary.needed(&codes.iter().collect::<Vec<_>>()))
    }

    /// These truth values of it, in order; `None` for no truth values, and where a column is
    /// missing.
    fn part(&self, needed: &[Step]) -> Option<Index> {
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

/// A condition by the parts of indexes that decide about it: a set of codes of a column, or a
/// comparison of two columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Indexed {
    /// The same condition on the columns themselves.
    asked: Box<Condition>,
    /// The index of the column, or those of both.
    indexes: Vec<Index>,
    /// The codes, or the differences of the codes of both columns.
    ranges: Ranges,
}

impl Indexed {
    /// A condition by the parts of indexes that decide about it; `None` for other conditions, and
    /// where columns have no index.
    pub(crate) fn of(asked: &Condition, schema: &Schema) -> Option<Indexed> {
        let (indexes, ranges) = match asked {
            Condition::Within { column, codes } => {
                (vec![schema.index(*column)?.of_set(codes)?], codes.clone())
            }
            Condition::Compare(comparison, a, b) => {
                let (columns, ranges) = differences(*comparison, a, b, schema)?;
                let [a, b] = columns.map(|column| schema.index(column));
                let (a, b) = (a?, b?);
                let pair = UnaryPair::new(a.unary.clone(), b.unary.clone());
                let [x, y] = pair.needed(&ranges.iter().collect::<Vec<_>>());
                (vec![a.part(&x)?, b.part(&y)?], ranges)
            }
            _ => return None,
        };
        Some(Indexed { asked: Box::new(asked.clone()), indexes, ranges })
    }

    /// The same condition on the columns themselves.
    pub(crate) fn asked(&self) -> &Condition {
        &self.asked
    }

    /// Whether a row meets the condition, by its codes.
    pub(crate) fn holds(&self, row: &dyn Fn(usize) -> i128) -> bool {
        self.asked.holds(row)
    }

    /// Adds its columns, and those that decide.
    pub(crate) fn columns(&self, out: &mut BTreeSet<usize>) {
        self.asked.columns(out);
        self.reads(out);
    }

    /// Adds the columns that decide.
    pub(crate) fn reads(&self, out: &mut BTreeSet<usize>) {
        out.extend(self.indexes.iter().flat_map(Index::columns));
    }

    /// The same condition on columns at other indices.
    pub(crate) fn moved(&self, place: &dyn Fn(usize) -> usize) -> Self {
        Indexed {
            asked: Box::new(self.asked.moved(place)),
            indexes: self.indexes.iter().map(|index| index.moved(place)).collect(),
            ranges: self.ranges.clone(),
        }
    }
}

/// Two columns and the differences of their codes for which a comparison holds; `None` for a
/// comparison of anything else than the difference of two columns and a constant.
fn differences(
    comparison: Comparison,
    a: &Number,
    b: &Number,
    schema: &Schema,
) -> Option<([usize; 2], Ranges)> {
    let Linear { columns, constant } = Linear::of(a)?.plus(&Linear::of(b)?, -1)?;
    let mut columns = columns.into_iter();
    let columns = match (columns.next()?, columns.next()?, columns.next()) {
        ((x, 1), (y, -1), None) | ((y, -1), (x, 1), None) => [x, y],
        _ => return None,
    };
    let [x, y] = columns.map(|column| schema.fields().get(column).map(Field::bounds));
    let (x, y) = (x?, y?);
    let (least, most) = (x.0 - y.1, x.1 - y.0);
    // x - y + constant is compared with 0.
    let end = constant.checked_neg()?;
    let ranges = match comparison {
        Comparison::Less => Ranges::between(least, end.checked_sub(1)?),
        Comparison::LessOrEqual => Ranges::between(least, end),
        Comparison::Equal => Ranges::of([end]),
    };
    Some((columns, ranges.and(&Ranges::between(least, most))))
}

/// A sum of integers times columns, and an integer.
#[derive(Default)]
struct Linear {
    columns: BTreeMap<usize, i128>,
    constant: i128,
}

impl Linear {
    /// The number in this form; `None` for products of columns, and beyond 127 bits.
    fn of(x: &Number) -> Option<Linear> {
        Some(match x {
            Number::Column(place) => Linear { columns: BTreeMap::from([(*place, 1)]), constant: 0 },
            Number::Constant(value) => Linear { constant: *value, ..Linear::default() },
            Number::Add(a, b) => Linear::of(a)?.plus(&Linear::of(b)?, 1)?,
            Number::Subtract(a, b) => Linear::of(a)?.plus(&Linear::of(b)?, -1)?,
            Number::Multiply(a, b) => {
                let (a, b) = (Linear::of(a)?, Linear::of(b)?);
                match (a.columns.is_empty(), b.columns.is_empty()) {
                    (true, _) => Linear::default().plus(&b, a.constant)?,
                    (_, true) => Linear::default().plus(&a, b.constant)?,
                    _ => return None,
                }
            }
        })
    }

    /// The sum of this and a multiple of another one.
    fn plus(mut self, other: &Linear, times: i128) -> Option<Linear> {
        for (place, factor) in &other.columns {
            let sum = self.columns.entry(*place).or_insert(0);
            *sum = sum.checked_add(factor.checked_mul(times)?)?;
        }
        self.columns.retain(|_, factor| *factor != 0);
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        Some(self)
    }
}

impl<S: IntegerScheme> Block<'_, S> {
    /// The truth values of a condition that is decided by indexes.
    pub(crate) fn indexed(
        &mut self,
        condition: &Condition,
        indexed: &Indexed,
    ) -> Result<Column<S::Ciphertext>, TablesError> {
        let level = Part::of(condition).and_then(|part| self.starts.of(&part));
        let mut bits = |index: &Index| -> Result<Vec<_>, TablesError> {
            let bit = |(step, place): &(Step, usize)| Ok((*step, self.at(*place, level)?));
            index.bits.iter().map(bit).collect()
        };
        let ranges: Vec<(i128, i128)> = indexed.ranges.iter().collect();
        match &indexed.indexes[..] {
            [index] => {
                let bits = bits(index)?;
                Ok(self.ints.in_ranges_of(&index.unary, &bits, &ranges)?)
            }
            [a, b] => {
                let (x, y) = (bits(a)?, bits(b)?);
                let pair = UnaryPair::new(a.unary.clone(), b.unary.clone());
                Ok(self.ints.differences_in_ranges_of(&pair, [&x, &y], &ranges)?)
            }
            other => {
                let problem = format!("a condition by {} indexes", other.len());
                Err(TablesError::Data { problem })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comparisons of columns by their differences, also where these are moved or hidden.
    #[test]
    fn comparisons_are_ranges_of_differences() {
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "x", "type": "integer", "low": -5, "high": 40, "index": true},
                {"name": "y", "type": "integer", "low": 0, "high": 30, "index": true},
                {"name": "z", "type": "integer", "low": 0, "high": 30}]}"#,
        );
        let schema = schema.unwrap();
        let places = ["x", "y", "z"].map(|name| schema.place(name).unwrap());
        let [x, y, z] = places.map(Number::Column);
        let boxed = |a: &Number, b: &Number| (Box::new(a.clone()), Box::new(b.clone()));
        let add = |a: &Number, b: &Number| {
            let (a, b) = boxed(a, b);
            Number::Add(a, b)
        };
        let subtract = |a: &Number, b: &Number| {
            let (a, b) = boxed(a, b);
            Number::Subtract(a, b)
        };
        let multiply = |a: &Number, b: &Number| {
            let (a, b) = boxed(a, b);
            Number::Multiply(a, b)
        };
        let (three, four) = (Number::Constant(3), Number::Constant(4));
        let sides = [
            (x.clone(), y.clone()),
            (y.clone(), add(&x, &three)),
            (subtract(&x, &y), four.clone()),
            (four.clone(), subtract(&y, &x)),
            (subtract(&multiply(&three, &x), &y), multiply(&x, &Number::Constant(2))),
        ];
        for (a, b) in &sides {
            for comparison in [Comparison::Less, Comparison::LessOrEqual, Comparison::Equal] {
                let asked = Condition::Compare(comparison, a.clone(), b.clone());
                let ([p, q], ranges) = differences(comparison, a, b, &schema).unwrap();
                assert!(matches!(asked.clone().by_index(&schema), Condition::Indexed(_)));
                for (i, j) in (-5..=40).flat_map(|i| (0..=30).map(move |j| (i, j))) {
                    let row = |place: usize| if place == places[0] { i } else { j };
                    let held = ranges.contains(row(p) - row(q));
                    assert_eq!(held, asked.holds(&row), "{asked:?} of {i} and {j}");
                }
            }
        }
        let others = [
            (x.clone(), z.clone()),
            (x.clone(), x.clone()),
            (x.clone(), multiply(&y, &three)),
            (add(&x, &y), three.clone()),
            (multiply(&x, &y), three),
            (add(&x, &z), y.clone()),
            // All rows.
            (x, add(&y, &Number::Constant(99))),
        ];
        for (a, b) in others {
            let asked = Condition::Compare(Comparison::Less, a, b);
            assert_eq!(asked.clone().by_index(&schema), asked);
        }
    }
}
