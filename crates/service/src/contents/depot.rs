//! An object store, for use from threads that may block.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path as LocalPath;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tokio::runtime::{Builder, Runtime};

use crate::error::ServiceError;
use crate::files::system;

/// The number of bytes in memory when larger objects are sent or fetched.
const PIECE_BYTES: u64 = 8 << 20;
/// The largest number of pieces of an object, somewhat below the limit of S3.
const PIECES: u64 = 9_000;

/// A store, below a prefix.
pub(crate) struct Depot {
    store: Box<dyn ObjectStore>,
    prefix: String,
    /// Taken when it is dropped.
    runtime: Option<Runtime>,
}

/// Logs the reason for the operator of the service; the client is told that it may try again.
fn unavailable(e: &dyn std::fmt::Display) -> ServiceError {
    tracing::error!(problem = %e, "the object store does not answer");
    ServiceError::Unavailable
}

/// A missing object is `None`, not an error.
fn known<T>(found: object_store::Result<T>) -> Result<Option<T>, ServiceError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(e) => Err(unavailable(&e)),
    }
}

impl Depot {
    pub(crate) fn new(store: Box<dyn ObjectStore>, prefix: &str) -> Result<Self, ServiceError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("object store")
            .enable_all()
            .build()
            .map_err(|e| ServiceError::internal("starting threads")(&e))?;
        Ok(Depot { store, prefix: prefix.into(), runtime: Some(runtime) })
    }

    fn at(&self, name: &str) -> Path {
        Path::from(format!("{}/{name}", self.prefix))
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("it is there until it is dropped").block_on(work)
    }

    /// Stores bytes under a name, as a whole.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<(), ServiceError> {
        let (at, payload) = (self.at(name), PutPayload::from(bytes.to_vec()));
        self.wait(self.store.put(&at, payload)).map(drop).map_err(|e| unavailable(&e))
    }

    /// Stores a file under a name, as a whole.
    pub(crate) fn put_file(&self, name: &str, path: &LocalPath) -> Result<(), ServiceError> {
        let failed = system("storing an object");
        let mut file = File::open(path).map_err(&failed)?;
        let bytes = file.metadata().map_err(&failed)?.len();
        let piece_bytes = PIECE_BYTES.max(bytes.div_ceil(PIECES));
        let mut next = || {
            let mut piece = Vec::new();
            (&mut file).take(piece_bytes).read_to_end(&mut piece).map_err(&failed)?;
            Ok::<_, ServiceError>(piece)
        };
        if bytes <= piece_bytes {
            return self.put(name, &next()?);
        }
        let at = self.at(name);
        let mut upload = self.wait(self.store.put_multipart(&at)).map_err(|e| unavailable(&e))?;
        let mut send = || {
            loop {
                let piece = next()?;
                if piece.is_empty() {
                    break;
                }
                self.wait(upload.put_part(piece.into())).map_err(|e| unavailable(&e))?;
            }
            self.wait(upload.complete()).map(drop).map_err(|e| unavailable(&e))
        };
        let sent = send();
        if sent.is_err() {
            // What stays there all the same is for a rule of the store about incomplete uploads.
            let _ = self.wait(upload.abort());
        }
        sent
    }

    /// The number of bytes under a name; `None` if there is no such object.
    pub(crate) fn length(&self, name: &str) -> Result<Option<u64>, ServiceError> {
        let found = known(self.wait(self.store.head(&self.at(name))))?;
        Ok(found.map(|found| found.size))
    }

    /// Appends the bytes under a name to a file, and returns their number.
    pub(crate) fn fetch(&self, name: &str, file: &mut File) -> Result<Option<u64>, ServiceError> {
        let Some(bytes) = self.length(name)? else { return Ok(None) };
        let (at, mut done) = (self.at(name), 0);
        while done < bytes {
            let range = done..bytes.min(done + PIECE_BYTES);
            let Some(piece) = known(self.wait(self.store.get_range(&at, range)))? else {
                return Ok(None);
            };
            if piece.is_empty() {
                return Err(unavailable(&"an object is shorter than it says"));
            }
            file.write_all(&piece).map_err(system("storing a copy"))?;
            done += piece.len() as u64;
        }
        Ok(Some(bytes))
    }

    /// A range of bytes under a name; fewer if the object ends before.
    pub(crate) fn range(
        &self,
        name: &str,
        offset: u64,
        length: u64,
    ) -> Result<Option<Vec<u8>>, ServiceError> {
        // Stores refuse a range that begins at the end.
        let Some(bytes) = self.length(name)? else { return Ok(None) };
        let range = offset..bytes.min(offset.saturating_add(length));
        if range.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let at = self.at(name);
        Ok(known(self.wait(self.store.get_range(&at, range)))?.map(|found| found.to_vec()))
    }

    /// Removes a name, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<(), ServiceError> {
        known(self.wait(self.store.delete(&self.at(name)))).map(drop)
    }

    /// All names below one, without it.
    pub(crate) fn below(&self, name: &str) -> Result<Vec<String>, ServiceError> {
        let at = self.at(name);
        let found = self.wait(self.store.list(Some(&at)).try_collect::<Vec<_>>());
        let found = found.map_err(|e| unavailable(&e))?.into_iter();
        let rest = |path: Path| {
            let parts = path.prefix_match(&at)?.map(|part| part.as_ref().to_string());
            Some(parts.collect::<Vec<_>>().join("/"))
        };
        Ok(found.filter_map(|found| rest(found.location)).collect())
    }

    /// The first parts of all names below one.
    pub(crate) fn children(&self, name: &str) -> Result<Vec<String>, ServiceError> {
        let at = self.at(name);
        let found = self.wait(self.store.list_with_delimiter(Some(&at)));
        let found = found.map_err(|e| unavailable(&e))?;
        let paths = found.common_prefixes.into_iter();
        let paths = paths.chain(found.objects.into_iter().map(|object| object.location));
        Ok(paths.filter_map(|path| path.filename().map(String::from)).collect())
    }
}

impl Drop for Depot {
    fn drop(&mut self) {
        // It may be dropped by a thread that must not wait for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
