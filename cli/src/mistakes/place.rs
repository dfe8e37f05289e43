//! A directory in which mistakes are made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use everlevel::{Ciphertext, Error, OptIn, Params};
use everlevel_wire::{BoundPolicy, ReadOptions, ciphertexts};

use super::case::Step;
use super::cases::SET;
use crate::console::errors::CliError;

/// A directory of its own, removed when dropped.
pub struct Place {
    directory: PathBuf,
    program: PathBuf,
}

impl Place {
    pub fn create(program: &Path) -> Result<Self, CliError> {
        // A process of the same number may have left one, as in a container that was ended.
        let name = |i: u32| format!("everlevel-mistakes-{}-{i}", std::process::id());
        let directory = (0..1000)
            .map(|i| std::env::temp_dir().join(name(i)))
            .find(|path| !path.exists())
            .unwrap_or_default();
        let program = program.to_path_buf();
        fs::create_dir(&directory).map_err(|e| {
            CliError::failure(format!("cannot create {}: {e}", directory.display()))
        })?;
        Ok(Place { directory, program })
    }

    /// Runs a command of the program: nothing, or the code of its error.
    pub fn run(&self, command: &str) -> Result<Result<(), String>, CliError> {
        let out = Command::new(&self.program)
            .args(command.split(' '))
            .args(["--insecure-research", "--json"])
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| CliError::failure(format!("cannot run the program: {e}")))?;
        if out.status.success() {
            return Ok(Ok(()));
        }
        let told: serde_json::Value = serde_json::from_slice(&out.stderr).unwrap_or_default();
        // A panic has no code.
        Ok(Err(told["error"]["code"].as_str().unwrap_or("none").to_string()))
    }

    /// Takes a step.
    pub fn prepare(&self, step: &Step) -> Result<(), CliError> {
        match *step {
            Step::Run(command) => self.run(command)?.map_err(|code| {
                CliError::failure(format!("`{command}`, which prepares mistakes, fails: {code}"))
            }),
            Step::Write(name, bytes) => self.write(name, bytes),
            Step::Copy(from, to) => self.write(to, &self.read(from)?),
            Step::Cut(from, to) => {
                let bytes = self.read(from)?;
                self.write(to, &bytes[..bytes.len() / 2])
            }
            Step::Change(from, to) => {
                let mut bytes = self.read(from)?;
                bytes.last_mut().into_iter().for_each(|byte| *byte ^= 1);
                self.write(to, &bytes)
            }
            Step::Lengthen(from, to) => self.write(to, &[&self.read(from)?[..], &[0]].concat()),
            Step::Disown(from, to) => {
                self.write(to, &disowned(&self.read(from)?).map_err(CliError::failure)?)
            }
        }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, CliError> {
        fs::read(self.directory.join(name))
            .map_err(|e| CliError::failure(format!("cannot read {name}: {e}")))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), CliError> {
        let path = self.directory.join(name);
        let above = path.parent().map_or(Ok(()), fs::create_dir_all);
        above
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|e| CliError::failure(format!("cannot write {name}: {e}")))
    }
}

/// The ciphertexts of an object without their owner.
fn disowned(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let params = Params::named(SET, OptIn::InsecureResearch)?;
    let options = ReadOptions::with_bounds(BoundPolicy::Stated);
    let (found, metadata) = ciphertexts::from_bytes(&params, bytes, &options)?;
    let found: Vec<_> = found.into_iter().map(Ciphertext::without_owner).collect();
    Ok(ciphertexts::to_bytes(&params, &found, &metadata)?)
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nothing can be done if it stays.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
