//! A search for rings by the number and the degree of their slots.
//!
//! For an odd index m = Π N_a, a product of powers N_a of distinct primes, the slots form a
//! hypercube, the quotient of the units modulo m by the powers of p. If p has the same order modulo
//! the largest N_a as modulo m, every other axis is a dimension of φ(N_a) slots, and the length of
//! the last dimension is φ(N_a) divided by this order. Only such rings are listed: if several axes
//! carry Frobenius together, linear maps take more automorphisms for the same number of slots.

use everlevel_arith::{Axes, primes};
use everlevel_ring::SlotShape;
use everlevel_scheme::SchemeError;
#[cfg(feature = "unstable")]
use everlevel_scheme::params::largest_modulus;
use serde::Serialize;

use crate::error::Error;

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
    /// The prime powers of m, ascending.
    pub factors: Vec<u64>,
    /// The degree n = φ(m).
    pub n: usize,
    /// The degree d of a slot: the order of p modulo m.
    pub d: usize,
    /// The number of slots, n / d.
    pub slots: usize,
    /// The slots as a hypercube.
    pub dimensions: Vec<RingDimension>,
    /// The sum of the prime factors of l - 1 over the primes l of the axes: roughly the number of
    /// operations for each coefficient in a transform.
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
    /// log2 of the largest modulus QP at which a uniform ternary secret has `security` bits; none
    /// if there is no such modulus.
    #[cfg(feature = "unstable")]
    pub fn log_qp(&self, security: f64) -> Option<f64> {
        largest_modulus(self.n, security)
    }
}

/// The largest index that is considered: tables of larger rings would take more memory than any set
/// needs.
const LARGEST_INDEX: u64 = 1 << 18;
/// The least degree that is considered: below it, no useful modulus has 128 bits of security.
const MIN_DEGREE: usize = 1024;

impl RingSearch {
    /// The rings that meet the requirements, sorted by degree. Takes seconds if indices go up to
    /// 2^18.
    ///
    /// # Errors
    /// A p that is not prime, a degree of 0, an index limit above the largest index.
    pub fn run(&self) -> Result<Vec<FoundRing>, Error> {
        let wrong = |what, expected: String, found: String| {
            Error::from(SchemeError::BadArgument { what, expected, found })
        };
        if !primes::is_prime(self.p) {
            return Err(wrong("p", "a prime".into(), self.p.to_string()));
        }
        if self.degree_of == 0 {
            return Err(wrong("divisor of the degree", "at least 1".into(), "0".into()));
        }
        if self.index_below > LARGEST_INDEX + 1 {
            return Err(wrong(
                "bound on the index",
                format!("at most {}", LARGEST_INDEX + 1),
                self.index_below.to_string(),
            ));
        }
        let odd = (3..self.index_below).step_by(2).filter_map(|m| self.odd_index(m));
        let powers = (5..=18)
            .map(|k| 1 << k)
            .filter(|m| *m < self.index_below)
            .filter_map(|m| self.power_of_two(m));
        let mut found: Vec<FoundRing> = odd.chain(powers).collect();
        found.sort_by_key(|ring| (ring.n, ring.transform_radices, ring.m));
        Ok(found)
    }

    /// What was asked for of n, d and the slots.
    fn allowed(&self, n: usize, d: usize) -> Option<()> {
        (n >= MIN_DEGREE && n / d >= self.slots_at_least && d.is_multiple_of(self.degree_of))
            .then_some(())
    }

    fn odd_index(&self, m: u64) -> Option<FoundRing> {
        let p = self.p;
        let mut factors = primes::factor(m);
        factors.sort_by_key(|(l, k)| l.pow(*k));
        let units = |(l, k): (u64, u32)| l.pow(k - 1) * (l - 1);
        let n = factors.iter().map(|f| units(*f)).product::<u64>();
        let &(l, k) = factors.last()?;
        if m.is_multiple_of(p) || n < self.slots_at_least as u64 {
            return None;
        }
        let d = primes::order(p, l.pow(k), units((l, k)));
        if primes::order(p, m, n) != d {
            return None;
        }
        let (n, d) = (n as usize, d as usize);
        // Slots of a larger degree are refused.
        if d > SlotShape::MAX_DEGREE {
            return None;
        }
        self.allowed(n, d)?;
        // Its transform must be within the limits of rings.
        if !Axes::admits(m) {
            return None;
        }
        let mut dimensions: Vec<RingDimension> = factors
            .iter()
            .map(|f| RingDimension { size: units(*f) as usize, good: true })
            .collect();
        if let Some(last) = dimensions.last_mut() {
            last.size /= d;
            // Then the d-th power of a generator generates what Frobenius leaves, and has no larger
            // order.
            last.good = primes::gcd(last.size as u64, d as u64) == 1;
        }
        dimensions.retain(|dimension| dimension.size > 1);
        let radices = |(l, k): &(u64, u32)| {
            let steps: u64 = primes::factor(l - 1).iter().map(|(q, a)| q * u64::from(*a)).sum();
            steps + l * u64::from(k - 1)
        };
        Some(FoundRing {
            m,
            factors: factors.iter().map(|(l, k)| l.pow(*k)).collect(),
            n,
            d,
            slots: n / d,
            dimensions,
            transform_radices: factors.iter().map(radices).sum(),
        })
    }

    fn power_of_two(&self, m: u64) -> Option<FoundRing> {
        let shape = SlotShape::new(m, self.p, 1).ok()?;
        let (n, d) = (m as usize / 2, shape.degree_of_slot());
        self.allowed(n, d)?;
        // The rotation of columns is X -> X^5, of order n/2.
        let sizes = [(shape.rows(), true), (shape.columns(), shape.columns() == n / 2)];
        Some(FoundRing {
            m,
            factors: vec![m],
            n,
            d,
            slots: shape.slots(),
            dimensions: sizes
                .into_iter()
                .filter(|(size, _)| *size > 1)
                .map(|(size, good)| RingDimension { size, good })
                .collect(),
            transform_radices: 2 * u64::from(n.ilog2()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p^e modulo m, m below 2^32.
    fn power(p: u64, e: u64, m: u64) -> u64 {
        (0..e).fold(1 % m, |result, _| result * (p % m) % m)
    }

    fn search(p: u64, slots_at_least: usize, degree_of: usize) -> RingSearch {
        RingSearch { p, slots_at_least, degree_of, index_below: 1 << 16 }
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
            let ring = search(p, 600, d).odd_index(m).unwrap_or_else(|| panic!("{m}"));
            assert_eq!((ring.n, ring.d, ring.slots), (n, d, n / d), "{m}");
            assert_eq!(dimensions(&ring), sizes, "{m}");
            assert!(
                search(p, n / d + 1, 1).odd_index(m).is_none()
                    && search(p, 1, d + 1).odd_index(m).is_none()
            );
        }
        // 2 has the order 16 modulo 257, 4 modulo 5 and 12 modulo 13.
        assert!(
            search(2, 1, 1).odd_index(5 * 257).is_some()
                && search(2, 1, 1).odd_index(13 * 257).is_none()
        );
        let rings = search(17, 1500, 24).run().unwrap();
        assert_eq!(rings.iter().map(|ring| ring.m).collect::<Vec<_>>(), [57159, 38309]);
    }

    #[test]
    fn rings_whose_transforms_would_be_refused_are_left_out() {
        // l - 1 is twice a prime above 4096, the longest step of a transform.
        let l =
            (8193..).step_by(2).find(|l| primes::is_prime(*l) && primes::is_prime(l / 2)).unwrap();
        let near = (l..)
            .find(|m| primes::is_prime(*m) && primes::factor(m - 1).iter().all(|f| f.0 < 4096))
            .unwrap();
        // Of order 1, so that the degree of slots is no reason.
        let split = |m: u64| (1..).map(|k| 2 * k * m + 1).find(|p| primes::is_prime(*p)).unwrap();
        assert!(search(split(near), 1, 1).odd_index(near).is_some());
        assert!(search(split(l), 1, 1).odd_index(l).is_none() && l as usize > MIN_DEGREE);
    }

    #[test]
    fn every_ring_has_slots() {
        // 2 has the order 648 modulo 1297, which is a prime.
        assert!(search(2, 1, 1).odd_index(1297).is_none());
        let rings = RingSearch { index_below: 1500, ..search(2, 1, 1) }.run().unwrap();
        for ring in &rings {
            let shape = SlotShape::new(ring.m, 2, 1).unwrap();
            assert_eq!((shape.slots(), shape.degree_of_slot()), (ring.slots, ring.d), "{}", ring.m);
        }
        assert!(rings.len() > 10, "{}", rings.len());
    }

    #[test]
    fn dimensions_make_up_the_slots() {
        for p in [2, 3, 65537] {
            let rings = RingSearch { index_below: 1 << 13, ..search(p, 60, 1) }.run().unwrap();
            assert!(rings.len() > 20 && rings.is_sorted_by_key(|ring| ring.n), "p = {p}");
            for ring in rings {
                assert_eq!(
                    ring.dimensions.iter().map(|d| d.size).product::<usize>(),
                    ring.slots,
                    "{}",
                    ring.m
                );
                assert_eq!(ring.factors.iter().product::<u64>(), ring.m);
                assert!(
                    (1..ring.d as u64).all(|k| power(p, k, ring.m) != 1)
                        && power(p, ring.d as u64, ring.m) == 1,
                    "{}",
                    ring.m
                );
            }
        }
    }

    #[test]
    fn powers_of_two_are_among_those_for_odd_primes() {
        let powers = |p| (5..17).filter_map(move |k| search(p, 1, 1).power_of_two(1 << k));
        assert_eq!(powers(2).count(), 0);
        let ring = powers(65537).find(|ring| ring.m == 1 << 15).unwrap();
        assert_eq!(
            (ring.d, ring.slots, dimensions(&ring)),
            (1, 1 << 14, vec![(2, true), (1 << 13, true)])
        );
        let ring = powers(127).find(|ring| ring.m == 1 << 15).unwrap();
        assert_eq!((ring.d, ring.slots, dimensions(&ring)), (256, 64, vec![(64, false)]));
        assert_eq!(ring.transform_radices, 28);
    }

    #[test]
    fn what_cannot_be_searched_for_is_refused() {
        for wrong in [
            search(15, 1, 1),
            search(2, 1, 0),
            RingSearch { index_below: (1 << 18) + 2, ..search(2, 1, 1) },
        ] {
            assert!(wrong.run().is_err(), "{wrong:?}");
        }
    }
}
