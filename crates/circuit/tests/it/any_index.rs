//! Bootstrapping over indices with square factors, of 2^k times an odd number, and where several
//! axes carry Frobenius together: on the no-op scheme and with cryptography.

use everlevel_circuit::CircuitError;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Form, NoOp, Plaintext};

use crate::axes_bootstrap::{self, MODES, Ring, exact_with_cryptography, message, params};

/// (m, p, r, v, B): of d = 1, of D = 1, bits and their powers, two digits, good and bad dimensions.
const RINGS: [Ring; 20] = [
    // Square factors, ahead of the carrier or along it.
    (27, 17, 2, 2, 20),
    (5 * 9, 11, 1, 1, 4),
    (7 * 9, 127, 1, 1, 20),
    (7 * 9, 2, 2, 4, 4),
    (9 * 11, 43, 1, 1, 8),
    (3 * 25, 149, 1, 1, 20),
    (9 * 13, 2, 1, 4, 4),
    // 2^k times an odd number.
    (4 * 27, 53, 1, 1, 8),
    (4 * 25, 149, 1, 1, 20),
    (8 * 13, 31, 1, 1, 8),
    (16 * 17, 127, 1, 1, 20),
    // Several axes that carry Frobenius together.
    (9 * 5, 2, 1, 4, 4),
    (9 * 5, 2, 3, 4, 4),
    (9 * 5, 19, 1, 1, 8),
    (3 * 5 * 7, 2, 1, 4, 4),
    (3 * 19, 11, 2, 2, 8),
    (4 * 5 * 7, 3, 1, 3, 8),
    (4 * 5 * 9, 19, 1, 1, 8),
    (3 * 7 * 17, 2, 1, 4, 4),
    (4 * 3 * 5 * 7, 11, 1, 1, 4),
];

/// Rings in the tables of HElib's tests (`tests/GTestBootstrapping.cpp`, up to 4641), of fheanor's
/// (`src/lin_transform/composite.rs`), and 1025.
const TESTED: [Ring; 16] = [
    (3 * 5 * 7, 2, 1, 4, 4),
    (3 * 11 * 31, 2, 1, 4, 4),
    (5 * 11 * 31, 2, 1, 4, 4),
    (5 * 7 * 9 * 13, 2, 1, 4, 4),
    (3 * 7 * 13 * 17, 2, 1, 4, 4),
    (3 * 19, 7, 1, 2, 8),
    (3 * 5 * 7, 17, 1, 1, 8),
    (3 * 5 * 7 * 13, 17, 1, 1, 8),
    (3 * 5 * 7 * 13, 127, 1, 1, 20),
    (7 * 11 * 25, 127, 1, 1, 20),
    (7 * 13 * 31, 127, 1, 1, 20),
    (5 * 7, 11, 1, 1, 4),
    (5 * 7, 71, 1, 1, 20),
    (11 * 31, 2, 3, 4, 4),
    (25 * 41, 2, 1, 4, 4),
    (17 * 257, 2, 1, 4, 4),
];

/// The rings that those tests bootstrap, with the exponents there, beyond the ones of [`TESTED`]:
/// HElib's thin mode (`tests/GTestThinBootstrapping.cpp`, `tests/GTestThinboot.cpp`) and general
/// mode (`tests/GTestBootstrapping.cpp`, `tests/GTestFatboot.cpp`), and fheanor's thin mode modulo
/// 8.
const BOOTSTRAPPED_ELSEWHERE: [(Ring, &[BootstrapMode]); 5] = [
    ((3 * 11 * 31, 2, 1, 4, 4), &[BootstrapMode::Full]),
    ((3 * 7 * 13 * 17, 2, 4, 4, 4), &[BootstrapMode::Thin, BootstrapMode::Full]),
    ((31 * 41, 2, 1, 4, 4), &[BootstrapMode::Thin, BootstrapMode::Full]),
    ((5 * 7 * 37, 17, 1, 1, 8), &[BootstrapMode::Thin, BootstrapMode::Full]),
    ((17 * 97, 2, 3, 4, 4), &[BootstrapMode::Thin]),
];

#[test]
fn bootstrapping_is_exact_over_any_index() {
    for (ring, mode) in RINGS.into_iter().flat_map(|ring| MODES.map(|mode| (ring, mode))) {
        check(ring, mode);
    }
}

#[test]
fn bootstrapping_is_exact_over_rings_that_others_are_tested_with() {
    for ring in TESTED {
        check(ring, BootstrapMode::Thin);
    }
    for ring in &TESTED[5..14] {
        check(*ring, BootstrapMode::Full);
    }
    for (ring, modes) in BOOTSTRAPPED_ELSEWHERE {
        modes.iter().for_each(|mode| check(ring, *mode));
    }
}

/// In BFV form for the general mode, and in BGV form for the others.
fn check(ring: Ring, mode: BootstrapMode) {
    let form = if mode == BootstrapMode::Full { Form::Bfv } else { Form::Bgv };
    axes_bootstrap::check(ring, mode, form);
}

#[test]
fn every_grouping_is_exact() {
    for ring in [(4 * 25, 149, 1, 1, 20), (4 * 5 * 9, 19, 1, 1, 8)] {
        let set = params(ring, BootstrapMode::Full, Form::Bgv, 2);
        let candidates = BootstrapPlan::candidates_for(&set, 6).unwrap();
        let standard = BootstrapPlan::for_set(&set).unwrap().digits;
        let mut count = 0;
        for plan in candidates.iter().filter(|plan| plan.digits == standard) {
            let scheme = NoOp::new(&set, 2);
            let bootstrapper = Bootstrapper::new(&scheme, plan.clone()).unwrap();
            let plain = message(&set);
            let fresh = bootstrapper.bootstrap(&scheme, &scheme.encrypt(&plain).unwrap()).unwrap();
            assert_eq!(scheme.decrypt(&fresh).unwrap(), plain, "{plan:?}");
            count += 1;
        }
        // The axis of 4 and the carrier, in two maps or one, each way.
        assert_eq!(count, 4, "{ring:?}");
    }
}

/// An overflow under a weight of 2 is below half of its terms and a half: 3, 5 and 9 for one, two
/// and three odd primes.
#[test]
fn bootstrapping_is_exact_with_cryptography_over_any_index() {
    for (ring, mode, form) in [
        ((5 * 9, 11, 1, 1, 5), BootstrapMode::Full, Form::Bgv),
        ((9 * 11, 43, 1, 1, 8), BootstrapMode::Thin, Form::Bfv),
        ((4 * 25, 149, 1, 1, 20), BootstrapMode::Bypass, Form::Bgv),
        ((8 * 13, 31, 1, 1, 8), BootstrapMode::Thin, Form::Bgv),
        ((9 * 5, 2, 1, 4, 7), BootstrapMode::Full, Form::Bgv),
        ((25 * 41, 2, 1, 4, 7), BootstrapMode::Thin, Form::Bgv),
        ((9 * 5, 19, 1, 1, 8), BootstrapMode::Thin, Form::Bgv),
        ((4 * 3 * 5 * 7, 11, 1, 2, 16), BootstrapMode::Thin, Form::Bgv),
    ] {
        let params = params(ring, mode, form, 2);
        exact_with_cryptography(&params, BootstrapPlan::for_set(&params).unwrap(), 3);
    }
}

#[test]
fn circuits_of_any_depth_run_where_several_axes_carry_frobenius() {
    // A bad dimension ahead of the last one.
    axes_bootstrap::runs_at_any_depth((9 * 5, 19, 1, 1, 8), 0);
}

#[test]
fn slots_are_rotated_and_summed_where_several_axes_carry_frobenius() {
    for ring in [
        (9 * 5, 19, 1, 1, 8),
        (4 * 5 * 9, 19, 1, 1, 8),
        (3 * 7 * 17, 2, 1, 4, 4),
        (4 * 3 * 5 * 7, 11, 1, 1, 4),
        // Two bad dimensions.
        (17 * 27, 19, 1, 1, 8),
    ] {
        axes_bootstrap::rotates_and_sums(ring);
    }
}

#[test]
fn subrings_need_a_normal_basis_along_the_carrier() {
    // 9 carries Frobenius; 5 and 7 do together.
    for (ring, normal) in [((5 * 9, 11, 1, 1, 4), false), ((5 * 7, 2, 1, 4, 4), true)] {
        let params = params(ring, BootstrapMode::Full, Form::Bgv, 2);
        let (shape, ring_of) = (params.slot_shape(), params.plaintext_ring());
        let t = ring_of.modulus(1);
        // The sum of the images under the powers of Frobenius to the power 2: slots in GR(p, 2).
        let step = shape.compose(shape.frobenius(), shape.frobenius());
        let any = message(&params).coefficients().to_vec();
        let images = std::iter::successors(Some(any), |x| Some(ring_of.galois(x, step, 1)))
            .take(shape.degree_of_slot() / 2);
        let sum = images
            .reduce(|sum, x| sum.iter().zip(&x).map(|(a, b)| t.add(*a, *b)).collect())
            .unwrap();
        let plain = Plaintext::from_coefficients(&params, sum, 1).unwrap();
        let scheme = NoOp::new(&params, 4);
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Bootstrapper::new(&scheme, plan.in_subring(2));
        if !normal {
            assert!(matches!(bootstrapper.err(), Some(CircuitError::PlanMismatch { .. })));
            continue;
        }
        let bootstrapper = bootstrapper.unwrap();
        let fresh = bootstrapper.bootstrap(&scheme, &scheme.encrypt(&plain).unwrap()).unwrap();
        assert_eq!(scheme.decrypt(&fresh).unwrap(), plain);
    }
}
