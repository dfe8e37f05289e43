//! The engine's state, and how polynomials get memory.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_ring::cpu::{from_limbs, limbs};
use everlevel_ring::{Backend, Basis, Cpu, Limb, Poly, Representation, Ring, RingError};

use crate::arguments::{Arguments, Operand, Operation};
use crate::constants::Kept;
use crate::device::{Device, DeviceInfo};
use crate::error::GpuError;
use crate::library::Address;
use crate::memory::{Limbs, Pool, Recorder, Slab};
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
    /// What work that is being recorded uses instead.
    pub(crate) recorder: Mutex<Option<Recorder>>,
    /// The constants of the primes, and their twiddles.
    pub(crate) primes: Address,
    pub(crate) twiddles: Address,
    /// Memory that stays as long as the engine.
    kept: Mutex<Vec<Arc<Slab>>>,
    pub(crate) plans: Kept<Jobs, Plan>,
    /// Tables and matrices by their content.
    contents: Kept<Vec<u8>, Address>,
    pub(crate) transforms: AtomicU64,
    name: String,
}

impl Gpu {
    /// An engine on the device with this number, the first one being 0: compiles the kernels and
    /// copies the tables of the ring, 16 n bytes for each prime.
    ///
    /// # Errors
    /// `gpu.none` if there is no such device, no driver or no compiler; `gpu.ring` for a ring whose
    /// index is no power of two; `gpu.memory`; `gpu.fault`.
    pub fn new(ring: Arc<Ring>, ordinal: u32) -> Result<Self, GpuError> {
        if ring.axes().is_some() {
            return Err(GpuError::ring(ring.index()));
        }
        let host = Cpu::new(ring.clone(), Backend::detect());
        let host = host.map_err(|problem| GpuError::fault(problem.to_string()))?;
        let device = Arc::new(Device::open(ordinal)?);
        let mut gpu = Gpu {
            host,
            pool: Pool::new(device.clone()),
            recorder: Mutex::new(None),
            primes: 0,
            twiddles: 0,
            kept: Mutex::default(),
            plans: Kept::new(),
            contents: Kept::new(),
            transforms: AtomicU64::new(0),
            name: format!("cuda:{ordinal}"),
            device,
            ring,
        };
        let (primes, twiddles) = tables(&gpu.ring);
        let bytes = |words: &[u64]| words.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>();
        (gpu.primes, gpu.twiddles) =
            (gpu.constant(&bytes(&primes)), gpu.constant(&bytes(&twiddles)));
        gpu.device.status()?;
        Ok(gpu)
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

    /// Bytes of the device's memory that the engine holds, but for those of recordings.
    pub fn memory_bytes(&self) -> u64 {
        self.pool.bytes()
    }

    /// Copies a polynomial over another one with the same primes, in its memory: what a recording
    /// reads, for example.
    ///
    /// # Errors
    /// A fault of the device, now or before.
    ///
    /// # Panics
    /// If the primes differ.
    pub fn overwrite<R: Representation>(
        &self,
        target: &Poly<R, Gpu>,
        source: &Poly<R>,
    ) -> Result<(), GpuError> {
        assert_eq!(target.basis(), source.basis(), "polynomials of equal basis");
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

    /// Memory of unspecified content.
    pub(crate) fn slab(&self, words: usize) -> Arc<Slab> {
        let recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = recorder.as_ref().map_or(&self.pool, |recorder| &recorder.pool);
        Arc::new(pool.take(words))
    }

    /// Words in memory that later work leaves as they are: those of a recording are written now,
    /// not at each launch.
    pub(crate) fn lasting_slab(&self, words: &[u64]) -> Arc<Slab> {
        let recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match recorder {
            None => {
                let slab = self.slab(words.len());
                let _ = self.device.copy_in(slab.address(), words);
                slab
            }
            Some(recorder) => {
                // Never used before, so that nothing enqueued uses it.
                let slab = Arc::new(Pool::new(self.device.clone()).take(words.len()));
                let bytes: Vec<u8> = words.iter().flat_map(|x| x.to_ne_bytes()).collect();
                let _ = self.device.copy_constants(slab.address(), &bytes);
                let mut lasting = recorder.lasting.lock().unwrap_or_else(PoisonError::into_inner);
                lasting.push(slab.clone());
                slab
            }
        }
    }

    /// Bytes in memory that stay as long as the engine.
    pub(crate) fn constant(&self, bytes: &[u8]) -> Address {
        let slab = Arc::new(Pool::new(self.device.clone()).take(bytes.len().div_ceil(8)));
        let address = slab.address();
        if !bytes.is_empty() && address != 0 {
            let _ = self.device.copy_constants(address, bytes);
        }
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(slab);
        address
    }

    /// The same, once for equal bytes.
    pub(crate) fn kept_constant(&self, bytes: &[u8]) -> Address {
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

    /// Copies all limbs of a polynomial to the device.
    pub(crate) fn copy_limbs<R: Representation>(&self, at: Address, x: &Poly<R>) {
        for (k, limb) in limbs_of(x).enumerate() {
            let _ = self.device.copy_in(at + (k * limb.len() * 8) as u64, limb);
        }
    }

    /// A copy of a polynomial in the memory of the device.
    pub(crate) fn uploaded<R: Representation>(&self, x: &Poly<R>) -> Poly<R, Gpu> {
        let basis = x.basis();
        let slab = if self.device.records() {
            self.lasting_slab(&limbs_of(x).flatten().copied().collect::<Vec<u64>>())
        } else {
            let slab = self.slab(basis.len() * self.ring.degree());
            self.copy_limbs(slab.address(), x);
            slab
        };
        self.poly(basis, Limbs { slab, offset: 0, whole: basis })
    }

    /// A copy of a polynomial in the memory of the processor.
    pub(crate) fn downloaded<R: Representation>(
        &self,
        x: &Poly<R, Gpu>,
    ) -> Result<Poly<R>, RingError> {
        let (n, basis, source) = (self.ring.degree(), x.basis(), x.limbs());
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
