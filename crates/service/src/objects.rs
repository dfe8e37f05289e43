//! Stored bytes: they arrive in parts, are verified, and are never changed.
//!
//! An object is a file whose name is the hash of its bytes, in a directory of its tenant. Tenants
//! share nothing, so that no tenant can find out, by time or quota, what another one has.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use everlevel::{OptIn, Params};
use everlevel_remote::api::{ObjectInfo, PART_BYTES, TableInfo};
use everlevel_remote::{ObjectId, RemoteError, Tenant};
use everlevel_wire::{ObjectKind, ReadOptions, Summary, inspect, inspect_file};

use crate::config::Quota;
use crate::contents::Contents;
use crate::error::ServiceError;
use crate::files::{busy, hash_of, system, unreadable};
use crate::store::{Change, Record, Store};

/// The kinds of objects that are accepted: those without secrets that jobs read.
const ACCEPTED: [ObjectKind; 3] =
    [ObjectKind::SERVER_KEYS, ObjectKind::CIPHERTEXTS, ObjectKind::COLUMNS];

impl Record for ObjectInfo {
    const KIND: &'static str = "object";
}

pub(crate) struct Objects {
    pub(crate) store: Arc<Store>,
    pub(crate) contents: Arc<dyn Contents>,
    opt_in: OptIn,
    pub(crate) quota: Quota,
    /// The uploads to which a part is being added.
    busy: Mutex<HashSet<(Tenant, ObjectId)>>,
}

/// A result of a job whose file exists, but which is not an object yet.
pub(crate) struct Staged {
    pub(crate) info: ObjectInfo,
    bytes: Vec<u8>,
}

/// Exclusive access to an upload, until this is dropped.
pub(crate) struct Held<'a> {
    objects: &'a Objects,
    of: (Tenant, ObjectId),
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.objects.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.of);
    }
}

impl Objects {
    pub(crate) fn new(
        store: Arc<Store>,
        contents: Arc<dyn Contents>,
        opt_in: OptIn,
        quota: Quota,
    ) -> Self {
        Objects { store, contents, opt_in, quota, busy: Mutex::default() }
    }

    /// A file with the bytes of an object, which has to be opened at once.
    pub(crate) fn file(&self, tenant: &Tenant, id: &ObjectId) -> Result<PathBuf, ServiceError> {
        self.contents.file(tenant, id)
    }

    pub(crate) fn info(&self, tenant: &Tenant, id: &ObjectId) -> Result<ObjectInfo, ServiceError> {
        let found = self.store.get(tenant, id.as_ref())?;
        found.ok_or(ServiceError::NotFound { what: "object" })
    }

    pub(crate) fn list(&self, tenant: &Tenant) -> Result<Vec<ObjectInfo>, ServiceError> {
        let found = self.store.list::<ObjectInfo>(tenant)?;
        Ok(found.into_iter().map(|(_, info)| info).collect())
    }

    /// Gets exclusive access to an upload.
    pub(crate) fn hold(&self, tenant: &Tenant, id: &ObjectId) -> Result<Held<'_>, ServiceError> {
        let of = (tenant.clone(), id.clone());
        match self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(of.clone()) {
            true => Ok(Held { objects: self, of }),
            false => Err(busy()),
        }
    }

    /// The description of the bytes in a file, if they are those that were announced and are
    /// accepted.
    pub(crate) fn verified(
        &self,
        path: &Path,
        id: &ObjectId,
        bytes: u64,
    ) -> Result<ObjectInfo, ServiceError> {
        let found = ObjectId::of_hash(hash_of(path).map_err(system("reading an upload"))?);
        if found != *id {
            let (expected, found) = (id.to_string(), found.to_string());
            return Err(RemoteError::Checksum { expected, found }.into());
        }
        self.described(inspect_file(path)?, id, bytes)
    }

    /// The description of an object, if it is of an accepted kind.
    fn described(
        &self,
        summary: Summary,
        id: &ObjectId,
        bytes: u64,
    ) -> Result<ObjectInfo, ServiceError> {
        if !ACCEPTED.contains(&summary.kind) {
            let problem = format!(
                "expected server keys, ciphertexts or columns of integers, found {}",
                summary.kind
            );
            return Err(ServiceError::malformed("an object", problem));
        }
        // What has no ciphertext, as columns with one possible value, belongs to nobody.
        if summary.owner.is_none() && summary.records > 0 {
            let problem = "it does not say which secret key it belongs to: make it again from the \
                           key";
            return Err(ServiceError::malformed("an object", problem));
        }
        let params = self.set(summary.params)?;
        let owner = summary.owner.map(|owner| format!("{owner:#}"));
        Ok(ObjectInfo::new(id.clone(), summary.kind, params.name(), owner, bytes))
    }

    /// The parameter set with an id, which has to have a name.
    pub(crate) fn set(&self, id: everlevel_wire::ParamsId) -> Result<Params, ServiceError> {
        let spec = everlevel_wire::params::named_spec(id).ok_or_else(|| {
            let problem = "expected a parameter set that has a name, found another one";
            ServiceError::malformed("an object", problem)
        })?;
        Ok(Params::new(spec, self.opt_in)?)
    }

    /// Removes an object that no table contains and no job needs. Its file is removed within the
    /// transaction, just as the file of a result is added within one, so that the two never
    /// interfere.
    pub(crate) fn delete(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        self.store.change(tenant, |change| {
            let info: Option<ObjectInfo> = change.get(id.as_ref())?;
            let info = info.ok_or(ServiceError::NotFound { what: "object" })?;
            for (_, table) in change.list::<TableInfo>()? {
                if table.blocks.values().any(|block| block == id) {
                    let problem =
                        format!("the object is a part of table {}: delete it first", table.id);
                    return Err(ServiceError::Conflict { problem });
                }
            }
            change.check_unused("object", id)?;
            change.remove::<ObjectInfo>(id.as_ref())?;
            change.give_back(info.bytes)?;
            self.contents.remove(tenant, id)
        })
    }

    /// The file of an object at the beginning of a part, and the length of the part.
    pub(crate) fn part_of(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
    ) -> Result<(File, u64), ServiceError> {
        let info = self.info(tenant, id)?;
        if offset > info.bytes {
            return Err(ServiceError::Offset { expected: info.bytes, found: offset });
        }
        self.contents.part(tenant, id, offset, PART_BYTES)
    }

    /// The result of reading the file of an object, if its content matches its name. A damaged copy
    /// is fetched again, once.
    fn sound<T>(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        read: impl Fn(&Path) -> std::io::Result<(blake3::Hash, T)>,
    ) -> Result<T, ServiceError> {
        for _ in 0..2 {
            let (hash, found) = read(&self.file(tenant, id)?).map_err(unreadable(id))?;
            if ObjectId::of_hash(hash) == *id {
                return Ok(found);
            }
            if !self.contents.distrust(tenant, id) {
                break;
            }
        }
        Err(ServiceError::Damaged { object: id.to_string() })
    }

    /// Checks that the bytes of an object match its name.
    pub(crate) fn verify(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        self.sound(tenant, id, |path| Ok((hash_of(path)?, ())))
    }

    /// A verified object, with its description.
    pub(crate) fn read(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
    ) -> Result<(ObjectInfo, Vec<u8>), ServiceError> {
        let info = self.info(tenant, id)?;
        let bytes = self.sound(tenant, id, |path| {
            let mut bytes = Vec::new();
            // A file that became longer is another one, which its hash tells.
            File::open(path)?.take(info.bytes + 1).read_to_end(&mut bytes)?;
            Ok((blake3::hash(&bytes), bytes))
        })?;
        Ok((info, bytes))
    }

    /// Writes the results of a job to the disk, under their final names. They become objects with
    /// the end of the job.
    pub(crate) fn stage(
        &self,
        tenant: &Tenant,
        results: Vec<(String, Vec<u8>)>,
    ) -> Result<BTreeMap<String, Staged>, ServiceError> {
        let mut bytes = 0;
        for (_, result) in &results {
            let id = ObjectId::of_hash(blake3::hash(result));
            if self.store.get::<ObjectInfo>(tenant, id.as_ref())?.is_none() {
                bytes += result.len() as u64;
            }
        }
        let (used, limit) = (self.store.usage(tenant)?.bytes, self.quota.bytes);
        if bytes > limit.saturating_sub(used) {
            return Err(ServiceError::Quota { what: "bytes of results", used, limit });
        }
        let mut staged = BTreeMap::new();
        for (name, bytes) in results {
            match self.staged(tenant, bytes) {
                Ok(result) => drop(staged.insert(name, result)),
                Err(e) => {
                    self.discard(tenant, staged.values());
                    return Err(e);
                }
            }
        }
        Ok(staged)
    }

    fn staged(&self, tenant: &Tenant, bytes: Vec<u8>) -> Result<Staged, ServiceError> {
        let id = ObjectId::of_hash(blake3::hash(&bytes));
        let length = bytes.len() as u64;
        let summary = inspect(&bytes, &ReadOptions::default().limited_to(length))?;
        let mut info = self.described(summary, &id, length)?;
        info.computed = true;
        self.contents.store(tenant, &id, &bytes)?;
        Ok(Staged { info, bytes })
    }

    /// Makes a result an object, with the end of its job.
    pub(crate) fn keep(
        &self,
        change: &mut Change<'_>,
        tenant: &Tenant,
        staged: &Staged,
    ) -> Result<(), ServiceError> {
        let Staged { info, bytes } = staged;
        if change.get::<ObjectInfo>(info.id.as_ref())?.is_none() {
            change.take(info.bytes, &self.quota)?;
        }
        // An object of the same name may have been deleted since.
        if !self.contents.has(tenant, &info.id)? {
            let failed = ServiceError::internal("storing a result");
            self.contents.store(tenant, &info.id, bytes).map_err(|e| match e {
                ServiceError::Unavailable => e,
                e => failed(&e),
            })?;
        }
        change.put(info.id.as_ref(), info)
    }

    /// Removes the files of results that are not kept. If the file system or the store fails, they
    /// are found and removed when a service starts.
    pub(crate) fn discard<'s>(
        &self,
        tenant: &Tenant,
        results: impl IntoIterator<Item = &'s Staged>,
    ) {
        let removed = self.store.change(tenant, |change| {
            for Staged { info, .. } in results {
                if change.get::<ObjectInfo>(info.id.as_ref())?.is_none() {
                    self.contents.remove(tenant, &info.id)?;
                }
            }
            Ok(())
        });
        if let Err(e) = removed {
            tracing::warn!(code = e.code(), "results that are not kept stay on the disk");
        }
    }
}
