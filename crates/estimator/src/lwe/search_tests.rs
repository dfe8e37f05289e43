//! What the search over ζ and β promises, for every attack that uses it.

use super::dual;
use super::key::{Lwe, Secret};
use super::primal::{Primal, Trial, best};
use super::regions::{Plane, Region, TOLERANCE};
use super::{estimate, holds};
use crate::attack::Attack;
use crate::reduction::CostModel;

const TRIALS: [Trial; 5] = [
    Trial::Search,
    Trial::Planes,
    Trial::PlanesMeeting,
    Trial::SearchMeeting,
    Trial::Representations,
];

/// Small keys: the search against every ζ and every β that could be cheaper.
#[test]
fn searches_agree_with_all_points_of_the_plane() {
    for key in [
        Lwe::ring(128, 10.0, Secret::Sparse(24)),
        Lwe::ring(192, 12.0, Secret::Ternary).without_rotations(),
        Lwe::ring(256, 20.0, Secret::Sparse(12)).without_rotations(),
    ] {
        for trial in TRIALS {
            let mut plane = Primal::new(&key, CostModel::Matzov, trial);
            let whole = plane.whole();
            let Some(found) = best(&key, CostModel::Matzov, trial, 4096.0) else {
                panic!("{key:?} {trial:?}")
            };
            let mut least = f64::INFINITY;
            for zeta in whole.zeta.0..=whole.zeta.1 {
                for beta in whole.beta.0..=200 {
                    let cheaper = plane.at(zeta, beta, least);
                    least = cheaper.map_or(least, |(bits, _)| bits.min(least));
                }
            }
            let missed = found.bits - least;
            assert!(missed <= TOLERANCE + 1e-9, "{key:?} {trial:?}: {missed}");
            assert!(missed >= -1e-9 || found.bits < least, "{key:?} {trial:?}: {missed}");
        }
    }
}

/// What a key is said to hold is what its cheapest attack costs, to the tolerance of the search.
#[test]
fn keys_hold_what_their_cheapest_attack_costs() {
    for key in [
        Lwe::ring(1 << 15, 860.0, Secret::Ternary),
        Lwe::ring(1 << 14, 423.0, Secret::Gaussian(3.24)),
        Lwe::ring(1 << 15, 97.0, Secret::Sparse(28)),
        Lwe::ring(1 << 14, 300.0, Secret::Sparse(120)).without_rotations(),
        Lwe::ring(50112, 1305.0, Secret::Ternary),
        Lwe::ring(256, 604.0, Secret::Ternary),
        Lwe::ring(64, 4.0, Secret::Sparse(3)),
    ] {
        let bits = estimate(&key, CostModel::Matzov).unwrap().bits();
        let at = |bits| holds(&key, CostModel::Matzov, bits).unwrap();
        assert!(at(bits - 2.0 * TOLERANCE), "{key:?} {bits}");
        assert!(!at(bits + 0.01), "{key:?} {bits}");
    }
}

/// Points at random in regions at random, of all sizes: none costs less than the bound.
#[test]
fn bounds_hold_in_their_regions() {
    let mut state = 7u64;
    let mut random = |from: usize, to: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + (state >> 33) as usize % (to - from + 1)
    };
    let mut compared = 0;
    for key in [
        Lwe::ring(1 << 15, 97.0, Secret::Sparse(28)),
        Lwe::ring(1 << 14, 423.0, Secret::Ternary),
        Lwe::ring(1 << 16, 1553.0, Secret::Sparse(192)).without_rotations(),
        Lwe::ring(512, 20.0, Secret::Sparse(64)),
    ] {
        let primal = TRIALS.map(|trial| Primal::new(&key, CostModel::Matzov, trial));
        let mut planes: Vec<Box<dyn Plane<Point = Attack>>> = Vec::new();
        let mut wholes = Vec::new();
        for plane in primal {
            wholes.push(plane.whole());
            planes.push(Box::new(plane));
        }
        let (plane, whole) = dual::plane(&key, CostModel::Matzov);
        wholes.push(whole);
        planes.push(Box::new(plane));
        for (place, (plane, whole)) in planes.iter_mut().zip(wholes).enumerate() {
            for _ in 0..60 {
                let width = 1 << random(0, 9);
                let zeta = random(whole.zeta.0, whole.zeta.1);
                // Most of what counts is near n.
                let zeta = if random(0, 1) == 0 { zeta } else { whole.zeta.1 - zeta / 16 };
                let beta = random(40, 500);
                let region = Region {
                    zeta: (zeta, (zeta + width).min(whole.zeta.1)),
                    beta: (beta, beta + random(0, width)),
                };
                let bound = plane.bound(region, f64::INFINITY).bits;
                for _ in 0..4 {
                    let zeta = random(region.zeta.0, region.zeta.1);
                    let beta = random(region.beta.0, region.beta.1);
                    if let Some((bits, _)) = plane.at(zeta, beta, f64::INFINITY) {
                        assert!(
                            bound <= bits + 1e-6,
                            "{key:?} attack {place} {region:?}: {bits} at {zeta} {beta}; {bound}"
                        );
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 1500, "{compared}");
}
