//! The ladder of moduli.
//!
//! Every level is a product of q0, the first few word-size primes and some of the fine primes. A fine prime that was
//! dropped may come back at a lower level (the ciphertext is multiplied by it before the division), so with fine
//! primes a few bits short of a word the ladder stops near any size without more limbs than words alone would need.
//! Why this and not one prime a level: docs/adr/0002.

use std::fmt;

use everlevel_arith::primes;
use everlevel_ring::Basis;

use super::spec::ParamsSpec;
use crate::error::SchemeError;

/// A place on the ladder of moduli; 0 is the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub usize);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Levels closer than this are merged into the one with fewer limbs.
const MERGE_BITS: f64 = 1.0;

/// The primes of a parameter set by their roles, and the ladder.
#[derive(Debug)]
pub struct Chain {
    rungs: Vec<(f64, Basis)>,
    special: Basis,
    groups: Vec<Basis>,
}

impl Chain {
    /// Chooses the primes and builds the ladder. Returns it with the primes in ring order: q0, words, fine, special.
    pub(crate) fn build(spec: &ParamsSpec) -> Result<(Chain, Vec<u64>), SchemeError> {
        let mut taken: Vec<u64> = Vec::new();
        let mut pick = |bits: u32| -> Result<u64, SchemeError> {
            // 1 mod p as well, so that correction factors vanish: the largest such prime of that size, else any that is 1
            // mod m.
            let below = 1u64 << bits;
            let near = below / 2;
            let fine = spec.index.checked_mul(spec.plain_prime).filter(|&step| step < below);
            let found = fine
                .and_then(|step| primes::primes_congruent_one(step, below).take_while(|&q| q >= near).find(|q| !taken.contains(q)))
                .or_else(|| {
                    primes::primes_congruent_one(spec.index, below)
                        .take_while(|&q| q >= near)
                        .find(|q| !taken.contains(q) && *q != spec.plain_prime)
                });
            let q = found.ok_or_else(|| SchemeError::BadParams {
                name: spec.name.clone(),
                problem: format!("no unused prime of {bits} bits that is 1 modulo {}: ask for larger or fewer primes", spec.index),
            })?;
            taken.push(q);
            Ok(q)
        };
        let base = pick(spec.base_bits)?;
        let special: Vec<u64> = (0..spec.special).map(|_| pick(spec.word_bits)).collect::<Result<_, _>>()?;
        let words: Vec<u64> = (0..spec.words).map(|_| pick(spec.word_bits)).collect::<Result<_, _>>()?;
        let fine: Vec<u64> = spec.fine_bits.iter().map(|&b| pick(b)).collect::<Result<_, _>>()?;

        let (w, f) = (words.len(), fine.len());
        let fine_at = 1 + w;
        let special_at = fine_at + f;
        let chunk = |from: usize, to: usize| -> Vec<Basis> {
            (from..to).step_by(spec.digit_size).map(|i| Basis::of(i..(i + spec.digit_size).min(to))).collect()
        };
        let groups = [chunk(0, fine_at), chunk(fine_at, special_at)].concat();

        let log = |q: u64| (q as f64).log2();
        let mut candidates: Vec<(f64, Basis)> = Vec::new();
        for used in 0..=w {
            let low = log(base) + words[..used].iter().map(|&q| log(q)).sum::<f64>();
            for mask in 0..1usize << f {
                let chosen = (0..f).filter(|i| mask >> i & 1 == 1);
                let bits = low + chosen.clone().map(|i| log(fine[i])).sum::<f64>();
                candidates.push((bits, Basis::of((0..=used).chain(chosen.map(|i| fine_at + i)))));
            }
        }
        let cost = |basis: Basis| (basis.len(), groups.iter().filter(|g| !g.intersection(basis).is_empty()).count(), basis);
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all = Basis::of(0..special_at);
        let mut rungs: Vec<(f64, Basis)> = Vec::new();
        for candidate in candidates {
            match rungs.last_mut() {
                Some(last) if candidate.0 - last.0 < MERGE_BITS && last.1.len() > 1 => {
                    // The top level must stay reachable: it is what fresh ciphertexts and keys use.
                    if candidate.1 == all || cost(candidate.1) < cost(last.1) {
                        *last = candidate;
                    }
                }
                _ => rungs.push(candidate),
            }
        }
        let moduli = [vec![base], words, fine, special].concat();
        let special = Basis::of(special_at..special_at + spec.special);
        Ok((Chain { rungs, special, groups }, moduli))
    }

    /// The highest level.
    pub fn top(&self) -> Level {
        Level(self.rungs.len() - 1)
    }
    /// log2 of the modulus at `level` (levels above the top count as the top).
    pub fn bits(&self, level: Level) -> f64 {
        self.rungs[level.0.min(self.top().0)].0
    }
    /// The primes of `level` (levels above the top count as the top).
    pub fn basis(&self, level: Level) -> Basis {
        self.rungs[level.0.min(self.top().0)].1
    }
    /// The lowest level of at least `bits` bits; the top if there is none.
    pub fn at_least(&self, bits: f64) -> Level {
        Level(self.rungs.partition_point(|r| r.0 < bits).min(self.top().0))
    }
    /// The special primes, whose product is P.
    pub fn special(&self) -> Basis {
        self.special
    }
    /// The key-switching digits: disjoint groups of primes that cover all levels.
    pub fn groups(&self) -> &[Basis] {
        &self.groups
    }
    /// The digits that `basis` touches, as (position among the groups, primes of the group that are in the basis).
    pub fn digits(&self, basis: Basis) -> impl Iterator<Item = (usize, Basis)> + '_ {
        self.groups.iter().enumerate().map(move |(i, g)| (i, g.intersection(basis))).filter(|(_, g)| !g.is_empty())
    }
}
