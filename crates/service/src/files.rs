//! Files and directories of the service, and the errors if they are not as expected.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use everlevel_remote::ObjectId;

use crate::error::ServiceError;

pub(crate) fn system(what: &'static str) -> impl Fn(std::io::Error) -> ServiceError {
    move |e| ServiceError::internal(what)(&e)
}

/// The error for an object that cannot be read; a missing file counts as damaged, like one that has
/// changed.
pub(crate) fn unreadable(id: &ObjectId) -> impl Fn(std::io::Error) -> ServiceError + '_ {
    move |e| match e.kind() {
        std::io::ErrorKind::NotFound => ServiceError::Damaged { object: id.to_string() },
        _ => system("reading an object")(e),
    }
}

/// The hash of a file, read in parts.
pub(crate) fn hash_of(path: &Path) -> std::io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize())
}

/// The error for an upload to which another request is adding a part.
pub(crate) fn busy() -> ServiceError {
    let problem = "another request adds to this upload: ask how far it is, and go on there";
    ServiceError::Conflict { problem: problem.into() }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Creates a directory that other users of the machine cannot read, if it does not exist.
pub(crate) fn private_directory(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// The last part of a path as a name of the service; `None` if it is not such a name.
pub(crate) fn named<T: std::str::FromStr>(path: &Path) -> Option<T> {
    path.file_name()?.to_str()?.parse().ok()
}

/// Whether a directory of tenants has a file.
pub(crate) fn has_files(directory: &Path) -> Result<bool, ServiceError> {
    for tenant in entries(directory)? {
        if !entries(&tenant)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The entries of a directory; none if it does not exist.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, ServiceError> {
    let failed = system("reading its directory");
    match fs::read_dir(directory) {
        Ok(found) => found.map(|entry| Ok(entry.map_err(&failed)?.path())).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(failed(e)),
    }
}

/// An open file at a byte offset, and the number of bytes from there on.
pub(crate) fn opened_at(
    path: &Path,
    id: &ObjectId,
    offset: u64,
) -> Result<(File, u64), ServiceError> {
    let failed = unreadable(id);
    let mut file = File::open(path).map_err(&failed)?;
    let length = file.metadata().map_err(&failed)?.len();
    file.seek(SeekFrom::Start(offset)).map_err(&failed)?;
    Ok((file, length.saturating_sub(offset)))
}
