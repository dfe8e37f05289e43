//! Directories that are written completely or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use everlevel_wire::file::Existing;
use everlevel_wire::{FileSet, PendingSet, WireError};

/// A directory under construction beside its destination, which is removed unless it is finished.
pub(crate) struct PendingDirectory {
    pending: PendingSet,
    path: PathBuf,
    existing: Existing,
}

fn refused(path: &Path, error: &std::io::Error) -> WireError {
    WireError::Io { path: path.display().to_string(), problem: error.to_string() }
}

/// What is replaced as a whole, where it is, and what it is called. What a link leads to is
/// replaced, and not the link.
fn parts_of(destination: &Path) -> Result<(FileSet, PathBuf, PathBuf), WireError> {
    let target = match destination.is_symlink() {
        true => fs::canonicalize(destination).map_err(|e| refused(destination, &e))?,
        false => destination.to_path_buf(),
    };
    let name = target.file_name().ok_or_else(|| WireError::Io {
        path: target.display().to_string(),
        problem: "expected the name of a directory".into(),
    })?;
    let parent = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((FileSet::new(parent, name, [name]), parent.into(), name.into()))
}

impl PendingDirectory {
    /// Takes care of what interrupted runs left of a directory.
    pub(crate) fn recover(destination: &Path) -> Result<(), WireError> {
        match parts_of(destination) {
            Ok((set, ..)) => set.recover().map(drop),
            // Such as `.`, or a link that leads nowhere: nothing can be beside it.
            Err(_) => Ok(()),
        }
    }

    /// Creates the temporary directory. `replaceable` says whether what is in the place of the
    /// destination may be replaced if it is to be.
    pub(crate) fn create(
        destination: &Path,
        existing: Existing,
        replaceable: impl Fn(&Path) -> bool,
    ) -> Result<Self, WireError> {
        Self::recover(destination)?;
        if destination.symlink_metadata().is_ok()
            && (existing == Existing::Keep || !replaceable(destination))
        {
            return Err(WireError::Exists { path: destination.display().to_string() });
        }
        let (set, parent, name) = parts_of(destination)?;
        fs::create_dir_all(&parent).map_err(|e| refused(&parent, &e))?;
        let pending = set.begin()?;
        let path = pending.path().join(name);
        fs::create_dir(&path).map_err(|e| refused(&path, &e))?;
        Ok(PendingDirectory { pending, path, existing })
    }

    /// The path where its files are written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the directory its name. The directory that it replaces is removed only after that.
    pub(crate) fn finish(self) -> Result<(), WireError> {
        self.pending.finish(self.existing)
    }

    /// The same after a check, from which on nobody else replaces the directory.
    pub(crate) fn finish_if<E: From<WireError>>(
        self,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.pending.finish_if(self.existing, check)
    }
}
