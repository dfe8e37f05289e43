//! Records: those of this report, and those that are taken from elsewhere; and the journal of what
//! was run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::files::read_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record;

/// The largest journal in bytes.
const MAX_JOURNAL_BYTES: u64 = 4 << 20;

/// A record that is there.
pub struct Stored {
    /// What it says.
    pub value: Value,
    /// The directory it was taken from; none for one of this report's own.
    pub elsewhere: Option<String>,
}

/// Where and when a record was made, as far as it says.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Origin {
    pub date: String,
    pub commit: String,
    pub version: String,
    pub cpu: String,
    pub cpu_flags: String,
    pub backend: String,
    pub threads: u64,
}

impl Stored {
    /// Its circumstances; those of AES stand among the figures.
    pub fn origin(&self) -> Option<Origin> {
        let from = self.value.get("circumstances").unwrap_or(&self.value);
        let text =
            |key: &str| from.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
        let threads = from.get("threads").and_then(Value::as_u64).unwrap_or(0);
        from.get("date")?.as_str()?;
        Some(Origin {
            date: text("date"),
            commit: text("commit"),
            version: text("version"),
            cpu: text("cpu"),
            cpu_flags: text("cpu_flags"),
            backend: text("backend"),
            threads,
        })
    }
}

/// What came of the last run of a job.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    /// The version of the program.
    pub version: String,
    /// When it ended.
    pub date: String,
    /// How long it took.
    pub seconds: f64,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The directories of a report.
pub struct Store {
    directory: PathBuf,
    journal_file: PathBuf,
    measured_file: PathBuf,
    own: BTreeMap<String, Value>,
    elsewhere: Vec<(PathBuf, BTreeMap<String, Value>)>,
    /// What was run into this report, by job.
    pub journal: BTreeMap<String, Entry>,
}

impl Store {
    /// Of a report in `out`, with the records of other directories.
    pub fn open(out: &Path, elsewhere: &[PathBuf]) -> Result<Self, CliError> {
        let of_directory = |directory: &PathBuf| {
            if !directory.is_dir() {
                return Err(CliError::usage(format!(
                    "--records {}: no such directory",
                    directory.display()
                )));
            }
            Ok((directory.clone(), record::read_all(directory)?))
        };
        let (directory, journal_file) = (out.join("records"), out.join("journal.json"));
        let measured_file = out.join("measured.json");
        Ok(Store {
            own: record::read_all(&directory)?,
            elsewhere: elsewhere.iter().map(of_directory).collect::<Result<_, _>>()?,
            // A journal that cannot be read only costs runs.
            journal: read_journal(&journal_file).unwrap_or_default(),
            directory,
            journal_file,
            measured_file,
        })
    }

    /// Makes the directories.
    pub fn create(&self) -> Result<(), CliError> {
        record::make_directory(&self.directory)
    }

    /// Where the records of this report are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file of the times of bootstrapping that were measured for this report.
    pub fn measured_file(&self) -> &Path {
        &self.measured_file
    }

    /// Whether this report has a record of that name, of whatever version.
    pub fn has_own(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// Reads the records of this report again, after another process wrote some.
    pub fn reload(&mut self) -> Result<(), CliError> {
        self.own = record::read_all(&self.directory)?;
        Ok(())
    }

    /// The record of a job: one of this report's own that this version of the program made and did
    /// not fail at, or one from elsewhere.
    pub fn find(&self, name: &str) -> Option<Stored> {
        self.find_own(name).or_else(|| self.find_elsewhere(name))
    }

    fn find_own(&self, name: &str) -> Option<Stored> {
        let entry = self.journal.get(name);
        if entry.is_some_and(|e| e.error.is_some()) {
            return None;
        }
        let stored = Stored { value: self.own.get(name)?.clone(), elsewhere: None };
        // Records of what is computed without encryption do not say which version made them: the
        // journal does.
        let version =
            stored.origin().map(|o| o.version).or_else(|| entry.map(|e| e.version.clone()));
        (version.as_deref() == Some(env!("CARGO_PKG_VERSION"))).then_some(stored)
    }

    fn find_elsewhere(&self, name: &str) -> Option<Stored> {
        self.elsewhere.iter().find_map(|(directory, records)| {
            let value = records.get(name)?.clone();
            Some(Stored { value, elsewhere: Some(directory.display().to_string()) })
        })
    }

    /// The record that a failed run of a job left.
    pub fn find_failed(&self, name: &str) -> Option<&Value> {
        self.journal.get(name)?.error.as_ref()?;
        self.own.get(name)
    }

    /// Records whose names begin with `prefix`, by name.
    pub fn with_prefix(&self, prefix: &str) -> BTreeMap<String, Stored> {
        let others = self.elsewhere.iter().map(|(d, records)| (Some(d), records));
        let all = others.chain([(None, &self.own)]).flat_map(|(directory, records)| {
            let elsewhere = directory.map(|d| d.display().to_string());
            records.iter().map(move |(name, value)| (name, value, elsewhere.clone()))
        });
        all.filter(|(name, _, _)| name.starts_with(prefix))
            .map(|(name, value, elsewhere)| {
                (name.clone(), Stored { value: value.clone(), elsewhere })
            })
            .collect()
    }

    /// Writes a record of this report.
    pub fn write(&mut self, name: &str, value: &Value) -> Result<(), CliError> {
        record::write(&self.directory, name, value)?;
        self.own.insert(name.into(), value.clone());
        Ok(())
    }

    /// Enters what came of a job.
    pub fn enter(&mut self, name: &str, entry: Entry) -> Result<(), CliError> {
        self.journal.insert(name.into(), entry);
        record::write_json(&self.journal_file, &self.journal)
    }
}

fn read_journal(path: &Path) -> Option<BTreeMap<String, Entry>> {
    serde_json::from_str(&read_text(path, MAX_JOURNAL_BYTES, "the journal").ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(error: Option<&str>) -> Entry {
        Entry {
            version: env!("CARGO_PKG_VERSION").into(),
            date: String::new(),
            seconds: 1.0,
            error: error.map(String::from),
        }
    }

    #[test]
    fn records_count_if_they_are_of_this_version() {
        let (out, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut store = Store::open(out.path(), &[other.path().into()]).unwrap();
        store.create().unwrap();
        let now = json!({"circumstances": {"date": "d", "version": env!("CARGO_PKG_VERSION")}});
        store.write("now", &now).unwrap();
        store.write("old", &json!({"circumstances": {"date": "d", "version": "0.0.1"}})).unwrap();
        store.write("computed", &json!([1])).unwrap();
        store.write("wrong", &now).unwrap();
        store.enter("wrong", entry(Some("a slot is wrong"))).unwrap();
        assert!(store.find("now").is_some_and(|s| s.elsewhere.is_none()));
        for name in ["old", "computed", "wrong", "absent"] {
            assert!(store.find(name).is_none(), "{name}");
        }
        store.enter("computed", entry(None)).unwrap();
        // Also in the next process.
        let store = Store::open(out.path(), &[other.path().into()]).unwrap();
        assert!(store.find("computed").is_some() && store.find("wrong").is_none());
        // What somebody asks to be taken from elsewhere is taken, and says where it is from.
        record::write(other.path(), "old", &json!({})).unwrap();
        let store = Store::open(out.path(), &[other.path().into()]).unwrap();
        let from = store.find("old").unwrap().elsewhere;
        assert_eq!(from, Some(other.path().display().to_string()));
        assert!(Store::open(out.path(), &[other.path().join("none")]).is_err());
        // A file that is none of records is told, not run over.
        std::fs::write(store.directory().join("sets.jsonl"), "{\"circum").unwrap();
        assert!(Store::open(out.path(), &[]).is_err());
    }
}
