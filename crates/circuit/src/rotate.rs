//! Rotations along the dimensions of the slots.

use std::cmp::Reverse;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, Level, NextUse};

use crate::error::CircuitError;
use crate::linear::{AxisMap, LinearMapPlan, PreparedLinearMap, StepCosts};

/// A route at a higher level may take this many times as many rotations as the shortest one: a key
/// switch costs less than the bits that a ciphertext loses when it is switched down.
const LONGER: usize = 2;

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
/// its key exists at the level of `x`, otherwise by rotations by powers of two, to the left and to
/// the right, or by `k` itself, each at the highest level at or below that of `x` that has its key.
/// They are the fewest ones, unless at most twice as many leave `x` at a higher level. Along a bad
/// last dimension as [`rotate_along`].
///
/// # Errors
/// [`CircuitError::NoRoute`]; errors of the scheme.
pub fn rotate_by_keys<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    k: i64,
) -> Result<S::Ciphertext, CircuitError> {
    let shape = scheme.slot_shape();
    if masked(shape) {
        return rotate_along(scheme, x, shape.dimensions().len() - 1, k, NextUse::LinearMap);
    }
    let mut moved = None;
    for (steps, level) in steps_by_keys(scheme, scheme.level(x), k)? {
        let low = scheme.mod_switch_to(moved.as_ref().unwrap_or(x), level)?;
        moved = Some(scheme.apply_galois(&low, shape.rotation(steps))?);
    }
    Ok(moved.unwrap_or_else(|| x.clone()))
}

/// About the number of key switches that [`rotate_by_keys`] takes for a ciphertext at a level, for
/// choices between ways of moving slots: one if there is a key for the rotation itself, otherwise
/// one for each power of two that it is made of, all to the left. Along a bad last dimension they
/// are two whichever way slots move. It takes no time to speak of.
pub fn rotation_switches<S: ExactScheme>(scheme: &S, level: Level, k: i64) -> usize {
    let shape = scheme.slot_shape();
    let steps = k.rem_euclid(shape.columns() as i64);
    if masked(shape) {
        return 2 * usize::from(steps != 0);
    }
    match scheme.galois_level(shape.rotation(k), level) {
        Some(_) => usize::from(steps != 0),
        None => steps.count_ones() as usize,
    }
}

/// Whether the columns are a bad dimension of an index with axes, along which a rotation is made of
/// two parts, for those slots that come round and for the others.
fn masked(shape: &SlotShape) -> bool {
    shape.axes().is_some() && !shape.dimensions()[shape.dimensions().len() - 1].good
}

/// The rotations that make up one by `k`, and the levels at which they are done, highest first.
fn steps_by_keys<S: ExactScheme>(
    scheme: &S,
    level: Level,
    k: i64,
) -> Result<Vec<(i64, Level)>, CircuitError> {
    let shape = scheme.slot_shape();
    let columns = shape.columns();
    let held = |steps: i64| Some((steps, scheme.galois_level(shape.rotation(steps), level)?));
    if held(k) == Some((k, level)) {
        return Ok(vec![(k, level)]);
    }
    let powers = (0..usize::BITS - 1).map(|i| 1i64 << i).take_while(|&s| s < columns as i64);
    let found: Vec<(i64, Level)> =
        powers.flat_map(|s| [s, -s]).chain([k]).filter_map(held).collect();
    let from = |lowest: Level, most: usize| {
        let usable = found.iter().filter(|step| step.1 >= lowest).map(|step| step.0);
        route(columns, k, &usable.collect::<Vec<_>>(), most)
    };
    let no_route = || CircuitError::NoRoute { steps: k };
    let fewest = from(Level(0), usize::MAX).ok_or_else(no_route)?.len();
    let mut levels: Vec<Level> = found.iter().map(|step| step.1).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut highest = levels.into_iter().rev();
    let route = highest.find_map(|lowest| from(lowest, LONGER * fewest)).ok_or_else(no_route)?;
    let known = |steps: &i64| found.iter().find(|step| step.0 == *steps).copied();
    let mut route: Vec<(i64, Level)> = route.iter().filter_map(known).collect();
    // Those whose keys are highest first: levels only fall, below keys that others still need.
    route.sort_by_key(|step| Reverse(step.1));
    Ok(route)
}

/// The fewest of the `steps` that add up to `k` modulo `columns`; `None` if there have to be more
/// than `most`.
fn route(columns: usize, k: i64, steps: &[i64], most: usize) -> Option<Vec<i64>> {
    let place = |k: i64| k.rem_euclid(columns as i64) as usize;
    let moves: Vec<(i64, usize)> = steps.iter().map(|&step| (step, place(step))).collect();
    let target = place(k);
    let mut last_step: Vec<Option<i64>> = vec![None; columns];
    // The places that take as many steps as are counted.
    let (mut reached, mut count) = (vec![0], 0);
    while target != 0 && last_step[target].is_none() && !reached.is_empty() && count < most {
        let mut next = Vec::new();
        for at in reached {
            for &(step, by) in &moves {
                let to = if at + by < columns { at + by } else { at + by - columns };
                if to != 0 && last_step[to].is_none() {
                    last_step[to] = Some(step);
                    next.push(to);
                }
            }
        }
        (reached, count) = (next, count + 1);
    }
    let (mut at, mut out) = (target, Vec::new());
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
    use everlevel_scheme::{KeyPlan, NoOp, OptIn, Params, ParamsSpec};

    use super::*;

    #[test]
    fn routes_are_the_shortest_and_arrive() {
        let columns = 64;
        let powers: Vec<i64> = (0..6).map(|i| 1 << i).chain([-1]).collect();
        for k in -70..70 {
            let found = route(columns, k, &powers, usize::MAX).unwrap();
            assert_eq!((found.iter().sum::<i64>() - k).rem_euclid(64), 0, "k = {k}");
            assert!(
                found.len() <= (k.rem_euclid(64) as u64).count_ones() as usize,
                "k = {k}: {found:?}"
            );
            let again = route(columns, k, &powers, found.len());
            assert_eq!(again.as_ref(), Some(&found), "k = {k}");
            let fewer = found.len().checked_sub(1).and_then(|n| route(columns, k, &powers, n));
            assert_eq!(fewer, None, "k = {k}");
        }
        let all = usize::MAX;
        assert_eq!(route(columns, -2, &powers, all).unwrap(), [-1, -1]);
        assert_eq!(route(columns, 31, &powers, all).unwrap().len(), 2);
        assert_eq!(route(columns, 0, &[], all), Some(vec![]));
        assert_eq!(route(columns, 3, &[2, -2], all), None);
    }

    /// Keys for some rotations at the top, and for others at a low level with another gadget, which
    /// is returned.
    fn keys(params: &Params, steps: &[i64], low: &[i64]) -> (KeyPlan, Level) {
        let (chain, shape) = (params.chain(), params.slot_shape());
        let gadget = |l: usize| chain.gadget_id(Level(l));
        let below = (0..chain.top().0).find(|&l| gadget(l) != gadget(chain.top().0)).unwrap_or(0);
        let mut plan = KeyPlan::default();
        steps.iter().for_each(|k| plan.add_galois(params, shape.rotation(*k), chain.top()));
        low.iter().for_each(|k| plan.add_galois(params, shape.rotation(*k), Level(below)));
        (plan, Level(below))
    }

    #[test]
    fn a_few_more_rotations_keep_a_ciphertext_high() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let top = params.chain().top();
        // Of 64 columns. 15 would take five rotations at the top, instead of 16 - 1.
        let (plan, low) = keys(&params, &[1, 2, 4, 16, 32], &[48, 8, -1, 5]);
        let scheme = NoOp::blank(&params).holding(plan);
        let found = |k: i64| steps_by_keys(&scheme, top, k);
        assert_eq!(found(16), Ok(vec![(16, top)]));
        assert_eq!(found(48), Ok(vec![(32, top), (16, top)]));
        assert_eq!(found(5), Ok(vec![(4, top), (1, top)]));
        assert_eq!(found(7), Ok(vec![(4, top), (2, top), (1, top)]));
        assert_eq!(found(15), Ok(vec![(16, top), (-1, low)]));
        assert_eq!(found(8), Ok(vec![(4, top), (4, top)]));
        assert_eq!(found(-1), Ok(vec![(-1, low)]));
        assert_eq!(found(0), Ok(vec![(0, top)]));
        assert_eq!(
            [16, 48, 7, 3, -1, 0, 64].map(|k| rotation_switches(&scheme, top, k)),
            [1, 1, 3, 2, 1, 0, 0]
        );
        let none = NoOp::blank(&params).holding(KeyPlan::default());
        assert_eq!(steps_by_keys(&none, top, 3), Err(CircuitError::NoRoute { steps: 3 }));
        // Where there are all keys there is nothing to choose.
        let all = NoOp::blank(&params);
        assert_eq!(steps_by_keys(&all, low, -37), Ok(vec![(-37, low)]));
    }

    /// Whichever keys a server has: neither direction of a sum is preferred.
    #[test]
    fn masked_rotations_take_two_key_switches_each_way() {
        let spec = ParamsSpec { words: 1, ..ParamsSpec::new("insecure_bgv-127-m91", 7 * 13, 127) };
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let (shape, top) = (params.slot_shape(), params.chain().top());
        assert!(masked(shape));
        let columns = shape.columns() as i64;
        let one = KeyPlan::column_rotations(&params, [1]);
        for scheme in [NoOp::blank(&params), NoOp::blank(&params).holding(one)] {
            let found = [1, -1, 1 + columns, 0, columns];
            let found = found.map(|k| rotation_switches(&scheme, top, k));
            assert_eq!(found, [2, 2, 2, 0, 0]);
        }
        let whole = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        assert!(!masked(whole.slot_shape()));
    }
}
