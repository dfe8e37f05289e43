//! Clients that send or read a few bytes at a time, while others want answers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::options::Options;
use crate::process::Process;
use crate::tenant::Tenant;

/// The most seconds of a request, which slow ones exceed.
const REQUEST_SECONDS: u64 = 5;
/// How long it goes on after that, so that others are answered beside those that are refused.
const MORE_SECONDS: u64 = 3;
/// How long some requests of the others may take, one after the other, on a busy machine.
const PROMPT: Duration = Duration::from_secs(20);
/// The bytes that slow clients announce; they send few of them.
const ANNOUNCED: usize = 4 << 20;

pub fn run(options: &Options, tenants: &[Tenant], directory: &Path) -> Value {
    let (seconds, home) = (REQUEST_SECONDS.to_string(), directory.join("service"));
    let (slow, prompt, keys) = {
        // What is sent before may take longer.
        let service = Process::start(&home, &[]);
        let (slow, prompt) = (service.token(&tenants[0].name), service.token(&tenants[1].name));
        let keys = service.client(&slow).push(&tenants[0].keys, |_, _| ()).expect("an upload");
        (slow, prompt, keys)
    };
    let service = Process::start(&home, &["--request-seconds", &seconds]);
    let other = service.client(&prompt);
    let put = format!(
        "PUT /v1/uploads/{}?offset=0 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {slow}\r\n\
         Content-Length: {ANNOUNCED}\r\n\r\n",
        "0".repeat(64)
    );
    let get = format!(
        "GET /v1/objects/{keys}/content HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {slow}\r\n\
         \r\n"
    );
    // A third sends bodies, a third reads nothing, a third does not get beyond its head.
    let heads = [put.as_bytes(), get.as_bytes(), &get.as_bytes()[..get.len() - 2]];
    let mut open: Vec<TcpStream> = (0..options.slow)
        .map(|number| {
            let mut stream = TcpStream::connect(service.address).expect("a connection");
            stream.write_all(heads[number % 3]).expect("a head");
            stream
        })
        .collect();
    let (started, mut longest, mut calls) = (Instant::now(), Duration::ZERO, 0);
    while started.elapsed() < Duration::from_secs(REQUEST_SECONDS + MORE_SECONDS) {
        for (number, stream) in open.iter_mut().enumerate().filter(|(number, _)| number % 3 == 0) {
            // Whoever was too slow is told so, and then not heard any more.
            let _ = stream.write_all(&[number as u8]);
        }
        let asked = Instant::now();
        other.usage().expect("another tenant is answered");
        if calls % 8 == 0 {
            let path = &tenants[1].inputs[calls / 8 % tenants[1].inputs.len()];
            let id = other.push(path, |_, _| ()).expect("another tenant sends");
            other.delete_object(&id).expect("and deletes");
        }
        longest = longest.max(asked.elapsed());
        calls += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(longest < PROMPT, "another tenant waited for {longest:?}");
    // Slow bodies were refused with a code, so that a client knows.
    let mut refused = 0;
    for stream in open.iter_mut().step_by(3) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        refused += usize::from(String::from_utf8_lossy(&answer).contains("service.timeout"));
    }
    assert!(refused > 0, "no slow client was told");
    json!({
        "slow": options.slow, "told": refused, "calls_of_others": calls,
        "longest_ms": longest.as_millis() as u64, "rss_bytes": service.memory("VmHWM"),
    })
}
