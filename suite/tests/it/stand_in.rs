//! A stand-in for the harness of a workload, written from the description of its protocol: it lays
//! out a data set, starts the stages as processes in their order, and looks at their files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A stage: its name and its arguments, as `pins.json` has them.
pub type Stage = (&'static str, &'static [&'static str]);

/// What a harness starts.
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// The stages before the runs, and those of each run.
    pub stages: &'static [Stage],
    /// The program of a stage.
    pub program: fn(&str) -> &'static str,
    /// What the harness measures the size of.
    pub measured: &'static [&'static str],
}

/// A directory in the place of a clone of the harness, with one instance.
pub struct StandIn {
    root: TempDir,
    workload: &'static Workload,
    instance: &'static str,
    arguments: Vec<(&'static str, String)>,
    variables: Vec<(&'static str, &'static str)>,
}

/// The files between stages of a stand-in, for others: what takes seconds is made once for several
/// tests.
pub struct Kept(Vec<(PathBuf, Vec<u8>)>);

impl StandIn {
    /// No data set yet; `arguments` are what stages get, by their names in `pins.json`.
    pub fn new(
        workload: &'static Workload,
        instance: &'static str,
        arguments: Vec<(&'static str, String)>,
    ) -> Self {
        let (root, variables) = (tempfile::tempdir().unwrap(), Vec::new());
        StandIn { root, workload, instance, arguments, variables }
    }

    /// The same with another value of a variable of the environment, or without it.
    pub fn set_variable(&mut self, name: &'static str, value: Option<&'static str>) {
        self.variables.retain(|variable| variable.0 != name);
        self.variables.extend(value.map(|value| (name, value)));
    }

    /// The same with another value of an argument.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.arguments.retain(|argument| argument.0 != name);
        self.arguments.push((name, value.into()));
    }

    /// Writes a file of the data set.
    pub fn write_data(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.path().join("datasets").join(self.instance).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file or directory between stages.
    pub fn io(&self, path: &str) -> PathBuf {
        self.root.path().join("io").join(self.instance).join(path)
    }

    /// Where stages are started.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Starts a stage with these arguments.
    pub fn start(&self, stage: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new((self.workload.program)(stage));
        command.args(arguments).current_dir(self.root.path());
        command.envs(self.variables.iter().copied()).output().unwrap()
    }

    /// Starts a stage with the arguments that the harness gives it; one may be several words, or
    /// none.
    pub fn stage(&self, name: &str) -> Output {
        let (_, arguments) = self.workload.stages.iter().find(|stage| stage.0 == name).unwrap();
        let value = |name: &&'static str| {
            let argument = self.arguments.iter().find(|argument| argument.0 == *name);
            argument.unwrap_or_else(|| panic!("no argument: {name}")).1.as_str()
        };
        let words = arguments.iter().map(value).flat_map(str::split_whitespace);
        self.start(name, &words.collect::<Vec<_>>())
    }

    /// The files between stages, of the instance and of what is common to all.
    pub fn kept(&self) -> Kept {
        let (root, mut files) = (self.root.path().join("io"), Vec::new());
        let mut left = vec![root.clone()];
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|file| file.unwrap().path()));
            } else {
                let name = path.strip_prefix(&root).unwrap().to_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
        Kept(files)
    }

    /// Writes files of a stand-in of the same instance, as if the stages that made them had run
    /// here.
    pub fn begin_with(&self, kept: &Kept) {
        for (name, bytes) in &kept.0 {
            let path = self.root.path().join("io").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // Not into a file that a server may have open.
            if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            fs::write(path, bytes).unwrap();
        }
    }

    /// Runs the stages up to this one, which have to succeed.
    pub fn run_until(&self, last: &str) {
        self.run_between(self.workload.stages[0].0, last);
    }

    /// The same from another one on.
    pub fn run_between(&self, first: &str, last: &str) {
        for (name, _) in self.workload.stages.iter().skip_while(|stage| stage.0 != first) {
            let out = self.stage(name);
            let problem = String::from_utf8_lossy(&out.stderr);
            assert!(out.status.success(), "{name}: {problem}");
            assert!(problem.is_empty(), "{name}: {problem}");
            if *name == last {
                return;
            }
        }
        panic!("no stage: {last}");
    }

    /// The lines of a result.
    pub fn lines<T: std::str::FromStr<Err: std::fmt::Debug>>(&self, path: &str) -> Vec<T> {
        let text = fs::read_to_string(self.io(path)).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Asserts that there is something in every directory and file whose size is measured.
    pub fn assert_measured(&self) {
        for measured in self.workload.measured {
            let path = self.io(measured);
            let files = match fs::read_dir(&path) {
                Ok(files) => files.map(|file| file.unwrap().path()).collect(),
                Err(_) => vec![path],
            };
            let lengths = files.iter().map(|file| fs::metadata(file).unwrap().len());
            assert!(lengths.sum::<u64>() > 0, "{}: {measured}", self.instance);
        }
    }
}

/// The code of a stage that failed as stages fail.
pub fn failure(out: &Output) -> String {
    let text = String::from_utf8(out.stderr.clone()).unwrap();
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let code = text.trim_end().strip_suffix(']').and_then(|text| text.rsplit_once('['));
    code.unwrap_or_else(|| panic!("no code: {text}")).1.into()
}
