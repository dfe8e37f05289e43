//! The database of a service that several processes run.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use everlevel_wire::file::read_file;

use crate::error::ServiceError;

/// The most bytes of a connection string.
const TEXT_BYTES: u64 = 4096;
/// How long a process keeps a job that it does not tell about.
const LEASE: Duration = Duration::from_secs(30);

/// A PostgreSQL database that has the records and the queue of several processes, which share a
/// directory.
#[derive(Clone)]
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "nothing opens it"))]
pub struct Database {
    /// Often with a password.
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
    /// The one whose connection string is in a file, such as
    /// `host=/run/postgresql user=everlevel dbname=everlevel`. A service opens it when it starts.
    ///
    /// # Errors
    /// A file that cannot be read or is too long for a connection string.
    pub fn from_file(path: &Path) -> Result<Self, ServiceError> {
        let bytes = read_file(path, TEXT_BYTES)?;
        let connection = std::str::from_utf8(&bytes).unwrap_or_default().trim().to_string();
        Ok(Database { connection, lease: LEASE, unprotected: false })
    }

    /// With another time for which a job is left to a process that does not tell about it: 30
    /// seconds otherwise, and one at least.
    pub fn with_lease(self, lease: Duration) -> Self {
        Database { lease: lease.max(Duration::from_secs(1)), ..self }
    }

    /// On another machine without encryption: in a network where nobody else listens. Otherwise a
    /// database is reached by a socket of this machine or a loopback address.
    pub fn unprotected(self) -> Self {
        Database { unprotected: true, ..self }
    }
}
