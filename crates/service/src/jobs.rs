//! The queue of jobs: which are there, which waits, which is next, and what becomes of them.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::api::{JobInfo, JobRequest, JobState};
use crate::config::Quota;
use crate::error::ServiceError;
use crate::evaluate::Outcome;
use crate::keys::Stop;
use crate::name::{IdempotencyKey, JobId, Tenant};
use crate::request::Request;
use crate::store::{Record, Store};

/// How many times a job is started: once, and once again if the service ended meanwhile.
const ATTEMPTS: u32 = 2;

impl Record for JobInfo {
    const KIND: &'static str = "job";
}

/// A request that may come again.
#[derive(Serialize, Deserialize)]
struct Repeatable {
    job: JobId,
}

impl Record for Repeatable {
    const KIND: &'static str = "repeatable";
}

/// A job that is computed.
struct Running {
    tenant: Tenant,
    stop: Arc<Stop>,
    info: JobInfo,
}

#[derive(Default)]
struct Live {
    /// By order.
    queue: Vec<(u64, Tenant, JobId)>,
    running: HashMap<JobId, Running>,
    /// When a tenant had its last turn.
    turns: HashMap<Tenant, u64>,
    turn: u64,
    order: u64,
    closing: bool,
    counts: Counts,
}

/// Jobs since the service started.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    pub(crate) seconds: f64,
    pub(crate) queued: u64,
    pub(crate) running: u64,
}

pub(crate) struct Jobs {
    store: Arc<Store>,
    quota: Quota,
    live: Mutex<Live>,
    wake: Condvar,
    changes: watch::Sender<()>,
}

/// A job whose turn it is.
pub(crate) struct Turn {
    pub(crate) tenant: Tenant,
    pub(crate) id: JobId,
    pub(crate) request: JobRequest,
    pub(crate) stop: Arc<Stop>,
    started: Instant,
}

impl Jobs {
    /// The jobs of a store. Those that were computed when the process ended wait for another turn.
    pub(crate) fn open(store: Arc<Store>, quota: Quota) -> Result<Self, ServiceError> {
        let mut live = Live::default();
        store.change(|change| {
            for (tenant, name, mut info) in change.list::<JobInfo>(None)? {
                let request: Option<Request> = change.get(&tenant, &name)?;
                let order = request.map_or(0, |request| request.order);
                live.order = live.order.max(order + 1);
                if info.state == JobState::Running {
                    if info.attempts < ATTEMPTS {
                        info.state = JobState::Queued;
                        tracing::warn!(job = %info.id, "runs again: the service had ended");
                    } else {
                        info.state = JobState::Failed;
                        info.error = Some(ServiceError::Interrupted.told());
                    }
                    change.put(&tenant, &name, &info)?;
                }
                if info.state == JobState::Queued {
                    live.queue.push((order, tenant, info.id));
                }
            }
            Ok(())
        })?;
        live.queue.sort_by_key(|(order, ..)| *order);
        let (live, wake, changes) = (Mutex::new(live), Condvar::new(), watch::Sender::new(()));
        Ok(Jobs { store, quota, live, wake, changes })
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Jobs of a tenant that wait or are computed.
    pub(crate) fn active(&self, tenant: &Tenant) -> u64 {
        let live = self.lock();
        let queued = live.queue.iter().filter(|(_, of, _)| of == tenant).count();
        (queued + live.running.values().filter(|running| running.tenant == *tenant).count()) as u64
    }

    pub(crate) fn counts(&self) -> Counts {
        let live = self.lock();
        let (queued, running) = (live.queue.len() as u64, live.running.len() as u64);
        Counts { queued, running, ..live.counts }
    }

    /// Told whenever something changes.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Adds a job that was checked. With a key that was used before, the job that it was used for
    /// is answered.
    pub(crate) fn add(
        &self,
        tenant: &Tenant,
        request: JobRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<JobInfo, ServiceError> {
        // Locked throughout, so that two of one key are not both added.
        let mut live = self.lock();
        if let Some(found) = self.repeated(tenant, &request, key.as_ref())? {
            return Ok(found);
        }
        let of = |other: &Tenant| other == tenant;
        let queued = live.queue.iter().filter(|(_, other, _)| of(other)).count();
        let running = live.running.values().filter(|running| of(&running.tenant)).count();
        let (used, limit) = ((queued + running) as u64, self.quota.active_jobs);
        if used >= limit {
            let what = "jobs that wait or are computed";
            return Err(ServiceError::Quota { what, used, limit });
        }
        let info = JobInfo {
            id: JobId::random()?,
            state: JobState::Queued,
            stage: "queued".into(),
            done: 0,
            total: 0,
            attempts: 0,
            refreshes: 0,
            seconds: 0.0,
            results: Default::default(),
            error: None,
        };
        let text = serde_json::to_vec(&request).map_err(|e| ServiceError::malformed("a job", e))?;
        let (order, bytes) = (live.order, text.len() as u64);
        let request = Request { request, order, key, bytes };
        self.store.change(|change| {
            // What it needs may have been deleted since it was checked; from here on it stays.
            change.check_there(tenant, &request.request)?;
            change.take(tenant, bytes, &self.quota)?;
            if let Some(key) = &request.key {
                change.put(tenant, key.as_ref(), &Repeatable { job: info.id.clone() })?;
            }
            change.put(tenant, info.id.as_ref(), &request)?;
            change.put(tenant, info.id.as_ref(), &info)
        })?;
        live.order += 1;
        live.queue.push((order, tenant.clone(), info.id.clone()));
        drop(live);
        self.wake.notify_one();
        Ok(info)
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
        let stored: Option<Request> = self.store.get(tenant, job.as_ref())?;
        if stored.is_some_and(|stored| stored.request != *request) {
            let problem = "this Idempotency-Key was used for another job: take a new one".into();
            return Err(ServiceError::Conflict { problem });
        }
        self.store.get(tenant, job.as_ref())
    }

    pub(crate) fn info(&self, tenant: &Tenant, id: &JobId) -> Result<JobInfo, ServiceError> {
        let live = self.lock();
        match live.running.get(id).filter(|running| running.tenant == *tenant) {
            Some(running) => Ok(running.info.clone()),
            None => self.stored(tenant, id),
        }
    }

    fn stored(&self, tenant: &Tenant, id: &JobId) -> Result<JobInfo, ServiceError> {
        let found = self.store.get(tenant, id.as_ref())?;
        found.ok_or(ServiceError::NotFound { what: "job" })
    }

    pub(crate) fn list(&self, tenant: &Tenant) -> Result<Vec<JobInfo>, ServiceError> {
        let live = self.lock();
        let stored = self.store.list::<JobInfo>(Some(tenant))?;
        let shown = stored.into_iter().map(|(_, _, info)| match live.running.get(&info.id) {
            Some(running) => running.info.clone(),
            None => info,
        });
        Ok(shown.collect())
    }

    /// Cancels a job that waits or is computed.
    pub(crate) fn cancel(&self, tenant: &Tenant, id: &JobId) -> Result<JobInfo, ServiceError> {
        let mut live = self.lock();
        if let Some(running) = live.running.get(id).filter(|running| running.tenant == *tenant) {
            running.stop.cancel();
            return Ok(running.info.clone());
        }
        let mut info = self.stored(tenant, id)?;
        if info.state == JobState::Queued {
            info.state = JobState::Cancelled;
            info.error = Some(ServiceError::Cancelled.told());
            self.store.change(|change| change.put(tenant, id.as_ref(), &info))?;
            live.queue.retain(|(_, _, other)| other != id);
            live.counts.cancelled += 1;
            self.changes.send_replace(());
        }
        Ok(info)
    }

    /// Removes what is stored of a job that has ended. Its results stay.
    pub(crate) fn delete(&self, tenant: &Tenant, id: &JobId) -> Result<(), ServiceError> {
        let _live = self.lock();
        if !self.stored(tenant, id)?.state.is_final() {
            let problem = "the job has not ended: cancel it first".into();
            return Err(ServiceError::Conflict { problem });
        }
        self.store.change(|change| {
            if let Some(request) = change.get::<Request>(tenant, id.as_ref())? {
                if let Some(key) = request.key {
                    change.remove::<Repeatable>(tenant, key.as_ref())?;
                }
                change.give_back(tenant, request.bytes)?;
            }
            change.remove::<Request>(tenant, id.as_ref())?;
            change.remove::<JobInfo>(tenant, id.as_ref())
        })
    }

    /// The next job, once there is one: of the tenant whose last turn is longest ago. None when the
    /// service ends.
    pub(crate) fn next(&self) -> Option<Turn> {
        let mut live = self.lock();
        loop {
            if live.closing {
                return None;
            }
            let turn_of = |tenant: &Tenant| live.turns.get(tenant).copied().unwrap_or(0);
            let waiting = live.queue.iter().enumerate();
            let next = waiting.min_by_key(|(_, (order, tenant, _))| (turn_of(tenant), *order));
            if let Some(at) = next.map(|(at, _)| at) {
                let (_, tenant, id) = live.queue.remove(at);
                live.turn += 1;
                let turn = live.turn;
                live.turns.insert(tenant.clone(), turn);
                match self.start(&tenant, &id) {
                    Ok((info, request)) => {
                        let stop = Arc::new(Stop::after(self.quota.job_seconds));
                        let running = Running { tenant: tenant.clone(), stop: stop.clone(), info };
                        live.running.insert(id.clone(), running);
                        let started = Instant::now();
                        return Some(Turn { tenant, id, request, stop, started });
                    }
                    Err(e) => tracing::error!(job = %id, code = e.code(), "cannot be started"),
                }
            } else {
                live = self.wake.wait(live).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// On the disk it is running before it runs.
    fn start(&self, tenant: &Tenant, id: &JobId) -> Result<(JobInfo, JobRequest), ServiceError> {
        self.store.change(|change| {
            let missing = || ServiceError::NotFound { what: "job" };
            let request: Request = change.get(tenant, id.as_ref())?.ok_or_else(missing)?;
            let mut info: JobInfo = change.get(tenant, id.as_ref())?.ok_or_else(missing)?;
            info.state = JobState::Running;
            info.attempts += 1;
            change.put(tenant, id.as_ref(), &info)?;
            Ok((info, request.request))
        })
    }

    /// What a running job does now.
    pub(crate) fn progress(&self, id: &JobId, stage: &str, done: u64, total: u64) {
        if let Some(running) = self.lock().running.get_mut(id) {
            (running.info.done, running.info.total) = (done, total);
            if running.info.stage != stage {
                running.info.stage = stage.into();
            }
        }
        self.changes.send_replace(());
    }

    /// Ends a job.
    pub(crate) fn finish(&self, turn: &Turn, outcome: Result<Outcome, ServiceError>) {
        let mut live = self.lock();
        let Some(running) = live.running.remove(&turn.id) else { return };
        let mut info = running.info;
        let seconds = turn.started.elapsed().as_secs_f64();
        info.seconds = seconds;
        // What cancelled work says depends on where it was.
        let outcome = outcome.map_err(|e| match turn.stop.check() {
            Err(stopped) if e.code() == "scheme.cancelled" => stopped,
            _ => e,
        });
        match outcome {
            Ok(outcome) => {
                info.state = JobState::Done;
                (info.results, info.refreshes) = (outcome.results, outcome.refreshes);
                live.counts.done += 1;
            }
            // It is no failure of the job that the service ends.
            Err(ServiceError::Cancelled) if turn.stop.is_closing() => {
                info.state = JobState::Queued;
                info.attempts -= 1;
            }
            Err(e) => {
                info.state = JobState::Failed;
                if e == ServiceError::Cancelled {
                    info.state = JobState::Cancelled;
                    live.counts.cancelled += 1;
                } else {
                    live.counts.failed += 1;
                }
                info.error = Some(e.told());
            }
        }
        live.counts.seconds += seconds;
        let (state, code) = (info.state, info.error.as_ref().map(|e| e.code.clone()));
        tracing::info!(job = %turn.id, ?state, code, seconds, "ended");
        let stored = self.store.change(|change| change.put(&turn.tenant, turn.id.as_ref(), &info));
        if let Err(e) = stored {
            // It stays running on the disk, and runs again when the service starts.
            tracing::error!(job = %turn.id, code = e.code(), "what became of it cannot be stored");
        }
        drop(live);
        self.changes.send_replace(());
    }

    /// Ends the work: what is computed waits until the service starts again.
    pub(crate) fn close(&self) {
        let mut live = self.lock();
        live.closing = true;
        live.running.values().for_each(|running| running.stop.close());
        drop(live);
        self.wake.notify_all();
    }
}
