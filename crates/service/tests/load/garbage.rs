//! Requests that are none.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::options::Options;
use crate::process::Process;
use crate::tenant::Tenant;

/// How long an answer is waited for: some of them look as if more were to come.
const PAUSE: Duration = Duration::from_millis(200);
/// How many of them come at the same time.
const SENDERS: usize = 4;

/// Well-formed requests with some bytes changed, and bytes at random: none is answered with
/// success or as the service's fault, and the service goes on.
pub fn run(options: &Options, tenants: &[Tenant], directory: &Path) -> Value {
    let service = Process::start(&directory.join("service"), &[]);
    let token = service.token(&tenants[0].name);
    let before = service.memory("VmRSS");
    let (refused, silent) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (service, token, refused, silent) = (&service, &token, &refused, &silent);
            scope.spawn(move || {
                let mut rng = ChaCha20Rng::seed_from_u64(sender as u64);
                for _ in 0..options.garbage.div_ceil(SENDERS) {
                    let answer = service.raw(&request(token, &mut rng), PAUSE, false);
                    let answer = String::from_utf8_lossy(&answer);
                    match answer.split(' ').nth(1) {
                        None => silent.fetch_add(1, Ordering::Relaxed),
                        Some(status) => {
                            assert!(status.starts_with('4'), "{answer}");
                            refused.fetch_add(1, Ordering::Relaxed)
                        }
                    };
                }
            });
        }
    });
    assert_eq!(service.call("GET", "/healthz", "", b"").0, 200);
    let used = service.client(&token).usage().expect("usage");
    assert_eq!((used.bytes, used.objects, used.active_jobs), (0, 0, 0));
    json!({
        "requests": options.garbage, "refused": refused.into_inner(),
        "without_an_answer": silent.into_inner(),
        "rss_bytes_before": before, "rss_bytes_after": service.memory("VmRSS"),
    })
}

fn request(token: &str, rng: &mut impl Rng) -> Vec<u8> {
    let mut draw = |below: usize| (rng.next_u64() % below as u64) as usize;
    if draw(4) == 0 {
        return (0..draw(400)).map(|_| draw(256) as u8).collect();
    }
    let bodies = [
        "{\"id\":\"ID\",\"bytes\":9}",
        "{\"kind\":\"program\",\"server_keys\":\"ID\",\"program\":\"y = x\",\"columns\":[\"ID\"]}",
        "{\"kind\":\"table\",\"server_keys\":\"ID\",\"table\":\"ID\",\"plan\":{\"version\":2}}",
        "{\"texts\":{\"schema.json\":\"{}\"},\"blocks\":{\"000000-0000.columns\":\"ID\"}}",
        "",
    ];
    let paths = ["uploads", "jobs", "tables", "estimates", "objects/ID", "jobs/ID/events"];
    let methods = ["POST", "PUT", "DELETE", "PATCH", "BREW"];
    let id: String = (0..64).map(|_| char::from(b"0123456789abcdef"[draw(16)])).collect();
    let body = bodies[draw(bodies.len())].replace("ID", &id);
    let path = paths[draw(paths.len())].replace("ID", &id);
    let head = format!(
        "{} /v1/{path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        methods[draw(methods.len())],
        body.len()
    );
    let mut bytes = [head.as_bytes(), body.as_bytes()].concat();
    for _ in 0..draw(4) {
        let at = draw(bytes.len());
        bytes[at] = draw(256) as u8;
    }
    bytes
}
