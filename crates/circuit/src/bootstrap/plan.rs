//! The choices in a bootstrapping.

use everlevel_ring::SlotShape;
use everlevel_scheme::Form;
use everlevel_scheme::spec::BootstrapMode;

use crate::digits::{DigitKind, DigitMethod};
use crate::linear::StepCosts;

/// The choices that define a bootstrapping: plain data, checked by `Bootstrapper::new`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BootstrapPlan {
    /// The mode.
    pub mode: BootstrapMode,
    /// The number of stages in each merged group of coefficient-to-slot, in the order of
    /// application. The stages are butterflies if the index is a power of two, otherwise the axes
    /// ahead of the carrier, and the carrier.
    pub coeff_to_slot: Vec<usize>,
    /// The same for slot-to-coefficient.
    pub slot_to_coeff: Vec<usize>,
    /// The method of digit removal.
    pub digits: DigitMethod,
    /// The form in which digits are removed; the conversion to it and back is free.
    pub digit_form: Form,
    /// How linear maps are split into baby and giant steps.
    pub steps: StepCosts,
    /// k, if all slots lie in the subring GR(p^r, k) of GR(p^r, d): then k digit removals suffice
    /// instead of d. It requires the full mode over an index with axes whose carrier has no square
    /// factor; none for arbitrary slots. The caller must ensure that the slots lie in the subring,
    /// which cannot be checked.
    pub subring: Option<usize>,
}

/// The cost of a bootstrapping, computed from its plan.
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

impl BootstrapCosts {
    /// This, and then `next`.
    pub(super) fn then(self, next: BootstrapCosts) -> Self {
        BootstrapCosts {
            key_switches: self.key_switches + next.key_switches,
            products: self.products + next.products,
            plain_products: self.plain_products + next.plain_products,
            galois_keys: self.galois_keys + next.galois_keys,
            depth: self.depth + next.depth,
        }
    }

    /// The same for `times` ciphertexts: keys and levels are those of one.
    pub(super) fn repeated(self, times: usize) -> Self {
        BootstrapCosts {
            key_switches: times * self.key_switches,
            products: times * self.products,
            plain_products: times * self.plain_products,
            ..self
        }
    }
}

impl BootstrapPlan {
    /// A reasonable plan for any scheme: groups of about five stages, and a product tree in pairs.
    /// The group next to the slots is the largest, as it is cyclic and has half the diagonals.
    pub fn balanced(slots: usize) -> Self {
        let stages = slots.max(2).ilog2() as usize;
        let sizes = split_evenly(stages, (stages - 1).div_ceil(5).max(1));
        let reversed = sizes.iter().rev().copied().collect();
        Self::with_groups(reversed, sizes, DigitMethod { kind: DigitKind::ProductTree, extra: 2 })
    }

    /// A good plan for a ring degree and a number of slots, without a search: among the plans that
    /// were compared at full size, the one with the least time for each multiplication that a
    /// bootstrapping makes possible, within the memory for keys.
    ///
    /// Below degree 2^16 levels are scarce, and the plan is [`BootstrapPlan::balanced`]. From 2^16
    /// on, where 128 bits of security allow 1700 bits of modulus, an additional level costs less
    /// than the key switches that it saves: there are groups of three stages for
    /// coefficient-to-slot, whose levels are the most expensive, and of four for
    /// slot-to-coefficient.
    ///
    /// Measured on the no-op scheme in the bypass mode (modeled seconds by
    /// [`super::TimeModel::typical`]; capacity and multiplications after a bootstrapping; server
    /// keys seeded, relinearization at all levels included), the recommended plan first:
    ///
    /// | set | coeff_to_slot | slot_to_coeff | digits | transforms | GB | s | capacity | mult. | MiB |
    /// |---|---|---|---|---|---|---|---|---|---|
    /// | bgv-65537-n15 | 5,5,5 | 5,5,5 | `product_tree_2` | 4785 | 6.7 | 0.96 | 211.6 | 5.3 | 937 |
    /// | | 3,4,4,4 | 5,5,5 | `product_tree_2` | 4077 | 5.9 | 0.84 | 175.8 | 4.3 | 841 |
    /// | | 5,5,5 | 5,5,5 | `paterson_stockmeyer` | 4534 | 6.2 | 0.90 | 151.9 | 3.3 | 838 |
    /// | | 5,5,5 | 5,5,5 | `global` | 9308 | 8.5 | 1.42 | 164.7 | 4.0 | 999 |
    /// | bgv-65537-n16 | 3,3,3,3,3 | 3,4,4,4 | `product_tree_2` | 7893 | 22.4 | 3.28 | 814.5 | 21.3 | 3138 |
    /// | | 5,5,5 | 5,5,5 | `product_tree_2` | 10228 | 28.7 | 4.21 | 907.1 | 23.5 | 3971 |
    /// | | 5,5,5 | 5,5,5 | `global` | 17280 | 34.0 | 5.66 | 857.7 | 22.3 | 3962 |
    /// | bgv-786433-n16 | 4,3,3,3,3 | 4,4,4,4 | `product_tree_2` | 7191 | 22.4 | 3.18 | 685.8 | 15.3 | 3148 |
    /// | | 6,5,5 | 5,5,6 | `product_tree_2` | 8704 | 31.5 | 4.29 | 787.2 | 18.2 | 4641 |
    /// | | 6,5,5 | 5,5,6 | `global` | 17626 | 37.0 | 6.01 | 741.9 | 16.3 | 4680 |
    pub fn recommended(degree: usize, slots: usize) -> Self {
        let balanced = Self::balanced(slots);
        let stages = slots.max(2).ilog2() as usize;
        if degree < 1 << 16 || stages < 8 {
            return balanced;
        }
        let coeff_to_slot = split_evenly(stages, stages / 3).into_iter().rev().collect();
        Self::with_groups(coeff_to_slot, split_evenly(stages, stages.div_ceil(4)), balanced.digits)
    }

    /// A good plan for slots that repeat ([`SlotShape::repeating`]): there are so few stages that
    /// groups of up to three for coefficient-to-slot, where key switches are the most expensive,
    /// take no more capacity than slot-to-coefficient saves by being short (docs/adr/0065 has a
    /// comparison).
    pub(super) fn for_repeating(slots: usize, digits: DigitMethod) -> Self {
        let stages = slots.max(2).ilog2() as usize;
        let groups = |most: usize| split_evenly(stages, stages.div_ceil(most));
        Self::with_groups(groups(3), groups(5), digits)
    }

    /// Whether digits are removed from values on a grid, l + Δ h with Δ coprime to p (type B),
    /// which is possible if the message bypasses the removal.
    pub(super) fn on_grid(&self, message_exponent: u32) -> bool {
        self.digits.kind == DigitKind::Global
            && self.mode != BootstrapMode::Full
            && message_exponent == 1
    }

    /// The same plan in another mode.
    #[must_use]
    pub fn in_mode(self, mode: BootstrapMode) -> Self {
        BootstrapPlan { mode, ..self }
    }

    /// The same plan with another digit removal.
    #[must_use]
    pub fn with_digits(self, digits: DigitMethod) -> Self {
        BootstrapPlan { digits, ..self }
    }

    /// The same plan for slots that lie in the subring GR(p^r, degree).
    #[must_use]
    pub fn in_subring(self, degree: usize) -> Self {
        BootstrapPlan { subring: Some(degree), ..self }
    }

    /// A reasonable plan for an index with axes: a stage for each axis ahead of the carrier, merged
    /// up to 64 diagonals, and a stage for the carrier.
    pub fn along_axes(shape: &SlotShape) -> Self {
        let sizes = axis_stages(shape);
        let mut groups: Vec<(usize, usize)> = Vec::new();
        for &size in &sizes[..sizes.len() - 1] {
            match groups.last_mut().filter(|(_, diagonals)| diagonals * size <= MERGED) {
                Some((axes, diagonals)) => (*axes, *diagonals) = (*axes + 1, *diagonals * size),
                None => groups.push((1, size)),
            }
        }
        let coeff_to_slot: Vec<usize> = groups.iter().map(|group| group.0).chain([1]).collect();
        let slot_to_coeff = coeff_to_slot.iter().rev().copied().collect();
        Self::with_axis_groups(
            coeff_to_slot,
            slot_to_coeff,
            DigitMethod { kind: DigitKind::ProductTree, extra: 2 },
        )
    }

    /// As [`BootstrapPlan::with_groups`], with as many keys as maps along axes need.
    pub(super) fn with_axis_groups(
        coeff_to_slot: Vec<usize>,
        slot_to_coeff: Vec<usize>,
        digits: DigitMethod,
    ) -> Self {
        let mut plan = Self::with_groups(coeff_to_slot, slot_to_coeff, digits);
        plan.steps.max_keys = AXIS_KEYS;
        plan
    }

    /// A plan with these group sizes, and as many keys as they need, for the bypass.
    pub fn with_groups(
        coeff_to_slot: Vec<usize>,
        slot_to_coeff: Vec<usize>,
        digits: DigitMethod,
    ) -> Self {
        let mode = BootstrapMode::Bypass;
        let digit_form = Form::Bgv;
        let steps = StepCosts::default();
        let mut plan = BootstrapPlan {
            mode,
            coeff_to_slot,
            slot_to_coeff,
            digits,
            digit_form,
            steps,
            subring: None,
        };
        plan.steps.max_keys = plan.keys_wanted();
        plan
    }

    /// The keys that the largest group needs for about as many babies as giants, and no fewer than
    /// the default.
    pub(super) fn keys_wanted(&self) -> usize {
        let largest =
            self.coeff_to_slot.iter().chain(&self.slot_to_coeff).max().copied().unwrap_or(1);
        let log_diagonals = largest.min(20) + 1;
        let (giants, babies) = (1usize << (log_diagonals / 2), 1usize << log_diagonals.div_ceil(2));
        StepCosts::default().max_keys.max(babies + giants - 2)
    }

    /// Plans worth comparing for a number of slots: 2 or 3 groups of similar size, or 4 or 5 of
    /// nearly equal size (in every order), for each map, and the digit removals of
    /// [`DigitMethod::CANDIDATES`]. Groups of more than `max_group` stages are left out:
    /// 2^(max_group + 1) diagonals are held. For a set, [`BootstrapPlan::candidates_for`] has every
    /// digit removal.
    pub fn candidates(slots: usize, max_group: usize) -> Vec<BootstrapPlan> {
        let sizes = several_groups(slots, max_group);
        let mut plans = Vec::new();
        for coeff_to_slot in &sizes {
            for slot_to_coeff in &sizes {
                for digits in DigitMethod::CANDIDATES {
                    plans.push(Self::with_groups(
                        coeff_to_slot.clone(),
                        slot_to_coeff.clone(),
                        digits,
                    ));
                }
            }
        }
        plans
    }
}

/// Up to this many diagonals of merged axes are cheaper than another level.
const MERGED: usize = 64;
/// The keys of one map over an index with axes: its babies, and one for each chain of giants.
const AXIS_KEYS: usize = 64;

/// The slots along each stage over an index with axes: each axis ahead of the carrier, and this.
pub(super) fn axis_stages(shape: &SlotShape) -> Vec<usize> {
    let ahead = match (shape.axes(), shape.carrier()) {
        (Some(axes), Some(carrier)) => &axes.all()[..axes.all().len() - carrier.len()],
        _ => &[],
    };
    ahead.iter().map(|axis| axis.degree).chain([shape.carrier_slots()]).collect()
}

/// The group sizes that are worth comparing for many slots over a power of two.
pub(super) fn several_groups(slots: usize, max_group: usize) -> Vec<Vec<usize>> {
    let stages = slots.max(2).ilog2() as usize;
    let mut sizes: Vec<Vec<usize>> = Vec::new();
    for (groups, spread) in [(2, 2), (3, 2), (4, 1), (5, 1)] {
        compositions(stages, groups, spread, &mut Vec::new(), &mut sizes);
    }
    sizes.retain(|s| s.iter().all(|x| *x <= max_group));
    sizes
}

/// `total` in `groups` parts that differ by one at most, the small ones first.
fn split_evenly(total: usize, groups: usize) -> Vec<usize> {
    let groups = groups.max(1);
    (0..groups).map(|i| (total + i) / groups).collect()
}

/// All ways to write `rest` as `groups` positive numbers that differ (from each other and from
/// those in `prefix`) by at most `spread`.
pub(super) fn compositions(
    rest: usize,
    groups: usize,
    spread: usize,
    prefix: &mut Vec<usize>,
    out: &mut Vec<Vec<usize>>,
) {
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
        assert!(plans.iter().all(|p| p.coeff_to_slot.iter().sum::<usize>() == 15
            && p.slot_to_coeff.iter().sum::<usize>() == 15));
        // [5,5,5], the six orders of [4,5,6], the four of [3,4,4,4] and [3,3,3,3,3]
        assert_eq!(plans.len(), 12 * 12 * 6);
        assert_eq!(BootstrapPlan::balanced(1 << 15).coeff_to_slot, [5, 5, 5]);
        assert_eq!(BootstrapPlan::balanced(1 << 16).coeff_to_slot, [6, 5, 5]);
        assert_eq!(BootstrapPlan::balanced(1 << 16).slot_to_coeff, [5, 5, 6]);
        assert_eq!(
            BootstrapPlan::candidates(64, 6).iter().map(|p| p.coeff_to_slot.len()).max(),
            Some(5)
        );
        assert_eq!(BootstrapPlan::candidates(2, 6), []);
    }

    #[test]
    fn recommendations_depend_on_the_room() {
        let sizes = |degree, slots| {
            let plan = BootstrapPlan::recommended(degree, slots);
            (plan.coeff_to_slot, plan.slot_to_coeff)
        };
        assert_eq!(sizes(1 << 15, 1 << 15), (vec![5, 5, 5], vec![5, 5, 5]));
        assert_eq!(sizes(1 << 16, 1 << 15), (vec![3, 3, 3, 3, 3], vec![3, 4, 4, 4]));
        assert_eq!(sizes(1 << 16, 1 << 16), (vec![4, 3, 3, 3, 3], vec![4, 4, 4, 4]));
        assert_eq!(sizes(1 << 17, 128), (vec![4, 3], vec![3, 4]));
        let sizes = |slots| {
            let digits = DigitMethod { kind: DigitKind::ProductTree, extra: 2 };
            let plan = BootstrapPlan::for_repeating(slots, digits);
            (plan.coeff_to_slot, plan.slot_to_coeff)
        };
        assert_eq!(sizes(1 << 10), (vec![2, 2, 3, 3], vec![5, 5]));
        assert_eq!(sizes(1 << 12), (vec![3, 3, 3, 3], vec![4, 4, 4]));
        assert_eq!(sizes(4), (vec![2], vec![2]));
    }
}
