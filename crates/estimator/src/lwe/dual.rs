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
use super::regions::{Bound, Plane, Region, TOLERANCE, cheapest, none_below};
use crate::attack::{Attack, AttackName, Guess};
use crate::reduction::{CostModel, root_hermite};
use crate::special::log2_sum;

/// The lattice in which β finds samples for the n − ζ coordinates that are not guessed.
struct Lattice {
    left: f64,
    ln_delta: f64,
    /// ln of σ_s q / σ_e, or 0.
    c: f64,
    /// The best one, of at least one sample.
    dimension: usize,
}

impl Lattice {
    fn new(key: &Lwe, beta: usize, zeta: usize, deviation: f64) -> Self {
        let ln_delta = root_hermite(beta as u32).ln();
        let left = (key.dimension - zeta) as f64;
        let c = (deviation.ln() + key.ln_q() - key.error_deviation.ln()).max(0.0);
        let dimension = (left * c / ln_delta).sqrt().ceil().max(left + 1.0) as usize;
        Lattice { left, ln_delta, c, dimension }
    }

    /// What [`Sampler`] adds to the logarithm of an error for the lattice is at least this: the
    /// value d ln δ − c (d − left) / d has at the best real d.
    fn least_stretch(&self) -> f64 {
        2.0 * (self.c * self.left * self.ln_delta).sqrt() - self.c
    }
}

/// ln of how much longer the vectors are that a sieve puts out than the shortest one of a reduced
/// basis: by √(4/3), and since it runs in another dimension than BKZ. At d = 2β, as the public
/// estimator has it.
fn ln_longer(model: CostModel, beta: usize) -> f64 {
    let sieved = model.sieve_dimension(beta as u32, 2 * beta);
    let ratio = root_hermite(sieved).ln() - root_hermite(beta as u32).ln();
    0.5 * (4.0f64 / 3.0).ln() + (f64::from(sieved) - 1.0) * ratio
}

/// log2 of the number of vectors that a sieve puts out.
fn log2_vectors(sieved: u32) -> f64 {
    (0.2075 * f64::from(sieved)).exp2().floor().log2()
}

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
        let lattice = Lattice::new(key, beta, zeta, deviation);
        let d = lattice.dimension as f64;
        let stretch = d * lattice.ln_delta - lattice.c * (d - lattice.left) / d;
        let sieved = model.sieve_dimension(beta as u32, lattice.dimension);
        let reduction = model.log2_cost(beta as u32, lattice.dimension);
        Sampler {
            dimension: lattice.dimension,
            deviation: (ln_longer(model, beta) + deviation.ln() + stretch).exp(),
            once: log2_sum(reduction, model.log2_sieve(sieved)),
            vectors: log2_vectors(sieved),
        }
    }

    /// log2 of the cost of 2^`log2_vectors` vectors.
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
/// **Bounds** over a rectangle of ζ and β. With L = n − ζ and c = a − ln(L)/2 for a constant a, or
/// c constant, L·c is concave in L: it is least at an end of the range. So are the dimension
/// √(L·c/ln δ), for the least β since δ falls, and the error, whose logarithm is at least
/// 2 √(L·c·ln δ) for the largest β plus what only depends on β ([`ln_longer`], of which the least
/// one in the range is looked up) plus a constant. L·c is at most the largest L times the largest
/// c. The dimension of a sieve without its dimensions for free grows with β: one call costs at
/// least, and puts out at most, what it does for one end of the range of β with the number of calls
/// at the other. Candidates are fewest at the least ζ.
struct Hybrid<'k> {
    key: &'k Lwe,
    model: CostModel,
    longer: Minima,
    tried: usize,
}

/// The least value of a function in any range of β, from the minima of all ranges of 2^k.
struct Minima(Vec<Vec<f64>>);

impl Minima {
    fn new(values: Vec<f64>) -> Self {
        let mut rows = vec![values];
        for k in 0.. {
            let row: &Vec<f64> = &rows[k];
            let half = 1 << k;
            if row.len() <= half {
                return Minima(rows);
            }
            rows.push(row.iter().zip(&row[half..]).map(|(a, b)| a.min(*b)).collect());
        }
        unreachable!("rows become shorter")
    }

    fn of(&self, (first, last): (usize, usize)) -> f64 {
        let (first, last) = (first - MIN_BLOCK, last - MIN_BLOCK);
        let k = (last - first + 1).ilog2() as usize;
        self.0[k][first].min(self.0[k][last + 1 - (1 << k)])
    }
}

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
        if zeta.0 == zeta.1 && beta.0 == beta.1 {
            return Sampler::new(self.key, self.model, beta.0, zeta.0, deviation(zeta.0));
        }
        let at = |zeta: usize, beta: usize| Lattice::new(self.key, beta, zeta, deviation(zeta));
        let [few, many] = [at(zeta.1, beta.0), at(zeta.0, beta.0)];
        let [short, long] = [at(zeta.1, beta.1), at(zeta.0, beta.1)];
        let stretch =
            |lattice: &Lattice, zeta: usize| deviation(zeta).ln() + lattice.least_stretch();
        let error = self.longer.of(beta) + stretch(&short, zeta.1).min(stretch(&long, zeta.0));
        let dimension = few.dimension.min(many.dimension);
        let widest = (long.left * short.c.max(long.c) / long.ln_delta).sqrt().ceil();
        let widest = widest.max(long.left + 1.0) as usize;
        let least = beta.0 + dimension.saturating_sub(beta.1).max(1);
        let most = beta.1 + widest.saturating_sub(beta.0).max(1);
        let sieve = |beta: usize, dimension| self.model.sieve_dimension(beta as u32, dimension);
        let reduction = self.model.log2_cost(beta.0 as u32, least);
        Sampler {
            dimension,
            deviation: error.exp(),
            once: log2_sum(reduction, self.model.log2_sieve(sieve(beta.0, least))),
            vectors: log2_vectors(sieve(beta.1, most)),
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
    let longer = Minima::new((MIN_BLOCK..=MAX_BLOCK).map(|beta| ln_longer(model, beta)).collect());
    (
        Hybrid { key, model, longer, tried: 0 },
        Region { zeta: (1, last), beta: (MIN_BLOCK, MAX_BLOCK) },
    )
}

/// Whether the dual hybrid is sure to cost at least `limit` bits, wherever it is run.
pub(super) fn hybrid_costs_at_least(key: &Lwe, model: CostModel, limit: f64) -> bool {
    let (mut plane, whole) = plane(key, model);
    none_below(&mut plane, whole, limit)
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
