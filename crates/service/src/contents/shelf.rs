//! Copies of objects of an object store, on the disk of this machine, within a budget.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use everlevel_remote::random_hex;

use super::place::Pin;
use crate::error::ServiceError;
use crate::files::{private_directory, system};

/// The time for which a copy stays after it was requested, so that the requester can open it.
const GRACE: Duration = Duration::from_secs(60);

struct Copy {
    bytes: u64,
    last_use: Instant,
    pin: Pin,
}

/// A directory of copies of one process.
pub(crate) struct Shelf {
    path: PathBuf,
    budget: u64,
    grace: Duration,
    copies: Mutex<HashMap<PathBuf, Copy>>,
    /// The copies that are being made, each by one thread at a time.
    making: Mutex<HashMap<PathBuf, Weak<Mutex<()>>>>,
    /// Held as long as the process lives.
    _lock: File,
}

impl Shelf {
    /// An empty directory of copies; those of an earlier process are removed.
    ///
    /// # Errors
    /// A directory that another process uses; errors of the file system.
    pub(crate) fn open(path: &Path, budget: u64) -> Result<Self, ServiceError> {
        let failed = system("making the directory of copies");
        private_directory(path).map_err(&failed)?;
        let lock = File::create(path.join("lock")).map_err(&failed)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(ServiceError::State {
                path: path.display().to_string(),
                problem: "another process has it open: with an object store each process has a \
                          directory of its own"
                    .into(),
            });
        }
        for name in ["objects", "tables", "new"] {
            match fs::remove_dir_all(path.join(name)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
                _ => fs::create_dir(path.join(name)).map_err(&failed)?,
            }
        }
        let (copies, making) = Default::default();
        Ok(Shelf { path: path.into(), budget, grace: GRACE, copies, making, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Copy>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A path for a new copy, before it gets its name.
    pub(crate) fn fresh(&self) -> Result<PathBuf, ServiceError> {
        Ok(self.path.join("new").join(random_hex::<8>()?))
    }

    /// The lock for making a copy.
    pub(crate) fn one(&self, path: &Path) -> Arc<Mutex<()>> {
        let mut making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = making.get(path).and_then(Weak::upgrade) {
            return one;
        }
        making.retain(|_, one| one.strong_count() > 0);
        let one = Arc::default();
        making.insert(path.into(), Arc::downgrade(&one));
        one
    }

    /// Whether a copy exists; it then stays for a while.
    pub(crate) fn touch(&self, path: &Path) -> bool {
        match self.lock().get_mut(path) {
            Some(copy) => {
                copy.last_use = Instant::now();
                true
            }
            None => false,
        }
    }

    /// Puts a new file under its name.
    pub(crate) fn put(&self, fresh: &Path, path: &Path, bytes: u64) -> Result<(), ServiceError> {
        let failed = system("storing a copy");
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(&failed)?;
        }
        fs::rename(fresh, path).map_err(&failed)?;
        self.pin(path, bytes);
        Ok(())
    }

    /// Counts the copy at a path, which stays as long as the pin exists. Others that are not in use
    /// are removed if the budget is exceeded.
    pub(crate) fn pin(&self, path: &Path, bytes: u64) -> Pin {
        let mut copies = self.lock();
        let fresh = || Copy { bytes, last_use: Instant::now(), pin: Arc::default() };
        let copy = copies.entry(path.into()).or_insert_with(fresh);
        copy.last_use = Instant::now();
        let pin = copy.pin.clone();
        while copies.values().map(|copy| copy.bytes).sum::<u64>() > self.budget {
            let free = |copy: &&Copy| {
                Arc::strong_count(&copy.pin) == 1 && copy.last_use.elapsed() >= self.grace
            };
            let oldest = copies.iter().filter(|(_, copy)| free(copy));
            let oldest = oldest.min_by_key(|(_, copy)| copy.last_use);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else { break };
            remove(&oldest);
            copies.remove(&oldest);
        }
        pin
    }

    /// Removes a copy, if it is there.
    pub(crate) fn forget(&self, path: &Path) {
        self.lock().remove(path);
        remove(path);
    }
}

/// Removes a file or a directory; if that fails, it is removed when the next process starts.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_least_goes_first_and_what_is_pinned_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cache");
        let shelf = Shelf { grace: Duration::ZERO, ..Shelf::open(&path, 25).unwrap() };
        assert!(Shelf::open(&path, 25).is_err(), "it is another process's");
        let put = |name: &str| {
            let (fresh, to) = (shelf.fresh().unwrap(), path.join("objects/acme").join(name));
            fs::write(&fresh, [7; 10]).unwrap();
            shelf.put(&fresh, &to, 10).unwrap();
            to
        };
        let (a, b) = (put("a"), put("b"));
        assert!(shelf.touch(&a) && shelf.touch(&b) && shelf.touch(&a));
        let c = put("c");
        assert_eq!([&a, &b, &c].map(|copy| copy.exists()), [true, false, true]);
        assert!(!shelf.touch(&b));
        let (pin, d) = (shelf.pin(&a, 10), put("d"));
        assert_eq!([&a, &c, &d].map(|copy| copy.exists()), [true, false, true]);
        drop(pin);
        shelf.forget(&a);
        assert!(!a.exists() && !shelf.touch(&a));
        // Whoever has just asked opens it: nothing goes, although it is too much.
        drop(shelf);
        let shelf = Shelf::open(&path, 25).unwrap();
        assert!(!d.exists(), "copies of a process before");
        for name in ["e", "f", "g"] {
            let fresh = shelf.fresh().unwrap();
            fs::write(&fresh, [7; 10]).unwrap();
            shelf.put(&fresh, &path.join("objects").join(name), 10).unwrap();
        }
        assert!(path.join("objects/e").exists());
    }
}
