//! The plans of parameter sets.

use everlevel_scheme::Params;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};

use super::path::plans::plans;
use super::plan::BootstrapPlan;
use crate::digits::{DigitKind, DigitMethod, DigitProblem, GridPolynomial};
use crate::error::CircuitError;

impl BootstrapPlan {
    /// The plan of a parameter set: the choices that its specification states, and those of
    /// [`BootstrapPlan::recommended`] for the others.
    ///
    /// # Errors
    /// [`CircuitError::UnknownMethod`]. Group sizes are checked by `Bootstrapper::new`.
    pub fn for_set(params: &Params) -> Result<Self, CircuitError> {
        Self::for_mode(params, params.bootstrap_mode())
    }

    /// As [`BootstrapPlan::for_set`], in a mode that need not be the set's.
    ///
    /// # Errors
    /// As there.
    pub fn for_mode(params: &Params, mode: BootstrapMode) -> Result<Self, CircuitError> {
        let mut plan = plans(params.slot_shape()).standard(params, mode);
        if params.spec().plain_prime == 2 {
            plan.digits = match params.raised_exponent() {
                ..=24 => DigitMethod::new(DigitKind::Doubling),
                _ => DigitMethod::new(DigitKind::Geelen),
            };
        } else if 2 * params.spec().overflow_bound() >= params.spec().plain_prime {
            // Several digits: closed forms are for one.
            plan.digits = DigitMethod::new(DigitKind::Local);
        }
        let plan = match &params.spec().bootstrap {
            Some(spec) => plan.overridden(spec)?,
            None => plan,
        };
        Ok(plan.in_mode(mode))
    }

    /// Δ, the factor of the overflow in u = I' - Δ I when a parameter set is bootstrapped by this
    /// plan: p^v or, on a grid, that of [`GridPolynomial::new`]. O(B^4) operations.
    ///
    /// # Errors
    /// [`CircuitError::OverflowBound`] if the grid does not hold the overflow.
    pub fn multiplier(&self, params: &Params) -> Result<u64, CircuitError> {
        let DigitProblem { p, v, bound, .. } = DigitProblem::of(params);
        if self.on_grid(params.spec().plain_exponent) {
            Ok(GridPolynomial::new(p, bound)?.multiplier())
        } else {
            // Below 2^62, as sets are checked.
            Ok(p.pow(v))
        }
    }

    /// As [`BootstrapPlan::for_set`], from the bootstrapping section alone.
    #[cfg(test)]
    fn from_spec(spec: &BootstrapSpec, slots: usize) -> Result<Self, CircuitError> {
        Self::recommended(slots, slots).overridden(spec)
    }

    fn overridden(mut self, spec: &BootstrapSpec) -> Result<Self, CircuitError> {
        self.coeff_to_slot = spec.coeff_to_slot.clone().unwrap_or(self.coeff_to_slot);
        self.slot_to_coeff = spec.slot_to_coeff.clone().unwrap_or(self.slot_to_coeff);
        self.digits =
            spec.digit_removal.as_deref().map(str::parse).transpose()?.unwrap_or(self.digits);
        self.mode = spec.mode.unwrap_or(self.mode);
        self.digit_form = spec.digit_form;
        self.steps.max_keys = self.steps.max_keys.max(self.keys_wanted());
        Ok(self)
    }

    /// Plans worth comparing for a parameter set, in its mode: for the bypass the groups of
    /// [`BootstrapPlan::candidates`], otherwise all stages in one map or in two (over indices with
    /// axes neighboring stages merged in all ways), and every digit removal that solves the set's
    /// problem in either form: [`DigitMethod::candidates`] and, where one digit is removed, r = 1
    /// and p is at least (2B + 1)^2, the grid, but not in the full mode.
    ///
    /// # Errors
    /// As [`DigitMethod::candidates`].
    pub fn candidates_for(
        params: &Params,
        max_group: usize,
    ) -> Result<Vec<BootstrapPlan>, CircuitError> {
        plans(params.slot_shape()).candidates(params, max_group)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bootstrapper::Bootstrapper;
    use super::*;
    use everlevel_scheme::{NoOp, OptIn, ParamsSpec};
    use everlevel_testing::toy_spec;

    #[test]
    fn parameter_sets_name_their_plans() {
        let mut spec = BootstrapSpec::encapsulated(8);
        assert_eq!(BootstrapPlan::from_spec(&spec, 64), Ok(BootstrapPlan::balanced(64)));
        spec.slot_to_coeff = Some(vec![1, 5]);
        spec.digit_removal = Some("paterson_stockmeyer".into());
        let plan = BootstrapPlan::from_spec(&spec, 64).unwrap();
        assert_eq!(
            (plan.slot_to_coeff, plan.digits),
            (vec![1, 5], DigitMethod::new(DigitKind::PatersonStockmeyer))
        );
        spec.digit_removal = Some("magic".into());
        assert!(matches!(
            BootstrapPlan::from_spec(&spec, 64),
            Err(CircuitError::UnknownMethod { .. })
        ));
    }

    /// Up to B near p/2, where closed forms take a level more than one polynomial of degree p.
    #[test]
    fn the_bypass_and_the_thin_mode_try_every_method() {
        for (bound, mode) in [
            (125, BootstrapMode::Bypass),
            (128, BootstrapMode::Bypass),
            (5, BootstrapMode::Bypass),
            (125, BootstrapMode::Thin),
            (5, BootstrapMode::Thin),
            (5, BootstrapMode::Full),
        ] {
            let bootstrap = BootstrapSpec {
                overflow_bound: Some(bound),
                mode: Some(mode),
                ..BootstrapSpec::encapsulated(10)
            };
            let spec = ParamsSpec { bootstrap: Some(bootstrap), ..toy_spec(128, 257, 1) };
            let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
            let plans = BootstrapPlan::candidates_for(&params, 6).unwrap();
            assert!(plans.iter().all(|plan| plan.mode == mode), "{bound}, {mode:?}");
            let mut methods = DigitMethod::candidates(&DigitProblem::of(&params)).unwrap();
            assert!(methods.contains(&DigitMethod::new(DigitKind::ChenHan)));
            // (2 * 5 + 1)^2 = 121.
            if bound == 5 && mode != BootstrapMode::Full {
                methods.extend([0, 1].map(|extra| DigitMethod { kind: DigitKind::Global, extra }));
            }
            for method in &methods {
                let plan = plans.iter().find(|plan| plan.digits == *method);
                let plan = plan.unwrap_or_else(|| panic!("{bound}, {mode:?}: {method}")).clone();
                let made = Bootstrapper::new(&NoOp::blank(&params), plan);
                assert!(made.is_ok(), "{bound}, {mode:?}: {method}");
            }
            assert!(plans.iter().all(|plan| methods.contains(&plan.digits)), "{bound}, {mode:?}");
        }
    }

    #[test]
    fn the_multiplier_of_a_plan_is_the_one_that_runs() {
        for (p, r, digits, digit_removal, expected) in [
            (257, 1, None, None, 257),
            (257, 2, None, None, 257),
            (17, 1, Some(2), None, 289),
            // 16^2 = -1 modulo 257.
            (257, 1, None, Some("global"), 16),
        ] {
            let bootstrap = BootstrapSpec {
                digits,
                digit_removal: digit_removal.map(String::from),
                ..BootstrapSpec::encapsulated(10)
            };
            let spec = ParamsSpec { bootstrap: Some(bootstrap), ..toy_spec(256, p, r) };
            let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
            let plan = BootstrapPlan::for_set(&params).unwrap();
            assert_eq!(plan.multiplier(&params), Ok(expected), "{p}^{r}");
            let scheme = NoOp::blank(&params);
            let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
            assert_eq!(bootstrapper.digits().multiplier(), expected, "{p}^{r}");
        }
    }
}
