//! Conditions that indexes decide: sets of codes, and comparisons of columns.

use std::collections::BTreeMap;

use everlevel_integers::{Column, IntegerScheme, UnaryBits, UnaryPair};

use crate::block::Block;
use crate::condition::{Comparison, Condition, Number};
use crate::error::TablesError;
use crate::field::Field;
use crate::indexed::{Index, Indexed};
use crate::ranges::Ranges;
use crate::schema::Schema;
use crate::starts::Part;

/// The parts of indexes that decide about a condition; `None` for other conditions, and where
/// columns have no index.
pub(crate) fn deciding(asked: &Condition, schema: &Schema) -> Option<Indexed> {
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
    Some(Indexed { indexes, ranges })
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
        &self,
        condition: &Condition,
        indexed: &Indexed,
    ) -> Result<Column<S::Ciphertext>, TablesError> {
        let level = Part::of(condition).and_then(|part| self.starts.of(&part));
        // Of one digit after the other, so that no more of an index are in memory.
        let bits = |index: &Index, digit: usize| -> Result<UnaryBits<_>, TablesError> {
            let bits = index.bits.iter().filter(|((of, _), _)| *of == digit);
            bits.map(|(step, place)| Ok((*step, self.truth(*place, level)?))).collect()
        };
        let (ranges, length) = (indexed.ranges.iter().collect::<Vec<_>>(), Some(self.rows()));
        match &indexed.indexes[..] {
            [index] => {
                let bits = |digit: usize| bits(index, digit);
                self.ints.in_ranges_of(&index.unary, length, bits, &ranges)
            }
            [a, b] => {
                let bits = |of: usize, digit: usize| bits([a, b][of], digit);
                let pair = UnaryPair::new(a.unary.clone(), b.unary.clone());
                self.ints.differences_in_ranges_of(&pair, length, bits, &ranges)
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
                assert!(matches!(asked.clone().by_index(&schema), Condition::Indexed(..)));
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
