//! What a place for records and the queue of jobs has to do, whichever it is.

use std::time::Duration;

use everlevel_remote::{JobId, Tenant};

use crate::error::ServiceError;

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) stage: String,
    pub(crate) done: u64,
    pub(crate) total: u64,
}

/// A job that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueuedJob {
    pub(crate) job: JobId,
    /// Counts up with every claim: who has an older number has the job no more.
    pub(crate) fence: u64,
    /// How many times it was claimed and not given back.
    pub(crate) attempts: u32,
    /// Whether somebody computes it.
    pub(crate) computed: bool,
    /// Whether it is to end.
    pub(crate) cancelled: bool,
    /// What was told of it last, by processes that share the queue.
    pub(crate) progress: Progress,
}

/// The right to compute a job, until another one claims it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) tenant: Tenant,
    pub(crate) job: JobId,
    pub(crate) fence: u64,
    pub(crate) attempts: u32,
    pub(crate) cancelled: bool,
}

/// Jobs over all tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) waiting: u64,
    pub(crate) computed: u64,
}

/// What is done in a transaction.
pub(crate) type Work<'w> = &'w mut dyn FnMut(&mut dyn Transaction) -> Result<(), ServiceError>;

/// A place for records by kind, tenant and name, and for the queue of jobs.
pub(crate) trait Backend: Send + Sync {
    fn get(&self, kind: &str, tenant: &Tenant, name: &str)
    -> Result<Option<Vec<u8>>, ServiceError>;

    /// By name, in the order of their bytes.
    fn list(&self, kind: &str, tenant: &Tenant) -> Result<Vec<(String, Vec<u8>)>, ServiceError>;

    /// All that have a record.
    fn tenants(&self) -> Result<Vec<Tenant>, ServiceError>;

    fn queued(&self, tenant: &Tenant) -> Result<Vec<QueuedJob>, ServiceError>;

    /// Does all of `work`, or nothing if it returns an error. Of one tenant there is one at a time,
    /// in all processes, and what it did is stored when this returns.
    fn change(&self, tenant: &Tenant, work: Work<'_>) -> Result<(), ServiceError>;

    /// Claims the first job that nobody computes, of the tenant whose last turn is longest ago.
    fn claim(&self) -> Result<Option<Claim>, ServiceError>;

    fn counted(&self) -> Result<Counted, ServiceError>;

    /// None where claims last as long as the process, which is the only one.
    fn leases(&self) -> Option<&dyn Leases>;
}

/// A transaction of one tenant. Others are not seen in it.
pub(crate) trait Transaction {
    fn get(&mut self, kind: &str, name: &str) -> Result<Option<Vec<u8>>, ServiceError>;

    fn list(&mut self, kind: &str) -> Result<Vec<(String, Vec<u8>)>, ServiceError>;

    fn put(&mut self, kind: &str, name: &str, value: &[u8]) -> Result<(), ServiceError>;

    fn remove(&mut self, kind: &str, name: &str) -> Result<(), ServiceError>;

    fn queued(&mut self) -> Result<Vec<QueuedJob>, ServiceError>;

    /// Adds a job behind all others.
    fn enqueue(&mut self, job: &JobId) -> Result<(), ServiceError>;

    /// Removes a job that nobody has claimed since; false if somebody has, or if it is not there.
    fn dequeue(&mut self, job: &JobId, fence: u64) -> Result<bool, ServiceError>;

    /// Lets a job wait again that nobody else has claimed, as if it had not been claimed.
    fn give_back(&mut self, job: &JobId, fence: u64) -> Result<(), ServiceError>;

    /// Notes that a job is to end.
    fn cancel(&mut self, job: &JobId) -> Result<(), ServiceError>;
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "nothing is kept"))]
pub(crate) enum Kept {
    /// It goes on.
    Yes,
    /// The job is to end.
    Cancelled,
    /// Another process has the job, or it has ended.
    Lost,
}

/// What processes need that share a queue: claims that end by themselves.
pub(crate) trait Leases {
    /// How often a claim has to be kept, with room for some that fail.
    fn period(&self) -> Duration;

    /// Begins the time of a claim anew.
    fn keep(&self, claim: &Claim, progress: &Progress) -> Result<Kept, ServiceError>;

    /// Waits until something may have changed, at most for so long.
    fn wait(&self, most: Duration);
}
