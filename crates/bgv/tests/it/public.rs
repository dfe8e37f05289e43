//! Public data as ciphertexts, over ring-LWE and over NTRU, whose ciphertexts have one component.

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::{Arithmetic, Bootstrappable, KeyPlan, NextUse, OptIn, Params, Plaintext};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

#[test]
fn public_data_are_operands_like_encryptions() {
    for name in [
        "insecure_bgv-257-n8",
        "insecure_bfv-257-n8",
        "insecure_ltv-257-n8",
        "insecure_ltv-2-m255",
        "insecure_yashe-257-n8",
    ] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(31);
        let secret = SecretKey::generate(&params, &mut rng);
        let plan = KeyPlan::relinearization(&params);
        let s = Evaluator::new(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap());
        let mut message = || {
            let t = params.plain_modulus();
            let values: Vec<u64> = (0..params.slots()).map(|_| rng.next_u64() % t).collect();
            Plaintext::encode(&params, &values).unwrap()
        };
        let (x, y) = (message(), message());
        let (a, open) = (secret.encrypt(&x, &mut rng).unwrap(), s.transparent(&y).unwrap());
        assert_eq!(open.components().len(), params.components(), "{name}");
        let (sum, product) = (x.add(&y, &params).unwrap(), x.mul(&y, &params).unwrap());
        let mut found = vec![(open.clone(), &y)];
        for (left, right) in [(&open, &a), (&a, &open)] {
            found.push((s.add(left, right).unwrap(), &sum));
            found.push((s.mul(left, right, NextUse::Product).unwrap(), &product));
        }
        for (i, (found, expected)) in found.iter().enumerate() {
            assert!(secret.decrypt(found).unwrap() == **expected, "{name}: result {i}");
            assert!(secret.measure_noise(found).unwrap() <= found.noise_bound_bits(), "{name}");
        }
    }
}
