//! The persistent state of the service, in transactions: records by kind, tenant and name, and the
//! queue of jobs.

mod backend;
use everlevel_remote::{JobId, Tenant};

#[cfg(feature = "cluster")]
mod connection;
mod embedded;
#[cfg(test)]
mod laws;
#[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "no database"))]
mod paired;
#[cfg(feature = "cluster")]
mod postgres;
#[cfg(feature = "cluster")]
mod schema;

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::backend::{Backend, Part, Transaction};
pub(crate) use self::backend::{Claim, Counted, Kept, LIST_BYTES, Leases, Progress, QueuedJob};
use self::embedded::{Embedded, RESTORE};
pub(crate) use self::paired::Paired;
use self::paired::PairedFile;
use crate::database::Database;
use crate::error::ServiceError;

/// The file with the records of a process that uses its directory alone.
const EMBEDDED: &str = "state.redb";
/// The file that names the database with the records of a directory.
const PAIRED: &str = "database.id";

/// A type that is stored as records.
pub(crate) trait Record: Serialize + DeserializeOwned {
    /// The name of its kind.
    const KIND: &'static str;
}

pub(crate) struct Store {
    backend: Box<dyn Backend>,
}

/// A transaction of one tenant.
pub(crate) struct Change<'t> {
    within: &'t mut dyn Transaction,
}

fn parsed<R: Record>(bytes: &[u8]) -> Result<R, ServiceError> {
    serde_json::from_slice(bytes).map_err(|e| ServiceError::internal("its store")(&e))
}

fn all<R: Record>(found: Vec<(String, Vec<u8>)>) -> Result<Vec<(String, R)>, ServiceError> {
    found.into_iter().map(|(name, value)| Ok((name, parsed(&value)?))).collect()
}

/// Every record of a kind, of which only a part is in memory at a time.
fn each<R: Record>(
    mut part: impl FnMut(&str) -> Result<Part, ServiceError>,
    mut see: impl FnMut(R),
) -> Result<(), ServiceError> {
    let mut after = String::new();
    loop {
        let (found, more) = part(&after)?;
        for (name, value) in found {
            see(parsed(&value)?);
            after = name;
        }
        if !more {
            return Ok(());
        }
    }
}

fn refused(path: &Path, problem: impl ToString) -> ServiceError {
    ServiceError::State { path: path.display().to_string(), problem: problem.to_string() }
}

impl Store {
    /// Opens the records of a directory, or creates them if it is new: in the directory itself, or
    /// in a database, to which `place` belongs if the bytes are not in the directory. `has_bytes`
    /// states whether there are bytes, for which there must be records: without records, all bytes
    /// would be removed as remains.
    pub(crate) fn open(
        directory: &Path,
        database: Option<&Database>,
        place: Option<&dyn Paired>,
        has_bytes: bool,
    ) -> Result<Self, ServiceError> {
        let (records, paired) = (directory.join(EMBEDDED), PairedFile(directory.join(PAIRED)));
        if let Some(database) = database {
            if records.exists() {
                let problem = "expected a directory whose records are in a database, found one \
                               with records of its own: give another directory, or no database";
                return Err(refused(&records, problem));
            }
            if place.is_some() && paired.0.exists() {
                let problem = "the bytes of the database are in this directory: start without an \
                               object store, or with another directory";
                return Err(refused(&paired.0, problem));
            }
            return Self::shared(directory, database, place.unwrap_or(&paired), has_bytes);
        }
        if paired.0.exists() {
            let problem = "the records of this directory are in a database: start with \
                           that one";
            return Err(refused(&paired.0, problem));
        }
        let lost = !records.metadata().is_ok_and(|file| file.len() > 0);
        if lost && has_bytes {
            let problem = format!("the records of what is in objects are lost: {RESTORE}");
            return Err(refused(&records, problem));
        }
        Ok(Store { backend: Box::new(Embedded::open(&records)?) })
    }

    #[cfg(feature = "cluster")]
    fn shared(
        _: &Path,
        database: &Database,
        place: &dyn Paired,
        has_bytes: bool,
    ) -> Result<Self, ServiceError> {
        let postgres = postgres::Postgres::open(database, place, has_bytes)?;
        Ok(Store { backend: Box::new(postgres) })
    }

    #[cfg(not(feature = "cluster"))]
    fn shared(
        directory: &Path,
        _: &Database,
        _: &dyn Paired,
        _: bool,
    ) -> Result<Self, ServiceError> {
        let problem = "this program was built without the feature cluster, which a database needs: \
                       build it with that, or give no database";
        Err(refused(directory, problem))
    }

    pub(crate) fn get<R: Record>(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<R>, ServiceError> {
        self.backend.get(R::KIND, tenant, name)?.map(|value| parsed(&value)).transpose()
    }

    pub(crate) fn list<R: Record>(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<(String, R)>, ServiceError> {
        all(self.backend.list(R::KIND, tenant)?)
    }

    /// Records after a name, at most `most` and few enough for one answer, and whether there may
    /// be more.
    pub(crate) fn list_after<R: Record>(
        &self,
        tenant: &Tenant,
        after: &str,
        most: usize,
    ) -> Result<(Vec<(String, R)>, bool), ServiceError> {
        let (found, more) = self.backend.list_after(R::KIND, tenant, after, most)?;
        Ok((all(found)?, more))
    }

    /// Every record of a kind, of which only a part is in memory at a time.
    pub(crate) fn each<R: Record>(
        &self,
        tenant: &Tenant,
        see: impl FnMut(R),
    ) -> Result<(), ServiceError> {
        each(|after| self.backend.list_after(R::KIND, tenant, after, usize::MAX), see)
    }

    /// All tenants that have a record.
    pub(crate) fn tenants(&self) -> Result<Vec<Tenant>, ServiceError> {
        self.backend.tenants()
    }

    /// Jobs of a tenant that have not ended.
    pub(crate) fn queued(&self, tenant: &Tenant) -> Result<Vec<QueuedJob>, ServiceError> {
        self.backend.queued(tenant)
    }

    /// Does all of `work`, or nothing if it returns an error. There is one transaction of a tenant
    /// at a time, in all processes, and its effects are stored when this returns.
    pub(crate) fn change<T>(
        &self,
        tenant: &Tenant,
        work: impl FnOnce(&mut Change<'_>) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let (mut work, mut done) = (Some(work), None);
        self.backend.change(tenant, &mut |within| {
            if let Some(work) = work.take() {
                done = Some(work(&mut Change { within })?);
            }
            Ok(())
        })?;
        done.ok_or_else(|| ServiceError::internal("its store")(&"a transaction did nothing"))
    }

    /// Claims the next job.
    pub(crate) fn claim(&self) -> Result<Option<Claim>, ServiceError> {
        self.backend.claim()
    }

    /// The numbers of jobs of all tenants.
    pub(crate) fn counted(&self) -> Result<Counted, ServiceError> {
        self.backend.counted()
    }

    /// `None` if claims last as long as the process, which is the only one.
    pub(crate) fn leases(&self) -> Option<&dyn Leases> {
        self.backend.leases()
    }
}

impl Change<'_> {
    pub(crate) fn get<R: Record>(&mut self, name: &str) -> Result<Option<R>, ServiceError> {
        self.within.get(R::KIND, name)?.map(|value| parsed(&value)).transpose()
    }

    pub(crate) fn list<R: Record>(&mut self) -> Result<Vec<(String, R)>, ServiceError> {
        all(self.within.list(R::KIND)?)
    }

    /// As [`Store::each`].
    pub(crate) fn each<R: Record>(&mut self, see: impl FnMut(R)) -> Result<(), ServiceError> {
        each(|after| self.within.list_after(R::KIND, after, usize::MAX), see)
    }

    pub(crate) fn put<R: Record>(&mut self, name: &str, record: &R) -> Result<(), ServiceError> {
        let text =
            serde_json::to_vec(record).map_err(|e| ServiceError::internal("its store")(&e))?;
        self.within.put(R::KIND, name, &text)
    }

    pub(crate) fn remove<R: Record>(&mut self, name: &str) -> Result<(), ServiceError> {
        self.within.remove(R::KIND, name)
    }

    /// Jobs that have not ended.
    pub(crate) fn queued(&mut self) -> Result<Vec<QueuedJob>, ServiceError> {
        self.within.queued()
    }

    /// Adds a job after all others.
    pub(crate) fn enqueue(&mut self, job: &JobId) -> Result<(), ServiceError> {
        self.within.enqueue(job)
    }

    /// Removes a job unless it was claimed since; false if it was claimed or does not exist.
    pub(crate) fn dequeue(&mut self, job: &JobId, fence: u64) -> Result<bool, ServiceError> {
        self.within.dequeue(job, fence)
    }

    /// Puts a job that no other process has claimed back into the queue, as if it had not been
    /// claimed.
    pub(crate) fn give_back_job(&mut self, job: &JobId, fence: u64) -> Result<(), ServiceError> {
        self.within.give_back(job, fence)
    }

    /// Notes that a job is cancelled.
    pub(crate) fn cancel(&mut self, job: &JobId) -> Result<(), ServiceError> {
        self.within.cancel(job)
    }
}
