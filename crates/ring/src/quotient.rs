//! The units modulo N by the powers of p, as a product of cycles.

use everlevel_arith::primes;

/// A cyclic factor of the quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotientCycle {
    /// Its generator modulo N, a power of p to the power of the length.
    pub(crate) generator: u64,
    /// Its length, above 1.
    pub(crate) length: usize,
    /// Whether the generator has no larger order among the units.
    pub(crate) good: bool,
}

/// The cycles that (Z/N)^* by the powers of p, a unit of order `degree`, is the direct product of:
/// the longest last, and each of them of generators of least order, the least one. About 30 φ(N)
/// products for each cycle, and one set of N bits.
///
/// A unit of the largest order modulo the powers of p and the generators that were chosen before
/// splits off: among those that are equal modulo these, one has a power of p as its power to that
/// order.
pub(crate) fn cycles(index: u64, p: u64, degree: usize) -> Vec<QuotientCycle> {
    let units: Vec<u64> = (1..index).filter(|&u| primes::gcd(u, index) == 1).collect();
    let frobenius = subgroup(index, &[1], p % index, degree);
    let (mut chosen, mut rest) = (frobenius.clone(), units.len() / degree);
    let mut found = Vec::new();
    while rest > 1 {
        let (inside, is_frobenius) = (members(index, &chosen), members(index, &frobenius));
        let factors = primes::factor(rest as u64);
        let order = |u: u64| {
            factors.iter().fold(rest as u64, |order, &(prime, k)| {
                (0..k)
                    .fold((order, true), |(order, on), _| {
                        let lower = order / prime;
                        match on && inside[power(u, lower, index) as usize] {
                            true => (lower, true),
                            false => (order, false),
                        }
                    })
                    .0
            })
        };
        let orders: Vec<u64> = units.iter().map(|&u| order(u)).collect();
        let longest = orders.iter().copied().max().unwrap_or(1);
        // Whether the power leaves the powers of p, whether it is no 1, and the unit.
        let rank = |(&u, _): (&u64, &u64)| {
            let end = power(u, longest, index);
            (!is_frobenius[end as usize], end != 1, u)
        };
        let candidates = units.iter().zip(&orders).filter(|(_, order)| **order == longest);
        let best = candidates.map(rank).min();
        let Some((_, moves, generator)) = best.filter(|_| longest > 1) else { break };
        let length = longest as usize;
        chosen = subgroup(index, &chosen, generator, length);
        rest /= length;
        found.push(QuotientCycle { generator, length, good: !moves });
    }
    found.reverse();
    found
}

/// The products of `elements` with the first `count` powers of a unit.
fn subgroup(index: u64, elements: &[u64], unit: u64, count: usize) -> Vec<u64> {
    let powers = std::iter::successors(Some(1), |x| Some(x * unit % index)).take(count);
    powers.flat_map(|x| elements.iter().map(move |y| x * y % index)).collect()
}

/// For each residue, whether it is one of `elements`.
fn members(index: u64, elements: &[u64]) -> Vec<bool> {
    let mut inside = vec![false; index as usize];
    elements.iter().for_each(|&x| inside[x as usize] = true);
    inside
}

/// u^k modulo N, below 2^32.
fn power(u: u64, mut k: u64, index: u64) -> u64 {
    let (mut result, mut square) = (1, u);
    while k > 0 {
        if k & 1 == 1 {
            result = result * square % index;
        }
        square = square * square % index;
        k >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::odd_slots::order;

    #[test]
    fn quotients_are_the_products_of_their_cycles() {
        let mut kinds = std::collections::BTreeSet::new();
        for index in (3..=420).chain([1155, 1365, 2520]) {
            for p in [2, 3, 5, 7, 11, 13, 31] {
                if primes::gcd(p, index) != 1 {
                    continue;
                }
                let degree = order(p, index);
                let found = cycles(index, p, degree);
                let powers = subgroup(index, &[1], p % index, degree);
                // Every unit is one product of powers below the lengths.
                let mut all = found.iter().fold(powers.clone(), |all, cycle| {
                    subgroup(index, &all, cycle.generator, cycle.length)
                });
                all.sort_unstable();
                let units: Vec<u64> = (1..index).filter(|&u| primes::gcd(u, index) == 1).collect();
                assert_eq!(all, units, "{index}, {p}");
                for cycle in &found {
                    let round = power(cycle.generator, cycle.length as u64, index);
                    assert!(powers.contains(&round), "{index}, {p}: {cycle:?}");
                    assert_eq!(cycle.good, round == 1, "{index}, {p}");
                    assert!(cycle.length > 1);
                }
                assert!(found.is_sorted_by_key(|cycle| cycle.length), "{index}, {p}");
                kinds.insert((found.len(), found.iter().filter(|cycle| !cycle.good).count()));
            }
        }
        // None at all, one that is bad, two that are, and four that are good.
        assert!(kinds.is_superset(&[(0, 0), (1, 1), (2, 2), (4, 0)].into()), "{kinds:?}");
    }
}
