//! The linear maps of a bootstrapping, group by group.

use std::sync::{Arc, PoisonError, RwLock};

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, Level, NextUse};

use super::observe::{Stage, Watch};
use super::plan::{BootstrapCosts, BootstrapPlan};
use crate::error::CircuitError;
use crate::linear::{LinearMapPlan, PreparedLinearMap, StepCosts};
use crate::transform::Packing;

/// Something that was prepared for ciphertexts of one level: the level that was asked for last.
pub(super) struct AtLevel<T>(RwLock<Option<(Level, Arc<T>)>>);

impl<T> AtLevel<T> {
    pub(super) fn new() -> Self {
        AtLevel(RwLock::new(None))
    }

    /// `make` is given what is there for another level.
    pub(super) fn get(
        &self,
        level: Level,
        make: impl FnOnce(Option<&T>) -> Result<T, CircuitError>,
    ) -> Result<Arc<T>, CircuitError> {
        // Levels are no chain of subsets, so the diagonals of a higher level would not do. A thread
        // that panicked left the old value or the new one, both complete.
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let other = match held {
            Some((at, found)) if at == level => return Ok(found),
            other => other.map(|(_, found)| found),
        };
        let made = Arc::new(make(other.as_deref())?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some((level, made.clone()));
        Ok(made)
    }
}

/// One merged group of stages, with its diagonals for the level at which it is used.
struct Group<S: ExactScheme> {
    plan: Arc<LinearMapPlan>,
    prepared: AtLevel<PreparedLinearMap<S>>,
}

impl<S: ExactScheme> Group<S> {
    fn new(plan: Arc<LinearMapPlan>) -> Self {
        Group { plan, prepared: AtLevel::new() }
    }

    fn prepared(
        &self,
        scheme: &S,
        level: Level,
    ) -> Result<Arc<PreparedLinearMap<S>>, CircuitError> {
        self.prepared.get(level, |other| {
            match other.and_then(|other| other.at_level(scheme, level)) {
                Some(prepared) => Ok(prepared),
                None => PreparedLinearMap::new(scheme, &self.plan, level),
            }
        })
    }
}

/// All groups of one map, in the order of application.
type Groups<S> = Arc<[Group<S>]>;

/// Both linear maps of a plan.
pub(super) struct Maps<S: ExactScheme> {
    /// What determines each.
    keys: [MapKey; 2],
    coeff_to_slot: Groups<S>,
    slot_to_coeff: Groups<S>,
}

impl<S: ExactScheme> Maps<S> {
    /// Coefficient-to-slot of each ciphertext; `next` is what is done to the results.
    pub(super) fn coeff_to_slots(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        next: NextUse,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let (stage, lists) = (Stage::CoeffToSlot, us.into_iter().map(|u| vec![u]).collect());
        Ok(apply_groups(scheme, &self.coeff_to_slot, lists, next, stage, watch)?.results)
    }

    /// Slot-to-coefficient of each list of as many inputs as the first group has.
    pub(super) fn slots_to_coeff(
        &self,
        scheme: &S,
        lists: Vec<Vec<S::Ciphertext>>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Applied<S>, CircuitError> {
        let (next, stage) = (NextUse::Keep, Stage::SlotToCoeff);
        apply_groups(scheme, &self.slot_to_coeff, lists, next, stage, watch)
    }

    /// Prepares the diagonals of a group for ciphertexts of one level, if there is such a group.
    pub(super) fn prepare(
        &self,
        scheme: &S,
        stage: Stage,
        group: usize,
        level: Level,
    ) -> Result<(), CircuitError> {
        let groups = match stage {
            Stage::CoeffToSlot => &self.coeff_to_slot,
            Stage::SlotToCoeff => &self.slot_to_coeff,
            _ => return Ok(()),
        };
        groups.get(group).map_or(Ok(()), |group| group.prepared(scheme, level).map(|_| ()))
    }

    /// The automorphisms that need keys, some more than once.
    pub(super) fn galois_elements(&self) -> impl Iterator<Item = GaloisElement> {
        let groups = self.coeff_to_slot.iter().chain(self.slot_to_coeff.iter());
        groups.flat_map(|group| group.plan.galois_elements())
    }

    pub(super) fn coeff_to_slot_costs(&self) -> BootstrapCosts {
        costs(&self.coeff_to_slot)
    }

    pub(super) fn slot_to_coeff_costs(&self) -> BootstrapCosts {
        costs(&self.slot_to_coeff)
    }
}

fn costs<S: ExactScheme>(groups: &[Group<S>]) -> BootstrapCosts {
    groups.iter().fold(BootstrapCosts::default(), |sum, group| {
        sum.then(BootstrapCosts {
            key_switches: group.plan.key_switches(),
            plain_products: group.plan.plain_products(),
            depth: 1,
            ..BootstrapCosts::default()
        })
    })
}

/// What maps are made for.
pub(super) struct Setting<'a> {
    pub(super) shape: &'a SlotShape,
    pub(super) plan: &'a BootstrapPlan,
    /// The plaintext exponent on the way to the slots.
    pub(super) raised_exponent: u32,
    /// The plaintext exponent on the way back, r.
    pub(super) message_exponent: u32,
}

/// What determines the groups of a map on given slots.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MapKey {
    /// Coefficient-to-slot, which is the inverse of the other.
    pub(super) inverse: bool,
    /// How many stages each group holds.
    pub(super) sizes: Vec<usize>,
    /// The exponent e of the plaintext modulus p^e.
    pub(super) exponent: u32,
    /// Which coefficients are moved.
    pub(super) packing: Packing,
    /// How each group is split into steps.
    pub(super) steps: StepCosts,
}

/// A cache of the maps that were planned last, with their diagonals: most of the time of a dry run
/// goes into these, and plans that are compared share them. All entries are for schemes of the same
/// parameters.
pub(super) struct Shelf<S: ExactScheme> {
    held: Vec<(MapKey, Groups<S>)>,
}

impl<S: ExactScheme> Default for Shelf<S> {
    fn default() -> Self {
        Shelf { held: Vec::new() }
    }
}

impl<S: ExactScheme> Shelf<S> {
    /// Diagonals are large: at large degrees more entries would exceed the memory.
    const PLACES: usize = 5;

    /// With the plans of maps of another scheme of the same parameters, without their diagonals.
    pub(super) fn of_plans<R: ExactScheme>(maps: &Maps<R>) -> Self {
        let both = [&maps.coeff_to_slot, &maps.slot_to_coeff];
        let copied = |(key, groups): (&MapKey, &Groups<R>)| -> (MapKey, Groups<S>) {
            let groups = groups.iter().map(|group| Group::new(group.plan.clone()));
            (key.clone(), groups.collect())
        };
        Shelf { held: maps.keys.iter().zip(both).map(copied).collect() }
    }

    /// The maps of a plan; `make` plans the groups of those that are not here.
    pub(super) fn maps(
        &mut self,
        setting: &Setting<'_>,
        packing: Packing,
        make: impl Fn(&MapKey) -> Result<Vec<LinearMapPlan>, CircuitError>,
    ) -> Result<Maps<S>, CircuitError> {
        let plan = setting.plan;
        let coeff_to_slot = MapKey {
            inverse: true,
            sizes: plan.coeff_to_slot.clone(),
            exponent: setting.raised_exponent,
            packing,
            steps: plan.steps,
        };
        let slot_to_coeff = MapKey {
            inverse: false,
            sizes: plan.slot_to_coeff.clone(),
            exponent: setting.message_exponent,
            ..coeff_to_slot.clone()
        };
        Ok(Maps {
            keys: [coeff_to_slot.clone(), slot_to_coeff.clone()],
            coeff_to_slot: self.groups(coeff_to_slot, &make)?,
            slot_to_coeff: self.groups(slot_to_coeff, &make)?,
        })
    }

    fn groups(
        &mut self,
        key: MapKey,
        make: impl Fn(&MapKey) -> Result<Vec<LinearMapPlan>, CircuitError>,
    ) -> Result<Groups<S>, CircuitError> {
        let found = self.held.iter().position(|(k, _)| *k == key);
        let entry = match found {
            Some(i) => self.held.remove(i),
            None => {
                let plans = make(&key)?.into_iter();
                let groups = plans.map(|plan| Group::new(Arc::new(plan))).collect();
                (key, groups)
            }
        };
        // In the order of use: the entry that was used last is the last one.
        if self.held.len() >= Self::PLACES {
            self.held.remove(0);
        }
        let groups = entry.1.clone();
        self.held.push(entry);
        Ok(groups)
    }
}

/// What groups give, for each list of inputs.
pub(super) struct Applied<S: ExactScheme> {
    /// The results.
    pub(super) results: Vec<S::Ciphertext>,
    /// The inputs of the last group; none without groups.
    pub(super) before: Option<Vec<S::Ciphertext>>,
}

/// Applies the groups in order, the first one to all inputs of each list.
fn apply_groups<S: ExactScheme>(
    scheme: &S,
    groups: &[Group<S>],
    lists: Vec<Vec<S::Ciphertext>>,
    last: NextUse,
    stage: Stage,
    watch: &mut Watch<'_, S>,
) -> Result<Applied<S>, CircuitError> {
    let none = || CircuitError::Empty { what: "the list of inputs" };
    let (mut lists, mut before) = (lists, None);
    for (i, group) in groups.iter().enumerate() {
        let next = if i + 1 == groups.len() { last } else { NextUse::LinearMap };
        // Messages and overflows have different bounds, and so may have been left at different
        // levels; diagonals are prepared for one.
        let low = lists.iter().flatten().map(|x| scheme.level(x)).min().ok_or_else(none)?;
        for x in lists.iter_mut().flatten().filter(|x| scheme.level(x) > low) {
            *x = scheme.mod_switch_to(x, low)?;
        }
        let inputs: Vec<&[S::Ciphertext]> = lists.iter().map(Vec::as_slice).collect();
        let first = inputs.first().and_then(|list| list.first()).ok_or_else(none)?;
        let prepared = group.prepared(scheme, scheme.level(first))?;
        let ys = prepared.apply_each(scheme, &inputs, next)?;
        watch.done(stage, i, Some(first), ys.first().ok_or_else(none)?);
        let used = std::mem::replace(&mut lists, ys.into_iter().map(|y| vec![y]).collect());
        before = Some(used.into_iter().flatten().collect());
    }
    Ok(Applied { results: lists.into_iter().flatten().collect(), before })
}
