//! What is written of the service is what it does.

use std::collections::BTreeSet;

use everlevel_service::{OPENAPI, RemoteError, Scope, ServiceError, routes_and_scopes};
use serde_json::Value;

#[test]
fn the_description_has_every_route_and_no_other() {
    let described: Value = serde_json::from_str(OPENAPI).unwrap();
    let mut found = BTreeSet::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let scope = operation["x-scope"].as_str().map(str::to_string);
            assert_eq!(operation["security"].is_array(), scope.is_some(), "{method} {path}");
            let answers = operation["responses"].as_object().unwrap();
            assert!(answers.contains_key("200"), "{method} {path}");
            found.insert((method.clone(), path.clone(), scope));
        }
    }
    let routes = routes_and_scopes().into_iter().map(|(method, path, scope)| {
        (method.to_string(), path.to_string(), scope.map(|scope| Scope::name(scope).to_string()))
    });
    assert_eq!(found, routes.collect());
    // Whatever it refers to is there.
    let text = OPENAPI.split("#/components/schemas/").skip(1);
    for name in text.filter_map(|rest| rest.split('"').next()) {
        assert!(described["components"]["schemas"][name].is_object(), "{name}");
    }
}

#[test]
fn the_page_about_the_service_lists_every_route() {
    let page = include_str!("../../../../docs/service.md");
    for (method, path, scope) in routes_and_scopes() {
        let scope = scope.map_or("–", Scope::name);
        let row = format!("| `{} {path}` | {scope} |", method.to_uppercase());
        assert!(page.contains(&row), "docs/service.md: {row}");
    }
}

#[test]
fn every_code_is_documented() {
    let text = include_str!("../../../../docs/errors.md");
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|code| code.starts_with("service."))
        .collect();
    assert_eq!(listed, ServiceError::CODES);
}

/// Codes stand beside the variants and in a list: neither has one that the other has not.
#[test]
fn every_error_has_a_listed_code() {
    let text = String::new;
    let (what, used, limit) = ("", 0, 0);
    let own = [
        ServiceError::Unauthorized,
        ServiceError::Forbidden { scope: "" },
        ServiceError::NotFound { what },
        ServiceError::Conflict { problem: text() },
        ServiceError::Offset { expected: 1, found: 0 },
        ServiceError::Quota { what, used, limit },
        ServiceError::Damaged { object: text() },
        ServiceError::Memory { needed: 1, budget: 0 },
        ServiceError::DeviceMemory { needed: 1, budget: 0 },
        ServiceError::Timeout { seconds: 1 },
        ServiceError::Interrupted,
        ServiceError::Cancelled,
        ServiceError::Internal { what, problem: text() },
        ServiceError::State { path: text(), problem: text() },
        ServiceError::InUse { what, job: text() },
        ServiceError::Unavailable,
    ];
    let shared = [
        RemoteError::TooLarge { what, limit },
        RemoteError::malformed(what, ""),
        RemoteError::Checksum { expected: text(), found: text() },
        RemoteError::Unreachable { problem: text() },
        RemoteError::NoTls,
        RemoteError::Tls { place: text(), problem: text() },
        RemoteError::Certificate { problem: text() },
    ];
    let all = own.into_iter().chain(shared.map(ServiceError::from));
    let mut found: Vec<String> = all.map(|e| e.code().to_string()).collect();
    let mut listed: Vec<String> = ServiceError::CODES.iter().map(|code| code.to_string()).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
}
