//! Polynomials in digits, and the ring that they belong to.

use std::sync::Arc;

use everlevel_arith::{Backend, Modulus, primes};
use everlevel_ring::{Basis, Cpu, Ring, RingError};

use super::reconstruction::{MAX_PRIMES, Reconstruction};

/// A polynomial modulo p^k: k rows of n digits, the lowest digit first, in the ring's storage
/// order; see the [module](super).
///
/// Rows are shared between copies, so cloning and dropping rows cost nothing. `Debug` shows their
/// number alone, as they may be those of a secret key.
#[derive(Clone, PartialEq, Eq)]
pub struct AdicPoly {
    pub(super) rows: Vec<Arc<Vec<u32>>>,
}

impl std::fmt::Debug for AdicPoly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AdicPoly({} rows)", self.rows.len())
    }
}

impl AdicPoly {
    /// k: the number of digits.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The rows, lowest digit first.
    pub fn digits(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.rows.iter().map(|row| &row[..])
    }

    /// The polynomial modulo p^`rows`.
    ///
    /// # Panics
    /// If it has fewer rows.
    pub fn truncated(&self, rows: usize) -> Self {
        AdicPoly { rows: self.rows[..rows].to_vec() }
    }

    /// Overwrites rows that no copy shares.
    pub fn wipe(&mut self) {
        self.rows.iter_mut().filter_map(Arc::get_mut).for_each(zeroize::Zeroize::zeroize);
    }
}

/// A transform takes about as long as this many products of polynomials modulo a prime, one of
/// which is read from memory.
const TRANSFORM: usize = 30;

/// Z\[X\]/Φ_m modulo the powers of a prime p; see the [module](super).
pub struct AdicRing {
    pub(super) cpu: Cpu,
    pub(super) prime: Modulus,
    pub(super) block: usize,
    pub(super) max_terms: usize,
    /// For each transform prime: p^j for j < block, and minus h times the sum of the first k of
    /// them for k <= block.
    pub(super) powers: Vec<(Vec<u64>, Vec<u64>)>,
    pub(super) reconstruction: Reconstruction,
    /// From fewer primes and smaller blocks, if small factors were announced.
    narrow: Option<Reconstruction>,
}

impl AdicRing {
    /// The ring of index `index` modulo powers of `prime`, with products of blocks of `block`
    /// digits, of which sums of at least `terms` are exact.
    ///
    /// # Errors
    /// An index that [`Ring::new`] refuses; a prime that is not 1 modulo [`Ring::prime_step`], not
    /// below 2^31 or below 17; no digits or more than 16 in a block; too few transform primes; a
    /// backend that this processor lacks.
    pub fn new(
        index: u64,
        prime: u32,
        block: usize,
        terms: usize,
        backend: Backend,
    ) -> Result<Self, RingError> {
        if !(17..1 << 31).contains(&prime) || !(1..=16).contains(&block) || terms == 0 {
            return Err(RingError::BadDigits { prime, block });
        }
        let (step, degree) = (Ring::prime_step(index)?, Ring::degree_of(index)? as f64);
        let below = 1u64 << Modulus::MAX_BITS;
        let candidates =
            primes::primes_congruent_one(step, below).filter(|&q| q != u64::from(prime));
        // A coefficient of a product is at most n overlap times the factors', after an automorphism
        // at most overlap times that.
        let overlap = Ring::overlap_of(index)? as f64;
        let one = 2.0 * (block as f64 * f64::from(prime).log2() - 1.0)
            + degree.log2()
            + 2.0 * overlap.log2();
        let (mut moduli, mut room) = (Vec::new(), -1.1 - one);
        for q in candidates {
            if room >= (terms as f64).log2() {
                break;
            }
            room += (q as f64).log2();
            moduli.push(q);
        }
        if room < (terms as f64).log2() || moduli.len() > MAX_PRIMES {
            return Err(RingError::BadDigits { prime, block });
        }
        moduli.push(prime.into());
        let ring = Arc::new(Ring::new(index, &moduli)?);
        let transform_primes = Basis::of(0..moduli.len() - 1);
        let prime = ring.modulus(moduli.len() - 1);
        let powers = transform_primes
            .iter()
            .map(|i| Self::powers_modulo(ring.modulus(i), prime.value(), block))
            .collect();
        let reconstruction = Reconstruction::new(&ring, transform_primes, prime.value(), block)?;
        let max_terms = room.exp2().min(f64::from(1 << 20)) as usize;
        Ok(AdicRing {
            cpu: Cpu::new(ring, backend)?,
            prime,
            block,
            max_terms,
            powers,
            reconstruction,
            narrow: None,
        })
    }

    /// With a second way back to digits, for sums of up to `terms` products of polynomials of
    /// `rows` rows with polynomials of coefficients below 2^`bits`: such a factor takes few
    /// transform primes, and the fewer the smaller the blocks of the other are. The blocks are
    /// those for which transforms of the factor and products take least.
    ///
    /// # Errors
    /// Sums that do not fit all transform primes.
    pub fn narrowed(self, bits: u32, terms: usize, rows: usize) -> Result<Self, RingError> {
        let prime = self.prime() as u32;
        let overlap = Ring::overlap_of(self.ring().index())? as f64;
        let all = self.transform_primes();
        let primes_of = |block: usize| {
            let mut room = -1.1
                - (block as f64 * f64::from(prime).log2() - 1.0)
                - f64::from(bits)
                - (self.ring().degree() as f64 * terms as f64).log2()
                - 2.0 * overlap.log2();
            let room_with = |i: usize| {
                room += (self.ring().modulus(i).value() as f64).log2();
                room
            };
            all.iter().map(room_with).position(|room| room >= 0.0).map(|last| last + 1)
        };
        // Ways with all primes are as good as products of any blocks.
        let best = (1..=self.block)
            .filter_map(|block| Some((primes_of(block)?, block)))
            .filter(|&(primes, _)| primes < all.len())
            .min_by_key(|&(primes, block)| primes * (TRANSFORM + rows.div_ceil(block)));
        let Some((primes, block)) = best else {
            let fits = primes_of(self.block).is_some();
            let block = self.block;
            return if fits { Ok(self) } else { Err(RingError::BadDigits { prime, block }) };
        };
        let made = Reconstruction::new(self.ring(), Basis::of(0..primes), prime.into(), block)?;
        Ok(AdicRing { narrow: Some(made), ..self })
    }

    fn powers_modulo(q: Modulus, p: u64, block: usize) -> (Vec<u64>, Vec<u64>) {
        let p = q.reduce_u64(p);
        let minus_h = q.mul(q.sub(1, p), q.inv(2).expect("an odd modulus"));
        let powers: Vec<u64> =
            std::iter::successors(Some(1), |x| Some(q.mul(*x, p))).take(block).collect();
        let offsets = std::iter::once(0).chain(powers.iter().scan(0, |sum, &x| {
            *sum = q.add(*sum, q.mul(minus_h, x));
            Some(*sum)
        }));
        let offsets = offsets.collect();
        (powers, offsets)
    }

    /// The ring with its transform primes, and p after them.
    pub fn ring(&self) -> &Ring {
        self.cpu.ring()
    }

    /// What computes modulo those primes.
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// The primes that products are exact modulo.
    pub fn transform_primes(&self) -> Basis {
        self.reconstruction.basis()
    }

    /// The primes that products with small factors are exact modulo, the first of the transform
    /// primes: all of them, unless the ring was [narrowed](AdicRing::narrowed).
    pub fn narrow_primes(&self) -> Basis {
        self.narrowest().basis()
    }

    /// How many blocks hold `rows` rows in products with small factors: as
    /// [`AdicRing::blocks`], unless the ring was [narrowed](AdicRing::narrowed).
    pub fn narrow_blocks(&self, rows: usize) -> usize {
        rows.div_ceil(self.narrow_block())
    }

    /// How many rows make a block in products with small factors.
    pub fn narrow_block(&self) -> usize {
        self.narrowest().block
    }

    /// The way back to digits of products with small factors.
    pub(super) fn narrowest(&self) -> &Reconstruction {
        self.narrow.as_ref().unwrap_or(&self.reconstruction)
    }

    /// The way back to digits from evaluations modulo the primes of a basis: the narrow ones, or
    /// all.
    pub(super) fn reconstruction_from(&self, basis: Basis) -> &Reconstruction {
        let narrow = self.narrow.as_ref().filter(|made| made.basis() == basis);
        narrow.unwrap_or(&self.reconstruction)
    }

    /// p.
    pub fn prime(&self) -> u64 {
        self.prime.value()
    }

    /// How many rows make a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// How many blocks hold `rows` rows.
    pub fn blocks(&self, rows: usize) -> usize {
        rows.div_ceil(self.block)
    }

    /// How many products of two blocks may be added before they are brought back to digits.
    pub fn max_terms(&self) -> usize {
        self.max_terms
    }

    /// h = (p - 1)/2, the digit of 0.
    pub(super) fn half(&self) -> u32 {
        (self.prime() / 2) as u32
    }
}

impl std::fmt::Debug for AdicRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AdicRing({:?} modulo powers of {})", self.ring(), self.prime())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_digit() {
        let poly = AdicPoly { rows: [(); 2].map(|()| Arc::new(vec![54321; 4])).into() };
        assert_eq!(format!("{poly:?}"), "AdicPoly(2 rows)");
    }
}
