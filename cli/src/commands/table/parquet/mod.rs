//! Rows of Parquet files: columns that are no lists or groups, uncompressed or by snappy or gzip.
//!
//! Files are anybody's. Sizes of pages are checked before the reader allocates for them, and a
//! panic of the reader is an error.

pub mod answer;
mod pages;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use everlevel_tables::{Field, Kind, Records, TablesError, cells};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit as Unit, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

/// How many rows are decoded at a time.
const BATCH: usize = 1024;
/// The most bytes of texts of a column among them: a dictionary has a long one once, and rows all
/// repeat it.
const MOST_TEXT: usize = 256 << 20;

/// What a column holds.
#[derive(Clone, Copy)]
enum Content {
    /// Truth values, integers, texts: as they are.
    Plain,
    Unsigned,
    Decimal(u32),
    Date,
    /// Units of 10^-places seconds, and whether they are in UTC.
    Timestamp(u32, bool),
}

struct Column {
    name: String,
    /// Its place in the file; none: there are lists or groups in it.
    leaf: Option<usize>,
}

/// A column that is read.
struct Chosen {
    leaf: usize,
    content: Content,
    /// Whether a value may be missing.
    optional: bool,
    /// Whether the table has days in it.
    days: bool,
    reader: Option<ColumnReader>,
    cells: Vec<Option<String>>,
}

/// The rows of a file.
pub struct ParquetRecords {
    file: File,
    reader: SerializedFileReader<File>,
    columns: Vec<Column>,
    /// By the places of columns.
    chosen: Vec<Option<Chosen>>,
    /// The next group of rows, and how many rows are left of the last one.
    group: usize,
    left: usize,
    /// The row in what is decoded, and how many there are.
    at: usize,
    decoded: usize,
    rows: u64,
}

fn wrong(problem: impl Into<String>) -> TablesError {
    TablesError::Data { problem: format!("Parquet: {}", problem.into()) }
}

fn unsupported(found: String, remedy: &str) -> TablesError {
    TablesError::Unsupported { found, remedy: remedy.into() }
}

/// What the reader does, with a panic as an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, TablesError> {
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    let found = catch_unwind(AssertUnwindSafe(work));
    set_hook(hook);
    match found {
        Ok(found) => found.map_err(|e| wrong(e.to_string())),
        Err(_) => Err(wrong("it is damaged")),
    }
}

impl ParquetRecords {
    /// Reads what a file says of itself.
    ///
    /// # Errors
    /// [`TablesError::Data`] for what is no Parquet file.
    pub fn new(file: File) -> Result<Self, TablesError> {
        let again = file.try_clone().map_err(|e| wrong(e.to_string()))?;
        let reader = guarded(|| SerializedFileReader::new(again))?;
        let descriptor = reader.metadata().file_metadata().schema_descr_ptr();
        let mut columns: Vec<Column> = Vec::new();
        for (leaf, column) in descriptor.columns().iter().enumerate() {
            let name = column.path().parts().first().cloned().unwrap_or_default();
            let flat = column.path().parts().len() == 1 && column.max_rep_level() == 0;
            match columns.last_mut().filter(|last| last.name == name && !flat) {
                Some(last) => last.leaf = None,
                None => columns.push(Column { name, leaf: flat.then_some(leaf) }),
            }
        }
        let chosen = columns.iter().map(|_| None).collect();
        Ok(ParquetRecords {
            file,
            reader,
            columns,
            chosen,
            group: 0,
            left: 0,
            at: 0,
            decoded: 0,
            rows: 0,
        })
    }

    /// Begins the next group of rows; false if there is none.
    fn begin(&mut self) -> Result<bool, TablesError> {
        let metadata = self.reader.metadata();
        let Some(group) = metadata.row_groups().get(self.group) else { return Ok(false) };
        self.left = usize::try_from(group.num_rows()).map_err(|_| wrong("rows below none"))?;
        for chosen in self.chosen.iter_mut().flatten() {
            let chunk = group.columns().get(chosen.leaf);
            let chunk = chunk.ok_or_else(|| wrong("a group of rows lacks a column"))?;
            pages::check(&self.file, chunk)?;
            let (reader, number, leaf) = (&self.reader, self.group, chosen.leaf);
            chosen.reader =
                Some(guarded(|| reader.get_row_group(number)?.get_column_reader(leaf))?);
        }
        self.group += 1;
        Ok(true)
    }

    /// Decodes the next rows; false if there are none.
    fn decode(&mut self) -> Result<bool, TablesError> {
        while self.left == 0 {
            if !self.begin()? {
                return Ok(false);
            }
        }
        let most = BATCH.min(self.left);
        for chosen in self.chosen.iter_mut().flatten() {
            chosen.decode(most)?;
        }
        (self.at, self.decoded, self.left) = (0, most, self.left - most);
        Ok(true)
    }
}

impl Chosen {
    /// Decodes the next `count` cells, and no fewer.
    fn decode(&mut self, count: usize) -> Result<(), TablesError> {
        let Some(reader) = &mut self.reader else { return Err(wrong("no column")) };
        self.cells.clear();
        let mut levels: Vec<i16> = Vec::new();
        let optional = self.optional;
        macro_rules! texts {
            ($reader:expr, $text:expr) => {{
                let mut values = Vec::new();
                while levels.len() < count {
                    let (before, left) = (values.len(), count - levels.len());
                    let mut found: Vec<i16> = Vec::new();
                    let definitions = optional.then_some(&mut found);
                    let read =
                        guarded(|| $reader.read_records(left, definitions, None, &mut values))?;
                    if !optional {
                        found.resize(values.len() - before, 0);
                    }
                    if read.0 == 0 || found.is_empty() || found.len() > left {
                        return Err(wrong("a column has other rows than its group"));
                    }
                    levels.append(&mut found);
                }
                let mut values = values.iter();
                for level in &levels {
                    let cell = match optional && *level == 0 {
                        true => None,
                        false => {
                            let value = values.next().ok_or_else(|| wrong("a value is missing"))?;
                            Some($text(value)?)
                        }
                    };
                    self.cells.push(cell);
                }
            }};
        }
        let (content, days) = (self.content, self.days);
        let integer = |x: i128, bits: u32| -> Result<String, TablesError> {
            Ok(match content {
                Content::Plain => x.to_string(),
                Content::Unsigned => x.rem_euclid(1 << bits).to_string(),
                Content::Decimal(scale) => cells::decimal(x, scale),
                Content::Date => cells::date(x).ok_or_else(|| wrong("no day of the calendar"))?,
                Content::Timestamp(places, utc) => {
                    let text = cells::timestamp(x, places, utc);
                    let midnight = text.strip_suffix("T00:00:00").map(String::from);
                    midnight.filter(|_| days).unwrap_or(text)
                }
            })
        };
        let mut room = MOST_TEXT;
        let mut bytes = |x: &ByteArray| match content {
            Content::Decimal(scale) => Ok(cells::decimal(big_endian(x.data())?, scale)),
            _ => {
                let left = room.checked_sub(x.len());
                room = left.ok_or_else(|| wrong("texts of more than 256 MiB in 1024 rows"))?;
                String::from_utf8(x.data().to_vec()).map_err(|_| wrong("a text is no UTF-8"))
            }
        };
        match reader {
            ColumnReader::BoolColumnReader(r) => {
                texts!(r, |x: &bool| Ok::<_, TablesError>(x.to_string()));
            }
            ColumnReader::Int32ColumnReader(r) => texts!(r, |x: &i32| integer((*x).into(), 32)),
            ColumnReader::Int64ColumnReader(r) => texts!(r, |x: &i64| integer((*x).into(), 64)),
            ColumnReader::FloatColumnReader(r) => {
                texts!(r, |x: &f32| Ok::<_, TablesError>(exactly(x, x.abs() < 16_777_216.0)));
            }
            ColumnReader::DoubleColumnReader(r) => {
                let most = 9_007_199_254_740_992.0;
                texts!(r, |x: &f64| Ok::<_, TablesError>(exactly(x, x.abs() < most)));
            }
            ColumnReader::ByteArrayColumnReader(r) => texts!(r, bytes),
            ColumnReader::FixedLenByteArrayColumnReader(r) => {
                texts!(r, |x: &parquet::data_type::FixedLenByteArray| match content {
                    Content::Decimal(scale) => Ok(cells::decimal(big_endian(x.data())?, scale)),
                    _ => Err(wrong("bytes of a fixed number")),
                });
            }
            ColumnReader::Int96ColumnReader(_) => return Err(wrong("integers of 96 bits")),
        }
        Ok(())
    }
}

/// The shortest decimal number that is read as this one; past where all integers are told apart it
/// may have been rounded, and is no number of a table.
fn exactly(x: impl std::fmt::Display, small: bool) -> String {
    if small { x.to_string() } else { format!("{x}, which may have been rounded") }
}

fn big_endian(bytes: &[u8]) -> Result<i128, TablesError> {
    if bytes.is_empty() || bytes.len() > 16 {
        return Err(wrong("a decimal number of no or too many bytes"));
    }
    let negative = bytes[0] >= 128;
    let start = if negative { -1 } else { 0 };
    Ok(bytes.iter().fold(start, |x: i128, byte| (x << 8) | i128::from(*byte)))
}

/// What a column holds, by what the file says of it.
fn content(column: &ColumnDescriptor) -> Option<Content> {
    let scale = |scale: i32| u32::try_from(scale).ok().filter(|scale| *scale <= 38);
    let places = |unit: &Unit| match unit {
        Unit::MILLIS => 3,
        Unit::MICROS => 6,
        Unit::NANOS => 9,
    };
    let integer = matches!(column.physical_type(), Physical::INT32 | Physical::INT64);
    let bytes = matches!(column.physical_type(), Physical::BYTE_ARRAY);
    Some(match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Decimal(decimal)), _) => Content::Decimal(scale(decimal.scale)?),
        (None, ConvertedType::DECIMAL) => Content::Decimal(scale(column.type_scale())?),
        (Some(LogicalType::Timestamp(at)), _) if integer => {
            Content::Timestamp(places(&at.unit), at.is_adjusted_to_u_t_c)
        }
        (None, ConvertedType::TIMESTAMP_MILLIS) if integer => Content::Timestamp(3, true),
        (None, ConvertedType::TIMESTAMP_MICROS) if integer => Content::Timestamp(6, true),
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) if integer => Content::Date,
        (Some(LogicalType::Integer(x)), _) if integer && !x.is_signed => Content::Unsigned,
        (
            None,
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64,
        ) if integer => Content::Unsigned,
        (Some(LogicalType::Integer(_)), _) if integer => Content::Plain,
        (Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _) if bytes => {
            Content::Plain
        }
        (
            None,
            ConvertedType::NONE
            | ConvertedType::UTF8
            | ConvertedType::ENUM
            | ConvertedType::JSON
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64,
        ) if !matches!(
            column.physical_type(),
            Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY
        ) =>
        {
            Content::Plain
        }
        _ => return None,
    })
}

impl Records for ParquetRecords {
    fn head(&self) -> &'static str {
        "the file"
    }

    fn empty_is_none(&self) -> bool {
        false
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.trim().to_string()).collect()
    }

    fn choose(&mut self, columns: &[(usize, Option<&Field>)]) -> Result<(), TablesError> {
        let descriptor = self.reader.metadata().file_metadata().schema_descr_ptr();
        for (place, field) in columns {
            let Column { name, leaf } = &self.columns[*place];
            let refused = |what: &str| {
                unsupported(
                    format!("the Parquet column {name:?}, which holds {what}"),
                    "write truth values, integers, decimals, floating-point numbers, dates, \
                     timestamps or texts",
                )
            };
            let leaf = leaf.ok_or_else(|| refused("lists or groups"))?;
            let column = descriptor.column(leaf);
            let content = content(&column).ok_or_else(|| refused("values of another type"))?;
            self.chosen[*place] = Some(Chosen {
                leaf,
                content,
                optional: column.max_def_level() > 0,
                days: field.is_some_and(|f| matches!(f.kind(), Kind::Date { .. })),
                reader: None,
                cells: Vec::new(),
            });
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, TablesError> {
        self.at += 1;
        if self.at >= self.decoded && !self.decode()? {
            return Ok(false);
        }
        self.rows += 1;
        Ok(true)
    }

    fn cell(&self, place: usize) -> Option<&str> {
        self.chosen.get(place)?.as_ref()?.cells.get(self.at)?.as_deref()
    }

    fn line(&self) -> u64 {
        self.rows
    }
}
