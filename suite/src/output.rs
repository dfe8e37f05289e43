//! Files between stages: there in full or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use std::{panic, thread};

use crate::error::SuiteError;

/// Bytes of a buffer.
const BUFFER: usize = 1 << 20;

/// A file that gets its name when it is finished, without waiting for the disk, and is removed if
/// it is not.
pub(crate) struct Output {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
    finished: bool,
}

impl Output {
    /// Begins a file, in a directory that is made if it is not there.
    pub fn create(path: PathBuf) -> Result<Self, SuiteError> {
        make_place_for(&path)?;
        let temporary = path.with_extension("part");
        let file = File::create(&temporary).map_err(|e| SuiteError::io(&temporary, &e))?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Output { file, temporary, path, finished: false })
    }

    /// Writes what comes next.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SuiteError> {
        self.file.write_all(bytes).map_err(|e| SuiteError::io(&self.temporary, &e))
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), SuiteError> {
        self.file.flush().map_err(|e| SuiteError::io(&self.temporary, &e))?;
        fs::rename(&self.temporary, &self.path).map_err(|e| SuiteError::io(&self.path, &e))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Makes the directory that a file is to be in, and removes what an earlier run left there: a stage
/// that fails leaves no old result behind, and a file system that writes out what it replaces has
/// nothing to replace.
pub(crate) fn make_place_for(path: &Path) -> Result<(), SuiteError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(|e| SuiteError::io(directory, &e))?;
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(SuiteError::io(path, &e)),
        _ => Ok(()),
    }
}

/// Writes what `compute` sends while it goes on, on a thread of its own, so that a disk that is
/// behind makes only that one wait. How long it took to write.
pub(crate) fn write_meanwhile<T: Send>(
    write: impl FnMut(T) -> Result<(), SuiteError> + Send,
    compute: impl FnOnce(SyncSender<T>) -> Result<(), SuiteError>,
) -> Result<Duration, SuiteError> {
    let (sender, receiver) = sync_channel(1);
    thread::scope(|scope| {
        let writer = scope.spawn(move || write_all(receiver, write));
        let computed = compute(sender);
        let written = writer.join().unwrap_or_else(|reason| panic::resume_unwind(reason));
        computed?;
        written
    })
}

/// Writes all that comes. How long it took without waiting for it.
pub(crate) fn write_all<T>(
    results: Receiver<T>,
    mut write: impl FnMut(T) -> Result<(), SuiteError>,
) -> Result<Duration, SuiteError> {
    let mut spent = Duration::ZERO;
    for result in results {
        let start = Instant::now();
        write(result)?;
        spent += start.elapsed();
    }
    Ok(spent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_meanwhile_is_in_order() {
        let mut found = Vec::new();
        let write = |x: u32| {
            found.push(x);
            Ok(())
        };
        let compute = |results: SyncSender<u32>| {
            assert!((0..100).all(|x| results.send(x).is_ok()));
            Ok(())
        };
        write_meanwhile(write, compute).unwrap();
        assert!(found.into_iter().eq(0..100));
    }

    /// Whoever computes is told to stop by a channel without a receiver.
    #[test]
    fn failures_of_either_side_end_both() {
        let failed = || SuiteError::io(Path::new("file"), &std::io::Error::other("full"));
        let mut sent = 0;
        let compute = |results: SyncSender<u32>| {
            sent = (0..100).take_while(|x| results.send(*x).is_ok()).count();
            Ok(())
        };
        assert_eq!(write_meanwhile(|_: u32| Err(failed()), compute), Err(failed()));
        assert!(sent < 100, "{sent}");
        let compute = |_: SyncSender<u32>| Err(failed());
        assert_eq!(write_meanwhile(|_: u32| Ok(()), compute), Err(failed()));
    }
}
