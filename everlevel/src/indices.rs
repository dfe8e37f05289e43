//! A search for the indices of rings by the number and the degree of their slots.
//!
//! An index is a power of two or one that has [`Axes`], of at most 2^18; slots and bootstrapping
//! exist over all of these. A slot has the degree d, the order of p modulo m, which is the least
//! common multiple of its orders modulo the prime powers of m.

use std::collections::HashMap;

use everlevel_arith::{Axes, primes};
use everlevel_ring::SlotShape;
use everlevel_scheme::SchemeError;

use crate::error::Error;

/// The requirements on an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexSearch {
    /// The prime of the plaintext modulus.
    pub(crate) p: u64,
    /// The least number of slots.
    pub(crate) slots_at_least: usize,
    /// A divisor of the slot degree.
    pub(crate) degree_of: usize,
    /// The limit of the search: only indices below this, at most 2^18 + 1.
    pub(crate) index_below: u64,
}

/// An index that meets the requirements.
#[derive(Clone, Debug)]
pub(crate) struct FoundIndex {
    /// The index m.
    pub(crate) m: u64,
    /// Its prime powers l^k as (l, k), in the order of its axes: that of 2 first, the others
    /// ascending.
    pub(crate) factors: Vec<(u64, u32)>,
    /// The degree n = φ(m).
    pub(crate) n: usize,
    /// The degree d of a slot: the order of p modulo m.
    pub(crate) d: usize,
    /// Roughly the number of operations for each coefficient in a transform: for each prime l of m
    /// the sum of the prime factors of l - 1, and for each higher power of a prime φ of it.
    pub(crate) transform_radices: u64,
}

impl FoundIndex {
    /// Whether m is odd and has no square factor, and p has the order d modulo its largest prime,
    /// too: then linear maps take the fewest automorphisms for a number of slots.
    pub(crate) fn has_cheap_maps(&self, p: u64) -> bool {
        let odd_primes = self.factors.iter().all(|&(l, k)| l > 2 && k == 1);
        let carries = |&(l, _): &(u64, u32)| primes::order(p, l, l - 1) == self.d as u64;
        odd_primes && self.factors.last().is_some_and(carries)
    }
}

/// The largest index that is considered: tables of larger rings would take more memory than any set
/// needs.
const LARGEST_INDEX: u64 = 1 << 18;
/// The least degree that is considered: below it, no useful modulus has 128 bits of security.
const MIN_DEGREE: usize = 1024;

impl IndexSearch {
    /// The indices that meet the requirements, sorted by degree. Takes seconds if indices go up to
    /// 2^18.
    ///
    /// # Errors
    /// A p that is not prime, a degree of 0, an index limit above the largest index.
    pub(crate) fn run(&self) -> Result<Vec<FoundIndex>, Error> {
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
        let mut orders = HashMap::new();
        let mut found: Vec<FoundIndex> = (3..self.index_below)
            .filter_map(|m| self.index(m, &mut orders))
            .filter(|index| index.n >= MIN_DEGREE)
            .collect();
        found.sort_by_key(|index| (index.n, index.transform_radices, index.m));
        Ok(found)
    }

    /// The index m of any degree, if there is such a ring and it has the slots. `orders` holds the
    /// orders of p modulo prime powers that were computed before.
    pub(crate) fn index(&self, m: u64, orders: &mut HashMap<u64, u64>) -> Option<FoundIndex> {
        // 2 modulo 4 has the ring of half the index.
        if m % 4 == 2 || m.is_multiple_of(self.p) {
            return None;
        }
        let mut factors = primes::factor(m);
        factors.sort_by_key(|&(l, k)| (l != 2, l.pow(k)));
        let units = |&(l, k): &(u64, u32)| l.pow(k - 1) * (l - 1);
        let n = factors.iter().map(units).product::<u64>() as usize;
        if n < self.slots_at_least {
            return None;
        }
        let mut d = 1;
        for factor in &factors {
            let power = factor.0.pow(factor.1);
            let order =
                *orders.entry(power).or_insert_with(|| primes::order(self.p, power, units(factor)));
            d = d / primes::gcd(d, order) * order;
            // Slots of a larger degree are refused where there are axes.
            if d > SlotShape::MAX_DEGREE as u64 && !m.is_power_of_two() {
                return None;
            }
        }
        let d = d as usize;
        if n / d < self.slots_at_least || !d.is_multiple_of(self.degree_of) {
            return None;
        }
        let exists = if m.is_power_of_two() {
            (32..=LARGEST_INDEX).contains(&m)
        } else {
            // Its transform must be within the limits of rings.
            Axes::admits(m)
        };
        let radices = |factor: &(u64, u32)| match *factor {
            (l, 1) => primes::factor(l - 1).iter().map(|(q, a)| q * u64::from(*a)).sum::<u64>(),
            _ => units(factor),
        };
        let transform_radices = if m.is_power_of_two() {
            2 * u64::from(n.ilog2())
        } else {
            factors.iter().map(radices).sum()
        };
        exists.then_some(FoundIndex { m, factors, n, d, transform_radices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_ring::Ring;

    /// p^e modulo m, m below 2^32.
    fn power(p: u64, e: u64, m: u64) -> u64 {
        (0..e).fold(1 % m, |result, _| result * (p % m) % m)
    }

    fn search(p: u64, slots_at_least: usize, degree_of: usize) -> IndexSearch {
        IndexSearch { p, slots_at_least, degree_of, index_below: 1 << 16 }
    }

    fn single(search: IndexSearch, m: u64) -> Option<FoundIndex> {
        search.index(m, &mut HashMap::new())
    }

    #[test]
    fn indices_of_every_kind_are_found() {
        // Square factors, 2^k times an odd number, and several axes that carry Frobenius; of none
        // does a single axis carry it but of the first three and the last one.
        for (m, p, n, d, radices, cheap) in [
            (27, 17, 18, 6, 18, false),
            (4 * 25, 149, 40, 2, 22, false),
            (16 * 17, 127, 128, 8, 16, false),
            (9 * 5, 2, 24, 12, 10, false),
            (9 * 5, 19, 24, 2, 10, false),
            (3 * 5 * 7, 2, 48, 12, 11, false),
            (3 * 7 * 17, 2, 192, 24, 15, false),
            (4 * 3 * 5 * 7, 11, 96, 6, 13, false),
            (3 * 5 * 17, 2, 128, 8, 14, true),
        ] {
            let found = single(search(p, n / d, d), m).unwrap_or_else(|| panic!("{m}, {p}"));
            assert_eq!((found.n, found.d), (n, d), "{m}, {p}");
            assert_eq!((found.transform_radices, found.has_cheap_maps(p)), (radices, cheap), "{m}");
            assert!(single(search(p, n / d + 1, 1), m).is_none(), "{m}, {p}");
            assert!(single(search(p, 1, d + 1), m).is_none(), "{m}, {p}");
        }
        // 2 modulo 4, p divides m, a power of two that is too small.
        for (m, p) in [(2 * 45, 7), (45, 3), (45, 5), (16, 3)] {
            assert!(single(search(p, 1, 1), m).is_none(), "{m}, {p}");
        }
        // 2 has the order 16 modulo 257, 4 modulo 5, and 12 modulo 13.
        let cheap = |m| single(search(2, 1, 1), m).unwrap().has_cheap_maps(2);
        assert!(cheap(5 * 257) && !cheap(13 * 257));
    }

    #[test]
    fn transforms_that_would_be_refused_are_left_out() {
        // l - 1 is twice a prime above 4096, the longest step of a transform.
        let l =
            (8193..).step_by(2).find(|l| primes::is_prime(*l) && primes::is_prime(l / 2)).unwrap();
        let near = (l..)
            .find(|m| primes::is_prime(*m) && primes::factor(m - 1).iter().all(|f| f.0 < 4096))
            .unwrap();
        // Of order 1, so that the degree of slots is no reason.
        let split = |m: u64| (1..).map(|k| 2 * k * m + 1).find(|p| primes::is_prime(*p)).unwrap();
        assert!(single(search(split(near), 1, 1), near).is_some());
        assert!(single(search(split(l), 1, 1), l).is_none() && l as usize > MIN_DEGREE);
        // 3^8 = 6561 is above the largest prime power.
        assert!(single(search(split(3 * 2187), 1, 1), 3 * 2187).is_none());
    }

    #[test]
    fn the_indices_are_those_that_have_slots() {
        // 2 has the order 648 modulo 1297, which is a prime.
        assert!(single(search(2, 1, 1), 1297).is_none());
        for p in [2, 11] {
            let found = IndexSearch { index_below: 2100, ..search(p, 1, 1) }.run().unwrap();
            assert!(found.is_sorted_by_key(|index| index.n), "p = {p}");
            let mut found: Vec<(u64, usize)> =
                found.into_iter().map(|index| (index.m, index.n / index.d)).collect();
            found.sort_unstable();
            let large = |m: &u64| Ring::degree_of(*m).is_ok_and(|n| n >= MIN_DEGREE);
            let slots = |m: u64| {
                let dimensions = SlotShape::dimensions_of(m, p).ok()?;
                Some((m, dimensions.iter().map(|dimension| dimension.size).product::<usize>()))
            };
            let expected: Vec<(u64, usize)> = (3..2100).filter(large).filter_map(slots).collect();
            assert_eq!(found, expected, "p = {p}");
        }
    }

    #[test]
    fn degrees_are_orders() {
        for p in [2, 3, 65537] {
            let found = IndexSearch { index_below: 1 << 12, ..search(p, 60, 1) }.run().unwrap();
            assert!(found.len() > 20, "p = {p}");
            for index in found {
                let (m, d) = (index.m, index.d as u64);
                assert_eq!(index.factors.iter().map(|(l, k)| l.pow(*k)).product::<u64>(), m);
                assert!((1..d).all(|k| power(p, k, m) != 1) && power(p, d, m) == 1, "{m}");
            }
        }
    }

    #[test]
    fn powers_of_two_are_among_those_for_odd_primes() {
        let powers = |p| (5..17).filter_map(move |k| single(search(p, 1, 1), 1 << k));
        assert_eq!(powers(2).count(), 0);
        let facts = |p| {
            let index = powers(p).find(|index| index.m == 1 << 15).unwrap();
            (index.n, index.d, index.transform_radices)
        };
        assert_eq!((facts(65537), facts(127)), ((1 << 14, 1, 28), (1 << 14, 256, 28)));
    }

    #[test]
    fn what_cannot_be_searched_for_is_refused() {
        for wrong in [
            search(15, 1, 1),
            search(2, 1, 0),
            IndexSearch { index_below: (1 << 18) + 2, ..search(2, 1, 1) },
        ] {
            assert!(wrong.run().is_err(), "{wrong:?}");
        }
    }
}
