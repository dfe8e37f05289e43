//! The linear maps of a bootstrapping, group by group.

use std::sync::{Arc, PoisonError, RwLock};

use everlevel_ring::SlotShape;
use everlevel_scheme::{Level, NextUse, Scheme};

use super::observe::{Stage, Watch};
use super::plan::BootstrapPlan;
use crate::error::CircuitError;
use crate::linear::{LinearMapPlan, PreparedLinearMap, StepCosts};
use crate::transform::SlotTransform;
use crate::transform::{AxisTransform, Packing};

/// Something that was prepared for ciphertexts of one level: the level that was asked for last.
pub(super) struct AtLevel<T>(RwLock<Option<(Level, Arc<T>)>>);

impl<T> AtLevel<T> {
    pub(super) fn new() -> Self {
        AtLevel(RwLock::new(None))
    }

    pub(super) fn get(
        &self,
        level: Level,
        make: impl FnOnce() -> Result<T, CircuitError>,
    ) -> Result<Arc<T>, CircuitError> {
        // Levels are no chain of subsets, so the diagonals of a higher level would not do. A thread
        // that panicked left the old value or the new one, both complete.
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, found)) = held.filter(|(at, _)| *at == level) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some((level, made.clone()));
        Ok(made)
    }
}

/// One merged group of stages, with its diagonals for the level at which it is used.
pub(super) struct Group<S: Scheme> {
    pub(super) plan: LinearMapPlan,
    prepared: AtLevel<PreparedLinearMap<S>>,
}

impl<S: Scheme> Group<S> {
    fn new(plan: LinearMapPlan) -> Self {
        Group { plan, prepared: AtLevel::new() }
    }

    pub(super) fn prepared(
        &self,
        scheme: &S,
        level: Level,
    ) -> Result<Arc<PreparedLinearMap<S>>, CircuitError> {
        self.prepared.get(level, || PreparedLinearMap::new(scheme, &self.plan, level))
    }
}

/// All groups of one map, in the order of application.
pub(super) type Groups<S> = Arc<[Group<S>]>;

/// What determines the groups of a map on given slots.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MapKey {
    inverse: bool,
    sizes: Vec<usize>,
    exponent: u32,
    /// For odd indices.
    packing: Packing,
    steps: StepCosts,
}

impl MapKey {
    pub(super) fn coeff_to_slot(plan: &BootstrapPlan, exponent: u32, packing: Packing) -> Self {
        MapKey {
            inverse: true,
            sizes: plan.coeff_to_slot.clone(),
            exponent,
            packing,
            steps: plan.steps,
        }
    }

    pub(super) fn slot_to_coeff(plan: &BootstrapPlan, exponent: u32, packing: Packing) -> Self {
        MapKey {
            inverse: false,
            sizes: plan.slot_to_coeff.clone(),
            exponent,
            packing,
            steps: plan.steps,
        }
    }

    fn plan<S: Scheme>(&self, shape: &SlotShape) -> Result<Groups<S>, CircuitError> {
        if shape.axes().is_some() {
            let transform = AxisTransform::new(shape, self.exponent)?;
            let maps = if self.inverse {
                transform.coeff_to_slot(&self.sizes, self.packing)?
            } else {
                transform.slot_to_coeff(&self.sizes, self.packing)?
            };
            return maps
                .iter()
                .map(|map| Ok(Group::new(LinearMapPlan::along_axes(map, &self.steps)?)))
                .collect();
        }
        let transform = SlotTransform::new(shape, self.exponent)?;
        let maps = if self.inverse {
            // The projection onto Z[X^d] has multiplied everything by d.
            let factor = transform.modulus().inv(shape.degree_of_slot() as u64)?;
            let reversed: Vec<usize> = self.sizes.iter().rev().copied().collect();
            transform.coeff_to_slot(&splits(&reversed, transform.stages())?, factor)?
        } else {
            transform.slot_to_coeff(&splits(&self.sizes, transform.stages())?)?
        };
        maps.iter()
            .map(|map| Ok(Group::new(LinearMapPlan::new(map, shape, &self.steps)?)))
            .collect()
    }
}

/// Group sizes to split points.
pub(super) fn splits(sizes: &[usize], stages: usize) -> Result<Vec<usize>, CircuitError> {
    let mut ends = Vec::with_capacity(sizes.len());
    let mut end = 0usize;
    for size in sizes {
        end = end.saturating_add(*size);
        ends.push(end);
    }
    let bad = CircuitError::BadSplits { splits: ends.clone(), stages };
    if ends.pop() != Some(stages) {
        return Err(bad);
    }
    crate::transform::check_splits(&ends, stages).map_err(|_| bad)?;
    Ok(ends)
}

/// The maps that were planned last, with their diagonals: most of the time of a dry run goes into
/// these, and plans that are compared share them. Everything on a shelf is for schemes of the same
/// parameters.
pub(super) struct Shelf<S: Scheme> {
    held: Vec<(MapKey, Groups<S>)>,
}

impl<S: Scheme> Default for Shelf<S> {
    fn default() -> Self {
        Shelf { held: Vec::new() }
    }
}

impl<S: Scheme> Shelf<S> {
    /// Diagonals are large: more than this would fill the memory at large degrees.
    const PLACES: usize = 5;

    pub(super) fn groups(
        &mut self,
        shape: &SlotShape,
        key: &MapKey,
    ) -> Result<Groups<S>, CircuitError> {
        let found = self.held.iter().position(|(k, _)| k == key);
        let entry = match found {
            Some(i) => self.held.remove(i),
            None => (key.clone(), key.plan(shape)?),
        };
        // The last used one stands last.
        if self.held.len() >= Self::PLACES {
            self.held.remove(0);
        }
        let groups = entry.1.clone();
        self.held.push(entry);
        Ok(groups)
    }
}

/// Applies the groups in order, the first one to all inputs; returns the result and the input of
/// the last group, if that has one input.
pub(super) fn apply_groups<S: Scheme>(
    scheme: &S,
    groups: &[Group<S>],
    mut inputs: Vec<S::Ciphertext>,
    last: NextUse,
    stage: Stage,
    watch: &mut Watch<'_, S>,
) -> Result<(S::Ciphertext, Option<S::Ciphertext>), CircuitError> {
    let mut before = None;
    for (i, group) in groups.iter().enumerate() {
        let next = if i + 1 == groups.len() { last } else { NextUse::LinearMap };
        let first = inputs.first().ok_or(CircuitError::Empty { what: "the list of inputs" })?;
        let y = group.prepared(scheme, scheme.level(first))?.apply_all(scheme, &inputs, next)?;
        watch.done(stage, i, Some(first), &y);
        before = std::mem::replace(&mut inputs, vec![y]).pop();
    }
    let result = inputs.pop().ok_or(CircuitError::Empty { what: "the list of inputs" })?;
    Ok((result, before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_become_split_points() {
        assert_eq!(splits(&[5, 4, 3], 12).unwrap(), [5, 9]);
        assert_eq!(splits(&[3, 4, 5], 12).unwrap(), [3, 7]);
        for bad in [vec![], vec![3, 4], vec![0, 12], vec![12, 0], vec![13], vec![usize::MAX, 13]] {
            assert!(matches!(splits(&bad, 12), Err(CircuitError::BadSplits { .. })));
        }
    }
}
