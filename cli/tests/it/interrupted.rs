//! The program ends while it writes keys and tables: whenever that is, what is there next is old or
//! new, and nothing is left behind.
//!
//! With debug assertions (`cargo test -p everlevel-cli --test it interrupted`) it is stopped after
//! each of its steps; release builds have no such places, and are killed at many times.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use everlevel_wire::inspect_file;

const SET: [&str; 4] = ["--params", "insecure_bgv-257-n8", "--program", "y=x*x"];
const ENCRYPT: [&str; 8] =
    ["encrypt", "--key", "k/public.key", "--in", "x.csv", "--out", "x.ct", "--force"];

fn program(directory: &Path, args: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_everlevel"));
    program.args(args).arg("--insecure-research").current_dir(directory);
    program
}

/// Runs the program, which has to succeed, and returns what it tells.
fn success(directory: &Path, args: &[&str]) -> String {
    let out = program(directory, args).output().unwrap();
    let told = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{args:?}: {told}");
    told
}

/// Runs the program up to a step. False once it has no more steps.
#[cfg(debug_assertions)]
fn stopped(directory: &Path, args: &[&str], step: usize) -> bool {
    let out = program(directory, args).env("EVERLEVEL_STOP_AT", step.to_string()).output().unwrap();
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(!matches!(out.status.code(), Some(1 | 2)), "step {step}: {told}");
    !out.status.success()
}

fn names(directory: &Path) -> BTreeSet<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    fs::read_dir(directory).unwrap().map(|entry| name(entry).into_string().unwrap()).collect()
}

/// Whether a directory has something that is under construction.
fn has_parts(directory: &Path) -> bool {
    names(directory).iter().any(|name| name.ends_with(".part"))
}

/// The secret key to which all keys of a directory belong, which holds nothing else.
fn generation(directory: &Path) -> String {
    assert_eq!(
        names(directory),
        ["params.json", "public.key", "secret.key", "server.keys"].map(String::from).into()
    );
    let owner = |name: &&str| inspect_file(&directory.join(name)).unwrap().owner.unwrap();
    let owners: Vec<_> = ["public.key", "secret.key", "server.keys"].iter().map(owner).collect();
    assert!(owners.iter().all(|owner| *owner == owners[0]), "{owners:?}");
    format!("{:#}", owners[0])
}

/// A directory with a column and keys.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("x.csv"), "1\n2\n3\n").unwrap();
    success(place.path(), &[&["keygen", "--out", "k"], &SET[..]].concat());
    place
}

/// After a new generation of keys was interrupted: what the next program that opens one does.
fn recovered(here: &Path, before: &str, next: usize) -> bool {
    let keys = here.join("k");
    let left = has_parts(&keys);
    let told = match next % 3 {
        0 => success(here, &ENCRYPT),
        1 => {
            let server = ["keys", "server", "--key", "k/secret.key", "--program", "y=x*x"];
            let told = success(here, &[&server[..], &["--out", "s.keys"]].concat());
            fs::remove_file(here.join("s.keys")).unwrap();
            told
        }
        _ => success(here, &[&["keygen", "--out", "k", "--force"], &SET[..]].concat()),
    };
    let lines = told.lines().filter(|line| line.contains("interrupted run")).count();
    // Without a line only empty files and folders were left.
    assert!(lines <= 1 && (left || lines == 0), "{told}");
    let after = generation(&keys);
    assert!(next % 3 < 2 || after != before);
    assert_eq!(success(here, &ENCRYPT), "");
    lines == 1
}

#[cfg(debug_assertions)]
#[test]
fn keys_are_of_one_generation_whichever_step_was_the_last() {
    let place = place();
    let (here, keys) = (place.path(), place.path().join("k"));
    let again = [&["keygen", "--out", "k", "--force"], &SET[..]].concat();
    let (mut told, mut changed, mut step) = (0, 0, 1);
    let mut before = generation(&keys);
    while stopped(here, &again, step) {
        told += usize::from(recovered(here, &before, step));
        let after = generation(&keys);
        changed += usize::from(after != before);
        (before, step) = (after, step + 1);
    }
    // A file has five steps, the swap of four ten at least.
    assert!(step > 30 && told > 20 && changed > 10, "{step} steps, {told} told, {changed} changed");
}

#[cfg(debug_assertions)]
#[test]
fn first_keys_are_all_there_or_none() {
    let place = place();
    let here = place.path();
    let first = [&["keygen", "--out", "first"], &SET[..]].concat();
    for step in (1..).take_while(|step| stopped(here, &first, *step)) {
        // Whoever finishes it knows that it replaces nothing.
        let part = here.join("first/.keys.0.part");
        let left = part.join("new").read_dir().is_ok_and(|mut left| left.next().is_some());
        assert!(!part.join("old").exists() || !left || part.join("keep").exists(), "step {step}");
        // The next one finds keys that were finished, or makes them.
        let out = program(here, &first).output().unwrap();
        let told = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.success() || told.contains("[wire.exists]"), "step {step}: {told}");
        generation(&here.join("first"));
        fs::remove_dir_all(here.join("first")).unwrap();
    }
}

#[cfg(debug_assertions)]
#[test]
fn server_keys_leave_nothing_whichever_step_was_the_last() {
    let place = place();
    let here = place.path();
    let server = ["keys", "server", "--key", "k/secret.key", "--program", "y=x*x"];
    let server = [&server[..], &["--out", "s.keys"]].concat();
    let (mut steps, mut removed) = (0, 0);
    for step in (1..).take_while(|step| stopped(here, &server, *step)) {
        let part = here.join(".s.keys.0.part");
        let left = part.metadata().map_or(0, |part| part.len());
        if here.join("s.keys").exists() {
            // It was complete.
            inspect_file(&here.join("s.keys")).unwrap();
            fs::remove_file(here.join("s.keys")).unwrap();
        }
        let told = success(here, &server);
        let line = format!("note: s.keys: removed {left} bytes that an interrupted run had left\n");
        assert_eq!(told, if left > 0 { line } else { String::new() }, "step {step}");
        removed += usize::from(left > 0);
        steps += 1;
        assert!(!has_parts(here), "step {step}");
        fs::remove_file(here.join("s.keys")).unwrap();
    }
    assert!(steps >= 4 && removed >= 2, "{steps} steps, {removed} removed");
}

#[cfg(debug_assertions)]
#[test]
fn tables_are_old_or_new_whichever_step_was_the_last() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let keys = ["keygen", "--params", "insecure_bgv-65537-n11", "--program", "y=x", "--out", "k"];
    success(here, &keys);
    fs::create_dir(here.join("tables")).unwrap();
    let texts = ["day,count\n1,10\n2,20\n", "day,count\n1,10\n2,20\n3,30\n"];
    fs::write(here.join("0.csv"), texts[0]).unwrap();
    fs::write(here.join("1.csv"), texts[1]).unwrap();
    success(here, &["table", "schema", "infer", "--in", "1.csv", "--out", "schema.json"]);
    let encrypt = |csv: &'static str| {
        let from = ["table", "encrypt", "--schema", "schema.json", "--in", csv];
        [&from[..], &["--key", "k/secret.key", "--out", "tables/old", "--force"]].concat()
    };
    success(here, &encrypt("0.csv"));
    let (mut steps, mut seen, mut told) = (0, BTreeSet::new(), BTreeSet::new());
    for step in (1..).take_while(|step| stopped(here, &encrypt("1.csv"), *step)) {
        let decrypt = ["table", "decrypt", "--table", "tables/old", "--key", "k/secret.key"];
        told.insert(success(here, &[&decrypt[..], &["--out", "clear.csv", "--force"]].concat()));
        let clear = fs::read_to_string(here.join("clear.csv")).unwrap();
        assert!(texts.contains(&&*clear), "step {step}: {clear}");
        assert_eq!(names(&here.join("tables")), BTreeSet::from(["old".to_string()]));
        seen.insert(clear);
        success(here, &encrypt("0.csv"));
        steps += 1;
    }
    assert!(steps > 20 && seen.len() == 2, "{steps} steps");
    assert!(told.iter().any(|told| told.contains("tables/old: finished what")), "{told:?}");
    assert!(told.iter().any(|told| told.contains("tables/old: removed")), "{told:?}");
}

/// The same without a look inside, at times that get longer until the work is done before.
#[test]
fn keys_are_of_one_generation_whenever_the_program_is_killed() {
    let place = place();
    let (here, keys) = (place.path(), place.path().join("k"));
    let again = [&["keygen", "--out", "k", "--force"], &SET[..]].concat();
    let started = Instant::now();
    success(here, &again);
    let whole = started.elapsed();
    for part in 1..=30 {
        let before = generation(&keys);
        let mut child =
            program(here, &again).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Most of the files are written towards the end.
        std::thread::sleep(whole.mul_f64(f64::from(part) / 24.0).min(Duration::from_secs(20)));
        child.kill().unwrap();
        child.wait().unwrap();
        recovered(here, &before, part as usize);
    }
}
