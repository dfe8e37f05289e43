//! The ring Z\[X\]/Φ_m(X) with its primes and transforms.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use everlevel_arith::{Modulus, NttTable, primes};

use crate::basis::{Basis, MAX_PRIMES};
use crate::error::RingError;
use crate::limb::{Limb, Pool};
use crate::norm::CanonicalNorm;

/// One prime of the ring with its transform.
pub(crate) struct Prime {
    pub(crate) modulus: Modulus,
    pub(crate) root: u64,
    pub(crate) table: NttTable,
}

/// Z\[X\]/Φ_m(X) together with every prime that is used over it. Cheap to share (`Arc`), immutable.
///
/// Index m = 2n a power of two is the only family so far; composite indices come behind the same interface.
pub struct Ring {
    index: u64,
    degree: usize,
    log_degree: u32,
    primes: Vec<Prime>,
    /// `inverses[i][j]`: the inverse of prime i modulo prime j (0 where i = j).
    inverses: Vec<Vec<u64>>,
    pool: Arc<Pool>,
    norm: CanonicalNorm,
    transforms: AtomicU64,
}

impl Ring {
    /// Builds the ring of index `m` over `moduli`.
    ///
    /// # Errors
    /// An index that is no power of two in 32..=2^18, a modulus that is no prime 1 mod m below 2^50, or a repetition.
    pub fn new(index: u64, moduli: &[u64]) -> Result<Self, RingError> {
        if !index.is_power_of_two() || !(32..=1 << 18).contains(&index) {
            return Err(RingError::UnsupportedIndex { index });
        }
        if moduli.len() > MAX_PRIMES {
            return Err(RingError::TooManyPrimes { count: moduli.len() });
        }
        let degree = (index / 2) as usize;
        let log_degree = degree.trailing_zeros();
        let mut list: Vec<Prime> = Vec::with_capacity(moduli.len());
        for &value in moduli {
            let bad = RingError::BadPrime { value, index };
            if value % index != 1 || value >> Modulus::MAX_BITS != 0 || !primes::is_prime(value) {
                return Err(bad);
            }
            if list.iter().any(|p| p.modulus.value() == value) {
                return Err(RingError::RepeatedPrime { value });
            }
            let root = primes::primitive_root_of_unity(value, index).ok_or(bad)?;
            let modulus = Modulus::new(value)?;
            list.push(Prime { modulus, root, table: NttTable::new(modulus, log_degree, root)? });
        }
        let inverses = list
            .iter()
            .map(|a| list.iter().map(|b| b.modulus.inv(b.modulus.reduce_u64(a.modulus.value())).unwrap_or(0)).collect())
            .collect();
        Ok(Ring {
            index,
            degree,
            log_degree,
            primes: list,
            inverses,
            pool: Arc::new(Pool::default()),
            norm: CanonicalNorm::new(degree),
            transforms: AtomicU64::new(0),
        })
    }

    /// The index m of the cyclotomic ring.
    pub fn index(&self) -> u64 {
        self.index
    }
    /// The degree n = φ(m).
    pub fn degree(&self) -> usize {
        self.degree
    }
    /// log2 of the degree.
    pub fn log_degree(&self) -> u32 {
        self.log_degree
    }
    /// How many primes the ring holds.
    pub fn prime_count(&self) -> usize {
        self.primes.len()
    }
    /// The prime at `position`.
    pub fn modulus(&self, position: usize) -> Modulus {
        self.primes[position].modulus
    }
    /// The primitive m-th root of unity modulo the prime at `position` that the transform uses.
    pub fn root(&self, position: usize) -> u64 {
        self.primes[position].root
    }
    /// The inverse of prime `i` modulo prime `j`; 0 if they are the same.
    pub fn inverse(&self, i: usize, j: usize) -> u64 {
        self.inverses[i][j]
    }
    /// The inverse of `x` modulo the prime at `position`.
    ///
    /// # Panics
    /// If the prime divides `x`.
    pub fn inverse_of(&self, x: u64, position: usize) -> u64 {
        let q = self.modulus(position);
        q.inv(q.reduce_u64(x)).expect("coprime to the primes of the ring")
    }
    /// log2 of the product of the primes of `basis`.
    pub fn log2(&self, basis: Basis) -> f64 {
        basis.iter().map(|i| (self.primes[i].modulus.value() as f64).log2()).sum()
    }
    /// The product of the primes of `basis` modulo `modulus`.
    pub fn product_mod(&self, basis: Basis, modulus: Modulus) -> u64 {
        basis.iter().fold(modulus.reduce_u64(1), |r, i| modulus.mul(r, modulus.reduce_u64(self.primes[i].modulus.value())))
    }
    /// The inverse of the product of the primes of `basis` modulo the prime at `position`, which is not among them.
    pub fn inverse_product(&self, basis: Basis, position: usize) -> u64 {
        let q = self.modulus(position);
        basis.iter().fold(1, |r, i| q.mul(r, self.inverses[i][position]))
    }
    /// The canonical norm of polynomials of this ring.
    pub fn norm(&self) -> &CanonicalNorm {
        &self.norm
    }

    /// Coefficients to evaluations modulo the prime at `position`; inputs below four times the prime.
    pub fn forward_limb(&self, position: usize, limb: &mut [u64]) {
        self.transforms.fetch_add(1, Ordering::Relaxed);
        self.primes[position].table.forward(limb);
    }
    /// Evaluations to coefficients modulo the prime at `position`.
    pub fn inverse_limb(&self, position: usize, limb: &mut [u64]) {
        self.transforms.fetch_add(1, Ordering::Relaxed);
        self.primes[position].table.inverse(limb);
    }
    /// How many transforms of one limb the ring has done since it was built.
    pub fn transform_count(&self) -> u64 {
        self.transforms.load(Ordering::Relaxed)
    }

    /// A limb of unspecified content.
    pub fn limb(&self) -> Limb {
        Limb::uninit(&self.pool, self.degree)
    }
    /// A limb of zeros.
    pub fn zero_limb(&self) -> Limb {
        Limb::zero(&self.pool, self.degree)
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ring(index {}, degree {}, {} primes)", self.index, self.degree, self.primes.len())
    }
}
