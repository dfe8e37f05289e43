//! Rows in the clear, from a source that has more of them than memory.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord};

use crate::data::Lines;
use crate::error::TablesError;
use crate::field::Field;

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
