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
use crate::arch::residues::Residues;
#[cfg(target_arch = "x86_64")]
use crate::arch::{avx2::Avx2, avx512::Avx512, lanes::Lanes};
use crate::axes::Axes;
use crate::backend::Backend;
#[cfg(target_arch = "x86_64")]
use crate::compiled;
use crate::error::ArithError;
use crate::memory::CacheLine;
use crate::modulus::Modulus;
use crate::primes;
use std::cell::RefCell;
use std::sync::OnceLock;
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
    portable: OnceLock<Plan<Scalar>>,
    #[cfg(target_arch = "x86_64")]
    avx2: OnceLock<Plan<<Avx2 as Lanes>::Transform>>,
    #[cfg(target_arch = "x86_64")]
    avx512: OnceLock<Plan<<Avx512 as Lanes>::Transform>>,
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
    /// and `root` is a primitive m-th root of unity.
    pub fn new(modulus: Modulus, axes: &Axes, root: u64) -> Result<Self, ArithError> {
        let (q, order) = (modulus.value(), axes.transform_order());
        let primitive = modulus.pow(root, axes.index()) == 1
            && axes.all().iter().all(|a| modulus.pow(root, axes.index() / a.prime) != 1);
        if q % order != 1 || !primes::is_prime(q) || root >= q || !primitive {
            return Err(ArithError::NoGroupRoot { modulus: q, order });
        }
        let table = TensorTable {
            modulus,
            axes: axes.clone(),
            root,
            portable: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            avx2: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            avx512: OnceLock::new(),
        };
        table.prepare(Backend::active());
        Ok(table)
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

    /// From coefficients (any words below 4q) to values (below q), in place, with the active
    /// backend.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words.
    pub fn forward(&self, a: &mut [u64]) {
        self.forward_with(Backend::active(), a);
    }

    /// From values (below q) to coefficients (below q), in place, with the active backend.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words.
    pub fn inverse(&self, a: &mut [u64]) {
        self.inverse_with(Backend::active(), a);
    }

    /// [`forward`](Self::forward) on a given backend.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words, or the processor lacks the backend.
    pub fn forward_with(&self, backend: Backend, a: &mut [u64]) {
        debug_assert!(a.iter().all(|&x| x < 4 * self.modulus.value()));
        self.apply(backend, a, 0);
    }

    /// [`inverse`](Self::inverse) on a given backend.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words, or the processor lacks the backend.
    pub fn inverse_with(&self, backend: Backend, a: &mut [u64]) {
        debug_assert!(a.iter().all(|&x| x < self.modulus.value()));
        self.apply(backend, a, 1);
    }

    /// Computes the tables of a backend now rather than at its first use.
    fn prepare(&self, backend: Backend) {
        match backend {
            Backend::Portable => _ = self.plan(&self.portable),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => _ = self.plan(&self.avx2),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => _ = self.plan(&self.avx512),
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("no other backend is available"),
        }
    }

    fn plan<'a, A: Residues>(&self, cell: &'a OnceLock<Plan<A>>) -> &'a Plan<A> {
        cell.get_or_init(|| Plan::new(self.modulus, self.root, &self.axes))
    }

    fn apply(&self, backend: Backend, a: &mut [u64], direction: usize) {
        assert_eq!(a.len(), self.axes.degree(), "one word for each unit");
        assert!(backend.is_available(), "this processor does not have the backend {backend}");
        match backend {
            Backend::Portable => {
                let plan = self.plan(&self.portable);
                with_scratch(plan.scratch(), |scratch| {
                    sweep::transform(Scalar(plan.modulus()), plan, direction, scratch, a)
                });
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => {
                let plan = self.plan(&self.avx2);
                with_scratch(plan.scratch(), |scratch| {
                    compiled::avx2::tensor(plan, direction, scratch, a)
                });
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => {
                let plan = self.plan(&self.avx512);
                with_scratch(plan.scratch(), |scratch| {
                    compiled::avx512::tensor(plan, direction, scratch, a)
                });
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("no other backend is available"),
        }
    }
}

/// Lends so many cache lines of this thread's scratch, and wipes them afterwards: what was
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
