//! Turns of jobs: which job is computed next, and the claims of this process on the jobs that it
//! computes.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use everlevel_remote::api::JobRequest;

use crate::error::ServiceError;
use crate::jobs::{Jobs, Running, missing};
use crate::request::Request;
use crate::stop::Stop;
use crate::store::{Claim, Kept, Progress};

/// The number of times that a job is started: once, and once again if the service ended meanwhile.
pub(crate) const ATTEMPTS: u32 = 2;
/// The time before a store that did not answer is asked again.
pub(crate) const RETRY_TIME: Duration = Duration::from_secs(1);
/// The least time between two checks of changes by other processes.
const PACE: Duration = Duration::from_millis(50);

/// A job whose turn it is.
pub(crate) struct Turn {
    pub(crate) claim: Claim,
    pub(crate) stop: Arc<Stop>,
    pub(crate) started: Instant,
}

impl Jobs {
    /// Waits for the next job, of the tenant whose last turn is longest ago. `None` when the
    /// service ends.
    pub(crate) fn next(&self) -> Option<Turn> {
        loop {
            let seen = {
                let live = self.lock();
                if live.closing {
                    return None;
                }
                live.changes
            };
            match self.store.claim() {
                Ok(Some(claim)) => return Some(self.begin(claim)),
                Ok(None) => {
                    let mut live = self.lock();
                    while live.changes == seen && !live.closing {
                        live = self.wake.wait(live).unwrap_or_else(PoisonError::into_inner);
                    }
                }
                Err(e) => {
                    tracing::error!(code = e.code(), error = %e, "no job can be claimed");
                    drop(self.wake.wait_timeout(self.lock(), RETRY_TIME));
                }
            }
        }
    }

    /// Begins a turn: from now on this process knows that it computes the job.
    fn begin(&self, claim: Claim) -> Turn {
        let (stop, started) = (Arc::new(Stop::after(self.quota.job_seconds)), Instant::now());
        let progress = Progress { stage: "keys".into(), ..Progress::default() };
        let running = Running { claim: claim.clone(), stop: stop.clone(), progress };
        let mut live = self.lock();
        if live.closing {
            stop.close();
        }
        // An earlier turn of the job here, which has lost its claim.
        if let Some(before) = live.running.insert(claim.job.clone(), running) {
            before.stop.cancel();
        }
        Turn { claim, stop, started }
    }

    /// What is to be computed in a turn.
    ///
    /// # Errors
    /// [`ServiceError::Cancelled`] if the job was cancelled meanwhile, and
    /// [`ServiceError::Interrupted`] if it was started as often as a job may be.
    pub(crate) fn request(&self, turn: &Turn) -> Result<JobRequest, ServiceError> {
        let claim = &turn.claim;
        // It may have been cancelled after it was claimed, before this process knew that it runs
        // here.
        let queued = self.store.queued(&claim.tenant)?;
        let told = queued.iter().any(|place| place.job == claim.job && place.cancelled);
        if claim.cancelled || told {
            return Err(ServiceError::Cancelled);
        }
        if claim.attempts > ATTEMPTS {
            return Err(ServiceError::Interrupted);
        }
        let found: Option<Request> = self.store.get(&claim.tenant, claim.job.as_ref())?;
        Ok(found.ok_or_else(missing)?.request)
    }

    /// Renews the claims of this process, if claims expire, and wakes what waits here for changes
    /// by other processes. Returns at once if no other process shares the store, and otherwise when
    /// the service has ended.
    pub(crate) fn tend(&self) {
        let Some(leases) = self.store.leases() else { return };
        let mut last: Option<Instant> = None;
        loop {
            leases.wait(leases.period());
            let running: Vec<(Claim, Arc<Stop>, Progress)> = {
                let live = self.lock();
                if live.closing && live.running.is_empty() {
                    return;
                }
                let copied =
                    |here: &Running| (here.claim.clone(), here.stop.clone(), here.progress.clone());
                live.running.values().map(copied).collect()
            };
            if last.is_none_or(|last| last.elapsed() >= leases.period() / 2) {
                for (claim, stop, progress) in running {
                    match leases.keep(&claim, &progress) {
                        Ok(Kept::Yes) => {}
                        Ok(Kept::Cancelled | Kept::Lost) => stop.cancel(),
                        // If this goes on until the claim expires, another process takes the job.
                        Err(e) => tracing::error!(job = %claim.job, error = %e, "was not kept"),
                    }
                }
                last = Some(Instant::now());
            }
            self.changed();
            std::thread::sleep(PACE);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::{Path, PathBuf};

    use everlevel::OptIn;
    use everlevel_remote::api::{JobInfo, JobState};
    use everlevel_remote::{JobId, Tenant};

    use super::*;
    use crate::config::Quota;
    use crate::contents::Directory;
    use crate::objects::Objects;
    use crate::store::Store;

    /// The jobs and objects of a tenant in a directory.
    pub(crate) struct Fixture {
        pub(crate) store: Arc<Store>,
        pub(crate) objects: Objects,
        pub(crate) jobs: Jobs,
        pub(crate) tenant: Tenant,
        pub(crate) directory: PathBuf,
    }

    impl Fixture {
        pub(crate) fn new(directory: &Path, quota: Quota) -> Self {
            let store = Arc::new(Store::open(directory, None, None, false).unwrap());
            let contents = Arc::new(Directory::new(directory));
            let objects = Objects::new(store.clone(), contents, OptIn::InsecureResearch, quota);
            let jobs = Jobs::open(store.clone(), quota).unwrap();
            let (directory, tenant) = (directory.into(), "acme".parse().unwrap());
            Fixture { store, objects, jobs, tenant, directory }
        }

        /// A job without a place in the queue, as an earlier version stored it.
        fn stored(&self) -> JobId {
            let text = r#"{ "id": "ID", "state": "running", "stage": "computing", "done": 1,
                "total": 2, "attempts": 1, "refreshes": 0, "seconds": 0.0, "results": {} }"#;
            let id = JobId::random().unwrap();
            let info: JobInfo = serde_json::from_str(&text.replace("ID", id.as_ref())).unwrap();
            self.store.change(&self.tenant, |change| change.put(id.as_ref(), &info)).unwrap();
            id
        }

        /// A job that waits.
        pub(crate) fn job(&self) -> JobId {
            let id = self.stored();
            self.store.change(&self.tenant, |change| change.enqueue(&id)).unwrap();
            id
        }
    }

    #[test]
    fn jobs_of_an_earlier_version_wait() {
        let directory = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(directory.path(), Quota::default());
        let id = fixture.stored();
        let request = r#"{ "request": { "kind": "program", "server_keys": "KEYS", "program": "" },
            "order": 3, "key": null, "bytes": 90 }"#;
        let request = request.replace("KEYS", &"0".repeat(64));
        let request: Request = serde_json::from_str(&request).unwrap();
        fixture.store.change(&fixture.tenant, |change| change.put(id.as_ref(), &request)).unwrap();
        let jobs = Jobs::open(fixture.store.clone(), Quota::default()).unwrap();
        assert_eq!(jobs.info(&fixture.tenant, &id).unwrap().state, JobState::Queued);
        // Once, however often a service starts.
        let jobs = Jobs::open(fixture.store.clone(), Quota::default()).unwrap();
        let turn = jobs.next().unwrap();
        assert_eq!((&turn.claim.job, turn.claim.attempts), (&id, 1));
        assert_eq!(jobs.request(&turn).unwrap(), request.request);
        assert_eq!(fixture.store.claim().unwrap(), None);
    }

    #[test]
    fn a_job_that_is_cancelled_as_it_is_claimed_is_not_computed() {
        let directory = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(directory.path(), Quota::default());
        let id = fixture.job();
        let turn = fixture.jobs.next().unwrap();
        // As by a request that does not find it among what runs yet.
        fixture.store.change(&fixture.tenant, |change| change.cancel(&id)).unwrap();
        assert_eq!(fixture.jobs.request(&turn).unwrap_err(), ServiceError::Cancelled);
    }
}
