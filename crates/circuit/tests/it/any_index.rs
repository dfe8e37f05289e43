//! Bootstrapping over indices with square factors, of 2^k times an odd number, and where several
//! axes carry Frobenius together: on the no-op scheme and with cryptography.

use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, Stage, StageReport};
use everlevel_circuit::{CircuitError, Session, rotate_along, sums::total_sum};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Form, NextUse, NoOp, Plaintext};

use crate::axes_bootstrap::{MODES, Ring, exact_with_cryptography, message, params};

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

/// Rings that HElib (`tests/GTestBootstrapping.cpp`, up to 4641) and fheanor
/// (`src/lin_transform/composite.rs`) are tested with, and 1025.
const TESTED: [Ring; 15] = [
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
}

/// Bootstraps on the no-op scheme: the message comes back, at the costs and with the keys that were
/// planned.
fn check(ring: Ring, mode: BootstrapMode) {
    let form = if mode == BootstrapMode::Full { Form::Bfv } else { Form::Bgv };
    let params = params(ring, mode, form, 2);
    let name = format!("{ring:?}, {mode:?}");
    let scheme = NoOp::new(&params, 1);
    let bootstrapper = Bootstrapper::new(&scheme, BootstrapPlan::for_set(&params).unwrap())
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let plain = message(&params);
    let x = scheme.encrypt(&plain).unwrap();
    let before = scheme.cost();
    let mut reports: Vec<StageReport> = Vec::new();
    let fresh = bootstrapper
        .bootstrap_observed(&scheme, &x, &mut reports)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let cost = scheme.cost() - before;
    assert_eq!(scheme.decrypt(&fresh).unwrap(), plain, "{name}");
    // The key switch to the sparse key is no part of the circuit.
    let expected = bootstrapper.costs();
    assert_eq!(
        (cost.key_switches, cost.products),
        (expected.key_switches as u64 + 1, expected.products as u64),
        "{name}"
    );
    let used: std::collections::BTreeSet<_> =
        scheme.key_plan().galois.keys().map(|(g, _)| *g).collect();
    assert!(used.iter().eq(bootstrapper.galois_elements()), "{name}");
    let removals = reports.iter().filter(|r| r.stage == Stage::DigitRemoval).count();
    let degree = params.slot_shape().degree_of_slot();
    assert_eq!(removals, if mode == BootstrapMode::Thin { 1 } else { degree }, "{name}");
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
    let params = params((9 * 5, 19, 1, 1, 8), BootstrapMode::Thin, Form::Bgv, 2);
    let scheme = Arc::new(NoOp::new(&params, 1));
    let bootstrapper =
        Arc::new(Bootstrapper::new(&*scheme, BootstrapPlan::for_set(&params).unwrap()).unwrap());
    let auto = Session::new(scheme.clone(), bootstrapper);
    let (columns, p) = (params.slot_shape().columns(), params.plain_modulus());
    let mut values: Vec<u64> = (1..=params.slots() as u64).collect();
    let mut x = auto.share(scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap());
    for _ in 0..150 {
        x = auto.rotate_along(&auto.mul(&x, &x).unwrap(), 0, 1).unwrap();
        x = auto.add_scalar(&x, 3).unwrap();
        values = values.iter().map(|v| (v * v + 3) % p).collect();
        values.rotate_left(columns);
    }
    assert_eq!(scheme.decrypt(&x.get()).unwrap().decode(&params).unwrap(), values);
    assert!(auto.bootstraps() > 1);
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
        let params = params(ring, BootstrapMode::Thin, Form::Bgv, 2);
        let (shape, t) = (params.slot_shape(), params.plain_modulus());
        let values: Vec<u64> = (0..params.slots() as u64).map(|i| (i * i + 1) % t).collect();
        let scheme = NoOp::new(&params, 1);
        let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
        let open = |x: &_| scheme.decrypt(x).unwrap().decode(&params).unwrap();
        let sizes: Vec<usize> = shape.dimensions().iter().map(|dimension| dimension.size).collect();
        for (a, &size) in sizes.iter().enumerate() {
            let inner: usize = sizes[a + 1..].iter().product();
            for k in [0, 1, -1] {
                let moved = rotate_along(&scheme, &x, a, k, NextUse::Keep).unwrap();
                let from = |s: usize| {
                    let place = s / inner % size;
                    s - place * inner + (place as i64 + k).rem_euclid(size as i64) as usize * inner
                };
                let want: Vec<u64> = (0..values.len()).map(|s| values[from(s)]).collect();
                assert_eq!(open(&moved), want, "{ring:?}, {a}, {k}");
            }
        }
        let total = values.iter().sum::<u64>() % t;
        assert_eq!(open(&total_sum(&scheme, &x).unwrap()), vec![total; values.len()], "{ring:?}");
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
