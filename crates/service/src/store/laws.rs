//! The laws of stores, tested on each store.

use std::collections::BTreeSet;
use std::sync::Mutex;

use everlevel_remote::{JobId, Tenant};

use super::backend::{Backend, Claim, Counted, LIST_BYTES, QueuedJob, Transaction};
use super::embedded::Embedded;
use crate::error::ServiceError;

#[cfg(feature = "cluster")]
#[path = "../../tests/cluster/postgres.rs"]
mod instance;

fn tenant(name: &str) -> Tenant {
    name.parse().unwrap()
}

/// A change that must succeed, and its result.
fn change<T>(
    backend: &dyn Backend,
    of: &Tenant,
    mut work: impl FnMut(&mut dyn Transaction) -> Result<T, ServiceError>,
) -> T {
    let mut done = None;
    let work = &mut |within: &mut dyn Transaction| {
        done = Some(work(within)?);
        Ok(())
    };
    backend.change(of, work).unwrap();
    done.unwrap()
}

/// Jobs that a tenant adds, each in its own transaction.
fn enqueued<const N: usize>(backend: &dyn Backend, of: &Tenant) -> [JobId; N] {
    let jobs = [(); N].map(|()| JobId::random().unwrap());
    jobs.iter().for_each(|job| change(backend, of, |within| within.enqueue(job)));
    jobs
}

fn dequeued(backend: &dyn Backend, claim: &Claim) -> bool {
    change(backend, &claim.tenant, |within| within.dequeue(&claim.job, claim.fence))
}

fn place(backend: &dyn Backend, of: &Tenant, job: &JobId) -> Option<QueuedJob> {
    backend.queued(of).unwrap().into_iter().find(|place| place.job == *job)
}

fn records_are_of_kind_tenant_and_name(backend: &dyn Backend) {
    let (a, b) = (tenant("a"), tenant("a-b"));
    let bytes: Vec<u8> = (0..=255).collect();
    for name in ["z", "Z", "a", "1"] {
        change(backend, &a, |within| within.put("one", name, name.as_bytes()));
    }
    change(backend, &a, |within| {
        within.put("two", "z", &bytes)?;
        within.remove("one", "1")?;
        assert_eq!(within.get("two", "z")?.as_ref(), Some(&bytes));
        assert_eq!(within.list("one")?.len(), 3);
        within.put("one", "a", b"again")
    });
    change(backend, &b, |within| {
        assert_eq!(within.get("one", "z")?, None);
        within.put("one", "z", b"b")
    });
    let names: Vec<String> = backend.list("one", &a).unwrap().into_iter().map(|x| x.0).collect();
    assert_eq!(names, ["Z", "a", "z"]);
    assert_eq!(backend.get("one", &a, "a").unwrap().unwrap(), b"again");
    assert_eq!(backend.get("one", &a, "1").unwrap(), None);
    assert_eq!(backend.get("two", &a, "z").unwrap().unwrap(), bytes);
    assert_eq!(backend.list("one", &b).unwrap(), [("z".to_string(), b"b".to_vec())]);
    let tenants: BTreeSet<Tenant> = backend.tenants().unwrap().into_iter().collect();
    assert_eq!(tenants, [a, b].into());
}

fn records_are_listed_in_parts(backend: &dyn Backend) {
    let (a, b) = (tenant("parts"), tenant("parts-b"));
    let names = ["B", "a", "b", "c", "d"];
    for name in names {
        change(backend, &a, |within| within.put("one", name, name.as_bytes()));
        change(backend, &a, |within| within.put("onf", name, b"of another kind"));
        change(backend, &b, |within| within.put("one", name, b"of another tenant"));
    }
    let listed = |after: &str, most| {
        let (found, more) = backend.list_after("one", &a, after, most).unwrap();
        let own = |(name, value): (String, Vec<u8>)| {
            assert_eq!(name.as_bytes(), value);
            name
        };
        (found.into_iter().map(own).collect::<Vec<_>>().concat(), more)
    };
    for (after, most, expected, more) in [
        ("", usize::MAX, "Babcd", false),
        ("", 2, "Ba", true),
        ("a", 2, "bc", true),
        ("c", 2, "d", false),
        ("b", 2, "cd", false),
        ("d", 2, "", false),
        // Of no record: what comes after it.
        ("A", 1, "B", true),
        ("bb", 9, "cd", false),
        ("/", 1, "B", true),
        ("~", 1, "", false),
    ] {
        assert_eq!(listed(after, most), (expected.to_string(), more), "{after} {most}");
    }
    change(backend, &a, |within| {
        let (found, more) = within.list_after("one", "a", 2)?;
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, more), (vec!["b", "c"], true));
        Ok(())
    });
    // A part ends once it has bytes enough, and has one record at least.
    let large = vec![b'x'; LIST_BYTES];
    for name in ["a", "b"] {
        change(backend, &a, |within| within.put("large", name, &large));
    }
    for (after, expected) in [("", "a"), ("a", "b")] {
        let (found, _) = backend.list_after("large", &a, after, usize::MAX).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [expected]);
    }
    assert!(backend.list_after("large", &a, "", usize::MAX).unwrap().1);
    for kind in ["one", "onf", "large"] {
        for name in names {
            change(backend, &a, |within| within.remove(kind, name));
            change(backend, &b, |within| within.remove(kind, name));
        }
    }
}

fn what_fails_leaves_nothing(backend: &dyn Backend) {
    let (a, job) = (tenant("fails"), JobId::random().unwrap());
    change(backend, &a, |within| within.put("one", "kept", b"before"));
    let refused = backend.change(&a, &mut |within| {
        within.put("one", "kept", b"after")?;
        within.put("one", "new", b"")?;
        within.enqueue(&job)?;
        Err(ServiceError::Cancelled)
    });
    assert_eq!(refused, Err(ServiceError::Cancelled));
    assert_eq!(backend.get("one", &a, "kept").unwrap().unwrap(), b"before");
    assert_eq!(backend.get("one", &a, "new").unwrap(), None);
    assert!(backend.queued(&a).unwrap().is_empty() && backend.claim().unwrap().is_none());
}

fn changes_of_a_tenant_are_one_after_the_other(backend: &dyn Backend) {
    const EACH: u8 = 20;
    let a = tenant("counts");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    change(backend, &a, |within| {
                        let found = within.get("one", "count")?.map_or(0, |value| value[0]);
                        within.put("one", "count", &[found + 1])
                    });
                }
            });
        }
    });
    assert_eq!(backend.get("one", &a, "count").unwrap().unwrap(), [4 * EACH]);
}

fn tenants_take_turns(backend: &dyn Backend) {
    let (a, b) = (tenant("turns-a"), tenant("turns-b"));
    let [a1, a2, a3] = enqueued(backend, &a);
    let [b1, b2] = enqueued(backend, &b);
    assert_eq!(backend.counted().unwrap(), Counted { waiting: 5, computed: 0 });
    let order: Vec<Claim> = (0..5).map(|_| backend.claim().unwrap().unwrap()).collect();
    let jobs: Vec<&JobId> = order.iter().map(|claim| &claim.job).collect();
    assert_eq!(jobs, [&a1, &b1, &a2, &b2, &a3]);
    assert_eq!(backend.claim().unwrap(), None);
    assert_eq!(backend.counted().unwrap(), Counted { waiting: 0, computed: 5 });
    assert!(order.iter().all(|claim| dequeued(backend, claim)));
    assert_eq!(backend.counted().unwrap(), Counted::default());
}

fn who_claims_again_takes_the_job(backend: &dyn Backend) {
    let a = tenant("fences");
    let [job] = enqueued(backend, &a);
    let first = backend.claim().unwrap().unwrap();
    assert_eq!((first.attempts, first.cancelled), (1, false));
    assert!(place(backend, &a, &job).unwrap().computed);
    change(backend, &a, |within| within.give_back(&job, first.fence));
    let waits = place(backend, &a, &job).unwrap();
    assert_eq!((waits.attempts, waits.computed), (0, false));
    change(backend, &a, |within| within.cancel(&job));
    let second = backend.claim().unwrap().unwrap();
    assert_eq!((second.attempts, second.cancelled), (1, true));
    assert!(second.fence > first.fence);
    // Whoever had it before changes nothing any more.
    change(backend, &a, |within| within.give_back(&job, first.fence));
    assert!(!dequeued(backend, &first));
    assert!(place(backend, &a, &job).unwrap().computed);
    assert!(dequeued(backend, &second) && !dequeued(backend, &second));
    assert_eq!(place(backend, &a, &job), None);
}

fn a_job_is_claimed_once(backend: &dyn Backend) {
    let jobs = [tenant("many-a"), tenant("many-b")].map(|of| enqueued::<20>(backend, &of));
    let claimed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(claim) = backend.claim().unwrap() {
                    claimed.lock().unwrap().push(claim);
                }
            });
        }
    });
    let claimed = claimed.into_inner().unwrap();
    let found: BTreeSet<&JobId> = claimed.iter().map(|claim| &claim.job).collect();
    assert_eq!((claimed.len(), found), (40, jobs.iter().flatten().collect()));
    assert!(claimed.iter().all(|claim| dequeued(backend, claim)));
}

fn every_law(backend: &dyn Backend) {
    records_are_of_kind_tenant_and_name(backend);
    records_are_listed_in_parts(backend);
    what_fails_leaves_nothing(backend);
    changes_of_a_tenant_are_one_after_the_other(backend);
    tenants_take_turns(backend);
    who_claims_again_takes_the_job(backend);
    a_job_is_claimed_once(backend);
}

#[test]
fn the_embedded_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.redb");
    let a = tenant("reopens");
    let claim = {
        let store = Embedded::open(&path).unwrap();
        every_law(&store);
        let [_job] = enqueued(&store, &a);
        store.claim().unwrap().unwrap()
    };
    // Claims end with the process, and are counted.
    let store = Embedded::open(&path).unwrap();
    let again = store.claim().unwrap().unwrap();
    assert_eq!((&again.job, again.attempts), (&claim.job, 2));
    assert!(!dequeued(&store, &claim) && dequeued(&store, &again));
}

#[cfg(feature = "cluster")]
#[test]
fn the_database() {
    use std::time::Duration;

    use super::backend::{Kept, Leases, Progress};
    use super::postgres::Postgres;
    use crate::database::Database;

    let Some(server) = instance::Instance::start() else {
        eprintln!("skipped: PostgreSQL is not installed");
        return;
    };
    let file = server.database("laws");
    let directory = tempfile::tempdir().unwrap();
    let paired = super::paired::PairedFile(directory.path().join("database.id"));
    let database = Database::from_file(&file).unwrap().with_lease(Duration::from_secs(5));
    let store = Postgres::open(&database.clone().with_lease(LONG), &paired, false).unwrap();
    every_law(&store);
    // Two processes, of which one does not tell about its job.
    let (slow, quick) = (Postgres::open(&database, &paired, true).unwrap(), store);
    let a = tenant("leases");
    let [job] = enqueued(&slow, &a);
    let first = slow.claim().unwrap().unwrap();
    let progress = Progress { stage: "computing".into(), done: 3, total: 4 };
    for _ in 0..4 {
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(slow.keep(&first, &progress).unwrap(), Kept::Yes);
        assert_eq!(quick.claim().unwrap(), None);
    }
    assert_eq!(place(&quick, &a, &job).unwrap().progress, progress);
    std::thread::sleep(Duration::from_secs(7));
    assert!(!place(&quick, &a, &job).unwrap().computed);
    let second = quick.claim().unwrap().unwrap();
    assert_eq!((&second.job, second.attempts), (&job, 2));
    assert_eq!(slow.keep(&first, &progress).unwrap(), Kept::Lost);
    assert!(!dequeued(&slow, &first));
    change(&slow, &a, |within| within.cancel(&job));
    assert_eq!(quick.keep(&second, &progress).unwrap(), Kept::Cancelled);
    assert!(dequeued(&quick, &second));
    // What changes is told.
    let told = std::time::Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| quick.wait(LONG));
        std::thread::sleep(Duration::from_millis(500));
        enqueued::<1>(&slow, &a);
    });
    assert!(told.elapsed() < LONG / 2);
}

#[cfg(feature = "cluster")]
const LONG: std::time::Duration = std::time::Duration::from_secs(60);
