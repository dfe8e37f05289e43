//! What is done before a service starts: a process before may have ended between two steps.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::api::{ObjectInfo, TableInfo};
use crate::error::ServiceError;
use crate::name::{ObjectId, Tenant};
use crate::objects::{Objects, entries, remove, system};
use crate::request::Request;
use crate::store::Change;
use crate::uploads::Upload;
use crate::usage::{ALL, Usage};

/// What a path ends with, as a name of the service; none if it is something else.
pub(crate) fn named<T: std::str::FromStr>(path: &Path) -> Option<T> {
    path.file_name()?.to_str()?.parse().ok()
}

impl Objects {
    /// Counts anew what tenants have, and removes files that no record names: what a process left
    /// that ended between the one and the other. Other processes may go on meanwhile, as all of it
    /// is done tenant by tenant in transactions: what they are about to keep, they write again.
    pub(crate) fn recover(&self) -> Result<(), ServiceError> {
        let mut tenants: BTreeSet<Tenant> = self.store.tenants()?.into_iter().collect();
        for kind in ["objects", "uploads"] {
            let found = entries(&self.directory.join(kind))?;
            tenants.extend(found.iter().filter_map(|path| named::<Tenant>(path)));
        }
        let mut removed = 0;
        for tenant in tenants {
            removed += self.store.change(&tenant, |change| self.recover_of(&tenant, change))?;
        }
        if removed > 0 {
            tracing::warn!(files = removed, "removed files that no record names");
        }
        Ok(())
    }

    /// Says how many files were removed.
    fn recover_of(&self, tenant: &Tenant, change: &mut Change<'_>) -> Result<u64, ServiceError> {
        let (mut found, mut kept) = (Usage::default(), HashSet::<PathBuf>::new());
        let mut count = |bytes| {
            (found.bytes, found.objects) = (found.bytes + bytes, found.objects + 1);
        };
        for (_, info) in change.list::<ObjectInfo>()? {
            count(info.bytes);
            kept.insert(self.path(tenant, &info.id));
        }
        for (name, upload) in change.list::<Upload>()? {
            count(upload.bytes);
            kept.insert(self.part(tenant, &name.parse()?));
        }
        change.list::<TableInfo>()?.iter().for_each(|_| count(0));
        change.list::<Request>()?.iter().for_each(|(_, request)| count(request.bytes));
        change.put(ALL, &found)?;
        // What is under construction has other names, and may be another process's.
        let alone = self.store.leases().is_none();
        let mut removed = 0;
        for kind in ["objects", "uploads"] {
            let files = entries(&self.directory.join(kind).join(tenant.as_ref()))?;
            for file in files.iter().filter(|file| !kept.contains(*file)) {
                if alone || named::<ObjectId>(file).is_some() {
                    remove(file).map_err(system("removing what was left"))?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}
