//! The same circuits once with cryptography: planned on the no-op scheme, run on BGV with the keys that the plan names.

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, StageReport};
use everlevel_circuit::digits::DigitMethod;
use everlevel_scheme::{Evaluator, KeyPlan, Level, NoOp, OptIn, Params, Plaintext, Scheme, SecretKey, ServerKeys};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// The keys of one bootstrapping, from a dry run; and what every stage left there.
fn dry_run(params: &Params, plan: &BootstrapPlan, worn: &Plaintext) -> (KeyPlan, Vec<StageReport>) {
    let scheme = NoOp::new(params, 1);
    let bootstrapper = Bootstrapper::new(&scheme, plan.clone()).unwrap();
    let x = scheme.encrypt_at(worn, Level(1)).unwrap();
    let mut reports = Vec::new();
    bootstrapper.bootstrap_observed(&scheme, &x, &mut reports).unwrap();
    (scheme.key_plan(), reports)
}

#[test]
fn bootstrapping_is_exact_on_bgv() {
    // d = 2, 1 and 2; both types of digit removal
    for (name, digits) in [
        ("insecure_bgv-257-n8", DigitMethod::ProductTree { group: 2 }),
        ("insecure_bgv-257-n8", DigitMethod::Global { extra_depth: 0 }),
        ("insecure_bgv-257-n8", DigitMethod::Local { extra_depth: 0 }),
        ("insecure_bgv-65537-n11", DigitMethod::ProductTree { group: 1 }),
        ("insecure_bgv-65537-n11", DigitMethod::Global { extra_depth: 1 }),
        ("insecure_bgv-786433-n11", DigitMethod::ProductTree { group: 2 }),
        ("insecure_bgv-786433-n11", DigitMethod::Global { extra_depth: 0 }),
    ] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let values: Vec<u64> = (0..params.slots()).map(|_| rng.next_u64() % params.plain_modulus()).collect();
        let plain = Plaintext::encode(&params, &values).unwrap();
        let plan = BootstrapPlan { digits, ..BootstrapPlan::balanced(params.slots()) };
        let (key_plan, dry) = dry_run(&params, &plan, &plain);

        let secret = SecretKey::generate(&params, &mut rng);
        let keys = ServerKeys::generate(&secret, &key_plan, &mut rng, |_, _| ()).unwrap();
        let scheme = Evaluator::new(keys);
        let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
        bootstrapper.prepare(&scheme, &dry).unwrap();
        let worn = secret.encrypt_at(&plain, Level(1), &mut rng).unwrap();
        let mut reports: Vec<StageReport> = Vec::new();
        let fresh = bootstrapper.bootstrap_observed(&scheme, &worn, &mut reports).unwrap();

        let back = secret.decrypt(&fresh).unwrap().decode(&params).unwrap();
        assert_eq!(back.iter().zip(&values).filter(|(a, b)| a != b).count(), 0, "{name}, {digits}: wrong slots");
        assert!(
            secret.measure_noise(&fresh).unwrap() <= scheme.noise_bound_bits(&fresh),
            "{name}, {digits}: noise above its bound"
        );
        // The no-op scheme foretold every stage.
        assert_eq!(reports.len(), dry.len());
        for (real, foretold) in reports.iter().zip(&dry) {
            assert_eq!(
                (real.stage, real.level_after, real.noise_bits),
                (foretold.stage, foretold.level_after, foretold.noise_bits)
            );
        }
    }
}
