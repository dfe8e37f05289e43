//! A table in the clear: what its owner has, and what answers are compared with.

use std::io::Read;

use csv::ReaderBuilder;

use crate::error::TablesError;
use crate::schema::Schema;

/// The codes of all cells, column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    columns: Vec<Vec<i128>>,
    rows: usize,
}

impl Data {
    /// Reads comma-separated values. The first line names the columns, which may stand in any
    /// order; others than those of the schema are left out. An empty cell is one without a value,
    /// for columns that may have them.
    ///
    /// # Errors
    /// [`TablesError::Value`] for a cell that its column cannot hold, with its line;
    /// [`TablesError::Data`] for a missing column or text that is no CSV.
    pub fn from_csv(source: impl Read, schema: &Schema) -> Result<Self, TablesError> {
        let wrong = |e: csv::Error| TablesError::Data { problem: e.to_string() };
        let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
        let header = reader.headers().map_err(wrong)?.clone();
        let mut places = Vec::new();
        for field in schema.fields() {
            let mut found =
                header.iter().enumerate().filter(|(_, h)| h.eq_ignore_ascii_case(field.name()));
            match (found.next(), found.next()) {
                (Some((place, _)), None) => places.push(place),
                (first, _) => {
                    let count = if first.is_some() { "two columns" } else { "no column" };
                    let problem = format!("the first line names {count} {:?}", field.name());
                    return Err(TablesError::Data { problem });
                }
            }
        }
        if header.len() == 1 && schema.fields()[0].null().is_some() {
            let problem = "the only column may have empty cells, and an empty line is no row: add a \
                           second column";
            return Err(TablesError::Data { problem: problem.into() });
        }
        let mut columns = vec![Vec::new(); places.len()];
        for record in reader.records() {
            let record = record.map_err(wrong)?;
            for ((place, field), column) in places.iter().zip(schema.fields()).zip(&mut columns) {
                let text = record.get(*place).unwrap_or_default();
                let (low, high) = field.values();
                let code = match field.null() {
                    Some(null) if text.is_empty() => Some(null),
                    _ => field.code(text).filter(|code| (low..=high).contains(code)),
                };
                column.push(code.ok_or_else(|| TablesError::Value {
                    line: record.position().map_or(0, csv::Position::line),
                    column: field.name().into(),
                    found: text.into(),
                    expected: field.expected(),
                })?);
            }
        }
        Self::from_columns(columns, schema)
    }

    /// A table of codes.
    ///
    /// # Errors
    /// [`TablesError::Data`] for columns of different lengths or another number of them, or for
    /// codes outside of the bounds.
    pub fn from_columns(columns: Vec<Vec<i128>>, schema: &Schema) -> Result<Self, TablesError> {
        let rows = columns.first().map_or(0, Vec::len);
        let fits = columns.len() == schema.fields().len()
            && columns.iter().zip(schema.fields()).all(|(column, field)| {
                let (low, high) = field.bounds();
                column.len() == rows && column.iter().all(|code| (low..=high).contains(code))
            });
        if !fits || rows == 0 {
            let problem = "expected a row at least, and in each a code within the bounds for every \
                           column of the schema";
            return Err(TablesError::Data { problem: problem.into() });
        }
        Ok(Data { columns, rows })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The codes of a column.
    pub fn column(&self, place: usize) -> &[i128] {
        &self.columns[place]
    }
}
