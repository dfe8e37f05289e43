//! Polynomials whose terms are brought to few levels, on the no-op scheme and on BGV.

use std::num::NonZeroU32;

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_circuit::PrimePower;
use everlevel_circuit::poly::{DepthGoal, Polynomial, PolynomialPlan};
use everlevel_scheme::{NextUse, NoOp, OptIn, Params, Plaintext, Scheme};
use everlevel_testing::{SplitMix, toy_spec};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// The values are the same, in fewer transforms the fewer levels there are, and BGV has the noise
/// that the rehearsal foretells.
#[test]
fn terms_at_fewer_levels_take_fewer_transforms() {
    let params = Params::new(toy_spec(512, 257, 1), OptIn::InsecureResearch).unwrap();
    let (t, mut rng) = (PrimePower::new(257, 1).unwrap(), SplitMix(3));
    let f = Polynomial::new(t, (0..256).map(|_| 1 + rng.below(256)).collect::<Vec<_>>());
    let values: Vec<u64> = (0..params.slots() as u64).collect();
    let wanted: Vec<u64> = values.iter().map(|x| f.evaluate(*x)).collect();
    let message = Plaintext::encode(&params, &values).unwrap();
    let (goal, polynomials) = (DepthGoal::Least, [f]);
    let at = |levels: u32| {
        let levels = NonZeroU32::new(levels).unwrap();
        PolynomialPlan::at_levels(&polynomials, goal, levels).unwrap()
    };
    let mut transforms = vec![u64::MAX];
    for plan in [PolynomialPlan::new(&polynomials, goal).unwrap(), at(2), at(1)] {
        let dry = NoOp::new(&params, 1);
        let x = dry.encrypt(&message).unwrap();
        let foretold = plan.evaluate(&dry, &x, NextUse::Keep).unwrap().remove(0);
        assert_eq!(dry.decrypt(&foretold).unwrap().decode(&params).unwrap(), wanted);
        assert!(dry.cost().transforms < transforms[transforms.len() - 1], "{transforms:?}");
        transforms.push(dry.cost().transforms);

        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let secret = SecretKey::generate(&params, &mut rng);
        let keys = ServerKeys::generate(&secret, &dry.key_plan(), &mut rng, |_, _| ()).unwrap();
        let scheme = Evaluator::new(keys);
        let x = secret.encrypt(&message, &mut rng).unwrap();
        let found = plan.evaluate(&scheme, &x, NextUse::Keep).unwrap().remove(0);
        assert_eq!(scheme.noise_bound_bits(&found), dry.noise_bound_bits(&foretold));
        assert!(secret.measure_noise(&found).unwrap() <= scheme.noise_bound_bits(&found));
        assert_eq!(secret.decrypt(&found).unwrap().decode(&params).unwrap(), wanted);
    }
}
