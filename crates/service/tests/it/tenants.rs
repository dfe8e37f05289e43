//! No tenant can name, detect or use up what another has.

use everlevel_service::api::{JobRequest, JobState, NewUpload};
use everlevel_service::{Scope, Tokens};

use crate::support::{Owner, Running, long_program, program, push, start, wait_until_it_computes};

#[test]
fn what_belongs_to_another_is_not_there() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let (acme, rival) = (service.client("acme"), service.client("rival"));
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let (keys, columns) = (push(&acme, &owner.keys), push(&acme, &file));
    let job = start(&acme, &program(&keys, &columns, "y = x + 1"));
    acme.wait(&job, |_| ()).unwrap();
    let token = service.token("rival", &[Scope::Read, Scope::Write, Scope::Run]);
    let nobody = "0".repeat(64);
    for (method, path) in [
        ("GET", "/v1/objects/ID"),
        ("GET", "/v1/objects/ID/content"),
        ("DELETE", "/v1/objects/ID"),
        ("GET", "/v1/uploads/ID"),
        ("PUT", "/v1/uploads/ID?offset=0"),
        ("DELETE", "/v1/uploads/ID"),
        ("GET", "/v1/tables/ID"),
        ("GET", "/v1/tables/ID/schema"),
        ("DELETE", "/v1/tables/ID"),
    ] {
        // The answer is the one for what nobody has.
        let theirs = service.call(method, &path.replace("ID", keys.as_ref()), &token, b"");
        let none = service.call(method, &path.replace("ID", &nobody), &token, b"");
        assert_eq!((theirs.0, &theirs), (404, &none), "{method} {path}");
    }
    for (method, path) in [
        ("GET", format!("/v1/jobs/{job}")),
        ("POST", format!("/v1/jobs/{job}/cancel")),
        ("DELETE", format!("/v1/jobs/{job}")),
    ] {
        assert_eq!(service.call(method, &path, &token, b"").0, 404, "{method} {path}");
    }
    assert!(rival.objects().unwrap().is_empty() && rival.jobs().unwrap().is_empty());
    let body = serde_json::to_vec(&program(&keys, &columns, "y = x")).unwrap();
    assert_eq!(service.call("POST", "/v1/jobs", &token, &body).0, 404);
    // The same bytes are sent in full by each, so that nobody learns who has them.
    let new = NewUpload { id: columns.clone(), bytes: file.metadata().unwrap().len() };
    let (status, state) =
        service.call("POST", "/v1/uploads", &token, &serde_json::to_vec(&new).unwrap());
    assert_eq!(
        (status, state["offset"].as_u64(), state["complete"].as_bool()),
        (200, Some(0), Some(false))
    );
    assert_eq!(push(&rival, &file), columns);
    // And what one deletes, the other still has.
    rival.delete_object(&columns).unwrap();
    acme.fetch(&columns, |_, _| ()).unwrap();
}

#[test]
fn server_keys_have_a_quota_of_their_own() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |config| config.quota.keys = 1);
    let (acme, rival) = (service.client("acme"), service.client("rival"));
    let keys = push(&acme, &owner.keys);
    let used = acme.usage().unwrap();
    let refused = acme.push(&Owner::other().keys, |_, _| ()).unwrap_err();
    assert_eq!(refused.code(), "service.quota", "{refused}");
    assert!(refused.to_string().contains("server keys"), "{refused}");
    // Nothing of them stays; other objects and other tenants are not concerned.
    assert_eq!(acme.usage().unwrap(), used);
    assert_eq!(std::fs::read_dir(directory.path().join("uploads/acme")).unwrap().count(), 0);
    push(&acme, &owner.columns("beside", &[("x", &[1])]));
    push(&rival, &Owner::other().keys);
    assert_eq!(push(&acme, &owner.keys), keys);
    acme.delete_object(&keys).unwrap();
    push(&acme, &Owner::other().keys);
}

#[test]
fn a_token_does_what_its_scopes_say_until_it_is_revoked() {
    let directory = tempfile::tempdir().unwrap();
    let service = Running::start(directory.path(), |_| ());
    let read = service.token("acme", &[Scope::Read]);
    assert_eq!(service.call("GET", "/v1/objects", &read, b"").0, 200);
    let (status, told) = service.call("POST", "/v1/uploads", &read, b"{}");
    assert_eq!((status, told["error"]["code"].as_str()), (403, Some("service.forbidden")));
    assert_eq!(service.call("GET", "/metrics", &read, b"").0, 403);
    let tokens = Tokens::in_directory(directory.path());
    let [(shown, grant)] = &tokens.list().unwrap()[..] else { panic!("one token") };
    assert_eq!(grant.tenant.to_string(), "acme");
    tokens.revoke(shown).unwrap();
    let (status, told) = service.call("GET", "/v1/objects", &read, b"");
    assert_eq!((status, told["error"]["code"].as_str()), (401, Some("service.unauthorized")));
    assert!(tokens.revoke(shown).is_err() && tokens.revoke("").is_err());
    for wrong in ["", "everlevel_", "../state", &"a".repeat(5000), &read[..read.len() - 1]] {
        assert_eq!(service.call("GET", "/v1/objects", wrong, b"").0, 401, "{wrong}");
    }
    // Stored is only the hash.
    for entry in std::fs::read_dir(directory.path().join("tokens")).unwrap() {
        let path = entry.unwrap().path();
        assert!(!std::fs::read_to_string(&path).unwrap().contains(&read[10..]), "{path:?}");
    }
}

#[test]
fn quotas_hold() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let most = owner.keys.metadata().unwrap().len() + file.metadata().unwrap().len() + 200_000_000;
    let service = Running::start(directory.path(), |config| {
        config.quota.bytes = most;
        config.quota.active_jobs = 2;
    });
    let acme = service.client("acme");
    let (keys, columns) = (push(&acme, &owner.keys), push(&acme, &file));
    // Bytes count from when they are announced.
    let token = service.token("acme", &[Scope::Write]);
    let announce = |digit: &str, bytes| {
        let new = NewUpload { id: digit.repeat(64).parse().unwrap(), bytes };
        service.call("POST", "/v1/uploads", &token, &serde_json::to_vec(&new).unwrap())
    };
    assert_eq!(announce("1", 150_000_000).0, 200);
    let (status, told) = announce("2", 150_000_000);
    assert_eq!((status, told["error"]["code"].as_str()), (429, Some("service.quota")));
    assert_eq!(announce("3", u64::MAX).0, 429);
    assert_eq!(
        service.call("DELETE", &format!("/v1/uploads/{}", "1".repeat(64)), &token, b"").0,
        200
    );
    assert_eq!(announce("2", 150_000_000).0, 200);
    // Jobs, of which the third has to wait until one has ended. Another tenant has its own.
    let long = program(&keys, &columns, &long_program(40));
    let (first, second) = (start(&acme, &long), start(&acme, &long));
    let key = everlevel_service::IdempotencyKey::random().unwrap();
    assert_eq!(acme.start(&long, &key).unwrap_err().code(), "service.quota");
    assert_eq!(acme.usage().unwrap().active_jobs, 2);
    let rival = service.client("rival");
    let theirs = program(&push(&rival, &owner.keys), &push(&rival, &file), "y = x + 1");
    let theirs = start(&rival, &theirs);
    // Cancelled while it waits, and while it is computed.
    assert_eq!(acme.cancel(&second).unwrap().state, JobState::Cancelled);
    wait_until_it_computes(&acme, &first);
    acme.cancel(&first).unwrap();
    assert_eq!(acme.wait(&first, |_| ()).unwrap_err().code(), "service.cancelled");
    assert_eq!(acme.job(&first).unwrap().state, JobState::Cancelled);
    assert_eq!(rival.wait(&theirs, |_| ()).unwrap().state, JobState::Done);
    acme.delete_job(&first).unwrap();
    assert_eq!(acme.job(&first).unwrap_err().code(), "service.not-found");
}

/// An input that is named again is read again, and takes memory again.
#[test]
fn inputs_above_the_memory_for_keys_are_refused() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let file = owner.columns("x", &[("x", &[1, 2])]);
    // The keys fit exactly: they count as three times their file.
    let most = 3 * owner.keys.metadata().unwrap().len();
    let service = Running::start(directory.path(), |config| config.key_memory = most);
    let acme = service.client("acme");
    let (keys, columns) = (push(&acme, &owner.keys), push(&acme, &file));
    let times = most / file.metadata().unwrap().len() + 1;
    let request = JobRequest::Program {
        server_keys: keys,
        program: "y = x + 1".into(),
        inputs: Default::default(),
        columns: vec![columns; times as usize],
        tables: Default::default(),
        pad: false,
    };
    let key = everlevel_service::IdempotencyKey::random().unwrap();
    let refused = acme.start(&request, &key).unwrap_err();
    assert_eq!(refused.code(), "service.too-large", "{refused}");
    assert_eq!(acme.estimate(&request).unwrap_err().code(), "service.too-large");
    assert!(acme.jobs().unwrap().is_empty());
}

/// Equal results are one object, but the list of jobs has every name.
#[test]
fn a_job_has_no_more_results_than_a_tenant_objects() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |config| config.quota.objects = 2);
    let acme = service.client("acme");
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let (keys, columns) = (push(&acme, &owner.keys), push(&acme, &file));
    let refused = acme.estimate(&program(&keys, &columns, "a = x; b = x; c = x")).unwrap_err();
    assert_eq!(refused.code(), "service.malformed", "{refused}");
    acme.estimate(&program(&keys, &columns, "a = x; b = x")).unwrap();
}

/// Keys that stay seeds count as half as much, and results have the same bytes.
#[test]
fn seeded_keys_take_half_of_the_memory() {
    let owner = Owner::shared();
    let file = owner.columns("seeded", &[("x", &[1, 2, 200])]);
    let bytes = owner.keys.metadata().unwrap().len();
    let half = (3 * bytes).div_ceil(2);
    let run = |seeded_keys: bool, key_memory: u64| -> Result<_, String> {
        let directory = tempfile::tempdir().unwrap();
        let service = Running::start(directory.path(), |config| {
            (config.seeded_keys, config.key_memory) = (seeded_keys, key_memory);
        });
        let acme = service.client("acme");
        let (keys, columns) = (push(&acme, &owner.keys), push(&acme, &file));
        let request = program(&keys, &columns, "twice = x + x; large = x > 100");
        let cost = acme.estimate(&request).map_err(|e| e.code().to_string())?;
        let done = acme.wait(&start(&acme, &request), |_| ()).unwrap();
        let large = acme.fetch(&done.results["large"], |_, _| ()).unwrap();
        assert_eq!(owner.values(&large), [0, 0, 1]);
        Ok((cost.key_memory_bytes, done.results))
    };
    let (whole, expected) = run(false, 3 * bytes).unwrap();
    let (seeded, found) = run(true, half).unwrap();
    assert_eq!((whole, seeded), (3 * bytes, half));
    // Objects are named by the hashes of their bytes.
    assert_eq!(found, expected);
    for refused in [run(false, half), run(true, half - 1)] {
        assert_eq!(refused.unwrap_err(), "service.memory");
    }
}

#[test]
fn keys_above_the_budget_and_jobs_above_their_time_are_refused() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let small = tempfile::tempdir().unwrap();
    let service = Running::start(small.path(), |config| config.key_memory = 1_000_000);
    let acme = service.client("acme");
    let request = program(&push(&acme, &owner.keys), &push(&acme, &file), "y = x + 1");
    let key = everlevel_service::IdempotencyKey::random().unwrap();
    let told = acme.start(&request, &key).unwrap_err();
    assert_eq!(told.code(), "service.memory");
    assert!(told.to_string().contains("1000000"), "{told}");

    let service = Running::start(directory.path(), |config| config.quota.job_seconds = 1);
    let acme = service.client("acme");
    let text = long_program(60);
    let job = start(&acme, &program(&push(&acme, &owner.keys), &push(&acme, &file), &text));
    assert_eq!(acme.wait(&job, |_| ()).unwrap_err().code(), "service.timeout");
}

/// Before anything is made.
#[cfg(not(feature = "cuda"))]
#[test]
fn a_device_takes_a_program_that_was_built_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("service");
    let mut config = everlevel_service::Config::new(&path);
    config.device = Some(everlevel_service::Device { ordinal: 0, key_memory: None });
    let refused = everlevel_service::Service::start(config).err().unwrap();
    assert_eq!(refused.code(), "gpu.none");
    assert!(refused.to_string().contains("feature cuda") && !path.exists(), "{refused}");
}
