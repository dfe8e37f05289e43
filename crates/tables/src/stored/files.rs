//! The files of an encrypted table: their names, their storage and their headers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel::files::PARAMS_FILE;
use everlevel_scheme::Params;
use everlevel_wire::file::read_file;
use everlevel_wire::{
    ObjectKind, ParamsId, ReadOptions, Summary, WireError, inspect, inspect_file,
};

use crate::error::TablesError;
use crate::stored::encrypt::Place;
use crate::stored::header::BlockHeader;
use crate::stored::listing::{LISTING_BYTES, LISTING_FILE, Listing};

/// The schema in the directory of a table.
pub(crate) const SCHEMA_FILE: &str = "schema.json";
/// The largest file, in bytes.
pub(crate) const FILE_BYTES: u64 = 8 << 30;

/// The storage of the files.
#[derive(Clone)]
pub(crate) enum Blocks {
    /// By blocks, then by columns.
    Memory(Vec<Arc<Vec<u8>>>),
    Directory(PathBuf),
}

/// The name of a file.
pub(crate) fn name_of((block, column): Place) -> String {
    format!("{block:06}-{column:04}.columns")
}

pub(crate) fn no_table(problem: impl Into<String>) -> TablesError {
    TablesError::Table { problem: problem.into() }
}

/// Refuses an object of another parameter set than that of the keys in use, and names both.
pub(crate) fn same_set(found: ParamsId, params: &Params) -> Result<(), TablesError> {
    let (expected, name) = (ParamsId::of(params), params.name().into());
    match found == expected {
        true => Ok(()),
        false => Err(WireError::OtherParams { found, expected, name }.into()),
    }
}

impl Blocks {
    /// The header of a file of a table with `width` columns.
    pub(crate) fn summary(&self, place: Place, width: usize) -> Result<Summary, TablesError> {
        Ok(match self {
            Blocks::Memory(all) => {
                let bytes = all.get(place.0 * width + place.1);
                let bytes = bytes.ok_or_else(|| no_table("it has no rows"))?;
                inspect(bytes.as_slice(), &ReadOptions::default().limited_to(FILE_BYTES))?
            }
            Blocks::Directory(path) => inspect_file(&path.join(name_of(place)))?,
        })
    }
}

/// The listing in a directory, if there is one.
pub(crate) fn read_listing(directory: &Path) -> Result<Option<Listing>, TablesError> {
    let path = directory.join(LISTING_FILE);
    match path.symlink_metadata().is_ok() {
        true => Ok(Some(Listing::from_json(&read_file(&path, LISTING_BYTES)?)?)),
        false => Ok(None),
    }
}

/// The statements in the header of a file.
pub(crate) fn header_of(
    summary: &Summary,
    (block, column): Place,
) -> Result<BlockHeader, TablesError> {
    let header = BlockHeader::of(&summary.metadata);
    header.filter(|_| summary.kind == ObjectKind::COLUMNS).ok_or_else(|| TablesError::Block {
        block,
        problem: format!("column {column}: the file is not part of an encrypted table"),
    })
}

/// Whether a directory holds an encrypted table and nothing else, so that another table may replace
/// it.
pub(crate) fn is_table(directory: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(directory) else { return false };
    let known = |name: &str| {
        // Columns that somebody has encrypted by themselves have names with letters.
        let place = |place: &str| place.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        [SCHEMA_FILE, PARAMS_FILE, LISTING_FILE].contains(&name)
            || name.strip_suffix(".columns").is_some_and(place)
    };
    entries.all(|entry| entry.is_ok_and(|entry| known(&entry.file_name().to_string_lossy())))
}
