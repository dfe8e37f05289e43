//! Uploads whose parts come as they like, full disks, bytes that change, keys of another owner,
//! clocks that are set back.

use std::path::Path;
use std::time::{Duration, SystemTime};

use everlevel_service::api::NewUpload;
use everlevel_service::{IdempotencyKey, ObjectId};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::options::Options;
use crate::process::Process;
use crate::tenant::Tenant;

/// The largest part that is sent, in bytes.
const PART: u64 = 60_000;
/// How many senders add to one upload.
const SENDERS: u64 = 4;

/// Parts from random places, of random lengths, by several senders at once, sometimes cut or too
/// long: the object is what was announced.
pub fn uploads(options: &Options, tenants: &[Tenant], directory: &Path) -> Value {
    let service = Process::start(&directory.join("service"), &[]);
    let tenant = &tenants[0];
    let (token, mut parts) = (service.token(&tenant.name), [0u64; 3]);
    for round in 0..options.uploads {
        let path = &tenant.inputs[round % tenant.inputs.len()];
        let bytes = std::fs::read(path).expect("an input");
        let id = blake3::hash(&bytes).to_hex().to_string();
        let new = NewUpload { id: id.parse().expect("a name"), bytes: bytes.len() as u64 };
        let new = serde_json::to_vec(&new).expect("JSON");
        assert_eq!(service.call("POST", "/v1/uploads", &token, &new).0, 200);
        std::thread::scope(|scope| {
            let sender = |seed: u64| {
                let mut rng = ChaCha20Rng::seed_from_u64(seed);
                send(&service, &token, (&id, &bytes), &mut rng)
            };
            let senders = (0..SENDERS).map(|n| {
                let seed = SENDERS * round as u64 + n;
                scope.spawn(move || sender(seed))
            });
            for sent in senders.collect::<Vec<_>>() {
                let sent = sent.join().expect("a sender");
                parts.iter_mut().zip(sent).for_each(|(all, sent)| *all += sent);
            }
        });
        let id: ObjectId = id.parse().expect("a name");
        let client = service.client(&token);
        assert_eq!(client.fetch(&id, |_, _| ()).expect("an object"), bytes);
        client.delete_object(&id).expect("it is removed");
    }
    let used = service.client(&token).usage().expect("usage");
    assert_eq!((used.bytes, used.objects), (0, 0));
    let [taken, refused, cut] = parts;
    json!({ "uploads": options.uploads, "parts": taken, "refused": refused, "cut": cut })
}

/// One sender, until the upload is complete: how many parts were taken, refused and cut.
fn send(
    service: &Process,
    token: &str,
    (id, bytes): (&str, &[u8]),
    rng: &mut impl Rng,
) -> [u64; 3] {
    let (mut taken, mut refused, mut cut) = (0, 0, 0);
    loop {
        let (status, state) = service.call("GET", &format!("/v1/uploads/{id}"), token, b"");
        assert_eq!(status, 200, "{state}");
        if state["complete"] == true {
            return [taken, refused, cut];
        }
        let at = state["offset"].as_u64().expect("an offset");
        // Mostly where it goes on; else before or after that.
        let offset = match rng.next_u64() % 4 {
            0 => rng.next_u64() % bytes.len() as u64,
            _ => at,
        };
        let begin = offset as usize;
        let end = bytes.len().min(begin + 1 + (rng.next_u64() % PART) as usize);
        let path = format!("/v1/uploads/{id}?offset={offset}");
        match rng.next_u64() % 8 {
            0 => {
                // Broken off in the middle: nothing of it is stored.
                let head = format!(
                    "PUT {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\
                     Content-Length: {}\r\n\r\n",
                    end - begin + 1
                );
                let part = [head.as_bytes(), &bytes[begin..end]].concat();
                service.raw(&part, Duration::from_secs(10), true);
                cut += 1;
            }
            1 => {
                // Longer than what was announced.
                let more = [&bytes[begin..], &[0; 100]].concat();
                let status = service.call("PUT", &path, token, &more).0;
                assert!([200, 409, 413].contains(&status), "{status}");
                refused += 1;
            }
            _ => match service.call("PUT", &path, token, &bytes[begin..end]).0 {
                200 => taken += 1,
                409 => refused += 1,
                status => panic!("a part was answered with {status}"),
            },
        }
    }
}

/// One fault after the other, each with what is told of it and what goes on.
pub fn run(_: &Options, tenants: &[Tenant], directory: &Path) -> Value {
    let home = directory.join("service");
    let (tenant, other) = (&tenants[0], &tenants[1]);
    let token = Process::start(&home, &[]).token(&tenant.name);
    let full = full_disk(&home, tenant, &token);
    let service = Process::start(&home, &[]);
    let client = service.client(&token);
    let push = |path: &Path| client.push(path, |_, _| ()).expect("an upload");
    let keys = push(&tenant.keys);
    let inputs: Vec<ObjectId> = tenant.inputs.iter().map(|path| push(path)).collect();
    let start = |keys: &ObjectId, input: &ObjectId| {
        let key = IdempotencyKey::random().expect("random bits");
        client.start(&tenant.program(keys, input, false), &key)
    };
    // A byte of a stored object changes: the jobs that need it end with its name, others go on.
    let stored = home.join("objects").join(&tenant.name).join(inputs[0].as_ref());
    let mut bytes = std::fs::read(&stored).expect("a stored object");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&stored, &bytes).expect("a changed object");
    let (damaged, well) = (start(&keys, &inputs[0]), start(&keys, &inputs[1]));
    let told = client.wait(&damaged.expect("a job").id, |_| ()).expect_err("damage is found");
    assert_eq!(told.code(), "service.damaged");
    assert!(told.to_string().contains(inputs[0].as_ref()), "{told}");
    let well = client.wait(&well.expect("a job").id, |_| ()).expect("another object is well");
    let answer = client.fetch(&well.results["y"], |_, _| ()).expect("a result");
    assert!(tenant.is_answer(&answer, 1));
    // Server keys of another owner.
    let theirs = push(&other.keys);
    assert_eq!(start(&theirs, &inputs[1]).expect_err("refused").code(), "scheme.wrong-key");
    drop(service);
    // The clock is set back: everything is from the future.
    let years = SystemTime::now() + Duration::from_secs(20 * 365 * 86_400);
    let files = dated(&home, years);
    let service = Process::start(&home, &[]);
    let client = service.client(&token);
    let job = IdempotencyKey::random().expect("random bits");
    let job = client.start(&tenant.program(&keys, &inputs[2], false), &job).expect("a job").id;
    let done = client.wait(&job, |_| ()).expect("jobs go on");
    let answer = client.fetch(&done.results["y"], |_, _| ()).expect("a result");
    assert!(tenant.is_answer(&answer, 2));
    json!({
        "disk_full": full, "flipped_byte": "service.damaged", "other_owner": "scheme.wrong-key",
        "clock_set_back_files": files,
    })
}

/// No file may grow: what does not fit is refused, the service goes on, and so does the upload once
/// there is room.
#[cfg(unix)]
fn full_disk(home: &Path, tenant: &Tenant, token: &str) -> Value {
    let length = tenant.keys.metadata().expect("keys").len();
    // The records take some, which are there already.
    let records = home.join("state.redb").metadata().expect("records").len();
    let kib = (records.max(length / 2) >> 10) + 64;
    assert!(kib << 10 < length, "keys of {length} bytes are to be too long");
    let told = {
        let service = Process::with_small_files(home, kib);
        let client = service.client(token);
        let told = client.push(&tenant.keys, |_, _| ()).expect_err("no room");
        assert_eq!(told.code(), "service.internal", "{told}");
        assert_eq!(service.call("GET", "/healthz", "", b"").0, 200);
        client.push(&tenant.inputs[0], |_, _| ()).expect("what fits is taken");
        told.code().to_string()
    };
    let service = Process::start(home, &[]);
    let client = service.client(token);
    let mut first = None;
    let id = client.push(&tenant.keys, |offset, _| {
        first.get_or_insert(offset);
    });
    let id = id.expect("there is room again");
    client.fetch(&id, |_, _| ()).expect("it is what it was");
    json!({ "told": told, "goes_on_at_byte": first, "of": length })
}

#[cfg(not(unix))]
fn full_disk(_: &Path, _: &Tenant, _: &str) -> Value {
    Value::Null
}

/// Dates all files below a directory; how many there are.
fn dated(directory: &Path, time: SystemTime) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            count += dated(&path, time);
        } else {
            let file = std::fs::File::options().append(true).open(&path).expect("a file");
            file.set_modified(time).expect("a date");
            count += 1;
        }
    }
    count
}
