//! Rows in the clear, from a source that has more of them than memory.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord};

use crate::consistent::Partners;
use crate::data::{Data, Lines};
use crate::error::TablesError;
use crate::field::Field;
use crate::partner::{Joining, Partner};
use crate::schema::Schema;

/// The most letters of a cell that an error shows.
const SHOWN: usize = 80;

/// Rows of texts, one after the other, under the names of columns.
pub trait Records {
    /// What names the columns, for errors.
    fn head(&self) -> &'static str;

    /// Whether an empty text stands for an empty cell, as in CSV, which does not tell them apart.
    fn empty_is_none(&self) -> bool;

    /// The names of the columns.
    fn names(&self) -> Vec<String>;

    /// Is told which columns will be looked at, by their places, and what they are read as, if that
    /// is known; before the first row.
    ///
    /// # Errors
    /// [`TablesError::Unsupported`] for a column whose values are no cells.
    fn choose(&mut self, columns: &[(usize, Option<&Field>)]) -> Result<(), TablesError> {
        let _ = columns;
        Ok(())
    }

    /// Goes to the next row; false behind the last one, once all that follows it was looked at.
    ///
    /// # Errors
    /// [`TablesError::Data`] for what is no table, those of the source.
    fn advance(&mut self) -> Result<bool, TablesError>;

    /// A cell of the row, by the place of its name; none if it is empty.
    fn cell(&self, place: usize) -> Option<&str>;

    /// The line or row, from 1, that the row is in.
    fn line(&self) -> u64;
}

impl<R: Records + ?Sized> Records for Box<R> {
    fn head(&self) -> &'static str {
        (**self).head()
    }

    fn empty_is_none(&self) -> bool {
        (**self).empty_is_none()
    }

    fn names(&self) -> Vec<String> {
        (**self).names()
    }

    fn choose(&mut self, columns: &[(usize, Option<&Field>)]) -> Result<(), TablesError> {
        (**self).choose(columns)
    }

    fn advance(&mut self) -> Result<bool, TablesError> {
        (**self).advance()
    }

    fn cell(&self, place: usize) -> Option<&str> {
        (**self).cell(place)
    }

    fn line(&self) -> u64 {
        (**self).line()
    }
}

/// Comma-separated values, with the names of the columns in the first line.
pub struct CsvRecords<R: Read> {
    reader: csv::Reader<Lines<R>>,
    header: StringRecord,
    record: StringRecord,
}

fn wrong(e: csv::Error) -> TablesError {
    TablesError::Data { problem: e.to_string() }
}

impl<R: Read> CsvRecords<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// [`TablesError::Data`] for text that is no CSV.
    pub fn new(source: R) -> Result<Self, TablesError> {
        let trim = csv::Trim::Headers;
        let mut reader = ReaderBuilder::new().trim(trim).from_reader(Lines::new(source));
        let header = reader.headers().map_err(wrong)?.clone();
        Ok(CsvRecords { reader, header, record: StringRecord::new() })
    }
}

impl<R: Read> Records for CsvRecords<R> {
    fn head(&self) -> &'static str {
        "the first line"
    }

    fn empty_is_none(&self) -> bool {
        true
    }

    fn names(&self) -> Vec<String> {
        self.header.iter().map(Into::into).collect()
    }

    fn advance(&mut self) -> Result<bool, TablesError> {
        let found = self.reader.read_record(&mut self.record).map_err(wrong)?;
        if !found {
            self.reader.get_ref().finish()?;
        }
        Ok(found)
    }

    fn cell(&self, place: usize) -> Option<&str> {
        Some(self.record.get(place).unwrap_or_default())
    }

    fn line(&self) -> u64 {
        let line = self.record.position().map_or(0, csv::Position::line);
        line + u64::from(self.reader.get_ref().is_late())
    }
}

/// The rows of a table, a few at a time, with the columns that they carry of their partners.
pub struct Rows<'a, R> {
    records: R,
    schema: &'a Schema,
    joining: Joining<'a>,
    /// The place of each column of its own in a row.
    places: Vec<usize>,
    seen: Partners<'a>,
    rows: usize,
}

impl<'a, R: Records> Rows<'a, R> {
    /// Of a table of this schema, but for the columns that its rows carry of these partners.
    /// Columns that the schema does not have are left out.
    ///
    /// # Errors
    /// [`TablesError::Data`] for a missing column, and for one that is there twice.
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
                    let problem = format!("{} names {count} {:?}", records.head(), field.name());
                    return Err(TablesError::Data { problem });
                }
            }
        }
        let first = &schema.fields()[0];
        if records.empty_is_none()
            && names.len() == 1
            && (first.null().is_some() || first.is_text())
        {
            let problem = "the only column may have empty cells, and an empty line is no row: add \
                           a second column";
            return Err(TablesError::Data { problem: problem.into() });
        }
        let fields = joining.own().columns().map(Some);
        let chosen: Vec<_> = places.iter().copied().zip(fields).collect();
        records.choose(&chosen)?;
        Ok(Rows { records, schema, joining, places, seen: Partners::new(schema), rows: 0 })
    }

    /// The next rows, `most` at most; none if there are no more.
    ///
    /// # Errors
    /// [`TablesError::Value`] for a cell that its column cannot hold, with its line;
    /// [`TablesError::Partner`] for a row that has no partner, or does not carry what another one
    /// of the same partner does; those of the source.
    pub fn next(&mut self, most: usize) -> Result<Option<Data>, TablesError> {
        let own = self.joining.own();
        let mut columns = vec![Vec::new(); own.fields().len()];
        let (mut count, empty_is_none) = (0, self.records.empty_is_none());
        while count < most && self.records.advance()? {
            let mut rest = &mut columns[..];
            for (place, field) in self.places.iter().zip(own.columns()) {
                let cell = self.records.cell(*place);
                // Blanks belong to a text, and to no other value.
                let text = cell.map(|cell| if field.is_text() { cell } else { cell.trim() });
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
        let data = Data::of(self.joining.joined(columns, self.rows)?, self.schema)?;
        self.seen.check((self.rows, count), |place| data.column(place), true)?;
        self.rows += count;
        Ok(Some(data))
    }
}
