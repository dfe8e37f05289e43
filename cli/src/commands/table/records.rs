//! Rows in the clear, from files of the user.

use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

use everlevel::Error;
use everlevel_tables::{Answer, CsvRecords, OutputType, Records, TablesError};
use everlevel_wire::WireError;

use super::errors::of;
use crate::console::errors::CliError;
use crate::console::files::{is_standard, read_bytes};

/// The largest table in the clear, in bytes.
const MAX_TABLE_BYTES: u64 = 1 << 30;

/// Rows of a file that is read a bit at a time.
pub type AnyRecords = Box<dyn Records>;

/// Whether a file is read or written as Parquet: by its name, as a CSV file may hold anything.
pub fn is_parquet(path: &Path) -> bool {
    let known = |e: &std::ffi::OsStr| ["parquet", "pq"].iter().any(|k| e.eq_ignore_ascii_case(k));
    path.extension().is_some_and(known)
}

/// A table in the clear that is read from the beginning, as often as it takes.
pub enum Source<'a> {
    /// A file.
    File(&'a Path),
    /// Standard input, or a pipe, which can be read once.
    Bytes(zeroize::Zeroizing<Vec<u8>>),
}

impl<'a> Source<'a> {
    /// Of a file, or of what can be read once, of which a gigabyte is kept at most.
    pub fn of(path: &'a Path) -> Result<Self, CliError> {
        let once = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
        match is_standard(path) || once {
            true => {
                let bytes = read_bytes(path, MAX_TABLE_BYTES, "the table")?;
                Ok(Source::Bytes(bytes.into()))
            }
            false => Ok(Source::File(path)),
        }
    }

    /// Its rows, from the first one on.
    pub fn open(&self) -> Result<AnyRecords, TablesError> {
        match self {
            Source::Bytes(bytes) => {
                // Pieces of it are copied while they are read.
                Ok(Box::new(CsvRecords::new(Cursor::new(bytes.to_vec()))?))
            }
            Source::File(path) => open(path),
        }
    }
}

/// The rows of a file.
fn open(path: &Path) -> Result<AnyRecords, TablesError> {
    let failed = |e: std::io::Error| {
        let (path, problem) = (path.display().to_string(), e.to_string());
        TablesError::Roles(Error::from(WireError::Io { path, problem }))
    };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    if is_parquet(path) {
        return parquet(file);
    }
    Ok(Box::new(CsvRecords::new(BufReader::new(file))?))
}

#[cfg(feature = "parquet")]
fn parquet(file: File) -> Result<AnyRecords, TablesError> {
    Ok(Box::new(super::parquet::ParquetRecords::new(file)?))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: File) -> Result<AnyRecords, TablesError> {
    Err(without_parquet())
}

/// What a program that was built without Parquet says.
fn without_parquet() -> TablesError {
    let remedy = "write it as CSV, or use a program that was built with the feature parquet of \
                  everlevel-cli; the Python package has Parquet by PyArrow";
    let found = "a Parquet file in this build".into();
    TablesError::Unsupported { found, remedy: remedy.into() }
}

/// Refuses to write Parquet files, before any work, in a program that was built without them.
pub fn check_parquet() -> Result<(), TablesError> {
    if cfg!(feature = "parquet") { Ok(()) } else { Err(without_parquet()) }
}

/// An answer as a Parquet file.
#[cfg(feature = "parquet")]
pub fn parquet_answer(answer: &Answer, types: &[OutputType]) -> Result<Vec<u8>, TablesError> {
    super::parquet::answer::written(answer, types)
}

#[cfg(not(feature = "parquet"))]
pub fn parquet_answer(_: &Answer, _: &[OutputType]) -> Result<Vec<u8>, TablesError> {
    Err(without_parquet())
}

/// Rows that are read once, with the name of the file in what is refused.
pub fn opened(path: &Path) -> Result<AnyRecords, CliError> {
    let source = match is_standard(path) {
        true => Source::of(path)?,
        false => Source::File(path),
    };
    source.open().map_err(of(path))
}
