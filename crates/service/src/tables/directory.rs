//! The directory of a table: its blocks are objects under a second name, by which the library finds
//! them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use everlevel_remote::ObjectId;
use everlevel_remote::api::NewTable;

use crate::error::ServiceError;
use crate::files::{hash_of, unreadable};

/// The names of the texts that a table may have.
const TEXTS: [&str; 2] = ["schema.json", "files.json"];

/// Whether a name is that of a block, such as `000001-0002.columns`.
fn is_block(name: &str) -> bool {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    name.strip_suffix(".columns")
        .and_then(|name| name.split_once('-'))
        .is_some_and(|(block, column)| digits(block, 6) && digits(column, 4))
}

/// Refuses files of a table that the library does not name so.
pub(super) fn check_names(new: &NewTable) -> Result<(), ServiceError> {
    let wrong = |problem: String| ServiceError::malformed("the files of a table", problem);
    if let Some(name) = new.texts.keys().find(|name| !TEXTS.contains(&name.as_str())) {
        return Err(wrong(format!("expected schema.json or files.json, found {name:?}")));
    }
    if let Some(name) = new.blocks.keys().find(|name| !is_block(name)) {
        return Err(wrong(format!("expected 000000-0000.columns and so on, found {name:?}")));
    }
    Ok(())
}

/// The error if the directory of a table cannot be written.
pub(super) fn failed(e: std::io::Error) -> ServiceError {
    ServiceError::internal("storing a table")(&e)
}

/// Gives a file a second name.
pub(super) fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::hard_link(from, to)
}

/// Gives the file of a block a second name, or copies it where the file system has no links.
/// Returns the number of bytes that were copied.
pub(super) fn named_again(
    (block, from, to): (&ObjectId, &Path, &Path),
    link: impl Fn(&Path, &Path) -> std::io::Result<()>,
) -> Result<u64, ServiceError> {
    match link(from, to) {
        Ok(()) => Ok(0),
        // A file may have tens of thousands of names. Copies of a file that has them all would
        // fill the disk.
        Err(e) if e.kind() == std::io::ErrorKind::TooManyLinks => {
            let problem = format!("the object {block} is a part of too many tables: delete some");
            Err(ServiceError::Conflict { problem })
        }
        Err(_) => fs::copy(from, to).map_err(unreadable(block)),
    }
}

/// The first block whose file does not have the hash that its name states.
pub(super) fn damaged<'b>(
    path: &Path,
    blocks: &'b BTreeMap<String, ObjectId>,
) -> Result<Option<&'b ObjectId>, ServiceError> {
    for (name, block) in blocks {
        let found = hash_of(&path.join(name)).map_err(unreadable(block))?;
        if ObjectId::of_hash(found) != *block {
            return Ok(Some(block));
        }
    }
    Ok(None)
}

/// Removes a directory with its files, if it exists.
pub(super) fn clear(directory: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn names_of_blocks_lead_nowhere_else() {
        assert!(is_block("000001-0002.columns"));
        for name in ["../../a.columns", "000001-0002", "1-2.columns", "00000a-0002.columns"] {
            assert!(!is_block(name), "{name}");
        }
    }

    /// A file system without links has copies; one whose links are used up has none.
    #[test]
    fn copies_count_and_are_not_made_of_what_has_too_many_names() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        let block: ObjectId = "0".repeat(64).parse().unwrap();
        fs::write(&from, [7u8; 30]).unwrap();
        let named = |kind: Option<ErrorKind>| {
            named_again((&block, &from, &to), |_, _| match kind {
                Some(kind) => Err(Error::from(kind)),
                None => Ok(()),
            })
        };
        assert_eq!(named(None).unwrap(), 0);
        assert_eq!(named(Some(ErrorKind::TooManyLinks)).unwrap_err().code(), "service.conflict");
        assert!(!to.exists());
        assert_eq!(named(Some(ErrorKind::Unsupported)).unwrap(), 30);
        assert_eq!(fs::read(&to).unwrap(), [7u8; 30]);
    }
}
