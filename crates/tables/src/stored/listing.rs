//! The encryption to which each file of a table belongs.

use std::path::Path;

use everlevel_wire::file::{Existing, write_file};
use serde::{Deserialize, Serialize};

use crate::error::TablesError;
use crate::stored::encrypt::Place;
use crate::stored::header::TableId;

/// The listing in the directory of a table that was changed.
pub(crate) const LISTING_FILE: &str = "files.json";
/// The largest listing that is read, in bytes.
pub(crate) const LISTING_BYTES: u64 = 16 << 20;

/// The files of a table, each with the encryption to which it belongs, and the number of rows.
///
/// A change writes only the files that differ; the listing distinguishes files from before and
/// after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    id: TableId,
    rows: usize,
    /// By blocks, then by columns.
    files: Vec<Vec<TableId>>,
    /// Whether all files belong to one encryption, so that their headers contain the same
    /// information.
    one: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    table: String,
    rows: usize,
    files: Vec<Vec<String>>,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, TablesError> {
    Err(TablesError::Table { problem: format!("{LISTING_FILE}: {}", problem.into()) })
}

impl Listing {
    /// The listing of a table that was encrypted at once.
    pub(crate) fn of_one(
        id: TableId,
        rows: usize,
        slots: usize,
        width: usize,
    ) -> Result<Self, TablesError> {
        let blocks = rows.div_ceil(slots);
        let most = LISTING_BYTES as usize / 35;
        if blocks.saturating_mul(width) > most {
            let problem = format!("{rows} rows are more than the {most} files that a table has");
            return Err(TablesError::Table { problem });
        }
        Ok(Listing { id, rows, files: vec![vec![id; width]; blocks], one: true })
    }

    /// The listing after a change: with the new encryption for the files in `written`, and
    /// unchanged for the others.
    pub(crate) fn changed(
        &self,
        (id, rows): (TableId, usize),
        slots: usize,
        width: usize,
        written: impl Fn(Place) -> bool,
    ) -> Result<Self, TablesError> {
        let mut out = Listing { one: false, ..Self::of_one(id, rows, slots, width)? };
        for (block, files) in out.files.iter_mut().enumerate() {
            for (column, file) in files.iter_mut().enumerate() {
                if !written((block, column)) {
                    *file = self.id_of((block, column));
                }
            }
        }
        Ok(out)
    }

    /// Checks the listing of a table with `slots` rows in each block and `width` columns.
    pub(crate) fn checked(self, slots: usize, width: usize) -> Result<Self, TablesError> {
        let (blocks, found) = (self.rows.div_ceil(slots), self.files.len());
        if self.rows == 0 || found != blocks {
            return wrong(format!("{} rows are {blocks} blocks, and it names {found}", self.rows));
        }
        match self.files.iter().find(|files| files.len() != width) {
            Some(files) => wrong(format!("{} columns, and the schema has {width}", files.len())),
            None => Ok(self),
        }
    }

    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, TablesError> {
        let stored: Stored = serde_json::from_slice(bytes).or_else(|e| wrong(e.to_string()))?;
        let id = |text: &String| text.parse::<TableId>();
        let files = |texts: &Vec<String>| texts.iter().map(id).collect::<Result<Vec<_>, _>>();
        Ok(Listing {
            id: id(&stored.table)?,
            rows: stored.rows,
            files: stored.files.iter().map(files).collect::<Result<_, _>>()?,
            one: false,
        })
    }

    /// Writes it into the directory of the table.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), TablesError> {
        let text = |id: &TableId| id.to_string();
        let files = |ids: &Vec<TableId>| ids.iter().map(text).collect();
        let stored = Stored {
            table: text(&self.id),
            rows: self.rows,
            files: self.files.iter().map(files).collect(),
        };
        let text = serde_json::to_string(&stored).or_else(|e| wrong(e.to_string()))? + "\n";
        Ok(write_file(&directory.join(LISTING_FILE), text.as_bytes(), Existing::Replace)?)
    }

    /// Whether files belong to several encryptions, which their headers alone do not show.
    pub(crate) fn is_of_changes(&self) -> bool {
        !self.one
    }

    pub(crate) fn id(&self) -> TableId {
        self.id
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The encryption to which a file belongs; that of the table for files that do not exist.
    pub(crate) fn id_of(&self, (block, column): Place) -> TableId {
        self.files.get(block).and_then(|files| files.get(column)).copied().unwrap_or(self.id)
    }
}
