//! What a program prints, for the tests of `everlevel` and of `papers`: `common` runs it.

use std::path::PathBuf;

use crate::program::{NAME, program};

/// Runs the program, which must succeed, and returns its standard output.
pub fn success(args: &[&str]) -> String {
    let out = program(args);
    let err = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(0), "{args:?}: {err}");
    assert_eq!(err, "", "{args:?}");
    String::from_utf8(out.stdout).expect("UTF-8")
}

/// Runs the program with --json and parses what it prints.
pub fn json(args: &[&str]) -> serde_json::Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&success(&args)).expect("one JSON value")
}

/// A file with this text in a directory of the test run.
pub fn file(name: &str, text: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a temporary file");
    path.into_os_string().into_string().expect("UTF-8")
}

/// What a command that must refuse its arguments says: exit code 2, one line.
pub fn usage(args: &[&str]) -> String {
    let out = program(args);
    let err = String::from_utf8(out.stderr).expect("UTF-8");
    assert_eq!(out.status.code(), Some(2), "{args:?}: {err}");
    assert!(out.stdout.is_empty(), "{args:?} wrote to standard output");
    let one_line = err.ends_with('\n') && err.trim_end().lines().count() == 1;
    assert!(err.starts_with(&format!("{NAME}: ")) && one_line, "{args:?}: {err:?}");
    err
}
