//! Files of a command: reading what has a bounded size, and what is said of a file that cannot be
//! read or written.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use everlevel_wire::WireError;
use everlevel_wire::file::Existing;

use crate::console::errors::CliError;

/// Reads a file of at most `limit` bytes.
pub fn read_bytes(path: &Path, limit: u64, what: &str) -> Result<Vec<u8>, CliError> {
    let shown = path.display();
    let file = File::open(path)
        .map_err(|e| CliError::usage(format!("cannot open {what} {shown}: {e}")))?;
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| CliError::usage(format!("cannot read {what} {shown}: {e}")))?;
    if bytes.len() as u64 > limit {
        return Err(CliError::usage(format!(
            "{what} {shown} is larger than {limit} bytes, the most that is read: split it"
        )));
    }
    Ok(bytes)
}

/// Reads a text file of at most `limit` bytes.
pub fn read_text(path: &Path, limit: u64, what: &str) -> Result<String, CliError> {
    let not_text = |_| CliError::usage(format!("{what} {} is not UTF-8 text", path.display()));
    String::from_utf8(read_bytes(path, limit, what)?).map_err(not_text)
}

/// An error of a file, with its name and its stable code.
pub fn of_file(path: &Path) -> impl Fn(WireError) -> CliError + '_ {
    move |e| {
        let code = e.code();
        let told = match e {
            // These name their file.
            WireError::Exists { .. } => format!("{e} (--force replaces it)"),
            WireError::Io { .. } => e.to_string(),
            WireError::UnknownOwner { .. } => {
                format!("{}: {e}, here --allow-unknown-owner", path.display())
            }
            e => format!("{}: {e}", path.display()),
        };
        CliError::usage(told).with_code(code)
    }
}

/// What becomes of a file that is there.
pub fn existing(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Keep }
}

/// Refuses a file that is there, before any work.
pub fn check_free(path: &Path, force: bool) -> Result<(), CliError> {
    if force || path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(of_file(path)(WireError::Exists { path: path.display().to_string() }))
}

/// Creates a directory for results.
pub fn create_directory(path: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(path).map_err(|e| {
        CliError::usage(format!("cannot create the directory {}: {e}", path.display()))
    })
}

/// A file that was written, for reports.
#[derive(serde::Serialize)]
pub struct Written {
    /// Where.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}
