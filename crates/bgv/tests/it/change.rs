//! Ciphertexts move from one secret key to another.

use everlevel_bgv::{Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_scheme::{Arithmetic, Level, OptIn, Params, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

#[test]
fn messages_stay_and_keys_change() {
    for name in [
        "insecure_bgv-257-n8",
        "insecure_bfv-257-n8",
        "insecure_ltv-257-n8",
        "insecure_yashe-257-n8",
        "insecure_aes-m4947",
    ] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        let [old, new] = [(); 2].map(|()| SecretKey::generate(&params, &mut rng));
        let top = params.chain().top();
        let change = Evaluator::new(ServerKeys::key_change(&old, &new, top, &mut rng).unwrap());
        let values: Vec<u64> =
            (0..params.slots() as u64).map(|i| i * i % params.plain_modulus()).collect();
        let plain = Plaintext::encode(&params, &values).unwrap();
        let fresh = PublicKey::generate(&old, &mut rng).encrypt(&plain, &mut rng).unwrap();
        for level in [top, Level(top.0 / 2), Level(top.0 / 4)] {
            let x = change.mod_switch_to(&fresh, level).unwrap();
            let moved = change.change_key(&x).unwrap();
            assert_eq!(moved.level(), level);
            assert_eq!(new.decrypt(&moved).unwrap(), plain, "{name} at level {level}");
            assert!(
                new.measure_noise(&moved).unwrap() <= moved.noise_bound_bits(),
                "{name} at level {level}"
            );
            let wrong = Err(SchemeError::WrongKey {
                operation: "decryption",
                left: new.id(),
                right: old.id(),
            });
            assert_eq!(old.decrypt(&moved), wrong, "{name}: the old key reads on");
            assert_eq!(
                old.decrypt(&moved.clone().without_owner()),
                Err(SchemeError::NotDecryptable)
            );
            // The same way once more, and of what belongs to neither key.
            assert!(matches!(change.change_key(&moved), Err(SchemeError::WrongKey { .. })));
        }
        // Keys for lower levels only, and none.
        let low = Evaluator::new(ServerKeys::key_change(&old, &new, Level(0), &mut rng).unwrap());
        assert!(
            matches!(
                low.change_key(&fresh),
                Err(SchemeError::KeyTooShort { .. } | SchemeError::MissingKey { .. })
            ),
            "{name}"
        );
        let none = Evaluator::new(ServerKeys::empty(&params));
        assert!(matches!(none.change_key(&fresh), Err(SchemeError::MissingKey { .. })), "{name}");
    }
    let [one, other] = ["insecure_bgv-257-n8", "insecure_bgv-127-n8"].map(|name| {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        SecretKey::generate(&params, &mut ChaCha20Rng::seed_from_u64(1))
    });
    let refused =
        ServerKeys::key_change(&one, &other, Level(0), &mut ChaCha20Rng::seed_from_u64(2));
    assert!(matches!(refused.err(), Some(SchemeError::WrongParams { .. })));
}
