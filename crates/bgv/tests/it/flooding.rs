//! Decryption for sharing: exact within the bound, flooded visibly beyond it, refused without room.

use everlevel_bgv::{Ciphertext, Evaluator, FloodingPolicy, SecretKey, ServerKeys};
use everlevel_scheme::{
    Arithmetic, KeyPlan, Level, Meta, OptIn, Params, PlainModulus, Plaintext, Scheme, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const SETS: [&str; 4] =
    ["insecure_bgv-257-n8", "insecure_bfv-257-n8", "insecure_ltv-257-n8", "insecure_yashe-257-n8"];

fn encrypted(name: &str) -> (SecretKey, Plaintext, Ciphertext, ChaCha20Rng) {
    let params = Params::named(name, OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let secret = SecretKey::generate(&params, &mut rng);
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i % 257).collect();
    let plain = Plaintext::encode(&params, &values).unwrap();
    let x = secret.encrypt(&plain, &mut rng).unwrap();
    (secret, plain, x, rng)
}

#[test]
fn what_has_room_is_exact_and_what_has_none_is_refused() {
    for name in SETS {
        let (secret, plain, x, mut rng) = encrypted(name);
        let params = secret.params();
        let scheme = Evaluator::new(
            ServerKeys::generate(&secret, &KeyPlan::default(), &mut rng, |_, _| ()).unwrap(),
        );
        for policy in [FloodingPolicy::default(), FloodingPolicy::new(40, 10)] {
            let (mut shared, mut refused) = (0, 0);
            for level in (0..=x.level().0).map(Level) {
                let Ok(low) = scheme.mod_switch_to(&x, level) else { continue };
                let room = scheme.capacity_bits(&low);
                match secret.decrypt_for_sharing(&low, &policy, &mut rng) {
                    Ok(found) => {
                        assert_eq!(found, plain, "{name}, {level}");
                        assert!(
                            room > policy.capacity_needed(params) - 2.0,
                            "{name}, {level}: {room:.1} bits are too few"
                        );
                        shared += 1;
                    }
                    Err(SchemeError::NoiseOverflow { .. }) => {
                        assert!(
                            room < policy.capacity_needed(params) + 2.0,
                            "{name}, {level}: {room:.1} bits are enough"
                        );
                        refused += 1;
                    }
                    Err(e) => panic!("{name}, {level}: {e}"),
                }
            }
            assert!(shared > 0 && refused > 0, "{name}: {shared} shared, {refused} refused");
        }
        let greedy = FloodingPolicy::new(u32::MAX, u32::MAX);
        assert!(matches!(
            secret.decrypt_for_sharing(&x, &greedy, &mut rng),
            Err(SchemeError::BadArgument { .. })
        ));
    }
}

/// Under a bound that states far too little plain decryption refuses, under the largest one it
/// shows the message, and the flood does what it is for: nothing right comes out.
#[test]
fn floods_hide_noise_beyond_its_bound() {
    for name in SETS {
        let (secret, plain, x, mut rng) = encrypted(name);
        let params = secret.params();
        let scheme = Evaluator::new(
            ServerKeys::generate(&secret, &KeyPlan::default(), &mut rng, |_, _| ()).unwrap(),
        );
        // Multiplied by 128 until a few bits are left.
        let mut exhausted = x.clone();
        let mut value = plain;
        while scheme.capacity_bits(&exhausted) > 9.0 {
            exhausted = scheme.mul_scalar(&exhausted, 128).unwrap();
            value = value.scaled(128, params).unwrap();
        }
        let policy = FloodingPolicy::default();
        let modulus_bits = params.modulus_bits(exhausted.level());
        assert!(
            matches!(
                secret.decrypt_for_sharing(&exhausted, &policy, &mut rng),
                Err(SchemeError::NoiseOverflow { .. })
            ),
            "{name}"
        );
        // With a bound that is far too low, multiplied once more: as far as plain decryption stays
        // right, so that some coefficient is just below q/2.
        let stated = |x: &Ciphertext, noise: f64| {
            Ciphertext::from_parts(params, Meta { noise, ..*x.meta() }, x.components().to_vec())
                .unwrap()
        };
        let times = |x: &Ciphertext, value: &Plaintext, k: i64| {
            let product = scheme.mul_scalar(&stated(x, modulus_bits - 120.0), k).unwrap();
            let (x, value) =
                (stated(&product, modulus_bits - 20.0), value.scaled(k, params).unwrap());
            // Under the bound that it states it is refused, long before it is wrong.
            let found = secret.decrypt(&stated(&x, modulus_bits - 1.0 - 1e-5)).unwrap();
            (found == value).then_some((x, value))
        };
        let (mut lying, mut expected) = (exhausted.clone(), value);
        while let Some(next) = times(&lying, &expected, 128) {
            (lying, expected) = next;
        }
        let (lying, expected) = (1..128).rev().find_map(|k| times(&lying, &expected, k)).unwrap();
        // The largest bound that is not refused, for a flood that nearly fills the modulus.
        let bounds = (0..200).map(|i| modulus_bits - 20.0 - f64::from(i) / 2.0);
        let lying = bounds
            .map(|noise| stated(&lying, noise))
            .find(|x| {
                let shared = secret.decrypt_for_sharing(x, &policy, &mut rng);
                !matches!(shared, Err(SchemeError::NoiseOverflow { .. }))
            })
            .expect("room for the flood");
        assert_eq!(secret.decrypt(&lying), Err(SchemeError::NotDecryptable), "{name}");
        for _ in 0..2 {
            let shared = secret.decrypt_for_sharing(&lying, &policy, &mut rng);
            assert!(
                shared == Err(SchemeError::NotDecryptable) || shared.is_ok_and(|x| x != expected),
                "{name}: the flood is not there"
            );
        }
    }
}

/// Above p^r there may be noise in the message itself.
#[test]
fn extended_plaintext_moduli_are_refused() {
    let params = Params::named("insecure_bfv-127e2-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let secret = SecretKey::generate(&params, &mut rng);
    let plain = Plaintext::encode(&params, &[1, 2, 3]).unwrap();
    let scheme = Evaluator::new(
        ServerKeys::generate(&secret, &KeyPlan::default(), &mut rng, |_, _| ()).unwrap(),
    );
    let x = secret.encrypt(&plain, &mut rng).unwrap();
    let wide = scheme.extend_plain_modulus(&x, 3).unwrap();
    let refused = secret.decrypt_for_sharing(&wide, &FloodingPolicy::default(), &mut rng);
    assert!(matches!(refused, Err(SchemeError::BadArgument { .. })));
    let narrow = scheme.reduce_plain_modulus(&wide, 2).unwrap();
    assert_eq!(
        secret.decrypt_for_sharing(&narrow, &FloodingPolicy::default(), &mut rng).unwrap(),
        plain
    );
}
