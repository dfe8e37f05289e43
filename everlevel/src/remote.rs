//! The client of a service, with the feature `remote`: sends keys and ciphertexts, runs programs
//! and questions there as jobs, and fetches their encrypted results.
//!
//! * [`Client`]: one token's way to a service. What breaks off is tried again and goes on, and a
//!   job that is started twice under one [`IdempotencyKey`] is one.
//! * [`JobRequest`]: what is to be computed; [`JobInfo`]: how far it is, and its results.
//! * [`Connecting`], [`Exposure`]: TLS and certificates. A token is not sent to another machine
//!   without TLS, unless that is asked for.
//! * [`RemoteError`]: with the stable code of what the service, or this client, refused.
//!
//! What goes there is bytes ([`Server::to_bytes`](crate::Server::to_bytes),
//! [`Client::upload_columns`](crate::Client::upload_columns)) or files; what comes back is read by
//! [`Client::read_columns`](crate::Client::read_columns), or as a list of ciphertexts
//! ([`files::Bytes`](crate::files::Bytes)). docs/service.md says what a service learns.
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
