//! Answers, which the reader computes from decrypted sums.

use std::cmp::Ordering;

use everlevel_scheme::SchemeError;

use crate::cell::format_decimal;
use crate::data::{Data, csv_text};
use crate::error::TablesError;
use crate::fold::folded;
use crate::formula::{Formula, Fraction, display, value};
use crate::kind::Kind;
use crate::query::{OrderKey, Output, Query};
use crate::schema::Schema;

/// The number of decimal places of a quotient, beyond those of its dividend.
pub(crate) const QUOTIENT_PLACES: u32 = 6;

/// A cell of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The value of a grouped column, with its code.
    Text(String, i128),
    /// A number in units of 10^-scale.
    Number(i128, u32),
    /// No value: a sum over no values, a quotient by 0, the group of empty cells.
    Null,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Text(text, _) => f.pad(text),
            Cell::Number(units, scale) => f.pad(&format_decimal(*units, *scale)),
            Cell::Null => f.pad("NULL"),
        }
    }
}

impl Cell {
    /// Compares two values of one column, by code or by number.
    fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Text(_, a), Cell::Text(_, b)) => a.cmp(b),
            (Cell::Number(a, i), Cell::Number(b, j)) if i == j => a.cmp(b),
            (Cell::Number(a, i), Cell::Number(b, j)) => {
                // Scales differ only between outputs; compare exactly all the same.
                let (x, y) = (Fraction::new(*a, 10i128.pow(*i)), Fraction::new(*b, 10i128.pow(*j)));
                match (x, y) {
                    (Some(x), Some(y)) => x
                        .numerator
                        .saturating_mul(y.denominator)
                        .cmp(&y.numerator.saturating_mul(x.denominator)),
                    _ => Ordering::Equal,
                }
            }
            _ => Ordering::Equal,
        }
    }
}

/// The rows of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The names of its columns.
    pub names: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Answer {
    /// The answer from the sums of all groups, in the order of [`Query::group_codes`], or from the
    /// codes of rows, as [`Layout::read`](crate::Layout::read) returns them.
    ///
    /// # Errors
    /// [`TablesError::Range`] if a number of the answer exceeds 127 bits; `scheme.not-decryptable`
    /// for parts that do not make up a text.
    pub fn new(query: &Query, schema: &Schema, sums: &[Vec<i128>]) -> Result<Self, TablesError> {
        // The cells of a row, and the numbers that it is ordered by before they were rounded.
        let mut rows: Vec<(Vec<Cell>, Vec<Option<Fraction>>)> = Vec::new();
        let code = |place: usize, code: i128| {
            let field = &schema.fields()[place];
            match Some(code) == field.null() {
                true => Cell::Null,
                false => Cell::Text(field.text(code), code),
            }
        };
        // Texts that cannot be are told once all were looked at.
        let mut possible = true;
        let groups = match &query.listed {
            Some(listed) if query.aggregates.is_empty() => {
                let found = |codes: &[i128], place: usize| {
                    listed.iter().position(|p| *p == place).map(|i| codes[i])
                };
                let mut cell = |codes: &[i128], place: usize| {
                    let field = &schema.fields()[place];
                    match found(codes, place) {
                        None => Cell::Null,
                        Some(first) if Some(first) == field.null() => Cell::Null,
                        Some(first) if !field.is_text() => code(place, first),
                        Some(_) => {
                            let parts = schema.cell_places(place);
                            let parts: Vec<_> = parts.filter_map(|p| found(codes, p)).collect();
                            let text = field.cell(&parts);
                            possible &= text.is_some();
                            Cell::Text(text.unwrap_or_default(), 0)
                        }
                    }
                };
                for codes in sums {
                    let cells = query.groups.iter().map(|place| cell(codes, *place)).collect();
                    rows.push((cells, Vec::new()));
                }
                Vec::new()
            }
            Some(listed) => folded(query, schema, listed, sums),
            None => query.group_codes(schema).into_iter().zip(sums.iter().cloned()).collect(),
        };
        if !possible {
            return Err(SchemeError::NotDecryptable.into());
        }
        for (codes, sums) in &groups {
            // A group without rows is none, but the whole table is one even if it is empty.
            if sums[0] == 0 && !query.groups.is_empty() {
                continue;
            }
            if let Some(having) = &query.having
                && having.holds(sums)? != Some(true)
            {
                continue;
            }
            let number = |formula: &Formula, name: &str| {
                let wide = || TablesError::Range { expression: name.into(), bits: 127 };
                let (scale, divides) = display(formula);
                Ok(match value(formula, sums).ok_or_else(wide)? {
                    Some(x) if divides => {
                        let scale = scale + QUOTIENT_PLACES;
                        Cell::Number(x.units(scale).ok_or_else(wide)?, scale)
                    }
                    Some(x) => Cell::Number(x.units(scale).ok_or_else(wide)?, scale),
                    None => Cell::Null,
                })
            };
            let cell = |output: &Output| match &output.value {
                Formula::Group(i) => Ok(code(query.groups[*i], codes[*i])),
                Formula::Over(count, inner) => match &**inner {
                    Formula::Code { place, column } => Ok(match number(count, &output.name)? {
                        Cell::Number(0, _) | Cell::Null => Cell::Null,
                        _ => code(*column, sums[*place]),
                    }),
                    _ => number(&output.value, &output.name),
                },
                formula => number(formula, &output.name),
            };
            let cells = query.outputs.iter().map(cell).collect::<Result<Vec<_>, TablesError>>()?;
            let exact = |key: &OrderKey| value(&query.outputs[key.output].value, sums).flatten();
            rows.push((cells, query.order.iter().map(exact).collect()));
        }
        rows.sort_by(|(a, x), (b, y)| {
            let keys = query.order.iter().enumerate();
            keys.fold(Ordering::Equal, |order, (i, key)| {
                let exact = |all: &[Option<Fraction>]| all.get(i).copied().flatten();
                let texts =
                    query.column_of(&query.outputs[key.output].value).is_some_and(|column| {
                        let kind = schema.fields()[column].kind();
                        matches!(kind, Kind::Category { .. } | Kind::Text { .. })
                    });
                // Texts stand in their own order, whatever the places of the categories.
                let (a, b) = (&a[key.output], &b[key.output]);
                let here = match (a, b) {
                    (Cell::Null, _) | (_, Cell::Null) => {
                        let here = (*a == Cell::Null).cmp(&(*b == Cell::Null));
                        return order.then(if key.nulls_first { here.reverse() } else { here });
                    }
                    (Cell::Text(a, _), Cell::Text(b, _)) if texts => a.cmp(b),
                    (a, b) => match exact(x).zip(exact(y)) {
                        Some((x, y)) => x.order(y),
                        None => a.order(b),
                    },
                };
                order.then(if key.descending { here.reverse() } else { here })
            })
        });
        rows.truncate(query.limit.unwrap_or(usize::MAX));
        let rows = rows.into_iter().map(|(cells, _)| cells).collect();
        Ok(Answer { names: query.outputs.iter().map(|o| o.name.clone()).collect(), rows })
    }

    /// The answer computed on plaintext data, to a query without encrypted constants.
    ///
    /// # Errors
    /// As [`Answer::plain_with`].
    pub fn plain(query: &Query, schema: &Schema, data: &Data) -> Result<Self, TablesError> {
        Self::plain_with(query, schema, data, &[])
    }

    /// The answer computed on plaintext data, with the codes of the constants that the query
    /// declares as encrypted, in its order.
    ///
    /// # Errors
    /// As [`Answer::new`]; [`TablesError::Constants`] unless there is a code for each constant;
    /// [`TablesError::Data`] for data of another schema, and a query of one with more columns.
    pub fn plain_with(
        query: &Query,
        schema: &Schema,
        data: &Data,
        constants: &[i128],
    ) -> Result<Self, TablesError> {
        query.check_constants(constants)?;
        let width = schema.fields().len();
        data.check(schema)?;
        let known = width + constants.len();
        if let Some(last) = query.columns().last().filter(|last| **last >= known) {
            let problem = format!("the query reads column {last}, from 0, and there are {width}");
            return Err(TablesError::Data { problem });
        }
        let mut sums = vec![vec![0; query.aggregates.len()]; query.group_codes(schema).len()];
        let mut listed = Vec::new();
        // What a server puts in order is here made of rows, too.
        let ordered: Vec<usize> = query.columns().into_iter().collect();
        let ordered = (query.listed.is_none() && query.orders_groups()).then_some(&ordered);
        let groups = query.group_codes(schema);
        for i in 0..data.rows() {
            let row = |place: usize| match place.checked_sub(width) {
                Some(constant) => constants[constant],
                None => data.column(place)[i],
            };
            if !query.filter.holds(&row) {
                continue;
            }
            if let Some(columns) = query.listed.as_ref().or(ordered) {
                listed.push(columns.iter().map(|place| row(*place)).collect());
                continue;
            }
            let codes: Vec<i128> = query.groups.iter().map(|place| row(*place)).collect();
            for (group, sums) in groups.iter().zip(&mut sums).filter(|(g, _)| **g == codes) {
                debug_assert_eq!(*group, codes);
                for (sum, aggregate) in sums.iter_mut().zip(&query.aggregates) {
                    if aggregate.when.holds(&row) {
                        *sum += aggregate.value.value(&row);
                    }
                }
            }
        }
        if let Some(columns) = ordered {
            let whole = query.rows(schema)?;
            let found = folded(query, &whole, columns, &listed);
            for (group, sums) in groups.iter().zip(&mut sums) {
                if let Some((_, of)) = found.iter().find(|(codes, _)| codes == group) {
                    sums.clone_from(of);
                }
            }
        }
        Self::new(query, schema, if query.listed.is_some() { &listed } else { &sums })
    }

    /// The answer as comma-separated values, with the names of the columns in the first line.
    ///
    /// # Errors
    /// Only those of memory.
    pub fn to_csv(&self) -> Result<String, TablesError> {
        let cell = |cell: &Cell| match cell {
            Cell::Null => String::new(),
            cell => cell.to_string(),
        };
        let rows = self.rows.iter().map(|row| row.iter().map(cell));
        csv_text(self.names.iter().map(|name| &name[..]), rows)
    }
}
