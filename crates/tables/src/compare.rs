//! Comparisons of expressions, and dates moved by intervals.

use std::cmp::Ordering;

use sqlparser::ast::{BinaryOperator, DateTimeField, Expr};

use crate::bind::{Binder, scaled};
use crate::cell::{Unit, moved, parse_date};
use crate::condition::{Comparison, Condition, Number};
use crate::error::TablesError;
use crate::kind::Kind;
use crate::literal::{Value, mistyped, text_of};
use crate::parameter::Meaning;
use crate::ranges::Ranges;
use crate::schema::Schema;
use crate::timestamp::Timestamp;

impl Binder<'_> {
    /// A date, or a date and time, plus or minus an interval; none for other operands.
    pub(crate) fn moved_by(
        &self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Option<Value>, TablesError> {
        let Expr::Interval(interval) = right else { return Ok(None) };
        let wrong = || {
            let remedy = "write interval '3' month, day or year, or, of a timestamp, hour, minute \
                          or second";
            TablesError::unsupported(&format!("{right}"), remedy)
        };
        // `interval '3' day to second` is of another unit than its first one.
        let plain = interval.leading_precision.is_none()
            && interval.last_field.is_none()
            && interval.fractional_seconds_precision.is_none();
        if !plain {
            return Err(wrong());
        }
        let from = self.value(left)?;
        let text = match &*interval.value {
            Expr::Value(v) => text_of(&v.value).ok_or_else(wrong)?,
            _ => return Err(wrong()),
        };
        // Either `interval '3' month` or `interval '3 month'`.
        let (count, unit) = match (&interval.leading_field, text.split_once(' ')) {
            (Some(DateTimeField::Day), None) => (text, Unit::Day),
            (Some(DateTimeField::Month), None) => (text, Unit::Month),
            (Some(DateTimeField::Year), None) => (text, Unit::Year),
            (Some(DateTimeField::Hour), None) => (text, Unit::Hour),
            (Some(DateTimeField::Minute), None) => (text, Unit::Minute),
            (Some(DateTimeField::Second), None) => (text, Unit::Second),
            (None, Some((count, "day" | "days"))) => (count, Unit::Day),
            (None, Some((count, "month" | "months"))) => (count, Unit::Month),
            (None, Some((count, "year" | "years"))) => (count, Unit::Year),
            (None, Some((count, "hour" | "hours"))) => (count, Unit::Hour),
            (None, Some((count, "minute" | "minutes"))) => (count, Unit::Minute),
            (None, Some((count, "second" | "seconds"))) => (count, Unit::Second),
            _ => return Err(wrong()),
        };
        let count: i64 = count.parse().map_err(|_| wrong())?;
        let by = match op {
            BinaryOperator::Plus => Some(count),
            BinaryOperator::Minus => count.checked_neg(),
            _ => None,
        };
        let by = by.ok_or_else(wrong)?;
        let there = match from {
            Value::Date(days) => moved(days, by, unit).map(Value::Date),
            Value::Timestamp(at) => at.moved(by, unit).map(Value::Timestamp),
            _ => {
                return Err(TablesError::unsupported(
                    &format!("{left} {op} {right}"),
                    "move literal dates and timestamps only",
                ));
            }
        };
        there.ok_or_else(wrong).map(Some)
    }

    /// The rows for which left ⋚ right. It is noted if there can be none.
    pub(crate) fn compared(
        &self,
        e: &Expr,
        comparison: Comparison,
        left: &Expr,
        right: &Expr,
    ) -> Result<Condition, TablesError> {
        let rows = self.related(e, comparison, left, right)?;
        let operator = match comparison {
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Equal => "=",
        };
        self.notes.impossible(self.schema, &rows, (left, operator, right));
        Ok(rows)
    }

    fn related(
        &self,
        e: &Expr,
        comparison: Comparison,
        left: &Expr,
        right: &Expr,
    ) -> Result<Condition, TablesError> {
        let apart = || {
            mistyped(
                e,
                "its two sides cannot be compared: compare numbers with numbers, and other \
                 columns with a text, date or timestamp in single quotation marks",
            )
        };
        let sides = (self.value(left)?, self.value(right)?);
        if let (Value::Coded(column), other) | (other, Value::Coded(column)) = &sides
            && self.schema.fields()[*column].is_text()
        {
            return match (comparison, other) {
                (Comparison::Equal, Value::Text(text)) => Ok(self.is_text(*column, text)),
                _ => self.check_text(e, *column).and(Err(apart())),
            };
        }
        match sides {
            (Value::Parameter(name), x) => self.encrypted(e, comparison, &x, &name, false),
            (x, Value::Parameter(name)) => self.encrypted(e, comparison, &x, &name, true),
            (Value::Number(a, i), Value::Number(b, j)) => {
                self.number(left)?;
                self.number(right)?;
                Ok(numbers(self.schema, comparison, (a, i), (b, j)))
            }
            (Value::Coded(column), literal) => self
                .coded(column, &literal, |code| match comparison {
                    Comparison::Less => code.is_lt(),
                    Comparison::LessOrEqual => code.is_le(),
                    Comparison::Equal => code.is_eq(),
                })
                .or_else(|| self.columns(comparison, column, &literal))
                .ok_or_else(apart),
            (literal, Value::Coded(column)) => self
                .coded(column, &literal, |code| match comparison {
                    Comparison::Less => code.is_gt(),
                    Comparison::LessOrEqual => code.is_ge(),
                    Comparison::Equal => code.is_eq(),
                })
                .ok_or_else(apart),
            (Value::Date(a), Value::Date(b)) => {
                let (a, b) = (Number::Constant(a), Number::Constant(b));
                Ok(numbers(self.schema, comparison, (a, 0), (b, 0)))
            }
            (Value::Timestamp(a), Value::Timestamp(b)) if a.utc == b.utc => {
                let [a, b] = [a, b].map(|at| (Number::Constant(at.nanoseconds), 0));
                Ok(numbers(self.schema, comparison, a, b))
            }
            _ => Err(apart()),
        }
    }

    /// The rows that hold a text: all parts of it.
    fn is_text(&self, column: usize, text: &str) -> Condition {
        let Some(codes) = self.schema.fields()[column].codes(text) else {
            return Condition::Within { column, codes: Ranges::of([]) };
        };
        let parts = self.schema.cell_places(column).zip(codes);
        Condition::And(
            parts
                .map(|(column, code)| Condition::Within { column, codes: Ranges::of([code]) })
                .collect(),
        )
    }

    /// A comparison of a column with an encrypted constant.
    fn encrypted(
        &self,
        e: &Expr,
        comparison: Comparison,
        x: &Value,
        name: &str,
        column_first: bool,
    ) -> Result<Condition, TablesError> {
        let fields = self.schema.fields();
        let column = match x {
            Value::Coded(column) => *column,
            // A tenth of a column is the column, with one more decimal place.
            Value::Number(Number::Column(c), scale) if fields[*c].scale() == Some(*scale) => *c,
            _ => return Err(mistyped(e, "compare an encrypted constant with a column")),
        };
        let kind = fields[column].kind();
        let ordered = !matches!(kind, Kind::Boolean | Kind::Category { .. });
        if !ordered && comparison != Comparison::Equal {
            return Err(mistyped(e, "compare categories and truth values with = <> and in"));
        }
        Ok(match self.parameter(e, name, column, Meaning::Value)? {
            None => Condition::Constant(true),
            Some(place) => {
                let (x, constant) = (Number::Column(column), Number::Column(place));
                let (a, b) = if column_first { (x, constant) } else { (constant, x) };
                Condition::Compare(comparison, a, b)
            }
        })
    }

    /// The codes of a column whose values compare in a given way with a literal.
    fn coded(
        &self,
        column: usize,
        literal: &Value,
        wanted: impl Fn(Ordering) -> bool,
    ) -> Option<Condition> {
        let field = &self.schema.fields()[column];
        let (low, high) = field.bounds();
        let equal =
            wanted(Ordering::Equal) && !wanted(Ordering::Less) && !wanted(Ordering::Greater);
        let about = |code: i128| {
            // Those below the code, the code, and those above.
            let below = Ranges::between(low, (code - 1).min(high));
            let above = Ranges::between((code + 1).max(low), high);
            [
                (Ordering::Less, below),
                (Ordering::Equal, Ranges::of([code])),
                (Ordering::Greater, above),
            ]
            .into_iter()
            .filter(|(order, _)| wanted(*order))
            .fold(Ranges::of([]), |all, (_, codes)| all.or(&codes))
        };
        // A point in time may lie between two codes.
        let around = |at: Timestamp| {
            let Kind::Timestamp { unit, utc, .. } = field.kind() else { return None };
            if *utc != at.utc {
                return None;
            }
            Some(at.exactly(*unit).map_or_else(
                || {
                    let before = at.nanoseconds.div_euclid(unit.nanoseconds());
                    let below = Ranges::between(low, before.min(high));
                    let above = Ranges::between((before + 1).max(low), high);
                    [(Ordering::Less, below), (Ordering::Greater, above)]
                        .into_iter()
                        .filter(|(order, _)| wanted(*order))
                        .fold(Ranges::of([]), |all, (_, codes)| all.or(&codes))
                },
                about,
            ))
        };
        let codes = match (field.kind(), literal) {
            (Kind::Date { .. }, Value::Date(days)) => about(*days),
            (Kind::Date { .. }, Value::Text(text)) => about(parse_date(text)?),
            (Kind::Timestamp { .. }, Value::Timestamp(at)) => around(*at)?,
            (Kind::Timestamp { .. }, Value::Text(text)) => around(Timestamp::parse(text)?)?,
            (Kind::Timestamp { .. }, Value::Date(days)) => around(Timestamp::of_day(*days)?)?,
            (Kind::Boolean, Value::Condition(Condition::Constant(value))) => {
                about(i128::from(*value))
            }
            (Kind::Category { values }, Value::Text(text)) if equal => {
                Ranges::of(self.category(column, values, text))
            }
            (Kind::Category { values }, Value::Text(text)) => {
                // Texts compare as in SQL, whatever their places.
                let places =
                    values.iter().enumerate().filter(|(_, v)| wanted(v.as_str().cmp(text)));
                Ranges::of(places.map(|(i, _)| i as i128))
            }
            _ => return None,
        };
        Some(Condition::Within { column, codes })
    }

    /// A comparison of two columns of dates or of times, or the equality of two with equal codes.
    fn columns(&self, comparison: Comparison, a: usize, other: &Value) -> Option<Condition> {
        let Value::Coded(b) = other else { return None };
        let kinds = [a, *b].map(|i| self.schema.fields()[i].kind());
        let comparable = match kinds {
            [Kind::Integer { .. } | Kind::Decimal { .. }, _] => false,
            [Kind::Date { .. } | Kind::Timestamp { .. }, b] => kinds[0].is_like(b),
            [a, b] => comparison == Comparison::Equal && a == b,
        };
        let pair = (Number::Column(a), Number::Column(*b));
        comparable.then_some(Condition::Compare(comparison, pair.0, pair.1))
    }
}

/// A comparison of numbers with these decimal places: a set of codes if one of them is a column and
/// the other a constant.
fn numbers(
    schema: &Schema,
    comparison: Comparison,
    (a, i): (Number, u32),
    (b, j): (Number, u32),
) -> Condition {
    let codes = |column: usize, codes: Ranges| Condition::Within { column, codes };
    let bounds = |column: usize| schema.fields()[column].bounds();
    let scale = i.max(j);
    match (&a, &b) {
        (Number::Constant(x), Number::Constant(y)) => {
            let (x, y) = (x * 10i128.pow(scale - i), y * 10i128.pow(scale - j));
            Condition::Constant(match comparison {
                Comparison::Less => x < y,
                Comparison::LessOrEqual => x <= y,
                Comparison::Equal => x == y,
            })
        }
        (Number::Column(column), Number::Constant(y)) => {
            let (low, unit) = (bounds(*column).0, 10i128.pow(scale - i));
            let y = y * 10i128.pow(scale - j);
            codes(
                *column,
                match comparison {
                    // code * unit < y, that is code < y / unit rounded up.
                    Comparison::Less => Ranges::between(low, -(-y).div_euclid(unit) - 1),
                    Comparison::LessOrEqual => Ranges::between(low, y.div_euclid(unit)),
                    Comparison::Equal if y.rem_euclid(unit) == 0 => Ranges::of([y / unit]),
                    Comparison::Equal => Ranges::of([]),
                },
            )
        }
        (Number::Constant(x), Number::Column(column)) => {
            let (high, unit) = (bounds(*column).1, 10i128.pow(scale - j));
            let x = x * 10i128.pow(scale - i);
            codes(
                *column,
                match comparison {
                    Comparison::Less => Ranges::between(x.div_euclid(unit) + 1, high),
                    Comparison::LessOrEqual => Ranges::between(-(-x).div_euclid(unit), high),
                    Comparison::Equal if x.rem_euclid(unit) == 0 => Ranges::of([x / unit]),
                    Comparison::Equal => Ranges::of([]),
                },
            )
        }
        _ => Condition::Compare(comparison, scaled(a, scale - i), scaled(b, scale - j)),
    }
}
