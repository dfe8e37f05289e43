//! Keys meet ciphertexts of other parameter sets.

use everlevel_bgv::SecretKey;
use everlevel_scheme::{OptIn, Params, Plaintext, SchemeError};
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
