//! The choice of a bootstrapping plan by dry runs.

use everlevel_scheme::{Bootstrappable, Cost, ExactScheme, NextUse, Scheme, SchemeError};

use super::bootstrapper::Bootstrapper;
use super::groups::Shelf;
use super::plan::{BootstrapCosts, BootstrapPlan};
use crate::error::CircuitError;

/// A scheme without cryptography with the same levels, noise bounds and errors as the one that is
/// planned for.
///
/// It is meant for the no-op scheme of `everlevel-scheme`; the caller implements this trait, as
/// this crate names no scheme.
pub trait DryRun {
    /// The scheme.
    type Scheme: Bootstrappable;
    /// A new instance with its counters at zero. Diagonals that one instance prepared serve all of
    /// them.
    ///
    /// # Errors
    /// Errors of the scheme.
    fn scheme(&self) -> Result<Self::Scheme, SchemeError>;

    /// A ciphertext that needs bootstrapping, with at least a given number of bits of capacity
    /// left.
    ///
    /// # Errors
    /// Errors of the scheme.
    fn exhausted(
        &self,
        scheme: &Self::Scheme,
        capacity: f64,
    ) -> Result<<Self::Scheme as Scheme>::Ciphertext, SchemeError>;

    /// The cost of the operations so far.
    fn cost(&self, scheme: &Self::Scheme) -> Cost;

    /// The size of the keys used so far.
    fn key_bytes(&self, scheme: &Self::Scheme) -> u64;
}

/// The criterion for the choice of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Objective {
    /// Least time for each multiplication that a bootstrapping makes possible.
    Throughput,
    /// Least time of one bootstrapping.
    Latency,
    /// The largest remaining capacity.
    Capacity,
}

/// A model of time: seconds for the counted operations on one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeModel {
    /// One transform of one limb.
    pub transform: f64,
    /// One byte read or written by limb-wise kernels.
    pub byte: f64,
}

impl TimeModel {
    /// A current x86 core with vector units: a quarter of a nanosecond for each butterfly, and 10
    /// GB/s. Measurements on the machine at hand give better estimates.
    pub fn typical(degree: usize) -> Self {
        let butterflies = degree as f64 / 2.0 * (degree.max(2) as f64).log2();
        TimeModel { transform: 0.25e-9 * butterflies, byte: 0.1e-9 }
    }

    /// The modeled time of a cost.
    pub fn seconds(&self, cost: &Cost) -> f64 {
        self.transform * cost.transforms as f64 + self.byte * cost.bytes as f64
    }

    /// The same with the time of linear combinations. [`TimeModel::seconds`], by which plans are
    /// chosen, leaves it out.
    pub fn seconds_with_combinations(&self, cost: &Cost) -> f64 {
        self.seconds(cost) + self.byte * cost.scaled_bytes as f64
    }
}

/// The result of the dry run of one plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanReport {
    /// The plan.
    pub plan: BootstrapPlan,
    /// Its cost by the plan.
    pub costs: BootstrapCosts,
    /// Its cost as counted by the scheme.
    pub cost: Cost,
    /// The modeled time.
    pub seconds: f64,
    /// The capacity of the result in bits.
    pub capacity_bits: f64,
    /// The number of consecutive multiplications before the next bootstrapping, with the remaining
    /// capacity as a fraction.
    pub multiplications: f64,
    /// The size of all keys.
    pub key_bytes: u64,
}

impl PlanReport {
    /// The figure that `objective` minimizes.
    pub fn score(&self, objective: Objective) -> f64 {
        match objective {
            Objective::Throughput if self.multiplications <= 0.0 => f64::INFINITY,
            Objective::Throughput => self.seconds / self.multiplications,
            Objective::Latency => self.seconds,
            Objective::Capacity => -self.capacity_bits,
        }
    }
}

/// Ranks bootstrapping plans by dry runs.
#[derive(Clone, Copy, Debug)]
pub struct Planner<'a, D> {
    dry: &'a D,
    model: TimeModel,
    objective: Objective,
}

impl<'a, D: DryRun> Planner<'a, D> {
    /// A planner.
    pub fn new(dry: &'a D, model: TimeModel, objective: Objective) -> Self {
        Planner { dry, model, objective }
    }

    /// Runs one plan.
    ///
    /// # Errors
    /// As `Bootstrapper::new` and `Bootstrapper::bootstrap`: above all that the chain of moduli is
    /// too short.
    pub fn report(&self, plan: &BootstrapPlan) -> Result<PlanReport, CircuitError> {
        self.report_with(plan, &mut Shelf::default())
    }

    fn report_with(
        &self,
        plan: &BootstrapPlan,
        shelf: &mut Shelf<D::Scheme>,
    ) -> Result<PlanReport, CircuitError> {
        let scheme = self.dry.scheme()?;
        let bootstrapper = Bootstrapper::with_shelf(&scheme, plan.clone(), shelf)?;
        let exhausted = self.dry.exhausted(&scheme, bootstrapper.minimum_capacity(&scheme))?;
        let before = self.dry.cost(&scheme);
        let fresh = bootstrapper.bootstrap(&scheme, &exhausted)?;
        let cost = self.dry.cost(&scheme) - before;
        let key_bytes = self.dry.key_bytes(&scheme);
        Ok(PlanReport {
            costs: bootstrapper.costs(),
            seconds: self.model.seconds(&cost),
            capacity_bits: scheme.capacity_bits(&fresh),
            multiplications: multiplications(
                &scheme,
                &fresh,
                bootstrapper.minimum_capacity(&scheme),
            ),
            plan: plan.clone(),
            cost,
            key_bytes,
        })
    }

    /// Runs all candidates and returns those that fit, the best first.
    ///
    /// # Errors
    /// [`CircuitError::NoPlan`] if none fits.
    pub fn rank(&self, candidates: &[BootstrapPlan]) -> Result<Vec<PlanReport>, CircuitError> {
        let mut reports = Vec::new();
        let mut last = String::from("no candidates were given");
        let mut shelf = Shelf::default();
        for plan in candidates {
            match self.report_with(plan, &mut shelf) {
                Ok(report) => reports.push(report),
                Err(error) => last = error.to_string(),
            }
        }
        if reports.is_empty() {
            return Err(CircuitError::NoPlan { tried: candidates.len(), last });
        }
        reports.sort_by(|a, b| a.score(self.objective).total_cmp(&b.score(self.objective)));
        Ok(reports)
    }

    /// A good plan with few runs (some fifty at full size, about a second each): beginning with a
    /// plan of `candidates` that fits, it varies one choice after the other (coefficient-to-slot,
    /// digit removal, slot-to-coefficient) over the values in `candidates`, until nothing improves.
    ///
    /// # Errors
    /// [`CircuitError::NoPlan`] if no candidate fits.
    pub fn search(&self, candidates: &[BootstrapPlan]) -> Result<PlanReport, CircuitError> {
        let mut last = String::from("no candidates were given");
        let mut shelf = Shelf::default();
        let fitting = candidates.iter().find_map(|plan| {
            self.report_with(plan, &mut shelf).map_err(|error| last = error.to_string()).ok()
        });
        let Some(mut best) = fitting else {
            return Err(CircuitError::NoPlan { tried: candidates.len(), last });
        };
        let mut tried = vec![best.plan.clone()];
        loop {
            let score = best.score(self.objective);
            for part in [copy_coeff_to_slot, copy_digits, copy_slot_to_coeff] {
                for other in candidates {
                    let mut plan = best.plan.clone();
                    part(&mut plan, other);
                    // More keys are tried only where larger groups need them, as each limit is
                    // another dry run.
                    if plan.keys_wanted() > plan.steps.max_keys {
                        plan.steps.max_keys = plan.steps.max_keys.max(other.steps.max_keys);
                    }
                    if tried.contains(&plan) {
                        continue;
                    }
                    if let Ok(report) = self.report_with(&plan, &mut shelf)
                        && report.score(self.objective) < best.score(self.objective)
                    {
                        best = report;
                    }
                    tried.push(plan);
                }
            }
            if best.score(self.objective) >= score {
                return Ok(best);
            }
        }
    }
}

fn copy_coeff_to_slot(plan: &mut BootstrapPlan, from: &BootstrapPlan) {
    plan.coeff_to_slot.clone_from(&from.coeff_to_slot);
}

fn copy_slot_to_coeff(plan: &mut BootstrapPlan, from: &BootstrapPlan) {
    plan.slot_to_coeff.clone_from(&from.slot_to_coeff);
}

fn copy_digits(plan: &mut BootstrapPlan, from: &BootstrapPlan) {
    plan.digits = from.digits;
    plan.digit_form = from.digit_form;
}

/// How many squarings in a row leave at least `needed` bits; the last one in part.
fn multiplications<S: ExactScheme>(scheme: &S, fresh: &S::Ciphertext, needed: f64) -> f64 {
    let mut x = fresh.clone();
    let mut count = 0.0;
    let mut step: f64 = f64::INFINITY;
    // The loop ends as every product takes capacity; the bound is for schemes that do not account
    // for it.
    while count < 1000.0 {
        let before = scheme.capacity_bits(&x);
        let Ok(y) = scheme.mul(&x, &x, NextUse::Product) else {
            break;
        };
        let after = scheme.capacity_bits(&y);
        if after < needed {
            step = before - after;
            break;
        }
        step = before - after;
        count += 1.0;
        x = y;
    }
    let rest = scheme.capacity_bits(&x) - needed;
    if step.is_finite() && step > 0.0 { count + (rest / step).clamp(-1.0, 1.0) } else { count }
}
