//! Turns of jobs: the choice of the next job, and its end.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use everlevel_remote::api::{JobInfo, JobRequest, JobState};

use crate::error::ServiceError;
use crate::jobs::{Jobs, Running, missing};
use crate::keys::Stop;
use crate::objects::{Objects, Staged};
use crate::request::Request;
use crate::store::{Claim, Kept, Progress};

/// The number of times that a job is started: once, and once again if the service ended meanwhile.
const ATTEMPTS: u32 = 2;
/// The time before a store that did not answer is asked again.
const RETRY_TIME: Duration = Duration::from_secs(1);
/// The number of times that the outcome of a job is sent to a store that does not answer.
const RETRIES: usize = 10;
/// The least time between two checks of changes by other processes.
const PACE: Duration = Duration::from_millis(50);

/// A job whose turn it is.
pub(crate) struct Turn {
    pub(crate) claim: Claim,
    pub(crate) stop: Arc<Stop>,
    started: Instant,
}

/// Whether the store itself has failed.
fn of_store(e: &ServiceError) -> bool {
    matches!(e, ServiceError::Internal { .. } | ServiceError::Unavailable)
}

/// The outcome of a job.
pub(crate) struct Outcome {
    pub(crate) results: BTreeMap<String, Staged>,
    pub(crate) refreshes: u64,
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

    fn begin(&self, claim: Claim) -> Turn {
        let (stop, started) = (Arc::new(Stop::after(self.quota.job_seconds)), Instant::now());
        let progress = Progress { stage: "keys".into(), ..Progress::default() };
        let running = Running { claim: claim.clone(), stop: stop.clone(), progress };
        let mut live = self.lock();
        if live.closing {
            stop.close();
        }
        // A turn before, of which this process was too slow to tell.
        if let Some(before) = live.running.insert(claim.job.clone(), running) {
            before.stop.cancel();
        }
        Turn { claim, stop, started }
    }

    /// What is to be computed in a turn.
    ///
    /// # Errors
    /// A job that was cancelled meanwhile, and one that has had its turns.
    pub(crate) fn request(&self, turn: &Turn) -> Result<JobRequest, ServiceError> {
        let claim = &turn.claim;
        // Also after it was claimed, before it could be told that it runs here.
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

    /// Ends a turn: stores the outcome, and keeps the results in `objects`, unless another process
    /// has the job now.
    pub(crate) fn end(
        &self,
        turn: &Turn,
        outcome: Result<Outcome, ServiceError>,
        objects: &Objects,
    ) {
        let Turn { claim, stop, started } = turn;
        let seconds = started.elapsed().as_secs_f64();
        // What cancelled work says depends on where it was.
        let outcome = outcome.map_err(|e| match stop.check() {
            Err(stopped) if e.code() == "scheme.cancelled" => stopped,
            _ => e,
        });
        let store =
            |outcome: &Result<Outcome, ServiceError>| self.stored(turn, seconds, outcome, objects);
        let mut stored = store(&outcome);
        for _ in 0..RETRIES {
            if stored != Err(ServiceError::Unavailable) || stop.is_closing() {
                break;
            }
            std::thread::sleep(RETRY_TIME);
            stored = store(&outcome);
        }
        // Such as a quota that another job has used up meanwhile.
        let stored = match stored {
            Err(e) if outcome.is_ok() && !of_store(&e) => store(&Err(e)),
            stored => stored,
        };
        if let (Ok(outcome), false) = (&outcome, matches!(stored, Ok(Some(JobState::Done)))) {
            objects.discard(&claim.tenant, outcome.results.values());
        }
        let mut live = self.lock();
        if live.running.get(&claim.job).is_some_and(|here| here.claim.fence == claim.fence) {
            live.running.remove(&claim.job);
        }
        match stored {
            Ok(Some(state)) => {
                live.ended.seconds += seconds;
                match state {
                    JobState::Done => live.ended.done += 1,
                    JobState::Cancelled => live.ended.cancelled += 1,
                    JobState::Failed => live.ended.failed += 1,
                    JobState::Queued | JobState::Running => {}
                }
                let code = outcome.as_ref().err().map(ServiceError::code);
                tracing::info!(job = %claim.job, ?state, code, seconds, "ended");
            }
            Ok(None) => tracing::warn!(job = %claim.job, "belongs to another process now"),
            // Its claim ends with the process, or by itself, and it runs again.
            Err(e) => {
                tracing::error!(
                    job = %claim.job, code = e.code(), error = %e, "the end cannot be stored"
                );
            }
        }
        drop(live);
        self.changed();
    }

    /// Stores the outcome of a job together with its results, unless another process has it now.
    fn stored(
        &self,
        turn: &Turn,
        seconds: f64,
        outcome: &Result<Outcome, ServiceError>,
        objects: &Objects,
    ) -> Result<Option<JobState>, ServiceError> {
        let Turn { claim, stop, .. } = turn;
        let progress = self.lock().running.get(&claim.job).map(|here| here.progress.clone());
        self.store.change(&claim.tenant, |change| {
            // It is no failure of the job that the service ends, or its database.
            let ends = matches!(outcome, Err(ServiceError::Cancelled)) && stop.is_closing();
            if ends || matches!(outcome, Err(ServiceError::Unavailable)) {
                change.give_back_job(&claim.job, claim.fence)?;
                return Ok(Some(JobState::Queued));
            }
            if !change.dequeue(&claim.job, claim.fence)? {
                return Ok(None);
            }
            let found: Option<JobInfo> = change.get(claim.job.as_ref())?;
            let mut info = found.ok_or_else(missing)?;
            (info.attempts, info.seconds) = (claim.attempts.min(ATTEMPTS), seconds);
            if let Some(Progress { stage, done, total }) = progress {
                (info.stage, info.done, info.total) = (stage, done, total);
            }
            match outcome {
                Ok(Outcome { results, refreshes }) => {
                    for staged in results.values() {
                        objects.keep(change, &claim.tenant, staged)?;
                    }
                    let named =
                        |(name, staged): (&String, &Staged)| (name.clone(), staged.info.id.clone());
                    info.results = results.iter().map(named).collect();
                    (info.state, info.refreshes) = (JobState::Done, *refreshes);
                }
                Err(e) => {
                    info.state = match e {
                        ServiceError::Cancelled => JobState::Cancelled,
                        _ => JobState::Failed,
                    };
                    info.error = Some(e.told());
                }
            }
            change.put(claim.job.as_ref(), &info)?;
            Ok(Some(info.state))
        })
    }

    /// Renews the claims of this process, if claims expire, and notifies it of changes by others.
    /// Returns at once if no other process shares the store, and otherwise when the service has
    /// ended.
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
                        // It may go well the next time; if not, another process has the job.
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
mod tests {
    use std::path::{Path, PathBuf};

    use everlevel::{Client, NamedIntegers, OptIn, Params, Type};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::config::Quota;
    use crate::contents::Directory;
    use crate::store::Store;
    use everlevel_remote::api::NewUpload;
    use everlevel_remote::{JobId, ObjectId, Tenant};

    /// Bytes that may be the result of a job.
    fn column() -> Vec<u8> {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let client = Client::new(&params, &mut rng);
        let column = client.encrypt_integers(&[1u8, 2], Type::U8, &mut rng).unwrap();
        let columns: [NamedIntegers; 1] = [("y".to_string(), column.into())];
        client.upload_columns(&columns).unwrap()
    }

    struct Place {
        store: Arc<Store>,
        objects: Objects,
        jobs: Jobs,
        tenant: Tenant,
        directory: PathBuf,
    }

    impl Place {
        fn new(directory: &Path, quota: Quota) -> Self {
            let store = Arc::new(Store::open(directory, None, None, false).unwrap());
            let contents = Arc::new(Directory::new(directory));
            let objects = Objects::new(store.clone(), contents, OptIn::InsecureResearch, quota);
            let jobs = Jobs::open(store.clone(), quota).unwrap();
            let (directory, tenant) = (directory.into(), "acme".parse().unwrap());
            Place { store, objects, jobs, tenant, directory }
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
        fn job(&self) -> JobId {
            let id = self.stored();
            self.store.change(&self.tenant, |change| change.enqueue(&id)).unwrap();
            id
        }

        fn outcome(&self, bytes: &[u8], refreshes: u64) -> Outcome {
            let results = vec![("y".to_string(), bytes.to_vec())];
            Outcome { results: self.objects.stage(&self.tenant, results).unwrap(), refreshes }
        }

        fn end(&self, turn: &Turn, outcome: Result<Outcome, ServiceError>) -> JobInfo {
            self.jobs.end(turn, outcome, &self.objects);
            self.jobs.info(&self.tenant, &turn.claim.job).unwrap()
        }

        fn files(&self) -> usize {
            std::fs::read_dir(self.directory.join("objects/acme")).unwrap().count()
        }
    }

    #[test]
    fn jobs_of_an_earlier_version_wait() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::new(directory.path(), Quota::default());
        let id = place.stored();
        let request = r#"{ "request": { "kind": "program", "server_keys": "KEYS", "program": "" },
            "order": 3, "key": null, "bytes": 90 }"#;
        let request = request.replace("KEYS", &"0".repeat(64));
        let request: Request = serde_json::from_str(&request).unwrap();
        place.store.change(&place.tenant, |change| change.put(id.as_ref(), &request)).unwrap();
        let jobs = Jobs::open(place.store.clone(), Quota::default()).unwrap();
        assert_eq!(jobs.info(&place.tenant, &id).unwrap().state, JobState::Queued);
        // Once, however often a service starts.
        let jobs = Jobs::open(place.store.clone(), Quota::default()).unwrap();
        let turn = jobs.next().unwrap();
        assert_eq!((&turn.claim.job, turn.claim.attempts), (&id, 1));
        assert_eq!(jobs.request(&turn).unwrap(), request.request);
        assert_eq!(place.store.claim().unwrap(), None);
    }

    #[test]
    fn who_has_lost_a_job_stores_nothing() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let place = Place::new(directory.path(), Quota::default());
        let id = place.job();
        let slow = place.jobs.next().unwrap();
        // As if its time were over.
        let over = |change: &mut crate::store::Change<'_>| change.give_back_job(&id, 1);
        place.store.change(&place.tenant, over).unwrap();
        let quick = place.jobs.next().unwrap();
        assert!(slow.stop.check().is_err(), "it was told");
        let outcomes = (place.outcome(&bytes, 1), place.outcome(&bytes, 2));
        assert_eq!(place.end(&slow, Ok(outcomes.0)).state, JobState::Running);
        assert_eq!((place.files(), place.objects.list(&place.tenant).unwrap().len()), (0, 0));
        assert_eq!(place.end(&slow, Err(ServiceError::Cancelled)).state, JobState::Running);
        // Files that were removed meanwhile are written again.
        let done = place.end(&quick, Ok(outcomes.1));
        assert_eq!((done.state, done.refreshes), (JobState::Done, 2));
        assert_eq!(place.objects.read(&place.tenant, &done.results["y"]).unwrap().1, bytes);
        assert_eq!(place.end(&slow, Ok(place.outcome(&bytes, 3))), done);
        place.objects.verify(&place.tenant, &done.results["y"]).unwrap();
        assert_eq!(place.store.usage(&place.tenant).unwrap().objects, 1);
    }

    #[test]
    fn a_job_that_is_cancelled_as_it_is_claimed_is_not_computed() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::new(directory.path(), Quota::default());
        let id = place.job();
        let turn = place.jobs.next().unwrap();
        // As by a request that does not find it among what runs yet.
        place.store.change(&place.tenant, |change| change.cancel(&id)).unwrap();
        assert_eq!(place.jobs.request(&turn).unwrap_err(), ServiceError::Cancelled);
    }

    #[test]
    fn a_start_removes_results_whose_job_has_not_ended() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let place = Place::new(directory.path(), Quota::default());
        place.job();
        let turn = place.jobs.next().unwrap();
        let outcome = place.outcome(&bytes, 0);
        assert_eq!(place.files(), 1);
        place.objects.recover().unwrap();
        assert_eq!(place.files(), 0);
        let done = place.end(&turn, Ok(outcome));
        place.objects.verify(&place.tenant, &done.results["y"]).unwrap();
        place.objects.recover().unwrap();
        assert_eq!((place.files(), place.store.usage(&place.tenant).unwrap().objects), (1, 1));
    }

    #[test]
    fn what_is_sent_while_a_job_computes_it_counts_once_and_as_computed() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let place = Place::new(directory.path(), Quota::default());
        let (objects, tenant) = (&place.objects, &place.tenant);
        let id = ObjectId::of_hash(blake3::hash(&bytes));
        let announced = NewUpload { id: id.clone(), bytes: bytes.len() as u64 };
        objects.begin(tenant, &announced).unwrap();
        place.job();
        let turn = place.jobs.next().unwrap();
        let done = place.end(&turn, Ok(place.outcome(&bytes, 0)));
        assert_eq!(done.results["y"], id);
        let state = objects.append(tenant, &id, 0, &bytes).unwrap();
        assert!(state.complete && objects.info(tenant, &id).unwrap().computed);
        objects.verify(tenant, &id).unwrap();
        let used = place.store.usage(tenant).unwrap();
        assert_eq!((used.bytes, used.objects), (bytes.len() as u64, 1));
    }

    #[test]
    fn results_above_the_quota_fail_the_job_and_leave_nothing() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let quota = Quota { objects: 1, ..Quota::default() };
        let place = Place::new(directory.path(), quota);
        place.store.change(&place.tenant, |change| change.take(0, &quota)).unwrap();
        place.job();
        let turn = place.jobs.next().unwrap();
        let failed = place.end(&turn, Ok(place.outcome(&bytes, 0)));
        let code = failed.error.map(|told| told.code);
        assert_eq!((failed.state, code.as_deref()), (JobState::Failed, Some("service.quota")));
        assert_eq!(place.files(), 0);
        // What is too long is not even written.
        let small = tempfile::tempdir().unwrap();
        let place = Place::new(small.path(), Quota { bytes: 10, ..Quota::default() });
        let refused = place.objects.stage(&place.tenant, vec![("y".into(), bytes)]);
        assert_eq!(refused.err().unwrap().code(), "service.quota");
        assert!(!small.path().join("objects").exists());
    }
}
