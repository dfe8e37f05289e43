//! What is done before a service starts: the process before may have ended between two steps.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

use crate::api::{ObjectInfo, TableInfo};
use crate::error::ServiceError;
use crate::name::Tenant;
use crate::objects::{Objects, entries, system};
use crate::request::Request;
use crate::uploads::Upload;
use crate::usage::{ALL, Usage};

impl Objects {
    /// Counts anew what tenants have, and removes files that no record names: what a process left
    /// that ended between the one and the other.
    pub(crate) fn recover(&self) -> Result<(), ServiceError> {
        let mut found: BTreeMap<Tenant, Usage> = BTreeMap::new();
        let mut named: HashSet<PathBuf> = HashSet::new();
        self.store.change(|change| {
            let mut count = |tenant: &Tenant, bytes| {
                let usage = found.entry(tenant.clone()).or_default();
                (usage.bytes, usage.objects) = (usage.bytes + bytes, usage.objects + 1);
            };
            for (tenant, _, info) in change.list::<ObjectInfo>(None)? {
                count(&tenant, info.bytes);
                named.insert(self.path(&tenant, &info.id));
            }
            for (tenant, name, upload) in change.list::<Upload>(None)? {
                count(&tenant, upload.bytes);
                named.insert(self.part(&tenant, &name.parse()?));
            }
            for (tenant, ..) in change.list::<TableInfo>(None)? {
                count(&tenant, 0);
            }
            for (tenant, _, request) in change.list::<Request>(None)? {
                count(&tenant, request.bytes);
            }
            for (tenant, ..) in change.list::<Usage>(None)? {
                found.entry(tenant).or_default();
            }
            found.iter().try_for_each(|(tenant, usage)| change.put(tenant, ALL, usage))
        })?;
        let mut removed = 0;
        for kind in ["objects", "uploads"] {
            for tenant in entries(&self.directory.join(kind))? {
                for file in entries(&tenant)?.into_iter().filter(|file| !named.contains(file)) {
                    fs::remove_file(&file).map_err(system("removing what was left"))?;
                    removed += 1;
                }
            }
        }
        if removed > 0 {
            tracing::warn!(files = removed, "removed files that no record names");
        }
        Ok(())
    }
}
