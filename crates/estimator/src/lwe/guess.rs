//! Guessing coordinates of a secret with entries in {−1, 0, 1}: how many candidates, and how likely
//! one of them is right.

use crate::attack::Guess;
use crate::special::ln_gamma;

use std::f64::consts::{LN_2, LOG2_E};

/// More candidates than 2^this are no attack.
const MAX_LOG2_CANDIDATES: f64 = 1500.0;

pub(super) fn ln_binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    ln_gamma((n + 1) as f64) - ln_gamma((k + 1) as f64) - ln_gamma((n - k + 1) as f64)
}

/// ln of the probability that of ζ coordinates out of n exactly w are among the h nonzero ones.
pub(super) fn ln_hit(n: usize, h: usize, zeta: usize, w: usize) -> f64 {
    if h - w.min(h) > n - zeta || w > h {
        return f64::NEG_INFINITY;
    }
    ln_binomial(zeta, w) + ln_binomial(n - zeta, h - w) - ln_binomial(n, h)
}

/// The sets of all vectors of length ζ with at most w entries ±1, for w = the least possible, …
///
/// `rotations` multiplies the candidates, since each may be right for any rotation of the secret,
/// and gives as many chances.
pub(super) fn sets(n: usize, h: usize, zeta: usize, rotations: usize) -> Vec<Guess> {
    if zeta == 0 {
        return vec![Guess {
            coordinates: 0,
            weight: 0,
            log2_candidates: 0.0,
            log2_probability: 0.0,
        }];
    }
    let (mut candidates, mut probability) = (0.0f64, 0.0f64);
    let turns = rotations as f64;
    let least = h.saturating_sub(n - zeta);
    let mut sets = Vec::new();
    let mut log2_candidates = f64::NEG_INFINITY;
    for weight in 0..=h.min(zeta) {
        // Sums of numbers beyond f64 are as good as their last term.
        let term = ln_binomial(zeta, weight) + weight as f64 * LN_2;
        candidates += (term.min(600.0)).exp();
        log2_candidates = if term < 600.0 {
            candidates.log2()
        } else {
            crate::attack::log2_sum(log2_candidates, term * LOG2_E)
        };
        if log2_candidates > MAX_LOG2_CANDIDATES {
            break;
        }
        if weight < least {
            continue;
        }
        probability = (probability + ln_hit(n, h, zeta, weight).exp()).min(1.0);
        let log2_probability = log2_of_any(probability.log2(), rotations);
        if log2_probability > f64::NEG_INFINITY {
            let log2_candidates = log2_candidates + turns.log2();
            sets.push(Guess { coordinates: zeta, weight, log2_candidates, log2_probability });
        }
        if log2_probability.exp2() > 0.999_9 {
            break;
        }
    }
    sets
}

/// log2 of the probability that one of so many events happens, each of which has this one and does
/// not care for the others.
pub(super) fn log2_of_any(log2_probability: f64, events: usize) -> f64 {
    let events = events as f64;
    match log2_probability.exp2() {
        p if p >= 1.0 => 0.0,
        // Too small for the difference from their sum to show.
        p if p < 1e-200 => log2_probability + events.log2(),
        p => (-(events * (-p).ln_1p()).exp_m1()).log2(),
    }
}

/// log2 of how often something of this probability has to be tried to succeed once with 99 %.
pub(super) fn log2_repetitions(log2_probability: f64) -> f64 {
    let p = log2_probability.exp2();
    match p {
        p if p >= 0.99 => 0.0,
        // ln(1 − p) is −p.
        p if p < 1e-12 => (-(0.01f64).ln()).log2() - log2_probability,
        p => (0.01f64.ln() / (-p).ln_1p()).ceil().log2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All vectors of length 8 with three entries ±1: whoever guesses five coordinates of them.
    #[test]
    fn sets_are_those_that_counting_finds() {
        let (n, h, zeta) = (8usize, 3usize, 5usize);
        for set in sets(n, h, zeta, 1) {
            let positions: Vec<u32> =
                (0..1u32 << n).filter(|m| m.count_ones() as usize == h).collect();
            let right = positions
                .iter()
                .filter(|m| (*m & ((1 << zeta) - 1)).count_ones() as usize <= set.weight)
                .count();
            let candidates: u32 = (0..1u32 << zeta)
                .filter(|m| m.count_ones() as usize <= set.weight)
                .map(|m| 1 << m.count_ones())
                .sum();
            assert!((set.log2_candidates.exp2() - f64::from(candidates)).abs() < 1e-6, "{set:?}");
            assert!(
                (set.log2_probability.exp2() - right as f64 / positions.len() as f64).abs() < 1e-9,
                "{set:?}"
            );
        }
        assert_eq!(sets(n, h, zeta, 1).last().unwrap().weight, 3);
        // Three nonzero entries out of eight and one coordinate left: two are among the seven at
        // least.
        assert_eq!(sets(n, h, 7, 1)[0].weight, 2);
    }

    #[test]
    fn rotations_multiply_candidates_and_chances() {
        let (one, all) = (sets(1024, 32, 700, 1), sets(1024, 32, 700, 1024));
        assert_eq!(all[3].log2_candidates, one[3].log2_candidates + 10.0);
        assert!((all[3].log2_probability - one[3].log2_probability - 10.0).abs() < 0.01);
    }

    #[test]
    fn repetitions_are_those_of_the_definition() {
        for p in [0.5f64, 0.01, 1e-9] {
            let times = log2_repetitions(p.log2()).exp2();
            let failure = |times: f64| (times * (-p).ln_1p()).exp();
            assert!(failure(times) <= 0.0101 && failure(times - 2.0) > 0.01, "{p}: {times}");
        }
        assert_eq!(log2_repetitions(-0.001), 0.0);
        assert!((log2_repetitions(-300.0) - 302.2).abs() < 0.01);
    }
}
