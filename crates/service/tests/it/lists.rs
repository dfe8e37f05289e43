//! Lists of jobs, in parts.

use std::collections::BTreeSet;

use everlevel_service::Scope;

use crate::support::{Owner, Running, program, push, start};

#[test]
fn jobs_are_listed_in_parts() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let file = owner.columns("lists", &[("x", &[1, 2])]);
    let (keys, columns) = (push(&client, &owner.keys), push(&client, &file));
    let request = program(&keys, &columns, "y = x + 1");
    let jobs: BTreeSet<String> = (0..5).map(|_| start(&client, &request).to_string()).collect();
    assert_eq!(jobs.len(), 5);
    let token = service.token("acme", &[Scope::Read]);
    let (mut found, mut path) = (Vec::new(), "/v1/jobs?after=&limit=2".to_string());
    for part in [2, 2, 1] {
        let (status, answer) = service.call("GET", &path, &token, b"");
        let items = answer["items"].as_array().unwrap();
        assert_eq!((status, items.len()), (200, part), "{answer}");
        found.extend(items.iter().map(|job| job["id"].as_str().unwrap().to_string()));
        match answer["next"].as_str() {
            Some(next) => path = format!("/v1/jobs?after={next}&limit=2"),
            None => assert_eq!(part, 1),
        }
    }
    assert!(found.iter().eq(jobs.iter()), "{found:?}, {jobs:?}");
    // Clients get all, and so do those of former versions.
    let all = client.jobs().unwrap().into_iter().map(|job| job.id.to_string());
    assert!(all.eq(jobs.iter().cloned()));
    let (status, whole) = service.call("GET", "/v1/jobs", &token, b"");
    assert_eq!((status, whole["items"].as_array().unwrap().len()), (200, 5));
    assert!(whole["next"].is_null());
    // Of nobody else, whatever comes before.
    let stranger = service.token("acme-b", &[Scope::Read]);
    let (status, none) = service.call("GET", "/v1/jobs?after=", &stranger, b"");
    assert_eq!((status, none["items"].as_array().unwrap().len()), (200, 0));
    for query in ["after=..", "after=0", "after=%00", "limit=-1", "limit=x", "more=1"] {
        let (status, _) = service.call("GET", &format!("/v1/jobs?{query}"), &token, b"");
        assert_eq!(status, 400, "{query}");
    }
}
