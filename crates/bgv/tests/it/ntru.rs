//! NTRU (LTV and YASHE′) on small rings: every operation against the plain computation, every bound
//! against the measured noise.

use everlevel_bgv::{Ciphertext, Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_scheme::params::{SecurityReport, ntru_names, spec};
use everlevel_scheme::spec::{Assumption, SecretKind};
use everlevel_scheme::{
    Arithmetic, Automorphisms, Bootstrappable, DiagonalValues, Form, KeyPlan, Level, LinearMaps,
    NextUse, NoOp, OptIn, Params, ParamsSpec, PeriodicSlots, PlainModulus, Plaintext, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// BGV form over a power of two with an odd p, over an odd index with p = 2, and BFV form.
const SETS: [&str; 3] = ["insecure_ltv-257-n8", "insecure_ltv-2-m255", "insecure_yashe-257-n8"];

struct Fixture {
    params: Params,
    secret: SecretKey,
    scheme: Evaluator,
    rng: ChaCha20Rng,
}

impl Fixture {
    fn new(spec: ParamsSpec, seed: u64) -> Self {
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = SecretKey::generate(&params, &mut rng);
        let shape = params.slot_shape();
        let elements =
            [shape.frobenius(), shape.swap_rows(), shape.rotation(1), shape.rotation(-3)];
        let plan = KeyPlan::relinearization(&params).merge(&KeyPlan::automorphisms_up_to(
            &params,
            elements,
            params.chain().top(),
        ));
        let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
        Fixture { params, secret, scheme: Evaluator::new(keys), rng }
    }

    fn named(name: &str, seed: u64) -> Self {
        Self::new(spec(name).unwrap(), seed)
    }

    fn values(&mut self) -> Vec<u64> {
        (0..self.params.slots())
            .map(|_| self.rng.next_u64() % self.params.plain_modulus())
            .collect()
    }

    fn encrypt(&mut self, values: &[u64]) -> Ciphertext {
        self.secret
            .encrypt(&Plaintext::encode(&self.params, values).unwrap(), &mut self.rng)
            .unwrap()
    }

    /// By how many bits the bound exceeds the noise of a ciphertext that holds what it should.
    fn slack(&self, what: &str, c: &Ciphertext, expected: &[u64]) -> f64 {
        let name = self.params.name();
        assert_eq!(
            self.secret.decrypt(c).unwrap().decode(&self.params).unwrap(),
            expected,
            "{what}, {name}"
        );
        let (measured, bound) = (self.secret.measure_noise(c).unwrap(), c.noise_bound_bits());
        assert!(
            measured <= bound,
            "{what}, {name}: measured noise 2^{measured:.2} above its bound 2^{bound:.2}"
        );
        bound - measured
    }
}

/// Every operation over many keys: right, within its bound, and the bounds within a few bits of the
/// noise.
#[test]
fn noise_is_within_its_bounds_and_not_far_below() {
    for (name, limit) in SETS.into_iter().zip([7.0, 9.0, 12.0]) {
        for seed in 0..12 {
            let mut f = Fixture::named(name, seed);
            let t = f.params.plaintext_ring().modulus(1);
            let (x, y) = (f.values(), f.values());
            let zip = |g: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
                x.iter().zip(&y).map(|(&x, &y)| g(x, y)).collect()
            };
            let a = f.encrypt(&x);
            let plain = Plaintext::encode(&f.params, &y).unwrap();
            let b = PublicKey::generate(&f.secret, &mut f.rng).encrypt(&plain, &mut f.rng).unwrap();
            let s = &f.scheme;
            let mut worst: f64 = 0.0;
            let mut tight = |what: &str, c: &Ciphertext, expected: &[u64]| {
                worst = worst.max(f.slack(what, c, expected))
            };
            tight("secret key", &a, &x);
            tight("public key", &b, &y);
            let low = s.mod_switch_to(&a, Level(a.level().0 / 2)).unwrap();
            tight("switched", &low, &x);
            let product = s.mul(&a, &b, NextUse::Product).unwrap();
            tight("product", &product, &zip(&|x, y| t.mul(x, y)));
            let third = s.mul(&product, &low, NextUse::Product).unwrap();
            tight("product across levels", &third, &zip(&|x, y| t.mul(x, t.mul(x, y))));
            tight("sum", &s.add(&a, &b).unwrap(), &zip(&|x, y| t.add(x, y)));
            tight("difference", &s.sub(&product, &b).unwrap(), &zip(&|x, y| t.sub(t.mul(x, y), y)));
            tight("plain sum", &s.add_plain(&low, &plain).unwrap(), &zip(&|x, y| t.add(x, y)));
            assert!(worst < limit, "{name}, seed {seed}: a bound {worst:.1} bits above the noise");

            let fine =
                |what: &str, c: &Ciphertext, expected: &[u64]| _ = f.slack(what, c, expected);
            fine("plain product", &s.mul_plain(&a, &plain).unwrap(), &zip(&|x, y| t.mul(x, y)));
            fine(
                "constant",
                &s.add_scalar(&third, 3).unwrap(),
                &zip(&|x, y| t.add(t.mul(x, t.mul(x, y)), t.reduce_u64(3))),
            );
            fine(
                "multiple",
                &s.mul_scalar(&a, -5).unwrap(),
                &zip(&|x, _| t.neg(t.mul(x, t.reduce_u64(5)))),
            );
            let sums = s
                .add_products(&s.mul_lazy(&a, &b).unwrap(), &s.mul_lazy(&product, &a).unwrap())
                .unwrap();
            let expected = zip(&|x, y| t.add(t.mul(x, y), t.mul(x, t.mul(x, y))));
            fine("lazy sum", &s.relinearize(&sums, NextUse::Product).unwrap(), &expected);
            fine("Frobenius", &s.apply_galois(&a, f.params.slot_shape().frobenius()).unwrap(), &x);
            fine(
                "other form",
                &s.convert(&a, if a.meta().form == Form::Bgv { Form::Bfv } else { Form::Bgv }),
                &x,
            );
        }
    }
}

/// Rotations one by one and hoisted, and a linear map with plaintext diagonals.
#[test]
fn automorphisms_and_linear_maps_are_exact() {
    for name in ["insecure_ltv-257-n8", "insecure_yashe-257-n8"] {
        let mut f = Fixture::named(name, 3);
        let (shape, t) = (f.params.slot_shape().clone(), f.params.plaintext_ring().modulus(1));
        let columns = shape.columns();
        let x = f.values();
        let a = f.encrypt(&x);
        let rotated = |x: &[u64], k: usize| -> Vec<u64> {
            (0..x.len()).map(|i| x[i / columns * columns + (i % columns + k) % columns]).collect()
        };
        let s = &f.scheme;
        let expected = [rotated(&x, 1), x.clone(), rotated(&x, columns - 3)];
        for ((k, hoisted), expected) in
            [1, 0, -3].into_iter().zip(s.rotate_many(&a, &[1, 0, -3]).unwrap()).zip(&expected)
        {
            f.slack("hoisted rotation", &hoisted, expected);
            assert_eq!(hoisted.fingerprint(), s.rotate_columns(&a, k).unwrap().fingerprint());
        }
        let diagonals: Vec<PeriodicSlots> = [4, 32]
            .into_iter()
            .map(|period| PeriodicSlots {
                period,
                values: (0..2 * period).map(|_| f.rng.next_u64() % t.value()).collect(),
            })
            .collect();
        let prepare = |d: &PeriodicSlots| {
            s.diagonal(&DiagonalValues::Periodic(d.clone()), 1, a.level()).unwrap()
        };
        let prepared: Vec<_> = diagonals.iter().map(prepare).collect();
        let babies = s.hoist(&a, &[shape.identity(), shape.rotation(1)]).unwrap();
        let rows = [vec![Some(&prepared[0]), Some(&prepared[1])], vec![None, Some(&prepared[0])]];
        let parts = || shape_elements(&shape).into_iter().zip(s.combine(&babies, &rows).unwrap());
        let at =
            |d: &PeriodicSlots, i: usize| d.values[i / columns * d.period + i % columns % d.period];
        let one = rotated(&x, 1);
        let first = |i: usize| {
            t.add(t.mul(at(&diagonals[0], i), x[i]), t.mul(at(&diagonals[1], i), one[i]))
        };
        let second = |i: usize| t.mul(at(&diagonals[0], i), one[i]);
        let expected: Vec<u64> =
            (0..x.len()).map(|i| t.add(first(i), second((i + columns) % x.len()))).collect();
        f.slack(
            "linear map",
            &s.galois_sum(parts().collect(), NextUse::Product).unwrap(),
            &expected,
        );
        // Innermost first: swap(second), then + first under the identity.
        let chain = parts().collect::<Vec<_>>().into_iter().rev().map(Ok);
        f.slack("chained linear map", &s.galois_chain(chain, NextUse::Product).unwrap(), &expected);
    }
}

fn shape_elements(shape: &everlevel_ring::SlotShape) -> [everlevel_ring::GaloisElement; 2] {
    [shape.identity(), shape.swap_rows()]
}

/// Squaring goes on, right every time, as deep as the model says, until it is refused; each level
/// costs a few bits more than the floor.
#[test]
fn multiplies_until_it_refuses() {
    for (name, least) in SETS.into_iter().zip([18, 69, 20]) {
        let mut f = Fixture::named(name, 5);
        let t = f.params.plaintext_ring().modulus(1);
        let open = NoOp::new(&f.params, 0);
        let mut x = f.values();
        let mut a = f.encrypt(&x);
        let mut pretended = open.encrypt(&Plaintext::encode(&f.params, &x).unwrap()).unwrap();
        let mut depth = 0;
        while let Ok(square) = f.scheme.mul(&a, &a, NextUse::Product) {
            pretended = open.mul(&pretended, &pretended, NextUse::Product).unwrap();
            (a, depth) = (square, depth + 1);
            x.iter_mut().for_each(|x| *x = t.mul(*x, *x));
            f.slack("repeated square", &a, &x);
            assert_eq!(a.meta(), pretended.meta(), "{name} at depth {depth}");
        }
        assert!(matches!(
            open.mul(&pretended, &pretended, NextUse::Product),
            Err(SchemeError::NoiseOverflow { .. })
        ));
        assert!(depth >= least, "{name} reached depth {depth} only");
    }
}

/// Plaintext moduli below the largest one, whose f serves them all; ternary u and g, as YASHE′
/// draws them.
#[test]
fn prime_powers_and_ternary_keys() {
    for (form, secret) in
        [(Form::Bgv, SecretKind::TruncatedGaussian), (Form::Bfv, SecretKind::UniformTernary)]
    {
        let base = spec("insecure_ltv-257-n8").unwrap();
        let mut f = Fixture::new(
            ParamsSpec { plain_prime: 17, plain_exponent: 3, form, secret, ..base },
            7,
        );
        let values: Vec<u64> = (0..f.params.slots()).map(|_| f.rng.next_u64() % 289).collect();
        let plain = Plaintext::encode_modulo(&f.params, &values, 2).unwrap();
        let x = f.secret.encrypt(&plain, &mut f.rng).unwrap();
        let s = &f.scheme;
        let square = s.mul(&x, &x, NextUse::Product).unwrap();
        let t = f.params.plaintext_ring().modulus(2);
        let squares: Vec<u64> = values.iter().map(|&v| t.mul(v, v)).collect();
        f.slack("square modulo p^2", &square, &squares);
        let lifted = s.multiply_by_p(&square).unwrap();
        f.slack("times p", &lifted, &squares.iter().map(|v| 17 * v).collect::<Vec<_>>());
        f.slack("and divided", &s.divide_by_p(&lifted).unwrap(), &squares);
        let reduced = s.reduce_plain_modulus(&square, 1).unwrap();
        f.slack("modulo p", &reduced, &squares.iter().map(|v| v % 17).collect::<Vec<_>>());
    }
}

/// The no-op scheme counts what one product takes, of one component.
#[test]
fn transforms_of_products_are_foretold() {
    for name in SETS {
        let mut f = Fixture::named(name, 9);
        let x = f.values();
        let (a, b) = (f.encrypt(&x), f.encrypt(&x));
        let open = NoOp::blank(&f.params);
        let plain = Plaintext::encode(&f.params, &x).unwrap();
        let before = f.scheme.cost();
        let c = f.scheme.mul(&a, &b, NextUse::Product).unwrap();
        let cost = f.scheme.cost() - before;
        let foretold = open
            .mul(&open.encrypt(&plain).unwrap(), &open.encrypt(&plain).unwrap(), NextUse::Product)
            .unwrap();
        assert_eq!(c.meta(), foretold.meta());
        assert_eq!(cost.transforms, open.cost().transforms, "{name}");
    }
}

/// The rings and moduli of the AES of Doröz, Hu and Sunar (2014), log2 q = 1271 and 1230.
fn sets_of_the_paper() -> [ParamsSpec; 2] {
    [("ltv-32768", 65535, [47, 44, 42, 41]), ("ltv-27000", 32767, [44, 38, 29, 23])].map(
        |(name, index, fine_bits)| ParamsSpec {
            name: name.into(),
            index,
            words: 21,
            fine_bits: fine_bits.to_vec(),
            special: 7,
            digit_size: 7,
            ..spec("insecure_ltv-2-m255").unwrap()
        },
    )
}

#[test]
fn overstretched_keys_are_worth_nothing() {
    for spec in sets_of_the_paper() {
        let params = Params::new(spec.clone(), OptIn::InsecureResearch).unwrap();
        let (key, name) = (params.security().weakest(), params.name());
        let attack = key.best().unwrap();
        assert!(attack.block_size == 2 && key.bits < 60.0, "{name}: {attack:?}");
        assert_eq!(params.security().model(), SecurityReport::NTRU_MODEL);
        let refused = Params::new(spec, OptIn::SecureOnly);
        assert!(
            matches!(refused, Err(SchemeError::Insecure { bits, .. }) if bits == key.bits),
            "{name}"
        );
    }
}

#[test]
fn every_ntru_set_is_insecure_and_says_so() {
    let named = ntru_names().map(|name| spec(name).unwrap());
    for spec in named.chain(sets_of_the_paper()) {
        let params = Params::new(spec.clone(), OptIn::InsecureResearch).unwrap();
        let name = params.name();
        assert_eq!(params.spec().assumption, Assumption::Ntru, "{name}");
        assert!(
            params.security().bits() < 64.0 && params.security().weakest().key.contains("NTRU"),
            "{name}"
        );
        assert!(
            matches!(Params::new(spec, OptIn::SecureOnly), Err(SchemeError::Insecure { .. })),
            "{name}"
        );
        let log_q = params.modulus_bits(params.chain().top());
        let expected = match name {
            "ltv-32768" => Some(1271.0),
            "ltv-27000" => Some(1230.0),
            "insecure_yashe-257-n12" => Some(127.0),
            _ => None,
        };
        assert!(
            expected.is_none_or(|bits: f64| (log_q - bits).abs() < 0.5),
            "{name}: log2 q = {log_q}"
        );
        // The paper's key takes 13.1 GB.
        let whole = KeyPlan::relinearization(&params).seeded_bytes(&params);
        assert!(whole < 1 << 29, "{name}: {whole} bytes of keys");
    }
    let named = |change: &dyn Fn(&mut ParamsSpec)| {
        let mut spec = spec(SETS[0]).unwrap();
        change(&mut spec);
        Params::new(spec, OptIn::InsecureResearch).unwrap_err().to_string()
    };
    let bootstrap = spec("insecure_bgv-257-n8").unwrap().bootstrap;
    assert!(named(&|s| s.bootstrap = bootstrap.clone()).contains("ring-LWE only"));
    assert!(named(&|s| s.secret = SecretKind::Sparse(8)).contains("truncated_gaussian"));
    assert!(named(&|s| s.name = "mine".into()).contains("insecure_"));
    let mut f = Fixture::named(SETS[0], 1);
    let x = f.values();
    let a = f.encrypt(&x);
    assert!(matches!(f.scheme.to_base_modulus(&a), Err(SchemeError::BadParams { .. })));
    let twin = Params::new(
        ParamsSpec { assumption: Assumption::Rlwe, ..spec(SETS[0]).unwrap() },
        OptIn::InsecureResearch,
    )
    .unwrap();
    let other = SecretKey::generate(&twin, &mut f.rng);
    assert!(matches!(other.decrypt(&a), Err(SchemeError::WrongParams { .. })));
}

/// Two owners, one product (and a sum of two): what neither key alone decrypts.
#[test]
fn a_product_across_two_keys_decrypts_under_both() {
    for name in SETS {
        let [mut f, mut g] = [1, 2].map(|seed| Fixture::named(name, seed));
        g.params = f.params.clone();
        let t = f.params.plaintext_ring().modulus(1);
        let (x, y) = (f.values(), g.values());
        let (a, b) = (f.encrypt(&x), g.encrypt(&y));
        assert!(matches!(f.scheme.mul_lazy(&a, &b), Err(SchemeError::WrongKey { .. })), "{name}");
        let product = f.scheme.mul_lazy(&a, &b.without_owner()).unwrap();
        let twice = f.scheme.add_products(&product, &product).unwrap();
        let expected: Vec<u64> = x.iter().zip(&y).map(|(&x, &y)| t.mul(x, y)).collect();
        let open = |one: &Fixture, other: &Fixture, product: &_| {
            let plain = one.secret.decrypt_jointly(&other.secret, product);
            plain.map(|plain| plain.decode(&f.params).ok())
        };
        assert_eq!(open(&f, &g, &product), Ok(Some(expected.clone())), "{name}");
        assert_eq!(
            open(&g, &f, &twice),
            Ok(Some(expected.iter().map(|&v| t.add(v, v)).collect())),
            "{name}"
        );
        assert_eq!(open(&f, &f, &product), Err(SchemeError::NotDecryptable), "{name}");
        assert_eq!(open(&g, &g, &product), Err(SchemeError::NotDecryptable), "{name}");
    }
    let [ltv, yashe] = [SETS[0], SETS[2]].map(|name| Fixture::named(name, 1));
    let (mut f, other) = (ltv, yashe.secret);
    let x = f.values();
    let a = f.encrypt(&x);
    let product = f.scheme.mul_lazy(&a, &a).unwrap();
    assert!(matches!(
        f.secret.decrypt_jointly(&other, &product),
        Err(SchemeError::WrongParams { .. })
    ));
}
