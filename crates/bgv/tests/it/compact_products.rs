//! Products before relinearization that are cut to what decryption needs.

use everlevel_bgv::{CompactCiphertext, Evaluator, Product, SecretKey, ServerKeys};
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{Arithmetic, Level, OptIn, Params, ParamsSpec, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// BGV and BFV, over ring-LWE and NTRU, prime powers, an odd index.
const SETS: [&str; 6] = [
    "insecure_bgv-257-n8",
    "insecure_bfv-257-n8",
    "insecure_bfv-127e2-n8",
    "insecure_ltv-257-n8",
    "insecure_yashe-257-n8",
    "insecure_aes-m4947",
];

fn named(name: &str) -> Params {
    Params::named(name, OptIn::InsecureResearch).unwrap()
}

/// A set of degree 2^8 without special primes.
fn keyless(plain_prime: u64, bits: u32, primes: usize) -> Params {
    let spec = ParamsSpec::for_products(65537, 4).unwrap();
    let (index, name) = (1 << 9, format!("insecure_compact-{plain_prime}-{bits}"));
    let (base_bits, word_bits, words) = (bits, bits, primes - 1);
    let spec = ParamsSpec { index, name, plain_prime, base_bits, word_bits, words, ..spec };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// A sum of two products at a level, of messages with coefficients of any size, under a new key.
fn sum_at(params: &Params, seed: u64, level: Level) -> (SecretKey, Product, Plaintext) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let secret = SecretKey::generate(params, &mut rng);
    let (t, exponent) = (params.plain_modulus(), params.plain_exponent());
    let mut message = || {
        let coefficients = (0..params.degree()).map(|_| rng.next_u64() % t).collect();
        Plaintext::from_coefficients(params, coefficients, exponent).unwrap()
    };
    let (x, y) = (message(), message());
    let [a, b] = [&x, &y].map(|x| secret.encrypt_at(x, level, &mut rng).unwrap());
    let server = Evaluator::new(ServerKeys::empty(params));
    let sum = server.sum_of_products(&[(&a, &b), (&b, &b)]).unwrap();
    let expected = x.add(&y, params).unwrap().mul(&y, params).unwrap();
    (secret, sum, expected)
}

fn sum(params: &Params, seed: u64) -> (SecretKey, Product, Plaintext) {
    sum_at(params, seed, params.chain().top())
}

/// How far the phase lies from messages: the least bound with which it decrypts.
fn measured(secret: &SecretKey, compact: &CompactCiphertext) -> u32 {
    let decrypts =
        |distance: u32| secret.decrypt_compact(&compact.clone().within(distance).unwrap()).is_ok();
    let (mut low, mut high) = (0, compact.distance());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if decrypts(middle) { high = middle } else { low = middle }
    }
    high
}

#[test]
fn cut_products_decrypt() {
    for name in SETS {
        let params = named(name);
        for level in [params.chain().top(), Level(params.chain().top().0 / 2)] {
            let (secret, sum, expected) = sum_at(&params, 1, level);
            let compact = sum.compact_for_decryption(&params).unwrap();
            assert_eq!((compact.degree(), compact.owner()), (2, Some(secret.id())));
            assert_eq!(compact.widths().len(), 2 * params.components() - 1);
            assert!(secret.decrypt_compact(&compact).unwrap() == expected, "{name}, {level}");
            // By its parts it is the same.
            let (widths, parts) = (compact.widths().to_vec(), compact.components().to_vec());
            let (exponent, unit) = (compact.exponent(), compact.unit());
            let again =
                CompactCiphertext::product_from_parts(&params, exponent, unit, widths, parts);
            let again = again.unwrap().owned_by(compact.owner());
            assert!(again.within(compact.distance()).unwrap() == compact);
            assert!(sum.into_compact(&params).unwrap() == compact);
        }
    }
}

/// What is stated is never less than what is there, also where nearly all of it is the rounding of
/// what s² multiplies; and for an index that is a power of two it is not much more.
#[test]
fn bounds_hold_and_are_not_much_more() {
    for (name, loose) in [
        ("insecure_bgv-257-n8", 16),
        ("insecure_bfv-257-n8", 16),
        ("insecure_ltv-257-n8", 64),
        ("insecure_aes-m4947", 1 << 20),
    ] {
        let params = named(name);
        for seed in 0..if params.degree() > 256 { 1 } else { 20 } {
            let (secret, sum, _) = sum(&params, seed);
            let compact = sum.compact_for_decryption(&params).unwrap();
            let (found, stated) = (measured(&secret, &compact), compact.distance());
            assert!(found <= stated, "{name}, seed {seed}");
            // With much capacity the distance is the rounding's.
            let used = params.noise().capacity(sum.meta()) < 12.0;
            assert!(used || found.saturating_mul(loose) > stated, "{name}: {found} of {stated}");
        }
    }
}

/// The widths are what exactness takes: a few bits less, and values are wrong.
#[test]
fn narrower_ones_would_fail() {
    let params = named("insecure_bgv-257-n8");
    let (secret, sum, expected) = sum(&params, 2);
    let compact = sum.compact_for_decryption(&params).unwrap();
    let cut = |bits: u32| {
        let widths: Vec<u32> = compact.widths().iter().map(|w| w - bits).collect();
        let parts = compact.components().iter();
        let parts = parts.map(|c| c.iter().map(|x| x >> bits).collect()).collect();
        let (exponent, unit) = (compact.exponent(), compact.unit());
        let cut = CompactCiphertext::product_from_parts(&params, exponent, unit, widths, parts);
        let cut = cut.unwrap().owned_by(compact.owner());
        secret.decrypt_compact(&cut).unwrap()
    };
    assert!(cut(0) == expected);
    let wrong = (1..8).find(|&bits| cut(bits) != expected);
    assert!(wrong.is_some(), "{:?} bits are too many", compact.widths());
}

/// Servers without keys return sums whose bound nearly fills the modulus, here of messages of the
/// largest norm; they are cut to less than the product's 3 · 60 bits.
#[test]
fn sums_that_fill_the_modulus_are_cut_exactly() {
    let params = keyless(65537, 30, 2);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = SecretKey::generate(&params, &mut rng);
    let t = params.plain_modulus();
    let extreme =
        |half: u64| Plaintext::from_coefficients(&params, vec![half; params.degree()], 1).unwrap();
    let (high, low) = (extreme(t / 2), extreme(t / 2 + 1));
    let [a, b] = [&high, &low].map(|x| secret.encrypt(x, &mut rng).unwrap());
    let server = Evaluator::new(ServerKeys::empty(&params));
    let product = high.mul(&low, &params).unwrap();
    // The largest number of pairs that the modulus holds, and fewer.
    let mut cut = 0;
    for count in (0..).map(|k| 1usize << k) {
        let Ok(sum) = server.sum_of_products(&vec![(&a, &b); count]) else { break };
        let Ok(compact) = sum.compact_for_decryption(&params) else { continue };
        let expected = product.scaled(count as i64, &params).unwrap();
        assert!(secret.decrypt_compact(&compact).unwrap() == expected, "{count} pairs");
        let bits: u32 = compact.widths().iter().sum();
        assert!(bits < 2 * 60, "{count} pairs: {bits} bits");
        cut += 1;
    }
    assert!(cut > 4, "{cut}");
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let params = named("insecure_bgv-257-n8");
    let (_, sum, _) = sum(&params, 4);
    let other = named("insecure_ltv-257-n8");
    assert!(matches!(sum.compact_for_decryption(&other), Err(SchemeError::WrongParams { .. })));
    let compact = sum.compact_for_decryption(&params).unwrap();
    let stranger = SecretKey::generate(&params, &mut ChaCha20Rng::seed_from_u64(5));
    let found = stranger.decrypt_compact(&compact).unwrap_err();
    assert_eq!(found.code(), "scheme.wrong-key");
    // Nothing but the phase tells a wrong key if the owner is said to be that one; in so small a
    // ring it takes a bound of one fourth.
    let lie = compact.clone().owned_by(Some(stranger.id())).within(1 << 30).unwrap();
    let found = stranger.decrypt_compact(&lie).unwrap_err();
    assert_eq!(found.code(), "scheme.not-decryptable");
    let ltv = SecretKey::generate(&other, &mut ChaCha20Rng::seed_from_u64(5));
    assert!(matches!(ltv.decrypt_compact(&compact), Err(SchemeError::WrongParams { .. })));
    // Bounds that nobody vouches for leave no room.
    let noise = params.noise().largest_noise(sum.meta().level);
    let meta = Meta { noise, ..*sum.meta() };
    let parts = sum.components(params.cpu());
    let untrusted = Product::from_parts(&params, meta, parts).unwrap();
    let found = untrusted.compact_for_decryption(&params).unwrap_err();
    assert_eq!(found.code(), "scheme.bad-argument");
    // A modulus that holds the product, but not what decryption computes with.
    let small = keyless(257, 40, 1);
    let (secret, sum, expected) = self::sum(&small, 6);
    assert_eq!(sum.compact_for_decryption(&small).unwrap_err().code(), "scheme.bad-argument");
    assert!(secret.decrypt_product(&sum).unwrap() == expected);
}
