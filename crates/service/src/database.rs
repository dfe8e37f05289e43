//! The database of a service that consists of several processes.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use everlevel_wire::file::read_file;

use crate::error::ServiceError;

/// The largest length of a connection string in bytes.
const TEXT_BYTES: u64 = 4096;
/// The time after which a process that does not report on a job loses it.
const LEASE: Duration = Duration::from_secs(30);

/// A PostgreSQL database with the records and the queue of several processes.
#[derive(Clone)]
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "nothing opens it"))]
pub struct Database {
    /// The connection string, which often contains a password.
    pub(crate) connection: String,
    pub(crate) lease: Duration,
    pub(crate) unprotected: bool,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database(..)")
    }
}

impl Database {
    /// The database whose connection string is in a file, for example
    /// `host=/run/postgresql user=everlevel dbname=everlevel`. A service connects when it starts.
    ///
    /// # Errors
    /// A file that cannot be read or is too long for a connection string.
    pub fn from_file(path: &Path) -> Result<Self, ServiceError> {
        let bytes = read_file(path, TEXT_BYTES)?;
        let connection = std::str::from_utf8(&bytes).unwrap_or_default().trim().to_string();
        Ok(Database { connection, lease: LEASE, unprotected: false })
    }

    /// Sets the time after which a process that does not report on a job loses it: by default 30
    /// seconds, and at least one second.
    pub fn with_lease(self, lease: Duration) -> Self {
        Database { lease: lease.max(Duration::from_secs(1)), ..self }
    }

    /// Allows a database on another machine without encryption, for a network in which nobody else
    /// listens. By default a database must be reached by a socket of this machine or a loopback
    /// address.
    pub fn unprotected(self) -> Self {
        Database { unprotected: true, ..self }
    }
}
