//! Many clients of many tenants at the same time, while jobs use the processor.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use everlevel_service::{Client, IdempotencyKey, ObjectId, RemoteError};
use serde_json::{Value, json};

use crate::options::Options;
use crate::process::Process;
use crate::tenant::{INPUTS, Tenant};

/// How long calls took, by what they were, in microseconds.
#[derive(Default)]
struct Times(BTreeMap<&'static str, Vec<u64>>);

impl Times {
    fn call<T>(
        &mut self,
        name: &'static str,
        call: impl FnOnce() -> Result<T, RemoteError>,
    ) -> Result<T, RemoteError> {
        let started = Instant::now();
        let answer = call();
        self.0.entry(name).or_default().push(started.elapsed().as_micros() as u64);
        answer
    }

    fn add(&mut self, other: Times) {
        for (name, times) in other.0 {
            self.0.entry(name).or_default().extend(times);
        }
    }

    fn record(&mut self) -> Value {
        let percentiles = |times: &mut Vec<u64>| {
            times.sort_unstable();
            let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize] as f64 / 1000.0;
            json!({
                "calls": times.len(), "p50_ms": at(0.5), "p90_ms": at(0.9), "p99_ms": at(0.99),
                "most_ms": at(1.0),
            })
        };
        self.0.iter_mut().map(|(name, times)| ((*name).to_string(), percentiles(times))).collect()
    }
}

/// What one client has sent before it begins.
struct Sent {
    keys: ObjectId,
    inputs: Vec<ObjectId>,
}

/// One client: job after job, with other calls in between. Every answer is compared with what it
/// has to be.
fn talk(
    (client, tenant, sent): (&Client, &Tenant, &Sent),
    foreign: &ObjectId,
    seed: usize,
    until: Instant,
) -> (Times, u64) {
    let (mut times, mut jobs) = (Times::default(), 0);
    for round in seed.. {
        if Instant::now() > until {
            break;
        }
        let input = round % INPUTS;
        let request = tenant.program(&sent.keys, &sent.inputs[input], round % 4 == 0);
        let key = IdempotencyKey::random().expect("random bits");
        let job = times.call("start", || client.start(&request, &key)).expect("a job starts");
        if round % 3 == 0 {
            times.call("usage", || client.usage()).expect("usage");
            times.call("objects", || client.objects()).expect("objects");
        }
        if round % 5 == 0 {
            // A repetition is the same job, what another tenant has is not there.
            let again = times.call("start", || client.start(&request, &key)).expect("a repetition");
            assert_eq!(again.id, job.id);
            let theirs = times.call("fetch", || client.fetch(foreign, |_, _| ()));
            assert_eq!(theirs.expect_err("not theirs").code(), "service.not-found");
        }
        let done = loop {
            let now = times.call("job", || client.job(&job.id)).expect("a job that was started");
            if now.state.is_final() {
                break now;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(done.error, None);
        let bytes = times.call("fetch", || client.fetch(&done.results["y"], |_, _| ()));
        assert!(tenant.is_answer(&bytes.expect("a result"), input), "a wrong answer");
        times.call("delete", || client.delete_job(&job.id)).expect("a job is removed");
        jobs += 1;
    }
    (times, jobs)
}

pub fn run(options: &Options, tenants: &[Tenant], directory: &Path) -> Value {
    let service = Process::start(&directory.join("service"), &[]);
    let tokens: Vec<String> = tenants.iter().map(|tenant| service.token(&tenant.name)).collect();
    let push = |client: &Client, path: &Path| client.push(path, |_, _| ()).expect("an upload");
    let sent: Vec<Sent> = (tenants.iter().zip(&tokens))
        .map(|(tenant, token)| {
            let client = service.client(token);
            let inputs = tenant.inputs.iter().map(|path| push(&client, path)).collect();
            Sent { keys: push(&client, &tenant.keys), inputs }
        })
        .collect();
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let (all, done, most) =
        (Mutex::new((Times::default(), 0)), AtomicBool::new(false), Mutex::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let mut most = most.lock().expect("no panic");
                *most = (*most).max(service.memory("VmRSS").unwrap_or(0));
                drop(most);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let clients: Vec<_> = (0..options.clients)
            .map(|number| {
                let (all, service, sent, tokens) = (&all, &service, &sent, &tokens);
                scope.spawn(move || {
                    let own = number % tenants.len();
                    let foreign = &sent[(own + 1) % tenants.len()].inputs[0];
                    let client = service.client(&tokens[own]);
                    let who = (&client, &tenants[own], &sent[own]);
                    let (times, jobs) = talk(who, foreign, number, until);
                    let mut all = all.lock().expect("no panic");
                    all.0.add(times);
                    all.1 += jobs;
                })
            })
            .collect();
        let ended: Vec<bool> = clients.into_iter().map(|client| client.join().is_ok()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.into_iter().all(|well| well), "a client found something wrong");
    });
    // Nothing is left but what the tenants have sent and their results.
    for token in &tokens {
        let client = service.client(token);
        assert!(client.jobs().expect("jobs").is_empty());
        let used = client.usage().expect("usage");
        let objects = client.objects().expect("objects");
        assert_eq!(used.active_jobs, 0);
        assert_eq!(used.objects, objects.len() as u64);
        assert_eq!(used.bytes, objects.iter().map(|object| object.bytes).sum::<u64>());
    }
    let (mut times, jobs) = all.into_inner().expect("no panic");
    assert!(jobs >= options.clients as u64, "{jobs} jobs");
    let most = most.into_inner().expect("no panic");
    json!({ "jobs": jobs, "calls": times.record(), "most_rss_bytes": most })
}
