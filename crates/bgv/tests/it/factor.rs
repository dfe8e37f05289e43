//! Plaintexts ready to multiply with.

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::{Arithmetic, Level, OptIn, Params, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

#[test]
fn a_factor_does_what_its_plaintext_does_at_every_level_that_it_fits() {
    for name in [
        "insecure_bgv-257-n8",
        "insecure_bfv-127e2-n8",
        "insecure_ltv-257-n8",
        "insecure_aes-m4947",
    ] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let key = SecretKey::generate(&params, &mut rng);
        let evaluator = Evaluator::new(ServerKeys::empty(&params));
        let values: Vec<u64> =
            (0..params.slots() as u64).map(|i| (i * i + 1) % params.plain_modulus()).collect();
        let plain = Plaintext::encode(&params, &values).unwrap();
        let fresh = key.encrypt(&plain, &mut rng).unwrap();
        let top = params.chain().top();
        let factor = evaluator.prepare_plaintext(&plain, top).unwrap();
        assert_eq!(factor.level(), top);
        let mut fitted = 0;
        for level in (0..=top.0).map(Level) {
            let Ok(x) = evaluator.mod_switch_to(&fresh, level) else { continue };
            let Ok(expected) = evaluator.mul_plain(&x, &plain) else { continue };
            match evaluator.mul_prepared_plain(&x, &factor) {
                Ok(y) => {
                    fitted += 1;
                    assert_eq!(y.components().len(), expected.components().len());
                    assert_eq!(
                        key.decrypt(&y).unwrap(),
                        key.decrypt(&expected).unwrap(),
                        "{name} at level {level}"
                    );
                    assert_eq!(y.noise_bound_bits(), expected.noise_bound_bits());
                    assert!(key.measure_noise(&y).unwrap() <= y.noise_bound_bits());
                }
                // A prime that came back on the way down.
                Err(error) => assert!(
                    matches!(error, SchemeError::BadArgument { .. }),
                    "{name} at level {level}: {error}"
                ),
            }
        }
        assert!(fitted > 0, "{name}");
        let low = evaluator.prepare_plaintext(&plain, Level(0)).unwrap();
        assert!(
            matches!(
                evaluator.mul_prepared_plain(&fresh, &low),
                Err(SchemeError::BadArgument { .. })
            ),
            "{name}"
        );
        assert!(
            matches!(
                evaluator.prepare_plaintext(&plain, Level(top.0 + 1)),
                Err(SchemeError::BadLevel { .. })
            ),
            "{name}"
        );
    }
}

#[test]
fn factors_of_other_sets_are_refused() {
    let named = |name| Params::named(name, OptIn::InsecureResearch).unwrap();
    let other = named("insecure_bgv-65537-n11");
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let foreign = Evaluator::new(ServerKeys::empty(&other));
    let factor = foreign
        .prepare_plaintext(&Plaintext::encode(&other, &[1]).unwrap(), other.chain().top())
        .unwrap();
    // Of another ring, and of the same ring and primes with slots that repeat, as its do not.
    for name in ["insecure_bgv-257-n8", "insecure_bgv-65537-n11-s512"] {
        let one = named(name);
        let x = SecretKey::generate(&one, &mut rng)
            .encrypt(&Plaintext::encode(&one, &[1]).unwrap(), &mut rng)
            .unwrap();
        let refused = Evaluator::new(ServerKeys::empty(&one)).mul_prepared_plain(&x, &factor);
        assert!(matches!(refused.err(), Some(SchemeError::WrongParams { .. })), "{name}");
    }
    // The same set, made once more.
    let again = Evaluator::new(ServerKeys::empty(&named("insecure_bgv-65537-n11")));
    let plain = Plaintext::encode(&other, &[1]).unwrap();
    let x = SecretKey::generate(&other, &mut rng).encrypt(&plain, &mut rng).unwrap();
    assert!(again.mul_prepared_plain(&x, &factor).is_ok());
}
