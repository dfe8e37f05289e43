//! What a run leaves that ends while it writes: by Ctrl-C, a signal, or without power.
//!
//! What is under construction has one of a few names, so that the next run finds it without
//! reading directories, and is locked, so that it is told from what another run is making.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::WireError;

/// How many runs can write to one place at the same time.
pub(crate) const NAMES: usize = 16;

/// Something that an interrupted run had left, and that was taken care of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The file or directory that the run was to write.
    pub path: PathBuf,
    /// What was done.
    pub outcome: Outcome,
}

/// What was done to what an interrupted run had left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not complete: its bytes were removed, and what was there before is as it was.
    Removed {
        /// The number of these bytes.
        bytes: u64,
    },
    /// It was complete, and had partly replaced what was there before: now it has altogether.
    Finished,
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.outcome {
            Outcome::Removed { bytes } => {
                write!(f, "{path}: removed {bytes} bytes that an interrupted run had left")
            }
            Outcome::Finished => {
                write!(f, "{path}: finished what an interrupted run had begun to replace")
            }
        }
    }
}

type Listener = Arc<dyn Fn(&Recovered) + Send + Sync>;

static LISTENER: RwLock<Option<Listener>> = RwLock::new(None);

/// Sets who is told, from now on and in the whole process, of what interrupted runs had left: of
/// files when one of the same name is written, of keys and tables also when they are opened. Nobody
/// is if this is not called.
pub fn on_recovery(tell: impl Fn(&Recovered) + Send + Sync + 'static) {
    *LISTENER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tell));
}

/// Tells whoever listens.
pub(crate) fn told(path: &Path, outcome: Outcome) -> Recovered {
    let found = Recovered { path: path.into(), outcome };
    let listener = LISTENER.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(tell) = listener {
        tell(&found);
    }
    found
}

/// The directory that a file is in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What is under construction for a name in a directory: `.name.0.part` to `.name.15.part`.
pub(crate) fn hidden(directory: &Path, name: &OsStr, number: usize) -> PathBuf {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{number}.part"));
    directory.join(hidden)
}

/// All names are taken.
pub(crate) fn crowded(directory: &Path, name: &OsStr) -> WireError {
    let [first, last] = [0, NAMES - 1].map(|number| hidden(directory, name, number));
    WireError::Exists {
        path: format!("every temporary file from {} to {}", first.display(), last.display()),
    }
}

/// Who holds a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// This process, now; so nobody else does until the file is closed.
    Us,
    /// Another run, or it was removed or renamed since it was opened.
    Another,
    /// The file system has no locks.
    Unknown,
}

/// Tries to lock a file that was opened by this name.
pub(crate) fn hold(file: &File, path: &Path) -> Holder {
    match file.try_lock() {
        Ok(()) if has_name(file, path) => Holder::Us,
        Ok(()) | Err(TryLockError::WouldBlock) => Holder::Another,
        Err(TryLockError::Error(_)) => Holder::Unknown,
    }
}

#[cfg(unix)]
fn has_name(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(opened), Ok(named)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (opened.dev(), opened.ino()) == (named.dev(), named.ino())
}

#[cfg(not(unix))]
fn has_name(_: &File, path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes what runs that ended had left of a file. What cannot be removed stays: it is in nobody's
/// way.
pub(crate) fn remove_leftovers(destination: &Path) -> Vec<Recovered> {
    let mut found = Vec::new();
    let Some(name) = destination.file_name() else { return found };
    for number in 0..NAMES {
        let path = hidden(directory_of(destination), name, number);
        let Ok(length) = path.symlink_metadata().map(|it| it.is_file().then_some(it.len())) else {
            continue;
        };
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        if let (Some(bytes), Ok(file)) = (length, opened)
            && hold(&file, &path) == Holder::Us
            && fs::remove_file(&path).is_ok()
            // Or only just created.
            && bytes > 0
        {
            found.push(told(destination, Outcome::Removed { bytes }));
        }
    }
    found
}

/// The bytes of all files in a directory.
pub(crate) fn bytes_in(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let bytes = |path: PathBuf| match path.symlink_metadata() {
        Ok(found) if found.is_dir() => bytes_in(&path),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.filter_map(|entry| Some(bytes(entry.ok()?.path()))).sum()
}

/// Brings the names in a directory to the disk; file systems that cannot do this keep them anyway.
pub fn sync_directory(directory: &Path) {
    #[cfg(unix)]
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    #[cfg(not(unix))]
    let _ = directory;
}
