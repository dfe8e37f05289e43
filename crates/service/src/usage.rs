//! The usage of tenants, and their quotas.

use everlevel_remote::Tenant;
use everlevel_remote::api::ObjectInfo;
use everlevel_wire::ObjectKind;
use serde::{Deserialize, Serialize};

use crate::config::Quota;
use crate::error::ServiceError;
use crate::store::{Change, Record, Store};

/// The usage of a tenant.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) bytes: u64,
    pub(crate) objects: u64,
}

impl Record for Usage {
    const KIND: &'static str = "usage";
}

/// The name of the only record of its kind.
pub(crate) const ALL: &str = "all";

impl Store {
    pub(crate) fn usage(&self, tenant: &Tenant) -> Result<Usage, ServiceError> {
        Ok(self.get(tenant, ALL)?.unwrap_or_default())
    }
}

impl Change<'_> {
    /// Counts additional bytes of a tenant; refused above its quota.
    pub(crate) fn take(&mut self, bytes: u64, quota: &Quota) -> Result<(), ServiceError> {
        let mut usage: Usage = self.get(ALL)?.unwrap_or_default();
        if usage.objects >= quota.objects {
            let (used, limit) = (usage.objects, quota.objects);
            return Err(ServiceError::Quota { what: "objects", used, limit });
        }
        if bytes > quota.bytes.saturating_sub(usage.bytes) {
            let (used, limit) = (usage.bytes, quota.bytes);
            return Err(ServiceError::Quota { what: "bytes", used, limit });
        }
        usage.bytes += bytes;
        usage.objects += 1;
        self.put(ALL, &usage)
    }

    /// Checks that the tenant may store another set of server keys.
    pub(crate) fn check_keys(&mut self, quota: &Quota) -> Result<(), ServiceError> {
        let kind = ObjectKind::SERVER_KEYS.to_string();
        let objects = self.list::<ObjectInfo>()?;
        let used = objects.iter().filter(|(_, object)| object.kind == kind).count() as u64;
        match used >= quota.keys {
            true => Err(ServiceError::Quota { what: "server keys", used, limit: quota.keys }),
            false => Ok(()),
        }
    }

    /// Counts bytes that a tenant has released.
    pub(crate) fn give_back(&mut self, bytes: u64) -> Result<(), ServiceError> {
        let mut usage: Usage = self.get(ALL)?.unwrap_or_default();
        usage.bytes = usage.bytes.saturating_sub(bytes);
        usage.objects = usage.objects.saturating_sub(1);
        self.put(ALL, &usage)
    }
}
