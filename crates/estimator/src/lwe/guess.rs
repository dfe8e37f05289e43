//! Guessing coordinates of a secret with entries in {−1, 0, 1}: how many candidates, and how likely
//! one of them is right.

use crate::special::{ln_gamma, log2_sum};

use std::f64::consts::LOG2_E;
use std::sync::LazyLock;

/// More candidates than 2^this are no attack: meeting in the middle takes their square root.
pub(super) const MAX_LOG2_CANDIDATES: f64 = 1100.0;

pub(super) fn ln_binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// ln n!, looked up for the dimensions of practical keys: searches need millions of them.
fn ln_factorial(n: usize) -> f64 {
    const KEPT: usize = (1 << 16) + 1;
    static FACTORIALS: LazyLock<Vec<f64>> =
        LazyLock::new(|| (0..KEPT).map(|n| ln_gamma((n + 1) as f64)).collect());
    if n < KEPT { FACTORIALS[n] } else { ln_gamma((n + 1) as f64) }
}

/// ln of the probability that of ζ coordinates out of n exactly w are among the h nonzero ones.
pub(super) fn ln_hit(n: usize, h: usize, zeta: usize, w: usize) -> f64 {
    if h - w.min(h) > n - zeta || w > h {
        return f64::NEG_INFINITY;
    }
    ln_binomial(zeta, w) + ln_binomial(n - zeta, h - w) - ln_binomial(n, h)
}

/// The set of all vectors of length ζ with at most w entries ±1, for one w.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuessSet {
    pub weight: usize,
    pub log2_candidates: f64,
    /// log2 of the probability that the guessed coordinates have this weight at most.
    pub log2_probability: f64,
}

/// These sets for w = the least possible, … up to the weight of the secret, or as far as they have
/// 2^[`MAX_LOG2_CANDIDATES`] vectors: a few hundred whatever the weight is. With ζ the candidates
/// of a set grow, and its probability falls.
pub(super) fn sets(n: usize, h: usize, zeta: usize) -> Vec<GuessSet> {
    let least = h.saturating_sub(n - zeta);
    let mut sets = Vec::new();
    let (mut term, mut log2_candidates) = (0.0, f64::NEG_INFINITY);
    let (mut hit, mut probability) = (f64::NEG_INFINITY, 0.0f64);
    for weight in 0..=h.min(zeta) {
        log2_candidates = log2_sum(log2_candidates, term);
        if log2_candidates > MAX_LOG2_CANDIDATES {
            break;
        }
        if weight >= least {
            // From one weight to the next both change by a quotient of binomials.
            hit = if weight == least {
                ln_hit(n, h, zeta, weight) * LOG2_E
            } else {
                let ways = ((zeta + 1 - weight) * (h + 1 - weight)) as f64;
                hit + (ways / (weight * (n + weight - zeta - h)) as f64).log2()
            };
            probability = (probability + hit.exp2()).min(1.0);
            if probability > 0.0 {
                let log2_probability = probability.log2();
                sets.push(GuessSet { weight, log2_candidates, log2_probability });
            }
            if probability > 0.999_999 {
                break;
            }
        }
        term += (2.0 * (zeta - weight) as f64 / (weight + 1) as f64).log2();
    }
    sets
}

/// log2 of the largest probability that the guessed coordinates have weight w exactly, over ζ in
/// this range: as a function of ζ it grows as long as w (n − ζ) ≥ (ζ + 1)(h − w).
pub(super) fn log2_most_likely(n: usize, h: usize, zeta: (usize, usize), weight: usize) -> f64 {
    let summit = (weight * (n + 1)).saturating_sub(h) / h.max(1) + 1;
    let around = [summit.saturating_sub(1), summit, summit + 1];
    let clipped = around.map(|z| z.clamp(zeta.0, zeta.1.min(n)));
    clipped.map(|z| ln_hit(n, h, z, weight)).into_iter().fold(f64::NEG_INFINITY, f64::max) * LOG2_E
}

/// How many rotations of the secret a guesser may want to cover: each gives another chance and
/// multiplies the candidates. All of them; or, where not all chances are needed, a power of two
/// that makes a hit of probability 2^`log2_probability` likely. As doubling the rotations costs at
/// most √2 when it doubles the probability, and is of no use where that is 99 %, no other power of
/// two can be cheaper than these.
pub(super) fn rotation_choices(
    log2_probability: f64,
    rotations: usize,
) -> impl Iterator<Item = f64> {
    let all = (rotations as f64).log2();
    let enough = (-log2_probability).floor() - 2.0;
    (0..7).map(move |k| enough + f64::from(k)).filter(move |r| *r >= 0.0 && *r < all).chain([all])
}

/// log2 of the probability that at least one of 2^`log2_events` independent events happens, each
/// with probability 2^`log2_probability`.
pub(super) fn log2_of_any(log2_probability: f64, log2_events: f64) -> f64 {
    let events = log2_events.exp2();
    match log2_probability.exp2() {
        p if p >= 1.0 => 0.0,
        // Too small for the difference from their sum to show.
        p if p < 1e-200 => log2_probability + log2_events,
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
        for set in sets(n, h, zeta) {
            let positions: Vec<u32> =
                (0..1u32 << n).filter(|m| m.count_ones() as usize == h).collect();
            let right = |weights: std::ops::RangeInclusive<usize>| {
                let inside =
                    |m: &&u32| weights.contains(&((*m & ((1 << zeta) - 1)).count_ones() as usize));
                (positions.iter().filter(inside).count() as f64 / positions.len() as f64).log2()
            };
            let candidates: u32 = (0..1u32 << zeta)
                .filter(|m| m.count_ones() as usize <= set.weight)
                .map(|m| 1 << m.count_ones())
                .sum();
            assert!((set.log2_candidates.exp2() - f64::from(candidates)).abs() < 1e-6, "{set:?}");
            assert!((set.log2_probability - right(0..=set.weight)).abs() < 1e-9, "{set:?}");
        }
        assert_eq!(sets(n, h, zeta).last().unwrap().weight, 3);
        // Three nonzero entries out of eight and one coordinate left: two are among the seven at
        // least.
        assert_eq!(sets(n, h, 7)[0].weight, 2);
    }

    /// The best power of two is among the choices.
    #[test]
    fn fewer_rotations_are_chosen_well() {
        for (p, fixed) in [(-3.0f64, 100.0), (-7.5, 90.0), (-12.0, 120.0), (-40.0, 100.0)] {
            for searched in [60.0, 95.0, 130.0] {
                let cost = |r: f64| {
                    log2_sum(fixed, searched + 0.5 * r) + log2_repetitions(log2_of_any(p, r))
                };
                let least = |r: &mut dyn Iterator<Item = f64>| r.map(cost).fold(f64::MAX, f64::min);
                let all = least(&mut (0..=15).map(f64::from));
                let chosen = least(&mut rotation_choices(p, 1 << 15));
                assert!(chosen <= all + 1e-9, "{p} {fixed} {searched}: {chosen} {all}");
            }
        }
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
