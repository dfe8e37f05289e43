//! Conditions on rows, and the numbers that they compare.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_integers::Interval;

use crate::error::TablesError;
use crate::indexed::Indexed;
use crate::ranges::Ranges;
use crate::schema::Schema;

/// A number computed for each row, in units of a power of ten that the caller knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// The code of a column.
    Column(usize),
    /// A constant, the same in each row.
    Constant(i128),
    /// A sum.
    Add(Box<Number>, Box<Number>),
    /// A difference.
    Subtract(Box<Number>, Box<Number>),
    /// A product.
    Multiply(Box<Number>, Box<Number>),
}

impl Number {
    /// The interval of its values.
    ///
    /// # Errors
    /// [`TablesError::Range`] beyond 63 bits, for the expression of this text.
    pub fn interval(&self, schema: &Schema, text: &str) -> Result<Interval, TablesError> {
        let of = |x: &Number| x.interval(schema, text);
        let found = match self {
            Number::Column(place) => {
                let (low, high) = schema.fields()[*place].bounds();
                Interval::new(low, high)
            }
            Number::Constant(value) => Interval::point(*value),
            Number::Add(a, b) => of(a)?.checked_add(of(b)?),
            Number::Subtract(a, b) => of(a)?.checked_sub(of(b)?),
            Number::Multiply(a, b) => of(a)?.checked_mul(of(b)?),
        };
        let bits = |x: Interval| 128 - x.low().abs().max(x.high().abs()).leading_zeros();
        match found.as_ref().map_or(128, |x| bits(*x)) {
            0..=63 => Ok(found?),
            bits => Err(TablesError::Range { expression: text.into(), bits }),
        }
    }

    /// Its value in a row.
    pub fn value(&self, row: &dyn Fn(usize) -> i128) -> i128 {
        match self {
            Number::Column(place) => row(*place),
            Number::Constant(value) => *value,
            Number::Add(a, b) => a.value(row) + b.value(row),
            Number::Subtract(a, b) => a.value(row) - b.value(row),
            Number::Multiply(a, b) => a.value(row) * b.value(row),
        }
    }

    /// The same expression on columns at other indices.
    pub(crate) fn moved(&self, place: &dyn Fn(usize) -> usize) -> Number {
        let pair = |a: &Number, b: &Number| (Box::new(a.moved(place)), Box::new(b.moved(place)));
        match self {
            Number::Column(column) => Number::Column(place(*column)),
            Number::Constant(value) => Number::Constant(*value),
            Number::Add(a, b) => {
                let (a, b) = pair(a, b);
                Number::Add(a, b)
            }
            Number::Subtract(a, b) => {
                let (a, b) = pair(a, b);
                Number::Subtract(a, b)
            }
            Number::Multiply(a, b) => {
                let (a, b) = pair(a, b);
                Number::Multiply(a, b)
            }
        }
    }

    pub(crate) fn columns(&self, out: &mut BTreeSet<usize>) {
        match self {
            Number::Column(place) => drop(out.insert(*place)),
            Number::Constant(_) => {}
            Number::Add(a, b) | Number::Subtract(a, b) | Number::Multiply(a, b) => {
                a.columns(out);
                b.columns(out);
            }
        }
    }
}

/// A comparison of two numbers. Other comparisons are these with the operands exchanged, or
/// negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Equal.
    Equal,
}

/// A condition that selects rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// All rows, or none.
    Constant(bool),
    /// The rows whose code in a column is in a set.
    Within {
        /// The column.
        column: usize,
        /// The codes.
        codes: Ranges,
    },
    /// Rows of such a set, or for which a comparison holds, by the indexes of the columns.
    Indexed(Box<Condition>, Indexed),
    /// The rows for which a comparison holds.
    Compare(Comparison, Number, Number),
    /// The rows that meet all of these conditions.
    And(Vec<Condition>),
    /// The rows that meet at least one of these conditions.
    Or(Vec<Condition>),
    /// The rows that do not meet this condition.
    Not(Box<Condition>),
}

impl Condition {
    /// Whether a row meets the condition.
    pub fn holds(&self, row: &dyn Fn(usize) -> i128) -> bool {
        match self {
            Condition::Constant(value) => *value,
            Condition::Within { column, codes } => codes.contains(row(*column)),
            Condition::Indexed(asked, _) => asked.holds(row),
            Condition::Compare(comparison, a, b) => {
                let (a, b) = (a.value(row), b.value(row));
                match comparison {
                    Comparison::Less => a < b,
                    Comparison::LessOrEqual => a <= b,
                    Comparison::Equal => a == b,
                }
            }
            Condition::And(all) => all.iter().all(|c| c.holds(row)),
            Condition::Or(any) => any.iter().any(|c| c.holds(row)),
            Condition::Not(c) => !c.holds(row),
        }
    }

    /// An equivalent condition with fewer parts: sets of codes of one column are joined, and
    /// constants and double negations are removed.
    #[must_use]
    pub fn simplified(self, schema: &Schema) -> Condition {
        match self {
            Condition::Within { column, codes } => {
                let (low, high) = schema.fields()[column].bounds();
                let codes = codes.and(&Ranges::between(low, high));
                if codes == Ranges::between(low, high) {
                    Condition::Constant(true)
                } else if codes == Ranges::of([]) {
                    Condition::Constant(false)
                } else {
                    Condition::Within { column, codes }
                }
            }
            Condition::Not(c) => match c.simplified(schema) {
                Condition::Constant(value) => Condition::Constant(!value),
                Condition::Within { column, codes } => {
                    let codes = codes.not(schema.fields()[column].bounds());
                    Condition::Within { column, codes }
                }
                Condition::Not(c) => *c,
                c => Condition::Not(Box::new(c)),
            },
            Condition::And(all) => Self::joined(all, schema, true),
            Condition::Or(any) => Self::joined(any, schema, false),
            Condition::Compare(comparison, a, b) => match decided(comparison, &a, &b, schema) {
                Some(value) => Condition::Constant(value),
                None => Condition::Compare(comparison, a, b),
            },
            c => c,
        }
    }

    /// A conjunction, or a disjunction.
    fn joined(parts: Vec<Condition>, schema: &Schema, conjunction: bool) -> Condition {
        let mut flat = Vec::new();
        for part in parts {
            match (part.simplified(schema), conjunction) {
                (Condition::And(inner), true) | (Condition::Or(inner), false) => flat.extend(inner),
                (part, _) => flat.push(part),
            }
        }
        let mut out: Vec<Condition> = Vec::new();
        let mut sets: BTreeMap<usize, Vec<Ranges>> = BTreeMap::new();
        for part in flat {
            match part {
                Condition::Constant(value) if value == conjunction => {}
                Condition::Constant(value) => return Condition::Constant(value),
                Condition::Within { column, codes } => {
                    let all = sets.entry(column).or_default();
                    // All of a column are joined in the place of the first one.
                    if all.is_empty() {
                        out.push(Condition::Within { column, codes: Ranges::of([]) });
                    }
                    all.push(codes);
                }
                part => {
                    if !out.contains(&part) {
                        out.push(part);
                    }
                }
            }
        }
        let mut joined = |column: usize| {
            let all = sets.remove(&column).unwrap_or_default();
            match conjunction {
                true => all.into_iter().reduce(|a, b| a.and(&b)).unwrap_or(Ranges::of([])),
                false => Ranges::union(all),
            }
        };
        // Joined sets may have become empty or whole.
        let simplified: Vec<Condition> = out
            .into_iter()
            .map(|c| match c {
                Condition::Within { column, .. } => {
                    Condition::Within { column, codes: joined(column) }.simplified(schema)
                }
                c => c,
            })
            .filter(|c| *c != Condition::Constant(conjunction))
            .collect();
        if simplified.contains(&Condition::Constant(!conjunction)) {
            return Condition::Constant(!conjunction);
        }
        match (simplified.len(), conjunction) {
            (0, _) => Condition::Constant(conjunction),
            (1, _) => simplified.into_iter().next().unwrap_or(Condition::Constant(conjunction)),
            (_, true) => Condition::And(simplified),
            (_, false) => Condition::Or(simplified),
        }
    }

    /// The same expression on columns at other indices.
    pub(crate) fn moved(&self, place: &dyn Fn(usize) -> usize) -> Condition {
        let all = |all: &[Condition]| all.iter().map(|c| c.moved(place)).collect();
        match self {
            Condition::Constant(value) => Condition::Constant(*value),
            Condition::Within { column, codes } => {
                Condition::Within { column: place(*column), codes: codes.clone() }
            }
            Condition::Indexed(asked, by) => {
                Condition::Indexed(Box::new(asked.moved(place)), by.moved(place))
            }
            Condition::Compare(comparison, a, b) => {
                Condition::Compare(*comparison, a.moved(place), b.moved(place))
            }
            Condition::And(parts) => Condition::And(all(parts)),
            Condition::Or(parts) => Condition::Or(all(parts)),
            Condition::Not(c) => Condition::Not(Box::new(c.moved(place))),
        }
    }

    /// Whether known columns may decide that it has the value `wanted` for a row.
    pub(crate) fn may_be_decided(&self, wanted: bool, known: &dyn Fn(&usize) -> bool) -> bool {
        let parts = |all: &[Condition], every: bool| {
            let mut found = all.iter().map(|c| c.may_be_decided(wanted, known));
            if every { found.all(|x| x) } else { found.any(|x| x) }
        };
        match self {
            Condition::Constant(value) => *value == wanted,
            Condition::And(all) => parts(all, wanted),
            Condition::Or(any) => parts(any, !wanted),
            Condition::Not(c) => c.may_be_decided(!wanted, known),
            Condition::Within { .. } | Condition::Indexed(..) | Condition::Compare(..) => {
                self.is_of(known)
            }
        }
    }

    /// Whether it depends on known columns alone.
    fn is_of(&self, known: &dyn Fn(&usize) -> bool) -> bool {
        let mut columns = BTreeSet::new();
        self.columns(&mut columns);
        columns.iter().all(known)
    }

    /// What is left of a conjunction without its parts that depend on known columns alone: the
    /// condition for rows that meet these parts.
    pub(crate) fn beyond(&self, known: &dyn Fn(&usize) -> bool) -> Condition {
        let (mut rest, mut left) = (vec![self], Vec::new());
        while let Some(condition) = rest.pop() {
            match condition {
                Condition::And(parts) => rest.extend(parts.iter().rev()),
                Condition::Constant(true) => {}
                Condition::Constant(false) => return Condition::Constant(false),
                part if part.is_of(known) => {}
                part => left.push(part.clone()),
            }
        }
        match (left.pop(), left.is_empty()) {
            (None, _) => Condition::Constant(true),
            (Some(only), true) => only,
            (Some(last), false) => {
                left.push(last);
                Condition::And(left)
            }
        }
    }

    /// What conditions that take the same operations have in common: all but which single codes of
    /// a column they are for. Those of an index may differ by a product.
    pub(crate) fn form(&self) -> Condition {
        let all = |all: &[Condition]| all.iter().map(Condition::form).collect();
        match self {
            Condition::Within { column, codes } => {
                let mut ranges = codes.iter();
                let one = match (ranges.next(), ranges.next()) {
                    (Some((low, high)), None) => low == high,
                    _ => false,
                };
                let codes = if one { Ranges::of([0]) } else { codes.clone() };
                Condition::Within { column: *column, codes }
            }
            Condition::Indexed(asked, _) => asked.form(),
            Condition::And(parts) => Condition::And(all(parts)),
            Condition::Or(parts) => Condition::Or(all(parts)),
            Condition::Not(c) => Condition::Not(Box::new(c.form())),
            Condition::Constant(_) | Condition::Compare(..) => self.clone(),
        }
    }

    pub(crate) fn columns(&self, out: &mut BTreeSet<usize>) {
        match self {
            Condition::Constant(_) => {}
            Condition::Within { column, .. } => drop(out.insert(*column)),
            Condition::Indexed(asked, by) => {
                asked.columns(out);
                by.reads(out);
            }
            Condition::Compare(_, a, b) => {
                a.columns(out);
                b.columns(out);
            }
            Condition::And(all) | Condition::Or(all) => all.iter().for_each(|c| c.columns(out)),
            Condition::Not(c) => c.columns(out),
        }
    }
}

/// The result of a comparison for all rows, if the bounds of the columns decide it.
fn decided(comparison: Comparison, a: &Number, b: &Number, schema: &Schema) -> Option<bool> {
    let (a, b) = (a.interval(schema, "").ok()?, b.interval(schema, "").ok()?);
    let below = |x: Interval, y: Interval| x.high() < y.low();
    match comparison {
        Comparison::Less if below(a, b) => Some(true),
        Comparison::Less if b.high() <= a.low() => Some(false),
        Comparison::LessOrEqual if a.high() <= b.low() => Some(true),
        Comparison::LessOrEqual if below(b, a) => Some(false),
        Comparison::Equal if below(a, b) || below(b, a) => Some(false),
        Comparison::Equal if a.points() == 1 && a == b => Some(true),
        _ => None,
    }
}
