//! The client of the service, with the feature `remote`: sends keys and ciphertexts, runs programs
//! and queries there as jobs, and fetches their encrypted results.
//!
//! * [`Client`]: a connection to a service with one token. Interrupted requests are repeated,
//!   transfers continue where they stopped, and a job that is started twice under one
//!   [`IdempotencyKey`] runs once.
//! * [`JobRequest`]: the computation; [`JobInfo`]: its progress and its results.
//! * [`Connecting`], [`Exposure`]: TLS and certificates. A token is not sent to another machine
//!   without TLS, unless this is requested explicitly.
//! * [`RemoteError`]: an error of the service or of this client, with its stable code.
//!
//! A program sends bytes ([`Server::to_bytes`](crate::Server::to_bytes),
//! [`Client::upload_columns`](crate::Client::upload_columns)) or files. It reads the results with
//! [`Client::read_columns`](crate::Client::read_columns), or as a list of ciphertexts
//! ([`files::Bytes`](crate::files::Bytes)). docs/service.md states what a service learns.
//!
//! # Example
//! ```no_run
#![doc = include_str!("../examples/19_remote.rs")]
//! ```

pub use everlevel_remote::api::{
    Estimate, JobInfo, JobRequest, JobState, ObjectInfo, TableInfo, UsageInfo,
};
pub use everlevel_remote::{
    Client, Connecting, Exposure, IdempotencyKey, JobId, ObjectId, RemoteError, Told,
};
