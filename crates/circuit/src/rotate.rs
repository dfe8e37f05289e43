//! Rotations along the dimensions of the slots.

use std::cmp::Reverse;
use std::collections::VecDeque;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, Level, NextUse};

use crate::error::CircuitError;
use crate::linear::{AxisMap, LinearMapPlan, PreparedLinearMap, StepCosts};

/// The cyclic rotation of the slots of `x` to the left by `k` along a dimension. It takes one key
/// switch along a good dimension, and two key switches and a level along a bad one (of an index
/// with axes). Whole slots in rings whose index is a power of two move up to Frobenius, see
/// [`everlevel_ring::SlotShape`].
///
/// # Errors
/// [`CircuitError::UnknownDimension`]; errors of the scheme.
pub fn rotate_along<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    dimension: usize,
    k: i64,
    next: NextUse,
) -> Result<S::Ciphertext, CircuitError> {
    match Rotation::new(scheme.slot_shape(), scheme.plain_exponent(x), dimension, k)? {
        Rotation::Whole(g) => Ok(scheme.apply_galois(x, g)?),
        Rotation::Masked(plan) => {
            PreparedLinearMap::new(scheme, &plan, scheme.level(x))?.apply(scheme, x, next)
        }
    }
}

/// The automorphisms that [`rotate_along`] needs keys for.
///
/// # Errors
/// [`CircuitError::UnknownDimension`].
pub fn rotation_elements(
    shape: &SlotShape,
    dimension: usize,
    k: i64,
) -> Result<Vec<GaloisElement>, CircuitError> {
    Ok(match Rotation::new(shape, 1, dimension, k)? {
        Rotation::Whole(g) => vec![g],
        Rotation::Masked(plan) => plan.galois_elements(),
    })
}

/// The rotation of the columns by `k` to the left with the available keys: by one automorphism if
/// its key exists at the level of `x` or below, to which `x` is switched, otherwise by the fewest
/// rotations by powers of two, to the left and to the right, that have keys. Along a bad last
/// dimension as [`rotate_along`].
///
/// # Errors
/// [`CircuitError::NoRoute`]; errors of the scheme.
pub fn rotate_by_keys<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    k: i64,
) -> Result<S::Ciphertext, CircuitError> {
    let shape = scheme.slot_shape();
    let last = shape.dimensions().len() - 1;
    if shape.axes().is_some() && !shape.dimensions()[last].good {
        return rotate_along(scheme, x, last, k, NextUse::LinearMap);
    }
    let turn = |x: &S::Ciphertext, steps: i64, level: Level| {
        Ok::<_, CircuitError>(
            scheme.apply_galois(&scheme.mod_switch_to(x, level)?, shape.rotation(steps))?,
        )
    };
    let (columns, level) = (shape.columns(), scheme.level(x));
    if let Some(level) = scheme.galois_level(shape.rotation(k), level) {
        return turn(x, k, level);
    }
    let powers = (0..usize::BITS - 1)
        .map(|i| 1i64 << i)
        .take_while(|&s| s < columns as i64)
        .flat_map(|s| [s, -s]);
    let found: Vec<i64> =
        powers.filter(|&s| scheme.galois_level(shape.rotation(s), level).is_some()).collect();
    let mut route = route(columns, k, &found).ok_or(CircuitError::NoRoute { steps: k })?;
    // Those whose keys are highest first: levels only fall, below keys that others still need.
    route.sort_by_key(|&s| Reverse(scheme.galois_level(shape.rotation(s), level)));
    route.into_iter().try_fold(x.clone(), |x, steps| {
        let level = scheme
            .galois_level(shape.rotation(steps), scheme.level(&x))
            .ok_or(CircuitError::NoRoute { steps })?;
        turn(&x, steps, level)
    })
}

/// The fewest of the `steps` that add up to `k` modulo `columns`.
fn route(columns: usize, k: i64, steps: &[i64]) -> Option<Vec<i64>> {
    let place = |k: i64| k.rem_euclid(columns as i64) as usize;
    let mut last_step = vec![None; columns];
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front().filter(|&at| at != place(k)) {
        for &step in steps {
            let to = place(at as i64 + step);
            if to != 0 && last_step[to].is_none() {
                last_step[to] = Some(step);
                queue.push_back(to);
            }
        }
    }
    let (mut at, mut out) = (place(k), Vec::new());
    while at != 0 {
        let step = last_step[at]?;
        out.push(step);
        at = place(at as i64 - step);
    }
    Some(out)
}

/// How a rotation is done.
enum Rotation {
    /// By one automorphism.
    Whole(GaloisElement),
    /// By two, each for the slots that it moves right.
    Masked(Box<LinearMapPlan>),
}

impl Rotation {
    fn new(
        shape: &SlotShape,
        exponent: u32,
        dimension: usize,
        k: i64,
    ) -> Result<Self, CircuitError> {
        let dimensions = shape.dimensions().len();
        let along = shape
            .dimensions()
            .get(dimension)
            .ok_or(CircuitError::UnknownDimension { dimension, dimensions })?;
        let k = k.rem_euclid(along.size as i64);
        if along.good || k == 0 || shape.axes().is_none() {
            return Ok(Rotation::Whole(shape.rotation_along(dimension, k)));
        }
        let map = AxisMap::rotation(shape, exponent, dimension, k)?;
        Ok(Rotation::Masked(Box::new(LinearMapPlan::along_axes(&map, &StepCosts::default())?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_the_shortest_and_arrive() {
        let columns = 64;
        let powers: Vec<i64> = (0..6).map(|i| 1 << i).chain([-1]).collect();
        for k in -70..70 {
            let found = route(columns, k, &powers).unwrap();
            assert_eq!((found.iter().sum::<i64>() - k).rem_euclid(64), 0, "k = {k}");
            assert!(
                found.len() <= (k.rem_euclid(64) as u64).count_ones() as usize,
                "k = {k}: {found:?}"
            );
        }
        assert_eq!(route(columns, -2, &powers).unwrap(), [-1, -1]);
        assert_eq!(route(columns, 31, &powers).unwrap().len(), 2);
        assert_eq!(route(columns, 0, &[]), Some(vec![]));
        assert_eq!(route(columns, 3, &[2, -2]), None);
    }
}
