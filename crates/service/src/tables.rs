//! Encrypted tables: directories of files that were sent as objects.

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
use serde::{Deserialize, Serialize};

use crate::config::Quota;
use crate::contents::Pin;
use crate::error::ServiceError;
use crate::files::{entries, hash_of, named, unreadable};
use crate::objects::Objects;
use crate::store::{Change, Record, Store};

/// The most bytes of all requests that made the tables of a tenant: a list of tables, which names
/// their blocks as well, has about as many, and clients take lists of up to 64 MiB.
const REQUEST_BYTES: u64 = 60 << 20;
/// The texts that a table may have.
const TEXTS: [&str; 2] = ["schema.json", "files.json"];

impl Record for TableInfo {
    const KIND: &'static str = "table";
}

/// The texts of a table, where its directory is a copy that another process does not have.
#[derive(Serialize, Deserialize)]
struct Texts {
    texts: BTreeMap<String, String>,
}

impl Record for Texts {
    const KIND: &'static str = "texts";
}

/// How many bytes of the quota a table takes beside its objects: those of the request that made
/// it, and of copies. One of an earlier version has no such record, and takes none.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct TableBytes {
    request: u64,
    /// Of blocks that are copied as the file system has no links.
    copied: u64,
}

impl Record for TableBytes {
    const KIND: &'static str = "table-bytes";
}

impl TableBytes {
    pub(crate) fn all(self) -> u64 {
        self.request + self.copied
    }

    /// Counts a new table of a tenant, whose tables have requests of at most so many bytes.
    fn count(self, change: &mut Change<'_>, limit: u64, quota: &Quota) -> Result<(), ServiceError> {
        let others = change.list::<TableBytes>()?;
        let used: u64 = others.iter().map(|(_, counted)| counted.request).sum();
        if used + self.request > limit {
            let what = "bytes of requests that make tables";
            return Err(ServiceError::Quota { what, used, limit });
        }
        change.take(self.all(), quota)
    }
}

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

pub(crate) struct Tables {
    store: Arc<Store>,
    objects: Arc<Objects>,
    directory: PathBuf,
    opt_in: OptIn,
    quota: Quota,
}

/// `000000-0000.columns`.
fn is_block(name: &str) -> bool {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    name.strip_suffix(".columns")
        .and_then(|name| name.split_once('-'))
        .is_some_and(|(block, column)| digits(block, 6) && digits(column, 4))
}

fn failed(e: std::io::Error) -> ServiceError {
    ServiceError::internal("storing a table")(&e)
}

fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::hard_link(from, to)
}

/// The same bytes under two names; a copy where the file system has no links. How many bytes were
/// copied.
fn named_again(
    (block, from, to): (&ObjectId, &Path, &Path),
    link: impl Fn(&Path, &Path) -> std::io::Result<()>,
) -> Result<u64, ServiceError> {
    match link(from, to) {
        Ok(()) => Ok(0),
        // A file may have tens of thousands of names. Copies of what is named so often would fill
        // the disk.
        Err(e) if e.kind() == std::io::ErrorKind::TooManyLinks => {
            let problem = format!("the object {block} is a part of too many tables: delete some");
            Err(ServiceError::Conflict { problem })
        }
        Err(_) => fs::copy(from, to).map_err(unreadable(block)),
    }
}

/// The first block whose file is not what its name says.
fn damaged<'b>(
    path: &Path,
    blocks: &'b BTreeMap<String, ObjectId>,
) -> Result<Option<&'b ObjectId>, ServiceError> {
    for (name, block) in blocks {
        let found = hash_of(&path.join(name)).map_err(unreadable(block))?;
        if ObjectId::of_hash(found) != *block {
            return Ok(Some(block));
        }
    }
    Ok(None)
}

/// Removes a directory, if it is there.
fn clear(directory: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
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

    /// Removes directories that no record names: what a process left that ended between the one
    /// and the other.
    pub(crate) fn recover(&self) -> Result<(), ServiceError> {
        let mut tenants: BTreeSet<Tenant> = self.store.tenants()?.into_iter().collect();
        tenants.extend(entries(&self.directory)?.iter().filter_map(|path| named::<Tenant>(path)));
        // What is under construction has other names, and may be another process's.
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

    /// Makes a table; the same again answers the same.
    pub(crate) fn add(&self, tenant: &Tenant, new: &NewTable) -> Result<TableInfo, ServiceError> {
        let wrong = |problem: String| ServiceError::malformed("the files of a table", problem);
        if let Some(name) = new.texts.keys().find(|name| !TEXTS.contains(&name.as_str())) {
            return Err(wrong(format!("expected schema.json or files.json, found {name:?}")));
        }
        if let Some(name) = new.blocks.keys().find(|name| !is_block(name)) {
            return Err(wrong(format!("expected 000000-0000.columns and so on, found {name:?}")));
        }
        // Maps are in order, so that equal tables are equal texts.
        let text =
            serde_json::to_vec(new).map_err(|e| ServiceError::internal("naming a table")(&e))?;
        let id = ObjectId::of_hash(blake3::hash(&text));
        if let Some(info) = self.store.get(tenant, id.as_ref())? {
            return Ok(info);
        }
        // Several may make the same one; the first to end gives it its name.
        let path = self.path(tenant, &id);
        let made = path.with_extension(random_hex::<8>()?);
        let pin = self.pin(tenant, &path, &new.blocks)?;
        // A directory that is a copy itself takes room that is no tenant's.
        let room = match &pin {
            Some(_) => None,
            None => Some(self.quota.bytes.saturating_sub(self.store.usage(tenant)?.bytes)),
        };
        let added = self.lay(tenant, &new.texts, &new.blocks, &made, room).and_then(|copied| {
            let table = self.open_at(&made)?;
            let info = TableInfo {
                id: id.clone(),
                table: table.id().to_string(),
                params: table.params().name().into(),
                owner: table.owner().map(|owner| format!("{owner:#}")),
                rows: table.rows(),
                columns: table.schema().columns().count(),
                blocks: new.blocks.clone(),
            };
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

    /// The directory of a table, as the library reads it. How many bytes were copied, for which
    /// there is so much room, if that is limited.
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

    /// What keeps the directory of a table, where it is a copy.
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

    /// A table, its files verified if they are to be computed on.
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
                // A copy is made once more, of bytes that are fetched again.
                Some(block) if again && self.objects.contents.distrust(tenant, block) => {
                    clear(&path).map_err(failed)?;
                }
                Some(block) => return Err(ServiceError::Damaged { object: block.to_string() }),
            }
        }
        Ok(OpenTable { table: self.open_at(&path)?, _pin: pin })
    }

    /// Makes a copy of the directory of a table, which another process has made.
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
                // Another job was quicker.
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

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn names_of_blocks_lead_nowhere_else() {
        assert!(is_block("000001-0002.columns"));
        for name in ["../../a.columns", "000001-0002", "1-2.columns", "00000a-0002.columns"] {
            assert!(!is_block(name), "{name}");
        }
    }

    /// A file system without links has copies; one whose links are used up has none.
    #[test]
    fn copies_count_and_are_not_made_of_what_has_too_many_names() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        let block: ObjectId = "0".repeat(64).parse().unwrap();
        fs::write(&from, [7u8; 30]).unwrap();
        let named = |kind: Option<ErrorKind>| {
            named_again((&block, &from, &to), |_, _| match kind {
                Some(kind) => Err(Error::from(kind)),
                None => Ok(()),
            })
        };
        assert_eq!(named(None).unwrap(), 0);
        assert_eq!(named(Some(ErrorKind::TooManyLinks)).unwrap_err().code(), "service.conflict");
        assert!(!to.exists());
        assert_eq!(named(Some(ErrorKind::Unsupported)).unwrap(), 30);
        assert_eq!(fs::read(&to).unwrap(), [7u8; 30]);
    }

    #[test]
    fn requests_that_make_tables_count_together() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), None, None, false).unwrap();
        let (tenant, quota) = ("acme".parse().unwrap(), Quota::default());
        let add = |name: &str, request: u64| {
            store.change(&tenant, |change| {
                let counted = TableBytes { request, copied: 1000 };
                counted.count(change, 100, &quota)?;
                change.put(name, &counted)
            })
        };
        add("a", 60).unwrap();
        let refused = add("b", 41).unwrap_err();
        assert_eq!(refused.code(), "service.quota", "{refused}");
        add("b", 40).unwrap();
        let used = store.usage(&tenant).unwrap();
        assert_eq!((used.bytes, used.objects), (2100, 2));
    }
}
