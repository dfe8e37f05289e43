//! The files of the page that a browser loads.

use std::collections::BTreeMap;
use std::path::Path;

use axum::body::Bytes;

use crate::error::ServiceError;

/// The first file that is loaded.
pub(crate) const INDEX: &str = "index.html";
/// The largest size of all files together, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The types of files that are served, by the ends of their names.
const TYPES: [(&str, &str); 6] = [
    (".html", "text/html; charset=utf-8"),
    (".css", "text/css; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"),
    (".csv", "text/csv; charset=utf-8"),
    (".svg", "image/svg+xml"),
    (".wasm", "application/wasm"),
];

/// A file, with its type, and its hash in quotation marks, as in an HTTP entity tag.
pub(crate) struct File {
    pub(crate) kind: &'static str,
    pub(crate) hash: String,
    pub(crate) bytes: Bytes,
}

/// The files by their names, in memory: no request reaches the file system.
#[derive(Default)]
pub(crate) struct Page(BTreeMap<String, File>);

impl Page {
    /// The files in a directory that have the types of a page.
    ///
    /// # Errors
    /// A directory without `index.html`, or with more than 64 MiB; errors of the file system.
    pub(crate) fn read(directory: &Path) -> Result<Self, ServiceError> {
        let wrong = |problem: String| {
            let problem = format!("{}: {problem}", directory.display());
            ServiceError::malformed("the directory of the page", problem)
        };
        let failed = |e: std::io::Error| wrong(e.to_string());
        let (mut files, mut total) = (BTreeMap::new(), 0);
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Some((_, kind)) = TYPES.iter().find(|(end, _)| name.ends_with(end)) else {
                continue;
            };
            total += entry.metadata().map_err(failed)?.len();
            if total > MOST_BYTES {
                return Err(wrong(format!("expected at most {MOST_BYTES} bytes of files")));
            }
            let bytes = Bytes::from(std::fs::read(entry.path()).map_err(failed)?);
            let hash = format!("\"{}\"", blake3::hash(&bytes).to_hex());
            files.insert(name, File { kind, hash, bytes });
        }
        match files.contains_key(INDEX) {
            true => Ok(Page(files)),
            false => Err(wrong(format!("expected {INDEX}, which `.ci/web` makes"))),
        }
    }

    /// Whether there is no page.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A file by its name.
    pub(crate) fn file(&self, name: &str) -> Option<&File> {
        self.0.get(name)
    }
}
