//! Memory of the device, which is recycled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_ring::Basis;

use crate::arguments::{Operand, mask};
use crate::device::Device;
use crate::error::GpuError;
use crate::library::Address;

/// Memory by size. As all work is in one stream, a slab may be used again as soon as it is dropped:
/// what uses it next is enqueued after what used it last.
pub(crate) struct Pool {
    device: Arc<Device>,
    free: Mutex<HashMap<usize, Vec<Address>>>,
    bytes: AtomicU64,
}

/// A piece of memory, given back when it is dropped.
pub(crate) struct Slab {
    address: Address,
    words: usize,
    pool: Arc<Pool>,
}

impl Pool {
    pub(crate) fn new(device: Arc<Device>) -> Arc<Self> {
        Arc::new(Pool { device, free: Mutex::default(), bytes: AtomicU64::new(0) })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Vec<Address>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory of unspecified content. After a fault it has none, and nothing is enqueued.
    pub(crate) fn take(self: &Arc<Self>, words: usize) -> Slab {
        let recycled = self.free().get_mut(&words).and_then(Vec::pop);
        let address = recycled.unwrap_or_else(|| self.allocate(words).unwrap_or_default());
        Slab { address, words, pool: self.clone() }
    }

    fn allocate(&self, words: usize) -> Result<Address, GpuError> {
        let bytes = words.max(1) * size_of::<u64>();
        let found = match self.device.allocate(bytes)? {
            Some(address) => Some(address),
            None => {
                self.trim();
                self.device.allocate(bytes)?
            }
        };
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        found.ok_or_else(|| self.device.fail(GpuError::memory(bytes as u64)))
    }

    /// Gives unused memory back to the device.
    fn trim(&self) {
        let unused = std::mem::take(&mut *self.free());
        let bytes: usize = unused.iter().map(|(words, all)| words.max(&1) * 8 * all.len()).sum();
        self.bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.device.free(unused.into_values().flatten());
    }

    /// Bytes taken from the device.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.trim();
    }
}

impl Slab {
    pub(crate) fn address(&self) -> Address {
        self.address
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        if self.address != 0 {
            self.pool.free().entry(self.words).or_default().push(self.address);
        }
    }
}

/// The residues of one polynomial: limbs one after the other in the order of the basis that they
/// were made for, of which a polynomial may have fewer primes.
#[derive(Clone)]
pub struct Limbs {
    pub(crate) slab: Arc<Slab>,
    /// Where they begin, in words.
    pub(crate) offset: usize,
    /// The primes that there are limbs for.
    pub(crate) whole: Basis,
}

impl Limbs {
    pub(crate) fn address(&self) -> Address {
        self.slab.address() + (self.offset * size_of::<u64>()) as u64
    }

    pub(crate) fn operand(&self) -> Operand {
        Operand { words: self.address(), mask: mask(self.whole) }
    }

    /// Whether they can be written without a copy, all of them being those of `basis`.
    pub(crate) fn own(&self, basis: Basis) -> bool {
        self.whole == basis && Arc::strong_count(&self.slab) == 1
    }
}

/// What recorded work uses: no other work is given this memory.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) pool: Arc<Pool>,
    /// Memory that was written when the work was recorded, and must stay as it was.
    pub(crate) lasting: Arc<Mutex<Vec<Arc<Slab>>>>,
}
