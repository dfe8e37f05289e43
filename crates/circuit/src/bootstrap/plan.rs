//! What can be chosen about a bootstrapping.

use everlevel_scheme::params::BootstrapSpec;

use crate::digits::DigitMethod;
use crate::error::CircuitError;
use crate::linear::StepCosts;

/// The choices that define a bootstrapping: plain data, checked by `Bootstrapper::new`.
#[derive(Clone, Debug, PartialEq)]
pub struct BootstrapPlan {
    /// How many butterfly stages each merged group of coefficient-to-slot holds, in the order of application.
    pub coeff_to_slot: Vec<usize>,
    /// The same for slot-to-coefficient.
    pub slot_to_coeff: Vec<usize>,
    /// How the low digit is removed.
    pub digits: DigitMethod,
    /// How linear maps are split into baby and giant steps.
    pub steps: StepCosts,
}

/// What a bootstrapping costs, from its plan alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootstrapCosts {
    /// Key switches: steps of linear maps, relinearizations, the trace; without the encapsulation.
    pub key_switches: usize,
    /// Products of two ciphertexts.
    pub products: usize,
    /// Products with plaintext diagonals.
    pub plain_products: usize,
    /// Distinct automorphism keys.
    pub galois_keys: usize,
    /// Levels: one for each group of a linear map, and the depth of the digit removal.
    pub depth: u32,
}

impl BootstrapPlan {
    /// A sound plan for any scheme: groups of about five stages, and a product tree in pairs. The group next to the
    /// slots is the largest: it is cyclic, with half the diagonals.
    pub fn balanced(slots: usize) -> Self {
        let stages = slots.max(2).ilog2() as usize;
        let sizes = split_evenly(stages, (stages - 1).div_ceil(5).max(1));
        let reversed = sizes.iter().rev().copied().collect();
        Self::with_groups(reversed, sizes, DigitMethod::ProductTree { group: 2 })
    }
    /// The plan that a parameter set names; what it leaves open is as in [`BootstrapPlan::balanced`].
    ///
    /// # Errors
    /// [`CircuitError::UnknownMethod`]. Group sizes are checked by `Bootstrapper::new`.
    pub fn from_spec(spec: &BootstrapSpec, slots: usize) -> Result<Self, CircuitError> {
        let balanced = Self::balanced(slots);
        let digits = spec.digit_removal.as_deref().map(str::parse).transpose()?;
        let sizes = |given: &Option<Vec<usize>>, open: Vec<usize>| given.clone().unwrap_or(open);
        Ok(Self::with_groups(
            sizes(&spec.coeff_to_slot, balanced.coeff_to_slot),
            sizes(&spec.slot_to_coeff, balanced.slot_to_coeff),
            digits.unwrap_or(balanced.digits),
        ))
    }
    /// A plan with these group sizes, and as many keys as they need.
    pub fn with_groups(coeff_to_slot: Vec<usize>, slot_to_coeff: Vec<usize>, digits: DigitMethod) -> Self {
        let largest = coeff_to_slot.iter().chain(&slot_to_coeff).max().copied().unwrap_or(1);
        BootstrapPlan { coeff_to_slot, slot_to_coeff, digits, steps: steps_for(largest) }
    }
    /// Plans worth comparing for a number of slots: 2 or 3 groups of similar size or 4 of nearly equal size (in every order)
    /// for each map, and every digit removal. Groups of more than `max_group` stages are left out: 2^(max_group + 1) diagonals
    /// are held.
    pub fn candidates(slots: usize, max_group: usize) -> Vec<BootstrapPlan> {
        let stages = slots.max(2).ilog2() as usize;
        let mut sizes: Vec<Vec<usize>> = Vec::new();
        for (groups, spread) in [(2, 2), (3, 2), (4, 1)] {
            compositions(stages, groups, spread, &mut Vec::new(), &mut sizes);
        }
        sizes.retain(|s| s.iter().all(|x| *x <= max_group));
        let mut plans = Vec::new();
        for coeff_to_slot in &sizes {
            for slot_to_coeff in &sizes {
                for digits in DigitMethod::CANDIDATES {
                    plans.push(Self::with_groups(coeff_to_slot.clone(), slot_to_coeff.clone(), digits));
                }
            }
        }
        plans
    }
}

/// Groups of more than five stages need more keys than the default allows: about as many babies as giants.
fn steps_for(largest_group: usize) -> StepCosts {
    let default = StepCosts::default();
    let log_diagonals = largest_group.min(20) + 1;
    let (giants, babies) = (1usize << (log_diagonals / 2), 1usize << log_diagonals.div_ceil(2));
    StepCosts { max_keys: default.max_keys.max(babies + giants - 2), ..default }
}

/// `total` in `groups` parts that differ by one at most, the small ones first.
fn split_evenly(total: usize, groups: usize) -> Vec<usize> {
    let groups = groups.max(1);
    (0..groups).map(|i| (total + i) / groups).collect()
}

/// All ways to write `rest` as `groups` positive numbers that differ (from each other and from those in `prefix`) by at most
/// `spread`.
fn compositions(rest: usize, groups: usize, spread: usize, prefix: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
    if groups == 0 && rest == 0 {
        out.push(prefix.clone());
    }
    if groups == 0 {
        return;
    }
    for size in 1..=rest {
        if prefix.iter().all(|other| size.abs_diff(*other) <= spread) {
            prefix.push(size);
            compositions(rest - size, groups - 1, spread, prefix, out);
            prefix.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_cover_the_stages() {
        let plans = BootstrapPlan::candidates(1 << 15, 6);
        assert!(plans.iter().all(|p| p.coeff_to_slot.iter().sum::<usize>() == 15 && p.slot_to_coeff.iter().sum::<usize>() == 15));
        // [5,5,5], the six orders of [4,5,6] and the four of [3,4,4,4]
        assert_eq!(plans.len(), 11 * 11 * 6);
        assert_eq!(BootstrapPlan::balanced(1 << 15).coeff_to_slot, [5, 5, 5]);
        assert_eq!(BootstrapPlan::balanced(1 << 16).coeff_to_slot, [6, 5, 5]);
        assert_eq!(BootstrapPlan::balanced(1 << 16).slot_to_coeff, [5, 5, 6]);
        assert_eq!(BootstrapPlan::candidates(64, 6).iter().map(|p| p.coeff_to_slot.len()).max(), Some(4));
        assert_eq!(BootstrapPlan::candidates(2, 6), []);
    }

    #[test]
    fn parameter_sets_name_their_plans() {
        let mut spec = BootstrapSpec { sparse_weight: 8, coeff_to_slot: None, slot_to_coeff: None, digit_removal: None };
        assert_eq!(BootstrapPlan::from_spec(&spec, 64), Ok(BootstrapPlan::balanced(64)));
        spec.slot_to_coeff = Some(vec![1, 5]);
        spec.digit_removal = Some("paterson_stockmeyer".into());
        let plan = BootstrapPlan::from_spec(&spec, 64).unwrap();
        assert_eq!((plan.slot_to_coeff, plan.digits), (vec![1, 5], DigitMethod::PatersonStockmeyer { extra_depth: 0 }));
        spec.digit_removal = Some("magic".into());
        assert!(matches!(BootstrapPlan::from_spec(&spec, 64), Err(CircuitError::UnknownMethod { .. })));
    }
}
