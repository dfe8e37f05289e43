//! Dual attacks: short vectors of the dual lattice turn samples into few coordinates of the secret,
//! or none, under a large Gaussian error; enough of them tell it from uniform.
//!
//! Counted under the independence heuristic, which favours the attacker: at best these attacks are
//! as good as this says.

use std::f64::consts::{LOG2_E, PI};

use super::guess::{ln_binomial, ln_hit, log2_of_any, log2_repetitions};
use super::key::{Lwe, Secret};
use crate::attack::{Attack, AttackName, Guess, log2_sum};
use crate::reduction::{CostModel, root_hermite};
use crate::search::minimize;

const MIN_BLOCK: usize = 40;
const MAX_BLOCK: usize = 1754;

/// What β yields on the n − ζ coordinates that are not guessed.
struct Sampler {
    dimension: usize,
    /// The standard deviation of the error of a new sample, divided by q.
    deviation: f64,
    /// log2 of the cost of one sieve that finishes a reduced basis, with the reduction.
    once: f64,
    /// log2 of the number of vectors that it puts out.
    vectors: f64,
}

impl Sampler {
    fn new(key: &Lwe, model: CostModel, beta: usize, zeta: usize, deviation: f64) -> Self {
        let ln_delta = root_hermite(beta as u32).ln();
        let left = (key.dimension - zeta) as f64;
        // ln of σ_s q / σ_e.
        let c = deviation.ln() + key.ln_q() - key.error_deviation.ln();
        let samples = ((left * c.max(0.0) / ln_delta).sqrt().ceil() - left).max(1.0);
        let d = left + samples;
        // Vectors of a sieve are longer than the shortest one by √(4/3), and it runs in another
        // dimension than BKZ. At d = 2β, as the public estimator has it.
        let sieve = |d: usize| model.sieve_dimension(beta as u32, d);
        let reference = sieve(2 * beta);
        let ratio = (f64::from(reference) - 1.0) * (root_hermite(reference).ln() - ln_delta);
        let longer = 0.5 * (4.0f64 / 3.0).ln() + ratio;
        let ln_deviation = longer + deviation.ln() + d * ln_delta - c * samples / d;
        let dimension = d as usize;
        let sieved = sieve(dimension);
        Sampler {
            dimension,
            deviation: ln_deviation.exp(),
            once: log2_sum(model.log2_cost(beta as u32, dimension), model.log2_sieve(sieved)),
            vectors: (0.2075 * f64::from(sieved)).exp2().floor().log2(),
        }
    }

    /// log2 of the cost of so many vectors.
    fn cost(&self, log2_vectors: f64) -> f64 {
        let rounds = log2_vectors - self.vectors;
        self.once + if rounds < 40.0 { rounds.exp2().ceil().log2() } else { rounds }
    }
}

fn found(
    key: &Lwe,
    name: AttackName,
    beta: usize,
    sampler: &Sampler,
    bits: f64,
    guess: Option<Guess>,
) -> Option<Attack> {
    bits.is_finite().then(|| Attack {
        name,
        bits,
        core_svp_bits: CostModel::CoreSvp.log2_cost(beta as u32, sampler.dimension),
        block_size: beta as u32,
        dimension: sampler.dimension,
        degree: key.dimension,
        guess,
    })
}

/// Distinguishing with 99 %: 2 ln 50 / ε² samples of advantage ε = exp(−2π² σ²).
pub(super) fn plain(key: &Lwe, model: CostModel) -> Option<Attack> {
    let at = |beta: usize| {
        let sampler = Sampler::new(key, model, beta, 0, key.secret_deviation());
        let squared = 4.0 * PI * PI * sampler.deviation.powi(2);
        let log2_samples = (2.0 * 50f64.ln()).log2() + squared * LOG2_E;
        let bits = log2_sum(sampler.cost(log2_samples), log2_samples);
        found(key, AttackName::Dual, beta, &sampler, bits, None)
    };
    minimize(MIN_BLOCK, MAX_BLOCK, 64, at, |a| a.bits).map(|found| found.1)
}

/// log2 of the candidates for ζ coordinates of weight w, and of the probability that this is their
/// weight; a secret that is not sparse has no weight to speak of.
fn candidates(key: &Lwe, zeta: usize, weight: usize) -> (f64, f64) {
    match key.secret {
        Secret::Ternary => (zeta as f64 * 3f64.log2(), 0.0),
        // The entropy of a discrete Gaussian.
        Secret::Gaussian(deviation) => {
            (zeta as f64 * (deviation * (2.0 * PI * std::f64::consts::E).sqrt()).log2(), 0.0)
        }
        Secret::Sparse(h) => {
            // As many 1 as −1, which is a little too few.
            let plus = weight / 2;
            let split = ln_binomial(zeta, plus) + ln_binomial(zeta - plus, weight - plus);
            (split * LOG2_E, ln_hit(key.dimension, h, zeta, weight) * LOG2_E)
        }
    }
}

fn hybrid_at(
    key: &Lwe,
    model: CostModel,
    zeta: usize,
    weight: usize,
    beta: usize,
) -> Option<Attack> {
    let (log2_candidates, log2_probability) = candidates(key, zeta, weight);
    let deviation = match key.secret {
        Secret::Sparse(h) if h <= weight => return None,
        Secret::Sparse(h) => ((h - weight) as f64 / (key.dimension - zeta) as f64).sqrt(),
        _ => key.secret_deviation(),
    };
    let rotations = if matches!(key.secret, Secret::Sparse(_)) { key.rotations } else { 1 };
    let log2_probability = log2_of_any(log2_probability, rotations);
    let log2_candidates = log2_candidates + (rotations as f64).log2();
    let sampler = Sampler::new(key, model, beta, zeta, deviation);
    // Two stages share the 99 %.
    let stage = 0.99f64.sqrt();
    let exponent = 4.0 * PI * PI * sampler.deviation.powi(2) * LOG2_E;
    let log2_samples = 3.0 + exponent + (log2_candidates / LOG2_E - (-stage.ln()).ln()).log2();
    let tested = 1.0 + log2_candidates + log2_samples;
    let bits = log2_sum(sampler.cost(log2_samples), tested) + log2_repetitions(log2_probability);
    let guess = Guess { coordinates: zeta, weight, log2_candidates, log2_probability };
    found(key, AttackName::DualHybrid, beta, &sampler, bits, Some(guess))
}

/// Every candidate for ζ coordinates against all samples.
pub(super) fn hybrid(key: &Lwe, model: CostModel) -> Option<Attack> {
    let at_weight = |zeta: usize, weight: usize| {
        minimize(
            MIN_BLOCK,
            MAX_BLOCK,
            64,
            |beta| hybrid_at(key, model, zeta, weight, beta),
            |a| a.bits,
        )
        .map(|found| found.1)
    };
    let at = |zeta: usize| match key.secret {
        Secret::Sparse(h) => {
            let least = h.saturating_sub(key.dimension - zeta);
            minimize(least, h.min(zeta), 4, |weight| at_weight(zeta, weight), |a| a.bits)
                .map(|found| found.1)
        }
        _ => at_weight(zeta, 0),
    };
    let last = match key.secret {
        Secret::Sparse(_) => key.dimension - 32.min(key.dimension / 2),
        _ => key.dimension.min(400) / 2,
    };
    minimize(1, last, (last / 40).max(1), at, |a| a.bits).map(|found| found.1)
}
