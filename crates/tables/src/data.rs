//! A table in the clear: what its owner has, and what answers are compared with.

use std::io::Read;

use csv::ReaderBuilder;

use crate::consistent::Partners;
use crate::error::TablesError;
use crate::schema::Schema;

/// The codes of all cells, column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    columns: Vec<Vec<i128>>,
    rows: usize,
}

/// What is read, and the first empty line in it that others follow: the reader of CSV would leave
/// it out.
pub(crate) struct Lines<R> {
    source: R,
    line: u64,
    /// Nothing has been read of the line.
    empty: bool,
    quoted: bool,
    /// An empty line, which may be one at the end.
    last: Option<u64>,
    blank: Option<u64>,
    /// Lines end with CR and LF, and the reader of CSV counts one when it meets the next one.
    late: bool,
}

impl<R> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Lines { source, line: 1, empty: true, quoted: false, last: None, blank: None, late: false }
    }

    /// Refuses what the reader of CSV passes over, after all was read: an empty line, and quotes
    /// that do not end, as in a file that was cut.
    pub(crate) fn finish(&self) -> Result<(), TablesError> {
        let problem = match self.blank {
            Some(line) => format!("line {line} is empty: rows keep their places, so fill it in"),
            None if self.quoted => {
                "a quotation mark is not closed: the file was cut, or a quotation mark inside of a \
                 cell is not written twice"
                    .into()
            }
            None => return Ok(()),
        };
        Err(TablesError::Data { problem })
    }

    fn see(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                if self.empty && !self.quoted {
                    self.last.get_or_insert(self.line);
                }
                self.line += 1;
                self.empty = true;
            }
            b'\r' => self.late = true,
            b' ' | b'\t' => {}
            byte => {
                self.quoted ^= byte == b'"';
                self.empty = false;
                self.blank = self.blank.or(self.last);
            }
        }
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.source.read(bytes)?;
        bytes[..count].iter().for_each(|byte| self.see(*byte));
        Ok(count)
    }
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
        let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(Lines::new(source));
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
            let problem = "the only column may have empty cells, and an empty line is no row: add \
                           a second column";
            return Err(TablesError::Data { problem: problem.into() });
        }
        let mut columns = vec![Vec::new(); places.len()];
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(wrong)? {
            for ((place, field), column) in places.iter().zip(schema.fields()).zip(&mut columns) {
                let text = record.get(*place).unwrap_or_default();
                let (low, high) = field.values();
                let code = match field.null() {
                    Some(null) if text.is_empty() => Some(null),
                    _ => field.code(text).filter(|code| (low..=high).contains(code)),
                };
                column.push(code.ok_or_else(|| TablesError::Value {
                    line: record.position().map_or(0, csv::Position::line)
                        + u64::from(reader.get_ref().late),
                    column: field.name().into(),
                    found: text.into(),
                    expected: field.expected(),
                })?);
            }
        }
        reader.get_ref().finish()?;
        Self::from_columns(columns, schema)
    }

    /// A table of codes.
    ///
    /// # Errors
    /// [`TablesError::Data`] for columns of different lengths or another number of them, or for
    /// codes outside of the bounds; [`TablesError::Partner`] for rows of one partner that do not
    /// carry the same.
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
        Partners::new(schema).check((0, rows), |place| &columns[place][..], true)?;
        Ok(Data { columns, rows })
    }

    /// Passes a table of this many columns.
    pub(crate) fn check_width(&self, width: usize) -> Result<(), TablesError> {
        match self.columns.len() {
            found if found == width => Ok(()),
            found => Err(TablesError::Data {
                problem: format!("{found} columns, and the schema of the plan has {width}"),
            }),
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The codes of a column.
    pub fn column(&self, place: usize) -> &[i128] {
        &self.columns[place]
    }

    /// As comma-separated values, with the names of the columns first: what [`Data::from_csv`]
    /// reads.
    ///
    /// # Errors
    /// None but those of memory.
    pub fn to_csv(&self, schema: &Schema) -> Result<String, TablesError> {
        let names = schema.fields().iter().map(|field| field.name());
        let cells = |row: usize| {
            schema.fields().iter().zip(&self.columns).map(move |(field, column)| {
                match Some(column[row]) == field.null() {
                    true => String::new(),
                    false => field.text(column[row]),
                }
            })
        };
        csv_text(names, (0..self.rows).map(cells))
    }
}

/// Comma-separated values, with the names of the columns first.
pub(crate) fn csv_text<'a, R: IntoIterator<Item = String>>(
    names: impl IntoIterator<Item = &'a str>,
    rows: impl IntoIterator<Item = R>,
) -> Result<String, TablesError> {
    let wrong = |e: String| TablesError::Data { problem: e };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(names).map_err(|e| wrong(e.to_string()))?;
    for row in rows {
        writer.write_record(row).map_err(|e| wrong(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| wrong(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))
}
