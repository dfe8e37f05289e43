//! Bytes that arrive in parts, until they are an object.

use everlevel_remote::api::{NewUpload, ObjectInfo, UploadState};
use everlevel_remote::{ObjectId, RemoteError, Tenant, random_hex};
use everlevel_wire::ObjectKind;

use crate::contents::Upload;
use crate::error::ServiceError;
use crate::objects::Objects;

/// The smallest object has a header.
const LEAST_BYTES: u64 = everlevel_wire::HEADER_BYTES as u64;

/// Whether the system has failed, and not the bytes.
fn is_passing(e: &ServiceError) -> bool {
    let of_system = matches!(e, ServiceError::Internal { .. } | ServiceError::Unavailable);
    of_system || e.code() == "wire.io"
}

impl Objects {
    /// Uploads that are not complete.
    pub(crate) fn uploads(&self, tenant: &Tenant) -> Result<Vec<UploadState>, ServiceError> {
        let found = self.store.list::<Upload>(tenant)?.into_iter();
        let states = found.map(|(id, _)| self.upload(tenant, &id.parse()?));
        // One may have been given up meanwhile.
        states.filter(|state| !matches!(state, Err(ServiceError::NotFound { .. }))).collect()
    }

    /// How far an upload is.
    pub(crate) fn upload(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
    ) -> Result<UploadState, ServiceError> {
        // In this order: an upload that becomes an object in between is found as one.
        let upload: Option<Upload> = self.store.get(tenant, id.as_ref())?;
        let arrived = upload
            .as_ref()
            .and_then(|upload| Some((upload.bytes, self.contents.arrived(tenant, id, upload)?)));
        if let Some((bytes, offset)) = arrived {
            return Ok(UploadState { id: id.clone(), bytes, offset, complete: false });
        }
        if let Some(ObjectInfo { bytes, .. }) = self.store.get(tenant, id.as_ref())? {
            return Ok(UploadState { id: id.clone(), bytes, offset: bytes, complete: true });
        }
        let Upload { bytes, .. } = upload.ok_or(ServiceError::NotFound { what: "upload" })?;
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
                    let place = random_hex::<8>()?;
                    change.put(id, &Upload { bytes: new.bytes, offset: 0, place })
                }
            }
        })?;
        let state = self.upload(tenant, &new.id)?;
        if state.complete { self.settled(tenant, state) } else { Ok(state) }
    }

    /// A job may have computed what was announced before a byte of it arrived: then it is announced
    /// no longer.
    fn settled(&self, tenant: &Tenant, state: UploadState) -> Result<UploadState, ServiceError> {
        if self.store.get::<Upload>(tenant, state.id.as_ref())?.is_some() {
            self.forget(tenant, &state.id)?;
        }
        Ok(state)
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
            return self.settled(tenant, state);
        }
        if offset != state.offset {
            return Err(ServiceError::Offset { expected: state.offset, found: offset });
        }
        if bytes.len() as u64 > state.bytes.saturating_sub(state.offset) {
            return Err(
                RemoteError::TooLarge { what: "bytes of an upload", limit: state.bytes }.into()
            );
        }
        self.contents.append(&self.store, tenant, id, offset, bytes)?;
        if offset + (bytes.len() as u64) == state.bytes {
            self.complete(tenant, id)?;
        }
        self.upload(tenant, id)
    }

    fn complete(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        let Some(upload) = self.store.get::<Upload>(tenant, id.as_ref())? else { return Ok(()) };
        let path = self.contents.joined(tenant, id, &upload)?;
        let verified = self.verified(&path, id, upload.bytes);
        let wrong = verified.as_ref().is_err_and(|e| !is_passing(e));
        let kept = verified.and_then(|info| {
            self.contents.prepare(tenant, id, &path)?;
            self.store.change(tenant, |change| {
                let announced: Option<Upload> = change.get(id.as_ref())?;
                // By another process it may have been given up, and announced again.
                let announced = announced.filter(|announced| announced.place == upload.place);
                let announced = announced.ok_or(ServiceError::NotFound { what: "upload" })?;
                // A job has computed the same bytes meanwhile: they count once, as computed.
                let computed = change.get::<ObjectInfo>(id.as_ref())?.is_some();
                if info.kind == ObjectKind::SERVER_KEYS.to_string() {
                    change.check_keys(&self.quota)?;
                }
                // First the name, then the record: what has a record is there.
                self.contents.adopt(tenant, id, &path)?;
                change.remove::<Upload>(id.as_ref())?;
                match computed {
                    true => change.give_back(announced.bytes),
                    false => change.put(id.as_ref(), &info),
                }
            })
        });
        match &kept {
            Ok(()) => self.contents.sweep(tenant, id, &upload),
            Err(e) => {
                self.contents.discard(&path);
                if wrong || matches!(e, ServiceError::Quota { .. }) {
                    self.forget(tenant, id)?;
                }
            }
        }
        kept
    }

    fn forget(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        let ended = self.store.change(tenant, |change| {
            // Another process may have been quicker.
            let Some(upload) = change.get::<Upload>(id.as_ref())? else { return Ok(None) };
            change.remove::<Upload>(id.as_ref())?;
            change.give_back(upload.bytes)?;
            // A job may have computed the same bytes meanwhile.
            let is_object = change.get::<ObjectInfo>(id.as_ref())?.is_some();
            self.contents.end_upload(tenant, id, is_object)?;
            Ok(Some(upload))
        })?;
        if let Some(upload) = ended {
            self.contents.sweep(tenant, id, &upload);
        }
        Ok(())
    }

    /// Gives up an upload that is not complete.
    pub(crate) fn abandon(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        let _held = self.hold(tenant, id)?;
        match self.upload(tenant, id)? {
            UploadState { complete: true, .. } => Err(ServiceError::NotFound { what: "upload" }),
            UploadState { .. } => self.forget(tenant, id),
        }
    }
}
