//! What the processor computes by.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use everlevel_arith::kernels::{self, Kernels};
use everlevel_arith::{ArithError, Backend, NttTable, Operations, TensorTable, packed_words};

use super::limb::{Limb, Limbs, Pool};
use super::timings::{Timer, Timings, Work};
use crate::basis::Basis;
use crate::error::RingError;
use crate::memory::Memory;
use crate::ring::Ring;

/// A ring with what the processor computes by: the kernels of one instruction set, the tables of
/// transforms for it, and the memory of polynomials, which is recycled. Share it (`Arc`).
///
/// The table of a prime is built by the first transform modulo it; whoever needs it meanwhile
/// waits.
pub struct Cpu {
    pub(super) ring: Arc<Ring>,
    pub(super) kernels: &'static Kernels,
    /// The transforms, prime by prime: a set is also made to be looked at, and what is computed on
    /// evaluations alone needs none.
    tables: Vec<OnceLock<Table>>,
    /// The transforms along the last axis, the last two, .., prime by prime: diagonals have values
    /// there only. Computed at their first use.
    pub(super) last_axes: Vec<Vec<OnceLock<Result<TensorTable, ArithError>>>>,
    pool: Arc<Pool>,
    /// That of packed limbs, which are shorter.
    packed: Arc<Pool>,
    transforms: AtomicU64,
    /// The least words of a task where regions are divided by places.
    pub(super) shortest_block: usize,
}

/// The transform modulo one prime, by the kind of the index.
enum Table {
    PowerOfTwo(Box<NttTable>),
    Axes(Box<TensorTable>),
}

impl Table {
    /// That of the prime at `position`, see [`NttTable::new`] and [`TensorTable::new`].
    ///
    /// # Errors
    /// A backend that this processor lacks. What else these refuse, no ring has: [`Ring::new`]
    /// checks that the index is in their range, and that its primes are prime and 1 modulo what
    /// they need, so that there are the roots of unity.
    #[cold]
    fn new(ring: &Ring, position: usize, backend: Backend) -> Result<Self, ArithError> {
        let (q, root) = (ring.modulus(position), ring.root(position));
        Ok(match ring.axes() {
            None => {
                let log_degree = ring.degree().trailing_zeros();
                Table::PowerOfTwo(Box::new(NttTable::new(q, log_degree, root, backend)?))
            }
            Some(axes) => Table::Axes(Box::new(TensorTable::new(q, axes, root, backend)?)),
        })
    }
}

/// Words that one kernel call covers where several passes go over the same words.
pub(super) const CHUNK: usize = 2048;

/// The least words of a block, unless a [`Cpu`] was given another number: whole vectors, and work
/// that takes longer than to hand it over.
pub(super) const SHORTEST_BLOCK: usize = CHUNK / 2;

/// Places in order, `words` of them at a time.
pub(super) fn chunks(places: Range<usize>, words: usize) -> impl Iterator<Item = Range<usize>> {
    let end = places.end;
    places.step_by(words).map(move |start| start..(start + words).min(end))
}

impl Cpu {
    /// For a ring. Nothing is computed yet.
    ///
    /// # Errors
    /// A backend that this processor lacks.
    pub fn new(ring: Arc<Ring>, backend: Backend) -> Result<Self, RingError> {
        let axes = ring.axes().map_or(0, |axes| axes.all().len());
        let unset = |_| (0..ring.prime_count()).map(|_| OnceLock::new()).collect();
        Ok(Cpu {
            kernels: kernels::on(backend)?,
            tables: (0..ring.prime_count()).map(|_| OnceLock::new()).collect(),
            last_axes: (0..axes).map(unset).collect(),
            pool: Arc::new(Pool::default()),
            packed: Arc::new(Pool::default()),
            transforms: AtomicU64::new(0),
            shortest_block: SHORTEST_BLOCK,
            ring,
        })
    }

    /// The same with another least number of words of a task, for operations that are divided by
    /// places because there are many threads for few primes: small ones let tests divide small
    /// rings. Results do not depend on it.
    pub fn with_shortest_block(self, words: usize) -> Self {
        Cpu { shortest_block: words.max(1), ..self }
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// The instruction set.
    pub fn backend(&self) -> Backend {
        self.kernels.backend()
    }

    /// The kernels of the instruction set.
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    /// The transform modulo the prime at `position`, built if it is not there yet.
    fn table(&self, position: usize) -> &Table {
        let build = || {
            Table::new(&self.ring, position, self.backend())
                .expect("a ring has what transforms need, and the backend was found before")
        };
        self.tables[position].get_or_init(build)
    }

    /// Coefficients to evaluations modulo the prime at `position`; inputs below four times the
    /// prime.
    pub fn forward_limb(&self, position: usize, limb: &mut [u64]) {
        let table = self.table(position);
        let _timer = self.time(Work::Transforms);
        self.transforms.fetch_add(1, Ordering::Relaxed);
        match table {
            Table::PowerOfTwo(table) => table.forward(limb),
            Table::Axes(table) => table.forward(limb),
        }
    }

    /// Evaluations to coefficients modulo the prime at `position`.
    pub fn inverse_limb(&self, position: usize, limb: &mut [u64]) {
        let table = self.table(position);
        let _timer = self.time(Work::Transforms);
        self.transforms.fetch_add(1, Ordering::Relaxed);
        match table {
            Table::PowerOfTwo(table) => table.inverse(limb),
            Table::Axes(table) => table.inverse(limb),
        }
    }

    /// What one transform of a limb computes.
    pub fn transform_operations(&self) -> Operations {
        if self.tables.is_empty() {
            return Operations::default();
        }
        match self.table(0) {
            Table::PowerOfTwo(table) => table.operations(),
            Table::Axes(table) => table.operations(),
        }
    }

    /// How many transforms of one limb there were so far.
    pub fn transform_count(&self) -> u64 {
        self.transforms.load(Ordering::Relaxed)
    }

    /// Where its time goes, from when that is started.
    pub fn timings(&self) -> &Timings {
        &self.pool.timings
    }

    /// Measures the time until the timer is dropped, if timings are enabled.
    pub(super) fn time(&self, work: Work) -> Option<Timer<'_>> {
        self.pool.timings.time(work)
    }

    /// A limb of unspecified content.
    pub fn limb(&self) -> Limb {
        Limb::uninit(&self.pool, self.ring.degree())
    }

    /// What holds the residues of a limb packed, of unspecified content.
    pub(super) fn packed_limb(&self) -> Limb {
        Limb::uninit(&self.packed, packed_words(self.ring.degree()))
    }

    /// A limb of zeros.
    pub fn zero_limb(&self) -> Limb {
        Limb::zero(&self.pool, self.ring.degree())
    }
}

impl Memory for Cpu {
    type Limbs = Limbs;

    fn restrict(limbs: &Limbs, from: Basis, to: Basis) -> Limbs {
        let kept = from.iter().zip(&limbs.0).filter(|(i, _)| to.contains(*i));
        Limbs(kept.map(|(_, limb)| limb.clone()).collect())
    }
}

impl std::fmt::Debug for Cpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cpu({:?}, {})", self.ring, self.backend())
    }
}

#[cfg(test)]
mod tests {
    use everlevel_arith::primes;

    use super::*;

    /// A ring over this many of the largest primes below 2^50.
    fn ring(index: u64, count: usize) -> Arc<Ring> {
        let step = Ring::prime_step(index).unwrap();
        let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << 50).take(count).collect();
        Arc::new(Ring::new(index, &moduli).unwrap())
    }

    /// Which primes have their table.
    fn built(cpu: &Cpu) -> Vec<bool> {
        cpu.tables.iter().map(|table| table.get().is_some()).collect()
    }

    fn words(ring: &Ring, position: usize) -> Vec<u64> {
        let q = ring.modulus(position);
        (1..=ring.degree() as u64).map(|k| q.reduce_u64(k.wrapping_pow(5))).collect()
    }

    /// Of both kinds of indices, the smallest and the largest power of two among them, on every
    /// backend: what building a table could refuse, `Ring::new` or `Cpu::new` has.
    #[test]
    fn whatever_ring_there_is_has_its_tables() {
        for index in [1 << 5, 1 << 8, 1 << 18, 7, 45, 105, 16 * 15] {
            let ring = ring(index, 1);
            for backend in Backend::ALL {
                let cpu = Cpu::new(ring.clone(), backend);
                assert_eq!(cpu.is_ok(), backend.is_available(), "{index}, {backend}");
                let Ok(cpu) = cpu else { continue };
                assert_eq!(cpu.backend(), backend);
                let given = words(&ring, 0);
                let mut limb = given.clone();
                cpu.forward_limb(0, &mut limb);
                assert_ne!(limb, given, "{index}, {backend}");
                cpu.inverse_limb(0, &mut limb);
                assert_eq!(limb, given, "{index}, {backend}");
            }
        }
    }

    #[test]
    fn only_primes_that_are_transformed_modulo_have_tables() {
        for index in [1 << 8, 105] {
            let cpu = Cpu::new(ring(index, 3), Backend::detect()).unwrap();
            cpu.limb().fill(1);
            assert_eq!(built(&cpu), [false; 3]);
            cpu.forward_limb(1, &mut words(cpu.ring(), 1));
            assert_eq!(built(&cpu), [false, true, false]);
            cpu.inverse_limb(1, &mut words(cpu.ring(), 1));
            cpu.inverse_limb(2, &mut words(cpu.ring(), 2));
            assert_eq!(built(&cpu), [false, true, true]);
            assert_eq!(cpu.transform_count(), 3);
            // Counted by the first prime, for all are alike.
            let operations = cpu.transform_operations();
            assert!(operations.butterflies + operations.products > 0);
            assert_eq!(built(&cpu), [true; 3]);
        }
        let none = Cpu::new(ring(1 << 8, 0), Backend::detect()).unwrap();
        assert_eq!(none.transform_operations().butterflies, 0);
    }

    /// Threads that come at the same time wait for one table, and have the same values.
    #[test]
    fn a_table_that_several_ask_for_is_one() {
        let ring = ring(1 << 12, 1);
        let given = words(&ring, 0);
        let mut expected = given.clone();
        Cpu::new(ring.clone(), Backend::Portable).unwrap().forward_limb(0, &mut expected);
        for _ in 0..20 {
            let cpu = Cpu::new(ring.clone(), Backend::detect()).unwrap();
            let start = std::sync::Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let mut limb = given.clone();
                        start.wait();
                        cpu.forward_limb(0, &mut limb);
                        assert_eq!(limb, expected);
                    });
                }
            });
            assert_eq!(cpu.transform_count(), 4);
        }
    }
}
