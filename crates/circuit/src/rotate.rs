//! Rotations along the dimensions of the slots.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{NextUse, Scheme};

use crate::error::CircuitError;
use crate::linear::{AxisMap, LinearMapPlan, PreparedLinearMap, StepCosts};

/// The cyclic rotation of the slots of `x` to the left by `k` along a dimension. One key switch along a good dimension; along a bad one (of an index with axes) two,
/// and a level. Whole slots in rings whose index is a power of two move up to Frobenius, see [`everlevel_ring::SlotShape`].
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
    match Rotation::new(scheme.slot_shape(), scheme.plain_exponent(x), dimension, k)? {
        Rotation::Whole(g) => Ok(scheme.apply_galois(x, g)?),
        Rotation::Masked(plan) => PreparedLinearMap::new(scheme, &plan, scheme.level(x))?.apply(scheme, x, next),
    }
}

/// The automorphisms that [`rotate_along`] needs keys for.
///
/// # Errors
/// [`CircuitError::UnknownDimension`].
pub fn rotation_elements(shape: &SlotShape, dimension: usize, k: i64) -> Result<Vec<GaloisElement>, CircuitError> {
    Ok(match Rotation::new(shape, 1, dimension, k)? {
        Rotation::Whole(g) => vec![g],
        Rotation::Masked(plan) => plan.galois_elements(),
    })
}

/// How a rotation is done.
enum Rotation {
    /// By one automorphism.
    Whole(GaloisElement),
    /// By two, each for the slots that it moves right.
    Masked(Box<LinearMapPlan>),
}

impl Rotation {
    fn new(shape: &SlotShape, exponent: u32, dimension: usize, k: i64) -> Result<Self, CircuitError> {
        let dimensions = shape.dimensions().len();
        let along = shape.dimensions().get(dimension).ok_or(CircuitError::UnknownDimension { dimension, dimensions })?;
        let k = k.rem_euclid(along.size as i64);
        if along.good || k == 0 || shape.axes().is_none() {
            return Ok(Rotation::Whole(shape.rotation_along(dimension, k)));
        }
        let map = AxisMap::rotation(shape, exponent, dimension, k)?;
        Ok(Rotation::Masked(Box::new(LinearMapPlan::along_axes(&map, &StepCosts::default())?)))
    }
}
