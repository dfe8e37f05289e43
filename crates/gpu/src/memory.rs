//! Memory of the device, which is recycled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_ring::Basis;

use crate::arguments::{Operand, mask};
use crate::device::Device;
use crate::error::GpuError;
use crate::library::Address;

/// What the driver takes at least for a piece of memory.
const LEAST_BYTES: u64 = 512;

/// Memory by size. As all work is in one stream, a slab may be used again as soon as it is dropped:
/// what uses it next is enqueued after what used it last.
pub(crate) struct Pool {
    device: Arc<Device>,
    free: Mutex<HashMap<usize, Vec<Address>>>,
    /// Bytes taken from the device, which several pools may count together.
    bytes: Arc<AtomicU64>,
    /// Another one, whose unused memory is given back, too, if the device has no more.
    main: Option<Arc<Pool>>,
    /// Whether what writes its memory has been enqueued: not so for recorded work that was never
    /// launched.
    written: AtomicBool,
}

/// A piece of memory, given back when it is dropped.
pub(crate) struct Slab {
    address: Address,
    words: usize,
    pool: Arc<Pool>,
}

impl Pool {
    pub(crate) fn new(device: Arc<Device>) -> Arc<Self> {
        Arc::new(Pool {
            device,
            free: Mutex::default(),
            bytes: Arc::default(),
            main: None,
            written: AtomicBool::new(true),
        })
    }

    /// A pool beside this one, which shares no memory with it; its bytes are counted in `bytes`.
    pub(crate) fn beside(self: &Arc<Self>, bytes: Arc<AtomicU64>, written: bool) -> Arc<Self> {
        Arc::new(Pool {
            device: self.device.clone(),
            free: Mutex::default(),
            bytes,
            main: Some(self.clone()),
            written: AtomicBool::new(written),
        })
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
                if let Some(main) = &self.main {
                    main.trim();
                }
                self.device.allocate(bytes)?
            }
        };
        let address = found.ok_or_else(|| self.device.fail(GpuError::memory(bytes as u64)))?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(address)
    }

    /// Gives unused memory back to the device.
    pub(crate) fn trim(&self) {
        let unused = std::mem::take(&mut *self.free());
        self.bytes.fetch_sub(bytes_of(&unused), Ordering::Relaxed);
        self.device.free(unused.into_values().flatten().collect());
    }

    /// Of the bytes taken from the device, those of slabs.
    pub(crate) fn used_bytes(&self) -> u64 {
        let free = self.free();
        self.bytes().saturating_sub(bytes_of(&free))
    }

    /// Bytes taken from the device.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Notes that what writes its memory has been enqueued.
    pub(crate) fn set_written(&self) {
        self.written.store(true, Ordering::Release);
    }

    /// Whether it has been.
    pub(crate) fn is_written(&self) -> bool {
        self.written.load(Ordering::Acquire)
    }
}

/// The bytes of memory by size.
fn bytes_of(free: &HashMap<usize, Vec<Address>>) -> u64 {
    let bytes = |(words, all): (&usize, &Vec<Address>)| words.max(&1) * 8 * all.len();
    free.iter().map(bytes).sum::<usize>() as u64
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.trim();
    }
}

impl Slab {
    /// Where it is, for work that is enqueued. A recording of this work keeps it. What another
    /// recording is to write, and was never launched, is a fault.
    pub(crate) fn address(self: &Arc<Self>) -> Address {
        let recorded = Held::of(&self.pool.device);
        let own = recorded.as_ref().is_some_and(|held| Arc::ptr_eq(&held.pool, &self.pool));
        if !own && !self.is_written() {
            self.pool.device.fail(GpuError::unwritten());
        }
        if let Some(held) = recorded {
            held.keep(self);
        }
        self.address
    }

    /// Whether work of this thread may write it: recorded work, which is launched again, leaves all
    /// memory but its own as it is.
    fn is_writable(&self) -> bool {
        Held::of(&self.pool.device).is_none_or(|held| Arc::ptr_eq(&held.pool, &self.pool))
    }

    /// See [`Pool::is_written`].
    pub(crate) fn is_written(&self) -> bool {
        self.pool.is_written()
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        ((self.words * size_of::<u64>()) as u64).max(LEAST_BYTES)
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
        self.whole == basis && Arc::strong_count(&self.slab) == 1 && self.slab.is_writable()
    }
}

/// What recorded work uses, which has to be there as long as it can be launched.
pub(crate) struct Held {
    /// Memory that no other work is given.
    pub(crate) pool: Arc<Pool>,
    /// What it reads of other memory, by address.
    others: Mutex<HashMap<Address, Arc<Slab>>>,
}

impl Held {
    /// Memory for recorded work, beside the pool of other work.
    pub(crate) fn new(main: &Arc<Pool>) -> Arc<Self> {
        Arc::new(Held { pool: main.beside(Arc::default(), false), others: Mutex::default() })
    }

    /// What keeps the memory of this thread's work on a device, if that is recorded.
    pub(crate) fn of(device: &Device) -> Option<Arc<Self>> {
        device.recorded()?.downcast().ok()
    }

    /// Keeps memory that the work uses.
    pub(crate) fn keep(&self, slab: &Arc<Slab>) {
        if !Arc::ptr_eq(&slab.pool, &self.pool) {
            let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
            others.entry(slab.address).or_insert_with(|| slab.clone());
        }
    }
}
