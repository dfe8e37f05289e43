//! Primal attacks: the secret and the error as a short, or close, vector of a reduced basis
//! ([`Basis`]), with and without guesses.
//!
//! A guess covers ζ coordinates of weight w at most (exactly w where it meets by representations)
//! and 2^ρ rotations of the secret (ia.cr/2026/279): 2^ρ times the candidates, 2^ρ chances. Trying
//! it is nearest planes or a search in a projected lattice, once for every candidate or for their
//! square root (Howgrave-Graham 2007); or representations ([`super::representations`]), for the
//! lists of which the square root of the rotations counts. All is repeated until it succeeds with
//! 99 %.
//!
//! **Bounds** over a rectangle of ζ and β ([`Plane::bound`]), which the search relies on: reduction
//! costs at least what the least β costs in the least dimension, that of the largest ζ; a trial at
//! least what it costs on the longest vectors, on which it succeeds with the largest probability;
//! candidates of a weight are fewest at the least ζ, where their probability is largest too.

use std::collections::HashMap;
use std::rc::Rc;

use super::basis::{Basis, MAX_BLOCK, MIN_BLOCK};
use super::guess::{
    GuessSet, log2_most_likely, log2_of_any, log2_repetitions, rotation_choices, sets,
};
use super::key::Lwe;
use super::regions::{Bound, Plane, Region, TOLERANCE, cheapest, none_below};
use super::representations;
use crate::attack::{Attack, AttackName, Guess};
use crate::reduction::CostModel;
use crate::special::log2_sum;

/// How guesses are tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trial {
    /// A search in a projected lattice, without a guess: BDD. Fewer dimensions than the best ones
    /// cost less to reduce.
    Search,
    /// Nearest planes for every candidate.
    Planes,
    /// Nearest planes for the square root of the candidates.
    PlanesMeeting,
    /// A search in a projected lattice for the square root of the candidates.
    SearchMeeting,
    /// Nearest planes for lists of representations.
    Representations,
}

impl Trial {
    fn name(self) -> AttackName {
        match self {
            Trial::Search => AttackName::Bdd,
            Trial::Planes | Trial::PlanesMeeting => AttackName::PrimalHybridBabai,
            Trial::SearchMeeting => AttackName::PrimalHybridMitm,
            Trial::Representations => AttackName::PrimalHybridRepresentations,
        }
    }

    /// Whether two halves of a guess meet.
    fn meets(self) -> bool {
        !matches!(self, Trial::Search | Trial::Planes)
    }

    /// The most percent of the best dimension that are left out.
    fn most_shrink(self) -> usize {
        if self == Trial::Search { 7 } else { 0 }
    }
}

/// What a basis costs and what one trial does, as log2.
#[derive(Clone, Copy)]
struct Step {
    reduction: f64,
    trial: f64,
    probability: f64,
}

/// The cheapest guess for a step.
#[derive(Clone, Copy)]
struct Choice {
    bits: f64,
    guess: Option<Guess>,
}

/// log2 of the cost of nearest planes in dimension k.
fn planes(k: usize) -> f64 {
    2.0 * (k.max(1) as f64).log2()
}

/// One attack on one key, over all ζ and β.
pub(super) struct Primal<'k> {
    key: &'k Lwe,
    model: CostModel,
    trial: Trial,
    sets: HashMap<usize, Rc<Vec<GuessSet>>>,
    tried: usize,
}

impl<'k> Primal<'k> {
    pub(super) fn new(key: &'k Lwe, model: CostModel, trial: Trial) -> Self {
        Primal { key, model, trial, sets: HashMap::new(), tried: 0 }
    }

    fn sets(&mut self, zeta: usize) -> Rc<Vec<GuessSet>> {
        let (n, weight) = (self.key.dimension, self.key.weight().unwrap_or(self.key.dimension));
        let tried = &mut self.tried;
        let made = || {
            let sets = sets(n, weight, zeta);
            *tried += sets.len();
            Rc::new(sets)
        };
        self.sets.entry(zeta).or_insert_with(made).clone()
    }

    /// The whole plane.
    pub(super) fn whole(&self) -> Region {
        let last = if self.trial == Trial::Search { 0 } else { self.key.dimension - 8 };
        Region { zeta: (0, last), beta: (MIN_BLOCK, MAX_BLOCK) }
    }

    fn step(&self, basis: &Basis, beta: usize) -> Option<Step> {
        let dimension = basis.dimension;
        let reduction = self.model.log2_cost(beta as u32, dimension);
        let (trial, probability) = match self.trial {
            Trial::Planes => (planes(dimension), basis.log2_planes(0)),
            Trial::PlanesMeeting => {
                (planes(dimension), basis.log2_planes(0) + basis.log2_admissible())
            }
            Trial::Representations => (0.0, basis.log2_planes(0) + basis.log2_admissible()),
            Trial::Search | Trial::SearchMeeting => {
                let search = basis.search_dimension()?;
                let lifted = (dimension + 1).checked_sub(search)?;
                (
                    log2_sum(self.model.log2_cost(search as u32, search), planes(lifted)),
                    basis.log2_planes(search - 1),
                )
            }
        };
        Some(Step { reduction, trial, probability })
    }

    /// What no step of the region can do better.
    fn best_step(&self, region: Region, longest: &Basis) -> Option<Step> {
        let Region { zeta, beta } = region;
        let dimension = Basis::new(self.key, zeta.1, beta.0, self.trial.most_shrink()).dimension;
        let calls = dimension.saturating_sub(beta.1).max(1);
        let reduction = self.model.log2_cost(beta.0 as u32, beta.0 + calls);
        let (trial, probability) = match self.trial {
            Trial::Planes => (planes(dimension), longest.log2_planes(0)),
            Trial::PlanesMeeting => {
                (planes(dimension), longest.log2_planes(0) + longest.log2_admissible())
            }
            Trial::Representations => (0.0, longest.log2_planes(0) + longest.log2_admissible()),
            Trial::Search => (self.least_search(longest)?, 0.0),
            Trial::SearchMeeting => {
                let shortest = Basis::shortest(self.key, zeta, beta);
                let largest = shortest.search_dimension();
                let (lifted, probability) = match largest {
                    Some(k) => ((dimension + 1).saturating_sub(k), longest.log2_planes(k - 1)),
                    None => (1, 0.0),
                };
                (log2_sum(self.least_search(longest)?, planes(lifted)), probability)
            }
        };
        Some(Step { reduction, trial, probability })
    }

    /// The least cost of a search in the dimension that these lengths ask for, or a larger one:
    /// dimensions for free make 20 the cheapest of all small ones.
    fn least_search(&self, basis: &Basis) -> Option<f64> {
        let search = basis.search_dimension()?.max(20);
        Some(self.model.log2_cost(search as u32, search))
    }

    /// The cheapest weight and number of rotations, for guesses of ζ.0 coordinates that succeed as
    /// any of ζ.0 to ζ.1 would at best.
    fn choose(
        &mut self,
        step: Step,
        basis: &Basis,
        zeta: (usize, usize),
        limit: f64,
    ) -> Option<Choice> {
        if self.trial == Trial::Search || (zeta.0 == 0 && zeta.1 == 0) {
            let once = log2_sum(step.reduction, step.trial);
            return Some(Choice { bits: once + log2_repetitions(step.probability), guess: None });
        }
        if self.trial == Trial::Representations {
            return self.choose_represented(step, basis, zeta, limit);
        }
        let root = if self.trial.meets() { 0.5 } else { 1.0 };
        let rotations = self.key.rotations;
        let mut best: Option<Choice> = None;
        for set in self.sets(zeta.0).iter() {
            let least = best.map_or(limit, |b| b.bits);
            if step.trial + root * set.log2_candidates > least {
                break;
            }
            self.tried += 1;
            for turns in rotation_choices(set.log2_probability, rotations) {
                let log2_candidates = set.log2_candidates + turns;
                let once = log2_sum(step.reduction, step.trial + root * log2_candidates);
                let log2_probability = log2_of_any(set.log2_probability, turns);
                let bits = once + log2_repetitions(log2_probability + step.probability);
                if best.is_none_or(|b| bits < b.bits) {
                    let guess = Guess {
                        coordinates: zeta.0,
                        weight: set.weight,
                        log2_candidates,
                        log2_probability,
                    };
                    best = Some(Choice { bits, guess: (zeta.0 > 0).then_some(guess) });
                }
            }
        }
        best.filter(|b| b.bits.is_finite())
    }

    fn choose_represented(
        &mut self,
        step: Step,
        basis: &Basis,
        zeta: (usize, usize),
        limit: f64,
    ) -> Option<Choice> {
        let (n, h) = (self.key.dimension, self.key.weight()?);
        let mut best: Option<Choice> = None;
        let mut near = 0;
        let all = (self.key.rotations as f64).log2();
        for weight in h.saturating_sub(n - zeta.0).max(2)..=h.min(zeta.1) {
            let least = best.map_or(limit, |b| b.bits);
            if representations::least(zeta.0.max(weight), weight) > least {
                break;
            }
            let exact = log2_most_likely(n, h, zeta, weight);
            let repetitions = log2_repetitions(log2_of_any(exact, all) + step.probability);
            if step.reduction + repetitions > least {
                continue;
            }
            // Some ε each.
            self.tried += 8;
            let meeting = representations::meet(basis, zeta.0.max(weight), weight, least, near);
            let Some(meeting) = meeting else { break };
            near = meeting.extra;
            for turns in rotation_choices(exact, self.key.rotations) {
                let once = log2_sum(step.reduction, meeting.bits + 0.5 * turns);
                let log2_probability = log2_of_any(exact, turns);
                let bits = once + log2_repetitions(log2_probability + step.probability);
                if best.is_none_or(|b| bits < b.bits) {
                    let guess = Guess {
                        coordinates: zeta.0,
                        weight,
                        log2_candidates: representations::log2_ternary(zeta.0, weight) + turns,
                        log2_probability,
                    };
                    best = Some(Choice { bits, guess: Some(guess) });
                }
            }
        }
        best.filter(|b| b.bits.is_finite())
    }
}

impl Plane for Primal<'_> {
    type Point = Attack;

    fn at(&mut self, zeta: usize, beta: usize, limit: f64) -> Option<(f64, Attack)> {
        let mut best: Option<(f64, Attack)> = None;
        for shrink in 0..=self.trial.most_shrink() {
            let basis = Basis::new(self.key, zeta, beta, shrink);
            let least = best.as_ref().map_or(limit, |(bits, _)| *bits);
            let Some(step) = self.step(&basis, beta).filter(|step| step.reduction < least) else {
                continue;
            };
            let Some(choice) = self.choose(step, &basis, (zeta, zeta), least) else { continue };
            if choice.bits < least {
                let attack = Attack {
                    name: self.trial.name(),
                    bits: choice.bits,
                    core_svp_bits: CostModel::CoreSvp.log2_cost(beta as u32, basis.dimension),
                    block_size: beta as u32,
                    dimension: basis.dimension,
                    degree: self.key.dimension,
                    guess: choice.guess,
                };
                best = Some((choice.bits, attack));
            }
        }
        best
    }

    fn bound(&mut self, region: Region, limit: f64) -> Bound {
        let none = Bound { bits: f64::INFINITY, zeta_spread: 0.0, beta_spread: 0.0 };
        let longest = Basis::longest(self.key, region.zeta, region.beta);
        let Some(step) = self.best_step(region, &longest) else { return none };
        if step.reduction > limit {
            return none;
        }
        let Some(choice) = self.choose(step, &longest, region.zeta, limit) else { return none };
        // How much of the bound's distance from the cost comes from either width: the reduction's
        // over β, and over ζ those of the candidates and of their probability.
        let last = self.model.log2_cost(region.beta.1 as u32, longest.dimension.max(region.beta.1));
        let root = if self.trial.meets() { 0.5 } else { 1.0 };
        let zeta_spread = choice.guess.map_or(f64::from(region.zeta.1 as u32), |guess| {
            let (n, h) = (self.key.dimension, self.key.weight().unwrap_or(0));
            let count = |zeta: usize| representations::log2_ternary(zeta, guess.weight.min(zeta));
            let chance = |zeta: usize| super::guess::ln_hit(n, h, zeta, guess.weight);
            let chances = (chance(region.zeta.0) - chance(region.zeta.1)).abs();
            root * (count(region.zeta.1) - count(region.zeta.0))
                + if chances.is_finite() { chances } else { 100.0 }
        });
        Bound { bits: choice.bits, zeta_spread, beta_spread: last - step.reduction }
    }

    fn weights_tried(&self) -> usize {
        self.tried
    }
}

/// ζ and β to begin with: ever denser towards n, where the best ones of sparse secrets lie.
fn starts(n: usize) -> impl Iterator<Item = (usize, usize)> {
    let zetas =
        (0..=32).map(move |k| n - ((n as f64) * (-f64::from(k) / 4.0).exp2()).ceil() as usize);
    zetas
        .map(move |zeta| zeta.min(n - 8))
        .flat_map(|zeta| [60, 120, 180, 250, 330].map(|beta| (zeta, beta)))
}

/// Whether the attack is sure to cost at least `limit` bits, wherever it is run.
pub(super) fn costs_at_least(key: &Lwe, model: CostModel, trial: Trial, limit: f64) -> bool {
    if trial != Trial::Search && key.weight().is_none() {
        return true;
    }
    let mut plane = Primal::new(key, model, trial);
    let whole = plane.whole();
    none_below(&mut plane, whole, limit)
}

/// The attack at its best, as far as the search is sure to find it: what it may have missed beyond
/// a tenth of a bit is taken off.
pub(super) fn best(key: &Lwe, model: CostModel, trial: Trial, limit: f64) -> Option<Attack> {
    if trial != Trial::Search {
        key.weight()?;
    }
    let mut plane = Primal::new(key, model, trial);
    let whole = plane.whole();
    let starts: Vec<(usize, usize)> = match trial {
        Trial::Search => [60, 120, 180, 250, 330, 500].map(|beta| (0, beta)).to_vec(),
        _ => starts(key.dimension).collect(),
    };
    let found = cheapest(&mut plane, whole, starts, limit)?;
    let missed = if found.loss > TOLERANCE { found.loss } else { 0.0 };
    Some(Attack { bits: found.bits - missed, ..found.point })
}
