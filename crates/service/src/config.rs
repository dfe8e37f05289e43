//! The configuration of a service by its operator.

use std::path::PathBuf;
use std::time::Duration;

use everlevel::OptIn;

use crate::bucket::Bucket;
use crate::database::Database;
use crate::tls::TlsFiles;

/// The limits of every tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of objects, announced uploads and requests that made tables and jobs.
    pub bytes: u64,
    /// Objects, announced uploads, tables and jobs.
    pub objects: u64,
    /// Server keys, which are objects, too: files of gigabytes that compete for memory.
    pub keys: u64,
    /// Jobs that wait or run.
    pub active_jobs: u64,
    /// Seconds that a job may take.
    pub job_seconds: u64,
}

impl Default for Quota {
    fn default() -> Self {
        Quota { bytes: 64 << 30, objects: 10_000, keys: 100, active_jobs: 16, job_seconds: 3600 }
    }
}

/// A CUDA device that computes jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number, the first one being 0.
    pub ordinal: u32,
    /// Bytes of its memory for copies of server keys, over all tenants; none for half of what is
    /// free when the service starts.
    pub key_memory: Option<u64>,
}

/// How a service runs.
#[derive(Clone, Debug)]
pub struct Config {
    /// The directory of all persistent state, except for what is in a database.
    pub directory: PathBuf,
    /// Where the records and the queue are, if several processes share the directory; none for
    /// records in the directory, which is then for one process. Takes the feature `cluster`.
    pub database: Option<Database>,
    /// Where the bytes of objects are, if several processes with a database share an object store
    /// instead of the directory, which then has copies and tokens of this process. Takes the
    /// feature `cluster`.
    pub bucket: Option<Bucket>,
    /// Which parameter sets are accepted.
    pub opt_in: OptIn,
    /// Bytes of memory for server keys, over all tenants.
    pub key_memory: u64,
    /// Whether server keys keep their uniform halves as seeds in memory
    /// ([`OpenOptions::seeded_keys`](everlevel::files::OpenOptions::seeded_keys)): twice as many
    /// fit into `key_memory`, and jobs take longer.
    pub seeded_keys: bool,
    /// The device that computes jobs, one at a time; none for the processor alone, which also
    /// computes what the device does not. Takes the feature `cuda`.
    pub device: Option<Device>,
    /// The number of jobs that run at the same time; 0 leaves them to other processes.
    pub workers: usize,
    /// The number of threads for a job.
    pub threads: usize,
    /// The largest number of open connections.
    pub connections: usize,
    /// Bytes of memory for requests that arrive, over all tenants.
    pub request_memory: u64,
    /// The time limit for the arrival and the answer of a request.
    pub request_time: Duration,
    /// The limits of every tenant.
    pub quota: Quota,
    /// What is needed for HTTPS; none for HTTP.
    pub tls: Option<TlsFiles>,
    /// The directory of the page, as `.ci/web` makes it; none for no page.
    pub page: Option<PathBuf>,
}

impl Config {
    /// The service in a directory, with one job at a time on all threads.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Config {
            directory: directory.into(),
            database: None,
            bucket: None,
            opt_in: OptIn::SecureOnly,
            key_memory: 4 << 30,
            seeded_keys: false,
            device: None,
            workers: 1,
            threads,
            connections: 256,
            request_memory: 256 << 20,
            request_time: Duration::from_secs(60),
            quota: Quota::default(),
            tls: None,
            page: None,
        }
    }
}
