//! Bootstrapping of plaintexts modulo primes of 31 bits and powers of two of up to 57 bits, most of
//! them with q0 a product of two primes: with cryptography, every coefficient compared.

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};
use everlevel_scheme::{Form, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme};
use everlevel_testing::toy_spec;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::axes_bootstrap::exact_with_cryptography;
use crate::party::party;

/// 2^31 - 1, of order 2 modulo every power of two: slots of degree 2 in one row.
const MERSENNE: u64 = (1 << 31) - 1;

fn wide(p: u64, mode: BootstrapMode, form: Form, digits: &str, base_bits: u32) -> ParamsSpec {
    let bootstrap = BootstrapSpec {
        mode: Some(mode),
        digit_removal: Some(digits.into()),
        ..BootstrapSpec::encapsulated(8)
    };
    ParamsSpec { base_bits, words: 30, form, bootstrap: Some(bootstrap), ..toy_spec(256, p, 1) }
}

/// The largest prime of 31 bits with slots of degree 1.
fn split() -> u64 {
    (1..)
        .map(|k| (1u64 << 31) + 1 - 256 * k)
        .find(|p| everlevel_ring::primes::is_prime(*p))
        .unwrap()
}

#[test]
fn primes_of_31_bits_are_bootstrapped_exactly() {
    for (p, mode, form, digits) in [
        (MERSENNE, BootstrapMode::Thin, Form::Bgv, "product_tree_2"),
        (MERSENNE, BootstrapMode::Thin, Form::Bfv, "product_tree_2"),
        (MERSENNE, BootstrapMode::Full, Form::Bgv, "local"),
        (split(), BootstrapMode::Thin, Form::Bgv, "paterson_stockmeyer"),
        (split(), BootstrapMode::Bypass, Form::Bgv, "product_tree_2"),
        (split(), BootstrapMode::Bypass, Form::Bgv, "global"),
    ] {
        let spec = wide(p, mode, form, digits, 86);
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        assert!(params.base_modulus() >> 80 != 0);
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let mut value = |_| rng.next_u64() % p;
        // The ends of the range, and values of all sizes.
        let mut plain = [0, 1, p - 1, p / 2, p / 2 + 1].to_vec();
        let plain = if mode == BootstrapMode::Full {
            plain.extend((plain.len()..params.degree()).map(&mut value));
            Plaintext::from_coefficients(&params, plain, 1).unwrap()
        } else {
            plain.extend((plain.len()..params.slots()).map(&mut value));
            Plaintext::encode(&params, &plain).unwrap()
        };
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let dry = NoOp::new(&params, 1);
        let bootstrapper = Bootstrapper::new(&dry, plan.clone()).unwrap();
        let foretold = bootstrapper.bootstrap(&dry, &dry.encrypt(&plain).unwrap()).unwrap();

        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
        let mut x = secret.encrypt(&plain, &mut rng).unwrap();
        for _ in 0..2 {
            x = bootstrapper.bootstrap(&scheme, &x).unwrap();
            assert!(secret.decrypt(&x).unwrap() == plain, "{p}, {mode:?}, {form:?}, {digits}");
            assert!(secret.measure_noise(&x).unwrap() <= scheme.noise_bound_bits(&x));
        }
        assert_eq!(scheme.noise_bound_bits(&x), dry.noise_bound_bits(&foretold), "{p}, {mode:?}");
    }
}

/// Integers modulo 2^r in the slots of the ring of index 31. An overflow under a weight of 2 is
/// below 3.
fn words(r: u32, base_bits: u32) -> ParamsSpec {
    let bootstrap = BootstrapSpec {
        overflow_bound: Some(5),
        digits: Some(4),
        mode: Some(BootstrapMode::Thin),
        ..BootstrapSpec::encapsulated(2)
    };
    ParamsSpec {
        plain_exponent: r,
        base_bits,
        words: 40,
        fine_bits: vec![46, 42, 38],
        special: 4,
        digit_size: 4,
        bootstrap: Some(bootstrap),
        ..ParamsSpec::new(format!("insecure_words-{r}-m31"), 31, 2)
    }
}

#[test]
fn powers_of_two_are_bootstrapped_exactly_up_to_57_bits() {
    // With the four digits of the overflow, 57 bits are the 61 that there may be.
    for (r, base_bits) in [(16, 50), (32, 64), (57, 88)] {
        let params = Params::new(words(r, base_bits), OptIn::InsecureAllowFailures)
            .unwrap_or_else(|e| panic!("2^{r}: {e}"));
        assert_eq!(params.base_modulus() >> 50 != 0, base_bits > 50);
        exact_with_cryptography(&params, BootstrapPlan::for_set(&params).unwrap(), 2);
    }
    let error = Params::new(words(58, 88), OptIn::InsecureAllowFailures).unwrap_err();
    assert_eq!(error.code(), "scheme.bad-params");
    assert!(error.to_string().contains("below 2^62"), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |base_bits| {
        let spec = wide(MERSENNE, BootstrapMode::Thin, Form::Bgv, "product_tree_2", base_bits);
        let error = Params::new(spec, OptIn::InsecureResearch).unwrap_err();
        assert_eq!(error.code(), "scheme.bad-params");
        error.to_string()
    };
    // Too small for the phase times p, too large for two primes, and for 128 bits with p.
    assert!(refused(62).contains("base_bits = 62 leaves too little room"));
    assert!(refused(97).contains("base_bits = 97: expected 20 to 96"));
    assert!(refused(96).contains("at most 124 together"), "{}", refused(96));
}
