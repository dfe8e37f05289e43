//! The encrypted tables of tenants, which are made of objects: add, list, open, delete.

mod directory;
mod records;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel::OptIn;
use everlevel::files::OpenOptions;
use everlevel_remote::api::{NewTable, ObjectInfo, TableInfo};
use everlevel_remote::{ObjectId, Tenant, random_hex};
use everlevel_tables::EncryptedTable;
use everlevel_wire::file::{Existing, write_file};

use self::directory::{check_names, clear, damaged, failed, link, named_again};
pub(crate) use self::records::TableBytes;
use self::records::{REQUEST_BYTES, Texts};
use crate::config::Quota;
use crate::contents::Pin;
use crate::error::ServiceError;
use crate::files::{entries, named};
use crate::objects::Objects;
use crate::store::Store;

/// A table whose directory stays as long as this does.
pub(crate) struct OpenTable {
    table: EncryptedTable,
    _pin: Option<Pin>,
}

impl Deref for OpenTable {
    type Target = EncryptedTable;

    fn deref(&self) -> &EncryptedTable {
        &self.table
    }
}

/// The tables of all tenants.
pub(crate) struct Tables {
    store: Arc<Store>,
    objects: Arc<Objects>,
    directory: PathBuf,
    opt_in: OptIn,
    quota: Quota,
}

impl Tables {
    pub(crate) fn new(
        store: Arc<Store>,
        objects: Arc<Objects>,
        opt_in: OptIn,
        quota: Quota,
    ) -> Self {
        let directory = objects.contents.tables();
        Tables { store, objects, directory, opt_in, quota }
    }

    /// Removes directories that no record names, left by a process that ended between making a
    /// directory and storing its record.
    pub(crate) fn recover(&self) -> Result<(), ServiceError> {
        let mut tenants: BTreeSet<Tenant> = self.store.tenants()?.into_iter().collect();
        tenants.extend(entries(&self.directory)?.iter().filter_map(|path| named::<Tenant>(path)));
        // A directory under construction has another kind of name, and may be another process's.
        let alone = self.store.leases().is_none();
        let unknown = |tenant: &Tenant, known: Vec<(String, TableInfo)>| {
            let known: HashSet<PathBuf> =
                known.iter().map(|(_, table)| self.path(tenant, &table.id)).collect();
            let mut found = entries(&self.directory.join(tenant.as_ref()))?;
            found.retain(|path| !known.contains(path));
            found.retain(|path| alone || named::<ObjectId>(path).is_some());
            Ok::<_, ServiceError>(found)
        };
        for tenant in tenants {
            if unknown(&tenant, self.store.list(&tenant)?)?.is_empty() {
                continue;
            }
            self.store.change(&tenant, |change| {
                let found = unknown(&tenant, change.list()?)?;
                let cleared = found.iter().try_for_each(|path| clear(path));
                cleared.map_err(|e| ServiceError::internal("removing what was left")(&e))
            })?;
        }
        Ok(())
    }

    /// The directory of a table.
    fn path(&self, tenant: &Tenant, id: &ObjectId) -> PathBuf {
        self.directory.join(tenant.as_ref()).join(id.as_ref())
    }

    pub(crate) fn list(&self, tenant: &Tenant) -> Result<Vec<TableInfo>, ServiceError> {
        let found = self.store.list::<TableInfo>(tenant)?;
        Ok(found.into_iter().map(|(_, info)| info).collect())
    }

    pub(crate) fn info(&self, tenant: &Tenant, id: &ObjectId) -> Result<TableInfo, ServiceError> {
        let found = self.store.get(tenant, id.as_ref())?;
        found.ok_or(ServiceError::NotFound { what: "table" })
    }

    /// Makes a table. The same request again has the same answer.
    pub(crate) fn add(&self, tenant: &Tenant, new: &NewTable) -> Result<TableInfo, ServiceError> {
        check_names(new)?;
        // Maps are in order, so that equal tables are equal texts.
        let text =
            serde_json::to_vec(new).map_err(|e| ServiceError::internal("naming a table")(&e))?;
        let id = ObjectId::of_hash(blake3::hash(&text));
        if let Some(info) = self.store.get(tenant, id.as_ref())? {
            return Ok(info);
        }
        // Several requests may make the same table; the first to end gives the directory its name.
        let path = self.path(tenant, &id);
        let made = path.with_extension(random_hex::<8>()?);
        let pin = self.pin(tenant, &path, &new.blocks)?;
        // Where directories are copies themselves, their bytes count for no tenant.
        let room = match &pin {
            Some(_) => None,
            None => Some(self.quota.bytes.saturating_sub(self.store.usage(tenant)?.bytes)),
        };
        let added = self.lay(tenant, &new.texts, &new.blocks, &made, room).and_then(|copied| {
            let table = self.open_at(&made)?;
            let info = TableInfo::new(
                id.clone(),
                table.id().to_string(),
                table.params().name(),
                table.owner().map(|owner| format!("{owner:#}")),
                (table.rows(), table.schema().columns().count()),
                new.blocks.clone(),
            );
            self.store.change(tenant, |change| {
                if let Some(info) = change.get(id.as_ref())? {
                    return Ok(info);
                }
                // Objects may have been deleted meanwhile.
                for block in new.blocks.values() {
                    if change.get::<ObjectInfo>(block.as_ref())?.is_none() {
                        return Err(ServiceError::NotFound { what: "object" });
                    }
                }
                let request = text.len() as u64;
                let copied = if pin.is_some() { 0 } else { copied };
                let counted = TableBytes { request, copied };
                counted.count(change, REQUEST_BYTES, &self.quota)?;
                change.put(id.as_ref(), &counted)?;
                if pin.is_some() {
                    change.put(id.as_ref(), &Texts { texts: new.texts.clone() })?;
                }
                clear(&path).and_then(|()| fs::rename(&made, &path)).map_err(failed)?;
                change.put(id.as_ref(), &info)?;
                Ok(info)
            })
        });
        let _ = clear(&made);
        added
    }

    /// Makes the directory of a table, as the library reads it, and copies at most `room` bytes if
    /// that is limited. Returns the number of bytes that were copied.
    fn lay(
        &self,
        tenant: &Tenant,
        texts: &BTreeMap<String, String>,
        blocks: &BTreeMap<String, ObjectId>,
        path: &Path,
        room: Option<u64>,
    ) -> Result<u64, ServiceError> {
        fs::create_dir_all(path).map_err(failed)?;
        for (name, text) in texts {
            write_file(&path.join(name), text.as_bytes(), Existing::Replace)?;
        }
        let mut copied = 0;
        for (name, block) in blocks {
            self.objects.info(tenant, block)?;
            let (from, to) = (self.objects.file(tenant, block)?, path.join(name));
            copied += named_again((block, &from, &to), link)?;
            if let Some(limit) = room.filter(|room| copied > *room) {
                let what = "bytes of copies of a table";
                return Err(ServiceError::Quota { what, used: copied, limit });
            }
        }
        Ok(copied)
    }

    fn open_at(&self, path: &Path) -> Result<EncryptedTable, ServiceError> {
        let options = OpenOptions::default().accepting(self.opt_in);
        Ok(EncryptedTable::open(path, &options)?)
    }

    /// Keeps the directory of a table from being removed as long as the pin lives, where
    /// directories are copies that are made again when necessary.
    fn pin(
        &self,
        tenant: &Tenant,
        path: &Path,
        blocks: &BTreeMap<String, ObjectId>,
    ) -> Result<Option<Pin>, ServiceError> {
        let mut bytes = 0;
        for block in blocks.values() {
            bytes += self.objects.info(tenant, block)?.bytes;
        }
        Ok(self.objects.contents.pin(path, bytes))
    }

    /// Opens a table, and verifies its files if `verify`, as before they are computed on.
    pub(crate) fn open(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        verify: bool,
    ) -> Result<OpenTable, ServiceError> {
        let (info, path) = (self.info(tenant, id)?, self.path(tenant, id));
        let pin = self.pin(tenant, &path, &info.blocks)?;
        for again in [true, false] {
            if pin.is_some() && !path.exists() {
                self.copy(tenant, id, &info, &path)?;
            }
            let damaged = match verify {
                true => damaged(&path, &info.blocks)?,
                false => None,
            };
            match damaged {
                None => break,
                // The copy is made once more, of bytes that are fetched again.
                Some(block) if again && self.objects.contents.distrust(tenant, block) => {
                    clear(&path).map_err(failed)?;
                }
                Some(block) => return Err(ServiceError::Damaged { object: block.to_string() }),
            }
        }
        Ok(OpenTable { table: self.open_at(&path)?, _pin: pin })
    }

    /// Makes a copy here of the directory of a table that another process has made.
    fn copy(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        info: &TableInfo,
        path: &Path,
    ) -> Result<(), ServiceError> {
        let found: Option<Texts> = self.store.get(tenant, id.as_ref())?;
        let Texts { texts } = found.ok_or(ServiceError::NotFound { what: "table" })?;
        let made = path.with_extension(random_hex::<8>()?);
        let laid = self.lay(tenant, &texts, &info.blocks, &made, None).and_then(|_| {
            match fs::rename(&made, path) {
                // It is an error unless another job has made the same copy meanwhile.
                Err(e) if !path.exists() => Err(failed(e)),
                _ => Ok(()),
            }
        });
        let _ = clear(&made);
        laid
    }

    /// Removes a table that no job needs. The objects that it was made of stay.
    pub(crate) fn delete(&self, tenant: &Tenant, id: &ObjectId) -> Result<(), ServiceError> {
        self.store.change(tenant, |change| {
            let info: Option<TableInfo> = change.get(id.as_ref())?;
            info.ok_or(ServiceError::NotFound { what: "table" })?;
            change.check_unused("table", id)?;
            change.remove::<TableInfo>(id.as_ref())?;
            change.remove::<Texts>(id.as_ref())?;
            let counted: Option<TableBytes> = change.get(id.as_ref())?;
            change.remove::<TableBytes>(id.as_ref())?;
            change.give_back(counted.unwrap_or_default().all())?;
            clear(&self.path(tenant, id))
                .map_err(|e| ServiceError::internal("removing a table")(&e))
        })
    }
}
