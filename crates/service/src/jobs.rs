//! The operations of tenants on jobs: add, inspect, cancel, delete.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use everlevel_remote::api::{JobInfo, JobRequest, JobState, Page};
use everlevel_remote::{IdempotencyKey, JobId, Tenant};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::config::Quota;
use crate::error::ServiceError;
use crate::request::Request;
use crate::stop::Stop;
use crate::store::{Claim, Counted, Progress, QueuedJob, Record, Store};

impl Record for JobInfo {
    const KIND: &'static str = "job";
}

/// A request that may be repeated.
#[derive(Serialize, Deserialize)]
struct Repeatable {
    job: JobId,
}

impl Record for Repeatable {
    const KIND: &'static str = "repeatable";
}

/// A job that this process computes.
pub(crate) struct Running {
    pub(crate) claim: Claim,
    pub(crate) stop: Arc<Stop>,
    pub(crate) progress: Progress,
}

#[derive(Default)]
pub(crate) struct Live {
    pub(crate) running: HashMap<JobId, Running>,
    /// The number of times that the queue may have changed.
    pub(crate) changes: u64,
    pub(crate) closing: bool,
    pub(crate) ended: Ended,
}

/// The numbers of jobs that have ended in this process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ended {
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    pub(crate) seconds: f64,
}

pub(crate) struct Jobs {
    pub(crate) store: Arc<Store>,
    pub(crate) quota: Quota,
    live: Mutex<Live>,
    pub(crate) wake: Condvar,
    changes: watch::Sender<()>,
}

pub(crate) fn missing() -> ServiceError {
    ServiceError::NotFound { what: "job" }
}

/// Checks that a request under a known key is the same as the earlier one.
fn check_same(stored: Option<Request>, request: &JobRequest) -> Result<(), ServiceError> {
    match stored.is_some_and(|stored| stored.request != *request) {
        true => Err(ServiceError::Conflict {
            problem: "this Idempotency-Key was used for another job: use a new one".into(),
        }),
        false => Ok(()),
    }
}

fn ids(queued: Vec<QueuedJob>) -> HashSet<JobId> {
    queued.into_iter().map(|place| place.job).collect()
}

/// The id of a job that has not ended, and is not in the queue.
fn unqueued(info: JobInfo, queued: &HashSet<JobId>) -> Option<JobId> {
    (!info.state.is_final() && !queued.contains(&info.id)).then_some(info.id)
}

impl Jobs {
    /// The jobs of a store. Jobs of an earlier version, which had no queue in its store, are
    /// queued.
    pub(crate) fn open(store: Arc<Store>, quota: Quota) -> Result<Self, ServiceError> {
        for tenant in store.tenants()? {
            let (mut unknown, known) = (Vec::new(), ids(store.queued(&tenant)?));
            store.each(&tenant, |info: JobInfo| unknown.extend(unqueued(info, &known)))?;
            if unknown.is_empty() {
                continue;
            }
            store.change(&tenant, |change| {
                let (mut unknown, known) = (Vec::new(), ids(change.queued()?));
                change.each(|info: JobInfo| unknown.extend(unqueued(info, &known)))?;
                unknown.iter().try_for_each(|job| change.enqueue(job))
            })?;
        }
        let (live, wake, changes) = (Mutex::default(), Condvar::new(), watch::Sender::new(()));
        Ok(Jobs { store, quota, live, wake, changes })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies all that wait for a job or for its end.
    pub(crate) fn changed(&self) {
        self.lock().changes += 1;
        self.wake.notify_all();
        self.changes.send_replace(());
    }

    /// The number of jobs of a tenant that wait or are running.
    pub(crate) fn active(&self, tenant: &Tenant) -> Result<u64, ServiceError> {
        Ok(self.store.queued(tenant)?.len() as u64)
    }

    /// The numbers of jobs that have ended in this process, and of all jobs that have not ended in
    /// any process.
    pub(crate) fn counts(&self) -> Result<(Ended, Counted), ServiceError> {
        let ended = self.lock().ended;
        Ok((ended, self.store.counted()?))
    }

    /// Notified whenever something changes.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Adds a job that was checked. With a key that was used before, returns the job for which it
    /// was used.
    pub(crate) fn add(
        &self,
        tenant: &Tenant,
        request: JobRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<JobInfo, ServiceError> {
        let text = serde_json::to_vec(&request).map_err(|e| ServiceError::malformed("a job", e))?;
        let request = Request { request, key, bytes: text.len() as u64 };
        let added = self.store.change(tenant, |change| {
            let queued = change.queued()?;
            let before = match &request.key {
                Some(key) => change.get::<Repeatable>(key.as_ref())?,
                None => None,
            };
            if let Some(Repeatable { job }) = before {
                check_same(change.get(job.as_ref())?, &request.request)?;
                let found: Option<JobInfo> = change.get(job.as_ref())?;
                return Ok(self.seen(found.ok_or_else(missing)?, &queued));
            }
            let (used, limit) = (queued.len() as u64, self.quota.active_jobs);
            if used >= limit {
                let what = "jobs that wait or are computed";
                return Err(ServiceError::Quota { what, used, limit });
            }
            let info = JobInfo::queued(JobId::random()?);
            // What it needs may have been deleted since it was checked; from here on it stays.
            change.check_there(&request.request)?;
            change.take(request.bytes, &self.quota)?;
            if let Some(key) = &request.key {
                change.put(key.as_ref(), &Repeatable { job: info.id.clone() })?;
            }
            change.put(info.id.as_ref(), &request)?;
            change.put(info.id.as_ref(), &info)?;
            change.enqueue(&info.id)?;
            Ok(info)
        })?;
        self.changed();
        Ok(added)
    }

    /// The job that was added with this key.
    pub(crate) fn repeated(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<JobInfo>, ServiceError> {
        let Some(key) = key else { return Ok(None) };
        let found: Option<Repeatable> = self.store.get(tenant, key.as_ref())?;
        let Some(Repeatable { job }) = found else { return Ok(None) };
        check_same(self.store.get(tenant, job.as_ref())?, request)?;
        match self.info(tenant, &job) {
            Err(ServiceError::NotFound { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// A stored job with the state that the queue or this process knows, if it has not ended.
    fn seen(&self, mut info: JobInfo, queued: &[QueuedJob]) -> JobInfo {
        let place = queued.iter().find(|place| place.job == info.id);
        let Some(place) = place.filter(|_| !info.state.is_final()) else { return info };
        info.attempts = place.attempts;
        if !place.computed {
            (info.state, info.stage) = (JobState::Queued, "queued".into());
            return info;
        }
        let live = self.lock();
        let here = live.running.get(&info.id).filter(|here| here.claim.fence == place.fence);
        let Progress { stage, done, total } = here.map_or(&place.progress, |here| &here.progress);
        (info.state, info.stage) = (JobState::Running, stage.clone());
        (info.done, info.total) = (*done, *total);
        info
    }

    pub(crate) fn info(&self, tenant: &Tenant, id: &JobId) -> Result<JobInfo, ServiceError> {
        // In this order: what has left the queue meanwhile has been stored.
        let queued = self.store.queued(tenant)?;
        let found: Option<JobInfo> = self.store.get(tenant, id.as_ref())?;
        Ok(self.seen(found.ok_or_else(missing)?, &queued))
    }

    /// The jobs after one, in the order of their ids: at most `most`, and few enough for one
    /// answer.
    pub(crate) fn list(
        &self,
        tenant: &Tenant,
        after: Option<&JobId>,
        most: usize,
    ) -> Result<Page<JobInfo>, ServiceError> {
        let queued = self.store.queued(tenant)?;
        let after = after.map_or("", |id| id.as_ref());
        let (stored, more) = self.store.list_after::<JobInfo>(tenant, after, most)?;
        let stored = stored.into_iter().map(|(_, info)| self.seen(info, &queued));
        let items: Vec<JobInfo> = stored.collect();
        let next = items.last().filter(|_| more).map(|info| info.id.clone());
        Ok(Page { items, next })
    }

    /// Cancels a job that waits or is running.
    pub(crate) fn cancel(&self, tenant: &Tenant, id: &JobId) -> Result<JobInfo, ServiceError> {
        let (info, ended) = self.store.change(tenant, |change| {
            let found: Option<JobInfo> = change.get(id.as_ref())?;
            let mut info = found.ok_or_else(missing)?;
            if info.state.is_final() {
                return Ok((info, false));
            }
            let queued = change.queued()?;
            let waits = queued.iter().find(|place| place.job == *id && !place.computed);
            let left = match waits {
                Some(place) => change.dequeue(id, place.fence)?,
                None => false,
            };
            if left {
                info.state = JobState::Cancelled;
                info.error = Some(ServiceError::Cancelled.told());
                change.put(id.as_ref(), &info)?;
                return Ok((info, true));
            }
            change.cancel(id)?;
            Ok((self.seen(info, &queued), false))
        })?;
        let mut live = self.lock();
        live.ended.cancelled += u64::from(ended);
        if let Some(running) = live.running.get(id).filter(|here| here.claim.tenant == *tenant) {
            running.stop.cancel();
        }
        drop(live);
        self.changed();
        Ok(info)
    }

    /// Removes the record of a job that has ended. Its results stay.
    pub(crate) fn delete(&self, tenant: &Tenant, id: &JobId) -> Result<(), ServiceError> {
        self.store.change(tenant, |change| {
            let found: Option<JobInfo> = change.get(id.as_ref())?;
            if !found.ok_or_else(missing)?.state.is_final() {
                let problem = "the job has not ended: cancel it first".into();
                return Err(ServiceError::Conflict { problem });
            }
            if let Some(request) = change.get::<Request>(id.as_ref())? {
                if let Some(key) = request.key {
                    change.remove::<Repeatable>(key.as_ref())?;
                }
                change.give_back(request.bytes)?;
            }
            change.remove::<Request>(id.as_ref())?;
            change.remove::<JobInfo>(id.as_ref())
        })
    }

    /// Notes the current stage of a running job.
    pub(crate) fn progress(&self, id: &JobId, stage: &str, done: u64, total: u64) {
        if let Some(running) = self.lock().running.get_mut(id) {
            let progress = &mut running.progress;
            (progress.done, progress.total) = (done, total);
            if progress.stage != stage {
                progress.stage = stage.into();
            }
        }
        self.changes.send_replace(());
    }

    /// Ends the work: jobs that are running wait until the service starts again.
    pub(crate) fn close(&self) {
        let mut live = self.lock();
        live.closing = true;
        live.running.values().for_each(|running| running.stop.close());
        drop(live);
        self.wake.notify_all();
    }
}
