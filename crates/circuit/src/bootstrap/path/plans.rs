//! The kinds of index and the choices for their paths: the part that does not depend on a scheme.

use everlevel_ring::SlotShape;
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Form, Params};

use crate::bootstrap::plan::{BootstrapPlan, axis_stages, compositions, several_groups};
use crate::digits::{DigitKind, DigitMethod, DigitProblem, GridPolynomial};
use crate::error::CircuitError;

/// The plans of one kind of index.
pub(in crate::bootstrap) trait PathPlans {
    /// Whether there is a path in this mode, for a message modulo p^r above v digits.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`].
    fn check(
        &self,
        shape: &SlotShape,
        mode: BootstrapMode,
        r: u32,
        v: u32,
    ) -> Result<(), CircuitError>;

    /// A good plan for a set in a mode, before the choices that the set itself states are applied.
    /// Its digit removal is for one digit of an odd prime.
    fn standard(&self, params: &Params, mode: BootstrapMode) -> BootstrapPlan;

    /// Plans worth comparing for a set, in its mode.
    ///
    /// # Errors
    /// As [`DigitMethod::candidates`].
    fn candidates(
        &self,
        params: &Params,
        max_group: usize,
    ) -> Result<Vec<BootstrapPlan>, CircuitError>;
}

/// What can be chosen for slots of a shape.
pub(in crate::bootstrap) fn plans(shape: &SlotShape) -> &'static dyn PathPlans {
    match PathKind::of(shape) {
        PathKind::Columns => &ColumnPlans,
        PathKind::Axes => &AxisPlans,
    }
}

/// The kinds of index that have paths.
pub(super) enum PathKind {
    /// Powers of two: rows and columns of slots.
    Columns,
    /// Indices with axes: one for each prime factor.
    Axes,
}

impl PathKind {
    pub(super) fn of(shape: &SlotShape) -> Self {
        if shape.axes().is_some() { PathKind::Axes } else { PathKind::Columns }
    }
}

/// Up to this many slots, one map for all stages is cheaper than several.
const DENSE: usize = 128;

/// Powers of two: stages are butterflies.
struct ColumnPlans;

impl PathPlans for ColumnPlans {
    fn check(
        &self,
        shape: &SlotShape,
        mode: BootstrapMode,
        r: u32,
        v: u32,
    ) -> Result<(), CircuitError> {
        if mode == BootstrapMode::Full && shape.repetitions() > 1 {
            return Err(CircuitError::PlanMismatch {
                reason: "the full mode is for whole slots, and slots that repeat hold integers: \
                         use the thin mode",
            });
        }
        // With one row thin plaintexts are no polynomials in X^d, so the message has to be moved
        // into those first.
        if mode == BootstrapMode::Bypass && (shape.base_degree() > 1 || r > 1 || v > 1) {
            return Err(CircuitError::PlanMismatch {
                reason: "the bypass is for two rows of slots (p = 1 modulo 4), r = 1 and one \
                         digit, or for an index with axes: use the thin mode",
            });
        }
        Ok(())
    }

    fn standard(&self, params: &Params, mode: BootstrapMode) -> BootstrapPlan {
        let mut plan = BootstrapPlan::recommended(params.degree(), params.slots());
        if params.slot_shape().repetitions() > 1 {
            plan = BootstrapPlan::for_repeating(params.slots(), plan.digits);
        }
        if mode == BootstrapMode::Bypass || params.slots() > DENSE {
            return plan.in_mode(mode);
        }
        // There are so few slots that the whole transform is one sparse map.
        let stages = stages(params);
        BootstrapPlan::with_groups(vec![stages], vec![stages], plan.digits).in_mode(mode)
    }

    fn candidates(
        &self,
        params: &Params,
        max_group: usize,
    ) -> Result<Vec<BootstrapPlan>, CircuitError> {
        if params.bootstrap_mode() == BootstrapMode::Bypass || params.slots() > DENSE {
            let sizes = several_groups(params.slots(), max_group);
            return combined(params, &sizes, BootstrapPlan::with_groups);
        }
        let mut sizes = Vec::new();
        // Where slots repeat there may be as many groups as for many slots.
        let repeating = params.slot_shape().repetitions() > 1;
        let more = if repeating { &[(4, 1), (5, 1)][..] } else { &[] };
        for (groups, spread) in [(1, 0), (2, 2), (3, 1)].iter().chain(more).copied() {
            compositions(stages(params), groups, spread, &mut Vec::new(), &mut sizes);
        }
        sizes.retain(|s| s.iter().all(|x| *x <= max_group.max(DENSE.ilog2() as usize)));
        combined(params, &sizes, BootstrapPlan::with_groups)
    }
}

/// log2 of the number of slots.
fn stages(params: &Params) -> usize {
    params.slots().max(2).ilog2() as usize
}

/// Indices with axes: stages are those ahead of the carrier, and this.
struct AxisPlans;

impl PathPlans for AxisPlans {
    fn check(&self, _: &SlotShape, _: BootstrapMode, _: u32, _: u32) -> Result<(), CircuitError> {
        Ok(())
    }

    fn standard(&self, params: &Params, mode: BootstrapMode) -> BootstrapPlan {
        let mut plan = BootstrapPlan::along_axes(params.slot_shape()).in_mode(mode);
        if mode != BootstrapMode::Thin {
            // With d digit removals, a fourth fewer key switches outweigh the capacity that the
            // constants cost.
            plan.digits = DigitMethod::new(DigitKind::PatersonStockmeyer);
        }
        plan
    }

    fn candidates(
        &self,
        params: &Params,
        _max_group: usize,
    ) -> Result<Vec<BootstrapPlan>, CircuitError> {
        let (mut sizes, stages) = (Vec::new(), axis_stages(params.slot_shape()).len());
        for groups in 1..=stages {
            compositions(stages, groups, stages, &mut Vec::new(), &mut sizes);
        }
        combined(params, &sizes, BootstrapPlan::with_axis_groups)
    }
}

/// All group sizes for each map, with every digit removal that solves the set's problem in either
/// form. Closed forms come first: a search begins there, and their tables are small.
fn combined(
    params: &Params,
    sizes: &[Vec<usize>],
    with_groups: impl Fn(Vec<usize>, Vec<usize>, DigitMethod) -> BootstrapPlan,
) -> Result<Vec<BootstrapPlan>, CircuitError> {
    let (mode, problem) = (params.bootstrap_mode(), DigitProblem::of(params));
    let mut methods = DigitMethod::candidates(&problem)?;
    let closed = [DigitKind::ProductTree, DigitKind::PatersonStockmeyer];
    methods.sort_by_key(|method| !closed.contains(&method.kind));
    let alone = mode != BootstrapMode::Full && (problem.e, problem.v) == (2, 1);
    if alone && GridPolynomial::holds(problem.p, problem.bound) {
        methods.extend([0, 1].map(|extra| DigitMethod { kind: DigitKind::Global, extra }));
    }
    let mut plans = Vec::new();
    for coeff_to_slot in sizes {
        for slot_to_coeff in sizes {
            for digits in &methods {
                let plan = with_groups(coeff_to_slot.clone(), slot_to_coeff.clone(), *digits)
                    .in_mode(mode);
                if params.spec().form == Form::Bfv {
                    plans.push(BootstrapPlan { digit_form: Form::Bfv, ..plan.clone() });
                }
                plans.push(plan);
            }
        }
    }
    Ok(plans)
}
