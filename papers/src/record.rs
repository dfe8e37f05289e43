//! Recorded runs. A directory of them has a file for each topic, such as `ltv.jsonl`: JSON Lines,
//! each a record with its name, in the order of the names.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::files::{of_file, read_text};
use everlevel_wire::file::{Existing, write_file};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// The committed records, seen from the root of a checkout.
pub const COMMITTED: &str = "papers/results";
/// The largest file of records in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The end of the names of runs over small rings.
const QUICK: &str = "-quick";
/// What names of records begin with, and the topic of all of them.
const TOPICS: [&str; 6] = ["chen-han", "ma-et-al", "ltv", "aes", "compare", "soak"];

/// A line of a file.
#[derive(Serialize, Deserialize)]
struct Line<T> {
    name: String,
    record: T,
}

/// The topic of a record, which names its file: small rings, a paper, peers, the soak test, or the
/// named sets.
fn topic(name: &str) -> &'static str {
    if name.ends_with(QUICK) {
        return "quick";
    }
    TOPICS.into_iter().find(|topic| name.starts_with(topic)).unwrap_or("sets")
}

/// The file of a topic.
fn file_of(directory: &Path, topic: &str) -> PathBuf {
    directory.join(format!("{topic}.jsonl"))
}

/// Makes the directory of the records, if it is not there.
pub fn make_directory(directory: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(directory).map_err(|e| {
        CliError::usage(format!("--out {}: cannot make this directory: {e}", directory.display()))
    })
}

/// The lines of a file as they are, by name; none if there is no such file.
fn lines(path: &Path) -> Result<BTreeMap<String, String>, CliError> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = read_text(path, MAX_BYTES, "the file of records")?;
    let named = |(i, line): (usize, &str)| match serde_json::from_str::<Line<IgnoredAny>>(line) {
        Ok(Line { name, .. }) => Ok((name, line.to_string())),
        Err(e) => Err(CliError::usage(format!(
            "{}, line {}: expected a JSON object with a name and a record: {e}. Restore or remove \
             the file",
            path.display(),
            i + 1
        ))),
    };
    text.lines().enumerate().map(named).collect()
}

/// All records of a directory that are of this form, by name.
///
/// # Errors
/// A line that is no record.
pub fn read_all<T: DeserializeOwned>(directory: &Path) -> Result<BTreeMap<String, T>, CliError> {
    let Ok(entries) = directory.read_dir() else { return Ok(BTreeMap::new()) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "jsonl") && path.is_file());
    files.sort();
    let mut found = BTreeMap::new();
    for path in files {
        let records = lines(&path)?;
        let records =
            records.values().filter_map(|line| serde_json::from_str::<Line<T>>(line).ok());
        found.extend(records.map(|line| (line.name, line.record)));
    }
    Ok(found)
}

/// One record of a directory; none if it is not there.
///
/// # Errors
/// A record of another form.
pub fn read<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<Option<T>, CliError> {
    let path = file_of(directory, topic(name));
    let Some(line) = lines(&path)?.remove(name) else { return Ok(None) };
    match serde_json::from_str::<Line<T>>(&line) {
        Ok(line) => Ok(Some(line.record)),
        Err(e) => Err(CliError::usage(format!("{}: {name} has another form: {e}", path.display()))),
    }
}

/// Enters a record into the file of its topic, in place of the one with its name. The file is
/// written whole or not at all, and one program at a time changes it.
pub fn write(directory: &Path, name: &str, record: &impl Serialize) -> Result<(), CliError> {
    let path = file_of(directory, topic(name));
    let failed =
        |e: std::io::Error| CliError::failure(format!("cannot write {}: {e}", path.display()));
    let lock = File::create(directory.join(".lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut all = lines(&path)?;
    let line = serde_json::to_string(&Line { name: name.into(), record });
    all.insert(name.into(), line.map_err(CliError::failure)?);
    let text: String = all.values().flat_map(|line| [line.as_str(), "\n"]).collect();
    write_file(&path, text.as_bytes(), Existing::Replace).map_err(of_file(&path))
}

/// Writes one JSON file, whole or not at all.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), CliError> {
    let mut text = serde_json::to_string_pretty(value).map_err(CliError::failure)?;
    text.push('\n');
    write_file(path, text.as_bytes(), Existing::Replace).map_err(of_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn records_replace_those_of_their_name_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        write(at, "ltv-table-1", &json!({"b": 1, "a": 0.1})).unwrap();
        write(at, "ltv-table-2", &json!([2])).unwrap();
        write(at, "ltv-table-1-quick", &json!(3)).unwrap();
        write(at, "datasheet-x", &json!({"text": "line\nline"})).unwrap();
        write(at, "ltv-table-2", &json!([4])).unwrap();
        let all: BTreeMap<String, Value> = read_all(at).unwrap();
        let expected = json!({"ltv-table-1": {"a": 0.1, "b": 1}, "ltv-table-2": [4],
            "ltv-table-1-quick": 3, "datasheet-x": {"text": "line\nline"}});
        assert_eq!(json!(all), expected);
        assert_eq!(read::<Value>(at, "ltv-table-2").unwrap(), Some(json!([4])));
        assert_eq!(read::<Value>(at, "ltv-table-3").unwrap(), None);
        // A line for each record, and nothing beside the files of the topics.
        let text = std::fs::read_to_string(at.join("ltv.jsonl")).unwrap();
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                r#"{"name":"ltv-table-1","record":{"a":0.1,"b":1}}"#,
                r#"{"name":"ltv-table-2","record":[4]}"#
            ]
        );
        let names = at.read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != ".lock").collect();
        names.sort();
        assert_eq!(names, ["ltv.jsonl", "quick.jsonl", "sets.jsonl"]);
    }

    #[test]
    fn what_is_no_file_of_records_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ltv.jsonl");
        std::fs::write(&path, "{\"name\": \"a\", \"record\"").unwrap();
        assert!(write(directory.path(), "ltv-table-1", &1).is_err());
        assert!(read_all::<Value>(directory.path()).is_err());
        assert!(read::<Value>(directory.path(), "ltv-table-1").is_err());
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("record\""));
        // Records of another form are none of those that are asked for.
        let two =
            "{\"name\": \"ltv-a\", \"record\": 1}\n{\"name\": \"ltv-b\", \"record\": \"x\"}\n";
        std::fs::write(&path, two).unwrap();
        let numbers = read_all::<u8>(directory.path()).unwrap();
        assert_eq!(numbers, BTreeMap::from([("ltv-a".into(), 1)]));
        assert!(read::<u8>(directory.path(), "ltv-b").is_err());
    }
}
