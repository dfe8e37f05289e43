//! What was asked for, as it is stored beside its job.

use serde::{Deserialize, Serialize};

use crate::api::JobRequest;
use crate::name::IdempotencyKey;
use crate::store::Record;

/// The request of a job.
#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) request: JobRequest,
    /// Its place in the order of all jobs.
    pub(crate) order: u64,
    /// The name that the client gave to the request.
    pub(crate) key: Option<IdempotencyKey>,
    /// What it counts against the quota.
    pub(crate) bytes: u64,
}

impl Record for Request {
    const KIND: &'static str = "request";
}
