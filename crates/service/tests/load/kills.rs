//! The process is killed at random moments, again and again: what was acknowledged is there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use everlevel_service::api::JobState;
use everlevel_service::{Client, IdempotencyKey, JobId, ObjectId};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::options::Options;
use crate::process::Process;
use crate::tenant::{INPUTS, Tenant};

/// The longest that the process runs before it is killed, in milliseconds.
const LONGEST: u64 = 600;

/// What the service has acknowledged to a client.
#[derive(Default)]
struct Acknowledged {
    objects: Vec<ObjectId>,
    /// Jobs with the input of each.
    jobs: BTreeMap<JobId, usize>,
    /// Those whose end was told.
    done: Vec<JobId>,
}

/// Sends, starts and waits until the process does not answer any more.
fn work(
    (client, tenant): (&Client, &Tenant),
    first: usize,
    killed: &AtomicBool,
    known: &mut Acknowledged,
) {
    let mut sent = |path: &Path| {
        let id = client.push(path, |_, _| ()).ok()?;
        known.objects.push(id.clone());
        Some(id)
    };
    let Some(keys) = sent(&tenant.keys) else { return };
    let inputs: Vec<ObjectId> = tenant.inputs.iter().map_while(|path| sent(path)).collect();
    for round in first.. {
        let input = round % INPUTS;
        let Some(x) = inputs.get(input) else { return };
        let request = tenant.program(&keys, x, round % 2 == 0);
        let key = IdempotencyKey::random().expect("random bits");
        let Ok(job) = client.start(&request, &key) else { return };
        known.jobs.insert(job.id.clone(), input);
        loop {
            match client.job(&job.id) {
                Ok(info) if info.state == JobState::Done => {
                    known.done.push(job.id.clone());
                    break;
                }
                Ok(info) => assert_eq!(info.error, None),
                Err(_) => return,
            }
            if killed.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub fn run(options: &Options, tenants: &[Tenant], directory: &Path) -> Value {
    let (directory, tenant) = (directory.join("service"), &tenants[0]);
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut known = Acknowledged::default();
    let token = Process::start(&directory, &[]).token(&tenant.name);
    for round in 0..options.kills {
        let service = Process::start(&directory, &[]);
        let client = service.client(&token);
        let killed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (known, killed) = (&mut known, &killed);
            let client = &client;
            scope.spawn(move || work((client, tenant), round, killed, known));
            std::thread::sleep(Duration::from_millis(rng.next_u64() % LONGEST));
            drop(service);
            killed.store(true, Ordering::Relaxed);
        });
    }
    let service = Process::start(&directory, &[]);
    let client = service.client(&token);
    // Every object is there and is what it was; the client compares the hash.
    known.objects.sort();
    known.objects.dedup();
    for id in &known.objects {
        client.fetch(id, |_, _| ()).expect("an object that was acknowledged");
    }
    // Every job is there and ends; what was computed twice and interrupted twice is said to be.
    let mut interrupted = 0;
    for (job, input) in &known.jobs {
        match client.wait(job, |_| ()) {
            Ok(info) => {
                let bytes = client.fetch(&info.results["y"], |_, _| ()).expect("a result");
                assert!(tenant.is_answer(&bytes, *input), "a wrong answer");
            }
            Err(e) => {
                assert_eq!(e.code(), "service.interrupted", "{e}");
                assert!(!known.done.contains(job), "a job that was done is not any more");
                interrupted += 1;
            }
        }
    }
    let listed = client.jobs().expect("jobs");
    assert!(known.jobs.keys().all(|job| listed.iter().any(|info| info.id == *job)));
    let (used, objects) = (client.usage().expect("usage"), client.objects().expect("objects"));
    let uploads = service.call("GET", "/v1/uploads", &token, b"").1;
    let uploads = uploads["items"].as_array().map_or(0, Vec::len);
    assert_eq!(used.objects, (objects.len() + listed.len() + uploads) as u64);
    json!({
        "kills": options.kills, "objects": known.objects.len(), "jobs": known.jobs.len(),
        "jobs_listed": listed.len(), "interrupted_twice": interrupted,
    })
}
