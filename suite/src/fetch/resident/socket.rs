//! Where the server listens, and whether files are still those that it has read.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::error::SuiteError;
use crate::instance::Instance;

/// The directory of the socket, which nobody else can look into, whatever the mask of modes is.
const DIRECTORY_MODE: u32 = 0o700;
/// The socket: to connect to it, one has to be allowed to write to it.
const SOCKET_MODE: u32 = 0o600;

/// A file as it was at some time: another one in its place, or the same one with other content,
/// has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// As it is now.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        Ok(Stamp {
            device: found.dev(),
            inode: found.ino(),
            length: found.len(),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// Whether it still is.
    pub fn holds(&self, path: &Path) -> bool {
        Stamp::of(path).is_ok_and(|now| now == *self)
    }
}

fn directory(instance: &Instance) -> PathBuf {
    instance.io("server")
}

/// Relative to the work tree, as all names are: those of sockets must not be long.
pub(super) fn path(instance: &Instance) -> PathBuf {
    instance.io("server/socket")
}

/// Removes the socket; a server that listens there ends when it notices.
pub(super) fn remove(instance: &Instance) -> Result<(), SuiteError> {
    let directory = directory(instance);
    match fs::remove_dir_all(&directory) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(SuiteError::io(&directory, &e)),
        _ => Ok(()),
    }
}

/// Begins to listen, where nobody does.
pub(super) fn listen(instance: &Instance) -> Result<(UnixListener, Stamp), SuiteError> {
    let (directory, socket) = (directory(instance), path(instance));
    let made = DirBuilder::new().mode(DIRECTORY_MODE).create(&directory);
    made.map_err(|e| SuiteError::io(&directory, &e))?;
    let listening = || {
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, Permissions::from_mode(SOCKET_MODE))?;
        let stamp = Stamp::of(&socket)?;
        Ok::<_, io::Error>((listener, stamp))
    };
    listening().map_err(|e| SuiteError::io(&socket, &e))
}

/// Connects to the server, if it is one that others can neither have put there nor reach.
pub(super) fn connect(instance: &Instance) -> Result<UnixStream, SuiteError> {
    let socket = path(instance);
    let none = |e: io::Error| SuiteError::Server {
        problem: format!(
            "none listens at {} ({e}): run server_preprocess_dataset again",
            socket.display()
        ),
    };
    for (path, mode) in [(&directory(instance), DIRECTORY_MODE), (&socket, SOCKET_MODE)] {
        let found = fs::symlink_metadata(path).map_err(none)?.mode() & 0o777;
        if found != mode {
            let problem = format!("{}: expected mode {mode:o}, found {found:o}", path.display());
            return Err(SuiteError::Server { problem });
        }
    }
    UnixStream::connect(&socket).map_err(none)
}
