//! The messages of clients and the service: JSON in both directions, bytes in parts.
//!
//! What a service answers may have more fields in a later version: these structures are made by
//! their functions and changed field by field.

use std::collections::BTreeMap;

use everlevel_wire::ObjectKind;
use serde::{Deserialize, Serialize};

use crate::distinct::distinct;
use crate::error::{RemoteError, Told};
use crate::name::{JobId, ObjectId};

/// The most bytes of a part of an upload or of a download.
pub const PART_BYTES: u64 = 4 << 20;
/// The most bytes of a request in JSON.
pub const JSON_BYTES: usize = 2 << 20;

/// Announces bytes that are to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewUpload {
    /// The BLAKE3 hash of the bytes, which will be the name of the object.
    pub id: ObjectId,
    /// The number of bytes.
    pub bytes: u64,
}

/// The progress of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadState {
    /// The name of the object that the bytes will be.
    pub id: ObjectId,
    /// The number of bytes.
    pub bytes: u64,
    /// The number of bytes that have arrived: where the next part begins.
    pub offset: u64,
    /// Whether all bytes have arrived and were verified, so that they are an object now.
    pub complete: bool,
}

/// The description of a stored object, from its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ObjectInfo {
    /// Its name.
    pub id: ObjectId,
    /// The kind of the object, as its format calls it.
    pub kind: String,
    /// The name of its parameter set.
    pub params: String,
    /// The id of the secret key that it belongs to.
    pub owner: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether a job of this service made it, so that the noise bounds that it states are true.
    pub computed: bool,
}

impl ObjectInfo {
    /// The description of an object that a client has sent, whose length is `bytes`.
    pub fn new(
        id: ObjectId,
        kind: ObjectKind,
        params: &str,
        owner: Option<String>,
        bytes: u64,
    ) -> Self {
        let (kind, params) = (kind.to_string(), params.to_string());
        ObjectInfo { id, kind, params, owner, bytes, computed: false }
    }
}

/// Makes a table of its files, which were sent as objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTable {
    /// `schema.json`, and `files.json` of a table that was changed.
    #[serde(deserialize_with = "distinct")]
    pub texts: BTreeMap<String, String>,
    /// `000000-0000.columns` and so on.
    #[serde(deserialize_with = "distinct")]
    pub blocks: BTreeMap<String, ObjectId>,
}

/// A stored table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableInfo {
    /// The name of the table at the service.
    pub id: ObjectId,
    /// The public name of the encryption.
    pub table: String,
    /// The name of its parameter set.
    pub params: String,
    /// The id of the secret key that it belongs to.
    pub owner: Option<String>,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The objects that it is made of.
    pub blocks: BTreeMap<String, ObjectId>,
}

impl TableInfo {
    /// The description of a table with `rows` rows and `columns` columns.
    pub fn new(
        id: ObjectId,
        table: String,
        params: &str,
        owner: Option<String>,
        (rows, columns): (usize, usize),
        blocks: BTreeMap<String, ObjectId>,
    ) -> Self {
        TableInfo { id, table, params: params.into(), owner, rows, columns, blocks }
    }
}

/// A request for a computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum JobRequest {
    /// A program on columns of typed integers, or on ciphertexts.
    Program {
        /// The server keys.
        server_keys: ObjectId,
        /// The text of the program.
        program: String,
        /// Its inputs, by the names that the program has for them: objects of one column or one
        /// array of ciphertexts each.
        #[serde(default, deserialize_with = "distinct")]
        inputs: BTreeMap<String, ObjectId>,
        /// Objects whose columns have names of their own.
        #[serde(default)]
        columns: Vec<ObjectId>,
        /// Public tables that the program looks up in.
        #[serde(default, deserialize_with = "distinct")]
        tables: BTreeMap<String, Vec<i64>>,
        /// Whether shorter arrays modulo p^r are filled up with 0.
        #[serde(default)]
        pad: bool,
    },
    /// A query on an encrypted table.
    Table {
        /// The server keys.
        server_keys: ObjectId,
        /// The table.
        table: ObjectId,
        /// The plan of the query.
        plan: serde_json::Value,
        /// The encrypted constants of the query, if it has some.
        #[serde(default)]
        constants: Option<ObjectId>,
    },
}

impl JobRequest {
    /// A program on objects whose columns have names of their own, those that it reads.
    pub fn program(server_keys: &ObjectId, text: &str, columns: &[&ObjectId]) -> Self {
        JobRequest::Program {
            server_keys: server_keys.clone(),
            program: text.into(),
            inputs: BTreeMap::new(),
            columns: columns.iter().map(|id| (*id).clone()).collect(),
            tables: BTreeMap::new(),
            pad: false,
        }
    }

    /// The server keys.
    pub fn server_keys(&self) -> &ObjectId {
        match self {
            JobRequest::Program { server_keys, .. } | JobRequest::Table { server_keys, .. } => {
                server_keys
            }
        }
    }

    /// The table, if it is a query.
    pub fn table(&self) -> Option<&ObjectId> {
        match self {
            JobRequest::Program { .. } => None,
            JobRequest::Table { table, .. } => Some(table),
        }
    }

    /// The objects that it is computed from, without those of its table.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectId> {
        let (inputs, columns, constants) = match self {
            JobRequest::Program { inputs, columns, .. } => (Some(inputs), Some(columns), None),
            JobRequest::Table { constants, .. } => (None, None, constants.as_ref()),
        };
        let inputs = inputs.into_iter().flat_map(BTreeMap::values);
        let parts = inputs.chain(columns.into_iter().flatten()).chain(constants);
        [self.server_keys()].into_iter().chain(parts)
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum JobState {
    /// It waits for its turn.
    Queued,
    /// It is running.
    Running,
    /// It has finished, and its results are available.
    Done,
    /// It was refused or failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl JobState {
    /// Whether nothing will change any more.
    pub fn is_final(self) -> bool {
        !matches!(self, JobState::Queued | JobState::Running)
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
        }
    }
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobInfo {
    /// Its name.
    pub id: JobId,
    /// Whether it waits, is running or has ended.
    pub state: JobState,
    /// What a running job does: `keys`, `inputs`, `computing`, `results`.
    pub stage: String,
    /// The number of statements or blocks of rows that are done.
    pub done: u64,
    /// The number of statements or blocks of rows of the whole job.
    pub total: u64,
    /// The number of times that it was started: twice if the service ended meanwhile.
    pub attempts: u32,
    /// The number of bootstrappings that it took.
    pub refreshes: u64,
    /// The seconds that it took.
    pub seconds: f64,
    /// The objects of the results, by name; the result of a query is called `result`.
    pub results: BTreeMap<String, ObjectId>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<Told>,
}

impl JobInfo {
    /// A job that waits for its turn.
    pub fn queued(id: JobId) -> Self {
        JobInfo {
            id,
            state: JobState::Queued,
            stage: "queued".into(),
            done: 0,
            total: 0,
            attempts: 0,
            refreshes: 0,
            seconds: 0.0,
            results: BTreeMap::new(),
            error: None,
        }
    }

    /// The object of a result.
    ///
    /// # Errors
    /// A name that no result of this job has.
    pub fn result(&self, name: &str) -> Result<&ObjectId, RemoteError> {
        self.results.get(name).ok_or_else(|| {
            let found: Vec<&String> = self.results.keys().collect();
            RemoteError::malformed("a job", format!("expected a result {name}, found {found:?}"))
        })
    }
}

/// The cost of a job, counted on the no-op scheme before the job is run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Seconds on a typical core, by a model that counts operations.
    pub seconds: f64,
    /// Products of ciphertexts.
    pub products: u64,
    /// Relinearizations and rotations.
    pub key_switches: u64,
    /// Bootstrappings.
    pub refreshes: u64,
    /// Bytes of memory that the server keys take, of the budget for those of all tenants.
    pub key_memory_bytes: u64,
    /// Bytes of the results, which count against the quota.
    pub result_bytes: u64,
}

impl Estimate {
    /// The cost of a job that has read its server keys and done nothing else yet.
    pub fn of_keys(key_memory_bytes: u64) -> Self {
        Estimate {
            seconds: 0.0,
            products: 0,
            key_switches: 0,
            refreshes: 0,
            key_memory_bytes,
            result_bytes: 0,
        }
    }
}

/// What a tenant uses, and what it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageInfo {
    /// Bytes of objects, of announced uploads and of requests that made tables and jobs.
    pub bytes: u64,
    /// The most bytes that it may use.
    pub most_bytes: u64,
    /// Objects, announced uploads, tables and jobs.
    pub objects: u64,
    /// The most objects that it may have.
    pub most_objects: u64,
    /// Jobs that wait or are computed.
    pub active_jobs: u64,
    /// The most jobs that may wait or be computed.
    pub most_active_jobs: u64,
}

impl UsageInfo {
    /// Pairs of what is in use and the most that may be: bytes, objects, jobs.
    pub fn new(bytes: (u64, u64), objects: (u64, u64), active_jobs: (u64, u64)) -> Self {
        UsageInfo {
            bytes: bytes.0,
            most_bytes: bytes.1,
            objects: objects.0,
            most_objects: objects.1,
            active_jobs: active_jobs.0,
            most_active_jobs: active_jobs.1,
        }
    }
}

/// A list, or a part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Page<T> {
    /// What it holds.
    pub items: Vec<T>,
    /// Of a part of a list of jobs, after which job the next part begins; none for the last part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<JobId>,
}

impl<T> Page<T> {
    /// A list that has no further parts.
    pub fn whole(items: Vec<T>) -> Self {
        Page { items, next: None }
    }
}

/// The body of a response that refuses something.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// What was wrong.
    pub error: Told,
}
