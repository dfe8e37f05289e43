//! Plaintext moduli up to 2^64, that itself included: encrypted words wrap as the machine's do.

use everlevel_bgv::{Ciphertext, Evaluator, FloodingPolicy, PublicKey, SecretKey, ServerKeys};
use everlevel_scheme::spec::BootstrapSpec;
use everlevel_scheme::{
    AffineForm, Arithmetic, Automorphisms, Form, KeyPlan, Level, NextUse, NoOp, OptIn, Params,
    ParamsSpec, PlainModulus, Plaintext,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::bfv::{build, keys, small};

/// Words with those at the ends and in the middle first.
fn words(count: usize, rng: &mut ChaCha20Rng) -> Vec<u64> {
    let edges = [u64::MAX, 0, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, 1, 1 << 32];
    edges.into_iter().chain((edges.len()..count).map(|_| rng.next_u64())).take(count).collect()
}

/// A ciphertext with what its slots are to be.
struct Known {
    ciphertext: Ciphertext,
    values: Vec<u64>,
}

struct Bench {
    params: Params,
    secret: SecretKey,
    scheme: Evaluator,
    rng: ChaCha20Rng,
}

impl Bench {
    fn new(spec: ParamsSpec, seed: u64) -> Self {
        let (params, mut rng) = (build(spec), ChaCha20Rng::seed_from_u64(seed));
        let (secret, scheme) = keys(&params, &mut rng);
        Bench { params, secret, scheme, rng }
    }

    fn encrypted(&mut self) -> Known {
        let values = words(self.params.slots(), &mut self.rng);
        let plain = Plaintext::encode(&self.params, &values).unwrap();
        Known { ciphertext: self.secret.encrypt(&plain, &mut self.rng).unwrap(), values }
    }

    /// Right, and with noise within its bound.
    fn check(&self, x: &Ciphertext, expected: impl Iterator<Item = u64>, what: &str) {
        let (found, bound) = (self.secret.decrypt(x).unwrap(), x.noise_bound_bits());
        assert!(found.decode(&self.params).unwrap().into_iter().eq(expected), "{what}");
        let measured = self.secret.measure_noise(x).unwrap();
        assert!(measured <= bound, "{what}: 2^{measured} above 2^{bound}");
    }
}

fn words_spec(index: u64, form: Form, through_bgv: bool) -> ParamsSpec {
    ParamsSpec { index, through_bgv, ..small(2, 64, form) }
}

#[test]
fn words_wrap() {
    for (index, form, through_bgv) in [
        (127, Form::Bgv, false),
        (255, Form::Bgv, false),
        (127, Form::Bfv, false),
        (127, Form::Bfv, true),
    ] {
        let mut bench = Bench::new(words_spec(index, form, through_bgv), index);
        let [x, mut y] = [(); 2].map(|()| bench.encrypted());
        y.values.rotate_right(1);
        let turned = Plaintext::encode(&bench.params, &y.values).unwrap();
        y.ciphertext = PublicKey::generate(&bench.secret, &mut bench.rng)
            .encrypt(&turned, &mut bench.rng)
            .unwrap();
        let (scheme, a, b) = (&bench.scheme, &x.ciphertext, &y.ciphertext);
        let name = format!("index {index}, {form:?}, {through_bgv}");
        let check = |found: &Ciphertext, what: &str, f: &dyn Fn(u64, u64) -> u64| {
            let pairs = x.values.iter().zip(&y.values);
            bench.check(found, pairs.map(|(&x, &y)| f(x, y)), &format!("{what}, {name}"));
        };
        check(a, "x", &|x, _| x);
        check(b, "y", &|_, y| y);
        check(&scheme.add(a, b).unwrap(), "x + y", &u64::wrapping_add);
        check(&scheme.sub(a, b).unwrap(), "x - y", &u64::wrapping_sub);
        check(&scheme.neg(a).unwrap(), "-x", &|x, _| x.wrapping_neg());
        check(&scheme.add_plain(a, &turned).unwrap(), "x + plain", &u64::wrapping_add);
        check(&scheme.mul_plain(a, &turned).unwrap(), "x plain", &u64::wrapping_mul);
        for k in [0, 1, -1, 12345, i64::MAX, i64::MIN] {
            let product = scheme.mul_scalar(a, k).unwrap();
            check(&product, "x k", &|x, _| x.wrapping_mul(k as u64));
            let sum = scheme.add_scalar(a, k).unwrap();
            check(&sum, "x + k", &|x, _| x.wrapping_add(k as u64));
        }
        let combined = scheme.linear_combination(&[(a, 3), (b, i64::MIN)], -7).unwrap();
        check(&combined, "combination", &|x, y| {
            x.wrapping_mul(3).wrapping_add(y.wrapping_mul(1 << 63)).wrapping_sub(7)
        });
        let product = scheme.mul(a, b, NextUse::Product).unwrap();
        check(&product, "x y", &u64::wrapping_mul);
        let square = scheme.mul(&product, &product, NextUse::Keep).unwrap();
        check(&square, "(x y)^2", &|x, y| x.wrapping_mul(y).wrapping_pow(2));
        // At another level, where factors of BFV ciphertexts differ.
        check(&scheme.add(&square, a).unwrap(), "(x y)^2 + x", &|x, y| {
            x.wrapping_mul(y).wrapping_pow(2).wrapping_add(x)
        });
        let low = scheme.mod_switch_to(a, Level(a.level().0 / 2)).unwrap();
        check(&low, "switched", &|x, _| x);
        let other = if form == Form::Bgv { Form::Bfv } else { Form::Bgv };
        check(&scheme.convert(a, other), "converted", &|x, _| x);
    }
}

#[test]
fn products_without_keys_shared_values_and_smaller_moduli() {
    for form in [Form::Bgv, Form::Bfv] {
        let mut bench = Bench::new(words_spec(127, form, false), 5);
        let [x, y] = [(); 2].map(|()| bench.encrypted());
        let (scheme, a, b) = (&bench.scheme, &x.ciphertext, &y.ciphertext);
        let lazy = scheme.mul_lazy(a, b).unwrap();
        let form = AffineForm { weights: [i64::MAX].into(), constant: -1 };
        let combined = scheme.combine_products(&[&lazy], &[form]).unwrap();
        let found = bench.secret.decrypt_product(&combined[0]).unwrap();
        let expected = x
            .values
            .iter()
            .zip(&y.values)
            .map(|(&x, &y)| x.wrapping_mul(y).wrapping_mul(i64::MAX as u64).wrapping_sub(1));
        assert!(found.decode(&bench.params).unwrap().into_iter().eq(expected));

        let shared = bench.secret.decrypt_for_sharing(
            a,
            &FloodingPolicy::default(),
            &mut ChaCha20Rng::seed_from_u64(1),
        );
        assert_eq!(shared.unwrap().decode(&bench.params).unwrap(), x.values);

        let half = scheme.reduce_plain_modulus(a, 32).unwrap();
        let found = bench.secret.decrypt(&half).unwrap().decode(&bench.params).unwrap();
        let low: Vec<u64> = x.values.iter().map(|x| x & 0xffff_ffff).collect();
        assert_eq!(found, low);
        let back = scheme.extend_plain_modulus(&half, 64).unwrap();
        let found = scheme.reduce_plain_modulus(&back, 32).unwrap();
        assert_eq!(
            bench.secret.decrypt(&found).unwrap(),
            bench.secret.decrypt(&half).unwrap(),
            "what is above stays out of sight"
        );
        // 56 bits do not hold such a phase.
        let refused = a.compact_for_decryption(&bench.params).unwrap_err();
        assert_eq!(refused.code(), "scheme.bad-argument");
    }
}

#[test]
fn words_are_rotated() {
    let (params, mut rng) =
        (build(words_spec(127, Form::Bgv, false)), ChaCha20Rng::seed_from_u64(3));
    let (secret, rotation) =
        (SecretKey::generate(&params, &mut rng), params.slot_shape().rotation(5));
    let plan = KeyPlan::automorphisms_up_to(&params, [rotation], params.chain().top());
    let scheme = Evaluator::new(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap());
    let values = words(params.slots(), &mut rng);
    let x = secret.encrypt(&Plaintext::encode(&params, &values).unwrap(), &mut rng).unwrap();
    let moved = scheme.apply_galois(&x, rotation).unwrap();
    let mut expected = values;
    expected.rotate_left(5);
    assert_eq!(secret.decrypt(&moved).unwrap().decode(&params).unwrap(), expected);
}

/// The no-op scheme has the same values, levels and bounds.
#[test]
fn the_no_op_scheme_follows() {
    let mut bench = Bench::new(words_spec(255, Form::Bgv, false), 8);
    let [x, y] = [(); 2].map(|()| bench.encrypted());
    let (scheme, dry) = (&bench.scheme, NoOp::new(&bench.params, 1));
    let [a, b] = [&x, &y]
        .map(|x| dry.encrypt(&Plaintext::encode(&bench.params, &x.values).unwrap()).unwrap());
    let product = scheme.mul(&x.ciphertext, &y.ciphertext, NextUse::Product).unwrap();
    let rehearsed = dry.mul(&a, &b, NextUse::Product).unwrap();
    let scaled = scheme.mul_scalar(&product, i64::MIN).unwrap();
    let rehearsed_scaled = dry.mul_scalar(&rehearsed, i64::MIN).unwrap();
    for (real, dry_run) in [(&product, &rehearsed), (&scaled, &rehearsed_scaled)] {
        assert_eq!(real.meta(), dry_run.meta());
        assert_eq!(bench.secret.decrypt(real).unwrap(), dry.decrypt(dry_run).unwrap());
    }
    let half = dry.reduce_plain_modulus(&a, 32).unwrap();
    let back = dry.extend_plain_modulus(&half, 64).unwrap();
    let low = |x| dry.decrypt(&dry.reduce_plain_modulus(x, 32).unwrap()).unwrap();
    assert_eq!(low(&back), dry.decrypt(&half).unwrap());
}

/// Odd moduli above 2^62, over powers of two and an index with axes.
#[test]
fn odd_moduli_of_64_bits_compute() {
    for (index, p, r) in [(128, 3, 40), (127, 3, 40), (128, 4_294_967_291, 2), (128, 65537, 3)] {
        for form in [Form::Bgv, Form::Bfv] {
            let bench = &mut Bench::new(ParamsSpec { index, ..small(p, r, form) }, p);
            let t = bench.params.plaintext_ring().modulus(r);
            let draw = |rng: &mut ChaCha20Rng, slots: usize| -> Vec<u64> {
                let edges = [t.last(), 0, t.last() / 2, t.last() / 2 + 1];
                let drawn = (edges.len()..slots).map(|_| t.reduce_u64(rng.next_u64()));
                edges.into_iter().chain(drawn).take(slots).collect()
            };
            let slots = bench.params.slots();
            let [x, y] = [(); 2].map(|()| draw(&mut bench.rng, slots));
            let [a, b] = [&x, &y].map(|v| {
                let plain = Plaintext::encode(&bench.params, v).unwrap();
                bench.secret.encrypt(&plain, &mut bench.rng).unwrap()
            });
            let modulo = |x: u128| (x % t.wide()) as u64;
            let name = format!("{p}^{r}, index {index}, {form:?}");
            let pairs = || x.iter().zip(&y).map(|(&x, &y)| (u128::from(x), u128::from(y)));
            let (sum, product) =
                (bench.scheme.add(&a, &b), bench.scheme.mul(&a, &b, NextUse::Keep));
            bench.check(&sum.unwrap(), pairs().map(|(x, y)| modulo(x + y)), &name);
            bench.check(&product.unwrap(), pairs().map(|(x, y)| modulo(x * y)), &name);
        }
    }
}

#[test]
fn signed_words_come_back() {
    let params = build(words_spec(127, Form::Bgv, false));
    let half = i64::MAX;
    let plain = Plaintext::encode_signed(&params, &[-1, half, -half]).unwrap();
    assert_eq!(
        plain.decode(&params).unwrap()[..3],
        [u64::MAX, half as u64, half.unsigned_abs() + 2]
    );
    assert_eq!(plain.decode_signed(&params).unwrap()[..3], [-1, half, -half]);
    assert_eq!(
        Plaintext::encode_signed(&params, &[i64::MIN]).unwrap_err().code(),
        "scheme.bad-argument"
    );
    let middle = Plaintext::encode(&params, &[1 << 63]).unwrap();
    assert_eq!(middle.decode_signed(&params).unwrap()[0], i64::MIN);
}

#[test]
fn larger_moduli_and_bootstrapping_are_refused() {
    let refused = |spec: ParamsSpec, word: &str| {
        let error = Params::new(spec, OptIn::InsecureResearch).unwrap_err();
        assert_eq!(error.code(), "scheme.bad-params");
        assert!(error.to_string().contains(word), "{error}");
    };
    let spec =
        |p, r| ParamsSpec { index: if p == 2 { 127 } else { 128 }, ..small(p, r, Form::Bgv) };
    refused(spec(2, 65), "above 2^64");
    refused(spec(3, 41), "above 2^64");
    refused(ParamsSpec { extended_exponent: 65, ..spec(2, 1) }, "above 2^64");
    let bootstrap = BootstrapSpec {
        overflow_bound: Some(4),
        digits: Some(4),
        ..BootstrapSpec::encapsulated(4)
    };
    refused(ParamsSpec { bootstrap: Some(bootstrap), ..spec(2, 60) }, "below 2^62");
}
