//! Stored bytes: they arrive in parts, are verified, and are never changed.
//!
//! An object is a file whose name is the hash of its bytes, in a directory of its tenant: tenants
//! share nothing, so that none can tell by time or quota what another has.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use everlevel::{OptIn, Params};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{ObjectKind, inspect_file};

use crate::api::{ObjectInfo, PART_BYTES, TableInfo};
use crate::config::Quota;
use crate::error::ServiceError;
use crate::name::{ObjectId, Tenant};
use crate::store::{Record, Store};

/// What is accepted: nothing with a secret, and nothing that no job reads.
const ACCEPTED: [ObjectKind; 3] =
    [ObjectKind::SERVER_KEYS, ObjectKind::CIPHERTEXTS, ObjectKind::COLUMNS];

impl Record for ObjectInfo {
    const KIND: &'static str = "object";
}

pub(crate) struct Objects {
    pub(crate) store: Arc<Store>,
    pub(crate) directory: PathBuf,
    opt_in: OptIn,
    pub(crate) quota: Quota,
    /// Uploads to which a part is being added.
    busy: Mutex<HashSet<(Tenant, ObjectId)>>,
}

/// An upload that nobody else adds to, until this is dropped.
pub(crate) struct Held<'a> {
    objects: &'a Objects,
    of: (Tenant, ObjectId),
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.objects.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.of);
    }
}

pub(crate) fn system(what: &'static str) -> impl Fn(std::io::Error) -> ServiceError {
    move |e| ServiceError::internal(what)(&e)
}

/// An object that cannot be read: if its file is not there, it is damaged like one that changed.
pub(crate) fn unreadable(id: &ObjectId) -> impl Fn(std::io::Error) -> ServiceError + '_ {
    move |e| match e.kind() {
        std::io::ErrorKind::NotFound => ServiceError::Damaged { object: id.to_string() },
        _ => system("reading an object")(e),
    }
}

/// The hash of a file, read in parts.
fn hash_of(path: &Path) -> std::io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize())
}

/// Makes a directory that other users of the machine cannot read, if it is not there.
pub(crate) fn private_directory(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Whether a directory of tenants has a file.
pub(crate) fn has_files(directory: &Path) -> Result<bool, ServiceError> {
    for tenant in entries(directory)? {
        if !entries(&tenant)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is in a directory; nothing if it is not there.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, ServiceError> {
    let failed = system("reading its directory");
    match fs::read_dir(directory) {
        Ok(found) => found.map(|entry| Ok(entry.map_err(&failed)?.path())).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(failed(e)),
    }
}

impl Objects {
    pub(crate) fn new(store: Arc<Store>, directory: &Path, opt_in: OptIn, quota: Quota) -> Self {
        Objects { store, directory: directory.into(), opt_in, quota, busy: Mutex::default() }
    }

    /// Where an object is.
    pub(crate) fn path(&self, tenant: &Tenant, id: &ObjectId) -> PathBuf {
        self.directory.join("objects").join(tenant.as_ref()).join(id.as_ref())
    }

    pub(crate) fn part(&self, tenant: &Tenant, id: &ObjectId) -> PathBuf {
        self.directory.join("uploads").join(tenant.as_ref()).join(id.as_ref())
    }

    pub(crate) fn info(&self, tenant: &Tenant, id: &ObjectId) -> Result<ObjectInfo, ServiceError> {
        let found = self.store.get(tenant, id.as_ref())?;
        found.ok_or(ServiceError::NotFound { what: "object" })
    }

    pub(crate) fn list(&self, tenant: &Tenant) -> Result<Vec<ObjectInfo>, ServiceError> {
        let found = self.store.list::<ObjectInfo>(Some(tenant))?;
        Ok(found.into_iter().map(|(_, _, info)| info).collect())
    }

    /// Keeps others from an upload.
    pub(crate) fn hold(&self, tenant: &Tenant, id: &ObjectId) -> Result<Held<'_>, ServiceError> {
        let of = (tenant.clone(), id.clone());
        match self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(of.clone()) {
            true => Ok(Held { objects: self, of }),
            false => Err(ServiceError::Conflict {
                problem: "another request adds to this upload: ask how far it is, and go on there"
                    .into(),
            }),
        }
    }

    /// What the bytes in a file are, if they are those that were announced and belong here.
    pub(crate) fn verified(
        &self,
        path: &Path,
        id: &ObjectId,
        bytes: u64,
    ) -> Result<ObjectInfo, ServiceError> {
        let found = ObjectId::of_hash(hash_of(path).map_err(system("reading an upload"))?);
        if found != *id {
            let (expected, found) = (id.to_string(), found.to_string());
            return Err(ServiceError::Checksum { expected, found });
        }
        let summary = inspect_file(path)?;
        if !ACCEPTED.contains(&summary.kind) {
            let problem = format!(
                "expected server keys, ciphertexts or columns of integers, found {}",
                summary.kind
            );
            return Err(ServiceError::malformed("an object", problem));
        }
        // What has no ciphertext, as columns with one possible value, belongs to nobody.
        if summary.owner.is_none() && summary.records > 0 {
            let problem = "it does not say whose key it belongs to: make it anew";
            return Err(ServiceError::malformed("an object", problem));
        }
        let params = self.set(summary.params)?;
        Ok(ObjectInfo {
            id: id.clone(),
            kind: summary.kind.to_string(),
            params: params.name().into(),
            owner: summary.owner.map(|owner| format!("{owner:#}")),
            bytes,
            computed: false,
        })
    }

    /// The parameter set with an id, which has to have a name.
    pub(crate) fn set(&self, id: everlevel_wire::ParamsId) -> Result<Params, ServiceError> {
        let spec = everlevel_wire::params::named_spec(id).ok_or_else(|| {
            let problem = "expected a parameter set that has a name, found another one";
            ServiceError::malformed("an object", problem)
        })?;
        Ok(Params::new(spec, self.opt_in)?)
    }

    /// Removes an object that no table is made of and no job needs.
    pub(crate) fn delete(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        self.store.change(|change| {
            let info: Option<ObjectInfo> = change.get(tenant, id.as_ref())?;
            let info = info.ok_or(ServiceError::NotFound { what: "object" })?;
            for (_, _, table) in change.list::<TableInfo>(Some(tenant))? {
                if table.blocks.values().any(|block| block == id) {
                    let problem =
                        format!("the object is a part of table {}: delete it first", table.id);
                    return Err(ServiceError::Conflict { problem });
                }
            }
            change.check_unused(tenant, "object", id)?;
            change.remove::<ObjectInfo>(tenant, id.as_ref())?;
            change.give_back(tenant, info.bytes)
        })?;
        match fs::remove_file(self.path(tenant, id)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(system("removing an object")(e))
            }
            _ => Ok(()),
        }
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
        let failed = unreadable(id);
        let mut file = File::open(self.path(tenant, id)).map_err(&failed)?;
        let length = file.metadata().map_err(&failed)?.len();
        file.seek(SeekFrom::Start(offset)).map_err(&failed)?;
        Ok((file, length.saturating_sub(offset).min(PART_BYTES)))
    }

    /// Passes an object whose bytes are what its name says.
    pub(crate) fn verify(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        let found = hash_of(&self.path(tenant, id)).map_err(unreadable(id))?;
        match ObjectId::of_hash(found) == *id {
            true => Ok(()),
            false => Err(ServiceError::Damaged { object: id.to_string() }),
        }
    }

    /// An object, verified, and what is known of it.
    pub(crate) fn read(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
    ) -> Result<(ObjectInfo, Vec<u8>), ServiceError> {
        let info = self.info(tenant, id)?;
        let mut bytes = Vec::new();
        let file = File::open(self.path(tenant, id)).map_err(unreadable(id))?;
        // A file that became longer is another one, which its hash tells.
        file.take(info.bytes + 1).read_to_end(&mut bytes).map_err(unreadable(id))?;
        match ObjectId::of_hash(blake3::hash(&bytes)) == *id {
            true => Ok((info, bytes)),
            false => Err(ServiceError::Damaged { object: id.to_string() }),
        }
    }

    /// Stores what a job has computed.
    pub(crate) fn add_computed(
        &self,
        tenant: &Tenant,
        bytes: &[u8],
    ) -> Result<ObjectId, ServiceError> {
        let id = ObjectId::of_hash(blake3::hash(bytes));
        // Another job may store the same result.
        let _held = loop {
            match self.hold(tenant, &id) {
                Ok(held) => break held,
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let (path, length) = (self.path(tenant, &id), bytes.len() as u64);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(system("storing a result"))?;
        }
        let known = self.store.get::<ObjectInfo>(tenant, id.as_ref())?;
        if known.is_none() {
            self.store.change(|change| change.take(tenant, length, &self.quota))?;
        }
        let stored = write_file(&path, bytes, Existing::Replace).map_err(ServiceError::from);
        let stored = stored.and_then(|()| self.verified(&path, &id, length));
        let stored = stored.and_then(|info| {
            let info = ObjectInfo { computed: true, ..info };
            self.store.change(|change| change.put(tenant, id.as_ref(), &info))
        });
        if stored.is_err() && known.is_none() {
            self.store.change(|change| change.give_back(tenant, length))?;
        }
        stored.map(|()| id)
    }
}
