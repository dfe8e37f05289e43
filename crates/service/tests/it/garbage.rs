//! Requests that are none: each is refused, and the service goes on.

use everlevel_service::{Client, Exposure, Scope};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::support::Running;

/// Whatever the bytes are, the answer is a refusal or none.
#[test]
fn thousands_of_garbage_requests() {
    let directory = tempfile::tempdir().unwrap();
    let service = Running::start(directory.path(), |_| ());
    let token = service.token("acme", &[Scope::Read, Scope::Write, Scope::Run]);
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut draw = |below: usize| (rng.next_u64() % below as u64) as usize;
    let paths = [
        "/v1/uploads",
        "/v1/uploads/..%2f..%2fstate.redb",
        "/v1/objects/%00",
        "/v1/jobs/..",
        "/v1/jobs",
        "/v1/tables",
        "/v1/estimates",
        "//",
        "/v1/objects/../../etc/passwd",
        "/v1/uploads/é?offset=-1",
        "/v1/uploads/a?offset=99999999999999999999",
        "/v1/jobs/0?wait=NaN",
        "/v1/params/..",
        "/v1/uploads?a=%ff",
    ];
    let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "BREW"];
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "\"kind\":\"program\"",
        "\"kind\":\"table\"",
        "\"id\":\"../..\"",
        ",",
        "\"bytes\":1e99",
        "\"bytes\":-1",
        "null",
        "\"texts\":{\"../a\":\"\"}",
        "\u{0}",
        "\"",
        "9",
        "\"plan\":{\"format\":\"everlevel table plan\",\"version\":2}",
    ];
    for round in 0..4000 {
        let body: String = (0..draw(12)).map(|_| pieces[draw(pieces.len())]).collect();
        let (method, path) = (methods[draw(methods.len())], paths[draw(paths.len())]);
        let (status, told) = service.call(method, path, &token, body.as_bytes());
        // Lists are there for all.
        assert!(
            (400..500).contains(&status) || method == "GET" && status == 200,
            "{status} {method} {path} {body}"
        );
        assert!(status == 200 || told["error"]["code"].is_string(), "{status} {path} {told}");
        if round % 20 == 0 {
            let bytes: Vec<u8> = (0..draw(300)).map(|_| draw(256) as u8).collect();
            service.raw(&bytes);
        }
    }
    // Nested so deeply that a parser of less care would end the process.
    let deep = "[".repeat(1 << 20);
    assert_eq!(service.call("POST", "/v1/jobs", &token, deep.as_bytes()).0, 400);
    // Above the limits of requests.
    let large = vec![b' '; 3 << 20];
    assert_eq!(service.call("POST", "/v1/jobs", &token, &large).0, 413);
    assert_eq!(service.call("GET", "/healthz", "", b"").0, 200);
    let used = Client::new(&service.url(), &token, Exposure::Loopback).unwrap().usage().unwrap();
    assert_eq!((used.objects, used.active_jobs), (0, 0));
}

/// What is refused below the routes has a code, too.
#[test]
fn what_is_no_http_is_told_so() {
    let directory = tempfile::tempdir().unwrap();
    let service = Running::start(directory.path(), |_| ());
    let long = format!("GET /healthz HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let address = format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "X: y\r\n".repeat(5000));
    let nonsense = "nonsense\r\n\r\n".to_string();
    for request in [long, address, many, nonsense] {
        let answer = String::from_utf8(service.raw(request.as_bytes())).unwrap();
        let what = &request[..20.min(request.len())];
        assert!(answer.starts_with("HTTP/1.1 4"), "{what:?}: {answer:?}");
        assert!(answer.contains("\"code\":\"service.malformed\""), "{what:?}: {answer:?}");
    }
    // A name that is no text.
    let token = service.token("acme", &[Scope::Read]);
    let (status, told) = service.call("GET", "/v1/objects/%ff", &token, b"");
    assert_eq!((status, told["error"]["code"].as_str()), (404, Some("service.not-found")));
}

#[test]
fn connections_without_end_do_not_keep_others_out() {
    let directory = tempfile::tempdir().unwrap();
    let service = Running::start(directory.path(), |config| {
        config.connections = 2;
        config.request_time = std::time::Duration::from_millis(400);
    });
    let _idle: Vec<_> =
        (0..2).map(|_| std::net::TcpStream::connect(service.address).unwrap()).collect();
    // They lose their places after ten times the time of a request.
    assert_eq!(service.call("GET", "/healthz", "", b"").0, 200);
}

#[test]
fn http_stays_on_this_machine() {
    let directory = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let service =
        everlevel_service::Service::start(everlevel_service::Config::new(directory.path()));
    let told = service.unwrap().serve(listener, Exposure::Loopback, async {}).unwrap_err();
    assert_eq!(told.code(), "service.malformed");
    let token = format!("everlevel_{}", "0".repeat(64));
    for (url, allowed) in [
        ("http://127.0.0.1:1", true),
        ("http://localhost:1/", true),
        ("http://[::1]:1", true),
        ("http://10.0.0.1:1", false),
        ("http://127.0.0.1.example.org:1", false),
        ("ftp://127.0.0.1:1", false),
        ("http://127.0.0.1:1/path", false),
        ("nonsense", false),
    ] {
        assert_eq!(Client::new(url, &token, Exposure::Loopback).is_ok(), allowed, "{url}");
    }
    assert!(Client::new("http://10.0.0.1:1", &token, Exposure::Anywhere).is_ok());
}
