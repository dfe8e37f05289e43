//! Results do not depend on the number of threads.

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::digits::{DigitKind, DigitMethod};
use everlevel_scheme::{KeyPlan, Level, NoOp, OptIn, Params, Plaintext};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// With 16 threads the places of each prime are divided; with seeded keys those are not that are
/// multiplied by a key.
#[test]
fn bootstrapping_is_the_same_on_many_threads() {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let digits = DigitMethod { kind: DigitKind::Global, extra: 1 };
    let plan = BootstrapPlan::balanced(params.slots()).with_digits(digits);
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i * i % 65537).collect();
    let plain = Plaintext::encode(&params, &values).unwrap();
    let dry = NoOp::new(&params, 1);
    let foretold = Bootstrapper::new(&dry, plan.clone()).unwrap();
    foretold.bootstrap(&dry, &dry.encrypt_at(&plain, Level(1)).unwrap()).unwrap();
    let key_plan = dry.key_plan().merge(&KeyPlan::relinearization(&params));
    for seeded in [false, true] {
        let mut rng = ChaCha20Rng::from_seed([9; 32]);
        let secret = SecretKey::generate(&params, &mut rng);
        let keys = match seeded {
            true => ServerKeys::generate_seeded(&secret, &key_plan, &mut rng, |_, _| ()),
            false => ServerKeys::generate(&secret, &key_plan, &mut rng, |_, _| ()),
        };
        let scheme = Evaluator::new(keys.unwrap());
        let bootstrapper = Bootstrapper::new(&scheme, plan.clone()).unwrap();
        let x = secret.encrypt_at(&plain, Level(1), &mut rng).unwrap();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bootstrapper.bootstrap(&scheme, &x).unwrap())
        };
        let one = run(1);
        assert_eq!(secret.decrypt(&one).unwrap().decode(&params).unwrap(), values);
        for threads in [2, 3, 16] {
            let found = run(threads);
            assert_eq!(found.fingerprint(), one.fingerprint(), "{threads} threads");
            assert_eq!(found.meta(), one.meta(), "{threads} threads");
        }
    }
}
