//! Jobs on a CUDA device: its engines, and the copies of the server keys of tenants in its memory.
//!
//! One job at a time is computed there: all work of an engine is in one stream, so that a second
//! job would take memory and gain little. So nothing of other jobs is in use while one begins, and
//! every copy can make room for it.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everlevel::{Keys, Server};
use everlevel_gpu::{Gpu, GpuError};
use everlevel_remote::Told;
use everlevel_ring::{Engine, Ring};

use crate::config::Device;
use crate::error::ServiceError;
use crate::keys::KeyCache;
use crate::metrics::Metric;
use crate::ready::{Found, Ready, Work};
use crate::residents::{Of, Residents};
use crate::stop::Stop;

/// Of the memory that is free when the service starts, the part that copies of keys may take if
/// nothing is said: one half, as for a server alone (docs/adr/0083).
const KEYS_PART: u64 = 2;

/// The bytes that the copies of keys count at least: those of an empty plan hold an open file and a
/// parameter set, too.
const LEAST_BYTES: u64 = 1 << 20;

/// The copies of a tenant's server keys, and what bootstrapping has prepared beside them.
struct Copies {
    engine: Arc<Gpu>,
    ready: Ready<Gpu>,
    /// The bytes of all its keys, of which those are copied that jobs need.
    key_bytes: u64,
    /// The bytes that its jobs have left in the memory of the device.
    left: AtomicU64,
}

impl Copies {
    /// Adds what a job has left. Returns what all keys take, and what is there beside keys.
    fn add(&self, left: u64) -> u64 {
        let left = self.left.fetch_add(left, Ordering::Relaxed) + left;
        let copied = self.ready.server().evaluator().resident_key_bytes();
        self.key_bytes + left.saturating_sub(copied)
    }
}

/// Numbers of events since the service began.
#[derive(Default)]
struct Counts {
    /// Jobs that the device, and that the processor has computed.
    device: u64,
    processor: u64,
    dropped: u64,
    faults: u64,
}

#[derive(Default)]
struct State {
    copies: Residents<Arc<Copies>>,
    /// Whether a job computes.
    busy: bool,
    counts: Counts,
}

impl State {
    /// Drops the copies that were not used for the longest time until there is room for this number
    /// of bytes.
    fn make_room(&mut self, bytes: u64, budget: u64) {
        let before = self.copies.all().count();
        self.copies.make_room(bytes, budget);
        self.counts.dropped += (before - self.copies.all().count()) as u64;
    }

    /// Gives memory back that other engines than this one hold and do not use.
    fn trim_others(&self, engine: Option<&Arc<Gpu>>) {
        let other = |copies: &&Arc<Copies>| engine.is_none_or(|e| !Arc::ptr_eq(e, &copies.engine));
        self.copies.all().filter(other).for_each(|copies| copies.engine.trim());
    }
}

/// A device that computes jobs.
pub(crate) struct DeviceJobs {
    ordinal: u32,
    /// Bytes for copies.
    budget: u64,
    state: Mutex<State>,
    /// Notified when a job has left the device.
    freed: Condvar,
}

/// A job's time on the device.
struct Turn<'a>(&'a DeviceJobs);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.busy = false;
        if std::thread::panicking() {
            state.copies.clear();
        }
        drop(state);
        self.0.freed.notify_all();
    }
}

fn told(e: &GpuError) -> ServiceError {
    Told { code: e.code().into(), message: e.to_string() }.into()
}

impl DeviceJobs {
    /// Looks whether the device is there, and how much of its memory is free.
    pub(crate) fn open(device: &Device) -> Result<Self, ServiceError> {
        let ordinal = device.ordinal;
        let info = Gpu::look(ordinal).map_err(|e| told(&e))?;
        let budget = device.key_memory.unwrap_or(info.free_bytes / KEYS_PART);
        tracing::info!(device = ordinal, name = %info.name, key_bytes = budget, "computes jobs");
        let (state, freed) = (Mutex::default(), Condvar::new());
        Ok(DeviceJobs { ordinal, budget, state, freed })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes keys whose copies fit into the budget, and those that the processor computes with.
    pub(crate) fn check(&self, keys: &Keys) -> Result<(), ServiceError> {
        self.needed(keys).map(drop)
    }

    /// The bytes of the copies of keys; none if no device computes in their ring.
    fn needed(&self, keys: &Keys) -> Result<Option<u64>, ServiceError> {
        let params = keys.params();
        if !Gpu::computes_in(params.ring()) {
            return Ok(None);
        }
        let needed = keys.plan().expanded_bytes(params).max(LEAST_BYTES);
        let budget = self.budget;
        match needed > budget {
            true => Err(ServiceError::DeviceMemory { needed, budget }),
            false => Ok(Some(needed)),
        }
    }

    /// Does the work on the device; nothing is found if no device computes in the ring of the keys,
    /// or if the device has failed: the processor computes it then.
    pub(crate) fn run(
        &self,
        cache: &KeyCache,
        of: &Of,
        stop: &Arc<Stop>,
        work: &impl Work,
    ) -> Result<Option<Found>, ServiceError> {
        // A parameter set, which takes its time, is made for keys without copies only.
        let known = self.lock().copies.find(of).map(|kept| {
            let copies = &kept.held;
            (copies.key_bytes, copies.engine.ring().clone())
        });
        let wanted = match known {
            Some(known) => Some(known),
            None => {
                let keys = cache.peek(&of.0, &of.1)?;
                self.needed(&keys)?.map(|needed| (needed, keys.params().ring().clone()))
            }
        };
        let found = match wanted {
            Some((needed, ring)) => self.computed((cache, of, needed), &ring, stop, work)?,
            None => None,
        };
        let mut state = self.lock();
        match found {
            Some(_) => state.counts.device += 1,
            None => state.counts.processor += 1,
        }
        drop(state);
        Ok(found)
    }

    fn computed(
        &self,
        (cache, of, needed): (&KeyCache, &Of, u64),
        ring: &Arc<Ring>,
        stop: &Arc<Stop>,
        work: &impl Work,
    ) -> Result<Option<Found>, ServiceError> {
        let _turn = self.turn(stop)?;
        let engine = match self.engine(of, needed, ring) {
            Ok(engine) => engine,
            Err(error) => {
                self.failed(&error);
                return Ok(None);
            }
        };
        let before = engine.used_bytes();
        let copies = self.copies((cache, of, needed), &engine, stop);
        let outcome = copies.and_then(|copies| {
            let found = work.on(copies.ready.server());
            let bytes = copies.add(engine.used_bytes().saturating_sub(before));
            let mut state = self.lock();
            if let Some(kept) = state.copies.find(of) {
                kept.bytes = bytes;
            }
            // What it has left beside keys takes room, too.
            state.make_room(0, self.budget);
            found
        });
        // Whatever the job met, a fault of the engine is the reason, and what comes after it.
        if let Err(error) = engine.status() {
            self.failed(&error);
            return Ok(None);
        }
        outcome.map(Some)
    }

    /// Waits until no other job computes on the device.
    fn turn(&self, stop: &Stop) -> Result<Turn<'_>, ServiceError> {
        let mut state = self.lock();
        loop {
            stop.check()?;
            if !state.busy {
                state.busy = true;
                return Ok(Turn(self));
            }
            let waited = self.freed.wait_timeout(state, Duration::from_millis(200));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// An engine for a ring, which all copies of keys of this ring share, with room for copies of
    /// this number of bytes if these keys have none.
    fn engine(&self, of: &Of, bytes: u64, ring: &Arc<Ring>) -> Result<Arc<Gpu>, GpuError> {
        let known = {
            let mut state = self.lock();
            // Before they are dropped: other copies may be the last ones of the engine.
            let fits = |copies: &&Arc<Copies>| copies.engine.ring().same(ring);
            let known = state.copies.all().find(fits).map(|copies| copies.engine.clone());
            if state.copies.find(of).is_none() {
                state.make_room(bytes, self.budget);
            }
            state.trim_others(known.as_ref());
            known
        };
        match known {
            Some(engine) => Ok(engine),
            None => Gpu::new(ring.clone(), self.ordinal).map(Arc::new),
        }
    }

    /// The copies of some keys, which are made key by key as jobs need them, for a job that `stop`
    /// can end.
    fn copies(
        &self,
        (cache, of, key_bytes): (&KeyCache, &Of, u64),
        engine: &Arc<Gpu>,
        stop: &Arc<Stop>,
    ) -> Result<Arc<Copies>, ServiceError> {
        let known = self.lock().copies.used(of).map(|kept| kept.held.clone());
        if let Some(copies) = known {
            copies.ready.begin(stop);
            return Ok(copies);
        }
        // They are read from their file when they are copied: the processor keeps none.
        let keys = cache.verified(&of.0, &of.1, 0)?;
        let make = |keys: Keys| Server::with_engine(keys, engine.clone(), key_bytes);
        let ready = Ready::new(keys, stop, make)?;
        let (engine, left) = (engine.clone(), AtomicU64::new(0));
        let copies = Arc::new(Copies { engine, ready, key_bytes, left });
        self.lock().copies.put(of.clone(), key_bytes, copies.clone());
        Ok(copies)
    }

    /// Notes a fault. It ends all engines: the next job gets a new one.
    fn failed(&self, error: &impl Display) {
        tracing::error!(device = self.ordinal, %error, "failed: the processor computes the job");
        let mut state = self.lock();
        state.counts.faults += 1;
        state.copies.clear();
    }

    /// Drops the copies of keys that are deleted.
    pub(crate) fn forget(&self, of: &Of) {
        self.lock().copies.forget(of);
    }

    /// What the operator is shown.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let state = self.lock();
        let one = |value: u64| vec![("", value as f64)];
        let Counts { device, processor, dropped, faults } = &state.counts;
        let computed =
            vec![("{by=\"device\"}", *device as f64), ("{by=\"processor\"}", *processor as f64)];
        vec![
            (
                ("device_key_memory_bytes", "gauge"),
                "Memory of the device promised to copies of server keys.",
                one(state.copies.bytes()),
            ),
            (
                ("device_key_memory_budget_bytes", "gauge"),
                "Memory of the device for copies of server keys.",
                one(self.budget),
            ),
            (
                ("device_key_copies", "gauge"),
                "Server keys that have copies on the device.",
                one(state.copies.all().count() as u64),
            ),
            (
                ("device_key_copies_dropped_total", "counter"),
                "Server keys whose copies made room for others.",
                one(*dropped),
            ),
            (
                ("device_jobs_total", "counter"),
                "Jobs that were computed, by the device or instead of it.",
                computed,
            ),
            (("device_faults_total", "counter"), "Faults of the device.", one(*faults)),
        ]
    }
}
