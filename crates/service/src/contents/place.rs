//! What a place for bytes has to do, whichever it is.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel_remote::{ObjectId, Tenant};
use serde::{Deserialize, Serialize};

use crate::error::ServiceError;
use crate::store::{Record, Store};

/// Bytes that were announced.
#[derive(Serialize, Deserialize)]
pub(crate) struct Upload {
    pub(crate) bytes: u64,
    /// How many of them are in an object store; a directory tells by itself.
    #[serde(default)]
    pub(crate) offset: u64,
    /// What tells this upload from others of the same bytes, before and after.
    #[serde(default)]
    pub(crate) place: String,
}

impl Record for Upload {
    const KIND: &'static str = "upload";
}

/// What of a tenant stays when a process cleans up.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) objects: HashSet<ObjectId>,
    pub(crate) uploads: HashMap<ObjectId, Upload>,
}

/// A place for bytes by tenant and name. Names are hashes, so that nothing is ever changed; what a
/// file holds is compared with its name by whoever reads it.
pub(crate) trait Contents: Send + Sync {
    /// A file of this machine with the bytes of an object, to be opened now.
    ///
    /// # Errors
    /// [`ServiceError::Damaged`] if there are none.
    fn file(&self, tenant: &Tenant, id: &ObjectId) -> Result<PathBuf, ServiceError>;

    /// A file at the byte `offset` of an object, with the next `length` bytes of it at least, if
    /// there are so many, and how many there are.
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

    /// Forgets a file that is not what its name says; true if another look may find it whole.
    fn distrust(&self, tenant: &Tenant, id: &ObjectId) -> bool;

    /// Whether the bytes of an object are there, for all processes.
    fn has(&self, tenant: &Tenant, id: &ObjectId) -> Result<bool, ServiceError>;

    /// Stores the bytes of an object, as a whole or not at all.
    fn store(&self, tenant: &Tenant, id: &ObjectId, bytes: &[u8]) -> Result<(), ServiceError>;

    /// Removes the bytes of an object, if they are there.
    fn remove(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError>;

    /// How many bytes of an upload are there; none before the first.
    fn arrived(&self, tenant: &Tenant, id: &ObjectId, upload: &Upload) -> Option<u64>;

    /// Adds a part behind the first `offset` bytes of an upload, as a whole or not at all.
    fn append(
        &self,
        store: &Store,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ServiceError>;

    /// All bytes of an upload as a file of this machine, on its disk.
    fn joined(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        upload: &Upload,
    ) -> Result<PathBuf, ServiceError>;

    /// Brings the file of an upload near to where its object will be, before the transaction that
    /// makes one of it.
    fn prepare(&self, tenant: &Tenant, id: &ObjectId, joined: &Path) -> Result<(), ServiceError>;

    /// Makes an object of the file of an upload, in that transaction.
    fn adopt(&self, tenant: &Tenant, id: &ObjectId, joined: &Path) -> Result<(), ServiceError>;

    /// Removes the file of an upload that did not become an object, if it is a copy.
    fn discard(&self, joined: &Path);

    /// Removes what has arrived of an upload, in the transaction that ends it. What an object
    /// consists of stays, if there is one of the same name.
    fn end_upload(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        is_object: bool,
    ) -> Result<(), ServiceError>;

    /// Removes what is left of an upload after the transaction that has ended it. What stays is
    /// found when a process starts.
    fn sweep(&self, tenant: &Tenant, id: &ObjectId, upload: &Upload);

    /// All tenants that have bytes.
    fn tenants(&self) -> Result<BTreeSet<Tenant>, ServiceError>;

    /// Removes bytes of a tenant that nothing names, in a transaction of that tenant: how many
    /// there were. `alone` if no other process can be making some.
    fn clean(&self, tenant: &Tenant, kept: &Kept, alone: bool) -> Result<u64, ServiceError>;

    /// The directory for tables, of this machine.
    fn tables(&self) -> PathBuf;

    /// Where directories of tables are copies that only this process has: what keeps that of a
    /// table while it is read. None where all processes share them.
    fn pin(&self, table: &Path, bytes: u64) -> Option<Pin>;
}

/// Keeps a copy from being removed.
pub(crate) type Pin = Arc<()>;
