//! The negacyclic number-theoretic transform.
//!
//! For n = 2^k and a 2n-th root of unity zeta, the forward transform evaluates a polynomial modulo
//! X^n + 1 at the odd powers of zeta; [`crate::order`] says where coefficients and values are
//! stored. It is a decimation in time. A block of the stage with distance d holds, in two rows of
//! 2d places, the values of a polynomial of degree below K = 4d at the odd powers of zeta_{8d} =
//! zeta^(n/4d). With a(Y) = E(Y^2) + Y O(Y^2), for j < d and row r,
//!
//! ```text
//! new_r[j] = E_r[j] + w O_r[j],   new_r[j + d] = E_r[j] - w O_r[j],   w = zeta_{8d}^((-1)^r 5^j),
//! ```
//!
//! because 5^d = 1 + K modulo 2K. E sits in the first half of the block's row and O in the second.
//! The distances are 1, 2, 4, ..., n/4, after a first stage between the two rows with the single
//! constant zeta_4 = zeta^(n/2). Twiddles depend on the place inside the block only, and those of
//! one row are the inverses of the other's: the inverse transform needs no tables of its own.

#[cfg(target_arch = "x86_64")]
mod forward;
#[cfg(target_arch = "x86_64")]
mod inverse;
#[cfg(target_arch = "x86_64")]
mod passes;
mod portable;
mod powers;
#[cfg(all(test, target_arch = "x86_64"))]
mod ranges;
pub(crate) mod registers;
mod scalar;
pub(crate) mod tensor;
#[cfg(target_arch = "x86_64")]
pub(crate) mod twiddles;
mod unrolled;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vector;

#[cfg(target_arch = "x86_64")]
use crate::arch::{avx2::Avx2, avx512::Avx512};
use crate::backend::Backend;
#[cfg(target_arch = "x86_64")]
use crate::compiled;
use crate::error::ArithError;
use crate::modulus::Modulus;
use crate::operations::Operations;
use crate::{order, primes};
use portable::PortableTwiddles;
pub use powers::Powers;
pub use tensor::TensorTable;
#[cfg(target_arch = "x86_64")]
use twiddles::{TwiddlesOf, VectorTwiddles};

/// Shorter transforms run in portable code on every backend.
const MIN_VECTOR_LOG_N: u32 = 7;

/// The powers of one root of unity that transform polynomials of one length modulo one number, in
/// the form that one backend needs.
pub struct NttTable {
    modulus: Modulus,
    log_n: u32,
    root: u64,
    twiddles: Twiddles,
}

/// The powers for the backend that does the work, which the processor was found to have.
enum Twiddles {
    Portable(PortableTwiddles),
    #[cfg(target_arch = "x86_64")]
    Avx2(TwiddlesOf<Avx2>),
    #[cfg(target_arch = "x86_64")]
    Avx512(TwiddlesOf<Avx512>),
}

impl NttTable {
    /// The smallest supported binary logarithm of the length.
    pub const MIN_LOG_N: u32 = 4;
    /// The largest supported binary logarithm of the length.
    pub const MAX_LOG_N: u32 = 17;

    /// Prepares transforms of length n = 2^log_n with zeta = `root`, where root^n = -1 modulo q; q
    /// need not be prime. About 10n multiplications; the tables serve both directions and take 16n
    /// bytes, 8n with AVX2.
    ///
    /// # Errors
    /// [`ArithError::InvalidLength`], [`ArithError::InvalidRoot`] or
    /// [`ArithError::MissingBackend`].
    pub fn new(
        modulus: Modulus,
        log_n: u32,
        root: u64,
        backend: Backend,
    ) -> Result<Self, ArithError> {
        check_length(log_n)?;
        backend.check()?;
        let q = modulus.value();
        if root >= q || modulus.pow(root, 1 << log_n) != q - 1 {
            return Err(ArithError::InvalidRoot { modulus: q, log_order: log_n + 1, root });
        }
        let powers = Powers::new(modulus, log_n, root);
        // Rows of less than a group of 64 words are left to the portable code.
        let twiddles = match if log_n < MIN_VECTOR_LOG_N { Backend::Portable } else { backend } {
            Backend::Portable => Twiddles::Portable(PortableTwiddles::new(&powers)),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => Twiddles::Avx2(VectorTwiddles::new(&powers)),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => Twiddles::Avx512(VectorTwiddles::new(&powers)),
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("just checked"),
        };
        Ok(Self { modulus, log_n, root, twiddles })
    }

    /// Prepares transforms of length 2^log_n modulo the prime q with its least root of order
    /// 2^(log_n + 1).
    ///
    /// # Errors
    /// [`ArithError::InvalidModulus`], [`ArithError::InvalidLength`], [`ArithError::NoRoot`] or
    /// [`ArithError::MissingBackend`].
    pub fn for_prime(q: u64, log_n: u32, backend: Backend) -> Result<Self, ArithError> {
        let modulus = Modulus::new(q)?;
        check_length(log_n)?;
        let root = primes::primitive_root_of_unity(q, 2 << log_n)
            .ok_or(ArithError::NoRoot { modulus: q, log_order: log_n + 1 })?;
        Self::new(modulus, log_n, root, backend)
    }

    /// The modulus q.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// The binary logarithm of the length n.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// The length n.
    pub fn degree(&self) -> usize {
        1 << self.log_n
    }

    /// What a transform computes: (n/2) log2 n butterflies.
    pub fn operations(&self) -> Operations {
        Operations { butterflies: u64::from(self.log_n) << (self.log_n - 1), products: 0 }
    }

    /// The root of unity zeta.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// Where coefficient c is stored; see [`order::coefficient_position`].
    pub fn coefficient_position(&self, c: usize) -> usize {
        order::coefficient_position(self.log_n, c)
    }

    /// From coefficients to values, in place.
    ///
    /// Input in coefficient order, any words below 4q; output in evaluation order, below q. (n/2)
    /// log2 n butterflies.
    ///
    /// # Panics
    /// If the slice does not have n words.
    pub fn forward(&self, a: &mut [u64]) {
        self.check(a);
        debug_assert!(a.iter().all(|&x| x < 4 * self.modulus.value()));
        match &self.twiddles {
            Twiddles::Portable(twiddles) => twiddles.forward(a),
            #[cfg(target_arch = "x86_64")]
            Twiddles::Avx2(twiddles) => compiled::avx2::forward(twiddles, a),
            #[cfg(target_arch = "x86_64")]
            Twiddles::Avx512(twiddles) => compiled::avx512::forward(twiddles, a),
        }
    }

    /// From values to coefficients, in place: the inverse of [`forward`](Self::forward).
    ///
    /// Input in evaluation order, below q; output in coefficient order, below q.
    ///
    /// # Panics
    /// If the slice does not have n words.
    pub fn inverse(&self, a: &mut [u64]) {
        self.check(a);
        debug_assert!(a.iter().all(|&x| x < self.modulus.value()));
        match &self.twiddles {
            Twiddles::Portable(twiddles) => twiddles.inverse(a),
            #[cfg(target_arch = "x86_64")]
            Twiddles::Avx2(twiddles) => compiled::avx2::inverse(twiddles, a),
            #[cfg(target_arch = "x86_64")]
            Twiddles::Avx512(twiddles) => compiled::avx512::inverse(twiddles, a),
        }
    }

    fn check(&self, a: &[u64]) {
        assert_eq!(
            a.len(),
            self.degree(),
            "a transform of length 2^{} got a slice of another length",
            self.log_n
        );
    }
}

impl std::fmt::Debug for NttTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NttTable")
            .field("modulus", &self.modulus.value())
            .field("log_n", &self.log_n)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

fn check_length(log_n: u32) -> Result<(), ArithError> {
    let (min, max) = (NttTable::MIN_LOG_N, NttTable::MAX_LOG_N);
    if (min..=max).contains(&log_n) {
        Ok(())
    } else {
        Err(ArithError::InvalidLength { found: log_n, min, max })
    }
}
