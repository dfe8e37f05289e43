//! The process ends while it computes.

use std::path::Path;

use everlevel_service::Exposure;
use everlevel_service::api::JobState;
use everlevel_service::{Client, Scope, Service};

use crate::support::{Owner, Running, long_program, program, push, wait_until_it_computes};

/// Enough of them that a job computes while what is on the disk is copied.
const STATEMENTS: usize = 4;

/// What is on the disk now, as if the power had failed: the records first, before the job ends;
/// objects, which take longer, do not change.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let entries = std::fs::read_dir(from).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort_by_key(|path| path.is_dir());
    for path in paths {
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
    let refused = second.err().unwrap();
    assert_eq!(refused.code(), "service.state");
    assert!(refused.to_string().contains("another process"), "{refused}");
}

#[cfg(not(feature = "cluster"))]
#[test]
fn a_database_takes_a_feature() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("connection");
    std::fs::write(&file, "host=/run/postgresql user=everlevel password=do-not-tell").unwrap();
    let database = everlevel_service::Database::from_file(&file).unwrap();
    assert_eq!(format!("{database:?}"), "Database(..)");
    let own = directory.path().join("own");
    let config = everlevel_service::Config::new(&own);
    let config = everlevel_service::Config { database: Some(database), ..config };
    let refused = Service::start(config).err().unwrap();
    assert_eq!(refused.code(), "service.state");
    let shown = format!("{refused} {refused:?}");
    assert!(shown.contains("feature cluster") && !shown.contains("do-not-tell"), "{shown}");
}

/// Without a database, whoever answers has to compute, and records are in the directory.
#[test]
fn a_directory_whose_records_are_elsewhere_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = everlevel_service::Config::new(directory.path());
    config.workers = 0;
    assert_eq!(Service::start(config).err().unwrap().code(), "service.malformed");
    std::fs::write(directory.path().join("database.id"), "an id").unwrap();
    let refused = Service::start(everlevel_service::Config::new(directory.path())).err().unwrap();
    assert_eq!(refused.code(), "service.state");
    assert!(refused.to_string().contains("in a database"), "{refused}");
    assert!(!directory.path().join("state.redb").exists());
}

/// Records that are lost or cut off lose no objects.
#[test]
fn lost_records_remove_nothing() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let path = owner.columns("lost", &[("x", &[1])]);
    let id = {
        let service = Running::start(directory.path(), |_| ());
        push(&service.client("acme"), &path)
    };
    let object = directory.path().join("objects/acme").join(id.as_ref());
    let records = directory.path().join("state.redb");
    let whole = std::fs::read(&records).unwrap();
    for part in [None, Some(&whole[..0]), Some(&whole[..5000]), Some(&b"junk"[..])] {
        match part {
            Some(bytes) => std::fs::write(&records, bytes).unwrap(),
            None => std::fs::remove_file(&records).unwrap(),
        }
        let refused = Service::start(everlevel_service::Config::new(directory.path()));
        let refused = refused.err().unwrap();
        assert_eq!(refused.code(), "service.state", "{refused}");
        assert!(refused.to_string().contains("restore it"), "{refused}");
        assert!(object.exists());
    }
    std::fs::write(&records, whole).unwrap();
    let service = Running::start(directory.path(), |_| ());
    assert_eq!(service.client("acme").objects().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn other_users_of_the_machine_read_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("service");
    let _service = Running::start(&own, |_| ());
    assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o700);
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
