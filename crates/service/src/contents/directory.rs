//! Bytes as files in a directory, which several processes may share by a file system.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use everlevel_remote::{ObjectId, Tenant};
use everlevel_wire::file::{Existing, sync_directory, write_file};

use super::place::{Contents, Kept, Pin, Upload};
use crate::error::ServiceError;
use crate::files::{busy, entries, named, opened_at, remove, system};
use crate::store::Store;

/// The directory of a service.
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(crate) fn new(path: &Path) -> Self {
        Directory { path: path.into() }
    }

    fn object(&self, tenant: &Tenant, id: &ObjectId) -> PathBuf {
        self.path.join("objects").join(tenant.as_ref()).join(id.as_ref())
    }

    fn part(&self, tenant: &Tenant, id: &ObjectId) -> PathBuf {
        self.path.join("uploads").join(tenant.as_ref()).join(id.as_ref())
    }
}

impl Contents for Directory {
    fn file(&self, tenant: &Tenant, id: &ObjectId) -> Result<PathBuf, ServiceError> {
        Ok(self.object(tenant, id))
    }

    fn part(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        length: u64,
    ) -> Result<(File, u64), ServiceError> {
        let (file, found) = opened_at(&self.object(tenant, id), id, offset)?;
        Ok((file, found.min(length)))
    }

    fn distrust(&self, _: &Tenant, _: &ObjectId) -> bool {
        false
    }

    fn has(&self, tenant: &Tenant, id: &ObjectId) -> Result<bool, ServiceError> {
        // A file system of several machines tells for sure only when it opens a file.
        Ok(File::open(self.object(tenant, id)).is_ok())
    }

    fn store(&self, tenant: &Tenant, id: &ObjectId, bytes: &[u8]) -> Result<(), ServiceError> {
        let path = self.object(tenant, id);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(system("storing a result"))?;
        }
        Ok(write_file(&path, bytes, Existing::Replace)?)
    }

    fn remove(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        remove(&self.object(tenant, id)).map_err(system("removing an object"))
    }

    fn arrived(&self, tenant: &Tenant, id: &ObjectId, _: &Upload) -> Option<u64> {
        self.part(tenant, id).metadata().ok().map(|part| part.len())
    }

    fn append(
        &self,
        _: &Store,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ServiceError> {
        let (path, failed) = (self.part(tenant, id), system("storing a part of an upload"));
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(&failed)?;
        }
        let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(&failed)?;
        // Another process may add to it, and may have since it was looked at. A file system without
        // locks has one process.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(busy());
        }
        let length = file.metadata().map_err(&failed)?.len();
        if length != offset {
            return Err(ServiceError::Offset { expected: length, found: offset });
        }
        if let Err(e) = file.write_all(bytes) {
            // What was written of the part is taken back, so that the offset is that of a part.
            let _ = file.set_len(offset);
            return Err(failed(e));
        }
        Ok(())
    }

    fn joined(&self, tenant: &Tenant, id: &ObjectId, _: &Upload) -> Result<PathBuf, ServiceError> {
        let path = self.part(tenant, id);
        let synced = OpenOptions::new().append(true).open(&path).and_then(|file| file.sync_all());
        synced.map_err(system("storing a part of an upload"))?;
        Ok(path)
    }

    fn prepare(&self, tenant: &Tenant, id: &ObjectId, _: &Path) -> Result<(), ServiceError> {
        match self.object(tenant, id).parent() {
            Some(directory) => fs::create_dir_all(directory).map_err(system("storing an object")),
            None => Ok(()),
        }
    }

    fn adopt(&self, tenant: &Tenant, id: &ObjectId, joined: &Path) -> Result<(), ServiceError> {
        let destination = self.object(tenant, id);
        fs::rename(joined, &destination).map_err(system("storing an object"))?;
        if let Some(directory) = destination.parent() {
            sync_directory(directory);
        }
        Ok(())
    }

    fn discard(&self, _: &Path) {}

    fn end_upload(&self, tenant: &Tenant, id: &ObjectId, _: bool) -> Result<(), ServiceError> {
        remove(&self.part(tenant, id)).map_err(system("removing an upload"))
    }

    fn sweep(&self, _: &Tenant, _: &ObjectId, _: &Upload) {}

    fn tenants(&self) -> Result<BTreeSet<Tenant>, ServiceError> {
        let mut found = BTreeSet::new();
        for kind in ["objects", "uploads"] {
            let paths = entries(&self.path.join(kind))?;
            found.extend(paths.iter().filter_map(|path| named::<Tenant>(path)));
        }
        Ok(found)
    }

    fn clean(&self, tenant: &Tenant, kept: &Kept, alone: bool) -> Result<u64, ServiceError> {
        let mut removed = 0;
        for kind in ["objects", "uploads"] {
            for file in entries(&self.path.join(kind).join(tenant.as_ref()))? {
                let id = named::<ObjectId>(&file);
                let stays = match &id {
                    Some(id) if kind == "objects" => kept.objects.contains(id),
                    Some(id) => kept.uploads.contains_key(id),
                    // What is under construction has other names, and may be another process's.
                    None => !alone,
                };
                if !stays {
                    remove(&file).map_err(system("removing what was left"))?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    fn tables(&self) -> PathBuf {
        self.path.join("tables")
    }

    fn pin(&self, _: &Path, _: u64) -> Option<Pin> {
        None
    }
}
