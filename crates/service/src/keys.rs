//! Server keys in use: opened once for many jobs, within a budget of memory over all tenants.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everlevel::files::OpenOptions;
use everlevel::{Keys, OptIn, Server};
use everlevel_remote::{ObjectId, Tenant};
use everlevel_wire::ReadOptions;

use crate::error::ServiceError;
use crate::objects::Objects;
use crate::ready::Ready;
use crate::residents::{Kept, Of, Residents};
use crate::stop::Stop;

/// The largest ratio of the memory of keys to the size of their file: seeds are expanded to
/// polynomials, which doubles the size, and residues of some 45 bits take 50. The measured ratio
/// on three sets was 2.05 to 2.2 when they took 64 (docs/service.md). Keys whose uniform halves
/// stay seeds take half of it.
const EXPANSION: u64 = 3;

/// The keys of a file in memory.
struct Opened {
    /// The keys; `None` while they are being opened.
    keys: Option<Keys>,
    /// Servers that no job uses.
    idle: Vec<Ready>,
}

pub(crate) struct KeyCache {
    objects: Arc<Objects>,
    opt_in: OptIn,
    budget: u64,
    /// Whether uniform halves stay seeds in memory.
    seeded_keys: bool,
    state: Mutex<Residents<Opened>>,
    freed: Condvar,
}

/// A server for one job.
pub(crate) struct Lease<'a> {
    cache: &'a KeyCache,
    of: Of,
    ready: Option<Ready>,
}

impl Lease<'_> {
    pub(crate) fn server(&self) -> &Server {
        self.ready.as_ref().expect("it is taken when the lease ends").server()
    }

    /// The lease with a server of these keys, for a job that `stop` can end.
    fn with(mut self, keys: Keys, stop: &Arc<Stop>) -> Result<Self, ServiceError> {
        match &self.ready {
            Some(ready) => ready.begin(stop),
            None => self.ready = Some(Ready::new(keys, stop, Server::with_keys)?),
        }
        Ok(self)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut state = self.cache.lock();
        if let Some(kept) = state.find(&self.of) {
            kept.in_use -= 1;
            kept.held.idle.extend(self.ready.take());
            // Whoever opens them is alone with them: it did not succeed, and the next one tries
            // again.
            if kept.held.keys.is_none() {
                state.remove(&self.of);
            }
        }
        self.cache.freed.notify_all();
    }
}

impl KeyCache {
    pub(crate) fn new(
        objects: Arc<Objects>,
        opt_in: OptIn,
        budget: u64,
        seeded_keys: bool,
    ) -> Self {
        let (state, freed) = (Mutex::default(), Condvar::new());
        KeyCache { objects, opt_in, budget, seeded_keys, state, freed }
    }

    fn lock(&self) -> MutexGuard<'_, Residents<Opened>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of bytes that are reserved for keys, and the limit.
    pub(crate) fn usage(&self) -> (u64, u64) {
        (self.lock().bytes(), self.budget)
    }

    /// The memory that keys need; refused if it exceeds the budget.
    pub(crate) fn memory(&self, tenant: &Tenant, id: &ObjectId) -> Result<u64, ServiceError> {
        let expanded = self.objects.info(tenant, id)?.bytes.saturating_mul(EXPANSION);
        let needed = if self.seeded_keys { expanded.div_ceil(2) } else { expanded };
        match needed > self.budget {
            true => Err(ServiceError::Memory { needed, budget: self.budget }),
            false => Ok(needed),
        }
    }

    /// Opens the keys of a file for inspection, without removing other keys from memory.
    pub(crate) fn peek(&self, tenant: &Tenant, id: &ObjectId) -> Result<Keys, ServiceError> {
        self.open(&self.objects.file(tenant, id)?, 0)
    }

    /// Opens the keys of a file, once their bytes are verified, with this amount of memory.
    pub(crate) fn verified(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        cache_bytes: u64,
    ) -> Result<Keys, ServiceError> {
        self.objects.verify(tenant, id)?;
        self.open(&self.objects.file(tenant, id)?, cache_bytes)
    }

    fn open(&self, path: &Path, cache_bytes: u64) -> Result<Keys, ServiceError> {
        let summary = everlevel_wire::inspect_file(path)?;
        let params = OpenOptions::default().accepting(self.opt_in);
        let params = params.set_of(path, summary.params)?;
        let options = ReadOptions::default().with_seeded_keys(self.seeded_keys);
        Ok(Keys::open_with(&params, path, cache_bytes, &options)?)
    }

    /// A server with these keys. Waits until there is memory for them.
    pub(crate) fn lease(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        stop: &Arc<Stop>,
    ) -> Result<Lease<'_>, ServiceError> {
        self.lease_opened(tenant, id, stop, |bytes| self.verified(tenant, id, bytes))
    }

    /// The same for keys that `open` opens, with this amount of memory.
    fn lease_opened(
        &self,
        tenant: &Tenant,
        id: &ObjectId,
        stop: &Arc<Stop>,
        open: impl FnOnce(u64) -> Result<Keys, ServiceError>,
    ) -> Result<Lease<'_>, ServiceError> {
        let (of, bytes) = ((tenant.clone(), id.clone()), self.memory(tenant, id)?);
        let mut state = self.lock();
        loop {
            stop.check()?;
            match state.used(&of) {
                Some(Kept { held: Opened { keys: Some(keys), idle }, in_use, .. }) => {
                    *in_use += 1;
                    let (ready, keys) = (idle.pop(), keys.clone());
                    drop(state);
                    return Lease { cache: self, of, ready }.with(keys, stop);
                }
                // Another job opens them.
                Some(_) => {}
                None => {
                    if state.make_room(bytes, self.budget) {
                        let opened = Opened { keys: None, idle: Vec::new() };
                        state.put(of.clone(), bytes, opened).in_use = 1;
                        break;
                    }
                }
            }
            let waited = self.freed.wait_timeout(state, Duration::from_millis(200));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        // From here on the use is counted down when the lease is dropped, also by an error or a
        // panic.
        let lease = Lease { cache: self, of, ready: None };
        let keys = open(bytes)?;
        let mut state = self.lock();
        state.find(&lease.of).expect("what is in use stays").held.keys = Some(keys.clone());
        drop(state);
        self.freed.notify_all();
        lease.with(keys, stop)
    }

    /// Removes keys from memory if they are not in use.
    pub(crate) fn forget(&self, tenant: &Tenant, id: &ObjectId) {
        self.lock().forget(&(tenant.clone(), id.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use everlevel_remote::api::ObjectInfo;
    use everlevel_wire::ObjectKind;

    use super::*;
    use crate::config::Quota;
    use crate::contents::Directory;
    use crate::store::Store;

    #[test]
    fn keys_that_fail_to_open_are_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(directory.path(), None, None, false).unwrap());
        let contents = Arc::new(Directory::new(directory.path()));
        let opt_in = OptIn::InsecureResearch;
        let objects = Objects::new(store.clone(), contents, opt_in, Quota::default());
        let tenant: Tenant = "acme".parse().unwrap();
        let id: ObjectId = "0".repeat(64).parse().unwrap();
        let info = ObjectInfo::new(id.clone(), ObjectKind::SERVER_KEYS, "any", None, 10);
        store.change(&tenant, |change| change.put(id.as_ref(), &info)).unwrap();
        let cache = KeyCache::new(Arc::new(objects), opt_in, 30, false);
        let stop = Arc::new(Stop::after(600));
        let lease = |open: &dyn Fn() -> ServiceError| {
            let opened = cache.lease_opened(&tenant, &id, &stop, |bytes| {
                assert_eq!((bytes, cache.usage()), (30, (30, 30)));
                Err(open())
            });
            opened.map(drop).unwrap_err()
        };
        for _ in 0..2 {
            let panicked = catch_unwind(AssertUnwindSafe(|| lease(&|| panic!("while opening"))));
            assert!(panicked.is_err());
            assert_eq!(cache.usage(), (0, 30));
            let damaged = ServiceError::Damaged { object: id.to_string() };
            assert_eq!(lease(&|| damaged.clone()), damaged);
            assert_eq!(cache.usage(), (0, 30));
        }
    }
}
