//! Primal attacks: the secret and the error as a short, or close, vector.
//!
//! The lattice has a basis of d − n' vectors of length q and n' of length ξ, n' = n − ζ coordinates
//! of the secret being left; its volume is q^(d−n') ξ^n'. Reduced with block size β it is a
//! geometric series of ratio δ⁻².

use super::guess::{log2_repetitions, sets};
use super::key::Lwe;
use crate::attack::{Attack, AttackName, Guess, log2_sum};
use crate::reduction::{CostModel, ln_ball, root_hermite};
use crate::search::{least, minimize};

/// Larger block sizes are beyond 2^512 by any model.
const MAX_BLOCK: usize = 1754;
/// Below, root Hermite factors are steps of a table.
const MIN_BLOCK: usize = 40;

/// The least dimension in which block size β reveals the shortest vector (σ√β ≤ δ^(2β−d−1)
/// vol^(1/d), the embedding factor being σ): a quadratic inequality in d.
fn usvp_dimension(key: &Lwe, beta: usize) -> Option<usize> {
    let (n, sigma) = (key.dimension as f64, key.error_deviation);
    let ln_delta = root_hermite(beta as u32).ln();
    let length = 0.5 * (sigma * sigma * beta as f64).ln();
    let a = -ln_delta;
    let b = ln_delta * (2.0 * beta as f64 - 1.0) + key.ln_q() - length;
    let c = sigma.ln() + n * key.scale().ln() - (n + 1.0) * key.ln_q();
    let holds = |d: f64| (a * d + b) * d + c >= 0.0;
    if holds(n) {
        return Some(key.dimension);
    }
    let discriminant = b * b - 4.0 * a * c;
    let root = (-b + discriminant.sqrt()) / (2.0 * a);
    (discriminant >= 0.0 && root >= n).then(|| root.ceil() as usize)
}

/// Unique SVP.
pub(super) fn usvp(key: &Lwe, model: CostModel) -> Option<Attack> {
    let first = least(MIN_BLOCK, MAX_BLOCK, |beta| usvp_dimension(key, beta).is_some())?;
    // A larger block size needs fewer dimensions.
    let attacks = (first..(first + 24).min(MAX_BLOCK)).filter_map(|beta| {
        let dimension = usvp_dimension(key, beta)?.max(beta + 1);
        Some(Attack::reduction(AttackName::Usvp, model, key.dimension, dimension, beta as u32))
    });
    attacks.min_by(|a, b| a.bits.total_cmp(&b.bits))
}

/// A search of the whole lattice, whatever it costs: for keys beyond all attacks that are bounded.
pub(super) fn whole_lattice(key: &Lwe, model: CostModel) -> Attack {
    let dimension = 2 * key.dimension;
    Attack::reduction(AttackName::Usvp, model, key.dimension, dimension, dimension as u32)
}

/// A basis of the lattice without ζ coordinates after block reduction.
struct Reduced<'k> {
    key: &'k Lwe,
    dimension: usize,
    ln_delta: f64,
    /// ln of the volume.
    volume: f64,
}

impl<'k> Reduced<'k> {
    fn new(key: &'k Lwe, zeta: usize, beta: usize, shrink: usize) -> Self {
        let left = (key.dimension - zeta) as f64;
        let ln_delta = root_hermite(beta as u32).ln();
        let (ln_q, ln_scale) = (key.ln_q(), key.scale().ln());
        let best = (left * (ln_q - ln_scale).max(0.0) / ln_delta).sqrt().ceil() as usize;
        let dimension = (best - best * shrink / 100).max(beta).max(key.dimension - zeta + 1);
        let volume = (dimension as f64 - left) * ln_q + left * ln_scale;
        Reduced { key, dimension, ln_delta, volume }
    }

    /// ln of the i-th Gram–Schmidt length.
    fn ln_length(&self, i: usize) -> f64 {
        (self.dimension as f64 - 1.0 - 2.0 * i as f64) * self.ln_delta
            + self.volume / self.dimension as f64
    }

    /// Whether the error, projected to the last k dimensions, is shorter than everything else
    /// there.
    fn reveals(&self, k: usize) -> bool {
        let (d, k) = (self.dimension as f64, k as f64);
        let sigma = self.key.error_deviation;
        let volume = k / d * self.volume - (d - k) * k * self.ln_delta + sigma.ln();
        (volume - ln_ball(k as usize + 1)) / (k + 1.0) >= 0.5 * (sigma * sigma * (k + 1.0)).ln()
    }

    /// The dimension of the search that finds the error: one more than the least that reveals it,
    /// with the embedding's own coordinate.
    fn search_dimension(&self) -> Option<usize> {
        let revealing = least(1, self.dimension.min(MAX_BLOCK), |k| self.reveals(k))?;
        Some(revealing + 1)
    }

    /// Σ over the first `count` vectors of log2 `factor`, a function of the Gram–Schmidt length in
    /// units of √2 σ that is 1 for long ones.
    fn log2_product(&self, count: usize, factor: impl Fn(f64) -> f64) -> f64 {
        // Neighbours differ by a hundredth: the middle one of eight stands for all.
        const STRIDE: usize = 8;
        let unit = (std::f64::consts::SQRT_2 * self.key.error_deviation).ln();
        let (mut product, mut end) = (0.0, count);
        while end > 0 && product > -2000.0 {
            let start = end.saturating_sub(STRIDE);
            let log2 = factor((self.ln_length(start + (end - start) / 2) - unit).exp()).log2();
            product += log2 * (end - start) as f64;
            if log2 > -1e-9 {
                break;
            }
            end = start;
        }
        product
    }

    /// log2 of the probability that nearest planes finds an error of the first `count` coordinates:
    /// each within half a length.
    fn log2_babai(&self, count: usize) -> f64 {
        self.log2_product(count, |length| libm::erf(length / 2.0))
    }

    /// log2 of the probability that two halves of a guess, rounded one by one, meet (Son–Cheon
    /// 2019, lemma 4.2).
    fn log2_admissible(&self) -> f64 {
        let factor = |x: f64| libm::erf(x) + (-x * x).exp_m1() / (x * std::f64::consts::PI.sqrt());
        self.log2_product(self.dimension, |x| factor(x).max(1e-300))
    }
}

/// How guesses are tried.
#[derive(Clone, Copy, PartialEq)]
enum Trial {
    /// Nearest planes for every candidate.
    Planes,
    /// Nearest planes for the square root of the candidates.
    PlanesMeeting,
    /// A search in a projected lattice for every candidate: without a guess, BDD.
    Search,
    /// The same for the square root of the candidates.
    SearchMeeting,
}

/// How an attack is run.
#[derive(Clone, Copy)]
struct Choice {
    /// The block size.
    beta: usize,
    /// How many percent fewer dimensions than the best for the shortest vector.
    shrink: usize,
    trial: Trial,
}

/// What a choice costs before it is known what is guessed, as log2.
struct Step {
    dimension: usize,
    reduction: f64,
    trial: f64,
    probability: f64,
}

fn step(
    key: &Lwe,
    model: CostModel,
    zeta: usize,
    Choice { beta, shrink, trial }: Choice,
) -> Option<Step> {
    let basis = Reduced::new(key, zeta, beta, shrink);
    let dimension = basis.dimension;
    let reduction = model.log2_cost(beta as u32, dimension);
    let planes = |k: usize| 2.0 * (k.max(1) as f64).log2();
    let (trial, probability) = match trial {
        Trial::Planes => (planes(dimension), basis.log2_babai(dimension)),
        Trial::PlanesMeeting => {
            (planes(dimension), basis.log2_babai(dimension) + basis.log2_admissible())
        }
        Trial::Search | Trial::SearchMeeting => {
            let search = basis.search_dimension()?;
            let lifted = (dimension + 1).checked_sub(search)?;
            (
                log2_sum(model.log2_cost(search as u32, search), planes(lifted)),
                basis.log2_babai(lifted),
            )
        }
    };
    Some(Step { dimension, reduction, trial, probability })
}

/// The attack with these parameters, with the best of `sets`.
fn attack(
    key: &Lwe,
    model: CostModel,
    choice: Choice,
    sets: &[Guess],
    name: AttackName,
) -> Option<Attack> {
    let (step, beta) = (step(key, model, sets.first()?.coordinates, choice)?, choice.beta);
    let root =
        if matches!(choice.trial, Trial::PlanesMeeting | Trial::SearchMeeting) { 0.5 } else { 1.0 };
    let cost = |set: &Guess| {
        let once = log2_sum(step.reduction, step.trial + root * set.log2_candidates);
        once + log2_repetitions(set.log2_probability + step.probability)
    };
    let (bits, set) = sets.iter().map(|set| (cost(set), set)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    bits.is_finite().then(|| Attack {
        name,
        bits,
        core_svp_bits: CostModel::CoreSvp.log2_cost(beta as u32, step.dimension),
        block_size: beta as u32,
        dimension: step.dimension,
        degree: key.dimension,
        guess: (set.coordinates > 0).then_some(*set),
    })
}

/// BKZ, then one search: no guess. Fewer dimensions than the best one cost less to reduce.
pub(super) fn bdd(key: &Lwe, model: CostModel) -> Option<Attack> {
    let nothing = sets(key.dimension, 0, 0, 1);
    let at = |beta: usize| {
        let shrunk = (0..8).filter_map(|percent| {
            attack(
                key,
                model,
                Choice { beta, shrink: percent, trial: Trial::Search },
                &nothing,
                AttackName::Bdd,
            )
        });
        shrunk.min_by(|a, b| a.bits.total_cmp(&b.bits))
    };
    minimize(MIN_BLOCK, MAX_BLOCK, 64, at, |a| a.bits).map(|found| found.1)
}

/// The guessing dimensions to try first: ever denser towards n, where the best ones of sparse
/// secrets lie.
fn guessing_dimensions(n: usize) -> impl Iterator<Item = usize> {
    (0..=128).map(move |k| n - ((n as f64) * (-f64::from(k) / 16.0).exp2()).ceil() as usize)
}

/// The cost has ripples where the weight that is guessed changes: so many of the best first tries
/// are refined. (Four times the ζ, eight times the β and five times the starts find 0.3 bits less
/// at most on the reference rows.)
const STARTS: usize = 6;

/// Hybrids with nearest planes (for every candidate, or meeting in the middle: whichever is
/// cheaper), or with searches meeting in the middle.
pub(super) fn hybrid(key: &Lwe, model: CostModel, name: AttackName) -> Option<Attack> {
    let weight = key.weight()?;
    let trials: &[Trial] = match name {
        AttackName::PrimalHybridBabai => &[Trial::Planes, Trial::PlanesMeeting],
        _ => &[Trial::SearchMeeting],
    };
    let at = |trial: Trial, zeta: usize| {
        let sets = sets(key.dimension, weight, zeta, if zeta == 0 { 1 } else { key.rotations });
        let at = |beta: usize| attack(key, model, Choice { beta, shrink: 0, trial }, &sets, name);
        minimize(MIN_BLOCK, MAX_BLOCK.min(900), 32, at, |a| a.bits).map(|found| found.1)
    };
    let cheaper = |a: &Attack, b: &Attack| a.bits.total_cmp(&b.bits);
    let best = |trial: Trial| {
        let mut first: Vec<(usize, Attack)> = guessing_dimensions(key.dimension)
            .filter_map(|zeta| Some((zeta, at(trial, zeta)?)))
            .collect();
        first.sort_by(|a, b| cheaper(&a.1, &b.1));
        let refined = first
            .into_iter()
            .take(STARTS)
            .map(|(zeta, attack)| refine(key, zeta, attack, |zeta| at(trial, zeta)));
        refined.min_by(cheaper)
    };
    trials.iter().filter_map(|trial| best(*trial)).min_by(cheaper)
}

/// Looks at ever smaller distances from a guessing dimension for a cheaper attack.
fn refine(
    key: &Lwe,
    mut zeta: usize,
    mut best: Attack,
    at: impl Fn(usize) -> Option<Attack>,
) -> Attack {
    let mut width = ((key.dimension - zeta) / 24).max(1);
    loop {
        let mut improved = false;
        for offset in [-2i64, -1, 1, 2] {
            let near = zeta as i64 + offset * width as i64 / 2;
            if (0..key.dimension as i64 - 8).contains(&near)
                && near != zeta as i64
                && let Some(new) = at(near as usize).filter(|new| new.bits < best.bits)
            {
                (zeta, best, improved) = (near as usize, new, true);
            }
        }
        if width == 1 && !improved {
            return best;
        }
        if !improved {
            width = (width / 3).max(1);
        }
    }
}
