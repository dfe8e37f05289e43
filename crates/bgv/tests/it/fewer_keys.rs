//! Relinearization by keys of other gadgets than those of the levels.

use everlevel_bgv::{EvalKeys, Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::{
    Arithmetic, Cost, KeyPlan, Level, NextUse, NoOp, OptIn, Params, Plaintext, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// BGV and BFV, over ring-LWE and NTRU.
const SETS: [&str; 5] = [
    "insecure_bgv-65537-n11",
    "insecure_bgv-257-n8",
    "insecure_bfv-257-n8",
    "insecure_ltv-257-n8",
    "insecure_yashe-257-n8",
];

/// The transforms and key switches of a cost, and the words of keys that these read.
fn switched(cost: Cost) -> (u64, u64, u64) {
    (cost.transforms, cost.key_switches, cost.key_bytes)
}

/// At every level at which a product fits, whatever follows: the right message, noise within the
/// bound, and level, bound, keys and cost as the no-op scheme foretells them for these keys. Keys
/// whose halves are seeds give the same.
#[test]
fn products_at_all_levels_with_fewer_keys() {
    for name in SETS {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let (mut rng, chain) = (ChaCha20Rng::seed_from_u64(11), params.chain());
        let secret = SecretKey::generate(&params, &mut rng);
        let all = KeyPlan::relinearization(&params);
        let plan = all.smaller(&params);
        assert!(plan.relin.len() < all.relin.len(), "{name}");
        let mut same = rng.clone();
        let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
        let seeded = ServerKeys::generate_seeded(&secret, &plan, &mut same, |_, _| ()).unwrap();
        assert_eq!((keys.plan(), seeded.plan()), (plan.clone(), plan.clone()));
        for (id, basis) in &plan.relin {
            assert_eq!(keys.relin_basis(*id), Some(*basis));
        }
        let (server, seeded) = (Evaluator::new(keys), Evaluator::new(seeded));
        let dry = NoOp::new(&params, 1).holding(plan.clone());
        let (t, count) = (params.plain_modulus(), params.degree());
        let mut message = || {
            let coefficients = (0..count).map(|_| rng.next_u64() % t).collect();
            Plaintext::from_coefficients(&params, coefficients, params.plain_exponent()).unwrap()
        };
        let messages = [message(), message()];
        let expected = messages[0].mul(&messages[1], &params).unwrap();
        let (mut fitting, mut by_others) = (0, 0);
        let uses = [NextUse::Keep, NextUse::Product, NextUse::LinearMap];
        let levels = (0..=chain.top().0).map(Level);
        for (level, next) in levels.flat_map(|level| uses.map(|next| (level, next))) {
            let real = || -> Result<_, SchemeError> {
                let mut rng = ChaCha20Rng::seed_from_u64(level.0 as u64);
                let [x, y] = &messages;
                let x = secret.encrypt_at(x, level, &mut rng)?;
                let y = secret.encrypt_at(y, level, &mut rng)?;
                let z = server.mul_lazy_aligned(&x, &y)?;
                let before = server.cost();
                let found = server.relinearize(&z, next)?;
                let cost = switched(server.cost() - before);
                Ok((found, seeded.relinearize(&z, next)?, cost))
            };
            let foretold = || -> Result<_, SchemeError> {
                let [x, y] = &messages;
                let (x, y) = (dry.encrypt_at(x, level)?, dry.encrypt_at(y, level)?);
                let z = dry.mul_lazy_aligned(&x, &y)?;
                let before = dry.cost();
                let found = dry.relinearize(&z, next)?;
                Ok((found, switched(dry.cost() - before)))
            };
            let (real, foretold) = (real(), foretold());
            assert_eq!(real.as_ref().err(), foretold.as_ref().err(), "{name}, {level}");
            let (Ok((real, by_seeds, cost)), Ok((foretold, dry_cost))) = (real, foretold) else {
                continue;
            };
            assert_eq!(cost, dry_cost, "{name}, {level}");
            assert_eq!(real.meta().level, foretold.meta().level, "{name}, {level}");
            assert!(next != NextUse::Keep || real.meta().level == level, "{name}, {level}");
            let (bound, dry_bound) = (real.meta().noise, foretold.meta().noise);
            assert!((bound - dry_bound).abs() < 1e-6, "{name}, {level}: {bound}, {dry_bound}");
            let measured = secret.measure_noise(&real).unwrap();
            assert!(measured <= bound, "{name}, {level}: {measured} above {bound}");
            for found in [&real, &by_seeds] {
                assert!(secret.decrypt(found).unwrap() == expected, "{name}, {level}");
            }
            assert_eq!(real.meta(), by_seeds.meta(), "{name}, {level}");
            fitting += 1;
            by_others += usize::from(!plan.relin.contains_key(&chain.gadget_id(level)));
        }
        assert!(fitting > chain.top().0 && by_others > 9, "{name}: {fitting}, {by_others}");
        // No other keys were used, and all of these.
        let used = dry.key_plan();
        assert!(plan.covers(&used) && used.relin.len() == plan.relin.len(), "{name}");
    }
}

/// Keys for lower levels alone do not serve the top.
#[test]
fn what_no_key_serves_is_refused() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let secret = SecretKey::generate(&params, &mut rng);
    let top = params.chain().top();
    let plan = KeyPlan::relinearization_up_to(&params, Level(top.0 / 2)).smaller(&params);
    let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
    let (server, dry) = (Evaluator::new(keys), NoOp::new(&params, 1).holding(plan));
    let one = Plaintext::encode(&params, &[1]).unwrap();
    let x = secret.encrypt(&one, &mut rng).unwrap();
    let refused = server.relinearize(&server.mul_lazy_aligned(&x, &x).unwrap(), NextUse::Keep);
    let x = dry.encrypt(&one).unwrap();
    let foretold = dry.relinearize(&dry.mul_lazy_aligned(&x, &x).unwrap(), NextUse::Keep);
    let (refused, foretold) = (refused.unwrap_err(), foretold.unwrap_err());
    assert_eq!(refused, foretold);
    assert!(["scheme.missing-key", "scheme.key-too-short"].contains(&refused.code()), "{refused}");
}
