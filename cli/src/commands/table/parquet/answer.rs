//! Answers as Parquet files, in the types that the Python package returns as Arrow.

use std::sync::Arc;

use everlevel_tables::{Answer, Cell, OutputType, TablesError, TimeUnit};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit as Unit, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::{unsupported, wrong};

/// The most digits of a decimal number that readers accept.
const DIGITS: u32 = 38;

/// What is there of a column.
enum Values {
    Truths(Vec<bool>),
    Days(Vec<i32>),
    Integers(Vec<i64>),
    Times(Vec<i64>, LogicalType),
    Decimals(Vec<FixedLenByteArray>, u32),
    Texts(Vec<ByteArray>),
}

struct Column<'a> {
    name: &'a str,
    values: Values,
    /// For each row 1, or 0 where nothing is there.
    levels: Vec<i16>,
}

/// The bytes of a file that holds an answer with columns of these types. Integers beyond 64 bits
/// make their column one of decimals.
///
/// # Errors
/// [`TablesError::Unsupported`] for numbers of more than 38 digits, and for two columns of one
/// name, which many readers refuse.
pub fn written(answer: &Answer, types: &[OutputType]) -> Result<Vec<u8>, TablesError> {
    let mut names = answer.names.iter().enumerate();
    if let Some((_, name)) = names.find(|(place, name)| answer.names[..*place].contains(name)) {
        let found = format!("a Parquet file with two columns called {name:?}");
        return Err(unsupported(found, "name the columns with as"));
    }
    let columns = types.iter().enumerate().map(|(place, kind)| Column::new(answer, place, *kind));
    let columns = columns.collect::<Result<Vec<_>, TablesError>>()?;
    file(&columns, answer.rows.is_empty()).map_err(|e| wrong(e.to_string()))
}

/// The number or code of a cell; none for another type of number.
fn number(cell: &Cell, scale: u32) -> Option<i128> {
    match cell {
        Cell::Text(_, code) => Some(*code),
        Cell::Number(units, places) if *places == scale => Some(*units),
        Cell::Number(..) | Cell::Null => None,
    }
}

impl<'a> Column<'a> {
    fn new(answer: &'a Answer, place: usize, kind: OutputType) -> Result<Self, TablesError> {
        let name = &answer.names[place][..];
        let cells = || answer.rows.iter().map(move |row| &row[place]);
        let held = || cells().filter(|cell| **cell != Cell::Null);
        let other = || wrong(format!("the answer has cells of another type in column {name:?}"));
        let numbers = |scale: u32| -> Result<Vec<i128>, TablesError> {
            held().map(|cell| number(cell, scale).ok_or_else(other)).collect()
        };
        let long = |of: Vec<i128>| -> Result<Vec<i64>, TablesError> {
            of.into_iter().map(|x| i64::try_from(x).map_err(|_| other())).collect()
        };
        let values = match kind {
            OutputType::Boolean => Values::Truths(numbers(0)?.iter().map(|x| *x == 1).collect()),
            OutputType::Date => {
                let days = numbers(0)?.into_iter().map(|x| i32::try_from(x).map_err(|_| other()));
                Values::Days(days.collect::<Result<_, _>>()?)
            }
            OutputType::Timestamp { unit, utc } => {
                // There is no unit of seconds.
                let (times, unit) = match unit {
                    TimeUnit::Second => (1000, Unit::MILLIS),
                    TimeUnit::Millisecond => (1, Unit::MILLIS),
                    TimeUnit::Microsecond => (1, Unit::MICROS),
                };
                let counts = numbers(0)?.into_iter().map(|x| x * times).collect();
                Values::Times(long(counts)?, LogicalType::timestamp(utc, unit))
            }
            OutputType::Integer => {
                let all = numbers(0)?;
                match all.iter().all(|x| i64::try_from(*x).is_ok()) {
                    true => Values::Integers(long(all)?),
                    false => decimals(name, &all, 0)?,
                }
            }
            OutputType::Decimal { scale } => decimals(name, &numbers(scale)?, scale)?,
            OutputType::Text => {
                let bytes = held().map(|cell| ByteArray::from(cell.to_string().into_bytes()));
                Values::Texts(bytes.collect())
            }
        };
        let levels = cells().map(|cell| i16::from(*cell != Cell::Null)).collect();
        Ok(Column { name, values, levels })
    }

    /// What the file says of it.
    fn described(&self) -> Result<TypePtr, ParquetError> {
        let (physical, logical) = match &self.values {
            Values::Truths(_) => (Physical::BOOLEAN, None),
            Values::Days(_) => (Physical::INT32, Some(LogicalType::Date)),
            Values::Integers(_) => (Physical::INT64, None),
            Values::Times(_, logical) => (Physical::INT64, Some(logical.clone())),
            Values::Decimals(_, scale) => {
                let logical = LogicalType::decimal(*scale as i32, DIGITS as i32);
                (Physical::FIXED_LEN_BYTE_ARRAY, Some(logical))
            }
            Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let made = Type::primitive_type_builder(self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        let made = match &self.values {
            Values::Decimals(_, scale) => {
                made.with_length(16).with_precision(DIGITS as i32).with_scale(*scale as i32)
            }
            _ => made,
        };
        Ok(Arc::new(made.build()?))
    }
}

/// Units of 10^-scale, most significant byte first.
fn decimals(name: &str, units: &[i128], scale: u32) -> Result<Values, TablesError> {
    let most = 10u128.pow(DIGITS);
    if scale > DIGITS || units.iter().any(|x| x.unsigned_abs() >= most) {
        let found = format!("a number of more than {DIGITS} digits in a Parquet file, {name:?},");
        return Err(unsupported(found, "write the answer as CSV or JSON"));
    }
    let bytes = units.iter().map(|x| FixedLenByteArray::from(x.to_be_bytes().to_vec()));
    Ok(Values::Decimals(bytes.collect(), scale))
}

fn file(columns: &[Column<'_>], empty: bool) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(Column::described).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes: Vec<u8> = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    if !empty {
        let mut group = writer.next_row_group()?;
        for column in columns {
            let levels = Some(&column.levels[..]);
            // There is a writer for each field.
            let Some(mut out) = group.next_column()? else { break };
            match &column.values {
                Values::Truths(all) => out.typed::<BoolType>().write_batch(all, levels, None)?,
                Values::Days(all) => out.typed::<Int32Type>().write_batch(all, levels, None)?,
                Values::Integers(all) | Values::Times(all, _) => {
                    out.typed::<Int64Type>().write_batch(all, levels, None)?
                }
                Values::Decimals(all, _) => {
                    out.typed::<FixedLenByteArrayType>().write_batch(all, levels, None)?
                }
                Values::Texts(all) => {
                    out.typed::<ByteArrayType>().write_batch(all, levels, None)?
                }
            };
            out.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(bytes)
}
