//! The id that links stored bytes to the database with their records.

use std::path::PathBuf;

use everlevel_wire::file::{Existing, read_file, write_file};

use crate::error::ServiceError;

/// The largest id of a database, in bytes.
const PAIRED_BYTES: u64 = 64;

/// A storage for bytes that states the database with their records.
pub(crate) trait Paired {
    /// The name of the file or object that names the database, for messages.
    fn name(&self) -> String;

    /// The id of the database; `None` in a new storage.
    fn read(&self) -> Result<Option<Vec<u8>>, ServiceError>;

    /// Writes the id of the database to a new storage.
    fn write(&self, id: &[u8]) -> Result<(), ServiceError>;
}

/// A directory, by the file in it that names the database.
pub(super) struct PairedFile(pub(super) PathBuf);

impl Paired for PairedFile {
    fn name(&self) -> String {
        self.0.display().to_string()
    }

    fn read(&self) -> Result<Option<Vec<u8>>, ServiceError> {
        match self.0.exists() {
            true => Ok(Some(read_file(&self.0, PAIRED_BYTES)?.to_vec())),
            false => Ok(None),
        }
    }

    fn write(&self, id: &[u8]) -> Result<(), ServiceError> {
        Ok(write_file(&self.0, id, Existing::Keep)?)
    }
}
