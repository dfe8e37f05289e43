//! A stand-in for the harness of `Zn-multiplication`, written from the description of its protocol:
//! it lays out a data set, starts the stages as processes in their order, and looks at their files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A stage: its name and its arguments, as `pins.json` has them.
pub type Stage = (&'static str, &'static [&'static str]);

/// The stages before the runs, and those of each run.
pub const STAGES: [Stage; 6] = [
    ("client_preprocess_input", &["COUNT"]),
    ("client_key_generation", &["INSTANCE"]),
    ("client_encode_encrypt_input", &["INSTANCE"]),
    ("server_encrypted_compute", &["INSTANCE", "COUNT"]),
    ("client_decrypt_decode", &["INSTANCE", "COUNT"]),
    ("client_postprocess", &["INSTANCE", "COUNT"]),
];

/// What the harness measures the size of.
pub const MEASURED: [&str; 3] = ["public_keys", "ciphertexts_upload", "ciphertexts_download"];

/// The program of a stage.
fn program(stage: &str) -> &'static str {
    match stage {
        "client_preprocess_input" => env!("CARGO_BIN_EXE_zn_client_preprocess_input"),
        "client_key_generation" => env!("CARGO_BIN_EXE_zn_client_key_generation"),
        "client_encode_encrypt_input" => env!("CARGO_BIN_EXE_zn_client_encode_encrypt_input"),
        "server_encrypted_compute" => env!("CARGO_BIN_EXE_zn_server_encrypted_compute"),
        "client_decrypt_decode" => env!("CARGO_BIN_EXE_zn_client_decrypt_decode"),
        "client_postprocess" => env!("CARGO_BIN_EXE_zn_client_postprocess"),
        other => panic!("no stage: {other}"),
    }
}

/// A directory in the place of a clone of the harness, with one instance.
pub struct StandIn {
    root: TempDir,
    pub instance: &'static str,
    pub count: usize,
}

impl StandIn {
    /// A data set of these pairs.
    pub fn new(instance: &'static str, pairs: &[(u64, u64)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let out = StandIn { root, instance, count: pairs.len() };
        let text = |of: fn(&(u64, u64)) -> u64| {
            pairs.iter().map(|pair| format!("{}\n", of(pair))).collect::<String>()
        };
        out.write_numbers("lhs.txt", &text(|pair| pair.0));
        out.write_numbers("rhs.txt", &text(|pair| pair.1));
        out
    }

    /// Writes a file of the data set.
    pub fn write_numbers(&self, name: &str, text: &str) {
        let directory = self.root.path().join("datasets").join(self.instance);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(name), text).unwrap();
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
        let mut command = Command::new(program(stage));
        command.args(arguments).current_dir(self.root.path()).output().unwrap()
    }

    /// Starts a stage with the arguments that the harness gives it.
    pub fn stage(&self, name: &str) -> Output {
        let (_, arguments) = STAGES.iter().find(|stage| stage.0 == name).unwrap();
        let count = self.count.to_string();
        let value = |argument: &&'static str| match *argument {
            "COUNT" => count.clone(),
            "INSTANCE" => self.instance.to_string(),
            other => panic!("no argument: {other}"),
        };
        let values: Vec<String> = arguments.iter().map(value).collect();
        self.start(name, &values.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs the stages up to this one, which have to succeed.
    pub fn run_until(&self, last: &str) {
        for (name, _) in STAGES {
            let out = self.stage(name);
            let problem = String::from_utf8_lossy(&out.stderr);
            assert!(out.status.success(), "{name}: {problem}");
            assert!(problem.is_empty(), "{name}: {problem}");
            if name == last {
                return;
            }
        }
        panic!("no stage: {last}");
    }

    /// The numbers of the result.
    pub fn result(&self) -> Vec<u64> {
        let text = fs::read_to_string(self.io("cleartext_output/out.txt")).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
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
