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
/// all transforms for it, and the memory of polynomials, which is recycled. Share it (`Arc`).
pub struct Cpu {
    pub(super) ring: Arc<Ring>,
    pub(super) kernels: &'static Kernels,
    tables: Vec<Table>,
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
    /// Builds the tables of a ring.
    ///
    /// # Errors
    /// A backend that this processor lacks.
    pub fn new(ring: Arc<Ring>, backend: Backend) -> Result<Self, RingError> {
        let table = |i: usize| {
            let (q, root) = (ring.modulus(i), ring.root(i));
            Ok(match ring.axes() {
                None => {
                    let log_degree = ring.degree().trailing_zeros();
                    Table::PowerOfTwo(Box::new(NttTable::new(q, log_degree, root, backend)?))
                }
                Some(axes) => Table::Axes(Box::new(TensorTable::new(q, axes, root, backend)?)),
            })
        };
        let axes = ring.axes().map_or(0, |axes| axes.all().len());
        let unset = |_| (0..ring.prime_count()).map(|_| OnceLock::new()).collect();
        Ok(Cpu {
            kernels: kernels::on(backend)?,
            tables: (0..ring.prime_count()).map(table).collect::<Result<_, RingError>>()?,
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

    /// Coefficients to evaluations modulo the prime at `position`; inputs below four times the
    /// prime.
    pub fn forward_limb(&self, position: usize, limb: &mut [u64]) {
        let _timer = self.time(Work::Transforms);
        self.transforms.fetch_add(1, Ordering::Relaxed);
        match &self.tables[position] {
            Table::PowerOfTwo(table) => table.forward(limb),
            Table::Axes(table) => table.forward(limb),
        }
    }

    /// Evaluations to coefficients modulo the prime at `position`.
    pub fn inverse_limb(&self, position: usize, limb: &mut [u64]) {
        let _timer = self.time(Work::Transforms);
        self.transforms.fetch_add(1, Ordering::Relaxed);
        match &self.tables[position] {
            Table::PowerOfTwo(table) => table.inverse(limb),
            Table::Axes(table) => table.inverse(limb),
        }
    }

    /// What one transform of a limb computes.
    pub fn transform_operations(&self) -> Operations {
        match self.tables.first() {
            None => Operations::default(),
            Some(Table::PowerOfTwo(table)) => table.operations(),
            Some(Table::Axes(table)) => table.operations(),
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
