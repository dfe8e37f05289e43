//! Bytes in an object store, with copies on the disk of this machine of the objects that are
//! computed on.
//!
//! An object is `objects/TENANT/ID`. An upload consists of parts of one length,
//! `uploads/TENANT/ID-PLACE/N`; its progress is in its record, which only one process at a time can
//! change. `PLACE` belongs to one upload, so that a late removal never affects the next one.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use everlevel_remote::api::PART_BYTES;
use everlevel_remote::{ObjectId, Tenant};

use super::depot::Depot;
use super::place::{Contents, Kept, Pin, Upload};
use super::s3;
use super::shelf::Shelf;
use crate::bucket::Bucket;
use crate::error::ServiceError;
use crate::files::{opened_at, remove, system};
use crate::store::{Paired, Store};

/// The object that names the database with the records of a bucket.
const PAIRED: &str = "database.id";
/// The number of bytes of it that are read, more than it has.
const PAIRED_BYTES: u64 = 64;

/// An object store, with the copies on this machine.
pub(crate) struct InBucket {
    depot: Depot,
    shelf: Shelf,
}

fn object(tenant: &Tenant, id: &ObjectId) -> String {
    format!("objects/{tenant}/{id}")
}

/// The name of the parts of an upload.
fn place(id: &ObjectId, upload: &Upload) -> String {
    format!("{id}-{}", upload.place)
}

impl InBucket {
    /// # Errors
    /// A bucket that cannot be reached by what is stated of it; a directory that another process
    /// uses.
    pub(crate) fn open(bucket: &Bucket, directory: &Path) -> Result<Self, ServiceError> {
        let depot = Depot::new(Box::new(s3::client(bucket)?), &bucket.prefix)?;
        Self::with(depot, directory, bucket.cache_bytes)
    }

    pub(super) fn with(depot: Depot, directory: &Path, bytes: u64) -> Result<Self, ServiceError> {
        Ok(InBucket { depot, shelf: Shelf::open(&directory.join("cache"), bytes)? })
    }

    fn copy(&self, tenant: &Tenant, id: &ObjectId) -> PathBuf {
        self.shelf.path().join("objects").join(tenant.as_ref()).join(id.as_ref())
    }

    fn parts(&self, tenant: &Tenant, id: &ObjectId, upload: &Upload) -> Vec<String> {
        let directory = format!("uploads/{tenant}/{}", place(id, upload));
        let count = upload.offset.div_ceil(PART_BYTES);
        (0..count).map(|n| format!("{directory}/{n}")).collect()
    }
}

impl Paired for InBucket {
    fn name(&self) -> String {
        format!("the bucket's {PAIRED}")
    }

    fn read(&self) -> Result<Option<Vec<u8>>, ServiceError> {
        self.depot.range(PAIRED, 0, PAIRED_BYTES)
    }

    fn write(&self, id: &[u8]) -> Result<(), ServiceError> {
        self.depot.put(PAIRED, id)
    }
}

impl Contents for InBucket {
    fn file(&self, tenant: &Tenant, id: &ObjectId) -> Result<PathBuf, ServiceError> {
        let path = self.copy(tenant, id);
        if self.shelf.touch(&path) {
            return Ok(path);
        }
        // Others that need it wait, and find it.
        let one = self.shelf.one(&path);
        let _one = one.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shelf.touch(&path) {
            return Ok(path);
        }
        let fresh = self.shelf.fresh()?;
        let fetched = File::create(&fresh)
            .map_err(system("storing a copy"))
            .and_then(|mut file| self.depot.fetch(&object(tenant, id), &mut file));
        match fetched {
            Ok(Some(bytes)) => {
                self.shelf.put(&fresh, &path, bytes)?;
                Ok(path)
            }
            Ok(None) => {
                self.discard(&fresh);
                Err(ServiceError::Damaged { object: id.to_string() })
            }
            Err(e) => {
                self.discard(&fresh);
                Err(e)
            }
        }
    }

    fn part(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        length: u64,
    ) -> Result<(File, u64), ServiceError> {
        let path = self.copy(tenant, id);
        if self.shelf.touch(&path) {
            let (file, found) = opened_at(&path, id, offset)?;
            return Ok((file, found.min(length)));
        }
        // Whoever fetches a part makes no copy of the whole.
        let found = self.depot.range(&object(tenant, id), offset, length)?;
        let bytes = found.ok_or_else(|| ServiceError::Damaged { object: id.to_string() })?;
        let fresh = self.shelf.fresh()?;
        let failed = system("storing a copy");
        fs::write(&fresh, &bytes).map_err(&failed)?;
        let file = File::open(&fresh).map_err(&failed);
        // It has no name any more, and is gone when it is closed.
        self.discard(&fresh);
        Ok((file?, bytes.len() as u64))
    }

    fn distrust(&self, tenant: &Tenant, id: &ObjectId) -> bool {
        self.shelf.forget(&self.copy(tenant, id));
        true
    }

    fn has(&self, tenant: &Tenant, id: &ObjectId) -> Result<bool, ServiceError> {
        Ok(self.depot.length(&object(tenant, id))?.is_some())
    }

    fn store(&self, tenant: &Tenant, id: &ObjectId, bytes: &[u8]) -> Result<(), ServiceError> {
        self.depot.put(&object(tenant, id), bytes)
    }

    fn remove(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        self.shelf.forget(&self.copy(tenant, id));
        self.depot.remove(&object(tenant, id))
    }

    fn arrived(&self, _: &Tenant, _: &ObjectId, upload: &Upload) -> Option<u64> {
        Some(upload.offset)
    }

    fn append(
        &self,
        store: &Store,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ServiceError> {
        let missing = || ServiceError::NotFound { what: "upload" };
        let upload: Upload = store.get(tenant, id.as_ref())?.ok_or_else(missing)?;
        let length = bytes.len() as u64;
        if length == 0 {
            return Ok(());
        }
        // Each is an object of its own: not too small, so that there are few.
        if length != PART_BYTES.min(upload.bytes - offset) {
            let problem =
                format!("expected {PART_BYTES} bytes, or all that are left: found {length}");
            return Err(ServiceError::malformed("a part of an upload", problem));
        }
        let directory = format!("uploads/{tenant}/{}", place(id, &upload));
        let part = format!("{directory}/{}", offset / PART_BYTES);
        self.depot.put(&part, bytes)?;
        let kept = store.change(tenant, |change| {
            let found: Option<Upload> = change.get(id.as_ref())?;
            let found = found.filter(|found| found.place == upload.place).ok_or_else(missing)?;
            // Another process was quicker, perhaps with another part, which the hash will tell.
            if found.offset != offset {
                return Err(ServiceError::Offset { expected: found.offset, found: offset });
            }
            change.put(id.as_ref(), &Upload { offset: offset + length, ..found })
        });
        if matches!(kept, Err(ServiceError::NotFound { .. })) {
            // The upload was given up meanwhile, and its parts were removed.
            self.depot.remove(&part)?;
        }
        kept
    }

    fn joined(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        upload: &Upload,
    ) -> Result<PathBuf, ServiceError> {
        let fresh = self.shelf.fresh()?;
        let mut file = File::create(&fresh).map_err(system("joining an upload"))?;
        for part in self.parts(tenant, id, upload) {
            match self.depot.fetch(&part, &mut file) {
                Ok(Some(_)) => {}
                // What is missing is found by the hash of all.
                Ok(None) => break,
                Err(e) => {
                    self.discard(&fresh);
                    return Err(e);
                }
            }
        }
        Ok(fresh)
    }

    fn prepare(&self, tenant: &Tenant, id: &ObjectId, joined: &Path) -> Result<(), ServiceError> {
        self.depot.put_file(&object(tenant, id), joined)
    }

    fn adopt(&self, tenant: &Tenant, id: &ObjectId, joined: &Path) -> Result<(), ServiceError> {
        let bytes = joined.metadata().map_err(system("storing an object"))?.len();
        self.shelf.put(joined, &self.copy(tenant, id), bytes)
    }

    fn discard(&self, joined: &Path) {
        let _ = remove(joined);
    }

    fn end_upload(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        is_object: bool,
    ) -> Result<(), ServiceError> {
        // What was joined of it, if it did not become an object.
        match is_object {
            true => Ok(()),
            false => self.depot.remove(&object(tenant, id)),
        }
    }

    fn sweep(&self, tenant: &Tenant, id: &ObjectId, upload: &Upload) {
        let parts = self.parts(tenant, id, upload);
        if let Err(e) = parts.iter().try_for_each(|part| self.depot.remove(part)) {
            tracing::warn!(code = e.code(), "parts of an upload stay in the object store");
        }
    }

    fn tenants(&self) -> Result<BTreeSet<Tenant>, ServiceError> {
        let mut found = BTreeSet::new();
        for kind in ["objects", "uploads"] {
            let names = self.depot.children(kind)?;
            found.extend(names.iter().filter_map(|name| name.parse::<Tenant>().ok()));
        }
        Ok(found)
    }

    fn clean(&self, tenant: &Tenant, kept: &Kept, _: bool) -> Result<u64, ServiceError> {
        let mut left = Vec::new();
        let directory = format!("objects/{tenant}");
        for name in self.depot.below(&directory)? {
            // What has been joined, of an upload that is about to become an object, stays, too.
            let stays = name
                .parse::<ObjectId>()
                .is_ok_and(|id| kept.objects.contains(&id) || kept.uploads.contains_key(&id));
            if !stays {
                left.push(format!("{directory}/{name}"));
            }
        }
        let directory = format!("uploads/{tenant}");
        let places: BTreeSet<String> =
            kept.uploads.iter().map(|(id, upload)| place(id, upload)).collect();
        for name in self.depot.below(&directory)? {
            if !name.split_once('/').is_some_and(|(found, _)| places.contains(found)) {
                left.push(format!("{directory}/{name}"));
            }
        }
        left.iter().try_for_each(|name| self.depot.remove(name))?;
        Ok(left.len() as u64)
    }

    fn tables(&self) -> PathBuf {
        self.shelf.path().join("tables")
    }

    fn pin(&self, table: &Path, bytes: u64) -> Option<Pin> {
        Some(self.shelf.pin(table, bytes))
    }
}
