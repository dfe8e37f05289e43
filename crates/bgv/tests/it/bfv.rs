//! BFV and large plaintext moduli on small rings: the modulus-switching lemma of Chen–Han 2018,
//! measured noise against its bounds, and whole slots.

use everlevel_bgv::{Ciphertext, Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_scheme::spec::Assumption;
use everlevel_scheme::{
    Arithmetic, Form, KeyPlan, Level, NextUse, NoOp, OptIn, Params, ParamsSpec, PlainModulus,
    Plaintext, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// n = 64, without bootstrapping.
pub fn small(p: u64, r: u32, form: Form) -> ParamsSpec {
    ParamsSpec {
        plain_exponent: r,
        words: 11,
        fine_bits: vec![44, 38, 32],
        special: 3,
        digit_size: 3,
        form,
        ..ParamsSpec::new("insecure_small", 128, p)
    }
}

pub fn build(spec: ParamsSpec) -> Params {
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

pub fn keys(params: &Params, rng: &mut ChaCha20Rng) -> (SecretKey, Evaluator) {
    let secret = SecretKey::generate(params, rng);
    let keys =
        ServerKeys::generate(&secret, &KeyPlan::relinearization(params), rng, |_, _| ()).unwrap();
    (secret, Evaluator::new(keys))
}

pub fn random(params: &Params, count: usize, rng: &mut ChaCha20Rng) -> Vec<u64> {
    (0..count).map(|_| rng.next_u64() % params.plain_modulus()).collect()
}

/// Fresh ciphertexts under both keys, sums, products and switched ones: right, and measured noise
/// within its bound, and for the fresh ones not far below it. The moduli reach 257^7 and 17^15,
/// above 2^56, where t e does not fit the word that smaller ones are drawn in.
#[test]
fn noise_is_within_its_bounds_up_to_the_largest_plaintext_moduli() {
    // log2 t = 8, 48, 55.9, 56.04, 61.3
    for (p, r) in [(257, 1), (257, 6), (127, 8), (257, 7), (17, 15)] {
        for (form, through_bgv) in [(Form::Bgv, false), (Form::Bfv, false), (Form::Bfv, true)] {
            let params = build(ParamsSpec { through_bgv, ..small(p, r, form) });
            let t = params.plaintext_ring().modulus(r);
            for seed in 0..16 {
                let mut rng = ChaCha20Rng::seed_from_u64(seed);
                let (secret, scheme) = keys(&params, &mut rng);
                let name = format!("p^r = {p}^{r}, {form:?}, {through_bgv}, seed {seed}");
                // Right, and by how many bits the bound exceeds the noise.
                let open = |what: &str, c: &Ciphertext, expected: &[u64]| -> f64 {
                    assert_eq!(
                        secret.decrypt(c).unwrap().decode(&params).unwrap(),
                        expected,
                        "{what}, {name}"
                    );
                    let (measured, bound) =
                        (secret.measure_noise(c).unwrap(), c.noise_bound_bits());
                    assert!(measured <= bound, "{what}, {name}: 2^{measured} above 2^{bound}");
                    bound - measured
                };
                let (x, y) = (
                    random(&params, params.slots(), &mut rng),
                    random(&params, params.slots(), &mut rng),
                );
                let [plain_x, plain_y] = [&x, &y].map(|v| Plaintext::encode(&params, v).unwrap());
                let a = secret.encrypt(&plain_x, &mut rng).unwrap();
                let b = PublicKey::generate(&secret, &mut rng).encrypt(&plain_y, &mut rng).unwrap();
                let slack = [open("secret key", &a, &x), open("public key", &b, &y)];
                assert!(
                    slack[0] < 6.0 && slack[1] < 10.0,
                    "{name}: {slack:?} bits above the noise"
                );

                let zip = |f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
                    x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect()
                };
                open("sum", &scheme.add(&a, &b).unwrap(), &zip(&|x, y| t.add(x, y)));
                let product = scheme.mul(&a, &b, NextUse::Product).unwrap();
                open("product", &product, &zip(&|x, y| t.mul(x, y)));
                let square = scheme.mul(&product, &product, NextUse::Keep).unwrap();
                open("square", &square, &zip(&|x, y| t.mul(t.mul(x, y), t.mul(x, y))));
                let lowest = (0..a.level().0)
                    .map(Level)
                    .find_map(|l| scheme.mod_switch_to(&a, l).ok())
                    .unwrap();
                open("switched", &lowest, &x);
            }
        }
    }
}

/// Extended ciphertexts are congruent to what they were, with the noise that they had, and so are
/// sums and products of them; fresh, and with a factor that switching left.
#[test]
fn extended_plaintext_moduli_are_congruent() {
    for (p, r, highest) in [(2, 1, 32), (2, 3, 16), (17, 1, 4), (127, 2, 3)] {
        // An odd index where p = 2.
        let index = if p == 2 { 255 } else { 128 };
        for (form, assumption) in [
            (Form::Bgv, Assumption::Rlwe),
            (Form::Bfv, Assumption::Rlwe),
            (Form::Bgv, Assumption::Ntru),
        ] {
            let params = build(ParamsSpec {
                index,
                extended_exponent: highest,
                assumption,
                ..small(p, r, form)
            });
            let name = format!("{p}^{r} to {p}^{highest}, {form:?}, {assumption:?}");
            let mut rng = ChaCha20Rng::seed_from_u64(highest.into());
            let (secret, scheme) = keys(&params, &mut rng);
            let [x, y] = [(); 2].map(|()| {
                Plaintext::from_coefficients(&params, random(&params, params.degree(), &mut rng), r)
                    .unwrap()
            });
            let [a, b] = [&x, &y].map(|x| secret.encrypt(x, &mut rng).unwrap());
            let b = scheme.mod_switch_to(&b, Level(b.level().0 - 3)).unwrap();
            let reduced = |x: &Ciphertext| {
                let (measured, bound) = (secret.measure_noise(x).unwrap(), x.noise_bound_bits());
                assert!(measured <= bound, "{name}: 2^{measured} above 2^{bound}");
                secret.decrypt(&scheme.reduce_plain_modulus(x, r).unwrap()).unwrap()
            };
            for e in [r, r + 1, highest] {
                let [wide_a, wide_b] = [&a, &b].map(|x| scheme.extend_plain_modulus(x, e).unwrap());
                for (wide, narrow, plain) in [(&wide_a, &a, &x), (&wide_b, &b, &y)] {
                    assert_eq!(wide.meta().exponent, e);
                    assert_eq!(wide.noise_bound_bits(), narrow.noise_bound_bits(), "{name}");
                    assert_eq!(reduced(wide), *plain, "{name}, {e}");
                    // What decryption finds modulo p^e is one value, whatever is done next.
                    let whole = secret.decrypt(wide).unwrap();
                    let t = params.plaintext_ring().modulus(r);
                    assert!(
                        whole
                            .coefficients()
                            .iter()
                            .zip(plain.coefficients())
                            .all(|(y, x)| t.reduce_u64(*y) == *x)
                    );
                    let exact = secret
                        .decrypt(&scheme.mod_switch_to(wide, Level(wide.level().0 - 2)).unwrap())
                        .unwrap();
                    assert_eq!(whole, exact, "{name}: p^k ε is a value modulo p^e");
                }
                let product = scheme.mul(&wide_a, &wide_b, NextUse::Product).unwrap();
                assert_eq!(reduced(&product), x.mul(&y, &params).unwrap(), "{name}, {e}");
                let sum = scheme.add(&wide_a, &wide_b).unwrap();
                assert_eq!(reduced(&sum), x.add(&y, &params).unwrap(), "{name}, {e}");
                // Consistent with decryption modulo p^e.
                let [whole_a, whole_b] = [&wide_a, &wide_b].map(|x| secret.decrypt(x).unwrap());
                assert_eq!(
                    secret.decrypt(&product).unwrap(),
                    whole_a.mul(&whole_b, &params).unwrap(),
                    "{name}, {e}"
                );
            }
            for e in [r - 1, highest + 1] {
                assert!(
                    matches!(
                        scheme.extend_plain_modulus(&a, e),
                        Err(SchemeError::BadArgument { .. })
                    ),
                    "{name}"
                );
            }
        }
    }
}

/// Slots that hold elements of GR(p^r, d), multiplied under encryption and one by one.
#[test]
fn whole_slots_are_multiplied_in_the_galois_ring() {
    // d = 4 with one row, 4 with one row and r = 2, 2 with two rows, 4 with two rows and r = 3
    let named = |name: &str| Params::named(name, OptIn::InsecureResearch).unwrap();
    let sets = [
        named("insecure_bgv-127-n8"),
        named("insecure_bfv-127e2-n8"),
        named("insecure_bfv-257-n8"),
    ];
    for params in
        sets.into_iter().chain([build(ParamsSpec { index: 128, ..small(17, 3, Form::Bfv) })])
    {
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let (secret, scheme) = keys(&params, &mut rng);
        let (plain, r, d) = (
            params.plaintext_ring(),
            params.plain_exponent(),
            params.slot_shape().degree_of_slot(),
        );
        assert!(d > 1);
        let (x, y) = (
            random(&params, params.degree(), &mut rng),
            random(&params, params.degree(), &mut rng),
        );
        let [a, b] = [&x, &y].map(|v| {
            secret.encrypt(&Plaintext::encode_elements(&params, v).unwrap(), &mut rng).unwrap()
        });
        let product = scheme.mul(&a, &b, NextUse::Keep).unwrap();
        let found = secret.decrypt(&product).unwrap().decode_elements(&params).unwrap();
        let pairs = x.chunks(d).zip(y.chunks(d));
        let expected: Vec<u64> =
            pairs.flat_map(|(x, y)| plain.element_mul(x, y, r).unwrap()).collect();
        assert_eq!(found, expected, "{}", params.name());
        assert!(
            matches!(secret.decrypt(&product).unwrap().decode(&params), Err(SchemeError::Ring(_))),
            "{}",
            params.name()
        );
    }
}

#[test]
fn multiplication_by_p_and_division_undo_each_other() {
    for form in [Form::Bgv, Form::Bfv] {
        let params = build(small(17, 3, form));
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        let (secret, evaluator) = keys(&params, &mut rng);
        let values: Vec<u64> = (0..params.slots()).map(|_| rng.next_u64() % 289).collect();
        let x = secret
            .encrypt(&Plaintext::encode_modulo(&params, &values, 2).unwrap(), &mut rng)
            .unwrap();
        // Through a product, so that the factor is not that of a fresh ciphertext.
        let one = secret
            .encrypt(
                &Plaintext::encode_modulo(&params, &vec![1; params.slots()], 2).unwrap(),
                &mut rng,
            )
            .unwrap();
        let x = evaluator.mul(&x, &one, NextUse::Product).unwrap();
        let multiple = evaluator.multiply_by_p(&x).unwrap();
        let open = |c: &Ciphertext| {
            assert!(secret.measure_noise(c).unwrap() <= c.noise_bound_bits());
            secret.decrypt(c).unwrap().decode(&params).unwrap()
        };
        assert_eq!(open(&multiple), values.iter().map(|v| 17 * v).collect::<Vec<_>>());
        assert_eq!(open(&evaluator.divide_by_p(&multiple).unwrap()), values);
        assert!(evaluator.multiply_by_p(&multiple).unwrap_err().to_string().contains("at most 3"));
    }
}

/// The no-op scheme counts what a product of either form takes.
#[test]
fn transforms_of_products_are_foretold() {
    for form in [Form::Bgv, Form::Bfv] {
        let params = build(small(257, 1, form));
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let (secret, evaluator) = keys(&params, &mut rng);
        let open = NoOp::blank(&params);
        let plain = Plaintext::encode(&params, &[1, 2, 3]).unwrap();
        let (x, y) =
            (secret.encrypt(&plain, &mut rng).unwrap(), secret.encrypt(&plain, &mut rng).unwrap());
        let (ox, oy) = (open.encrypt(&plain).unwrap(), open.encrypt(&plain).unwrap());
        let before = evaluator.cost();
        let z = evaluator.mul(&x, &y, NextUse::Product).unwrap();
        let cost = evaluator.cost() - before;
        let oz = open.mul(&ox, &oy, NextUse::Product).unwrap();
        assert_eq!(z.meta(), oz.meta());
        assert_eq!(cost.transforms, open.cost().transforms, "{form:?}");
        assert_eq!(
            (cost.products, cost.key_switches),
            (open.cost().products, open.cost().key_switches)
        );
    }
}
