//! The requirements on every store of records and of the queue of jobs.

use std::time::Duration;

use everlevel_remote::{JobId, Tenant};

use crate::error::ServiceError;

/// The progress of a job.
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
    /// A number that increases with every claim; the holder of an older number has lost the job.
    pub(crate) fence: u64,
    /// The number of times that it was claimed and not given back.
    pub(crate) attempts: u32,
    /// Whether a process computes it.
    pub(crate) computed: bool,
    /// Whether it is cancelled.
    pub(crate) cancelled: bool,
    /// The progress that was last reported, by processes that share the queue.
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

/// The numbers of jobs of all tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) waiting: u64,
    pub(crate) computed: u64,
}

/// The work of a transaction.
pub(crate) type Work<'w> = &'w mut dyn FnMut(&mut dyn Transaction) -> Result<(), ServiceError>;

/// The bytes of records after which a part of a list ends.
pub(crate) const LIST_BYTES: usize = 8 << 20;

/// Records by name, and whether there may be more behind them.
pub(crate) type Part = (Vec<(String, Vec<u8>)>, bool);

/// A store of records by kind, tenant and name, and of the queue of jobs.
pub(crate) trait Backend: Send + Sync {
    fn get(&self, kind: &str, tenant: &Tenant, name: &str)
    -> Result<Option<Vec<u8>>, ServiceError>;

    /// The records of a kind by name, in the order of the bytes of the names.
    fn list(&self, kind: &str, tenant: &Tenant) -> Result<Vec<(String, Vec<u8>)>, ServiceError>;

    /// The records of a kind after a name, in the same order: at most `most` of them, and none
    /// after those that have [`LIST_BYTES`] together.
    fn list_after(
        &self,
        kind: &str,
        tenant: &Tenant,
        after: &str,
        most: usize,
    ) -> Result<Part, ServiceError>;

    /// All tenants that have a record.
    fn tenants(&self) -> Result<Vec<Tenant>, ServiceError>;

    fn queued(&self, tenant: &Tenant) -> Result<Vec<QueuedJob>, ServiceError>;

    /// Does all of `work`, or nothing if it returns an error. There is one transaction of a tenant
    /// at a time, in all processes, and its effects are stored when this returns.
    fn change(&self, tenant: &Tenant, work: Work<'_>) -> Result<(), ServiceError>;

    /// Claims the first job that no process computes, of the tenant whose last turn is longest ago.
    fn claim(&self) -> Result<Option<Claim>, ServiceError>;

    fn counted(&self) -> Result<Counted, ServiceError>;

    /// `None` if claims last as long as the process, which is the only one.
    fn leases(&self) -> Option<&dyn Leases>;
}

/// A transaction of one tenant, which does not see others.
pub(crate) trait Transaction {
    fn get(&mut self, kind: &str, name: &str) -> Result<Option<Vec<u8>>, ServiceError>;

    fn list(&mut self, kind: &str) -> Result<Vec<(String, Vec<u8>)>, ServiceError>;

    /// As [`Backend::list_after`].
    fn list_after(&mut self, kind: &str, after: &str, most: usize) -> Result<Part, ServiceError>;

    fn put(&mut self, kind: &str, name: &str, value: &[u8]) -> Result<(), ServiceError>;

    fn remove(&mut self, kind: &str, name: &str) -> Result<(), ServiceError>;

    fn queued(&mut self) -> Result<Vec<QueuedJob>, ServiceError>;

    /// Adds a job after all others.
    fn enqueue(&mut self, job: &JobId) -> Result<(), ServiceError>;

    /// Removes a job unless it was claimed since; false if it was claimed or does not exist.
    fn dequeue(&mut self, job: &JobId, fence: u64) -> Result<bool, ServiceError>;

    /// Puts a job that no other process has claimed back into the queue, as if it had not been
    /// claimed.
    fn give_back(&mut self, job: &JobId, fence: u64) -> Result<(), ServiceError>;

    /// Notes that a job is cancelled.
    fn cancel(&mut self, job: &JobId) -> Result<(), ServiceError>;
}

/// The state of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "nothing is kept"))]
pub(crate) enum Kept {
    /// The claim continues.
    Yes,
    /// The job was cancelled.
    Cancelled,
    /// Another process has the job, or it has ended.
    Lost,
}

/// Claims that expire, for processes that share a queue.
pub(crate) trait Leases {
    /// The time between two renewals of a claim, short enough that some may fail.
    fn period(&self) -> Duration;

    /// Renews a claim.
    fn keep(&self, claim: &Claim, progress: &Progress) -> Result<Kept, ServiceError>;

    /// Waits until something may have changed, at most for this time.
    fn wait(&self, most: Duration);
}
