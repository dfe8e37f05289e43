//! Files that are written completely or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::WireError;
pub use crate::recovery::sync_directory;
use crate::recovery::{Holder, NAMES, crowded, directory_of, hidden, hold, remove_leftovers};
use crate::stop::stop_here;

/// The treatment of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is kept, and writing is refused.
    Keep,
    /// It is replaced, in one step.
    Replace,
}

/// An error with the file that it is about, and what to do.
pub(crate) fn io_error(path: &Path, error: &std::io::Error) -> WireError {
    let remedy = match error.kind() {
        ErrorKind::NotFound => ": check the name, and that its directory is there",
        ErrorKind::IsADirectory => ": name a file, not a directory",
        _ => "",
    };
    WireError::Io { path: path.display().to_string(), problem: format!("{error}{remedy}") }
}

/// Reads as many bytes as there is room for, from a place on. A forked process shares the position
/// of the file with its parent, so that it is neither used nor changed where systems allow it.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Reads as many bytes as there is room for, from a place on.
#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

/// Replaces `bytes` by those of a part of the file.
pub(crate) fn read_bytes(
    file: &mut File,
    path: &Path,
    range: &Range<u64>,
    bytes: &mut Vec<u8>,
) -> Result<(), WireError> {
    let failed = |e: std::io::Error| io_error(path, &e);
    let length = range.end - range.start;
    bytes.clear();
    bytes.reserve(length as usize);
    std::io::Seek::seek(file, std::io::SeekFrom::Start(range.start)).map_err(failed)?;
    file.take(length).read_to_end(bytes).map_err(failed)?;
    match bytes.len() as u64 {
        found if found < length => Err(WireError::Truncated { needed: length, found }),
        _ => Ok(()),
    }
}

/// A file under construction beside its destination; removed unless it is finished.
pub(crate) struct Pending {
    /// Locked until it is closed, so that no other run takes it for what an ended one left.
    pub(crate) file: File,
    temporary: PathBuf,
    destination: PathBuf,
    existing: Existing,
    finished: bool,
}

impl Pending {
    /// Creates the temporary file: readable for its owner only if it is to hold a secret. What runs
    /// that ended had left of this file is removed.
    pub(crate) fn create(
        destination: &Path,
        existing: Existing,
        secret: bool,
    ) -> Result<Self, WireError> {
        if existing == Existing::Keep && destination.symlink_metadata().is_ok() {
            return Err(WireError::Exists { path: destination.display().to_string() });
        }
        let name = destination.file_name().ok_or_else(|| WireError::Io {
            path: destination.display().to_string(),
            problem: "expected the name of a file".into(),
        })?;
        let directory = directory_of(destination);
        remove_leftovers(destination);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if secret {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        #[cfg(not(unix))]
        let _ = secret;
        for number in 0..NAMES {
            let temporary = hidden(directory, name, number);
            let file = match options.open(&temporary) {
                Ok(file) => file,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                // Of the two names the user knows this one.
                Err(e) => return Err(io_error(destination, &e)),
            };
            stop_here();
            // Before it was locked another run may have taken it for a leftover, and removes it.
            if hold(&file, &temporary) != Holder::Another {
                let destination = destination.into();
                return Ok(Pending { file, temporary, destination, existing, finished: false });
            }
        }
        Err(crowded(directory, name))
    }

    /// Brings what was written to the disk.
    fn sync(&self) -> Result<(), WireError> {
        stop_here();
        self.file.sync_all().map_err(|e| io_error(&self.temporary, &e))
    }

    /// Brings what was written to the disk and gives it its name.
    pub(crate) fn finish(self) -> Result<(), WireError> {
        self.sync()?;
        let directory = directory_of(&self.destination).to_path_buf();
        self.publish()?;
        // The name is on the disk too.
        sync_directory(&directory);
        Ok(())
    }

    /// Gives what was written its name; the system brings it to the disk when it likes.
    pub(crate) fn publish(mut self) -> Result<(), WireError> {
        stop_here();
        match self.existing {
            Existing::Replace => self.rename()?,
            // A link fails if the name was taken meanwhile, where a rename would replace what is
            // there.
            Existing::Keep => match fs::hard_link(&self.temporary, &self.destination) {
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                    return Err(WireError::Exists { path: self.destination.display().to_string() });
                }
                // A file system without links.
                Err(_) => self.rename()?,
            },
        }
        stop_here();
        Ok(())
    }

    /// Refuses what [`Pending::publish`] is going to refuse, as far as that is known before.
    fn check_place(&self) -> Result<(), WireError> {
        match self.destination.symlink_metadata() {
            Ok(_) if self.existing == Existing::Keep => {
                Err(WireError::Exists { path: self.destination.display().to_string() })
            }
            Ok(found) if found.is_dir() => {
                Err(io_error(&self.destination, &ErrorKind::IsADirectory.into()))
            }
            _ => Ok(()),
        }
    }

    fn rename(&mut self) -> Result<(), WireError> {
        fs::rename(&self.temporary, &self.destination)
            .map_err(|e| io_error(&self.destination, &e))?;
        // From now on the temporary name may be another run's.
        self.finished = true;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn write(path: &Path, bytes: &[u8], existing: Existing, secret: bool) -> Result<(), WireError> {
    let mut file = NewFile(Pending::create(path, existing, secret)?);
    file.add(bytes)?;
    file.finish()
}

/// Writes a file atomically: to a temporary file in the same directory, which is flushed to the
/// disk and then renamed. Remains of interrupted runs for the same file are removed and reported
/// ([`on_recovery`](crate::on_recovery)).
///
/// # Errors
/// An existing file (unless it is to be replaced), and errors of the file system.
pub fn write_file(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), WireError> {
    write(path, bytes, existing, false)
}

/// A file that is written piece by piece and, like that of [`write_file`], appears atomically: in
/// full when it is finished, otherwise not at all.
pub struct NewFile(Pending);

impl NewFile {
    /// Creates the temporary file.
    ///
    /// # Errors
    /// As [`write_file`].
    pub fn create(path: &Path, existing: Existing) -> Result<Self, WireError> {
        Ok(NewFile(Pending::create(path, existing, false)?))
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.0.file.write_all(bytes).map_err(|e| io_error(&self.0.destination, &e))
    }

    /// Flushes it to the disk and renames it.
    ///
    /// # Errors
    /// As [`write_file`].
    pub fn finish(self) -> Result<(), WireError> {
        self.0.finish()
    }
}

/// The most files that are open at the same time: systems allow a process 256, or some 1,000.
const TOGETHER: usize = 128;

/// Files that are written together: all of them are complete, and on the disk, before the first
/// one gets its name, so that an error until then, such as a full disk, replaces none of them. The
/// names follow one after the other, and a process that ends among these leaves some files old and
/// some new, each of them whole. All files are open until then, up to 128: of more, these get their
/// names before the next ones are written.
#[derive(Default)]
pub struct NewFiles(Vec<Pending>);

impl NewFiles {
    /// Writes one more, under a temporary name.
    ///
    /// # Errors
    /// As [`write_file`], and those of [`NewFiles::finish`] for the files before.
    pub fn add(&mut self, path: &Path, bytes: &[u8], existing: Existing) -> Result<(), WireError> {
        if self.0.len() >= TOGETHER {
            std::mem::take(self).finish()?;
        }
        let mut file = NewFile::create(path, existing)?;
        file.add(bytes)?;
        file.0.sync()?;
        self.0.push(file.0);
        Ok(())
    }

    /// Gives all of them their names.
    ///
    /// # Errors
    /// As [`write_file`]. None has its name then if a place was taken, or a directory was in it,
    /// before the first one got its name.
    pub fn finish(self) -> Result<(), WireError> {
        self.0.iter().try_for_each(Pending::check_place)?;
        let directory = |file: &Pending| directory_of(&file.destination).to_path_buf();
        let directories: BTreeSet<PathBuf> = self.0.iter().map(directory).collect();
        let published = self.0.into_iter().try_for_each(Pending::publish);
        // The names are on the disk too.
        directories.iter().for_each(|directory| sync_directory(directory));
        published
    }
}

/// [`write_file`] for a secret key: on Unix only the owner may read the file (mode 0600).
///
/// # Errors
/// As [`write_file`].
pub fn write_secret_file(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), WireError> {
    write(path, bytes, existing, true)
}

/// Reads a file of at most `max_bytes`. The bytes are wiped when dropped, as the file may hold a
/// secret.
///
/// # Errors
/// A larger file, and errors of the file system.
pub fn read_file(path: &Path, max_bytes: u64) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let failed = |e: std::io::Error| io_error(path, &e);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let limit = |found| WireError::Limit { what: "bytes of the file", found, limit: max_bytes };
    if length > max_bytes {
        return Err(limit(length));
    }
    // Room for one more byte, so that a file that does not grow is read without a copy that would
    // not be wiped.
    let mut bytes =
        Zeroizing::new(Vec::with_capacity(usize::try_from(length).map_err(|_| limit(length))? + 1));
    file.take(length + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > length {
        return Err(WireError::Io {
            path: path.display().to_string(),
            problem: "it grows while it is read".into(),
        });
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Seek, SeekFrom};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Another process that has the file, too, moves the position that both of them have.
    #[test]
    fn places_are_read_whatever_the_position() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&(0..=255).collect::<Vec<u8>>()).unwrap();
        let (mut shared, done) = (file.try_clone().unwrap(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    shared.seek(SeekFrom::Start(7)).unwrap();
                }
            });
            let mut found = [0; 16];
            let right = (0..240u8).cycle().take(20_000).all(|start| {
                let read = read_at(&file, &mut found, start.into());
                read.is_ok() && (found[0], found[15]) == (start, start + 15)
            });
            done.store(true, Ordering::Relaxed);
            assert!(right);
        });
        assert!(read_at(&file, &mut [0; 16], 250).is_err());
    }
}
