//! The engine's state, and how polynomials get memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use everlevel_ring::cpu::{from_limbs, limbs};
use everlevel_ring::{Backend, Basis, Cpu, Limb, Poly, Representation, Ring, RingError};

use crate::arguments::{Arguments, Operand, Operation};
use crate::constants::{Kept, bytes};
use crate::device::{Device, DeviceInfo};
use crate::error::GpuError;
use crate::library::Address;
use crate::memory::{Held, Limbs, Pool, Slab};
use crate::plan::{Jobs, Plan};
use crate::tables::tables;

/// Threads of a block where each has one place.
const THREADS: u32 = 256;

/// An engine on a CUDA device.
pub struct Gpu {
    pub(crate) ring: Arc<Ring>,
    /// What polynomials are made in that come and go.
    pub(crate) host: Cpu,
    pub(crate) device: Arc<Device>,
    pool: Arc<Pool>,
    /// The constants of the primes, and their twiddles.
    pub(crate) primes: Address,
    pub(crate) twiddles: Address,
    /// What these are in.
    tables: Vec<Arc<Slab>>,
    pub(crate) plans: Kept<Jobs, Plan>,
    /// Tables and matrices by their content.
    contents: Kept<Vec<u8>, Arc<Slab>>,
    constant_bytes: Arc<AtomicU64>,
    pub(crate) transforms: AtomicU64,
    name: String,
}

impl Gpu {
    /// An engine on the device with this number, the first one being 0: compiles the kernels,
    /// unless this process has done so for such a device, and copies the tables of the ring, 16 n
    /// bytes for each prime.
    ///
    /// # Errors
    /// `gpu.none` if there is no such device, no driver or no compiler; `gpu.ring` for a ring whose
    /// index is no power of two; `gpu.memory`; `gpu.fault`.
    pub fn new(ring: Arc<Ring>, ordinal: u32) -> Result<Self, GpuError> {
        if !Gpu::computes_in(&ring) {
            return Err(GpuError::ring(ring.index()));
        }
        let host = Cpu::new(ring.clone(), Backend::detect());
        let host = host.map_err(|problem| GpuError::fault(problem.to_string()))?;
        let device = Arc::new(Device::open(ordinal)?);
        let mut gpu = Gpu {
            host,
            pool: Pool::new(device.clone()),
            primes: 0,
            twiddles: 0,
            tables: Vec::new(),
            plans: Kept::new(Plan::bytes),
            contents: Kept::new(|slab: &Arc<Slab>| slab.bytes()),
            constant_bytes: Arc::default(),
            transforms: AtomicU64::new(0),
            name: format!("cuda:{ordinal}"),
            device,
            ring,
        };
        let (primes, twiddles) = tables(&gpu.ring);
        gpu.tables = [primes, twiddles].map(|words| gpu.constant(&bytes(words))).into();
        (gpu.primes, gpu.twiddles) = (gpu.tables[0].address(), gpu.tables[1].address());
        gpu.device.status()?;
        Ok(gpu)
    }

    /// Whether an engine can compute in a ring: its index has to be a power of two.
    pub fn computes_in(ring: &Ring) -> bool {
        ring.axes().is_none()
    }

    /// What the device with this number is. It is opened, and the kernels are compiled for it, as
    /// by [`Gpu::new`].
    ///
    /// # Errors
    /// `gpu.none`, as [`Gpu::new`].
    pub fn look(ordinal: u32) -> Result<DeviceInfo, GpuError> {
        Ok(Device::open(ordinal)?.info().clone())
    }

    /// What the device is.
    pub fn device(&self) -> &DeviceInfo {
        self.device.info()
    }

    pub(crate) fn engine_name(&self) -> &str {
        &self.name
    }

    /// Waits until all that was enqueued is done.
    ///
    /// # Errors
    /// A fault of the device, now or before.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.device.synchronize()
    }

    /// Bytes of the device's memory that the engine holds, but for those of constants and of
    /// recordings.
    pub fn memory_bytes(&self) -> u64 {
        self.pool.bytes()
    }

    /// Of these, the bytes that something uses; the others wait to be used again.
    pub fn used_bytes(&self) -> u64 {
        self.pool.used_bytes()
    }

    /// Gives memory that waits to be used again back to the device, as for another engine.
    pub fn trim(&self) {
        self.pool.trim();
    }

    /// Bytes of constants on the device: the tables of the ring, 16 n for each prime, and those of
    /// conversions, matrices and linear maps, of either at most 16 MiB that no recording uses.
    pub fn constant_bytes(&self) -> u64 {
        self.constant_bytes.load(Ordering::Relaxed)
    }

    /// Copies a polynomial over another one with the same primes, in its memory, which copies of it
    /// share: what a recording reads, for example.
    ///
    /// # Errors
    /// A fault of the device, now or before.
    ///
    /// # Panics
    /// If the primes or the numbers of coefficients differ.
    pub fn overwrite<R: Representation>(
        &self,
        target: &Poly<R, Gpu>,
        source: &Poly<R>,
    ) -> Result<(), GpuError> {
        assert_eq!(target.basis(), source.basis(), "polynomials of equal basis");
        assert_eq!(target.degree(), source.degree(), "polynomials of one ring");
        let limbs = target.limbs();
        for (i, limb) in source.basis().iter().zip(limbs_of(source)) {
            let rank = limbs.whole.limb_of(i).expect("a prime of the polynomial");
            self.device.copy_in(limbs.address() + (rank * limb.len() * 8) as u64, limb)?;
        }
        Ok(())
    }

    /// A fault as the trait reports it.
    pub(crate) fn failed(&self, error: GpuError) -> RingError {
        RingError::Engine { engine: self.name.clone(), problem: error.to_string() }
    }

    /// Enqueues a kernel. A fault is noted, and no result gets out.
    pub(crate) fn launch<A: Arguments>(&self, a: &A, grid: [u32; 3], threads: u32, shared: u32) {
        // The device keeps the first fault.
        let _ = self.device.launch(a, grid, threads, shared);
    }

    /// Blocks and threads of a block, a place for each thread.
    pub(crate) fn places(&self) -> (u32, u32) {
        let n = self.ring.degree() as u32;
        (n.div_ceil(THREADS), THREADS.min(n))
    }

    /// Enqueues a kernel over all places of the limbs of a basis.
    pub(crate) fn over<A: Arguments>(&self, arguments: &A, basis: Basis) {
        if basis.is_empty() {
            return;
        }
        let (blocks, threads) = self.places();
        self.launch(arguments, [blocks, basis.len() as u32, 1], threads, 0);
    }

    /// What keeps the memory of work that is recorded.
    pub(crate) fn held(&self) -> Arc<Held> {
        let held = Held::new(&self.pool);
        self.tables.iter().for_each(|table| held.keep(table));
        held
    }

    /// Memory of unspecified content.
    pub(crate) fn slab(&self, words: usize) -> Arc<Slab> {
        let recorded = Held::of(&self.device);
        let pool = recorded.as_ref().map_or(&self.pool, |held| &held.pool);
        Arc::new(pool.take(words))
    }

    /// Words in memory that later work leaves as they are: those of a recording are written now,
    /// not at each launch.
    pub(crate) fn lasting_slab(&self, words: &[u64]) -> Arc<Slab> {
        if self.device.recorded().is_some() {
            return self.constant(&bytes(words.iter().copied()));
        }
        let slab = self.slab(words.len());
        let _ = self.device.copy_in(slab.address(), words);
        slab
    }

    /// Bytes in memory of their own, which nothing enqueued has used before.
    pub(crate) fn constant(&self, bytes: &[u8]) -> Arc<Slab> {
        let pool = self.pool.beside(self.constant_bytes.clone(), true);
        let slab = Arc::new(pool.take(bytes.len().div_ceil(8)));
        let address = slab.address();
        if !bytes.is_empty() && address != 0 {
            let _ = self.device.copy_constants(address, bytes);
        }
        slab
    }

    /// The same, once for equal bytes that are used often enough.
    pub(crate) fn kept_constant(&self, bytes: &[u8]) -> Arc<Slab> {
        self.contents.get(&bytes.to_vec(), || self.constant(bytes))
    }

    /// Limbs of unspecified content.
    pub(crate) fn limbs(&self, basis: Basis) -> Limbs {
        let slab = self.slab(basis.len() * self.ring.degree());
        Limbs { slab, offset: 0, whole: basis }
    }

    pub(crate) fn poly<R: Representation>(&self, basis: Basis, limbs: Limbs) -> Poly<R, Gpu> {
        Poly::new(basis, self.ring.degree(), limbs)
    }

    /// Writes zeros.
    pub(crate) fn clear_words(&self, at: Address, words: usize) {
        if words > 0 && at != 0 {
            let _ = self.device.clear(at, words * size_of::<u64>());
        }
    }

    pub(crate) fn clear(&self, limbs: &Limbs, basis: Basis) {
        self.clear_words(limbs.address(), basis.len() * self.ring.degree());
    }

    /// Writes zeros to the limbs of some primes.
    pub(crate) fn clear_limbs(&self, (at, whole): (Address, Basis), basis: Basis) {
        let n = self.ring.degree();
        for i in basis.iter() {
            let rank = whole.limb_of(i).expect("a prime of the polynomial");
            self.clear_words(at + (rank * n * 8) as u64, n);
        }
    }

    /// Gives a polynomial memory of its own.
    pub(crate) fn make_own<R: Representation>(&self, x: &mut Poly<R, Gpu>) {
        self.change(Operation::Copy, x, [Operand::default(); 2], |_| 0);
    }

    /// Copies of `count` polynomials over one basis in the memory of the device, one after the
    /// other.
    pub(crate) fn resident<R: Representation>(
        &self,
        basis: Basis,
        count: usize,
        polys: impl Iterator<Item = Poly<R>>,
    ) -> Limbs {
        let n = self.ring.degree();
        let words = count * basis.len() * n;
        if self.device.recorded().is_some() {
            let mut all = Vec::with_capacity(words);
            polys.for_each(|x| limbs_of(&x).for_each(|limb| all.extend_from_slice(limb)));
            return Limbs { slab: self.lasting_slab(&all), offset: 0, whole: basis };
        }
        let slab = self.slab(words);
        for (k, x) in polys.enumerate() {
            let at = slab.address() + (k * basis.len() * n * 8) as u64;
            for (i, limb) in limbs_of(&x).enumerate() {
                let _ = self.device.copy_in(at + (i * n * 8) as u64, limb);
            }
        }
        Limbs { slab, offset: 0, whole: basis }
    }

    /// A copy of a polynomial in the memory of the device.
    pub(crate) fn uploaded<R: Representation>(&self, x: &Poly<R>) -> Poly<R, Gpu> {
        let basis = x.basis();
        self.poly(basis, self.resident(basis, 1, std::iter::once(x.clone())))
    }

    /// A copy of a polynomial in the memory of the processor.
    pub(crate) fn downloaded<R: Representation>(
        &self,
        x: &Poly<R, Gpu>,
    ) -> Result<Poly<R>, RingError> {
        let (n, basis, source) = (self.ring.degree(), x.basis(), x.limbs());
        // What work that is recorded downloads is a fault.
        if self.device.recorded().is_none() && !source.slab.is_written() {
            return Err(self.failed(GpuError::unlaunched()));
        }
        let limb = |i: usize| -> Result<Limb, GpuError> {
            let rank = source.whole.limb_of(i).expect("a prime of the polynomial");
            let mut limb = self.host.limb();
            self.device.copy_out(&mut limb, source.address() + (rank * n * 8) as u64)?;
            Ok(limb)
        };
        let limbs = basis.iter().map(limb).collect::<Result<_, _>>();
        Ok(from_limbs(&self.host, basis, limbs.map_err(|error| self.failed(error))?))
    }
}

/// The limbs of a polynomial of the processor, as words.
fn limbs_of<R: Representation>(x: &Poly<R>) -> impl Iterator<Item = &[u64]> {
    limbs(x).iter().map(|limb| &limb[..])
}
