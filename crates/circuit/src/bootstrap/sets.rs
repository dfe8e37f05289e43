//! The plans of parameter sets.

use everlevel_scheme::Params;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};

use super::path::plans::plans;
use super::plan::BootstrapPlan;
use crate::digits::{DigitKind, DigitMethod};
use crate::error::CircuitError;

impl BootstrapPlan {
    /// The plan that a parameter set names; what it leaves open is as in
    /// [`BootstrapPlan::recommended`].
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

    /// Plans worth comparing for a parameter set, in its mode: for the bypass those of
    /// [`BootstrapPlan::candidates`], otherwise all stages in one map or in two (over odd indices
    /// neighboring axes merged in all ways), and every digit removal that solves the set's problem
    /// in either form.
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
    use super::*;

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
}
