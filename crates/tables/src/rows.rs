//! The rows of a table, with the columns that they carry from other tables.

use std::io::Read;

use crate::consistent::Partners;
use crate::data::Data;
use crate::error::TablesError;
use crate::kind::Kind;
use crate::partner::{Joining, Partner};
use crate::records::{CsvRecords, Records};
use crate::schema::Schema;

/// The largest number of characters of a cell, or of an expression, that is shown.
pub(crate) const SHOWN: usize = 80;

/// The rows of a table, some at a time, with the columns that they carry from their partners.
pub struct Rows<'a, R> {
    records: R,
    schema: &'a Schema,
    joining: Joining<'a>,
    /// The index in a row of each column of the table itself.
    places: Vec<usize>,
    seen: Partners<'a>,
    rows: usize,
}

impl<'a, R: Records> Rows<'a, R> {
    /// The rows of a table with this schema, whose source lacks the columns that rows carry from
    /// these partners. Columns that the schema does not have are left out.
    ///
    /// # Errors
    /// [`TablesError::Data`] for a column that is missing or occurs twice.
    pub fn new(
        mut records: R,
        schema: &'a Schema,
        partners: &'a [Partner],
    ) -> Result<Self, TablesError> {
        let joining = Joining::new(schema, partners)?;
        let (names, mut places) = (records.names(), Vec::new());
        for field in joining.own().columns() {
            let mut found =
                names.iter().enumerate().filter(|(_, n)| n.eq_ignore_ascii_case(field.name()));
            match (found.next(), found.next()) {
                (Some((place, _)), None) => places.push(place),
                (first, _) => {
                    let count = if first.is_some() { "two columns" } else { "no column" };
                    let problem = format!(
                        "{} names {count} {:?}, which the schema has: it has {}; rename a column \
                         of the one or the other",
                        records.head(),
                        field.name(),
                        names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", "),
                    );
                    return Err(TablesError::Data { problem });
                }
            }
        }
        let first = &joining.own().fields()[0];
        let may_be_empty = first.null().is_some() || first.is_text() || first.code("").is_some();
        if records.empty_is_none() && names.len() == 1 && may_be_empty {
            let problem = "the only column may have empty cells, and an empty line is no row: add \
                           a second column";
            return Err(TablesError::Data { problem: problem.into() });
        }
        let fields = joining.own().columns().map(Some);
        let chosen: Vec<_> = places.iter().copied().zip(fields).collect();
        records.choose(&chosen)?;
        Ok(Rows { records, schema, joining, places, seen: Partners::new(schema), rows: 0 })
    }

    /// The next rows, at most `most`; `None` if there are no more.
    ///
    /// # Errors
    /// [`TablesError::Value`] for a cell that its column cannot hold, with its line;
    /// [`TablesError::Partner`] for a row that has no partner, or carries other values than another
    /// row with the same partner; those of the source.
    pub fn next(&mut self, most: usize) -> Result<Option<Data>, TablesError> {
        let own = self.joining.own();
        let mut columns = vec![Vec::new(); own.fields().len()];
        let (mut count, empty_is_none) = (0, self.records.empty_is_none());
        while count < most && self.records.advance()? {
            let mut rest = &mut columns[..];
            for (place, field) in self.places.iter().zip(own.columns()) {
                let cell = self.records.cell(*place);
                // Blanks belong to a text, also of a category, and to no other value.
                let whole = field.is_text() || matches!(field.kind(), Kind::Category { .. });
                let text = cell.map(|cell| if whole { cell } else { cell.trim() });
                let none = match text {
                    None => true,
                    Some(text) => empty_is_none && text.is_empty() && field.null().is_some(),
                };
                let parts;
                (parts, rest) = rest.split_at_mut(field.count());
                field.push(text.filter(|_| !none), parts).ok_or_else(|| TablesError::Value {
                    line: self.records.line(),
                    column: field.name().into(),
                    found: text.map_or("nothing".into(), |t| t.chars().take(SHOWN).collect()),
                    expected: field.expected(),
                })?;
            }
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        for place in 0..columns.len() {
            let index = own.index(place);
            let bits = index.iter().flat_map(|index| index.of_codes(&columns[place]));
            for (place, bits) in bits.collect::<Vec<_>>() {
                columns[place] = bits;
            }
        }
        let data = Data::of(self.joining.joined(columns, self.rows)?, self.schema)?;
        self.seen.check((self.rows, count), |place| data.column(place), true)?;
        self.rows += count;
        Ok(Some(data))
    }
}

impl Data {
    /// Reads comma-separated values as [`Data::from_csv`] does, and adds the columns that rows
    /// carry from these partners.
    ///
    /// # Errors
    /// [`TablesError::Partner`] for a row that has no partner; as [`Data::from_csv`].
    pub fn from_csv_with(
        source: impl Read,
        schema: &Schema,
        partners: &[Partner],
    ) -> Result<Self, TablesError> {
        Self::from_records(CsvRecords::new(source)?, schema, partners)
    }

    /// The same for rows from another source.
    ///
    /// # Errors
    /// As [`Data::from_csv_with`].
    pub fn from_records(
        records: impl Records,
        schema: &Schema,
        partners: &[Partner],
    ) -> Result<Self, TablesError> {
        let found = Rows::new(records, schema, partners)?.next(usize::MAX)?;
        found.map_or_else(|| Self::from_columns(Vec::new(), schema), Ok)
    }
}
