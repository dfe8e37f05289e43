//! The end of a turn: the outcome of a job is stored, together with its results.

use std::collections::BTreeMap;

use everlevel_remote::api::{JobInfo, JobState};

use crate::error::ServiceError;
use crate::jobs::{Jobs, missing};
use crate::objects::{Objects, Staged};
use crate::store::Progress;
use crate::turns::{ATTEMPTS, RETRY_TIME, Turn};

/// The number of times that the outcome of a job is sent to a store that does not answer.
const RETRIES: usize = 10;

/// What a job that has not failed leaves.
pub(crate) struct Outcome {
    pub(crate) results: BTreeMap<String, Staged>,
    pub(crate) refreshes: u64,
}

/// Whether an error is one of the store, and not of what was to be stored.
fn of_store(e: &ServiceError) -> bool {
    matches!(e, ServiceError::Internal { .. } | ServiceError::Unavailable)
}

impl Jobs {
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
        // The error of work that was stopped depends on where it was.
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
        // The results may be refused, as by a quota that another job has used up meanwhile.
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
                    // It waits again.
                    _ => {}
                }
                let code = outcome.as_ref().err().map(ServiceError::code);
                tracing::info!(job = %claim.job, ?state, code, seconds, "ended");
            }
            Ok(None) => tracing::warn!(job = %claim.job, "belongs to another process now"),
            // The claim ends with the process, or expires, and the job runs again.
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
            // That the service ends, or that its database does not answer, is no failure of the
            // job.
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
}

#[cfg(test)]
mod tests {
    use everlevel::{Client, NamedIntegers, OptIn, Params, Type};
    use everlevel_remote::ObjectId;
    use everlevel_remote::api::NewUpload;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::config::Quota;
    use crate::turns::tests::Fixture;

    /// Bytes that may be the result of a job.
    fn column() -> Vec<u8> {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let client = Client::new(&params, &mut rng);
        let column = client.encrypt_integers(&[1u8, 2], Type::U8, &mut rng).unwrap();
        let columns: [NamedIntegers; 1] = [("y".to_string(), column.into())];
        client.upload_columns(&columns).unwrap()
    }

    impl Fixture {
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
    fn who_has_lost_a_job_stores_nothing() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let fixture = Fixture::new(directory.path(), Quota::default());
        let id = fixture.job();
        let slow = fixture.jobs.next().unwrap();
        // As if its time were over.
        let over = |change: &mut crate::store::Change<'_>| change.give_back_job(&id, 1);
        fixture.store.change(&fixture.tenant, over).unwrap();
        let quick = fixture.jobs.next().unwrap();
        assert!(slow.stop.check().is_err(), "it was told");
        let outcomes = (fixture.outcome(&bytes, 1), fixture.outcome(&bytes, 2));
        assert_eq!(fixture.end(&slow, Ok(outcomes.0)).state, JobState::Running);
        assert_eq!((fixture.files(), fixture.objects.list(&fixture.tenant).unwrap().len()), (0, 0));
        assert_eq!(fixture.end(&slow, Err(ServiceError::Cancelled)).state, JobState::Running);
        // Files that were removed meanwhile are written again.
        let done = fixture.end(&quick, Ok(outcomes.1));
        assert_eq!((done.state, done.refreshes), (JobState::Done, 2));
        assert_eq!(fixture.objects.read(&fixture.tenant, &done.results["y"]).unwrap().1, bytes);
        assert_eq!(fixture.end(&slow, Ok(fixture.outcome(&bytes, 3))), done);
        fixture.objects.verify(&fixture.tenant, &done.results["y"]).unwrap();
        assert_eq!(fixture.store.usage(&fixture.tenant).unwrap().objects, 1);
    }

    #[test]
    fn a_start_removes_results_whose_job_has_not_ended() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let fixture = Fixture::new(directory.path(), Quota::default());
        fixture.job();
        let turn = fixture.jobs.next().unwrap();
        let outcome = fixture.outcome(&bytes, 0);
        assert_eq!(fixture.files(), 1);
        fixture.objects.recover().unwrap();
        assert_eq!(fixture.files(), 0);
        let done = fixture.end(&turn, Ok(outcome));
        fixture.objects.verify(&fixture.tenant, &done.results["y"]).unwrap();
        fixture.objects.recover().unwrap();
        let used = fixture.store.usage(&fixture.tenant).unwrap();
        assert_eq!((fixture.files(), used.objects), (1, 1));
    }

    #[test]
    fn what_is_sent_while_a_job_computes_it_counts_once_and_as_computed() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let fixture = Fixture::new(directory.path(), Quota::default());
        let (objects, tenant) = (&fixture.objects, &fixture.tenant);
        let id = ObjectId::of_hash(blake3::hash(&bytes));
        let announced = NewUpload { id: id.clone(), bytes: bytes.len() as u64 };
        objects.begin(tenant, &announced).unwrap();
        fixture.job();
        let turn = fixture.jobs.next().unwrap();
        let done = fixture.end(&turn, Ok(fixture.outcome(&bytes, 0)));
        assert_eq!(done.results["y"], id);
        let state = objects.append(tenant, &id, 0, &bytes).unwrap();
        assert!(state.complete && objects.info(tenant, &id).unwrap().computed);
        objects.verify(tenant, &id).unwrap();
        let used = fixture.store.usage(tenant).unwrap();
        assert_eq!((used.bytes, used.objects), (bytes.len() as u64, 1));
    }

    #[test]
    fn results_above_the_quota_fail_the_job_and_leave_nothing() {
        let (directory, bytes) = (tempfile::tempdir().unwrap(), column());
        let quota = Quota { objects: 1, ..Quota::default() };
        let fixture = Fixture::new(directory.path(), quota);
        fixture.store.change(&fixture.tenant, |change| change.take(0, &quota)).unwrap();
        fixture.job();
        let turn = fixture.jobs.next().unwrap();
        let failed = fixture.end(&turn, Ok(fixture.outcome(&bytes, 0)));
        let code = failed.error.map(|told| told.code);
        assert_eq!((failed.state, code.as_deref()), (JobState::Failed, Some("service.quota")));
        assert_eq!(fixture.files(), 0);
        // What is too long is not even written.
        let small = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(small.path(), Quota { bytes: 10, ..Quota::default() });
        let refused = fixture.objects.stage(&fixture.tenant, vec![("y".into(), bytes)]);
        assert_eq!(refused.err().unwrap().code(), "service.quota");
        assert!(!small.path().join("objects").exists());
    }
}
