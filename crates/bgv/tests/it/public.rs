//! Public data as ciphertexts, over ring-LWE and over NTRU, whose ciphertexts have one component.

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_scheme::{
    Arithmetic, Bootstrappable, KeyPlan, Meta, NextUse, NoOp, OptIn, Params, Plaintext,
};
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
        // Sums are those of the addition of a plaintext, bit by bit, as the no-op scheme foretells.
        let dry = NoOp::new(&params, 1);
        let b = dry.encrypt(&x).unwrap();
        let square = dry.mul(&b, &b, NextUse::Product).unwrap();
        for (x, foretold) in [(&a, b), (&s.mul(&a, &a, NextUse::Product).unwrap(), square)] {
            let whole = s.add_plain(x, &y).unwrap();
            let in_parts = s.add(x, &s.addend(&y, x).unwrap()).unwrap();
            assert_eq!(in_parts.fingerprint(), whole.fingerprint(), "{name}");
            let noise = |m: &Meta| (m.noise.to_bits(), m.estimate.to_bits(), m.owner);
            assert_eq!(in_parts.meta(), whole.meta(), "{name}");
            assert_eq!(noise(in_parts.meta()), noise(whole.meta()), "{name}");
            let known = dry.add(&foretold, &dry.addend(&y, &foretold).unwrap()).unwrap();
            assert_eq!(known.meta(), whole.meta(), "{name}");
            let plain = dry.add_plain(&foretold, &y).unwrap();
            assert!(dry.decrypt(&known).unwrap() == dry.decrypt(&plain).unwrap(), "{name}");
        }
        for (i, (found, expected)) in found.iter().enumerate() {
            assert!(secret.decrypt(found).unwrap() == **expected, "{name}: result {i}");
            assert!(secret.measure_noise(found).unwrap() <= found.noise_bound_bits(), "{name}");
        }
    }
}
