//! The records of a table in the store, and the bytes of the quota that it takes.

use std::collections::BTreeMap;

use everlevel_remote::api::TableInfo;
use serde::{Deserialize, Serialize};

use crate::config::Quota;
use crate::error::ServiceError;
use crate::store::{Change, Record};

/// The most bytes that the requests for all tables of a tenant may have together: a list of tables,
/// which names their blocks as well, has about as many, and clients accept lists of up to 64 MiB.
pub(super) const REQUEST_BYTES: u64 = 60 << 20;

impl Record for TableInfo {
    const KIND: &'static str = "table";
}

/// The texts of a table, stored where its directory is a copy that other processes do not have.
#[derive(Serialize, Deserialize)]
pub(super) struct Texts {
    pub(super) texts: BTreeMap<String, String>,
}

impl Record for Texts {
    const KIND: &'static str = "texts";
}

/// How many bytes of the quota a table takes beside its objects: those of the request that made it,
/// and those of copies. A table of an earlier version has no such record and takes none.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct TableBytes {
    pub(super) request: u64,
    /// Of blocks that were copied, as the file system has no links.
    pub(super) copied: u64,
}

impl Record for TableBytes {
    const KIND: &'static str = "table-bytes";
}

impl TableBytes {
    /// All bytes of the quota that the table takes beside its objects.
    pub(crate) fn all(self) -> u64 {
        self.request + self.copied
    }

    /// Counts a new table of a tenant. The requests for all its tables may have `limit` bytes.
    pub(super) fn count(
        self,
        change: &mut Change<'_>,
        limit: u64,
        quota: &Quota,
    ) -> Result<(), ServiceError> {
        let others = change.list::<TableBytes>()?;
        let used: u64 = others.iter().map(|(_, counted)| counted.request).sum();
        if used + self.request > limit {
            let what = "bytes of requests that make tables";
            return Err(ServiceError::Quota { what, used, limit });
        }
        change.take(self.all(), quota)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

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
