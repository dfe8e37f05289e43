//! Running the program.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

pub use crate::printed::{file, json, success, usage};
pub use crate::program::everlevel;

/// A directory with keys of a toy set.
pub struct Place(tempfile::TempDir);

impl Place {
    /// With keys of the smallest set.
    pub fn new() -> Self {
        Self::with_keys("insecure_bgv-257-n8")
    }

    /// Without keys.
    pub fn empty() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    /// With keys of a set.
    pub fn with_keys(set: &str) -> Self {
        let place = Self::empty();
        keys_in(place.path(), set, "keys");
        place
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs a command, whose arguments have no spaces, with bytes in standard input.
    pub fn piped(&self, command: &str, input: &[u8]) -> Output {
        self.piped_words(&command.split(' ').collect::<Vec<_>>(), input)
    }

    fn piped_words<S: AsRef<OsStr>>(&self, words: &[S], input: &[u8]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_everlevel"))
            .args(words)
            .arg("--insecure-research")
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // What is refused before it is read closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    fn run(&self, command: &str) -> (Option<i32>, Value) {
        let out = self.piped(&format!("{command} --json"), b"");
        let bytes = if out.status.success() { &out.stdout } else { &out.stderr };
        (out.status.code(), serde_json::from_slice(bytes).unwrap_or_default())
    }

    /// What a command that succeeds prints.
    pub fn told(&self, command: &str) -> Value {
        let (status, told) = self.run(command);
        assert_eq!(status, Some(0), "{command}: {told}");
        told
    }

    /// The same of a command whose arguments may have spaces.
    pub fn told_words(&self, words: &[String]) -> Value {
        self.told_with_progress(words).0
    }

    /// The same with what it prints on standard error.
    pub fn told_with_progress(&self, words: &[String]) -> (Value, String) {
        let words = [words, &["--json".into(), "--progress".into()]].concat();
        let out = self.piped_words(&words, b"");
        let err = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(0), "{words:?}: {err}");
        (serde_json::from_slice(&out.stdout).unwrap(), err)
    }

    /// Refused with exit code 2 and this code; what is said.
    pub fn refused(&self, command: &str, code: &str) -> String {
        let (status, told) = self.run(command);
        assert_eq!((status, told["error"]["code"].as_str()), (Some(2), Some(code)), "{told}");
        told["error"]["message"].as_str().unwrap().into()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }
}

/// What a command that several tests look at prints with --json, and its progress; it runs once.
/// None for other commands.
pub fn shared(command: &str) -> Option<&'static (Value, String)> {
    static TOLD: [(&str, OnceLock<(Value, String)>); 6] = [
        ("bench bootstrap --params insecure_bgv-257-n8 --runs 1", OnceLock::new()),
        ("bench primitives --params insecure_bgv-257-n8 --runs 3", OnceLock::new()),
        ("demo integers --params insecure_bgv-65537-n11", OnceLock::new()),
        ("params list", OnceLock::new()),
        ("selftest", OnceLock::new()),
        ("selftest --mistakes", OnceLock::new()),
    ];
    let (_, told) = TOLD.iter().find(|(name, _)| *name == command)?;
    let run = || {
        let words: Vec<String> = command.split(' ').map(String::from).collect();
        Place::empty().told_with_progress(&words)
    };
    Some(told.get_or_init(run))
}

/// What it prints with --json.
pub fn shared_json(command: &str) -> &'static Value {
    &shared(command).expect("a command that is shared").0
}

/// Runs the program in a directory, with insecure parameter sets.
pub fn run_in(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(args)
        .arg("--insecure-research")
        .current_dir(directory)
        .output()
        .unwrap()
}

/// The same; it must succeed, and its standard output is returned.
pub fn success_in(directory: &Path, args: &[&str]) -> String {
    let out = run_in(directory, args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Puts keys of a set into a directory of this name in another. They are made once for each set and
/// each name, so that names have different keys; all tests have copies of them.
pub fn keys_in(directory: &Path, set: &str, name: &str) {
    type Made = BTreeMap<(String, String), Arc<OnceLock<PathBuf>>>;
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let made = {
        let mut all = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((set.into(), name.into())).or_default().clone()
    };
    let from = made.get_or_init(|| {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("keys");
        fs::create_dir_all(&all).unwrap();
        let own = format!("{set}-{name}");
        // Those of an earlier run of the tests may be of another version.
        let _ = fs::remove_dir_all(all.join(&own));
        success_in(&all, &["keygen", "--params", set, "--out", &own]);
        all.join(own)
    });
    let to = directory.join(name);
    fs::create_dir(&to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// The cells of the rows of a table in Markdown below a heading.
pub fn page_rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let section = page.split(heading).nth(1).expect(heading).split("\n## ").next().unwrap();
    let cells = |line: &str| {
        let inner = line.trim_matches('|').replace("\\|", "\u{0}");
        inner.split('|').map(|cell| cell.replace('\u{0}', "|").trim().into()).collect()
    };
    section.lines().filter(|line| line.starts_with('|')).skip(2).map(cells).collect()
}
