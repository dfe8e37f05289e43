//! Statements in the metadata of server keys: how a server with them bootstraps, and their
//! parameter set if it has no name.

use everlevel_circuit::bootstrap::BootstrapPlan;
use everlevel_circuit::linear::StepCosts;
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Form, Params};
use everlevel_wire::{Metadata, ParamsId, WireError, canonical_json, params};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Metadata of server keys: how a server with them bootstraps, as JSON; absent if it bootstraps as
/// the parameter set specifies.
const BOOTSTRAPPING: &str = "bootstrapping";
/// Metadata of server keys: the specification of a parameter set without a name.
pub(crate) const PARAMETERS: &str = "parameters";

/// No ring has as many stages of a transform.
const MOST_STAGES: usize = 64;

/// How a server with some keys bootstraps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bootstrapping {
    /// Not at all.
    Never,
    By(BootstrapPlan),
}

/// A bootstrapping plan in the form in which it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    mode: BootstrapMode,
    coeff_to_slot: Vec<usize>,
    slot_to_coeff: Vec<usize>,
    digit_removal: String,
    digit_form: Form,
    /// Baby step, giant step, key, and the largest number of keys.
    steps: (f64, f64, f64, usize),
    subring: Option<usize>,
}

/// States in the metadata of server keys how a server with them bootstraps, and their set.
pub(crate) fn state(metadata: &mut Metadata, set: &Params, how: Option<&BootstrapPlan>) {
    let stored = how.map(|plan| Stored {
        mode: plan.mode,
        coeff_to_slot: plan.coeff_to_slot.clone(),
        slot_to_coeff: plan.slot_to_coeff.clone(),
        digit_removal: plan.digits.to_string(),
        digit_form: plan.digit_form,
        steps: (plan.steps.baby, plan.steps.giant, plan.steps.key, plan.steps.max_keys),
        subring: plan.subring,
    });
    // `null` where there is none.
    let text = serde_json::to_string(&stored).expect("a plan has numbers and texts only");
    metadata.insert(BOOTSTRAPPING.into(), text);
    if params::named_spec(ParamsId::of(set)).is_none() {
        metadata.insert(PARAMETERS.into(), canonical_json(set.spec()));
    }
}

/// How a server bootstraps, as stated in the metadata; `None` if they do not state it. Whether this
/// suits the parameter set is checked when the server is made.
///
/// # Errors
/// A value that is not such a statement.
pub(crate) fn bootstrapping(metadata: &Metadata) -> Result<Option<Bootstrapping>, Error> {
    let Some(text) = metadata.get(BOOTSTRAPPING) else { return Ok(None) };
    let wrong = |found: String| WireError::Malformed {
        what: "statement of server keys how to bootstrap",
        expected: "JSON of a bootstrapping plan (docs/format.md)".into(),
        found,
    };
    let stored: Option<Stored> = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    let Some(stored) = stored else { return Ok(Some(Bootstrapping::Never)) };
    for groups in [&stored.coeff_to_slot, &stored.slot_to_coeff] {
        if groups.len() > MOST_STAGES || groups.iter().any(|&stages| stages > MOST_STAGES) {
            return Err(wrong(format!("more than {MOST_STAGES} stages of a linear map")).into());
        }
    }
    let (baby, giant, key, max_keys) = stored.steps;
    if let Some(cost) = [baby, giant, key].iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
        return Err(wrong(format!("a step that costs {cost}")).into());
    }
    let digits = stored.digit_removal.parse()?;
    let mut plan = BootstrapPlan::with_groups(stored.coeff_to_slot, stored.slot_to_coeff, digits)
        .in_mode(stored.mode);
    plan.digit_form = stored.digit_form;
    plan.steps = StepCosts { baby, giant, key, max_keys };
    plan.subring = stored.subring;
    Ok(Some(Bootstrapping::By(plan)))
}
