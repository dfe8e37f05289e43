//! Files of one directory that are replaced together: all of them or none, whenever the process
//! ends.
//!
//! All are made in `new`, a folder of a directory of their own beside the old ones, and brought to
//! the disk, before the first one gets its name. From then on that directory has a folder `old`, to
//! which what is replaced goes. A failure in between puts that back; what a process leaves that
//! ends in between is finished by the next one ([`FileSet::recover`]).

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::WireError;
use crate::file::{Existing, io_error};
use crate::recovery::{
    Holder, NAMES, Outcome, Recovered, bytes_in, crowded, hidden, hold, remove_leftovers,
    sync_directory, told,
};
use crate::stop::stop_here;

/// The file that a process holds locked for as long as it works.
const LOCK: &str = "lock";
/// Where entries are made.
const NEW: &str = "new";
/// Where that goes which is replaced.
const OLD: &str = "old";
/// What says that nothing is to be replaced, to whoever finishes it.
const KEEP: &str = "keep";
/// How often, and how long each time, one waits for a process that is putting files in place: that
/// takes milliseconds, or as long as a busy disk takes to remember names. 30 seconds.
const WAIT: (usize, Duration) = (1500, Duration::from_millis(20));

/// Files, or directories, of one directory that are replaced together.
#[derive(Clone, Debug)]
pub struct FileSet {
    directory: PathBuf,
    name: OsString,
    entries: Vec<OsString>,
}

impl FileSet {
    /// The entries of a directory that are replaced together, and a name for all of them, which is
    /// part of what their directory is called while they are made.
    pub fn new<E: Into<OsString>>(
        directory: &Path,
        name: impl Into<OsString>,
        entries: impl IntoIterator<Item = E>,
    ) -> Self {
        let directory = Some(directory).filter(|it| !it.as_os_str().is_empty());
        FileSet {
            directory: directory.unwrap_or(Path::new(".")).into(),
            name: name.into(),
            entries: entries.into_iter().map(Into::into).collect(),
        }
    }

    /// Makes room for new ones.
    ///
    /// # Errors
    /// What the system refuses; too many runs that do the same.
    pub fn begin(&self) -> Result<PendingSet, WireError> {
        for number in 0..NAMES {
            let path = hidden(&self.directory, &self.name, number);
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(io_error(&path, &e)),
            }
            stop_here();
            let lock = match open_lock(&path) {
                Ok(lock) => lock,
                // Before it was locked another run took it for a leftover, and removed it.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(io_error(&path, &e)),
            };
            if hold(&lock, &path.join(LOCK)) != Holder::Another {
                stop_here();
                let (set, new) = (self.clone(), path.join(NEW));
                let pending =
                    PendingSet { set, hidden: path, path: new, lock: Some(lock), stays: false };
                fs::create_dir(&pending.path).map_err(|e| io_error(&pending.path, &e))?;
                return Ok(pending);
            }
        }
        Err(crowded(&self.directory, &self.name))
    }

    /// Takes care of what runs left that ended while they replaced these files: what was not
    /// complete is removed, a replacement that had begun is finished. What other runs are making is
    /// left alone. Looks for a few names, and does nothing if there are none. Everything is also
    /// told to who listens ([`on_recovery`](crate::on_recovery)).
    ///
    /// # Errors
    /// [`WireError::Interrupted`] if a replacement cannot be finished, or if another process is
    /// still at one after 30 seconds. What cannot be removed, as in a directory that is only read,
    /// stays.
    pub fn recover(&self) -> Result<Vec<Recovered>, WireError> {
        let mut found = self.settle_all()?;
        for entry in &self.entries {
            found.extend(remove_leftovers(&self.directory.join(entry)));
        }
        Ok(found)
    }

    fn settle_all(&self) -> Result<Vec<Recovered>, WireError> {
        let mut found = Vec::new();
        for number in 0..NAMES {
            if let Some(pending) = self.abandoned(number)? {
                found.extend(pending.settle()?);
            }
        }
        Ok(found)
    }

    /// What a run that ended left under a name; while it is looked at, it is locked.
    fn abandoned(&self, number: usize) -> Result<Option<PendingSet>, WireError> {
        let path = hidden(&self.directory, &self.name, number);
        let here = || path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if !here() {
            return Ok(None);
        }
        let name = path.join(LOCK);
        // Where nothing can be written there is perhaps a lock to look at.
        let lock = open_lock(&path).or_else(|_| File::open(&name)).ok();
        let (set, new) = (self.clone(), path.join(NEW));
        let pending = PendingSet { set, hidden: path.clone(), path: new, lock, stays: true };
        let Some(lock) = &pending.lock else { return Ok(here().then_some(pending)) };
        for _ in 0..WAIT.0 {
            match hold(lock, &name) {
                Holder::Us => return Ok(Some(pending)),
                // Whoever is putting files in place is done in a moment.
                Holder::Another if pending.has_begun() => std::thread::sleep(WAIT.1),
                Holder::Another => return Ok(None),
                // Files of a run that still works are only taken if it is about to end.
                Holder::Unknown => return Ok(pending.has_begun().then_some(pending)),
            }
        }
        // What is there now may be a mixture of old and new files.
        Err(self.interrupted("another process is still replacing the files: try again".into()))
    }

    fn interrupted(&self, problem: String) -> WireError {
        WireError::Interrupted { path: self.directory.display().to_string(), problem }
    }

    /// Waits until nobody else replaces these files, as long as what is returned is there. Where
    /// directories cannot be locked, two runs at the same time mix their files.
    fn alone(&self) -> Option<File> {
        File::open(&self.directory).ok().filter(|directory| directory.lock().is_ok())
    }

    /// [`FileSet::alone`], after what a run that ended has left half done is finished: later, that
    /// would mix its files with those that are put in place now.
    fn alone_and_settled(&self) -> Result<Option<File>, WireError> {
        for _ in 0..NAMES {
            let alone = self.alone();
            // Where directories cannot be locked, another run may be about to end what it began.
            if alone.is_none() || !(0..NAMES).any(|number| self.is_half_done(number)) {
                return Ok(alone);
            }
            // Whoever settles it waits for the lock.
            drop(alone);
            self.settle_all()?;
        }
        Err(self.interrupted("other processes keep replacing the files: try again".into()))
    }

    fn is_half_done(&self, number: usize) -> bool {
        let path = hidden(&self.directory, &self.name, number);
        let made = path.join(NEW);
        path.join(OLD).is_dir() && self.entries.iter().any(|entry| is_there(&made.join(entry)))
    }

    /// What it is called when something is told of it.
    fn shown(&self) -> PathBuf {
        match &self.entries[..] {
            [only] => self.directory.join(only),
            _ => self.directory.clone(),
        }
    }
}

fn open_lock(directory: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).open(directory.join(LOCK))
}

/// Files under construction; removed unless they are finished.
#[derive(Debug)]
pub struct PendingSet {
    set: FileSet,
    hidden: PathBuf,
    path: PathBuf,
    /// Locked until it is closed.
    lock: Option<File>,
    /// Whether it stays when this is dropped.
    stays: bool,
}

impl PendingSet {
    /// Where they are made, by the names that they are to have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives all of them their names. What is replaced is gone only after that.
    ///
    /// # Errors
    /// Something that is there already and is to be kept; an entry that was not made; what the
    /// system refuses. What was there before is back in its place then.
    pub fn finish(self, existing: Existing) -> Result<(), WireError> {
        self.finish_if(existing, || Ok(()))
    }

    /// The same after a check, from which on nobody else replaces these files.
    ///
    /// # Errors
    /// Those of [`PendingSet::finish`] and of the check: what was there before stays then.
    pub fn finish_if<E: From<WireError>>(
        mut self,
        existing: Existing,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let finished = self.swap(existing, check);
        // If the old ones could not be put back, they are in it, and the next run goes on.
        self.stays = finished.is_err() && self.has_begun();
        finished
    }

    fn old(&self) -> PathBuf {
        self.hidden.join(OLD)
    }

    fn has_begun(&self) -> bool {
        self.old().is_dir()
    }

    fn swap<E: From<WireError>>(
        &self,
        existing: Existing,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let old = self.old();
        let _alone = self.set.alone_and_settled()?;
        check()?;
        if existing == Existing::Keep {
            self.check_places()?;
            let keep = self.hidden.join(KEEP);
            File::create(&keep).map_err(|e| io_error(&keep, &e))?;
        }
        // What was made, and where it is, is on the disk before anything is replaced.
        for directory in [&self.path, &self.hidden, &self.set.directory] {
            sync_directory(directory);
        }
        fs::create_dir(&old).map_err(|e| io_error(&old, &e))?;
        sync_directory(&self.hidden);
        stop_here();
        let mut done = Vec::new();
        let moved =
            self.set.entries.iter().try_for_each(|entry| self.place(entry, existing, &mut done));
        if moved.is_err() {
            // In reverse; where that fails, the directory stays and the next run goes on.
            let undone = done.iter().rev().all(|(before, now)| fs::rename(now, before).is_ok());
            if undone {
                let _ = fs::remove_dir_all(&old);
            }
            return moved.map_err(E::from);
        }
        self.sync();
        Ok(())
    }

    /// Checks that all were made and that all places are free.
    fn check_places(&self) -> Result<(), WireError> {
        for entry in &self.set.entries {
            let (made, place) = (self.path.join(entry), self.set.directory.join(entry));
            made.symlink_metadata().map_err(|e| io_error(&place, &e))?;
            if is_there(&place) {
                return Err(WireError::Exists { path: place.display().to_string() });
            }
        }
        Ok(())
    }

    /// Gives one its name, and notes what was renamed.
    fn place(
        &self,
        entry: &OsStr,
        existing: Existing,
        done: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<(), WireError> {
        let (made, place) = (self.path.join(entry), self.set.directory.join(entry));
        let mut rename = |from: PathBuf, to: PathBuf| {
            fs::rename(&from, &to).map_err(|e| io_error(&place, &e))?;
            stop_here();
            done.push((from, to));
            Ok(())
        };
        if is_there(&place) {
            if existing == Existing::Keep {
                return Err(WireError::Exists { path: place.display().to_string() });
            }
            rename(place.clone(), self.old().join(entry))?;
        }
        rename(made, place.clone())
    }

    /// Brings all names to the disk.
    fn sync(&self) {
        for directory in [&self.set.directory, &self.path, &self.old()] {
            sync_directory(directory);
        }
        stop_here();
    }

    /// Of a run that ended: finishes what has begun, and removes the rest.
    fn settle(self) -> Result<Option<Recovered>, WireError> {
        let left = self.set.entries.iter().filter(|entry| is_there(&self.path.join(entry)));
        let mut left: Vec<&OsString> = if self.has_begun() { left.collect() } else { Vec::new() };
        let _alone = (!left.is_empty()).then(|| self.set.alone());
        let keeps = self.hidden.join(KEEP).is_file();
        let existing = if keeps { Existing::Keep } else { Existing::Replace };
        let mut places = left.iter().map(|entry| self.set.directory.join(entry));
        if let Some(taken) = places.find(|place| keeps && is_there(place)) {
            if left.len() < self.set.entries.len() {
                // What has its name already is perhaps no longer what the run gave it.
                return Err(self.set.interrupted(format!(
                    "an interrupted run was to replace nothing, and {} was made since: move that \
                     away, or remove {}",
                    taken.display(),
                    self.hidden.display()
                )));
            }
            // Another run was quicker. Without `old` this one had not begun.
            if fs::remove_dir(self.old()).is_err() {
                return Ok(None);
            }
            left.clear();
        }
        for entry in &left {
            self.place(entry, existing, &mut Vec::new()).map_err(|e| match e {
                WireError::Io { problem, .. } => self.set.interrupted(problem),
                e => self.set.interrupted(e.to_string()),
            })?;
        }
        if !left.is_empty() {
            self.sync();
        }
        let bytes = bytes_in(&self.hidden);
        let removed = self.remove().is_ok();
        let outcome = match bytes {
            _ if !left.is_empty() => Outcome::Finished,
            // Only just created or almost removed, or in a directory that is only read.
            0 => return Ok(None),
            _ if !removed => return Ok(None),
            bytes => Outcome::Removed { bytes },
        };
        Ok(Some(told(&self.set.shown(), outcome)))
    }

    /// Removes the directory, the lock last: without one it belongs to nobody.
    fn remove(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.hidden)? {
            let entry = entry?;
            if entry.file_name() == LOCK {
                continue;
            }
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
            stop_here();
        }
        if self.lock.is_some() {
            fs::remove_file(self.hidden.join(LOCK))?;
            stop_here();
        }
        fs::remove_dir(&self.hidden)
    }
}

impl Drop for PendingSet {
    fn drop(&mut self) {
        if !self.stays {
            // Nothing can be done if it stays: the next run removes it.
            let _ = self.remove();
        }
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
