//! Products before relinearization: decrypted, summed in one pass, made by servers without keys.

use everlevel_bgv::{Ciphertext, EvalKeys, Evaluator, Product, SecretKey, ServerKeys};
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{
    Arithmetic, Form, KeyPlan, Level, LinearMaps, NextUse, OptIn, Params, ParamsSpec, PlainModulus,
    Plaintext, SchemeError,
};
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

struct Fixture {
    params: Params,
    secret: SecretKey,
    server: Evaluator,
    rng: ChaCha20Rng,
}

impl Fixture {
    fn new(name: &str, seed: u64) -> Self {
        Self::of(Params::named(name, OptIn::InsecureResearch).unwrap(), seed)
    }

    /// A server that has no keys.
    fn of(params: Params, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = SecretKey::generate(&params, &mut rng);
        let server = Evaluator::new(ServerKeys::empty(&params));
        Fixture { params, secret, server, rng }
    }

    /// A plaintext with coefficients of any size.
    fn message(&mut self) -> Plaintext {
        let t = self.params.plain_modulus();
        let coefficients = (0..self.params.degree()).map(|_| self.rng.next_u64() % t).collect();
        let exponent = self.params.plain_exponent();
        Plaintext::from_coefficients(&self.params, coefficients, exponent).unwrap()
    }

    fn encrypt(&mut self, message: &Plaintext) -> Ciphertext {
        self.secret.encrypt(message, &mut self.rng).unwrap()
    }

    /// Some pairs of messages with their ciphertexts, and the sum of their products.
    fn pairs(&mut self, count: usize) -> (Vec<(Ciphertext, Ciphertext)>, Plaintext) {
        let params = self.params.clone();
        let mut sum: Option<Plaintext> = None;
        let pairs = (0..count).map(|_| {
            let (x, y) = (self.message(), self.message());
            let product = x.mul(&y, &params).unwrap();
            sum = Some(match &sum {
                None => product,
                Some(sum) => sum.add(&product, &params).unwrap(),
            });
            (self.encrypt(&x), self.encrypt(&y))
        });
        let pairs = pairs.collect();
        (pairs, sum.unwrap())
    }
}

fn borrowed(pairs: &[(Ciphertext, Ciphertext)]) -> Vec<(&Ciphertext, &Ciphertext)> {
    pairs.iter().map(|(x, y)| (x, y)).collect()
}

/// The sum by single products.
fn one_by_one(server: &Evaluator, pairs: &[(Ciphertext, Ciphertext)]) -> Product {
    let product = |(x, y): &(Ciphertext, Ciphertext)| server.mul_lazy_aligned(x, y).unwrap();
    let products = pairs.iter().map(product);
    products.reduce(|sum, next| server.add_products(&sum, &next).unwrap()).unwrap()
}

#[test]
fn products_decrypt_without_relinearization() {
    for name in SETS {
        let mut f = Fixture::new(name, 1);
        let (pairs, expected) = f.pairs(1);
        let [(x, y)] = &pairs[..] else { unreachable!() };
        let lazy = f.server.mul_lazy(x, y).unwrap();
        assert!(f.secret.decrypt_product(&lazy).unwrap() == expected, "{name}");
        let square = f.server.mul_lazy(x, x).unwrap();
        let message = f.secret.decrypt(x).unwrap();
        let expected = message.mul(&message, &f.params).unwrap();
        assert!(f.secret.decrypt_product(&square).unwrap() == expected, "{name}");
        // By its parts it is the same.
        let parts = square.components(f.params.cpu());
        let again = Product::from_parts(&f.params, *square.meta(), parts).unwrap();
        assert!(f.secret.decrypt_product(&again).unwrap() == expected, "{name}");
        assert_eq!(again.owner(), Some(f.secret.id()));
    }
}

#[test]
fn sums_in_one_pass_are_sums_of_products() {
    for name in SETS {
        let mut f = Fixture::new(name, 2);
        for count in [1, 2, 5] {
            let (pairs, expected) = f.pairs(count);
            let sum = f.server.sum_of_products(&borrowed(&pairs)).unwrap();
            assert!(f.secret.decrypt_product(&sum).unwrap() == expected, "{name}, {count} pairs");
            let other = one_by_one(&f.server, &pairs);
            assert_eq!(sum.meta(), other.meta(), "{name}, {count} pairs");
            let cpu = f.params.cpu();
            let bits = |x: &Product| everlevel_ring::cpu::fingerprint(&x.components(cpu));
            assert_eq!(bits(&sum), bits(&other), "{name}, {count} pairs");
        }
        // A pair that occurs twice, and a square.
        let (pairs, _) = f.pairs(1);
        let (x, y) = &pairs[0];
        let sum = f.server.sum_of_products(&[(x, y), (x, x), (x, y)]).unwrap();
        let [a, b] = [x, y].map(|x| f.secret.decrypt(x).unwrap());
        let twice = b.scaled(2, &f.params).unwrap().add(&a, &f.params).unwrap();
        let expected = a.mul(&twice, &f.params).unwrap();
        assert!(f.secret.decrypt_product(&sum).unwrap() == expected, "{name}");
    }
}

/// Levels are brought together, and correction factors, too, whatever order pairs come in.
#[test]
fn sums_of_products_at_several_levels() {
    for name in ["insecure_bgv-257-n8", "insecure_bfv-257-n8"] {
        let mut f = Fixture::new(name, 3);
        let (mut pairs, expected) = f.pairs(3);
        let low = Level(f.params.chain().top().0 - 5);
        pairs[1].0 = f.server.mod_switch_to(&pairs[1].0, low).unwrap();
        // Another factor: k times the message with k times the factor is the same message.
        let k = 3;
        let scaled = f.server.mul_scalar(&pairs[2].1, k).unwrap();
        let factor = scaled.meta().factor * k as u64 % f.params.plain_modulus();
        let meta = Meta { factor, ..*scaled.meta() };
        pairs[2].1 = Ciphertext::from_parts(&f.params, meta, scaled.components().to_vec()).unwrap();
        for _ in 0..3 {
            pairs.rotate_left(1);
            let sum = f.server.sum_of_products(&borrowed(&pairs)).unwrap();
            assert_eq!(sum.meta().level, low, "{name}");
            assert!(f.secret.decrypt_product(&sum).unwrap() == expected, "{name}");
        }
    }
}

#[test]
fn sums_refuse_what_products_refuse() {
    let mut f = Fixture::new("insecure_bgv-257-n8", 4);
    let code = |found: Result<Product, SchemeError>| found.unwrap_err().code();
    assert_eq!(code(f.server.sum_of_products(&[])), "scheme.bad-argument");
    let (pairs, _) = f.pairs(2);
    let (x, y) = &pairs[0];
    let stranger = SecretKey::generate(&f.params, &mut f.rng);
    let z = stranger.encrypt(&f.message(), &mut f.rng).unwrap();
    assert_eq!(code(f.server.sum_of_products(&[(x, y), (x, &z)])), "scheme.wrong-key");
    assert_eq!(code(f.server.sum_of_products(&[(x, y), (&z, &z)])), "scheme.wrong-key");
    let bfv = f.server.convert(x, Form::Bfv);
    assert_eq!(code(f.server.sum_of_products(&[(x, &bfv)])), "scheme.form-mismatch");
    assert_eq!(code(f.server.sum_of_products(&[(x, y), (&bfv, &bfv)])), "scheme.form-mismatch");
    let mut other = Fixture::new("insecure_bgv-65537-n11", 4);
    let message = other.message();
    let foreign = other.encrypt(&message);
    let foreign = other.server.mod_switch_to(&foreign, Level(2)).unwrap();
    assert_eq!(code(f.server.sum_of_products(&[(x, y), (&foreign, y)])), "scheme.wrong-params");
    // At the lowest level no product fits.
    let lowest = f.server.mod_switch_to(x, Level(0)).unwrap();
    let many = vec![(&lowest, &lowest); 1 << 12];
    assert_eq!(code(f.server.sum_of_products(&many)), "scheme.noise-overflow");
}

#[test]
fn another_key_does_not_decrypt_a_product() {
    for name in SETS {
        let mut f = Fixture::new(name, 5);
        let (pairs, expected) = f.pairs(1);
        let product = f.server.sum_of_products(&borrowed(&pairs)).unwrap();
        let stranger = SecretKey::generate(&f.params, &mut f.rng);
        let found = stranger.decrypt_product(&product).unwrap_err();
        assert_eq!(found.code(), "scheme.wrong-key", "{name}");
        // A lie about the owner: the phase is not within the bound.
        let parts = product.components(f.params.cpu());
        let meta = Meta { owner: Some(stranger.id()), ..*product.meta() };
        let lie = Product::from_parts(&f.params, meta, parts.clone()).unwrap();
        let found = stranger.decrypt_product(&lie).unwrap_err();
        assert_eq!(found.code(), "scheme.not-decryptable", "{name}");
        // Nobody's, with the largest bound: a wrong key would not be noticed.
        let noise = f.params.noise().largest_noise(product.meta().level);
        let meta = Meta { owner: None, noise, ..*product.meta() };
        let anybody = Product::from_parts(&f.params, meta, parts.clone()).unwrap();
        let found = f.secret.decrypt_product(&anybody).unwrap_err();
        assert_eq!(found.code(), "scheme.unknown-owner", "{name}");
        let meta = Meta { noise, ..*product.meta() };
        let largest = Product::from_parts(&f.params, meta, parts.clone()).unwrap();
        assert!(f.secret.decrypt_product(&largest).unwrap() == expected, "{name}");
        let few: Result<Product, _> = Product::from_parts(&f.params, *product.meta(), Vec::new());
        assert_eq!(few.unwrap_err().code(), "scheme.bad-argument", "{name}");
    }
    let mut one = Fixture::new("insecure_bgv-257-n8", 6);
    let other = Fixture::new("insecure_bgv-127-n8", 6);
    let (pairs, _) = one.pairs(1);
    let product = one.server.sum_of_products(&borrowed(&pairs)).unwrap();
    assert!(other.secret.decrypt_product(&product).is_err());
}

/// A small ring without special primes, whose modulus just holds four products.
fn keyless() -> Params {
    let spec = ParamsSpec::for_products(65537, 4).unwrap();
    let (index, name) = (1 << 9, format!("insecure_{}", spec.name));
    let spec = ParamsSpec { index, name, base_bits: 28, word_bits: 28, words: 1, ..spec };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// The bound holds for messages of the largest norm, where nearly all of it is used.
#[test]
fn servers_without_keys_multiply_and_add() {
    let mut f = Fixture::of(keyless(), 7);
    let t = f.params.plain_modulus();
    let extreme = |sign: bool| {
        let half = if sign { t / 2 } else { t / 2 + 1 };
        let coefficients = vec![half; f.params.degree()];
        Plaintext::from_coefficients(&f.params, coefficients, 1).unwrap()
    };
    let (high, low) = (extreme(true), extreme(false));
    let messages = [(&high, &high), (&low, &high), (&low, &low), (&high, &low)];
    let pairs: Vec<_> = messages.iter().map(|(x, y)| (f.encrypt(x), f.encrypt(y))).collect();
    let sum = f.server.sum_of_products(&borrowed(&pairs)).unwrap();
    let products = messages.iter().map(|(x, y)| x.mul(y, &f.params).unwrap());
    let expected = products.reduce(|sum, next| sum.add(&next, &f.params).unwrap()).unwrap();
    assert!(f.secret.decrypt_product(&sum).unwrap() == expected);
    let more = vec![(&pairs[0].0, &pairs[0].1); 64];
    let found = f.server.sum_of_products(&more).unwrap_err();
    assert_eq!(found.code(), "scheme.noise-overflow");
}

/// What takes a key says so, and none can be made.
#[test]
fn servers_without_keys_have_none() {
    let mut f = Fixture::of(keyless(), 8);
    let (pairs, _) = f.pairs(1);
    let (x, y) = &pairs[0];
    assert!(f.server.mul(x, y, NextUse::Keep).is_err());
    let identity = everlevel_ring::GaloisElement::IDENTITY;
    assert_eq!(f.server.hoist(x, &[identity]).err().unwrap().code(), "scheme.bad-params");
    let plan = KeyPlan::relinearization(&f.params);
    let keys = ServerKeys::generate(&f.secret, &plan, &mut f.rng, |_, _| ());
    assert_eq!(keys.err().unwrap().code(), "scheme.bad-params");
    let top = f.params.chain().top();
    let change = ServerKeys::key_change(&f.secret, &f.secret, top, &mut f.rng);
    assert_eq!(change.err().unwrap().code(), "scheme.bad-params");
    let none = ServerKeys::generate(&f.secret, &KeyPlan::default(), &mut f.rng, |_, _| ());
    assert!(none.unwrap().is_empty() && f.server.keys().owner().is_none());
}
