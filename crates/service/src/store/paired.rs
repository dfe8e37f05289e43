//! What says which database has the records of some bytes.

use std::path::PathBuf;

use everlevel_wire::file::{Existing, read_file, write_file};

use crate::error::ServiceError;

/// The most bytes of what names a database.
const PAIRED_BYTES: u64 = 64;

/// The place of bytes that belong to the records of a database, and name it.
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "no database"))]
pub(crate) trait Paired {
    /// What names the database, for messages.
    fn name(&self) -> String;

    /// The id of the database; none in a new place.
    fn read(&self) -> Result<Option<Vec<u8>>, ServiceError>;

    /// Writes the id of the database to a new place.
    fn write(&self, id: &[u8]) -> Result<(), ServiceError>;
}

/// A directory by the file in it.
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
