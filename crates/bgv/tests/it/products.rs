//! Products before relinearization: decrypted, summed in one pass, made by servers without keys.

use everlevel_bgv::{Ciphertext, EvalKeys, Evaluator, Product, SecretKey, ServerKeys};
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{
    AffineForm, Arithmetic, Form, KeyPlan, Level, LinearMaps, NextUse, NoOp, OptIn, Params,
    ParamsSpec, PlainModulus, Plaintext, SchemeError,
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

/// Sums that are requested together are those by themselves, at one level and at two.
#[test]
fn sums_of_several_lists_are_the_same() {
    for name in SETS {
        let mut f = Fixture::new(name, 5);
        let (pairs, _) = f.pairs(3);
        let [(a, b), (c, d), (e, _)] = &pairs[..] else { panic!("three pairs") };
        let low = f.server.mod_switch_to(e, Level(f.params.chain().top().0 - 1)).unwrap();
        let lists: [&[(&Ciphertext, &Ciphertext)]; 4] =
            [&[(a, b), (c, d)], &[(a, d)], &[(c, b), (a, e), (e, d)], &[(&low, b)]];
        let cpu = f.params.cpu();
        let bits = |x: Product| everlevel_ring::cpu::fingerprint(&x.components(cpu));
        for lists in [&lists[..0], &lists[..3], &lists[..]] {
            let sums = f.server.sums_of_products(lists).unwrap();
            let alone = lists.iter().map(|pairs| f.server.sum_of_products(pairs).unwrap());
            let seen = |x: Product| (*x.meta(), bits(x));
            assert!(sums.into_iter().map(seen).eq(alone.map(seen)), "{name}");
        }
        let refused = f.server.sums_of_products(&[lists[0], &[]]).unwrap_err();
        assert_eq!(refused.code(), "scheme.bad-argument");
    }
}

/// What plans say of a sum of products is what becomes of it: level, bound and value.
#[test]
fn sums_are_foretold() {
    for name in SETS {
        let mut f = Fixture::new(name, 12);
        let (pairs, expected) = f.pairs(3);
        let (dry, low) = (NoOp::new(&f.params, 1), Level(f.params.chain().top().0 - 1));
        let lower = |x: &Ciphertext| f.server.mod_switch_to(x, low).unwrap();
        let pairs: Vec<_> = pairs.into_iter().map(|(x, y)| (lower(&x), y)).collect();
        let open = |x: &Ciphertext| dry.encrypt(&f.secret.decrypt(x).unwrap()).unwrap();
        let dried: Vec<_> = pairs
            .iter()
            .map(|(x, y)| (dry.mod_switch_to(&open(x), low).unwrap(), open(y)))
            .collect();
        let dried: Vec<_> = dried.iter().map(|(x, y)| (x, y)).collect();
        let foretold = dry.sum_of_products(&dried).unwrap();
        let sum = f.server.sum_of_products(&borrowed(&pairs)).unwrap();
        let meta = Meta { owner: None, ..*sum.meta() };
        assert_eq!(foretold.meta(), &meta, "{name}");
        assert!(f.secret.decrypt_product(&sum).unwrap() == expected, "{name}");
        assert!(dry.decrypt(&foretold).unwrap() == expected, "{name}");
        assert_eq!(dry.sum_of_products(&[]).unwrap_err().code(), "scheme.bad-argument");
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

fn form(weights: &[i64], constant: i64) -> AffineForm {
    AffineForm { weights: weights.to_vec(), constant }
}

/// Forms of products are those of the messages' products, whatever level and factor each has.
#[test]
fn forms_of_products_are_those_of_their_messages() {
    for name in SETS {
        let mut f = Fixture::new(name, 9);
        let (pairs, _) = f.pairs(3);
        let mut products: Vec<Product> =
            pairs.iter().map(|(x, y)| f.server.mul_lazy(x, y).unwrap()).collect();
        // At a lower level, where there is one, and so with another factor.
        let low = f.params.chain().top().0.saturating_sub(1);
        let [x, y] = [&pairs[1].0, &pairs[1].1];
        let [x, y] = [x, y].map(|x| f.server.mod_switch_to(x, Level(low)).unwrap());
        products[1] = f.server.mul_lazy_aligned(&x, &y).unwrap();
        let messages: Vec<Plaintext> =
            products.iter().map(|x| f.secret.decrypt_product(x).unwrap()).collect();
        let forms = [form(&[1, 0, 0], 0), form(&[3, -2, 1], 5), form(&[-1, 2, 7], -1)];
        let borrowed: Vec<&Product> = products.iter().collect();
        let sums = f.server.combine_products(&borrowed, &forms).unwrap();
        assert_eq!(sums.len(), forms.len());
        for (sum, form) in sums.iter().zip(&forms) {
            assert!(sum.meta().level.0 <= low, "{name}");
            let exponent = f.params.plain_exponent();
            let t = f.params.plaintext_ring().modulus(exponent);
            let constant =
                f.params.plaintext_ring().constant(t.reduce_i64(form.constant), exponent);
            let constant = Plaintext::from_coefficients(&f.params, constant, exponent);
            let terms = form.weights.iter().zip(&messages);
            let expected = terms.fold(constant.unwrap(), |sum, (&w, message)| {
                sum.add(&message.scaled(w, &f.params).unwrap(), &f.params).unwrap()
            });
            assert!(f.secret.decrypt_product(sum).unwrap() == expected, "{name}: {form:?}");
        }
    }
}

#[test]
fn forms_of_products_refuse_what_sums_refuse() {
    let mut f = Fixture::new("insecure_bgv-257-n8", 10);
    let code = |found: Result<Vec<Product>, SchemeError>| found.unwrap_err().code();
    let (pairs, _) = f.pairs(1);
    let (x, y) = &pairs[0];
    let product = f.server.mul_lazy(x, y).unwrap();
    assert_eq!(code(f.server.combine_products(&[], &[form(&[], 0)])), "scheme.bad-argument");
    let short = f.server.combine_products(&[&product, &product], &[form(&[1], 0)]);
    assert_eq!(code(short), "scheme.bad-argument");
    let stranger = SecretKey::generate(&f.params, &mut f.rng);
    let z = stranger.encrypt(&f.message(), &mut f.rng).unwrap();
    let theirs = Evaluator::new(ServerKeys::empty(&f.params)).mul_lazy(&z, &z).unwrap();
    let mixed = f.server.combine_products(&[&product, &theirs], &[form(&[1, 1], 0)]);
    assert_eq!(code(mixed), "scheme.wrong-key");
    let bfv = f.server.convert(x, Form::Bfv);
    let bfv = f.server.mul_lazy(&bfv, &bfv).unwrap();
    let mixed = f.server.combine_products(&[&product, &bfv], &[form(&[1, 1], 0)]);
    assert_eq!(code(mixed), "scheme.form-mismatch");
    let many = vec![&product; 1 << 10];
    let lowest = f.server.combine_products(&many, &[form(&vec![128; 1 << 10], 0)]);
    let room = product.meta().noise + 17.0 < f.params.noise().largest_noise(product.meta().level);
    assert!(room || code(lowest) == "scheme.noise-overflow");
    let mut other = Fixture::new("insecure_bgv-65537-n11", 10);
    let (pairs, _) = other.pairs(1);
    let foreign = other.server.mul_lazy(&pairs[0].0, &pairs[0].1).unwrap();
    assert!(f.server.combine_products(&[&product, &foreign], &[form(&[1, 1], 0)]).is_err());
}

/// Two layers on a server without keys, messages and constants as large as they may be: nearly all
/// of the bound is used, and what exceeds it is refused.
#[test]
fn two_layers_hold_up_to_the_bound() {
    let mut f = Fixture::of(keyless(), 11);
    let t = f.params.plain_modulus();
    let extreme = vec![t / 2; f.params.degree()];
    let message = Plaintext::from_coefficients(&f.params, extreme, 1).unwrap();
    let x = f.encrypt(&message);
    // (w x)² with w² of the four products that the set holds, and one with more.
    let layer = f.server.linear_combinations(&[&x, &x], &[form(&[1, 1], 0), form(&[1, 0], 0)]);
    let layer = layer.unwrap();
    let squares: Vec<Product> =
        layer.iter().map(|x| f.server.mul_lazy_aligned(x, x).unwrap()).collect();
    let squares: Vec<&Product> = squares.iter().collect();
    let sums = f.server.combine_products(&squares, &[form(&[1, 0], 0), form(&[0, -4], 0)]);
    let square = message.mul(&message, &f.params).unwrap();
    for (sum, k) in sums.unwrap().iter().zip([4, -4]) {
        let expected = square.scaled(k, &f.params).unwrap();
        assert!(f.secret.decrypt_product(sum).unwrap() == expected);
    }
    let more = f.server.combine_products(&squares, &[form(&[64, 0], 0)]);
    assert_eq!(more.unwrap_err().code(), "scheme.noise-overflow");
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
