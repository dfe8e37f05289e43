//! Circuits over NTRU: what is planned on the no-op scheme runs on ciphertexts of one component.

use everlevel_circuit::poly::{DepthGoal, Polynomial, PolynomialPlan};
use everlevel_scheme::{NextUse, NoOp, OptIn, Params, Plaintext};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::party::party;

#[test]
fn polynomials_are_exact_over_ntru() {
    for name in ["insecure_ltv-257-n8", "insecure_yashe-257-n8"] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut random =
            |count: usize| (0..count).map(|_| rng.next_u64() % 257).collect::<Vec<u64>>();
        let polynomial = Polynomial::new(params.plaintext_ring().modulus(1), random(40));
        let plan =
            PolynomialPlan::new(std::slice::from_ref(&polynomial), DepthGoal::Least).unwrap();
        let values = random(params.slots());
        let plain = Plaintext::encode(&params, &values).unwrap();

        let dry = NoOp::new(&params, 1);
        let foretold =
            plan.evaluate(&dry, &dry.encrypt(&plain).unwrap(), NextUse::Keep).unwrap().remove(0);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let x = secret.encrypt(&plain, &mut rng).unwrap();
        let y = plan.evaluate(&scheme, &x, NextUse::Keep).unwrap().remove(0);
        assert_eq!(y.meta(), foretold.meta(), "{name}");
        assert!(secret.measure_noise(&y).unwrap() <= y.noise_bound_bits(), "{name}");
        let expected: Vec<u64> = values.iter().map(|&v| polynomial.evaluate(v)).collect();
        assert_eq!(secret.decrypt(&y).unwrap().decode(&params).unwrap(), expected, "{name}");
    }
}
