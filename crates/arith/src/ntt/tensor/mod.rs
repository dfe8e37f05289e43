//! The transform of rings whose index is no power of two: a correlation over the group of units
//! modulo m.
//!
//! [`plan`] says why, and what the transform along a line consists of; [`small`] and [`large`] hold
//! its stages, and [`sweep`] takes the lines of a buffer through them.

mod large;
mod plan;
mod small;
pub(crate) mod sweep;

use super::scalar::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::arch::{avx2::Avx2, avx512::Avx512, lanes::Lanes};
use crate::axes::Axes;
use crate::backend::Backend;
#[cfg(target_arch = "x86_64")]
use crate::compiled;
use crate::error::ArithError;
use crate::memory::CacheLine;
use crate::modulus::Modulus;
use crate::operations::Operations;
use crate::primes;
use std::cell::RefCell;
use sweep::Plan;

/// The transform of Z\[X\]/Φ_m(X), m no power of two, modulo one prime, in the orders of
/// [`crate::axes`].
///
/// For square-free m a transform costs two Fourier transforms over the group of units, of length
/// φ(m) and with radices the prime factors of l - 1 for all primes l of m (Rader 1968, Good and
/// Thomas), and one product per axis. An axis of a prime power N costs φ(N) products a word. The
/// tables take a few words for every place of every axis; the matrix of an axis N, 2 φ(N)².
pub struct TensorTable {
    modulus: Modulus,
    axes: Axes,
    root: u64,
    plan: Plans,
}

/// The tables for the backend that does the work, which the processor was found to have.
enum Plans {
    Portable(Plan<Scalar>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Plan<<Avx2 as Lanes>::Transform>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Plan<<Avx512 as Lanes>::Transform>),
}

thread_local! {
    /// Lines on their way through a transform.
    static SCRATCH: RefCell<Vec<CacheLine>> = const { RefCell::new(Vec::new()) };
}

impl TensorTable {
    /// Prepares transforms modulo the prime q with ζ = `root`, a primitive m-th root of unity.
    ///
    /// # Errors
    /// [`ArithError::NoGroupRoot`] unless q is a prime that is 1 modulo [`Axes::transform_order`]
    /// and `root` is a primitive m-th root of unity; [`ArithError::MissingBackend`].
    pub fn new(
        modulus: Modulus,
        axes: &Axes,
        root: u64,
        backend: Backend,
    ) -> Result<Self, ArithError> {
        backend.check()?;
        let (q, order) = (modulus.value(), axes.transform_order());
        let primitive = modulus.pow(root, axes.index()) == 1
            && axes.all().iter().all(|a| modulus.pow(root, axes.index() / a.prime) != 1);
        if q % order != 1 || !primes::is_prime(q) || root >= q || !primitive {
            return Err(ArithError::NoGroupRoot { modulus: q, order });
        }
        let plan = match backend {
            Backend::Portable => Plans::Portable(Plan::new(modulus, root, axes)),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => Plans::Avx2(Plan::new(modulus, root, axes)),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => Plans::Avx512(Plan::new(modulus, root, axes)),
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("just checked"),
        };
        Ok(TensorTable { modulus, axes: axes.clone(), root, plan })
    }

    /// The modulus q.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// The axes of the index m.
    pub fn axes(&self) -> &Axes {
        &self.axes
    }

    /// ζ.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// What a transform computes, reductions left out.
    pub fn operations(&self) -> Operations {
        match &self.plan {
            Plans::Portable(plan) => plan.operations(),
            #[cfg(target_arch = "x86_64")]
            Plans::Avx2(plan) => plan.operations(),
            #[cfg(target_arch = "x86_64")]
            Plans::Avx512(plan) => plan.operations(),
        }
    }

    /// From coefficients (any words below 4q) to values (below q), in place.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words.
    pub fn forward(&self, a: &mut [u64]) {
        debug_assert!(a.iter().all(|&x| x < 4 * self.modulus.value()));
        self.apply(a, 0);
    }

    /// From values (below q) to coefficients (below q), in place.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words.
    pub fn inverse(&self, a: &mut [u64]) {
        debug_assert!(a.iter().all(|&x| x < self.modulus.value()));
        self.apply(a, 1);
    }

    fn apply(&self, a: &mut [u64], direction: usize) {
        assert_eq!(a.len(), self.axes.degree(), "one word for each unit");
        match &self.plan {
            Plans::Portable(plan) => with_scratch(plan.scratch(), |scratch| {
                sweep::transform(Scalar(plan.modulus()), plan, direction, scratch, a)
            }),
            #[cfg(target_arch = "x86_64")]
            Plans::Avx2(plan) => with_scratch(plan.scratch(), |scratch| {
                compiled::avx2::tensor(plan, direction, scratch, a)
            }),
            #[cfg(target_arch = "x86_64")]
            Plans::Avx512(plan) => with_scratch(plan.scratch(), |scratch| {
                compiled::avx512::tensor(plan, direction, scratch, a)
            }),
        }
    }
}

/// Lends `lines` cache lines of this thread's scratch, and wipes them afterwards: what was
/// transformed may be secret.
fn with_scratch(lines: usize, work: impl FnOnce(&mut [CacheLine])) {
    SCRATCH.with_borrow_mut(|scratch| {
        let empty = CacheLine([0; 8]);
        scratch.resize(scratch.len().max(lines), empty);
        let scratch = &mut scratch[..lines];
        work(scratch);
        scratch.fill(empty);
    });
}

impl std::fmt::Debug for TensorTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TensorTable")
            .field("modulus", &self.modulus.value())
            .field("index", &self.axes.index())
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}
