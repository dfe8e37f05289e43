//! Directories that are there in full or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use everlevel_wire::WireError;
use everlevel_wire::file::Existing;

/// A directory under construction beside its destination; removed unless it is finished.
pub(crate) struct PendingDirectory {
    temporary: PathBuf,
    destination: PathBuf,
    existing: Existing,
}

fn refused(path: &Path, error: &std::io::Error) -> WireError {
    WireError::Io { path: path.display().to_string(), problem: error.to_string() }
}

fn exists(path: &Path) -> WireError {
    WireError::Exists { path: path.display().to_string() }
}

impl PendingDirectory {
    /// Creates the temporary directory. `replaceable` says whether what is in the place of the
    /// destination may be replaced if it is to be.
    pub(crate) fn create(
        destination: &Path,
        existing: Existing,
        replaceable: impl Fn(&Path) -> bool,
    ) -> Result<Self, WireError> {
        if destination.symlink_metadata().is_ok()
            && (existing == Existing::Keep || !replaceable(destination))
        {
            return Err(exists(destination));
        }
        // What a link leads to is replaced, and not the link.
        let target = match destination.is_symlink() {
            true => fs::canonicalize(destination).map_err(|e| refused(destination, &e))?,
            false => destination.to_path_buf(),
        };
        let destination = &*target;
        let name = destination.file_name().ok_or_else(|| WireError::Io {
            path: destination.display().to_string(),
            problem: "expected the name of a directory".into(),
        })?;
        let parent = destination.parent().filter(|p| !p.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|e| refused(parent, &e))?;
        let beside = |attempt: u32| {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.part", std::process::id()));
            destination.with_file_name(hidden)
        };
        for attempt in 0..100 {
            let temporary = beside(attempt);
            match fs::create_dir(&temporary) {
                Ok(()) => {
                    let destination = destination.to_path_buf();
                    return Ok(PendingDirectory { temporary, destination, existing });
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(refused(&temporary, &e)),
            }
        }
        Err(exists(&beside(0)))
    }

    /// Where its files are written.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives it its name. What it replaces is gone only after that.
    pub(crate) fn finish(self) -> Result<(), WireError> {
        let failed = |e: std::io::Error| refused(&self.destination, &e);
        let there = self.destination.symlink_metadata().is_ok();
        if there && self.existing == Existing::Keep {
            return Err(exists(&self.destination));
        }
        if !there {
            return fs::rename(&self.temporary, &self.destination).map_err(failed);
        }
        let old = self.temporary.with_extension("old");
        fs::rename(&self.destination, &old).map_err(failed)?;
        if let Err(e) = fs::rename(&self.temporary, &self.destination) {
            // What was there is put back, and stays beside its place if even that fails.
            let _ = fs::rename(&old, &self.destination);
            return Err(failed(e));
        }
        fs::remove_dir_all(&old).map_err(|e| refused(&old, &e))
    }
}

impl Drop for PendingDirectory {
    fn drop(&mut self) {
        // After it was finished there is nothing to remove.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}
