//! Headers and indexes of files, of which nothing else is read.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::WireError;
use crate::file::io_error;
use crate::format::{HEADER_BYTES, Layout};
use crate::summary::Summary;

/// The largest index that is read, in bytes: some 500,000 keys.
const INDEX_LIMIT: u64 = 1 << 25;

/// Opens a file and reads header and index.
pub(crate) fn open_layout(path: &Path) -> Result<(File, Layout), WireError> {
    let failed = |e: std::io::Error| io_error(path, &e);
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut head = Vec::with_capacity(HEADER_BYTES);
    (&mut file).take(HEADER_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
    let index = |bytes: u64| {
        if bytes > INDEX_LIMIT {
            return Err(WireError::Limit {
                what: "bytes of the index",
                found: bytes,
                limit: INDEX_LIMIT,
            });
        }
        let mut index = vec![0; bytes as usize];
        file.read_exact(&mut index).map_err(failed)?;
        Ok(Cow::Owned(index))
    };
    let layout = Layout::parse_parts(&head, length, index)?;
    Ok((file, layout))
}

/// [`inspect`](crate::inspect) for a file of any size, of which only header and index are read.
///
/// # Errors
/// A file that is not an object, truncated or damaged in its index; errors of the file system.
pub fn inspect_file(path: &Path) -> Result<Summary, WireError> {
    Ok(open_layout(path)?.1.summary())
}
