//! Workers that end in every way while they compute.

use std::time::Duration;

use everlevel_service::api::{JobInfo, JobState, NewUpload};
use everlevel_service::{Client, IdempotencyKey, JobId};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::postgres::Instance;
use crate::process::{
    LEASE, Owner, Place, Process, long_program, program, push, start, wait_until_it_computes,
};

/// A place with a process that answers, an owner, and a job that takes a while.
pub struct Scene {
    pub place: Place,
    pub owner: Owner,
    pub client: Client,
    pub job: JobId,
    _answers: Process,
}

const VALUES: [i64; 2] = [5, 77];

impl Scene {
    fn new(server: &Instance, name: &str, statements: usize) -> Self {
        Self::at(Place::new(server, name), statements)
    }

    pub fn at(place: Place, statements: usize) -> Self {
        let owner = Owner::new();
        let answers = place.answers();
        let client = answers.client(&place.token("acme"));
        let keys = push(&client, &owner.keys);
        let column = push(&client, &owner.column("x", &[5, 77]));
        let job = start(&client, &program(&keys, &column, &long_program(statements)));
        Scene { place, owner, client, job, _answers: answers }
    }

    /// The job once it is done, with its answer compared.
    pub fn done(&self) -> JobInfo {
        let done = self.client.wait(&self.job, |_| ()).expect("the job is done");
        assert_eq!(done.state, JobState::Done);
        let bytes = self.client.fetch(&done.results["y"], |_, _| ()).expect("a result");
        assert_eq!(self.owner.values(&bytes), VALUES);
        done
    }

    /// Passes a place where what is counted is what is there, and nothing waits.
    pub fn is_whole(&self) {
        let (used, objects) = (self.client.usage().unwrap(), self.client.objects().unwrap());
        let jobs = self.client.jobs().unwrap();
        assert_eq!((used.active_jobs, used.objects), (0, (objects.len() + jobs.len()) as u64));
        let stored: u64 = objects.iter().map(|object| object.bytes).sum();
        assert!(used.bytes >= stored && used.bytes < stored + 100_000 * jobs.len() as u64);
        if self.place.bucket.is_none() {
            let directory = self.place.directory.path().join("objects/acme");
            let files = std::fs::read_dir(directory).unwrap().count();
            assert_eq!(files, objects.len(), "files without a record");
        }
    }
}

pub fn a_killed_worker_loses_its_job(server: &mut Instance) {
    loses_its_job(&Scene::new(server, "killed", 6));
}

pub fn loses_its_job(scene: &Scene) {
    let first = scene.place.worker();
    wait_until_it_computes(&scene.client, &scene.job);
    let second = scene.place.worker();
    drop(first);
    let done = scene.done();
    assert_eq!(done.attempts, 2);
    scene.is_whole();
    // Not for a third time.
    let request = program(
        &push(&scene.client, &scene.owner.keys),
        &push(&scene.client, &scene.owner.column("z", &[5])),
        &long_program(40),
    );
    drop(second);
    let job = start(&scene.client, &request);
    for _ in 0..2 {
        let worker = scene.place.worker();
        wait_until_it_computes(&scene.client, &job);
        drop(worker);
        // Nobody has it until its time is over.
        while scene.client.job(&job).unwrap().state != JobState::Queued {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    let _third = scene.place.worker();
    assert_eq!(scene.client.wait(&job, |_| ()).unwrap_err().code(), "service.interrupted");
    scene.is_whole();
}

pub fn a_slow_worker_writes_nothing(server: &mut Instance) {
    for (name, meanwhile) in [("slow", false), ("slow_meanwhile", true)] {
        let scene = Scene::new(server, name, 6);
        let slow = scene.place.worker();
        wait_until_it_computes(&scene.client, &scene.job);
        // As a machine that is out of memory, or a network that is away.
        slow.signal("STOP");
        let quick = scene.place.worker();
        let taken = || scene.client.job(&scene.job).unwrap().attempts == 2;
        while meanwhile && !taken() {
            std::thread::sleep(Duration::from_millis(50));
        }
        if meanwhile {
            slow.signal("CONT");
        }
        let done = scene.done();
        assert_eq!(done.attempts, 2);
        if !meanwhile {
            slow.signal("CONT");
        }
        // It goes on with what it had, and finds that the job is not its own any more.
        drop(quick);
        std::thread::sleep(3 * LEASE);
        assert_eq!(scene.client.job(&scene.job).unwrap(), done);
        scene.is_whole();
        // Then it works.
        let keys = push(&scene.client, &scene.owner.keys);
        let column = push(&scene.client, &scene.owner.column("next", &[9]));
        let next = start(&scene.client, &program(&keys, &column, "y = x + 1"));
        assert_eq!(scene.client.wait(&next, |_| ()).unwrap().attempts, 1);
        scene.is_whole();
    }
}

pub fn workers_are_killed_at_random(server: &mut Instance) {
    are_killed_at_random(&Scene::new(server, "random", 2));
}

pub fn are_killed_at_random(scene: &Scene) {
    let keys = push(&scene.client, &scene.owner.keys);
    let column = push(&scene.client, &scene.owner.column("more", &[5, 77]));
    let request = program(&keys, &column, &long_program(1));
    let jobs: Vec<JobId> = (0..8).map(|_| start(&scene.client, &request)).collect();
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for _ in 0..6 {
        let _workers = [scene.place.worker(), scene.place.worker()];
        std::thread::sleep(Duration::from_millis(500 + rng.next_u64() % 2500));
    }
    let _last = scene.place.worker();
    let mut interrupted = 0;
    for job in jobs.iter().chain([&scene.job]) {
        match scene.client.wait(job, |_| ()) {
            Ok(done) => {
                let bytes = scene.client.fetch(&done.results["y"], |_, _| ()).unwrap();
                assert_eq!((scene.owner.values(&bytes), done.attempts <= 2), (VALUES.into(), true));
            }
            Err(e) => {
                assert_eq!(e.code(), "service.interrupted", "{e}");
                interrupted += 1;
            }
        }
    }
    println!("9 jobs, 12 workers killed, {interrupted} jobs interrupted twice");
    // What a killed worker left goes when a process starts.
    drop(scene.place.worker());
    scene.is_whole();
}

pub fn a_worker_that_ends_gives_back(server: &mut Instance) {
    let scene = Scene::new(server, "ends", 6);
    let first = scene.place.worker();
    wait_until_it_computes(&scene.client, &scene.job);
    first.signal("TERM");
    first.ended();
    let waits = scene.client.job(&scene.job).unwrap();
    assert_eq!((waits.state, waits.attempts), (JobState::Queued, 0));
    let _second = scene.place.worker();
    assert_eq!(scene.done().attempts, 1);
    scene.is_whole();
}

pub fn cancelled_from_elsewhere(server: &mut Instance) {
    let scene = Scene::new(server, "cancelled", 150);
    let _worker = scene.place.worker();
    wait_until_it_computes(&scene.client, &scene.job);
    let keys = push(&scene.client, &scene.owner.keys);
    let refused = scene.client.delete_object(&keys).unwrap_err();
    assert_eq!(refused.code(), "service.in-use");
    scene.client.cancel(&scene.job).unwrap();
    let ended = scene.client.wait(&scene.job, |_| ()).unwrap_err();
    assert_eq!(ended.code(), "service.cancelled");
    assert_eq!(scene.client.job(&scene.job).unwrap().state, JobState::Cancelled);
    scene.is_whole();
}

pub fn the_database_restarts(server: &mut Instance) {
    let scene = Scene::new(server, "restarts", 6);
    let _worker = scene.place.worker();
    wait_until_it_computes(&scene.client, &scene.job);
    server.restart();
    scene.done();
    scene.is_whole();
}

/// Two processes that answer and two that compute, for two tenants.
pub fn processes_are_one_service(server: &mut Instance) {
    are_one_service(&Place::new(server, "together"));
}

pub fn are_one_service(place: &Place) {
    let owner = Owner::new();
    let answer = [place.answers(), place.answers()];
    let workers = [place.worker(), place.worker()];
    let mut jobs = Vec::new();
    let tokens = ["acme", "rival"].map(|tenant| place.token(tenant));
    let tenants = tokens.each_ref().map(|token| answer.each_ref().map(|one| one.client(token)));
    for [one, other] in &tenants {
        let keys = push(one, &owner.keys);
        for i in 0..4 {
            let column = push(other, &owner.column(&format!("x{i}"), &[10 * i]));
            let request = program(&keys, &column, "y = x + 1");
            // The same request to both is one job.
            let key = IdempotencyKey::random().unwrap();
            let job = one.start(&request, &key).unwrap().id;
            assert_eq!(other.start(&request, &key).unwrap().id, job);
            jobs.push((one, other, job, i64::from(10 * i) + 1));
        }
    }
    for (one, other, job, expected) in &jobs {
        let done = other.wait(job, |_| ()).unwrap();
        assert_eq!((done.state, done.attempts), (JobState::Done, 1));
        assert_eq!(one.job(job).unwrap(), done);
        let bytes = one.fetch(&done.results["y"], |_, _| ()).unwrap();
        assert_eq!(owner.values(&bytes), [*expected]);
    }
    // Quotas are counted once for all.
    for [one, other] in &tenants {
        let used = one.usage().unwrap();
        assert_eq!((used, used.objects, used.active_jobs), (other.usage().unwrap(), 13, 0));
    }
    // What one tenant has, another has not, whichever process is asked.
    let [acme, rival] = &tenants;
    assert_eq!(rival[1].job(&jobs[0].2).unwrap_err().code(), "service.not-found");
    // An upload that is announced at one goes on at the other.
    let file = owner.column("announced", &[1, 2, 3]);
    let bytes = std::fs::read(&file).unwrap();
    let id = everlevel_service::ObjectId::of_hash(blake3::hash(&bytes));
    let new = NewUpload { id: id.clone(), bytes: bytes.len() as u64 };
    assert!(answer[0].announce(&tokens[0], &new).contains("\"complete\":false"));
    assert_eq!(push(&acme[1], &file), id);
    assert_eq!(acme[0].fetch(&id, |_, _| ()).unwrap(), bytes);
    // A process that starts now finds nothing to remove.
    drop(place.worker());
    acme[0].fetch(&id, |_, _| ()).unwrap();
    // Keys above the budget of a worker are refused with the figure.
    drop(workers);
    let _small = place.worker_with("1000000");
    let keys = push(&acme[0], &owner.keys);
    let told = acme[0].wait(&start(&acme[0], &program(&keys, &id, "y = x")), |_| ()).unwrap_err();
    assert_eq!(told.code(), "service.memory");
    assert!(told.to_string().contains("1000000"), "{told}");
}
