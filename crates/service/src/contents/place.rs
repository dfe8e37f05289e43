//! The requirements on every storage for bytes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel_remote::{ObjectId, Tenant};
use serde::{Deserialize, Serialize};

use crate::error::ServiceError;
use crate::store::{Record, Store};

/// An announced upload.
#[derive(Serialize, Deserialize)]
pub(crate) struct Upload {
    pub(crate) bytes: u64,
    /// The number of bytes that are in an object store; a directory knows it by itself.
    #[serde(default)]
    pub(crate) offset: u64,
    /// A name that distinguishes this upload from earlier and later ones of the same bytes.
    #[serde(default)]
    pub(crate) place: String,
}

impl Record for Upload {
    const KIND: &'static str = "upload";
}

/// The objects and uploads of a tenant that stay when a process cleans up.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) objects: HashSet<ObjectId>,
    pub(crate) uploads: HashMap<ObjectId, Upload>,
}

/// A storage for bytes by tenant and name. Names are hashes, so that nothing is ever changed;
/// readers compare the content of a file with its name.
pub(crate) trait Contents: Send + Sync {
    /// A file on this machine with the bytes of an object, which has to be opened at once.
    ///
    /// # Errors
    /// [`ServiceError::Damaged`] if there are none.
    fn file(&self, tenant: &Tenant, id: &ObjectId) -> Result<PathBuf, ServiceError>;

    /// A file at the byte `offset` of an object, with at least the next `length` bytes of it, or
    /// all that follow, and the number of bytes from there on.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    fn part(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        length: u64,
    ) -> Result<(File, u64), ServiceError>;

    /// Forgets a file whose content does not match its name; true if it may be intact when it is
    /// read again.
    fn distrust(&self, tenant: &Tenant, id: &ObjectId) -> bool;

    /// Whether the bytes of an object are stored, for all processes.
    fn has(&self, tenant: &Tenant, id: &ObjectId) -> Result<bool, ServiceError>;

    /// Stores the bytes of an object, as a whole or not at all.
    fn store(&self, tenant: &Tenant, id: &ObjectId, bytes: &[u8]) -> Result<(), ServiceError>;

    /// Removes the bytes of an object, if they are there.
    fn remove(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError>;

    /// The number of bytes of an upload that have arrived; `None` before the first.
    fn arrived(&self, tenant: &Tenant, id: &ObjectId, upload: &Upload) -> Option<u64>;

    /// Adds a part after the first `offset` bytes of an upload, as a whole or not at all.
    fn append(
        &self,
        store: &Store,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ServiceError>;

    /// All bytes of an upload as a file on the disk of this machine.
    fn joined(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        upload: &Upload,
    ) -> Result<PathBuf, ServiceError>;

    /// Moves the file of an upload close to the place of its object, before the transaction that
    /// makes it an object.
    fn prepare(&self, tenant: &Tenant, id: &ObjectId, joined: &Path) -> Result<(), ServiceError>;

    /// Makes an object of the file of an upload, in that transaction.
    fn adopt(&self, tenant: &Tenant, id: &ObjectId, joined: &Path) -> Result<(), ServiceError>;

    /// Removes the file of an upload that did not become an object, if it is a copy.
    fn discard(&self, joined: &Path);

    /// Removes the bytes of an upload, in the transaction that ends it. Those of an object with the
    /// same name stay, if there is one.
    fn end_upload(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        is_object: bool,
    ) -> Result<(), ServiceError>;

    /// Removes remains of an upload after the transaction that has ended it. Remains that stay are
    /// found when a process starts.
    fn sweep(&self, tenant: &Tenant, id: &ObjectId, upload: &Upload);

    /// All tenants that have bytes.
    fn tenants(&self) -> Result<BTreeSet<Tenant>, ServiceError>;

    /// Removes bytes of a tenant that no record names, in a transaction of that tenant, and returns
    /// the number of files. `alone` states that no other process can be writing some.
    fn clean(&self, tenant: &Tenant, kept: &Kept, alone: bool) -> Result<u64, ServiceError>;

    /// The directory for tables on this machine.
    fn tables(&self) -> PathBuf;

    /// If directories of tables are copies of this process: a pin that keeps the copy while the
    /// table is read. `None` if all processes share the directories.
    fn pin(&self, table: &Path, bytes: u64) -> Option<Pin>;
}

/// Keeps a copy from being removed.
pub(crate) type Pin = Arc<()>;
