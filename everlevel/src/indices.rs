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
pub(crate) const LARGEST_INDEX: u64 = 1 << 18;
/// The least degree that is considered: below it, no useful modulus has 128 bits of security.
const MIN_DEGREE: usize = 1024;

/// Refuses a p that is not a prime.
pub(crate) fn check_prime(p: u64) -> Result<(), Error> {
    if primes::is_prime(p) { Ok(()) } else { Err(wrong("p", "a prime".into(), p.to_string())) }
}

pub(crate) fn wrong(what: &'static str, expected: String, found: String) -> Error {
    SchemeError::BadArgument { what, expected, found }.into()
}

impl IndexSearch {
    /// The indices that meet the requirements, sorted by degree. Takes seconds if indices go up to
    /// 2^18.
    ///
    /// # Errors
    /// A p that is not prime, a degree of 0, an index limit above the largest index.
    pub(crate) fn run(&self) -> Result<Vec<FoundIndex>, Error> {
        check_prime(self.p)?;
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
