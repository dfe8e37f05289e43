//! Running the program.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

pub use crate::printed::{file, json, success, usage};
pub use crate::program::{papers, papers_in};

/// The root of the source tree.
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

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
