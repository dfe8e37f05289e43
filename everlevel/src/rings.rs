//! A search for rings by the number and the degree of their slots.
//!
//! All rings are found over which bootstrapping runs, of an index of at most 2^18. Slots form a
//! hypercube, the units modulo m by the powers of p, with the dimensions of
//! [`SlotShape::dimensions`]: those of the axes (prime powers of m) ahead of the carrier, which are
//! good, and those of the carrier, the last axes that carry Frobenius together. A carrier of
//! several axes takes more automorphisms in linear maps for the same number of slots.

use std::collections::HashMap;

use everlevel_ring::SlotShape;
use everlevel_scheme::params::largest_modulus;
use serde::Serialize;

use crate::error::Error;
use crate::indices::{FoundIndex, IndexSearch, LARGEST_INDEX, check_prime, wrong};

/// The requirements on a ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingSearch {
    /// The prime of the plaintext modulus.
    pub p: u64,
    /// The least number of slots.
    pub slots_at_least: usize,
    /// A divisor of the slot degree.
    pub degree_of: usize,
    /// The limit of the search: only indices below this, at most 2^18 + 1.
    pub index_below: u64,
}

/// A ring that meets the requirements.
#[derive(Clone, Debug, Serialize)]
pub struct FoundRing {
    /// The index m.
    pub m: u64,
    /// The prime powers of m: that of 2 first, the others ascending.
    pub factors: Vec<u64>,
    /// The degree n = φ(m).
    pub n: usize,
    /// The degree d of a slot: the order of p modulo m.
    pub d: usize,
    /// The number of slots, n / d.
    pub slots: usize,
    /// The slots as a hypercube: the dimensions of more than one slot.
    pub dimensions: Vec<RingDimension>,
    /// Roughly the number of operations for each coefficient in a transform: the sum of the prime
    /// factors of l - 1 for each axis of a prime l, and φ(N) for an axis of a higher power N.
    pub transform_radices: u64,
    #[serde(skip)]
    cheap_maps: bool,
}

/// A dimension of the hypercube of slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RingDimension {
    /// The number of slots along it.
    pub size: usize,
    /// Whether the dimension is good: a rotation along it is a single automorphism, as its
    /// generator has no larger order in the group of units.
    pub good: bool,
}

impl FoundRing {
    /// The ring of an index m, of any degree; none if it has no slots modulo powers of p over which
    /// bootstrapping runs: p divides m, m is 2 modulo 4, slots have too large a degree, or
    /// transforms are outside of the limits of rings.
    ///
    /// # Errors
    /// A p that is not a prime, an index above 2^18.
    pub fn of(p: u64, m: u64) -> Result<Option<Self>, Error> {
        check_prime(p)?;
        if m > LARGEST_INDEX {
            return Err(wrong("index", format!("at most {LARGEST_INDEX}"), m.to_string()));
        }
        let any = IndexSearch { p, slots_at_least: 1, degree_of: 1, index_below: m + 1 };
        any.index(m, &mut HashMap::new()).map(|index| FoundRing::new(index, p)).transpose()
    }

    /// The ring of an index, with its dimensions.
    ///
    /// # Errors
    /// p is no prime.
    fn new(index: FoundIndex, p: u64) -> Result<Self, Error> {
        let cheap_maps = index.has_cheap_maps(p);
        let FoundIndex { m, factors, n, d, transform_radices } = index;
        let dimensions = SlotShape::dimensions_of(m, p)?.into_iter();
        Ok(FoundRing {
            m,
            factors: factors.iter().map(|(l, k)| l.pow(*k)).collect(),
            n,
            d,
            slots: n / d,
            dimensions: dimensions
                .filter(|dimension| dimension.size > 1)
                .map(|dimension| RingDimension { size: dimension.size, good: dimension.good })
                .collect(),
            transform_radices,
            cheap_maps,
        })
    }

    /// Whether m is odd and has no square factor, and the axis of its largest prime alone carries
    /// Frobenius: then linear maps take the fewest automorphisms for a number of slots. Rings of
    /// odd index of [`Requirements`](crate::Requirements) are among these.
    pub fn has_cheap_maps(&self) -> bool {
        self.cheap_maps
    }

    /// log2 of the largest modulus QP at which a uniform ternary secret has `security` bits; none
    /// if there is no such modulus.
    pub fn log_qp(&self, security: f64) -> Option<f64> {
        largest_modulus(self.n, security)
    }
}

impl RingSearch {
    /// The first `limit` of the rings that meet the requirements, sorted by degree, and the number
    /// of all of them. Takes seconds if indices go up to 2^18, and up to a second for each ring
    /// that is returned: the dimensions of a carrier of several axes take about 30 φ(N) products
    /// each, N its index.
    ///
    /// # Errors
    /// A p that is not a prime, a degree of 0, an index limit above the largest index.
    pub fn run(&self, limit: usize) -> Result<(Vec<FoundRing>, usize), Error> {
        let &RingSearch { p, slots_at_least, degree_of, index_below } = self;
        let found = IndexSearch { p, slots_at_least, degree_of, index_below }.run()?;
        let count = found.len();
        let rings = found.into_iter().take(limit).map(|index| FoundRing::new(index, p));
        Ok((rings.collect::<Result<_, _>>()?, count))
    }
}
