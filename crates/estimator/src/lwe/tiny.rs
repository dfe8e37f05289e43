//! Exhaustive search, which is the cheapest attack on tiny keys only.

use std::f64::consts::{E, LN_2, LOG2_E, PI};

use super::guess::ln_binomial;
use super::key::{Lwe, Secret};
use crate::attack::{Attack, AttackName, Guess};

/// log2 of the number of secrets, or of those that a Gaussian one is among typically.
fn log2_secrets(key: &Lwe) -> f64 {
    let n = key.dimension as f64;
    match key.secret {
        Secret::Ternary => n * 3f64.log2(),
        Secret::Sparse(h) => (ln_binomial(key.dimension, h) + h as f64 * LN_2) * LOG2_E,
        // The entropy of a Gaussian; a narrow one has some, too.
        Secret::Gaussian(deviation) => n * (deviation * (2.0 * PI * E).sqrt()).log2().max(0.5),
    }
}

/// Every secret against as many samples as tell it from the others, 8 exp(4π² σ²/q²) (ln \|S\| − ln
/// ln 1/p), two operations each by going from secret to secret (the public estimator's
/// `exhaustive_search`, after ia.cr/2020/515 and 2021/152). Whichever rotation of the secret comes
/// first solves the problem.
pub(super) fn exhaustive(key: &Lwe) -> Attack {
    let log2_candidates = (log2_secrets(key) - (key.rotations as f64).log2()).max(0.0);
    let noise = (key.error_deviation.ln() - key.ln_q()).exp();
    // Searching and telling share the 99 %.
    let stage = 0.99f64.sqrt();
    let samples =
        8.0 * (4.0 * PI * PI * noise * noise).exp() * (log2_candidates * LN_2 - (-stage.ln()).ln());
    Attack {
        name: AttackName::ExhaustiveSearch,
        bits: 1.0 + log2_candidates + samples.log2(),
        core_svp_bits: 0.0,
        block_size: 0,
        dimension: 0,
        degree: key.dimension,
        guess: Some(Guess {
            coordinates: key.dimension,
            weight: key.weight().unwrap_or(key.dimension),
            log2_candidates,
            log2_probability: 0.0,
        }),
    }
}
