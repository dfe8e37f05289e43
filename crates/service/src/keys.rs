//! Server keys in use: opened once for many jobs, within a budget of memory over all tenants.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use everlevel::files::OpenOptions;
use everlevel::{Keys, OptIn, Server};
use everlevel_remote::{ObjectId, Tenant};
use everlevel_wire::ReadOptions;

use crate::error::ServiceError;
use crate::objects::Objects;

/// The largest ratio of the memory of keys to the size of their file: seeds are expanded to
/// polynomials, which doubles the size, and residues of some 45 bits take 50. The measured ratio
/// on three sets was 2.05 to 2.2 when they took 64 (docs/service.md). Keys whose uniform halves
/// stay seeds take half of it.
const EXPANSION: u64 = 3;

/// The signals that end a job early.
pub(crate) struct Stop {
    cancelled: AtomicBool,
    closing: AtomicBool,
    deadline: Instant,
    seconds: u64,
}

impl Stop {
    pub(crate) fn after(seconds: u64) -> Self {
        let deadline = Instant::now() + Duration::from_secs(seconds.min(1 << 30));
        let (cancelled, closing) = (AtomicBool::new(false), AtomicBool::new(false));
        Stop { cancelled, closing, deadline, seconds }
    }

    /// Signals that the job is cancelled.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Signals that the service ends.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Returns an error if the job has to end.
    pub(crate) fn check(&self) -> Result<(), ServiceError> {
        if self.cancelled.load(Ordering::Relaxed) || self.is_closing() {
            return Err(ServiceError::Cancelled);
        }
        match Instant::now() > self.deadline {
            true => Err(ServiceError::Timeout { seconds: self.seconds }),
            false => Ok(()),
        }
    }
}

/// A server, with the signals that it checks.
struct Ready {
    server: Server,
    stop: Arc<RwLock<Arc<Stop>>>,
}

struct Kept {
    of: (Tenant, ObjectId),
    bytes: u64,
    /// The keys; `None` while they are being opened.
    keys: Option<Keys>,
    idle: Vec<Ready>,
    in_use: usize,
    last_use: u64,
}

#[derive(Default)]
struct State {
    kept: Vec<Kept>,
    uses: u64,
}

impl State {
    fn bytes(&self) -> u64 {
        self.kept.iter().map(|kept| kept.bytes).sum()
    }

    /// Makes room for this number of bytes, if the keys that have to be removed are not in use.
    fn make_room(&mut self, bytes: u64, budget: u64) -> bool {
        let idle = |kept: &&Kept| kept.in_use == 0;
        let used: u64 = self.kept.iter().filter(|kept| !idle(kept)).map(|kept| kept.bytes).sum();
        if used + bytes > budget {
            return false;
        }
        while self.bytes() + bytes > budget {
            let oldest = self.kept.iter().filter(idle).map(|kept| kept.last_use).min();
            let Some(oldest) = oldest else { return false };
            self.kept.retain(|kept| kept.in_use > 0 || kept.last_use != oldest);
        }
        true
    }
}

pub(crate) struct KeyCache {
    objects: Arc<Objects>,
    opt_in: OptIn,
    budget: u64,
    /// Whether uniform halves stay seeds in memory.
    seeded_keys: bool,
    state: Mutex<State>,
    freed: Condvar,
}

/// A server for one job.
pub(crate) struct Lease<'a> {
    cache: &'a KeyCache,
    of: (Tenant, ObjectId),
    ready: Option<Ready>,
}

impl Lease<'_> {
    pub(crate) fn server(&self) -> &Server {
        &self.ready.as_ref().expect("it is taken when the lease ends").server
    }

    /// The lease with a server of these keys, for a job that `stop` can end.
    fn with(mut self, keys: Keys, stop: &Arc<Stop>) -> Result<Self, ServiceError> {
        match &self.ready {
            Some(ready) => {
                *ready.stop.write().unwrap_or_else(PoisonError::into_inner) = stop.clone();
            }
            None => {
                let asked = Arc::new(RwLock::new(stop.clone()));
                let asks = asked.clone();
                let keys = keys.cancelled_by(move || {
                    asks.read().unwrap_or_else(PoisonError::into_inner).check().is_err()
                });
                self.ready = Some(Ready { server: Server::with_keys(keys)?, stop: asked });
            }
        }
        Ok(self)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut state = self.cache.lock();
        if let Some(kept) = state.kept.iter_mut().find(|kept| kept.of == self.of) {
            kept.in_use -= 1;
            kept.idle.extend(self.ready.take());
        }
        // Whoever opens them is alone with them: it did not succeed, and the next one tries again.
        state.kept.retain(|kept| kept.of != self.of || kept.keys.is_some());
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

    fn lock(&self) -> MutexGuard<'_, State> {
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
        self.lease_opened(tenant, id, stop, |bytes| {
            self.objects.verify(tenant, id)?;
            self.open(&self.objects.file(tenant, id)?, bytes)
        })
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
            state.uses += 1;
            let now = state.uses;
            match state.kept.iter_mut().find(|kept| kept.of == of) {
                Some(Kept { keys: Some(keys), idle, in_use, last_use, .. }) => {
                    (*in_use, *last_use) = (*in_use + 1, now);
                    let (ready, keys) = (idle.pop(), keys.clone());
                    drop(state);
                    return Lease { cache: self, of, ready }.with(keys, stop);
                }
                // Another job opens them.
                Some(_) => {}
                None => {
                    if state.make_room(bytes, self.budget) {
                        let (of, keys, idle) = (of.clone(), None, Vec::new());
                        state.kept.push(Kept { of, bytes, keys, idle, in_use: 1, last_use: now });
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
        let kept = state.kept.iter_mut().find(|kept| kept.of == lease.of);
        kept.expect("what is in use stays").keys = Some(keys.clone());
        drop(state);
        self.freed.notify_all();
        lease.with(keys, stop)
    }

    /// Removes keys from memory if they are not in use.
    pub(crate) fn forget(&self, tenant: &Tenant, id: &ObjectId) {
        let of = (tenant.clone(), id.clone());
        self.lock().kept.retain(|kept| kept.of != of || kept.in_use > 0);
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
