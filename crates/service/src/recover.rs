//! What is done before a service starts: a process before may have ended between two steps.

use std::collections::BTreeSet;

use everlevel_remote::Tenant;
use everlevel_remote::api::{ObjectInfo, TableInfo};

use crate::contents::{Kept, Upload};
use crate::error::ServiceError;
use crate::objects::Objects;
use crate::request::Request;
use crate::store::Change;
use crate::tables::TableBytes;
use crate::usage::{ALL, Usage};

impl Objects {
    /// Counts anew what tenants have, and removes files that no record names: what a process left
    /// that ended between the one and the other. Other processes may go on meanwhile, as all of it
    /// is done tenant by tenant in transactions: what they are about to keep, they write again.
    pub(crate) fn recover(&self) -> Result<(), ServiceError> {
        let mut tenants: BTreeSet<Tenant> = self.store.tenants()?.into_iter().collect();
        tenants.extend(self.contents.tenants()?);
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
        let (mut found, mut kept) = (Usage::default(), Kept::default());
        let mut count = |bytes| {
            (found.bytes, found.objects) = (found.bytes + bytes, found.objects + 1);
        };
        for (_, info) in change.list::<ObjectInfo>()? {
            count(info.bytes);
            kept.objects.insert(info.id);
        }
        for (name, upload) in change.list::<Upload>()? {
            count(upload.bytes);
            kept.uploads.insert(name.parse()?, upload);
        }
        for (name, _) in change.list::<TableInfo>()? {
            let counted: Option<TableBytes> = change.get(&name)?;
            count(counted.unwrap_or_default().all());
        }
        change.each(|request: Request| count(request.bytes))?;
        change.put(ALL, &found)?;
        self.contents.clean(tenant, &kept, self.store.leases().is_none())
    }
}
