//! A search for rings by the number and the degree of their slots.
//!
//! All rings are found over which bootstrapping runs, of an index of at most 2^18. Slots form a
//! hypercube, the units modulo m by the powers of p, with the dimensions of
//! [`SlotShape::dimensions`]: those of the axes (prime powers of m) ahead of the carrier, which are
//! good, and those of the carrier, the last axes that carry Frobenius together. A carrier of
//! several axes takes more automorphisms in linear maps for the same number of slots.

use everlevel_ring::SlotShape;
use everlevel_scheme::params::largest_modulus;
use serde::Serialize;

use crate::error::Error;
use crate::indices::{FoundIndex, IndexSearch};

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
    /// The ring of an index, with its dimensions.
    ///
    /// # Errors
    /// p is no prime.
    fn new(index: FoundIndex, p: u64) -> Result<Self, Error> {
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
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn search(p: u64, slots_at_least: usize, degree_of: usize) -> RingSearch {
        RingSearch { p, slots_at_least, degree_of, index_below: 1 << 16 }
    }

    /// The ring of an index of any degree.
    fn ring(p: u64, m: u64) -> FoundRing {
        let any = IndexSearch { p, slots_at_least: 1, degree_of: 1, index_below: 0 };
        let index = any.index(m, &mut HashMap::new()).unwrap_or_else(|| panic!("{m}, {p}"));
        FoundRing::new(index, p).unwrap()
    }

    fn dimensions(ring: &FoundRing) -> Vec<(usize, bool)> {
        ring.dimensions.iter().map(|d| (d.size, d.good)).collect()
    }

    #[test]
    fn the_rings_of_the_papers_are_found() {
        // Ma et al., table 4; Gentry-Halevi-Smart's ring for bits, and a ring of Halevi-Shoup.
        for (p, m, n, d, sizes) in [
            (17, 38309, 36960, 24, vec![(28, true), (55, true)]),
            (127, 56647, 55080, 45, vec![(36, true), (34, true)]),
            (257, 55427, 54096, 28, vec![(42, true), (46, false)]),
            (8191, 45193, 44100, 14, vec![(42, true), (75, true)]),
            (65537, 50731, 50112, 18, vec![(96, true), (29, true)]),
            (2, 21845, 16384, 16, vec![(4, true), (16, true), (16, false)]),
            (2, 15709, 15004, 22, vec![(22, true), (31, true)]),
        ] {
            let ring = ring(p, m);
            assert_eq!((ring.n, ring.d, ring.slots), (n, d, n / d), "{m}");
            assert_eq!(dimensions(&ring), sizes, "{m}");
        }
        let (rings, count) = search(17, 1500, 24).run(10).unwrap();
        assert_eq!(rings.iter().map(|ring| ring.m).collect::<Vec<_>>(), [57159, 38309]);
        assert_eq!(count, 2);
    }

    #[test]
    fn several_axes_may_carry_frobenius() {
        for (p, m, factors, d, sizes) in [
            (2, 45, vec![5, 9], 12, vec![(2, true)]),
            (19, 45, vec![5, 9], 2, vec![(2, false), (6, true)]),
            (2, 105, vec![3, 5, 7], 12, vec![(2, true), (2, true)]),
            (11, 420, vec![4, 3, 5, 7], 6, vec![(2, true), (2, true), (4, true)]),
            (2, 357, vec![3, 7, 17], 24, vec![(2, true), (2, false), (2, true)]),
            (19, 459, vec![17, 27], 24, vec![(2, false), (6, false)]),
            // One axis carries it, beside a power of two.
            (17, 216, vec![8, 27], 6, vec![(2, true), (2, true), (3, false)]),
            // Frobenius reaches every unit.
            (3, 7, vec![7], 6, vec![]),
        ] {
            let ring = ring(p, m);
            assert_eq!((&ring.factors, ring.d), (&factors, d), "{m}, {p}");
            assert_eq!(dimensions(&ring), sizes, "{m}, {p}");
            assert_eq!(ring.slots, sizes.iter().map(|(size, _)| size).product::<usize>(), "{m}");
        }
        // 2 has the order 16 modulo 257, and the orders 12 modulo 13 and 11 modulo 89.
        let (rings, count) = RingSearch { index_below: 1500, ..search(2, 1, 1) }.run(2).unwrap();
        let found: Vec<_> = rings.iter().map(|ring| (ring.m, ring.d, ring.slots)).collect();
        assert_eq!((found, count), (vec![(5 * 257, 16, 64), (13 * 89, 132, 8)], 44));
    }

    #[test]
    fn dimensions_make_up_the_slots() {
        for p in [2, 3, 65537] {
            let search = RingSearch { index_below: 1 << 12, ..search(p, 60, 1) };
            let (rings, count) = search.run(40).unwrap();
            assert!(rings.len() == 40 && count > 40, "p = {p}");
            assert!(rings.is_sorted_by_key(|ring| ring.n), "p = {p}");
            for ring in rings {
                let sizes = ring.dimensions.iter().map(|d| d.size);
                assert_eq!(sizes.product::<usize>(), ring.slots, "{}", ring.m);
                assert_eq!(ring.factors.iter().product::<u64>(), ring.m);
            }
        }
    }

    #[test]
    fn powers_of_two_have_rows_and_columns() {
        assert_eq!(dimensions(&ring(65537, 1 << 15)), [(2, true), (1 << 13, true)]);
        assert_eq!(dimensions(&ring(127, 1 << 15)), [(64, false)]);
    }

    #[test]
    fn what_cannot_be_searched_for_is_refused() {
        for wrong in [
            search(15, 1, 1),
            search(2, 1, 0),
            RingSearch { index_below: (1 << 18) + 2, ..search(2, 1, 1) },
        ] {
            assert!(wrong.run(1).is_err(), "{wrong:?}");
        }
    }
}
