//! Rotations along the dimensions of the slots.

use everlevel_scheme::{NextUse, Scheme};

use crate::error::CircuitError;
use crate::linear::{AxisMap, LinearMapPlan, PreparedLinearMap, StepCosts};

/// The cyclic rotation of the slots of `x` to the left by `k` along a dimension. One key switch along a good dimension; along a bad one (of an odd index) two, and a
/// level. Whole slots in rings whose index is a power of two move up to Frobenius, see [`everlevel_ring::SlotShape`].
///
/// # Errors
/// [`CircuitError::UnknownDimension`]; errors of the scheme.
pub fn rotate_along<S: Scheme>(
    scheme: &S,
    x: &S::Ciphertext,
    dimension: usize,
    k: i64,
    next: NextUse,
) -> Result<S::Ciphertext, CircuitError> {
    let shape = scheme.slot_shape();
    let dimensions = shape.dimensions().len();
    let along = shape.dimensions().get(dimension).ok_or(CircuitError::UnknownDimension { dimension, dimensions })?;
    let k = k.rem_euclid(along.size as i64);
    if along.good || k == 0 || shape.axes().is_none() {
        return Ok(scheme.apply_galois(x, shape.rotation_along(dimension, k))?);
    }
    let map = AxisMap::rotation(shape, scheme.plain_exponent(x), dimension, k)?;
    let plan = LinearMapPlan::along_axes(&map, &StepCosts::default())?;
    PreparedLinearMap::new(scheme, &plan, scheme.level(x))?.apply(scheme, x, next)
}
