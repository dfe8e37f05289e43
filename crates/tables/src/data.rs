//! A table of plaintext data.

use std::io::Read;

use crate::consistent::Partners;
use crate::error::TablesError;
use crate::schema::Schema;

/// The codes of all cells, column by column. `Debug` shows only how many there are.
#[derive(Clone, PartialEq, Eq)]
pub struct Data {
    columns: Vec<Vec<i128>>,
    rows: usize,
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Data({} rows, {} columns)", self.rows, self.columns.len())
    }
}

/// The state of the CSV reader within a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    /// In a cell without quotation marks around it.
    Bare,
    Quoted,
    /// After a quotation mark, which ends the cell unless another one follows.
    Closed,
}

/// The byte order mark with which a UTF-8 file may begin, and which the reader skips.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The source, with the position of the first empty line that is followed by others, which the CSV
/// reader would skip.
pub(crate) struct Lines<R> {
    source: R,
    line: u64,
    /// Nothing has been read of the line.
    empty: bool,
    at: At,
    /// The number of bytes of a byte order mark that were read.
    marked: usize,
    /// The line of a cell with text after its closing quotation mark, which the reader would lose.
    torn: Option<u64>,
    /// An empty line, which may be one at the end.
    last: Option<u64>,
    blank: Option<u64>,
    /// Lines end with CR and LF, and the reader of CSV counts one when it meets the next one.
    late: bool,
    /// How many CR were read last: ends of lines, unless LF follows them.
    returns: u64,
}

impl<R> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Lines {
            source,
            line: 1,
            empty: true,
            at: At::Start,
            marked: 0,
            torn: None,
            last: None,
            blank: None,
            late: false,
            returns: 0,
        }
    }

    /// After everything was read, refuses what the CSV reader ignores: an empty line, quotation
    /// marks in the middle of a cell, and quotation marks that are not closed, as in a truncated
    /// file.
    pub(crate) fn finish(&self) -> Result<(), TablesError> {
        let problem = match (self.blank, self.torn) {
            (Some(line), _) => {
                format!("line {line} is empty: rows keep their places, so fill it in")
            }
            (None, Some(line)) => format!(
                "line {line}: a cell goes on behind its quotation marks: write a quotation mark \
                 inside of a cell twice"
            ),
            (None, None) if self.at == At::Quoted => {
                "a quotation mark is not closed: the file was cut, or a quotation mark inside of a \
                 cell is not written twice"
                    .into()
            }
            (None, None) => return Ok(()),
        };
        Err(TablesError::Data { problem })
    }

    /// Whether lines are counted when the next one is met.
    pub(crate) fn is_late(&self) -> bool {
        self.late
    }

    /// The end of a line.
    fn end(&mut self) {
        if self.empty {
            self.last.get_or_insert(self.line);
        }
        self.line += 1;
        self.empty = true;
    }

    fn see(&mut self, byte: u8) {
        if MARK.get(self.marked) == Some(&byte) {
            self.marked += 1;
            return;
        }
        self.marked = MARK.len();
        let quoted = self.at == At::Quoted;
        if ![b'\n', b'\r'].contains(&byte) {
            (0..std::mem::take(&mut self.returns)).for_each(|_| self.end());
        }
        self.at = match (self.at, byte) {
            (At::Start | At::Closed, b'"') => At::Quoted,
            (At::Quoted, b'"') => At::Closed,
            (At::Quoted, _) => At::Quoted,
            (_, b',' | b'\n' | b'\r') => At::Start,
            (At::Closed, _) => {
                self.torn.get_or_insert(self.line);
                At::Bare
            }
            (At::Start | At::Bare, _) => At::Bare,
        };
        match byte {
            b'\n' => {
                self.empty &= !quoted;
                self.returns = 0;
                self.end();
            }
            b'\r' => {
                self.late = true;
                self.returns += u64::from(!quoted);
            }
            b' ' | b'\t' => {}
            _ => {
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
    /// Reads comma-separated values. The first line names the columns, in any order; columns that
    /// are not in the schema are left out. In a nullable column, an empty cell has no value.
    ///
    /// # Errors
    /// [`TablesError::Value`] for a cell that its column cannot hold, with its line;
    /// [`TablesError::Data`] for a missing column or text that is not CSV.
    pub fn from_csv(source: impl Read, schema: &Schema) -> Result<Self, TablesError> {
        Self::from_csv_with(source, schema, &[])
    }

    /// A table from codes, one column for each field of the schema; those of indexes may be left
    /// out, all of them.
    ///
    /// # Errors
    /// [`TablesError::Data`] for columns of different lengths, a wrong number of columns, codes
    /// outside of the bounds, or parts that do not make up a text; [`TablesError::Partner`] for
    /// rows with the same partner that carry different values.
    pub fn from_columns(columns: Vec<Vec<i128>>, schema: &Schema) -> Result<Self, TablesError> {
        let data = Self::of(completed(schema, columns), schema)?;
        Partners::new(schema).check((0, data.rows), |place| data.column(place), true)?;
        Ok(data)
    }

    /// The same, without a comparison of the rows with the same partner, which is done elsewhere.
    pub(crate) fn of(columns: Vec<Vec<i128>>, schema: &Schema) -> Result<Self, TablesError> {
        let rows = columns.first().map_or(0, Vec::len);
        let data = Data { columns, rows };
        data.check(schema)?;
        Ok(data)
    }

    /// Passes a table that a schema describes, of whichever it was made.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), TablesError> {
        let rows = self.rows;
        let fits = self.columns.len() == schema.fields().len()
            && self.columns.iter().zip(schema.fields()).all(|(column, field)| {
                let (low, high) = field.bounds();
                column.len() == rows && column.iter().all(|code| (low..=high).contains(code))
            });
        if !fits || rows == 0 {
            let problem = "expected at least one row, and in each row a code within the bounds for \
                           every column of the schema";
            return Err(TablesError::Data { problem: problem.into() });
        }
        check_indexes(schema, &self.columns)?;
        let texts = schema.heads(0..schema.fields().len());
        for place in texts.filter(|place| schema.fields()[*place].is_text()) {
            if let Some(row) = (0..rows).find(|row| self.cell(schema, place, *row).is_none()) {
                let problem =
                    format!("row {row}: {:?} holds no text", schema.fields()[place].name());
                return Err(TablesError::Data { problem });
            }
        }
        Ok(())
    }

    /// Checks the number of columns.
    pub(crate) fn check_width(&self, width: usize) -> Result<(), TablesError> {
        match self.columns.len() {
            found if found == width => Ok(()),
            found => Err(TablesError::Data {
                problem: format!("{found} columns, and the schema of the plan has {width}"),
            }),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The text of a cell of the column at this index; empty if the cell is empty. `None` if its
    /// parts do not make up a text, which does not occur in a table.
    fn cell(&self, schema: &Schema, place: usize, row: usize) -> Option<String> {
        let field = &schema.fields()[place];
        if Some(self.columns[place][row]) == field.null() {
            return schema
                .cell_places(place)
                .skip(1)
                .all(|part| self.columns[part][row] == 0)
                .then(String::new);
        }
        if !field.is_text() {
            return Some(field.text(self.columns[place][row]));
        }
        let parts = schema.cell_places(place).map(|part| self.columns[part][row]);
        field.cell(&parts.collect::<Vec<_>>())
    }

    /// The codes of a column.
    pub fn column(&self, place: usize) -> &[i128] {
        &self.columns[place]
    }

    /// The table as comma-separated values, with the names of the columns in the first line, as
    /// [`Data::from_csv`] reads them.
    ///
    /// # Errors
    /// Only those of memory.
    pub fn to_csv(&self, schema: &Schema) -> Result<String, TablesError> {
        let names = schema.columns().map(|field| field.name());
        let places: Vec<usize> = schema.heads(0..schema.fields().len()).collect();
        let cell = |place: usize, row: usize| self.cell(schema, place, row).unwrap_or_default();
        let cells = |row: usize| places.iter().map(move |place| cell(*place, row));
        csv_text(names, (0..self.rows).map(cells))
    }
}

/// Checks that the columns of each index hold the digits of its codes.
fn check_indexes(schema: &Schema, columns: &[Vec<i128>]) -> Result<(), TablesError> {
    for (place, field) in schema.fields().iter().enumerate() {
        let Some(index) = schema.index(place) else { continue };
        for (bits, expected) in index.of_codes(&columns[place]) {
            if columns[bits] != expected {
                let problem = format!("the index of {:?} is not that of its values", field.name());
                return Err(TablesError::Data { problem });
            }
        }
    }
    Ok(())
}

/// The columns of a table, with those of indexes if these were left out.
fn completed(schema: &Schema, columns: Vec<Vec<i128>>) -> Vec<Vec<i128>> {
    let values: Vec<usize> = schema.values().collect();
    if columns.len() != values.len() {
        return columns;
    }
    let mut all = Vec::with_capacity(schema.fields().len());
    for (place, codes) in values.into_iter().zip(columns) {
        let index = schema.index(place);
        let bits = index.iter().flat_map(|index| index.of_codes(&codes));
        let bits: Vec<_> = bits.map(|(_, bits)| bits).collect();
        all.push(codes);
        all.extend(bits);
    }
    all
}

/// Comma-separated values, with the names of the columns in the first line.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_cell() {
        let data = Data { columns: vec![vec![54321; 3]; 2], rows: 3 };
        assert_eq!(format!("{data:?}"), "Data(3 rows, 2 columns)");
    }
}
