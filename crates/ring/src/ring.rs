//! The ring Z\[X\]/Φ_m(X) with its primes.

use std::sync::OnceLock;

use everlevel_arith::{Axes, Axis, Modulus, NaturalOrder, gather_natural, primes, scatter_natural};

use crate::basis::{Basis, MAX_PRIMES};
use crate::error::RingError;
use crate::index_kind::IndexKind;
use crate::norm::CanonicalNorm;
use crate::prime_power::PrimePower;

/// A modulus for the reduction of products of primes of a ring: a prime of a ring, or a plaintext
/// modulus.
pub trait Residues {
    /// x modulo this number.
    fn reduce(&self, x: u64) -> u64;

    /// The product of two residues.
    fn product(&self, a: u64, b: u64) -> u64;

    /// The negative of a residue.
    fn negative(&self, a: u64) -> u64;
}

impl Residues for Modulus {
    fn reduce(&self, x: u64) -> u64 {
        self.reduce_u64(x)
    }

    fn product(&self, a: u64, b: u64) -> u64 {
        self.mul(a, b)
    }

    fn negative(&self, a: u64) -> u64 {
        self.neg(a)
    }
}

impl Residues for PrimePower {
    fn reduce(&self, x: u64) -> u64 {
        self.reduce_u64(x)
    }

    fn product(&self, a: u64, b: u64) -> u64 {
        self.mul(a, b)
    }

    fn negative(&self, a: u64) -> u64 {
        self.neg(a)
    }
}

/// One prime of the ring.
struct Prime {
    modulus: Modulus,
    /// A primitive m-th root of unity, the search for which takes longer than all else: found when
    /// it is first used.
    root: OnceLock<u64>,
}

/// Z\[X\]/Φ_m(X) together with every prime that is used over it: an immutable description, which an
/// engine ([`crate::Cpu`]) uses for computation.
///
/// The index m is a power of two, or one with [`Axes`]: odd, or 2^k times an odd number.
/// Coefficients are those of the basis 1, X, .., X^(n-1) for a power of two, and else of the basis
/// of [`everlevel_arith::axes`]: the powers X^k with k prime to m, if m has no square factor.
pub struct Ring {
    index: u64,
    degree: usize,
    kind: IndexKind,
    primes: Vec<Prime>,
    /// `inverses[i][j]`: the inverse of prime i modulo prime j (0 where i = j).
    inverses: Vec<Vec<u64>>,
    norm: CanonicalNorm,
}

impl Ring {
    /// Builds the ring of index `m` over `moduli`.
    ///
    /// # Errors
    /// An index that is neither a power of two from 32 to 2^18 nor one of [`Axes::new`]; a modulus
    /// that is no prime below 2^50 that is 1 modulo [`Ring::prime_step`]; or a repetition.
    pub fn new(index: u64, moduli: &[u64]) -> Result<Self, RingError> {
        let kind = IndexKind::new(index)?;
        if moduli.len() > MAX_PRIMES {
            return Err(RingError::TooManyPrimes { count: moduli.len() });
        }
        let (degree, norm) = match &kind {
            IndexKind::PowerOfTwo { log_degree } => {
                (1 << log_degree, CanonicalNorm::new(1 << log_degree))
            }
            IndexKind::Odd(axes) => (axes.degree(), CanonicalNorm::of_axes(axes)),
        };
        let mut list: Vec<Prime> = Vec::with_capacity(moduli.len());
        for &value in moduli {
            // Modulo a prime there is a root of unity of each order that divides value - 1.
            if value % kind.prime_step() != 1
                || !(value - 1).is_multiple_of(index)
                || value >> Modulus::MAX_BITS != 0
                || !primes::is_prime(value)
            {
                return Err(RingError::BadPrime { value, index });
            }
            if list.iter().any(|p| p.modulus.value() == value) {
                return Err(RingError::RepeatedPrime { value });
            }
            list.push(Prime { modulus: Modulus::new(value)?, root: OnceLock::new() });
        }
        let inverses = list
            .iter()
            .map(|a| {
                list.iter()
                    .map(|b| b.modulus.inv(b.modulus.reduce_u64(a.modulus.value())).unwrap_or(0))
                    .collect()
            })
            .collect();
        Ok(Ring { index, degree, kind, primes: list, inverses, norm })
    }

    /// The index m of the cyclotomic ring.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The degree n = φ(m).
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The number modulo which every prime of the ring of index `index` must be 1: m for a power of
    /// two; for an index with axes it is also a multiple of every l - 1 (see
    /// [`Axes::transform_order`]).
    ///
    /// # Errors
    /// An index that [`Ring::new`] refuses.
    pub fn prime_step(index: u64) -> Result<u64, RingError> {
        Ok(IndexKind::new(index)?.prime_step())
    }

    /// The degree φ(m) of the ring of index `index`.
    ///
    /// # Errors
    /// An index that [`Ring::new`] refuses.
    pub fn degree_of(index: u64) -> Result<usize, RingError> {
        Ok(match IndexKind::new(index)? {
            IndexKind::PowerOfTwo { log_degree } => 1 << log_degree,
            IndexKind::Odd(axes) => axes.degree(),
        })
    }

    /// The axes of the index; none for a power of two.
    pub fn axes(&self) -> Option<&Axes> {
        self.kind.axes()
    }

    /// The lengths of the cycles along which automorphisms shift evaluations, the last one
    /// contiguous: rows and columns of a power of two.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        match &self.kind {
            IndexKind::PowerOfTwo { log_degree } => vec![2, 1 << (log_degree - 1)],
            IndexKind::Odd(axes) => {
                axes.all().iter().flat_map(Axis::cycles).map(|cycle| cycle.length).collect()
            }
        }
    }

    /// Stored coefficients in natural order: ascending powers for a power of two, the stored order
    /// itself for an index with axes.
    pub fn natural_order<T: Copy>(&self, stored: &[T]) -> Vec<T> {
        match &self.kind {
            IndexKind::PowerOfTwo { log_degree } => gather_natural(*log_degree, stored),
            IndexKind::Odd(_) => stored.to_vec(),
        }
    }

    /// Where coefficients in natural order are stored; nothing if that is the stored order.
    pub(crate) fn stored_places(&self) -> Option<NaturalOrder> {
        match &self.kind {
            IndexKind::PowerOfTwo { log_degree } => Some(NaturalOrder::new(*log_degree)),
            IndexKind::Odd(_) => None,
        }
    }

    /// The inverse of [`Ring::natural_order`], into a buffer of n places.
    pub fn storage_order<T: Copy>(&self, natural: &[T], stored: &mut [T]) {
        match &self.kind {
            IndexKind::PowerOfTwo { log_degree } => scatter_natural(*log_degree, natural, stored),
            IndexKind::Odd(_) => stored.copy_from_slice(natural),
        }
    }

    /// The largest number of coefficients of a, each with a sign, whose sum is one coefficient of
    /// X^k a: 2 to the number of odd primes of the index. On the axis of a power of two, X only
    /// permutes coefficients, up to sign.
    pub fn overlap(&self) -> usize {
        1 << self.kind.odd_primes()
    }

    /// [`Ring::overlap`] of the ring of index `index`.
    ///
    /// # Errors
    /// An index that [`Ring::new`] refuses.
    pub fn overlap_of(index: u64) -> Result<usize, RingError> {
        Ok(1 << IndexKind::new(index)?.odd_primes())
    }

    /// ρ: the deviation from circular symmetry of the value of a polynomial with independent
    /// coefficients of equal variance at a root of unity, see [`Axes::noncircularity`]; 0 for a
    /// power of two.
    pub fn noncircularity(&self) -> f64 {
        match &self.kind {
            IndexKind::PowerOfTwo { .. } => 0.0,
            IndexKind::Odd(axes) => axes.noncircularity(),
        }
    }

    /// log2 of the factor by which a coefficient can exceed the canonical norm: log2(4/π) for each
    /// odd prime of the index, 0 for a power of two. On an axis of odd prime l the coefficient of
    /// X^e is (1/l) Σ a(ζ^u) (ζ^(-u e) - 1), at most (4/π) max |a(ζ^u)|; on that of a power of two
    /// it is a mean of values times roots of unity.
    pub fn coefficient_bits(&self) -> f64 {
        self.kind.odd_primes() as f64 * (4.0 / std::f64::consts::PI).log2()
    }

    /// The number of primes of the ring.
    pub fn prime_count(&self) -> usize {
        self.primes.len()
    }

    /// The prime at `position`.
    pub fn modulus(&self, position: usize) -> Modulus {
        self.primes[position].modulus
    }

    /// The primitive m-th root of unity modulo the prime at `position` that transforms use, the
    /// least one. Its first use takes O(m) products.
    pub fn root(&self, position: usize) -> u64 {
        let Prime { modulus, root } = &self.primes[position];
        *root.get_or_init(|| {
            primes::primitive_root_of_unity(modulus.value(), self.index)
                .expect("the order divides the prime less 1")
        })
    }

    /// The inverse of prime `i` modulo prime `j`; 0 if they are the same.
    pub fn inverse(&self, i: usize, j: usize) -> u64 {
        self.inverses[i][j]
    }

    /// log2 of the product of the primes of `basis`.
    pub fn log2(&self, basis: Basis) -> f64 {
        basis.iter().map(|i| (self.primes[i].modulus.value() as f64).log2()).sum()
    }

    /// The product of the primes of `basis` modulo `modulus`.
    pub fn product_mod(&self, basis: Basis, modulus: impl Residues) -> u64 {
        basis
            .iter()
            .fold(1, |r, i| modulus.product(r, modulus.reduce(self.primes[i].modulus.value())))
    }

    /// The inverse of the product of the primes of `basis` modulo the prime at `position`, which is
    /// not among them.
    pub fn inverse_product(&self, basis: Basis, position: usize) -> u64 {
        let q = self.modulus(position);
        basis.iter().fold(1, |r, i| q.mul(r, self.inverses[i][position]))
    }

    /// The inverse of `x` modulo the prime at `position`.
    ///
    /// # Panics
    /// If the prime divides `x`: callers invert products of plaintext primes, to which the primes
    /// of a ring are coprime.
    pub fn inverse_of(&self, x: u128, position: usize) -> u64 {
        let q = self.modulus(position);
        q.inv(q.reduce_u128(x)).expect("coprime to the primes of the ring")
    }

    /// Whether both are the same ring with the same primes at the same positions.
    pub fn same(&self, other: &Ring) -> bool {
        let moduli =
            |ring: &Ring| ring.primes.iter().map(|p| p.modulus.value()).collect::<Vec<_>>();
        std::ptr::eq(self, other) || self.index == other.index && moduli(self) == moduli(other)
    }

    /// The canonical norm of polynomials of this ring.
    pub fn norm(&self) -> &CanonicalNorm {
        &self.norm
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Ring(index {}, degree {}, {} primes)",
            self.index,
            self.degree,
            self.primes.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Among them indices whose primes have to be 1 modulo more than the index.
    #[test]
    fn roots_of_unity_are_found_when_they_are_used() {
        for index in [1 << 5, 1 << 9, 7, 45, 105, 240] {
            let step = Ring::prime_step(index).unwrap();
            assert!(step.is_multiple_of(index), "{index}");
            let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << 30).take(3).collect();
            let ring = Ring::new(index, &moduli).unwrap();
            let found = || ring.primes.iter().filter(|prime| prime.root.get().is_some()).count();
            assert_eq!(found(), 0, "{index}");
            let root = ring.root(1);
            assert_eq!(found(), 1, "{index}");
            assert_eq!(Some(root), primes::primitive_root_of_unity(moduli[1], index));
            assert_eq!(ring.modulus(1).pow(root, index), 1, "{index}");
            assert_eq!(ring.root(1), root);
        }
    }
}
