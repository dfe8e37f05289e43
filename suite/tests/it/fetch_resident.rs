//! `fetch-by-similarity` with a server that stays: its answers, when it ends, and what it refuses.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use everlevel_suite::fetch::resident::IDLE_VARIABLE;

use crate::fetch::{
    DIMENSION, KEYS, KEYS_FOR_COUNTS, QUERY, RESIDENT, ROWS, SLOTS, count, expected, first, floats,
    result, run, run_with, stand_in_of,
};
use crate::stand_in::{StandIn, failure};

const START: &str = "server_preprocess_dataset";
const ASK: &str = "server_encrypted_compute";

/// A database whose rows are orthogonal to the query, but for these.
fn harness(matching: &[usize]) -> StandIn {
    let row = |at: usize| (0..DIMENSION).map(move |i| f32::from(u8::from(i == at)));
    let rows = (0..ROWS).flat_map(|i| row(usize::from(!matching.contains(&i))));
    stand_in_of(&RESIDENT, &rows.collect::<Vec<_>>(), &first())
}

/// Where the server listens, by its short name from the root of the work tree.
fn socket(harness: &StandIn) -> std::path::PathBuf {
    harness.io("server/socket")
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The code of a stage that fails, and leaves no result.
fn refused(harness: &StandIn) -> String {
    let download = harness.io("ciphertexts_download/results.bin");
    fs::create_dir_all(download.parent().unwrap()).unwrap();
    fs::write(&download, "a result").unwrap();
    let code = failure(&harness.stage(ASK));
    let left = fs::read_dir(download.parent().unwrap()).unwrap().count();
    assert_eq!(left, 0, "{code}");
    code
}

/// Several queries to one server; then counts, for which it is started again, and another ends.
#[test]
fn answers_are_those_of_a_server_that_starts_with_the_stage() {
    let matching = [0, 17, SLOTS + 3, ROWS - 1];
    let mut harness = harness(&matching);
    run_with(&KEYS, &harness, "client_postprocess");
    harness.assert_measured();
    assert!(result(&harness) == expected(matching));
    let steps = fs::read_to_string(harness.io("server_reported_steps.json")).unwrap();
    let steps: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&steps).unwrap();
    let names = ["Encrypted computation", "Read inputs", "Total", "Write outputs"];
    assert!(steps.keys().eq(names), "{steps:?}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket(&harness)), 0o600);
    assert_eq!(mode(socket(&harness).parent().unwrap()), 0o700);

    let away: Vec<f32> = first().iter().map(|x| -x).collect();
    for (query, rows) in [(&away, &[][..]), (&first(), &matching[..])] {
        harness.write_data("query.bin", floats(query));
        run(&harness, &QUERY);
        assert!(result(&harness) == expected(rows.iter().copied()));
    }
    // The secret key and the data are not needed by either stage of the server.
    for directory in ["secret_key", "preprocessed"] {
        fs::rename(harness.io(directory), harness.root().join(directory)).unwrap();
    }
    // A server that another one follows has ended before that one reads anything.
    let mut former = UnixStream::connect(socket(&harness)).unwrap();
    run(&harness, &[START]);
    former.set_nonblocking(true).unwrap();
    let end = former.read(&mut [0; 16]);
    assert!(!end.is_err_and(|e| e.kind() == ErrorKind::WouldBlock));
    run(&harness, &[ASK]);
    for directory in ["secret_key", "preprocessed"] {
        fs::rename(harness.root().join(directory), harness.io(directory)).unwrap();
    }
    harness.set("OPTIONS", "--count_only --seed 5");
    // What was started for payloads does not count.
    assert_eq!(refused(&harness), "suite.server");
    // It notices that another one is started in its place.
    let old = harness.root().join("old");
    fs::rename(socket(&harness).parent().unwrap(), &old).unwrap();
    run_with(&KEYS_FOR_COUNTS, &harness, "client_postprocess");
    assert_eq!(count(&harness), matching.len() as u64);
    until("the former server ends", || UnixStream::connect(old.join("socket")).is_err());
}

/// With the work tree, and after a time without a request; then stages say that there is none.
#[test]
fn the_server_ends() {
    let mut harness = harness(&[5]);
    assert_eq!(failure(&harness.stage(ASK)), "suite.server");
    run_with(&KEYS, &harness, START);
    let away = harness.root().join("away");
    fs::rename(harness.io(""), &away).unwrap();
    until("the work tree ended", || UnixStream::connect(away.join("server/socket")).is_err());
    fs::rename(&away, harness.io("")).unwrap();
    // The socket of a server that has ended.
    assert!(socket(&harness).exists());
    run(&harness, &QUERY[..2]);
    assert_eq!(refused(&harness), "suite.server");

    harness.set_variable(IDLE_VARIABLE, Some("1"));
    run(&harness, &[START]);
    until("nobody asks", || !socket(&harness).exists());
    assert_eq!(refused(&harness), "suite.server");
    for wrong in ["", "-1", "soon"] {
        harness.set_variable(IDLE_VARIABLE, Some(wrong));
        assert_eq!(failure(&harness.stage(START)), "suite.server", "{wrong:?}");
        assert!(!socket(&harness).exists());
    }
}

/// Keys, database and query that changed or are none: no answer from what was read before.
#[test]
fn files_that_are_not_those_that_were_read() {
    let harness = harness(&[5, 9]);
    run_with(&KEYS, &harness, "client_encode_encrypt_query");
    let query = harness.io("ciphertexts_upload/query.bin");
    let kept = fs::read(&query).unwrap();
    for wrong in [&kept[..kept.len() - 1], b"a query", &[]] {
        fs::write(&query, wrong).unwrap();
        assert_eq!(refused(&harness), "suite.server");
    }
    fs::copy(harness.io("ciphertexts_upload/payloads.ct"), &query).unwrap();
    assert_eq!(refused(&harness), "suite.server");
    fs::remove_file(&query).unwrap();
    assert_eq!(refused(&harness), "suite.server");
    fs::write(&query, &kept).unwrap();
    // The server goes on.
    run(&harness, &QUERY[2..]);
    assert!(result(&harness) == expected([5, 9]));
    // The same bytes in other files are other files.
    for name in ["keys/server.keys", "ciphertexts_upload/rows.ct", "ciphertexts_upload/payloads.ct"]
    {
        let bytes = fs::read(harness.io(name)).unwrap();
        fs::remove_file(harness.io(name)).unwrap();
        assert_eq!(refused(&harness), "suite.server", "{name}");
        fs::write(harness.io(name), &bytes).unwrap();
        assert_eq!(refused(&harness), "suite.server", "{name}");
        run(&harness, &[START, ASK]);
    }
    // Another database, key and query, with and without the stage that starts a server.
    for stage in ["client_key_generation", "client_encode_encrypt_db"] {
        run(&harness, &[stage]);
        assert_eq!(refused(&harness), "suite.server", "{stage}");
    }
    run(&harness, &QUERY[..2]);
    assert_eq!(refused(&harness), "suite.server");
    run(&harness, &[START]);
    run(&harness, &QUERY[2..]);
    assert!(result(&harness) == expected([5, 9]));
    // Files that cannot be read: no server, also not the one before.
    for name in ["keys/server.keys", "ciphertexts_upload/rows.ct", "ciphertexts_upload/payloads.ct"]
    {
        let bytes = fs::read(harness.io(name)).unwrap();
        let mut changed = bytes.clone();
        changed[bytes.len() - 100] ^= 4;
        for wrong in [&bytes[..bytes.len() - 1], &changed[..], &[]] {
            fs::write(harness.io(name), wrong).unwrap();
            assert_eq!(failure(&harness.stage(START)), "suite.server", "{name}");
            assert!(!socket(&harness).exists());
        }
        fs::remove_file(harness.io(name)).unwrap();
        assert_eq!(failure(&harness.stage(START)), "suite.server", "{name}");
        fs::write(harness.io(name), bytes).unwrap();
    }
    assert_eq!(refused(&harness), "suite.server");
    for (stage, _) in RESIDENT.stages {
        assert_eq!(failure(&harness.start(stage, &[])), "suite.usage", "{stage}");
        assert_eq!(failure(&harness.start(stage, &["7"])), "suite.instance", "{stage}");
    }
}

/// What answers a line of bytes.
fn answer(harness: &StandIn, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket(harness)).unwrap();
    // The server may have refused before it read everything.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut out = String::new();
    let _ = stream.read_to_string(&mut out);
    out
}

/// Whoever reaches the socket: bytes that are no request, and requests for other files.
#[test]
fn requests_that_are_none() {
    let harness = harness(&[1]);
    run_with(&KEYS, &harness, "client_encode_encrypt_query");
    let query = fs::canonicalize(harness.io("ciphertexts_upload/query.bin")).unwrap();
    let other = fs::canonicalize(harness.io("ciphertexts_upload/rows.ct")).unwrap();
    let request = |task: &str, query: &str, more: &str| {
        format!("{{\"version\":1,\"task\":{task:?},\"query\":{query:?}{more}}}\n").into_bytes()
    };
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let good = request("fetch", &path(&query), "");
    for wrong in [
        Vec::new(),
        b"\n".to_vec(),
        vec![0; 100],
        vec![0xff; 1 << 20],
        vec![b'{'; 10_000],
        good[..good.len() - 1].to_vec(),
        good.repeat(2),
        request("count", &path(&query), ""),
        request("fetch", &path(&other), ""),
        request("fetch", "/dev/zero", ""),
        request("fetch", "io/insecure_stand-in/ciphertexts_upload/query.bin", ""),
        request("fetch", &format!("{}/../query.bin", path(&query)), ""),
        request("fetch", &path(&query), ",\"more\":1"),
    ] {
        let found = answer(&harness, &wrong);
        // A peer that goes on writing may lose the answer.
        assert!(found.starts_with("{\"problem\":") || wrong.len() > 1 << 15, "{found:.200}");
        assert!(!found.contains("seconds"), "{found:.200}");
    }
    // One that says nothing for long, and one that does not wait for its answer.
    let silent = UnixStream::connect(socket(&harness)).unwrap();
    let mut gone = UnixStream::connect(socket(&harness)).unwrap();
    gone.write_all(&good).unwrap();
    drop(gone);
    run(&harness, &QUERY[2..]);
    drop(silent);
    assert!(result(&harness) == expected([1]));
    // A place that others could have made or reach.
    let directory = socket(&harness).parent().unwrap().to_owned();
    for (path, own) in [(directory, 0o700), (socket(&harness), 0o600)] {
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(refused(&harness), "suite.server", "{}", path.display());
        fs::set_permissions(&path, Permissions::from_mode(own)).unwrap();
    }
}
