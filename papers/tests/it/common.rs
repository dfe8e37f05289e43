//! Running the program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The root of the source tree.
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Runs the program with these arguments.
pub fn papers(args: &[&str]) -> Output {
    papers_in(Path::new(env!("CARGO_MANIFEST_DIR")), args)
}

/// Runs the program in a directory.
pub fn papers_in(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_papers"))
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// Runs the program, which must succeed, and returns its standard output.
pub fn success(args: &[&str]) -> String {
    let out = papers(args);
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
    let out = papers(args);
    let err = String::from_utf8(out.stderr).expect("UTF-8");
    assert_eq!(out.status.code(), Some(2), "{args:?}: {err}");
    assert!(out.stdout.is_empty(), "{args:?} wrote to standard output");
    assert!(
        err.starts_with("papers: ") && err.ends_with('\n') && err.trim_end().lines().count() == 1,
        "{args:?}: {err:?}"
    );
    err
}

/// The records of a directory: those of all its files, by name.
pub fn read_records(directory: &Path) -> BTreeMap<String, Value> {
    let files = directory.read_dir().expect("a directory of records").map(|e| e.unwrap().path());
    let mut found = BTreeMap::new();
    for path in files.filter(|path| path.extension().is_some_and(|e| e == "jsonl")) {
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let mut line: Value = serde_json::from_str(line)
                .unwrap_or_else(|e| panic!("{}: {e}: {line}", path.display()));
            let name = line["name"].as_str().expect("a name").to_string();
            assert!(found.insert(name.clone(), line["record"].take()).is_none(), "{name} twice");
        }
    }
    found
}
