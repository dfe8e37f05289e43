//! The page, and what keeps it from talking to anybody else.

use crate::support::Running;

/// Head and body of an answer to a browser.
fn got(service: &Running, path: &str, header: &str) -> (String, Vec<u8>) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: here\r\n{header}Connection: close\r\n\r\n");
    let answer = service.request(request.as_bytes());
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
    (String::from_utf8_lossy(&answer[..end]).to_lowercase(), answer[end + 4..].to_vec())
}

#[test]
fn a_page_is_handed_out_with_a_strict_policy() {
    let (directory, page) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (name, text) in [
        ("index.html", "<!doctype html>here"),
        ("app.js", "1"),
        ("secret.key", "no"),
        ("a.wasm", "w"),
    ] {
        std::fs::write(page.path().join(name), text).unwrap();
    }
    let service = Running::start(directory.path(), |c| c.page = Some(page.path().into()));
    let (head, body) = got(&service, "/", "");
    assert!(head.starts_with("http/1.1 200") && body == b"<!doctype html>here", "{head}");
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'",
        "connect-src 'self'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "content-type: text/html",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    let (head, body) = got(&service, "/page/a.wasm", "");
    assert!(head.contains("content-type: application/wasm") && body == b"w", "{head}");
    let tag = head.lines().find(|line| line.starts_with("etag: ")).expect("a tag").to_string();
    let tag = format!("If-None-Match: {}\r\n", &tag[6..]);
    let (head, body) = got(&service, "/page/a.wasm", &tag);
    assert!(head.starts_with("http/1.1 304") && body.is_empty(), "{head}");
    // Nothing but the files that a page is made of, however it is written.
    for path in ["/page/secret.key", "/page/..%2fstate.redb", "/page/", "/page/%2e%2e", "/page/a/b"]
    {
        assert!(got(&service, path, "").0.starts_with("http/1.1 404"), "{path}");
    }
}

#[test]
fn without_a_page_it_is_said_how_one_is_built() {
    let (directory, empty) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let service = Running::start(directory.path(), |_| ());
    let (head, body) = got(&service, "/", "");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(String::from_utf8_lossy(&body).contains("--page target/web/page"));
    let mut config = everlevel_service::Config::new(empty.path().join("service"));
    config.page = Some(empty.path().into());
    let refused = everlevel_service::Service::start(config).err().expect("no page");
    assert_eq!(refused.code(), "service.malformed");
    assert!(refused.to_string().contains("index.html"), "{refused}");
}
