//! Rows in the clear, from a source that may be larger than memory.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord};

use crate::data::Lines;
use crate::error::TablesError;
use crate::field::Field;

/// A source of rows of texts, one after the other, with named columns.
pub trait Records {
    /// The part of the source that names the columns, for error messages.
    fn head(&self) -> &'static str;

    /// Whether an empty text means an empty cell, as in CSV, which does not distinguish them.
    fn empty_is_none(&self) -> bool;

    /// The names of the columns.
    fn names(&self) -> Vec<String>;

    /// Called before the first row, with the indices of the columns that will be read, and with
    /// their types, if these are known.
    ///
    /// # Errors
    /// [`TablesError::Unsupported`] for a column whose values cannot be cells.
    fn choose(&mut self, columns: &[(usize, Option<&Field>)]) -> Result<(), TablesError> {
        let _ = columns;
        Ok(())
    }

    /// Moves to the next row; returns false after the last one, once the rest of the source was
    /// checked.
    ///
    /// # Errors
    /// [`TablesError::Data`] for a source that is not a table; those of the source.
    fn advance(&mut self) -> Result<bool, TablesError>;

    /// A cell of the row, by the index of its name; `None` if it is empty.
    fn cell(&self, place: usize) -> Option<&str>;

    /// The number of the line or row in the source, from 1.
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
    /// [`TablesError::Data`] for text that is not CSV.
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
