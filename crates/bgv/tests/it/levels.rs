//! Encryption at every level, under the secret and the public key.

use everlevel_bgv::{Ciphertext, PublicKey, SecretKey};
use everlevel_scheme::{Level, NoOp, OptIn, Params, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// BGV and BFV, over ring-LWE and NTRU, prime powers, an odd index.
const SETS: [&str; 5] = [
    "insecure_bgv-257-n8",
    "insecure_bfv-127e2-n8",
    "insecure_ltv-257-n8",
    "insecure_yashe-257-n8",
    "insecure_aes-m4947",
];

/// A ciphertext is at its level, has the polynomials of that level, and decrypts to its message,
/// with a noise below its bound.
fn check(secret: &SecretKey, x: &Ciphertext, level: Level, message: &Plaintext, name: &str) {
    let params = secret.params();
    assert_eq!(x.meta().level, level, "{name}");
    let basis = params.chain().basis(level);
    assert!(x.components().iter().all(|c| c.basis() == basis), "{name}, {level}");
    assert!(secret.decrypt(x).unwrap() == *message, "{name}, {level}");
    let noise = secret.measure_noise(x).unwrap();
    assert!(noise <= x.meta().noise, "{name}, {level}: {noise} above {}", x.meta().noise);
}

#[test]
fn what_is_encrypted_at_a_level_decrypts_and_is_foretold() {
    for name in SETS {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let secret = SecretKey::generate(&params, &mut rng);
        let public = PublicKey::generate(&secret, &mut rng);
        let dry = NoOp::new(&params, 1);
        let (t, top) = (params.plain_modulus(), params.chain().top());
        let coefficients = (0..params.degree()).map(|_| rng.next_u64() % t).collect();
        let message =
            Plaintext::from_coefficients(&params, coefficients, params.plain_exponent()).unwrap();
        let mut bounds = Vec::new();
        for level in (0..=top.0).map(Level) {
            let foretold = dry.encrypt_at(&message, level);
            let x = secret.encrypt_at(&message, level, &mut rng);
            assert_eq!(x.as_ref().err(), foretold.as_ref().err(), "{name}, {level}");
            let Ok(x) = x else { continue };
            assert_eq!(x.meta().noise, foretold.unwrap().meta().noise, "{name}, {level}");
            check(&secret, &x, level, &message, name);
            bounds.push(x.meta().noise);
            if let Ok(x) = public.encrypt_at(&message, level, &mut rng) {
                check(&secret, &x, level, &message, name);
            }
        }
        // The noise does not depend on the level, so that a low one takes as much away as it is
        // lower.
        assert!(bounds.len() > 1, "{name}");
        assert!(bounds.iter().all(|b| (b - bounds[0]).abs() < 1e-6), "{name}: {bounds:?}");
        let above = Level(top.0 + 1);
        let refused = SchemeError::BadLevel { found: above, highest: top };
        assert_eq!(secret.encrypt_at(&message, above, &mut rng).unwrap_err(), refused, "{name}");
        assert_eq!(public.encrypt_at(&message, above, &mut rng).unwrap_err(), refused, "{name}");
    }
}
