//! Keys for rotations by any number of steps, in little memory.

use std::collections::BTreeSet;

use everlevel_circuit::rotation_elements;
use everlevel_circuit::sums::PowerSum;
use everlevel_ring::GaloisElement;
use everlevel_scheme::{KeyPlan, Level, Params};

use crate::error::Error;
use crate::planner::KeyPlanner;

/// The least part of the largest modulus that a fresh ciphertext keeps when it is rotated.
const HIGH_SHARE: f64 = 0.75;
/// The largest number of bits of modulus that a bootstrapped ciphertext loses when it is rotated.
const NEAR_BITS: f64 = 16.0;
/// The distance between the levels below that, in bits.
const LADDER_BITS: f64 = 120.0;

/// The keys of a server for programs that are not known in advance: for products at every level,
/// for bootstrapping if the set supports it, and for rotations by any number of columns and sums of
/// all slots ([`general_rotations`]).
///
/// # Errors
/// A bootstrapping plan that does not fit the set.
pub fn general_keys(params: &Params) -> Result<KeyPlan, Error> {
    if params.spec().bootstrap.is_none() {
        let rotations = general_rotations(params, params.chain().top())?;
        return Ok(KeyPlan::relinearization(params).merge(&rotations));
    }
    let planner = KeyPlanner::new(params)?;
    Ok(planner.keys().merge(&general_rotations(params, planner.after.level)?))
}

/// Keys for rotations by any number of columns and for sums of all slots: rotations by powers of
/// two to the left, by one to the right, and the exchange of the rows; along other dimensions one
/// step each way, and the automorphisms that their sums need.
///
/// The keys do not exist at every level: a ciphertext is first switched down to the next level with
/// a key ([`rotate_by_keys`](everlevel_circuit::rotate_by_keys)). There is such a level in the
/// highest quarter of the modulus, one within 16 bits below the modulus of `near`, the level where
/// most rotations are expected (after bootstrapping), and one for every 120 bits below that; within
/// these limits the levels with the smallest keys are chosen. For `bgv-65537-n15` this takes 11 MiB
/// for each automorphism instead of 77.
///
/// # Errors
/// None: the dimensions are those of the slots.
pub fn general_rotations(params: &Params, near: Level) -> Result<KeyPlan, Error> {
    let mut plan = KeyPlan::default();
    let elements = general_automorphisms(params)?;
    if let Some(&first) = elements.iter().next() {
        for level in rotation_levels(params, first, near) {
            elements.iter().for_each(|&g| plan.add_galois(params, g, level));
        }
    }
    Ok(plan)
}

fn general_automorphisms(params: &Params) -> Result<BTreeSet<GaloisElement>, Error> {
    let shape = params.slot_shape();
    let mut elements = BTreeSet::from([shape.swap_rows()]);
    for (dimension, found) in shape.dimensions().iter().enumerate() {
        elements.extend(PowerSum::along(shape, dimension)?.galois_elements());
        let last = dimension + 1 == shape.dimensions().len();
        let powers =
            (0..usize::BITS - 1).map(|i| 1i64 << i).take_while(|&k| last && k < found.size as i64);
        for k in powers.chain([1, -1]) {
            elements.extend(rotation_elements(shape, dimension, k)?);
        }
    }
    elements.retain(|g| !g.is_identity());
    Ok(elements)
}

/// Levels with keys for an automorphism, highest first.
fn rotation_levels(params: &Params, g: GaloisElement, near: Level) -> Vec<Level> {
    let bits = |level: Level| params.modulus_bits(level);
    let (mut plan, mut levels) = (KeyPlan::default(), Vec::new());
    // The level of (low, high] that adds least to the keys chosen so far, the highest of several.
    let mut choose = |low: f64, high: f64| {
        let window =
            (0..=params.chain().top().0).map(Level).filter(|&l| bits(l) > low && bits(l) <= high);
        let with = |level: Level| {
            let mut plan = plan.clone();
            plan.add_galois(params, g, level);
            plan
        };
        let best = window
            .min_by_key(|&level| (with(level).seeded_bytes(params), std::cmp::Reverse(level)))?;
        plan = with(best);
        levels.push(best);
        Some(best)
    };
    let top = bits(params.chain().top());
    choose(HIGH_SHARE * top, top);
    let mut next = choose(bits(near) - NEAR_BITS, bits(near));
    while let Some(level) = next.filter(|&level| level > Level(0)) {
        let below = bits(Level(level.0 - 1));
        next = choose(below - LADDER_BITS, below);
    }
    levels
}

#[cfg(test)]
mod tests {
    use everlevel_scheme::OptIn;

    use super::*;

    #[test]
    fn keys_are_within_reach_of_every_level() {
        for (name, limit) in [("bgv-65537-n15", 1.1), ("insecure_bgv-257-n8", 1.0)] {
            let params = Params::named(name, OptIn::InsecureResearch).unwrap();
            let plan = general_keys(&params).unwrap();
            let gib = plan.seeded_bytes(&params) as f64 / f64::from(1 << 30);
            assert!(gib <= limit, "{name}: {gib:.3} GiB");
            let g = params.slot_shape().rotation(1);
            let held = |l: usize| {
                let level = Level(l);
                let basis = plan.galois.get(&(g, params.chain().gadget_id(level)));
                basis.is_some_and(|basis| params.chain().basis(level).is_subset(*basis))
            };
            assert!(held(0), "{name}: the lowest level");
            let mut gap = 0.0f64;
            for l in 0..=params.chain().top().0 {
                let at = (0..=l).rev().find(|&below| held(below)).unwrap();
                gap = gap.max(params.modulus_bits(Level(l)) - params.modulus_bits(Level(at)));
            }
            let top = params.modulus_bits(params.chain().top());
            assert!(
                gap < 0.45 * top + LADDER_BITS,
                "{name}: a ciphertext would fall {gap:.0} of {top:.0} bits"
            );
        }
    }
}
