//! What a job does is told as it happens.

use everlevel_service::api::{JobInfo, JobState};
use everlevel_service::{Client, JobId, Scope};

use crate::support::{Owner, Running, long_program, program, push, start};

fn jobs(answer: &str) -> Vec<JobInfo> {
    let told = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    told.map(|text| serde_json::from_str(text).unwrap()).collect()
}

/// A job whose program has `statements` statements.
fn started(client: &Client, owner: &Owner, statements: usize) -> JobId {
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let (keys, columns) = (push(client, &owner.keys), push(client, &file));
    start(client, &program(&keys, &columns, &long_program(statements)))
}

#[test]
fn events_tell_of_a_job_until_it_ends() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let token = service.token("acme", &[Scope::Read]);
    let job = started(&client, owner, 3);
    let path = format!("/v1/jobs/{job}/events");
    // Read until the service ends the answer.
    let answer = service.answer("GET", &path, &token, b"");
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    assert!(answer.contains("event: job"), "{answer}");
    let told = jobs(&answer);
    assert!(told.len() > 1 && told.iter().all(|info| info.id == job), "{answer}");
    assert!(told.iter().any(|info| info.state == JobState::Running), "{answer}");
    let [before @ .., last] = &told[..] else { panic!("{answer}") };
    assert!(before.iter().all(|info| !info.state.is_final()), "{answer}");
    assert_eq!(last, &client.job(&job).unwrap());
    assert_eq!(last.state, JobState::Done);
    // Of one that has ended, that it has.
    assert_eq!(jobs(&service.answer("GET", &path, &token, b"")), told[told.len() - 1..]);
    // Not for others, nor of what is not there.
    let rival = service.token("rival", &[Scope::Read]);
    assert_eq!(service.call("GET", &path, &rival, b"").0, 404);
    let none = format!("/v1/jobs/{}/events", "0".repeat(32));
    assert_eq!(service.call("GET", &none, &token, b"").0, 404);
    let write = service.token("acme", &[Scope::Write]);
    assert_eq!(service.call("GET", &path, &write, b"").0, 403);
}

#[test]
fn a_job_that_is_cancelled_ends_its_events() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let token = service.token("acme", &[Scope::Read]);
    let job = started(&client, owner, 60);
    let told = std::thread::scope(|scope| {
        let reader =
            scope.spawn(|| service.answer("GET", &format!("/v1/jobs/{job}/events"), &token, b""));
        crate::support::wait_until_it_computes(&client, &job);
        client.cancel(&job).unwrap();
        jobs(&reader.join().unwrap())
    });
    assert_eq!(told.last().unwrap().state, JobState::Cancelled);
}
