//! What is asked of a table, bound to its schema.

use std::collections::BTreeSet;

use everlevel_integers::Interval;

use crate::error::TablesError;
use crate::having::Having;
use crate::ranges::Ranges;
use crate::schema::Schema;

/// A number of each row, in units of a power of ten that whoever made it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// The code of a column.
    Column(usize),
    /// The same in each row.
    Constant(i128),
    /// A sum.
    Add(Box<Number>, Box<Number>),
    /// A difference.
    Subtract(Box<Number>, Box<Number>),
    /// A product.
    Multiply(Box<Number>, Box<Number>),
}

impl Number {
    /// All values that it can have.
    ///
    /// # Errors
    /// [`TablesError::Range`] past 63 bits, for the expression of this text.
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
}

/// A comparison of two numbers; the others are these with the operands exchanged, or negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Equal.
    Equal,
}

/// Which rows are meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// All or none.
    Constant(bool),
    /// Those whose code in a column is one of a set.
    Within {
        /// The column.
        column: usize,
        /// The codes.
        codes: Ranges,
    },
    /// Those for which a comparison holds.
    Compare(Comparison, Number, Number),
    /// Those that meet all of these.
    And(Vec<Condition>),
    /// Those that meet one at least.
    Or(Vec<Condition>),
    /// All others.
    Not(Box<Condition>),
}

impl Condition {
    /// Whether a row is meant.
    pub fn holds(&self, row: &dyn Fn(usize) -> i128) -> bool {
        match self {
            Condition::Constant(value) => *value,
            Condition::Within { column, codes } => codes.contains(row(*column)),
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

    /// An equal condition of as few parts: sets of codes of one column are joined, constants and
    /// double negations are gone.
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
        for part in flat {
            match part {
                Condition::Constant(value) if value == conjunction => {}
                Condition::Constant(value) => return Condition::Constant(value),
                Condition::Within { column, codes } => {
                    let same = out.iter_mut().find_map(|c| match c {
                        Condition::Within { column: other, codes } if *other == column => {
                            Some(codes)
                        }
                        _ => None,
                    });
                    match same {
                        Some(other) if conjunction => *other = other.and(&codes),
                        Some(other) => *other = other.or(&codes),
                        None => out.push(Condition::Within { column, codes }),
                    }
                }
                part => {
                    if !out.contains(&part) {
                        out.push(part);
                    }
                }
            }
        }
        // Joined sets may have become empty or whole.
        let simplified: Vec<Condition> = out
            .into_iter()
            .map(|c| if matches!(c, Condition::Within { .. }) { c.simplified(schema) } else { c })
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
}

/// What a comparison says of all rows, if the bounds of the columns tell.
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

/// What is made of the numbers of the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Their sum.
    Sum,
    /// The least; of a column of categories the first text.
    Least,
    /// The greatest; of a column of categories the last text.
    Greatest,
    /// Twice the median: the sum of the two in the middle.
    Middle,
    /// How many different ones there are.
    Distinct,
}

/// What is made of the rows of a group; 0 of none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// A sum, or what a reader makes of rows that are listed.
    pub fold: Fold,
    /// Its number in each row: 1 for a count.
    pub value: Number,
    /// The rows among those that the question asks for.
    pub when: Condition,
}

/// A column of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Formula,
}

/// What the reader of an answer computes from sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The code of a column that the question groups by.
    Group(usize),
    /// An aggregate, in units of 10^-scale.
    Aggregate {
        /// Its place among the aggregates.
        place: usize,
        /// Decimal places.
        scale: u32,
    },
    /// An aggregate that is a value of a column.
    Code {
        /// Its place among the aggregates.
        place: usize,
        /// The column.
        column: usize,
    },
    /// A number, in units of 10^-scale.
    Constant {
        /// Units.
        units: i128,
        /// Decimal places.
        scale: u32,
    },
    /// The second formula where the first one, a count of values, is not 0; else no value.
    Over(Box<Formula>, Box<Formula>),
    /// Two formulas and what is done with them.
    Of(Operator, Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Whether it is a value of a column, and not a number to go on with.
    pub(crate) fn is_shown(&self) -> bool {
        match self {
            Formula::Group(_) | Formula::Code { .. } => true,
            Formula::Over(_, inner) => inner.is_shown(),
            _ => false,
        }
    }
}

/// What a formula does with two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// +
    Add,
    /// -
    Subtract,
    /// *
    Multiply,
    /// /
    Divide,
}

/// A constant of a question that is encrypted: `:name` in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, without the colon.
    pub name: String,
    /// The place of a column that it is compared with, whose values it can have.
    pub column: usize,
}

/// A question: sums over groups of the rows that meet a condition, or these rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Which rows.
    pub filter: Condition,
    /// The columns whose entries the server lists, for each row that is meant, and of which the
    /// reader makes the answer; none: the server adds up the aggregates of all groups.
    pub listed: Option<Vec<usize>>,
    /// The columns that they are grouped by; without aggregates the columns of the answer.
    pub groups: Vec<usize>,
    /// What is made of each group. The first one counts its rows. None: the rows themselves are
    /// asked for.
    pub aggregates: Vec<Aggregate>,
    /// Which groups, by their aggregates; none: all that have rows.
    pub having: Option<Having>,
    /// The columns of the answer.
    pub outputs: Vec<Output>,
    /// The order of its rows: places of outputs, and whether the greatest comes first.
    pub order: Vec<(usize, bool)>,
    /// How many of its rows there are at most.
    pub limit: Option<usize>,
    /// The constants that are encrypted. They are columns of each row, behind those of the table:
    /// see [`Query::rows`].
    pub parameters: Vec<Parameter>,
}

/// The most groups that a question may have: each costs as much as the next.
pub const MOST_GROUPS: i128 = 256;

impl Number {
    /// The same of columns in other places.
    fn moved(&self, place: &dyn Fn(usize) -> usize) -> Number {
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

impl Condition {
    /// The same of columns in other places.
    fn moved(&self, place: &dyn Fn(usize) -> usize) -> Condition {
        let all = |all: &[Condition]| all.iter().map(|c| c.moved(place)).collect();
        match self {
            Condition::Constant(value) => Condition::Constant(*value),
            Condition::Within { column, codes } => {
                Condition::Within { column: place(*column), codes: codes.clone() }
            }
            Condition::Compare(comparison, a, b) => {
                Condition::Compare(*comparison, a.moved(place), b.moved(place))
            }
            Condition::And(parts) => Condition::And(all(parts)),
            Condition::Or(parts) => Condition::Or(all(parts)),
            Condition::Not(c) => Condition::Not(Box::new(c.moved(place))),
        }
    }

    pub(crate) fn columns(&self, out: &mut BTreeSet<usize>) {
        match self {
            Condition::Constant(_) => {}
            Condition::Within { column, .. } => drop(out.insert(*column)),
            Condition::Compare(_, a, b) => {
                a.columns(out);
                b.columns(out);
            }
            Condition::And(all) | Condition::Or(all) => all.iter().for_each(|c| c.columns(out)),
            Condition::Not(c) => c.columns(out),
        }
    }
}

/// The columns of a table and those for encrypted constants.
pub(crate) fn with_parameters(
    schema: &Schema,
    parameters: &[Parameter],
) -> Result<Schema, TablesError> {
    let fields = schema.fields();
    let table = fields.iter().map(|f| (f.name().into(), f.kind().clone(), f.null().is_some()));
    let constant = |p: &Parameter| (format!(":{}", p.name), fields[p.column].kind().clone(), false);
    Schema::with_nulls(table.chain(parameters.iter().map(constant)))
}

impl Query {
    /// The same question of a table that has these columns alone, in this order; those that it is
    /// computed of have to be among them.
    #[must_use]
    pub(crate) fn of_columns(&self, columns: &BTreeSet<usize>) -> Query {
        let place = |column: usize| columns.range(..column).count();
        let aggregate = |a: &Aggregate| Aggregate {
            fold: a.fold,
            value: a.value.moved(&place),
            when: a.when.moved(&place),
        };
        Query {
            filter: self.filter.moved(&place),
            listed: self.listed.as_ref().map(|all| all.iter().map(|c| place(*c)).collect()),
            groups: self.groups.iter().map(|column| place(*column)).collect(),
            aggregates: self.aggregates.iter().map(aggregate).collect(),
            ..self.clone()
        }
    }

    /// The columns of a row, of a table of this schema: those of the table, then one for each
    /// encrypted constant, named as in the question.
    ///
    /// # Errors
    /// [`TablesError::Schema`] past the most columns, or if the table has columns of such names.
    pub fn rows(&self, schema: &Schema) -> Result<Schema, TablesError> {
        with_parameters(schema, &self.parameters)
    }

    /// The places of the columns that its answer is computed of.
    pub fn columns(&self) -> BTreeSet<usize> {
        let mut out: BTreeSet<usize> = self.groups.iter().copied().collect();
        self.filter.columns(&mut out);
        for aggregate in &self.aggregates {
            aggregate.value.columns(&mut out);
            aggregate.when.columns(&mut out);
        }
        out
    }

    /// The column whose values a column of the answer shows; none for numbers that are computed.
    pub(crate) fn column_of(&self, formula: &Formula) -> Option<usize> {
        match formula {
            Formula::Group(place) => self.groups.get(*place).copied(),
            Formula::Code { column, .. } => Some(*column),
            Formula::Over(_, inner) => self.column_of(inner),
            _ => None,
        }
    }

    /// The codes of the columns of every group, whether or not it has rows; none where rows are
    /// listed.
    pub fn group_codes(&self, schema: &Schema) -> Vec<Vec<i128>> {
        if self.listed.is_some() {
            return Vec::new();
        }
        let mut groups = vec![Vec::new()];
        for place in &self.groups {
            let (low, high) = schema.fields()[*place].bounds();
            groups = groups
                .into_iter()
                .flat_map(|g| (low..=high).map(move |code| [&g[..], &[code]].concat()))
                .collect();
        }
        groups
    }
}
