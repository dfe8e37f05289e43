//! The transform of rings of odd index: a correlation over the group of units modulo m.

mod large;
mod plan;
mod small;
pub(crate) mod sweep;

use super::scalar::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::arch::{self, avx2::Avx2, avx512::Avx512, lanes::Lanes};
use crate::axes::Axes;
use crate::{ArithError, Backend, Modulus, primes};
use std::cell::RefCell;
use std::sync::OnceLock;
use sweep::{Chunk, Plan};

/// The transform of Z\[X\]/Φ_m(X), m odd, modulo one prime, in the orders of [`crate::axes`].
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
    static SCRATCH: RefCell<Vec<Chunk>> = const { RefCell::new(Vec::new()) };
}

impl TensorTable {
    /// Prepares transforms modulo the prime q with ζ = `root`, a primitive m-th root of unity.
    ///
    /// # Errors
    /// [`ArithError::NoGroupRoot`] unless q is a prime that is 1 modulo [`Axes::transform_order`] and `root` is a primitive m-th root of unity.
    pub fn new(modulus: Modulus, axes: &Axes, root: u64) -> Result<Self, ArithError> {
        let (q, order) = (modulus.value(), axes.transform_order());
        let primitive =
            modulus.pow(root, axes.index()) == 1 && axes.all().iter().all(|a| modulus.pow(root, axes.index() / a.prime) != 1);
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
        Ok(table)
    }
    /// The modulus q.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }
    /// ζ.
    pub fn root(&self) -> u64 {
        self.root
    }
    /// From coefficients (any words below 4q) to values (below q), in place, with the active backend.
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
    fn apply(&self, backend: Backend, a: &mut [u64], direction: usize) {
        assert_eq!(a.len(), self.axes.degree(), "one word for each unit");
        assert!(backend.is_available(), "this processor does not have the backend {backend}");
        let (q, root, axes) = (self.modulus, self.root, &self.axes);
        SCRATCH.with_borrow_mut(|scratch| {
            macro_rules! run {
                ($plans:expr, |$plan:ident| $transform:expr) => {{
                    let $plan = $plans.get_or_init(|| Plan::new(q, root, axes));
                    scratch.resize(scratch.len().max($plan.scratch()), Chunk::ZERO);
                    $transform;
                    $plan.scratch()
                }};
            }
            let used = match backend {
                Backend::Portable => run!(self.portable, |plan| sweep::transform(Scalar(q), plan, direction, scratch, a)),
                #[cfg(target_arch = "x86_64")]
                Backend::Avx2 => run!(self.avx2, |plan| arch::avx2::tensor(plan, direction, scratch, a)),
                #[cfg(target_arch = "x86_64")]
                Backend::Avx512 => run!(self.avx512, |plan| arch::avx512::tensor(plan, direction, scratch, a)),
                #[cfg(not(target_arch = "x86_64"))]
                _ => unreachable!("no other backend is available"),
            };
            // What was transformed may be secret.
            scratch[..used].fill(Chunk::ZERO);
        });
    }
}
