//! Where the server listens, and whether files are still those that it has read.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::SuiteError;
use crate::instance::Instance;

/// The directory of the socket, which nobody else can look into, whatever the mask of modes is.
const DIRECTORY_MODE: u32 = 0o700;
/// The socket: to connect to it, one has to be allowed to write to it.
const SOCKET_MODE: u32 = 0o600;
/// For how long the end of a former server is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// As it is now, behind links as well.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
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

/// Removes the socket. A server that listens there ends when it notices, which is waited for: until
/// then it has its database in memory, where there may not be room for another one.
pub(super) fn remove(instance: &Instance) -> Result<(), SuiteError> {
    let (directory, former) = (directory(instance), connect(instance));
    if let Err(e) = fs::remove_dir_all(&directory)
        && e.kind() != ErrorKind::NotFound
    {
        return Err(SuiteError::io(&directory, &e));
    }
    if let Ok(former) = former {
        ends(&former, PATIENCE);
    }
    Ok(())
}

/// Whether the other end is closed before it has been silent for `limit`.
fn ends(mut stream: &UnixStream, limit: Duration) -> bool {
    if stream.set_read_timeout(Some(limit)).is_err() {
        return false;
    }
    let mut part = [0; 512];
    loop {
        match stream.read(&mut part) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(e) => match e.kind() {
                ErrorKind::Interrupted => {}
                ErrorKind::WouldBlock | ErrorKind::TimedOut => return false,
                _ => return true,
            },
        }
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::thread;

    use super::*;

    #[test]
    fn stamps_are_of_what_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "one").unwrap();
        symlink(&file, &link).unwrap();
        let stamp = Stamp::of(&link).unwrap();
        assert!(stamp.holds(&file) && stamp.holds(&link));
        fs::write(&file, "another text").unwrap();
        assert!(!stamp.holds(&file) && !stamp.holds(&link));
        fs::remove_file(&file).unwrap();
        assert!(!stamp.holds(&link) && Stamp::of(&link).is_err());
    }

    #[test]
    fn the_end_of_a_server_is_seen() {
        let (stage, server) = UnixStream::pair().unwrap();
        assert!(!ends(&stage, Duration::from_millis(20)));
        thread::scope(|scope| {
            scope.spawn(move || {
                (&server).write_all(b"what nobody asked for").unwrap();
                thread::sleep(Duration::from_millis(50));
                drop(server);
            });
            assert!(ends(&stage, Duration::from_secs(20)));
        });
    }
}
