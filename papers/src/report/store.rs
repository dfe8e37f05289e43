//! Records: those of this report, and those that are taken from elsewhere; and the journal of what
//! was run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::files::read_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record;

/// The largest record in bytes.
const MAX_RECORD_BYTES: u64 = 4 << 20;
const JOURNAL: &str = "journal";

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
    own: PathBuf,
    out: PathBuf,
    elsewhere: Vec<PathBuf>,
    /// What was run into this report, by job.
    pub journal: BTreeMap<String, Entry>,
}

impl Store {
    /// Of a report in `out`, with the records of other directories.
    pub fn open(out: &Path, elsewhere: &[PathBuf]) -> Result<Self, CliError> {
        for directory in elsewhere {
            if !directory.is_dir() {
                return Err(CliError::usage(format!(
                    "--records {}: no such directory",
                    directory.display()
                )));
            }
        }
        // A journal that cannot be read only costs runs.
        let journal = read(&out.join(format!("{JOURNAL}.json")))
            .and_then(|v| serde_json::from_value(v).ok())
            .unwrap_or_default();
        Ok(Store {
            own: out.join("records"),
            out: out.into(),
            elsewhere: elsewhere.to_vec(),
            journal,
        })
    }

    /// Makes the directories.
    pub fn create(&self) -> Result<(), CliError> {
        record::make_directory(&self.own)
    }

    /// Where the records of this report are.
    pub fn own(&self) -> &Path {
        &self.own
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
        let stored =
            Stored { value: read(&self.own.join(format!("{name}.json")))?, elsewhere: None };
        // Records of what is computed without encryption do not say which version made them: the
        // journal does.
        let version =
            stored.origin().map(|o| o.version).or_else(|| entry.map(|e| e.version.clone()));
        (version.as_deref() == Some(env!("CARGO_PKG_VERSION"))).then_some(stored)
    }

    fn find_elsewhere(&self, name: &str) -> Option<Stored> {
        let places =
            self.elsewhere.iter().flat_map(|d| [d.clone(), d.join("quick"), d.join("sets")]);
        places.into_iter().find_map(|d| {
            let value = read(&d.join(format!("{name}.json")))?;
            Some(Stored { value, elsewhere: Some(d.display().to_string()) })
        })
    }

    /// The record that a failed run of a job left.
    pub fn find_failed(&self, name: &str) -> Option<Value> {
        self.journal.get(name)?.error.as_ref()?;
        read(&self.own.join(format!("{name}.json")))
    }

    /// Records whose names begin with `prefix`, by name.
    pub fn with_prefix(&self, prefix: &str) -> BTreeMap<String, Stored> {
        let mut found = BTreeMap::new();
        for (directory, own) in self.elsewhere.iter().map(|d| (d, false)).chain([(&self.own, true)])
        {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
            for entry in entries {
                let file = entry.file_name().to_string_lossy().into_owned();
                let Some(name) = file.strip_suffix(".json").filter(|n| n.starts_with(prefix))
                else {
                    continue;
                };
                let Some(value) = read(&entry.path()) else { continue };
                let elsewhere = (!own).then(|| directory.display().to_string());
                found.insert(name.to_string(), Stored { value, elsewhere });
            }
        }
        found
    }

    /// Writes a record of this report.
    pub fn write(&self, name: &str, value: &Value) -> Result<(), CliError> {
        record::write(&self.own, name, value)
    }

    /// Enters what came of a job.
    pub fn enter(&mut self, name: &str, entry: Entry) -> Result<(), CliError> {
        self.journal.insert(name.into(), entry);
        record::write(&self.out, JOURNAL, &self.journal)
    }
}

/// A JSON file, unless it is none.
fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&read_text(path, MAX_RECORD_BYTES, "the record").ok()?).ok()
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
    fn records_count_if_they_are_whole_and_of_this_version() {
        let (out, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut store = Store::open(out.path(), &[other.path().into()]).unwrap();
        store.create().unwrap();
        let now = json!({"circumstances": {"date": "d", "version": env!("CARGO_PKG_VERSION")}});
        store.write("now", &now).unwrap();
        store.write("old", &json!({"circumstances": {"date": "d", "version": "0.0.1"}})).unwrap();
        store.write("computed", &json!([1])).unwrap();
        store.write("wrong", &now).unwrap();
        std::fs::write(store.own().join("broken.json"), "{\"circum").unwrap();
        store.enter("wrong", entry(Some("a slot is wrong"))).unwrap();
        assert!(store.find("now").is_some_and(|s| s.elsewhere.is_none()));
        for name in ["old", "computed", "wrong", "broken", "absent"] {
            assert!(store.find(name).is_none(), "{name}");
        }
        store.enter("computed", entry(None)).unwrap();
        // Also in the next process.
        let store = Store::open(out.path(), &[other.path().into()]).unwrap();
        assert!(store.find("computed").is_some() && store.find("wrong").is_none());
        // What somebody asks to be taken from elsewhere is taken, and says where it is from.
        std::fs::create_dir(other.path().join("quick")).unwrap();
        std::fs::write(other.path().join("quick/old.json"), "{}").unwrap();
        assert!(
            store.find("old").is_some_and(|s| s.elsewhere.is_some_and(|d| d.ends_with("quick")))
        );
        assert!(Store::open(out.path(), &[other.path().join("none")]).is_err());
    }
}
