//! What the service knows, in transactions: records by kind, tenant and name.

use std::panic::catch_unwind;
use std::path::Path;

use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, Table, TableDefinition};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ServiceError;
use crate::name::Tenant;

/// `kind/tenant/name` to JSON.
const RECORDS: TableDefinition<&str, &[u8]> = TableDefinition::new("records");

/// What to do if the records are lost.
pub(crate) const RESTORE: &str = "restore it from a backup, or move objects, uploads and tables \
                                  out of the directory to begin anew";

/// Something that is stored.
pub(crate) trait Record: Serialize + DeserializeOwned {
    /// What its kind is called.
    const KIND: &'static str;
}

pub(crate) struct Store {
    database: Database,
}

/// A transaction that writes.
pub(crate) struct Change<'t> {
    records: Table<'t, &'static str, &'static [u8]>,
}

fn failed(e: impl Into<redb::Error>) -> ServiceError {
    ServiceError::internal("its store")(&e.into())
}

fn key<R: Record>(tenant: &Tenant, name: &str) -> String {
    format!("{}/{tenant}/{name}", R::KIND)
}

fn parsed<R: Record>(bytes: &[u8]) -> Result<R, ServiceError> {
    serde_json::from_slice(bytes).map_err(|e| ServiceError::internal("its store")(&e))
}

type Named<R> = (Tenant, String, R);

/// All of a kind, or those of one tenant.
fn list<R: Record>(
    records: &impl ReadableTable<&'static str, &'static [u8]>,
    tenant: Option<&Tenant>,
) -> Result<Vec<Named<R>>, ServiceError> {
    let prefix = match tenant {
        Some(tenant) => key::<R>(tenant, ""),
        None => format!("{}/", R::KIND),
    };
    let mut found = Vec::new();
    for entry in records.range(prefix.as_str()..).map_err(failed)? {
        let (key, value) = entry.map_err(failed)?;
        let Some(rest) = key.value().strip_prefix(&prefix) else { break };
        let (tenant, name) = match tenant {
            Some(tenant) => (tenant.clone(), rest),
            None => {
                let (tenant, name) = rest.split_once('/').unwrap_or_default();
                (tenant.parse()?, name)
            }
        };
        found.push((tenant, name.to_string(), parsed(value.value())?));
    }
    Ok(found)
}

impl Store {
    /// The store in a file, which is made if it is not there. A second process is refused.
    pub(crate) fn open(path: &Path) -> Result<Self, ServiceError> {
        // The database panics on some files that were cut off.
        let opened = catch_unwind(|| Database::create(path));
        let problem = match opened {
            Ok(Ok(database)) => return Self::begin(database),
            Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => {
                "another process has it open: a directory is for one service".to_string()
            }
            Ok(Err(e)) => format!("expected the records of a service, found {e}: {RESTORE}"),
            Err(_) => format!("expected the records of a service, found a part of them: {RESTORE}"),
        };
        Err(ServiceError::State { path: path.display().to_string(), problem })
    }

    fn begin(database: Database) -> Result<Self, ServiceError> {
        let store = Store { database };
        store.change(|_| Ok(()))?;
        Ok(store)
    }

    pub(crate) fn get<R: Record>(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<R>, ServiceError> {
        let records = self.database.begin_read().map_err(failed)?;
        let records = records.open_table(RECORDS).map_err(failed)?;
        let found = records.get(key::<R>(tenant, name).as_str()).map_err(failed)?;
        found.map(|value| parsed(value.value())).transpose()
    }

    pub(crate) fn list<R: Record>(
        &self,
        tenant: Option<&Tenant>,
    ) -> Result<Vec<Named<R>>, ServiceError> {
        let records = self.database.begin_read().map_err(failed)?;
        list(&records.open_table(RECORDS).map_err(failed)?, tenant)
    }

    /// Does all of `work`, or nothing if it returns an error. There is one at a time, and what it
    /// did is on the disk when this returns.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&mut Change<'_>) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let transaction = self.database.begin_write().map_err(failed)?;
        let done = {
            let records = transaction.open_table(RECORDS).map_err(failed)?;
            work(&mut Change { records })?
        };
        transaction.commit().map_err(failed)?;
        Ok(done)
    }
}

impl Change<'_> {
    pub(crate) fn get<R: Record>(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<R>, ServiceError> {
        let found = self.records.get(key::<R>(tenant, name).as_str()).map_err(failed)?;
        found.map(|value| parsed(value.value())).transpose()
    }

    pub(crate) fn list<R: Record>(
        &self,
        tenant: Option<&Tenant>,
    ) -> Result<Vec<Named<R>>, ServiceError> {
        list(&self.records, tenant)
    }

    pub(crate) fn put<R: Record>(
        &mut self,
        tenant: &Tenant,
        name: &str,
        record: &R,
    ) -> Result<(), ServiceError> {
        let text =
            serde_json::to_vec(record).map_err(|e| ServiceError::internal("its store")(&e))?;
        self.records.insert(key::<R>(tenant, name).as_str(), text.as_slice()).map_err(failed)?;
        Ok(())
    }

    pub(crate) fn remove<R: Record>(
        &mut self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<(), ServiceError> {
        self.records.remove(key::<R>(tenant, name).as_str()).map_err(failed)?;
        Ok(())
    }
}
