//! Bytes that arrive in parts, until they are an object.

use std::fs::{self, OpenOptions, TryLockError};
use std::io::Write;

use everlevel_wire::file::sync_directory;
use serde::{Deserialize, Serialize};

use crate::api::{NewUpload, ObjectInfo, UploadState};
use crate::error::ServiceError;
use crate::name::{ObjectId, Tenant};
use crate::objects::{Objects, busy, remove, system};
use crate::store::Record;

/// The smallest object has a header.
const LEAST_BYTES: u64 = everlevel_wire::HEADER_BYTES as u64;

/// Bytes that were announced.
#[derive(Serialize, Deserialize)]
pub(crate) struct Upload {
    pub(crate) bytes: u64,
}

impl Record for Upload {
    const KIND: &'static str = "upload";
}

impl Objects {
    /// Uploads that are not complete.
    pub(crate) fn uploads(&self, tenant: &Tenant) -> Result<Vec<UploadState>, ServiceError> {
        let found = self.store.list::<Upload>(tenant)?;
        found.into_iter().map(|(id, _)| self.upload(tenant, &id.parse()?)).collect()
    }

    /// How far an upload is.
    pub(crate) fn upload(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
    ) -> Result<UploadState, ServiceError> {
        // In this order: an upload that becomes an object in between is found as one.
        let upload: Option<Upload> = self.store.get(tenant, id.as_ref())?;
        let part = self.part(tenant, id).metadata();
        if let (Some(Upload { bytes }), Ok(part)) = (&upload, part) {
            let (bytes, offset) = (*bytes, part.len());
            return Ok(UploadState { id: id.clone(), bytes, offset, complete: false });
        }
        if let Some(ObjectInfo { bytes, .. }) = self.store.get(tenant, id.as_ref())? {
            return Ok(UploadState { id: id.clone(), bytes, offset: bytes, complete: true });
        }
        let Upload { bytes } = upload.ok_or(ServiceError::NotFound { what: "upload" })?;
        Ok(UploadState { id: id.clone(), bytes, offset: 0, complete: false })
    }

    /// Announces bytes. The same again tells how far they are.
    pub(crate) fn begin(
        &self,
        tenant: &Tenant,
        new: &NewUpload,
    ) -> Result<UploadState, ServiceError> {
        if new.bytes < LEAST_BYTES {
            let problem = format!("expected {LEAST_BYTES} or more, found {}", new.bytes);
            return Err(ServiceError::malformed("the bytes of an upload", problem));
        }
        self.store.change(tenant, |change| {
            let id = new.id.as_ref();
            let there = change.get::<ObjectInfo>(id)?.map(|object| object.bytes);
            let there = match there {
                Some(bytes) => Some(bytes),
                None => change.get::<Upload>(id)?.map(|upload| upload.bytes),
            };
            match there {
                Some(bytes) if bytes == new.bytes => Ok(()),
                Some(bytes) => Err(ServiceError::Conflict {
                    problem: format!(
                        "the upload was announced with {bytes} bytes, and now with {}: delete it",
                        new.bytes
                    ),
                }),
                None => {
                    change.take(new.bytes, &self.quota)?;
                    change.put(id, &Upload { bytes: new.bytes })
                }
            }
        })?;
        self.upload(tenant, &new.id)
    }

    /// Adds a part. The last one makes an object of the upload, once it is verified.
    pub(crate) fn append(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        offset: u64,
        bytes: &[u8],
    ) -> Result<UploadState, ServiceError> {
        let _held = self.hold(tenant, id)?;
        let state = self.upload(tenant, id)?;
        if state.complete {
            return Ok(state);
        }
        if offset != state.offset {
            return Err(ServiceError::Offset { expected: state.offset, found: offset });
        }
        if bytes.len() as u64 > state.bytes - state.offset {
            return Err(ServiceError::TooLarge { what: "bytes of an upload", limit: state.bytes });
        }
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
        if offset + (bytes.len() as u64) < state.bytes {
            return self.upload(tenant, id);
        }
        file.sync_all().map_err(&failed)?;
        drop(file);
        self.complete(tenant, id, state.bytes)?;
        self.upload(tenant, id)
    }

    fn complete(&self, tenant: &Tenant, id: &ObjectId, bytes: u64) -> Result<(), ServiceError> {
        let path = self.part(tenant, id);
        let info = match self.verified(&path, id, bytes) {
            Ok(info) => info,
            Err(e) => {
                self.forget(tenant, id, bytes)?;
                return Err(e);
            }
        };
        let (destination, failed) = (self.path(tenant, id), system("storing an object"));
        if let Some(directory) = destination.parent() {
            fs::create_dir_all(directory).map_err(&failed)?;
        }
        self.store.change(tenant, |change| {
            let announced: Option<Upload> = change.get(id.as_ref())?;
            announced.ok_or(ServiceError::NotFound { what: "upload" })?;
            // First the name, then the record: what has a record is there.
            fs::rename(&path, &destination).map_err(&failed)?;
            if let Some(directory) = destination.parent() {
                sync_directory(directory);
            }
            change.remove::<Upload>(id.as_ref())?;
            change.put(id.as_ref(), &info)
        })
    }

    fn forget(&self, tenant: &Tenant, id: &ObjectId, bytes: u64) -> Result<(), ServiceError> {
        self.store.change(tenant, |change| {
            // Another process may have been quicker.
            if change.get::<Upload>(id.as_ref())?.is_some() {
                change.remove::<Upload>(id.as_ref())?;
                change.give_back(bytes)?;
                remove(&self.part(tenant, id)).map_err(system("removing an upload"))?;
            }
            Ok(())
        })
    }

    /// Gives up an upload that is not complete.
    pub(crate) fn abandon(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        let _held = self.hold(tenant, id)?;
        match self.upload(tenant, id)? {
            UploadState { complete: true, .. } => Err(ServiceError::NotFound { what: "upload" }),
            UploadState { bytes, .. } => self.forget(tenant, id, bytes),
        }
    }
}
