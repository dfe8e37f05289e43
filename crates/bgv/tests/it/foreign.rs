//! Keys meet ciphertexts and plaintexts of other parameter sets.

use everlevel_bgv::{PublicKey, SecretKey};
use everlevel_scheme::{Arithmetic, NoOp, OptIn, Params, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

#[test]
fn a_key_refuses_ciphertexts_of_other_rings_and_chains() {
    let names = [
        "insecure_bgv-257-n8",
        "insecure_bfv-127e2-n8",
        "insecure_bgv-65537-n11",
        "insecure_ltv-257-n8",
        "insecure_aes-m4947",
    ];
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let sets = names.map(|name| {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let key = SecretKey::generate(&params, &mut rng);
        let x = key.encrypt(&Plaintext::encode(&params, &[1]).unwrap(), &mut rng).unwrap();
        (name, key, x)
    });
    for (owner, key, _) in &sets {
        for (name, _, x) in &sets {
            let out = key.decrypt(x);
            if owner == name {
                assert!(out.is_ok(), "{name}");
                continue;
            }
            // Another chain may lack the level, or the plaintext exponent, before the ring is
            // looked at.
            let refused = matches!(
                out,
                Err(SchemeError::WrongParams { .. }
                    | SchemeError::BadLevel { .. }
                    | SchemeError::BadArgument { .. }
                    | SchemeError::NoiseOverflow { .. })
            );
            assert!(refused, "{owner} reads {name}: {:?}", key.decrypt(x).err());
        }
    }
}

/// Of other degrees, modulo another prime, and modulo a higher power than the set of the key has.
#[test]
fn a_key_refuses_plaintexts_of_other_sets() {
    let [params, higher, larger] =
        ["insecure_bgv-257-n8", "insecure_bfv-127e2-n8", "insecure_bgv-65537-n11"]
            .map(|name| Params::named(name, OptIn::InsecureResearch).unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let secret = SecretKey::generate(&params, &mut rng);
    let public = PublicKey::generate(&secret, &mut rng);
    let exponent = higher.slot_shape().max_exponent();
    assert!(exponent > params.slot_shape().max_exponent());
    let high = Plaintext::encode_modulo(&higher, &[1], exponent).unwrap();
    let large = Plaintext::encode(&larger, &[1]).unwrap();
    // Its coefficients are residues modulo the prime of the key, too.
    let low = Plaintext::encode_modulo(&higher, &[1], 1).unwrap();
    assert_eq!((low.coefficients().len(), low.prime()), (params.degree(), 127));
    for plain in [&high, &large, &low] {
        let found = [secret.encrypt(plain, &mut rng), public.encrypt(plain, &mut rng)];
        for found in found {
            assert!(matches!(found.err(), Some(SchemeError::WrongParams { .. })));
        }
        assert!(plain.decode_signed(&params).is_err());
    }
    let dry = NoOp::new(&params, 1);
    assert!(dry.encrypt(&high).is_err() && dry.encrypt(&low).is_err());
    let own = Plaintext::encode(&params, &[1]).unwrap();
    let x = dry.encrypt(&own).unwrap();
    let refused = [dry.add_plain(&x, &low), dry.mul_plain(&x, &low)];
    for found in refused {
        assert!(matches!(found.err(), Some(SchemeError::WrongParams { .. })));
    }
    assert!(own.add(&low, &params).is_err() && low.scaled(2, &params).is_err());
}
