//! Running the program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub use self::papers as program;
pub use crate::printed::{file, json, success, usage};

/// What the program calls itself.
pub const NAME: &str = "papers";

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
