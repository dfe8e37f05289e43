//! The files of one generation of keys: written all or not at all.
//!
//! All files are made in a directory of their own beside the old ones, and brought to the disk,
//! before the first one gets its name. From then on the directory has a folder `old`, to which the
//! files that are replaced go. A failure in between puts them back; a process that ends in between
//! leaves a directory from which the next one finishes the swap ([`KeyFiles::recover`]).

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use everlevel_bgv::{PublicKey, SecretKey};
use everlevel_scheme::{KeyPlan, SchemeError};
use everlevel_wire::file::{Existing, write_file, write_secret_file};
use everlevel_wire::{Metadata, WireError, public_key, secret_key, try_generate_to_file};
use rand_core::CryptoRng;

use crate::stored::PARAMS_FILE;

/// What the directory under construction is called, before the number of its process and after it.
const PENDING: (&str, &str) = (".keys-", ".part");
/// The file that the process holds locked for as long as it works.
const LOCK: &str = "lock";
/// Where the files go that are replaced.
const OLD: &str = "old";

/// The files of one generation of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFiles {
    /// The server keys.
    pub server: PathBuf,
    /// The public key.
    pub public: PathBuf,
    /// The parameters, as JSON.
    pub params: PathBuf,
    /// The secret key.
    pub secret: PathBuf,
}

/// What [`KeyFiles::recover`] found of a generation of keys that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// Files that were not complete: they were removed, and the old ones are as they were.
    Removed,
    /// Files that were complete and had partly got their names: now all have them.
    Finished,
}

impl KeyFiles {
    /// Their names in a directory.
    pub fn in_directory(directory: &Path) -> Self {
        let at = |name: &str| directory.join(name);
        KeyFiles {
            server: at("server.keys"),
            public: at("public.key"),
            params: at(PARAMS_FILE),
            secret: at("secret.key"),
        }
    }

    fn all(&self) -> [&Path; 4] {
        [&self.server, &self.public, &self.params, &self.secret]
    }

    /// Makes the keys of a plan and writes all four files, and returns what they are called and how
    /// many bytes they have. The directory is created. All files or none get their names, whatever
    /// fails and whenever the process ends; what an earlier process left is taken care of first, as
    /// by [`KeyFiles::recover`]. `progress(done, total)` is called after each server key; an error
    /// that it returns ends the work.
    ///
    /// # Errors
    /// Files that are there already, unless they are to be replaced; something else than a file in
    /// the place of one; a plan that does not suit the set; what the system refuses; what
    /// `progress` returns.
    pub fn write<E: From<WireError> + From<SchemeError>>(
        &self,
        secret: &SecretKey,
        plan: &KeyPlan,
        existing: Existing,
        rng: &mut impl CryptoRng,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<Vec<(PathBuf, u64)>, E> {
        let directory = self.secret.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|e| refused(directory, &e))?;
        Self::recover(directory)?;
        self.check_places(existing)?;
        let pending = Pending::create(directory)?;
        let made = Self::in_directory(&pending.path);
        let none = Metadata::new();
        try_generate_to_file(&made.server, Existing::Keep, secret, plan, &none, rng, progress)?;
        let public = PublicKey::generate(secret, rng);
        write_file(&made.public, &public_key::to_bytes(&public, &none)?, Existing::Keep)?;
        write_file(&made.params, spec_json(secret).as_bytes(), Existing::Keep)?;
        write_secret_file(
            &made.secret,
            &secret_key::expose_to_bytes(secret, &none)?,
            Existing::Keep,
        )?;
        // Somebody else may have made keys meanwhile.
        self.check_places(existing)?;
        let old = pending.path.join(OLD);
        if let Err(error) = made.swap(self, &old) {
            if old.exists() {
                // The old files are in it.
                std::mem::forget(pending);
            }
            return Err(error.into());
        }
        let size = |path: &Path| path.metadata().map_err(|e| refused(path, &e)).map(|m| m.len());
        self.all().into_iter().map(|path| Ok((path.to_path_buf(), size(path)?))).collect()
    }

    /// Takes care of what processes left in a directory that ended while they wrote keys: files
    /// that were not complete are removed, a swap of files that had begun is finished. Directories
    /// of processes that still work are left alone.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn recover(directory: &Path) -> Result<Vec<Recovered>, WireError> {
        let mut found = Vec::new();
        if !directory.exists() {
            return Ok(found);
        }
        for entry in fs::read_dir(directory).map_err(|e| refused(directory, &e))? {
            let path = entry.map_err(|e| refused(directory, &e))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.strip_prefix(PENDING.0).and_then(|n| n.strip_suffix(PENDING.1));
            if number.is_none_or(|n| n.parse::<u32>().is_err()) || !path.is_dir() {
                continue;
            }
            // Without its lock file it was only just created, or is almost removed.
            let lock = File::open(path.join(LOCK));
            if lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock))) {
                continue;
            }
            let begun = path.join(OLD).is_dir();
            if begun {
                let (made, places) = (Self::in_directory(&path), Self::in_directory(directory));
                for (from, to) in made.all().into_iter().zip(places.all()) {
                    if from.exists() {
                        fs::rename(from, to).map_err(|e| refused(to, &e))?;
                    }
                }
            }
            fs::remove_dir_all(&path).map_err(|e| refused(&path, &e))?;
            found.push(if begun { Recovered::Finished } else { Recovered::Removed });
        }
        Ok(found)
    }

    /// That all four places can take a file.
    fn check_places(&self, existing: Existing) -> Result<(), WireError> {
        for path in self.all() {
            let Ok(found) = path.symlink_metadata() else { continue };
            if existing == Existing::Keep {
                return Err(WireError::Exists { path: path.display().to_string() });
            }
            if found.is_dir() {
                let problem = "there is a directory in the place of a file: move it away".into();
                return Err(WireError::Io { path: path.display().to_string(), problem });
            }
        }
        Ok(())
    }

    /// Gives complete files their names, and puts back the old ones if that fails.
    fn swap(&self, places: &Self, old: &Path) -> Result<(), WireError> {
        fs::create_dir(old).map_err(|e| refused(old, &e))?;
        let replaced = Self::in_directory(old);
        let mut done: Vec<(&Path, &Path)> = Vec::new();
        let steps = replaced.all().into_iter().zip(places.all()).zip(self.all());
        let moved = steps.into_iter().try_for_each(|((old, place), new)| {
            if place.symlink_metadata().is_ok() {
                fs::rename(place, old).map_err(|e| refused(place, &e))?;
                done.push((place, old));
            }
            fs::rename(new, place).map_err(|e| refused(place, &e))?;
            done.push((new, place));
            Ok(())
        });
        if moved.is_err() {
            // In reverse; where that fails, the directory stays and the next process goes on.
            let undone = done.iter().rev().all(|(before, now)| fs::rename(now, before).is_ok());
            if undone {
                let _ = fs::remove_dir_all(old);
            }
        }
        moved
    }
}

fn spec_json(secret: &SecretKey) -> String {
    let spec = serde_json::to_string_pretty(secret.params().spec());
    spec.expect("a specification has string keys and finite numbers only") + "\n"
}

fn refused(path: &Path, error: &std::io::Error) -> WireError {
    WireError::Io { path: path.display().to_string(), problem: error.to_string() }
}

/// A directory for files under construction; removed with what is left in it.
struct Pending {
    path: PathBuf,
    /// Locked until the process ends.
    _lock: File,
}

impl Pending {
    fn create(out: &Path) -> Result<Self, WireError> {
        let path = out.join(format!("{}{}{}", PENDING.0, std::process::id(), PENDING.1));
        fs::create_dir(&path).map_err(|e| refused(&path, &e))?;
        let lock = File::create(path.join(LOCK)).map_err(|e| refused(&path, &e))?;
        // Where locks are unavailable, leftovers of a process that still works look like those of
        // one that ended.
        let _ = lock.try_lock();
        Ok(Pending { path, _lock: lock })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Nothing can be done if it stays.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(files: &KeyFiles, text: &str) {
        files.all().iter().for_each(|path| fs::write(path, text).unwrap());
    }

    fn read(files: &KeyFiles) -> Vec<Option<String>> {
        files.all().iter().map(|path| fs::read_to_string(path).ok()).collect()
    }

    /// Stopped after any number of its steps, with old files and without, the swap is finished.
    #[test]
    fn a_swap_that_was_interrupted_is_finished() {
        for (stop, with_old) in (0..=8).flat_map(|stop| [(stop, false), (stop, true)]) {
            let directory = tempfile::tempdir().unwrap();
            let places = KeyFiles::in_directory(directory.path());
            if with_old {
                write(&places, "old");
            }
            let pending = directory.path().join(".keys-4711.part");
            fs::create_dir_all(pending.join(OLD)).unwrap();
            fs::write(pending.join(LOCK), "").unwrap();
            let (made, old) =
                (KeyFiles::in_directory(&pending), KeyFiles::in_directory(&pending.join(OLD)));
            write(&made, "new");
            for step in 0..stop {
                let i = step / 2;
                if step % 2 == 1 {
                    fs::rename(made.all()[i], places.all()[i]).unwrap();
                } else if with_old {
                    fs::rename(places.all()[i], old.all()[i]).unwrap();
                }
            }
            assert_eq!(KeyFiles::recover(directory.path()).unwrap(), [Recovered::Finished]);
            assert_eq!(read(&places), vec![Some("new".into()); 4], "after {stop} steps");
            assert!(!pending.exists());
        }
    }

    #[test]
    fn files_that_were_not_complete_are_removed_and_others_left() {
        let directory = tempfile::tempdir().unwrap();
        let places = KeyFiles::in_directory(directory.path());
        write(&places, "old");
        let (dead, live) =
            (directory.path().join(".keys-1.part"), directory.path().join(".keys-2.part"));
        for path in [&dead, &live] {
            fs::create_dir(path).unwrap();
            write(&KeyFiles::in_directory(path), "half");
        }
        let lock = File::create(live.join(LOCK)).unwrap();
        lock.lock().unwrap();
        fs::create_dir(directory.path().join(".keys-mine.part")).unwrap();
        assert_eq!(KeyFiles::recover(directory.path()).unwrap(), [Recovered::Removed]);
        assert_eq!(read(&places), vec![Some("old".into()); 4]);
        assert!(!dead.exists() && live.exists());
        assert!(directory.path().join(".keys-mine.part").exists(), "of no process");
    }

    /// A rename that the system refuses, at each of the four places.
    #[test]
    fn a_swap_that_fails_puts_the_old_files_back() {
        for broken in 0..4 {
            let directory = tempfile::tempdir().unwrap();
            let (places, pending) =
                (KeyFiles::in_directory(directory.path()), directory.path().join("pending"));
            write(&places, "old");
            fs::create_dir(&pending).unwrap();
            let made = KeyFiles::in_directory(&pending);
            write(&made, "new");
            fs::remove_file(made.all()[broken]).unwrap();
            assert!(made.swap(&places, &pending.join(OLD)).is_err());
            assert_eq!(read(&places), vec![Some("old".into()); 4], "place {broken}");
            assert!(!pending.join(OLD).exists(), "nothing is left to be finished");
        }
    }
}
