//! Dual attacks: short vectors of the dual lattice turn samples into few coordinates of the secret,
//! or none, under a large Gaussian error; enough of them tell it from uniform (Micciancio–Regev
//! 2009; with coordinates guessed Espitau–Joux–Kharchenko 2020). Vectors are those that a sieve
//! puts out, as in the public estimator after Guo–Johansson 2021 and MATZOV 2022.
//!
//! Counted under the independence heuristic, which favors the attacker: at best these attacks are
//! as good as this says.

use std::f64::consts::{LOG2_E, PI};

use super::basis::{MAX_BLOCK, MIN_BLOCK};
use super::guess::{
    MAX_LOG2_CANDIDATES, ln_binomial, ln_hit, log2_most_likely, log2_of_any, log2_repetitions,
};
use super::key::{Lwe, Secret};
use super::regions::{Bound, Plane, Region, TOLERANCE, cheapest};
use crate::attack::{Attack, AttackName, Guess};
use crate::reduction::{CostModel, root_hermite};
use crate::special::log2_sum;

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
    (MIN_BLOCK..=MAX_BLOCK).filter_map(at).min_by(|a, b| a.bits.total_cmp(&b.bits))
}

/// log2 of the candidates for ζ coordinates of weight w; a secret that is not sparse has no weight
/// to speak of. Grows with ζ.
fn candidates(key: &Lwe, zeta: usize, weight: usize) -> f64 {
    match key.secret {
        Secret::Ternary => zeta as f64 * 3f64.log2(),
        // The entropy of a discrete Gaussian.
        Secret::Gaussian(deviation) => {
            zeta as f64 * (deviation * (2.0 * PI * std::f64::consts::E).sqrt()).log2()
        }
        // As many 1 as −1, which is a little too few.
        Secret::Sparse(_) => {
            let plus = weight / 2;
            (ln_binomial(zeta, plus) + ln_binomial(zeta.max(plus) - plus, weight - plus)) * LOG2_E
        }
    }
}

/// Every candidate for ζ coordinates against all samples.
///
/// **Bounds** over a rectangle of ζ and β: the error of new samples falls with ζ and with β, but
/// for the rounding of the sieve's dimension; the first sampling costs at least what the least β
/// costs in the least dimension, of the largest ζ, and puts out at most what the largest β does in
/// the largest; candidates are fewest at the least ζ.
struct Hybrid<'k> {
    key: &'k Lwe,
    model: CostModel,
    tried: usize,
}

/// What the sieve's dimension, which is rounded and depends on β, changes in the logarithm of an
/// error at most beyond what the ends of a range of β show.
const ROUNDING: f64 = 0.05;

impl Hybrid<'_> {
    /// The weights that the ζ coordinates can have.
    fn weights(&self, zeta: (usize, usize)) -> std::ops::RangeInclusive<usize> {
        match self.key.secret {
            Secret::Sparse(h) => {
                h.saturating_sub(self.key.dimension - zeta.0)..=(h - 1).min(zeta.1)
            }
            _ => 0..=0,
        }
    }

    /// log2 of the samples: new ones, at the best of a region, which may be a point.
    fn sampler(&self, region: Region, weight: usize) -> Sampler {
        let Region { zeta, beta } = region;
        let deviation = |zeta: usize| match self.key.secret {
            Secret::Sparse(h) => ((h - weight) as f64 / (self.key.dimension - zeta) as f64).sqrt(),
            _ => self.key.secret_deviation(),
        };
        let at = |zeta: usize, beta: usize| {
            Sampler::new(self.key, self.model, beta, zeta, deviation(zeta))
        };
        let first = at(zeta.1, beta.0);
        if zeta.0 == zeta.1 && beta.0 == beta.1 {
            return first;
        }
        let (slowest, widest) = (at(zeta.1, beta.1), at(zeta.0, beta.1));
        let calls = first.dimension.saturating_sub(beta.1).max(1);
        let sieve = self.model.sieve_dimension(beta.0 as u32, beta.0 + calls);
        let reduction = self.model.log2_cost(beta.0 as u32, beta.0 + calls);
        let slack = if beta.0 == beta.1 { 0.0 } else { ROUNDING };
        Sampler {
            dimension: first.dimension,
            deviation: first.deviation.min(slowest.deviation) * (-slack).exp(),
            once: log2_sum(reduction, self.model.log2_sieve(sieve)),
            vectors: widest.vectors.max(slowest.vectors),
        }
    }

    /// The cheapest weight.
    fn choose(&mut self, region: Region, limit: f64) -> Option<(f64, Guess, Sampler)> {
        let (n, zeta) = (self.key.dimension, region.zeta);
        let mut best: Option<(f64, Guess, Sampler)> = None;
        for weight in self.weights(zeta) {
            let least = best.as_ref().map_or(limit, |(bits, ..)| *bits);
            let candidates = candidates(self.key, zeta.0.max(weight), weight);
            // Weights of more candidates follow, up to two thirds of ζ.
            if candidates > least.min(MAX_LOG2_CANDIDATES) {
                break;
            }
            let (log2_probability, rotations) = match self.key.secret {
                Secret::Sparse(h) => (log2_most_likely(n, h, zeta, weight), self.key.rotations),
                _ => (0.0, 1),
            };
            let rotations = (rotations as f64).log2();
            let log2_probability = log2_of_any(log2_probability, rotations);
            if log2_repetitions(log2_probability) > least {
                continue;
            }
            self.tried += 2;
            let log2_candidates = candidates + rotations;
            let sampler = self.sampler(region, weight);
            // Two stages share the 99 %.
            let stage = 0.99f64.sqrt();
            let exponent = 4.0 * PI * PI * sampler.deviation.powi(2) * LOG2_E;
            let log2_samples =
                3.0 + exponent + (log2_candidates / LOG2_E - (-stage.ln()).ln()).log2();
            let tested = 1.0 + log2_candidates + log2_samples;
            let bits =
                log2_sum(sampler.cost(log2_samples), tested) + log2_repetitions(log2_probability);
            if bits < least {
                let guess =
                    Guess { coordinates: zeta.0, weight, log2_candidates, log2_probability };
                best = Some((bits, guess, sampler));
            }
        }
        best
    }
}

impl Plane for Hybrid<'_> {
    type Point = Attack;

    fn at(&mut self, zeta: usize, beta: usize, limit: f64) -> Option<(f64, Attack)> {
        let point = Region { zeta: (zeta, zeta), beta: (beta, beta) };
        let (bits, guess, sampler) = self.choose(point, limit)?;
        let attack = found(self.key, AttackName::DualHybrid, beta, &sampler, bits, Some(guess))?;
        Some((bits, attack))
    }

    fn bound(&mut self, region: Region, limit: f64) -> Bound {
        let Some((bits, guess, sampler)) = self.choose(region, limit) else {
            return Bound { bits: f64::INFINITY, zeta_spread: 0.0, beta_spread: 0.0 };
        };
        let last = Region { beta: (region.beta.1, region.beta.1), ..region };
        let beta_spread = self.sampler(last, guess.weight).once - sampler.once;
        let more = candidates(self.key, region.zeta.1, guess.weight);
        let fewest = candidates(self.key, region.zeta.0.max(guess.weight), guess.weight);
        let chance = |zeta: usize| match self.key.secret {
            Secret::Sparse(h) => ln_hit(self.key.dimension, h, zeta, guess.weight) * LOG2_E,
            _ => 0.0,
        };
        let chances = (chance(region.zeta.0) - chance(region.zeta.1)).abs().min(100.0);
        Bound { bits, zeta_spread: more - fewest + chances, beta_spread }
    }

    fn weights_tried(&self) -> usize {
        self.tried
    }
}

/// The attack, and where it can be run.
pub(super) fn plane(key: &Lwe, model: CostModel) -> (impl Plane<Point = Attack>, Region) {
    let last = match key.secret {
        Secret::Sparse(_) => key.dimension - 8,
        _ => key.dimension.min(400) / 2,
    };
    (Hybrid { key, model, tried: 0 }, Region { zeta: (1, last), beta: (MIN_BLOCK, MAX_BLOCK) })
}

/// The dual hybrid at its best, as far as the search is sure to find it.
pub(super) fn hybrid(key: &Lwe, model: CostModel, limit: f64) -> Option<Attack> {
    let (mut plane, whole) = plane(key, model);
    let (n, last) = (key.dimension, whole.zeta.1);
    let starts = (0..=24).flat_map(|k| {
        let zeta = n - ((n as f64) * (-f64::from(k) / 3.0).exp2()).ceil() as usize;
        [60, 120, 180, 250, 330].map(|beta| (zeta.clamp(1, last), beta))
    });
    let found = cheapest(&mut plane, whole, starts, limit)?;
    let missed = if found.loss > TOLERANCE { found.loss } else { 0.0 };
    Some(Attack { bits: found.bits - missed, ..found.point })
}
