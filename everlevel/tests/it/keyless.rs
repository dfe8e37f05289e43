//! Sets for servers without keys compute what they were planned for, and what none of them does is
//! refused.

use everlevel::lab::{Arithmetic, Evaluator};
use everlevel::{
    KeylessSet, OptIn, Params, ParamsSpec, Plaintext, SecretKey, ServerKeys, SumOfProducts,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// The sum of the products of these messages, encrypted and computed without keys, and by how much
/// its noise bound exceeds its noise, in bits.
fn computed(found: &KeylessSet, pairs: &[(Plaintext, Plaintext)]) -> (Plaintext, f64) {
    let params = &found.params;
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    let secret = SecretKey::generate(params, rng);
    let mut encrypt = |message: &Plaintext| secret.encrypt(message, rng).unwrap();
    let encrypted: Vec<_> = pairs.iter().map(|(x, y)| (encrypt(x), encrypt(y))).collect();
    let borrowed: Vec<_> = encrypted.iter().map(|(x, y)| (x, y)).collect();
    let server = Evaluator::new(ServerKeys::empty(params));
    let sum = server.sum_of_products(&borrowed).unwrap();
    let decrypted = secret.decrypt_product(&sum).unwrap();
    if found.compact_bytes.is_some() {
        let cut = sum.compact_for_decryption(params).unwrap();
        assert!(secret.decrypt_compact(&cut).unwrap() == decrypted, "{}", params.name());
    }
    (decrypted, sum.meta().noise - secret.measure_product_noise(&sum).unwrap())
}

/// What is expected of a sum.
fn in_the_clear(params: &Params, pairs: &[(Plaintext, Plaintext)]) -> Plaintext {
    let products = pairs.iter().map(|(x, y)| x.mul(y, params).unwrap());
    products.reduce(|sum, next| sum.add(&next, params).unwrap()).unwrap()
}

/// Whether a sum of this many products of fresh ciphertexts decrypts by its bound.
fn holds(params: &Params, count: u64) -> bool {
    let (noise, t, r) = (params.noise(), params.wide_modulus(), params.plain_exponent());
    let fresh = noise.modeled(params.chain().top(), r, |model| model.fresh_secret(t));
    noise.product(&fresh, &fresh).and_then(|product| noise.scale(&product, count)).is_ok()
}

#[test]
fn sums_of_signed_values_are_exact_in_all_slots() {
    let (terms, largest) = (20, 100i64);
    let found = SumOfProducts::new(terms).slots(3000).of_values(100, true).unwrap();
    let params = &found.params;
    assert!(params.slots() >= 3000 && params.slots() == params.degree(), "{params:?}");
    assert!(params.security().bits() >= 129.0 && params.check_switching().is_err());
    assert!(params.plain_modulus() > 2 * terms * 100 * 100 && found.failure_log2 < -128.0);
    let value =
        |k: u64, slot: usize| (slot as i64 * 7 + k as i64 * 31) % (2 * largest + 1) - largest;
    let column = |k: u64| (0..params.slots()).map(|slot| value(k, slot)).collect::<Vec<_>>();
    let encoded = |k: u64| Plaintext::encode_signed(params, &column(k)).unwrap();
    // The first pair has the largest values in some slots.
    let pairs: Vec<_> = (0..terms).map(|k| (encoded(k), encoded(k * k))).collect();
    let (sum, slack) = computed(&found, &pairs);
    let dot = |slot| (0..terms).map(|k| value(k, slot) * value(k * k, slot)).sum::<i64>();
    assert_eq!(
        sum.decode_signed(params).unwrap(),
        (0..params.slots()).map(dot).collect::<Vec<_>>()
    );
    assert!(slack >= 0.0, "{slack}");

    // No shorter primes hold the bound.
    let spec = params.spec();
    let (base_bits, word_bits) = (spec.base_bits - 1, spec.word_bits - 1);
    let shorter = ParamsSpec { base_bits, word_bits, ..spec.clone() };
    assert!(holds(params, terms));
    assert!(!holds(&Params::new(shorter, OptIn::SecureOnly).unwrap(), terms));
}

/// Coefficients of the largest magnitude, whose products all have the same sign, use most of the
/// bound.
#[test]
fn the_bound_is_above_the_noise_of_the_largest_messages() {
    let found = SumOfProducts::new(8).modulo(65537).unwrap();
    let params = &found.params;
    let largest = vec![params.plain_modulus() / 2; params.degree()];
    let message = Plaintext::from_coefficients(params, largest, 1).unwrap();
    let pairs = vec![(message.clone(), message); 8];
    let (sum, slack) = computed(&found, &pairs);
    assert!(sum == in_the_clear(params, &pairs));
    assert!((0.0..6.0).contains(&slack), "{slack}");
    assert!(found.capacity_bits > 0.0 && found.capacity_bits < 12.0, "{}", found.capacity_bits);
}

#[test]
fn bytes_are_multiplied_over_an_odd_index() {
    let found = SumOfProducts::new(50).slots(500).modulo(256).unwrap();
    let params = &found.params;
    assert!(params.spec().index % 2 == 1 && params.slots() >= 500, "{params:?}");
    assert!(params.plain_modulus() == 256 && params.security().bits() >= 129.0);
    let encoded = |k: u64| {
        let values: Vec<u64> = (0..params.slots() as u64).map(|i| (i * k + 255) % 256).collect();
        Plaintext::encode(params, &values).unwrap()
    };
    let pairs: Vec<_> = (0..50).map(|k| (encoded(k), encoded(3 * k + 1))).collect();
    let (sum, slack) = computed(&found, &pairs);
    assert!(sum == in_the_clear(params, &pairs));
    assert!(slack >= 0.0, "{slack}");
}

/// The sets of the stages, which tests of theirs compare with `ParamsSpec::for_products`:
/// Zn-multiplication and ml-inference, for whose constants 2^29 is the sum over all products.
#[test]
fn the_sets_of_the_benchmarks_are_found() {
    for (p, terms, weight) in [(17_179_926_529, 4, 1), (68_719_230_977, 1 << 25, 16)] {
        let found = SumOfProducts::new(terms).weight(weight).modulo(p.into()).unwrap();
        let known = ParamsSpec::for_products(p, terms * weight).unwrap();
        assert_eq!(found.params.spec(), &known);
        assert!(found.failure_log2 <= -128.0);
    }
    // Zn-multiplication adds four products of digits of 16 bits, for which a smaller prime does.
    let bits = |params: &Params| params.modulus_bits(params.chain().top());
    let digits = SumOfProducts::new(4).of_values(65535, false).unwrap();
    let stage = SumOfProducts::new(4).modulo(17_179_926_529).unwrap();
    assert_eq!(digits.params.spec().index, stage.params.spec().index);
    assert!(digits.params.plain_modulus() < stage.params.plain_modulus());
    assert!(bits(&digits.params) <= bits(&stage.params) + 1e-3);
    // Two primes of 48 bits; the widths of a cut result are in ADR 0048.
    let limbs = stage.params.degree() * 96 / 8;
    for (bytes, polynomials) in [(stage.fresh_bytes, 1), (stage.result_bytes, 3)] {
        let least = polynomials * limbs;
        assert!((least..least + 1024).contains(&bytes), "{bytes}");
    }
    let cut = stage.compact_bytes.unwrap();
    assert!((133 * 4096 / 8..136 * 4096 / 8 + 1024).contains(&cut), "{cut}");
}

#[test]
fn what_no_set_is_for_is_refused() {
    let one = SumOfProducts::new(1);
    for (refused, problem) in [
        (SumOfProducts::new(0).modulo(257), "at least one"),
        (one.weight(0).of_values(5, true), "at least one"),
        (one.slots(0).of_values(5, true), "at least one"),
        (one.slots(0).modulo(257), "at least one"),
        (SumOfProducts::new(u64::MAX).weight(2).modulo(257), "below 2^64"),
        (one.modulo(6), "power of a prime"),
        (one.slots(1 << 20).modulo(65537), "ask for fewer"),
        (one.slots(1 << 18).of_values(5, false), "no ring up to degree 2^17"),
        (one.of_values(1 << 25, false), "split values into digits"),
        (one.of_values(u64::MAX, true), "split values into digits"),
        // By constants that are weights it would be a sum of fewer ciphertexts.
        (SumOfProducts::new(1 << 29).modulo(68_719_230_977), "above 2^-128"),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.code(), "scheme.bad-params");
        assert!(error.to_string().contains(problem), "{error}");
    }
}
