//! Bootstrapping over rings of odd index, on the no-op scheme and with cryptography.

use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, Stage, StageReport};
use everlevel_circuit::coordinates::Coordinates;
use everlevel_circuit::digits::{DigitKind, DigitMethod, DigitProblem};
use everlevel_circuit::linear::{AxisMap, LinearMapPlan, PreparedLinearMap, StepCosts};
use everlevel_circuit::sums::total_sum;
use everlevel_circuit::transform::{AxisTransform, Packing};
use everlevel_circuit::{CircuitError, Session, rotate_along};
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};
use everlevel_scheme::{
    ExactScheme, Form, Level, NextUse, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme,
};
use everlevel_testing::rotated_along;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::costs::{assert_costs, assert_keys};
use crate::party::party;
use crate::together::same_together;

/// (m, p, r, v, B).
pub(crate) type Ring = (u64, u64, u32, u32, u64);

pub(crate) fn params(
    (index, p, r, v, bound): Ring,
    mode: BootstrapMode,
    form: Form,
    weight: usize,
) -> Params {
    let bootstrap = BootstrapSpec {
        overflow_bound: Some(bound),
        digits: Some(v),
        mode: Some(mode),
        ..BootstrapSpec::encapsulated(weight)
    };
    let spec = ParamsSpec {
        plain_exponent: r,
        words: 26,
        fine_bits: vec![46, 42, 38],
        special: 4,
        digit_size: 4,
        form,
        bootstrap: Some(bootstrap),
        ..ParamsSpec::new(format!("insecure_axes-{p}-m{index}"), index, p)
    };
    Params::new(spec, OptIn::InsecureAllowFailures).unwrap()
}

/// Integers in slots for the thin mode, else any polynomial.
pub(crate) fn message(params: &Params) -> Plaintext {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let value = |_| rng.next_u64() % params.plain_modulus();
    if params.bootstrap_mode() == BootstrapMode::Thin {
        return Plaintext::encode(params, &(0..params.slots()).map(value).collect::<Vec<_>>())
            .unwrap();
    }
    Plaintext::from_coefficients(
        params,
        (0..params.degree()).map(value).collect(),
        params.plain_exponent(),
    )
    .unwrap()
}

pub(crate) const MODES: [BootstrapMode; 3] =
    [BootstrapMode::Thin, BootstrapMode::Full, BootstrapMode::Bypass];

#[test]
fn bootstrapping_is_exact_on_the_no_op_scheme() {
    // One, two and three axes; good and bad last dimensions; d = 1; p = 2; prime powers; two
    // digits.
    let rings: [Ring; 8] = [
        (11 * 23, 1013, 1, 1, 8),
        (5 * 11, 31, 1, 1, 8),
        (7 * 13, 127, 1, 1, 20),
        (7 * 13, 17, 2, 2, 20),
        (3 * 7 * 31, 67, 1, 1, 12),
        (3 * 5 * 17, 2, 1, 4, 4),
        (31, 2, 3, 4, 5),
        (17 * 3, 2, 1, 3, 3),
    ];
    for ring in rings {
        for (mode, form) in
            MODES.into_iter().flat_map(|mode| [(mode, Form::Bgv), (mode, Form::Bfv)])
        {
            check(ring, mode, form);
        }
    }
}

/// Bootstraps on the no-op scheme: the message comes back, at the costs and with the keys that were
/// planned, and with capacity for more.
pub(crate) fn check(ring: Ring, mode: BootstrapMode, form: Form) {
    let params = params(ring, mode, form, 2);
    let name = format!("{ring:?}, {mode:?}, {form:?}");
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
    assert_costs(&scheme, &bootstrapper, before, &name);
    assert_keys(&scheme, &bootstrapper, &name);
    assert_eq!(scheme.decrypt(&fresh).unwrap(), plain, "{name}");
    assert!(scheme.capacity_bits(&fresh) > bootstrapper.minimum_capacity(&scheme), "{name}");
    let removals = reports.iter().filter(|r| r.stage == Stage::DigitRemoval).count();
    let degree = params.slot_shape().degree_of_slot();
    assert_eq!(removals, if mode == BootstrapMode::Thin { 1 } else { degree }, "{name}");
}

#[test]
fn every_grouping_and_the_grid_are_exact() {
    let set = params((3 * 7 * 31, 67, 1, 1, 3), BootstrapMode::Bypass, Form::Bgv, 2);
    let candidates = BootstrapPlan::candidates_for(&set, 6).unwrap();
    let tried = candidates.iter().filter(|plan| {
        let grid = plan.digits.kind == DigitKind::Global;
        grid || plan.digits == (DigitMethod { kind: DigitKind::ProductTree, extra: 2 })
    });
    let mut count = 0;
    for plan in tried {
        let scheme = NoOp::new(&set, 2);
        let bootstrapper = Bootstrapper::new(&scheme, plan.clone()).unwrap();
        let plain = message(&set);
        let fresh =
            bootstrapper.bootstrap(&scheme, &scheme.encrypt_at(&plain, Level(1)).unwrap()).unwrap();
        assert_eq!(scheme.decrypt(&fresh).unwrap(), plain, "{plan:?}");
        count += 1;
    }
    // Three methods, and four ways to merge three axes, for each map.
    assert_eq!(count, 3 * 4 * 4);
}

/// Thin and general, by every method that a user can name: bits, one digit, prime powers and two
/// digits.
#[test]
fn every_digit_removal_bootstraps() {
    let rings: [Ring; 4] = [
        (3 * 5 * 17, 2, 1, 4, 4),
        (7 * 13, 127, 1, 1, 3),
        (7 * 43, 127, 2, 1, 20),
        (7 * 13, 17, 2, 2, 20),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for (ring, mode) in rings.into_iter().flat_map(|ring| MODES.map(|mode| (ring, mode))) {
        let (_, p, r, v, bound) = ring;
        let set = params(ring, mode, Form::Bgv, 2);
        let problem = DigitProblem { p, e: r + v, v, bound };
        let mut methods = DigitMethod::candidates(&problem).unwrap();
        methods.extend(
            ["halevi_shoup", "chen_han", "geelen", "geelen_composed", "local"]
                .map(|name| name.parse::<DigitMethod>().unwrap()),
        );
        if mode != BootstrapMode::Full && v == 1 && r == 1 {
            methods.push("global".parse().unwrap());
        }
        for digits in methods {
            let plan = BootstrapPlan::for_set(&set).unwrap().with_digits(digits);
            let scheme = NoOp::new(&set, 3);
            let bootstrapper = Bootstrapper::new(&scheme, plan)
                .unwrap_or_else(|e| panic!("{p}^{r}, {mode:?}, {digits}: {e}"));
            let plain = message(&set);
            let fresh = bootstrapper.bootstrap(&scheme, &scheme.encrypt(&plain).unwrap()).unwrap();
            assert_eq!(scheme.decrypt(&fresh).unwrap(), plain, "{p}^{r}, {mode:?}, {digits}");
            seen.insert((
                format!("{mode:?}"),
                digits.to_string().split('_').next().unwrap_or_default().to_string(),
            ));
        }
    }
    let families = ["halevi", "chen", "geelen", "local", "doubling", "product", "paterson"];
    for family in families {
        assert!(
            MODES.iter().all(|mode| seen.contains(&(format!("{mode:?}"), family.into()))),
            "{family}"
        );
    }
    assert!(
        ["Thin", "Bypass"].iter().all(|mode| seen.contains(&((*mode).into(), "global".into())))
    );
}

#[test]
fn bootstrapping_is_exact_with_cryptography() {
    // Overflows of a weight of 2 stay within 3/2 times the terms that a coefficient of a product
    // has: 4.
    for (ring, mode, form) in [
        ((5 * 11, 31, 1, 1, 12), BootstrapMode::Thin, Form::Bgv),
        ((7 * 43, 8191, 1, 1, 12), BootstrapMode::Thin, Form::Bgv),
        ((7 * 13, 127, 1, 1, 12), BootstrapMode::Bypass, Form::Bgv),
        ((7 * 13, 127, 1, 1, 12), BootstrapMode::Full, Form::Bfv),
        ((3 * 17, 2, 1, 5, 12), BootstrapMode::Bypass, Form::Bgv),
    ] {
        let params = params(ring, mode, form, 2);
        let mut plan = BootstrapPlan::for_set(&params).unwrap();
        // Where p has room for a grid, on that.
        if ring.1 == 8191 {
            plan.digits = "global".parse().unwrap();
        }
        exact_with_cryptography(&params, plan, 2);
    }
}

/// Bootstraps `times` times with cryptography: the message is there each time, with no more noise
/// than its bound, which is the one that the no-op scheme has foretold.
pub(crate) fn exact_with_cryptography(params: &Params, plan: BootstrapPlan, times: usize) {
    let name = format!("{}, {:?}", params.name(), params.bootstrap_mode());
    let plain = message(params);
    let dry = NoOp::new(params, 1);
    let rehearsal = Bootstrapper::new(&dry, plan.clone()).unwrap();
    let foretold = rehearsal.bootstrap(&dry, &dry.encrypt_at(&plain, Level(8)).unwrap()).unwrap();

    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let (secret, scheme) = party(params, &dry.key_plan(), &mut rng);
    let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
    let mut x = secret.encrypt(&plain, &mut rng).unwrap();
    same_together(&bootstrapper, &scheme, &[&x, &secret.encrypt(&plain, &mut rng).unwrap()]);
    // What the rehearsal knows is not looked for again.
    let before = scheme.cost();
    let least = bootstrapper.minimum_capacity(&scheme);
    let bootstrapper = Bootstrapper::rehearsed(&scheme, &rehearsal).unwrap();
    assert_eq!((scheme.cost() - before).key_switches, 0, "{name}");
    assert_eq!(bootstrapper.minimum_capacity(&scheme), least, "{name}");
    for _ in 0..times {
        x = bootstrapper.bootstrap(&scheme, &x).unwrap();
        assert_eq!(secret.decrypt(&x).unwrap(), plain, "{name}");
        let (measured, bound) = (secret.measure_noise(&x).unwrap(), scheme.noise_bound_bits(&x));
        assert!(measured <= bound, "{name}: noise 2^{measured:.1}, bound 2^{bound:.1}");
    }
    assert_eq!(scheme.noise_bound_bits(&x), dry.noise_bound_bits(&foretold), "{name}");
}

#[test]
fn circuits_of_any_depth_run_over_odd_indices() {
    // The last dimension is a bad one.
    runs_at_any_depth((7 * 13, 127, 1, 1, 12), 1);
}

/// Squares and rotates along a dimension 150 times, with bootstrapping in between.
pub(crate) fn runs_at_any_depth(ring: Ring, dimension: usize) {
    let params = params(ring, BootstrapMode::Thin, Form::Bgv, 2);
    let scheme = Arc::new(NoOp::new(&params, 1));
    let bootstrapper =
        Arc::new(Bootstrapper::new(&*scheme, BootstrapPlan::for_set(&params).unwrap()).unwrap());
    let auto = Session::new(scheme.clone(), bootstrapper);
    let p = params.plain_modulus();
    let mut values: Vec<u64> = (1..=params.slots() as u64).collect();
    let mut x = auto.share(scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap());
    for _ in 0..150 {
        x = auto.rotate_along(&auto.mul(&x, &x).unwrap(), dimension, 1).unwrap();
        x = auto.add_scalar(&x, 3).unwrap();
        values = values.iter().map(|v| (v * v + 3) % p).collect();
        values = rotated_along(params.slot_shape(), &values, dimension, 1);
    }
    assert_eq!(scheme.decrypt(&x.get()).unwrap().decode(&params).unwrap(), values);
    assert!(auto.bootstraps() > 1);
}

#[test]
fn slots_are_rotated_and_summed_along_dimensions() {
    // A good last dimension and two bad ones.
    for ring in [(5 * 11, 31, 1, 1, 8), (7 * 13, 17, 2, 2, 20), (3 * 5 * 17, 2, 1, 4, 4)] {
        rotates_and_sums(ring);
    }
}

/// Rotates along every dimension, and sums all slots.
pub(crate) fn rotates_and_sums(ring: Ring) {
    let params = params(ring, BootstrapMode::Thin, Form::Bgv, 2);
    let (shape, t) = (params.slot_shape(), params.plain_modulus());
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| (i * i + 1) % t).collect();
    let scheme = NoOp::new(&params, 1);
    let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
    let open = |x: &_| scheme.decrypt(x).unwrap().decode(&params).unwrap();
    let dimensions = shape.dimensions().len();
    for (a, k) in (0..dimensions).flat_map(|a| [0, 1, -1].map(|k| (a, k))) {
        let moved = rotate_along(&scheme, &x, a, k, NextUse::Keep).unwrap();
        assert_eq!(open(&moved), rotated_along(shape, &values, a, k), "{ring:?}, {a}, {k}");
    }
    let total = values.iter().sum::<u64>() % t;
    assert_eq!(open(&total_sum(&scheme, &x).unwrap()), vec![total; values.len()], "{ring:?}");
    assert!(rotate_along(&scheme, &x, dimensions, 1, NextUse::Keep).is_err());
}

/// Coefficients to coordinates of slots and back: the results of both ways.
fn there_and_back<S: ExactScheme>(scheme: &S, x: &S::Ciphertext) -> Vec<S::Ciphertext> {
    let e = scheme.plain_exponent(x);
    let transform = AxisTransform::new(scheme.slot_shape(), e).unwrap();
    let sizes = vec![1; transform.stages()];
    let prepared = |map: &AxisMap, level: Level| {
        let plan =
            LinearMapPlan::along_axes(map, &StepCosts { max_keys: 64, ..StepCosts::default() })
                .unwrap();
        PreparedLinearMap::new(scheme, &plan, level).unwrap()
    };
    let maps = transform.coeff_to_slot(&sizes, Packing::Whole).unwrap();
    let z = maps.iter().fold(x.clone(), |x, map| {
        prepared(map, scheme.level(&x)).apply(scheme, &x, NextUse::LinearMap).unwrap()
    });
    let mut parts = Vec::new();
    let coordinates = Coordinates::new(scheme, e, scheme.level(&z)).unwrap();
    let keep = |f, part| {
        assert_eq!(parts.len(), f);
        parts.push(part);
        Ok(())
    };
    coordinates.each(scheme, &z, NextUse::LinearMap, keep).unwrap();
    let maps = transform.slot_to_coeff(&sizes, Packing::Whole).unwrap();
    let back = maps.iter().fold(parts.clone(), |inputs, map| {
        vec![
            prepared(map, scheme.level(&inputs[0]))
                .apply_all(scheme, &inputs, NextUse::LinearMap)
                .unwrap(),
        ]
    });
    let short =
        prepared(&maps[0], scheme.level(&parts[0])).apply_all(scheme, &parts[1..], NextUse::Keep);
    assert!(matches!(short, Err(CircuitError::InputCount { .. })));
    [parts, back].concat()
}

#[test]
fn transforms_are_exact_with_cryptography_and_within_their_noise() {
    for (ring, form) in [
        ((3 * 7 * 31, 67, 1, 1, 12), Form::Bgv),
        ((7 * 13, 127, 1, 1, 20), Form::Bfv),
        ((23, 2, 3, 4, 5), Form::Bgv),
    ] {
        let params = params(ring, BootstrapMode::Full, form, 2);
        let plain = message(&params);
        let dry = NoOp::new(&params, 1);
        let foretold = there_and_back(&dry, &dry.encrypt(&plain).unwrap());

        let mut rng = ChaCha20Rng::from_seed([6; 32]);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let found = there_and_back(&scheme, &secret.encrypt(&plain, &mut rng).unwrap());
        for (x, like) in found.iter().zip(&foretold) {
            assert_eq!(secret.decrypt(x).unwrap(), dry.decrypt(like).unwrap(), "{ring:?}");
            let (measured, bound) = (secret.measure_noise(x).unwrap(), scheme.noise_bound_bits(x));
            assert!(
                measured <= bound && measured > bound - 30.0,
                "{ring:?}: noise 2^{measured:.1}, bound 2^{bound:.1}"
            );
            assert_eq!(bound, dry.noise_bound_bits(like), "{ring:?}");
        }
        assert_eq!(dry.decrypt(&foretold[foretold.len() - 1]).unwrap(), plain);
        assert!(foretold.len() == params.slot_shape().degree_of_slot() + 1);
    }
}
