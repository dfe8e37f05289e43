//! Bootstrapping of slots in a subring, over rings of odd index.

use everlevel_circuit::CircuitError;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, Stage, StageReport};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Form, Level, NoOp, Params, Plaintext, Scheme};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::axes_bootstrap::{message, params};
use crate::costs::{assert_costs, assert_keys};
use crate::party::party;

/// The sum of the images of any polynomial under the powers of Frobenius to the power k: its slots
/// lie in GR(p^r, k).
fn in_subring(params: &Params, k: usize) -> Plaintext {
    let (shape, plain, r) = (params.slot_shape(), params.plaintext_ring(), params.plain_exponent());
    let t = plain.modulus(r);
    let any = message(params).coefficients().to_vec();
    let step = (0..k).fold(shape.identity(), |g, _| shape.compose(g, shape.frobenius()));
    let images = std::iter::successors(Some(any), |x| Some(plain.galois(x, step, r)))
        .take(shape.degree_of_slot() / k);
    let sum =
        images.reduce(|sum, x| sum.iter().zip(&x).map(|(a, b)| t.add(*a, *b)).collect()).unwrap();
    Plaintext::from_coefficients(params, sum, r).unwrap()
}

#[test]
fn slots_in_a_subring_take_fewer_removals() {
    for (ring, k) in [
        ((3 * 5 * 17, 2, 1, 4, 4), 4),
        ((3 * 5 * 17, 2, 1, 4, 4), 1),
        ((7 * 13, 17, 2, 2, 20), 3),
        ((31, 2, 3, 4, 5), 5),
    ] {
        let params = params(ring, BootstrapMode::Full, Form::Bgv, 2);
        let degree = params.slot_shape().degree_of_slot();
        let plain = in_subring(&params, k);
        let scheme = NoOp::new(&params, 4);
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Bootstrapper::new(&scheme, plan.clone().in_subring(k)).unwrap();
        let exhausted = scheme.encrypt_at(&plain, Level(8)).unwrap();
        let before = scheme.cost();
        let mut reports: Vec<StageReport> = Vec::new();
        let fresh = bootstrapper.bootstrap_observed(&scheme, &exhausted, &mut reports).unwrap();
        let name = format!("{ring:?}, {k}");
        assert_costs(&scheme, &bootstrapper, before, &name);
        assert_keys(&scheme, &bootstrapper, &name);
        assert_eq!(scheme.decrypt(&fresh).unwrap(), plain, "{name}");
        assert_eq!(
            reports.iter().filter(|r| r.stage == Stage::DigitRemoval).count(),
            k,
            "{ring:?}"
        );
        if k < degree {
            // What does not lie in the subring is not kept.
            let any = message(&params);
            let lost = bootstrapper.bootstrap(&scheme, &scheme.encrypt(&any).unwrap()).unwrap();
            assert_ne!(scheme.decrypt(&lost).unwrap(), any);
        }
        for wrong in [0, degree + 1, 2 * degree] {
            let refused = Bootstrapper::new(&scheme, plan.clone().in_subring(wrong)).err();
            assert!(
                matches!(refused, Some(CircuitError::PlanMismatch { .. })),
                "{ring:?}, {wrong}"
            );
        }
        let thin =
            Bootstrapper::new(&scheme, plan.in_mode(BootstrapMode::Thin).in_subring(k)).err();
        assert!(matches!(thin, Some(CircuitError::PlanMismatch { .. })), "{ring:?}");
    }
}

#[test]
fn slots_in_a_subring_are_bootstrapped_with_cryptography() {
    let params = params((3 * 17, 2, 1, 5, 12), BootstrapMode::Full, Form::Bgv, 2);
    let plain = in_subring(&params, 4);
    let plan = BootstrapPlan::for_set(&params).unwrap().in_subring(4);
    let dry = NoOp::new(&params, 1);
    let foretold = Bootstrapper::new(&dry, plan.clone())
        .unwrap()
        .bootstrap(&dry, &dry.encrypt(&plain).unwrap())
        .unwrap();

    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
    let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
    let x = bootstrapper.bootstrap(&scheme, &secret.encrypt(&plain, &mut rng).unwrap()).unwrap();
    assert_eq!(secret.decrypt(&x).unwrap(), plain);
    let (measured, bound) = (secret.measure_noise(&x).unwrap(), scheme.noise_bound_bits(&x));
    assert!(
        measured <= bound && bound == dry.noise_bound_bits(&foretold),
        "noise 2^{measured:.1}, bound 2^{bound:.1}"
    );
}
