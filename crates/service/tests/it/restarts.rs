//! The process ends while it computes.

use std::path::Path;

use everlevel_service::Exposure;
use everlevel_service::api::JobState;
use everlevel_service::{Client, Scope, Service};

use crate::support::{Owner, Running, long_program, program, push, wait_until_it_computes};

const STATEMENTS: usize = 4;

/// What is on the disk now, as if the power had failed.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copied(&path, &to),
            false => drop(std::fs::copy(&path, &to).unwrap()),
        }
    }
}

#[test]
fn a_job_runs_again_once() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let at = |name: &str| directory.path().join(name);
    let (token, job, key);
    {
        let service = Running::start(&at("first"), |_| ());
        token = service.token("acme", &[Scope::Read, Scope::Write, Scope::Run]);
        let client = Client::new(&service.url(), &token, Exposure::Loopback).unwrap();
        let file = owner.columns("x", &[("x", &[5, 77])]);
        let request =
            program(&push(&client, &owner.keys), &push(&client, &file), &long_program(STATEMENTS));
        key = everlevel_service::IdempotencyKey::random().unwrap();
        job = client.start(&request, &key).unwrap().id;
        wait_until_it_computes(&client, &job);
        copied(&at("first"), &at("second"));
    }
    {
        // It was computed when the power failed: it is tried again.
        let service = Running::start(&at("second"), |_| ());
        let client = Client::new(&service.url(), &token, Exposure::Loopback).unwrap();
        wait_until_it_computes(&client, &job);
        copied(&at("second"), &at("third"));
        let done = client.wait(&job, |_| ()).unwrap();
        assert_eq!((done.state, done.attempts), (JobState::Done, 2));
        let bytes = client.fetch(&done.results[&format!("y{STATEMENTS}")], |_, _| ()).unwrap();
        assert_eq!(owner.values(&bytes), [5, 77]);
    }
    {
        // Not for a third time.
        let service = Running::start(&at("third"), |_| ());
        let client = Client::new(&service.url(), &token, Exposure::Loopback).unwrap();
        assert_eq!(client.wait(&job, |_| ()).unwrap_err().code(), "service.interrupted");
    }
    // Where the process was asked to end, the job has not failed, and that was no attempt.
    let service = Running::start(&at("first"), |_| ());
    let client = Client::new(&service.url(), &token, Exposure::Loopback).unwrap();
    let done = client.wait(&job, |_| ()).unwrap();
    assert_eq!((done.state, done.attempts), (JobState::Done, 1));
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let _service = Running::start(directory.path(), |_| ());
    let second = Service::start(everlevel_service::Config::new(directory.path()));
    assert_eq!(second.err().unwrap().code(), "service.internal");
}

#[test]
fn files_without_a_record_are_removed_and_usage_is_counted_anew() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let path = owner.columns("x", &[("x", &[1])]);
    let left = directory.path().join("objects/acme").join("0".repeat(64));
    let (before, token) = {
        let service = Running::start(directory.path(), |_| ());
        let client = service.client("acme");
        push(&client, &path);
        std::fs::write(&left, b"left").unwrap();
        (client.usage().unwrap(), service.token("acme", &[Scope::Read]))
    };
    let service = Running::start(directory.path(), |_| ());
    assert!(!left.exists());
    let client = Client::new(&service.url(), &token, Exposure::Loopback).unwrap();
    assert_eq!(client.usage().unwrap(), before);
    assert_eq!(before.bytes, path.metadata().unwrap().len());
}
