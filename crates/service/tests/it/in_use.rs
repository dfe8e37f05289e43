//! What a job needs stays until the job has ended, and results have room.

use std::time::Duration;

use everlevel_service::{Client, Exposure, IdempotencyKey, Service};

use crate::support::{Owner, Running, long_program, program, push, start, wait_until_it_computes};

#[test]
fn what_a_job_needs_is_not_deleted() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let other = owner.columns("other", &[("x", &[3])]);
    let keys = push(&client, &owner.keys);
    let (columns, waiting) = (push(&client, &file), push(&client, &other));
    let runs = start(&client, &program(&keys, &columns, &long_program(60)));
    let waits = start(&client, &program(&keys, &waiting, "y = x + 1"));
    wait_until_it_computes(&client, &runs);
    for id in [&keys, &columns, &waiting] {
        let refused = client.delete_object(id).unwrap_err();
        assert_eq!(refused.code(), "service.in-use", "{refused}");
    }
    // Another tenant's jobs are no reason, even with the same bytes.
    let rival = service.client("rival");
    let theirs = push(&rival, &file);
    rival.delete_object(&theirs).unwrap();
    client.cancel(&waits).unwrap();
    client.delete_object(&waiting).unwrap();
    client.cancel(&runs).unwrap();
    client.wait(&runs, |_| ()).unwrap_err();
    client.delete_object(&columns).unwrap();
    client.delete_object(&keys).unwrap();
    assert!(client.objects().unwrap().is_empty());
}

#[test]
fn results_without_room_are_refused_before_anything_is_computed() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let stored = owner.keys.metadata().unwrap().len() + file.metadata().unwrap().len();
    let service = Running::start(directory.path(), |config| config.quota.bytes = stored + 50_000);
    let client = service.client("acme");
    let (keys, columns) = (push(&client, &owner.keys), push(&client, &file));
    let request = program(&keys, &columns, "y = x + 1");
    let counted = client.estimate(&request).unwrap().result_bytes;
    assert!(counted > 50_000, "{counted}");
    let key = IdempotencyKey::random().unwrap();
    let refused = client.start(&request, &key).unwrap_err();
    assert_eq!(refused.code(), "service.quota", "{refused}");
    assert!(refused.to_string().contains("results"), "{refused}");
    assert!(client.jobs().unwrap().is_empty());
}

#[test]
fn an_estimate_ends_when_nobody_waits_for_it() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let (keys, columns) = {
        // Uploads may take longer than what is given to estimates below.
        let service = Running::start(directory.path(), |_| ());
        let client = service.client("acme");
        (push(&client, &owner.keys), push(&client, &file))
    };
    let service = Running::start(directory.path(), |config| {
        config.request_time = Duration::from_secs(4);
        config.quota.objects = 20_000;
    });
    let client = service.client("acme");
    // Comparisons of 48 bits, as many as a program may hold: several times as long.
    let wide = long_program(16_000).replace("x - ", "z - ").replace("x + ", "z + ");
    let endless = program(&keys, &columns, &format!("z = x * 1000000 * 1000000; {wide}"));
    let refused = client.estimate(&endless).unwrap_err();
    assert_eq!(refused.code(), "service.timeout", "{refused}");
    // Its place is free for the next one, if not in the first seconds.
    let request = program(&keys, &columns, "y = x + 1");
    let short = (0..10).find_map(|_| client.estimate(&request).ok()).expect("a free place");
    assert!(short.result_bytes > 0, "{short:?}");
}

/// A file that somebody removed is damage that is named, and can be sent again.
#[test]
fn a_missing_file_is_damage() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let (keys, columns) = (push(&client, &owner.keys), push(&client, &file));
    let stored = directory.path().join("objects/acme").join(columns.as_ref());
    std::fs::remove_file(&stored).unwrap();
    let request = program(&keys, &columns, "y = x + 1");
    for refused in [
        client.fetch(&columns, |_, _| ()).unwrap_err(),
        client.estimate(&request).unwrap_err(),
        client.wait(&start(&client, &request), |_| ()).unwrap_err(),
    ] {
        assert_eq!(refused.code(), "service.damaged", "{refused}");
        assert!(refused.to_string().contains(columns.as_ref()), "{refused}");
    }
    client.delete_object(&columns).unwrap();
    assert_eq!(push(&client, &file), columns);
    let done = client.wait(&start(&client, &request), |_| ()).unwrap();
    assert_eq!(owner.values(&client.fetch(&done.results["y"], |_, _| ()).unwrap()), [2, 3]);
    // So it is of server keys.
    std::fs::remove_file(directory.path().join("objects/acme").join(keys.as_ref())).unwrap();
    let rival = service.client("rival");
    assert_eq!(push(&rival, &owner.keys), keys);
    assert_eq!(client.fetch(&keys, |_, _| ()).unwrap_err().code(), "service.damaged");
}

#[test]
fn a_directory_that_cannot_be_made_and_a_token_that_is_none_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let path = file.join("service");
    let refused = Service::start(everlevel_service::Config::new(&path)).err().unwrap();
    assert_eq!(refused.code(), "service.state");
    assert!(refused.to_string().contains(path.to_str().unwrap()), "{refused}");
    let tokens = everlevel_service::Tokens::in_directory(directory.path());
    std::fs::create_dir(directory.path().join("tokens")).unwrap();
    let junk = directory.path().join("tokens").join(format!("{}.json", "a".repeat(64)));
    std::fs::write(&junk, "junk").unwrap();
    let refused = tokens.list().unwrap_err();
    assert_eq!(refused.code(), "service.state");
    assert!(refused.to_string().contains(junk.to_str().unwrap()), "{refused}");
    let secret = "-----BEGIN PRIVATE KEY-----";
    for text in ["", "everlevel_12", secret, &format!("everlevel_{}\n", "0".repeat(64))] {
        let refused = Client::new("http://127.0.0.1:1", text, Exposure::Loopback).err().unwrap();
        assert_eq!(refused.code(), "service.malformed", "{text:?}");
        assert!(!refused.to_string().contains(secret), "{refused}");
    }
}
