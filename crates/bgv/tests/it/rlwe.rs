//! BGV on small rings: every operation against the plain computation, and every bound against the
//! measured noise.

use everlevel_bgv::{Ciphertext, Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_ring::sample;
use everlevel_scheme::spec::{BootstrapMode, SecretKind};
use everlevel_scheme::{
    AffineForm, Arithmetic, Automorphisms, Bootstrappable, DiagonalValues, Form, KeyPlan,
    LinearMaps, NextUse, OptIn, Params, PeriodicSlots, PlainModulus, Plaintext, Scheme,
    SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

struct Fixture {
    secret: SecretKey,
    bgv: Evaluator,
    rng: ChaCha20Rng,
}

const STEPS: [i64; 4] = [1, 3, -1, 8];

fn fixture(name: &str, seed: u8) -> Fixture {
    fixture_of(Params::named(name, OptIn::InsecureResearch).unwrap(), seed)
}

fn fixture_of(params: Params, seed: u8) -> Fixture {
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let secret = SecretKey::generate(&params, &mut rng);
    let mut plan = KeyPlan::relinearization(&params)
        .merge(&KeyPlan::column_rotations(&params, STEPS))
        .merge(&KeyPlan::row_swap(&params));
    plan.bootstrap = true;
    plan.add_galois(&params, params.slot_shape().frobenius(), params.chain().top());
    let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
    Fixture { secret, bgv: Evaluator::new(keys), rng }
}

impl Fixture {
    fn values(&mut self) -> Vec<u64> {
        let t = self.bgv.params().plain_modulus();
        (0..self.bgv.params().slots()).map(|_| self.rng.next_u64() % t).collect()
    }

    fn encrypt(&mut self, values: &[u64]) -> Ciphertext {
        let plaintext = Plaintext::encode(self.bgv.params(), values).unwrap();
        self.secret.encrypt(&plaintext, &mut self.rng).unwrap()
    }

    /// Decrypts, and checks that the measured noise is within the bound.
    fn open(&self, ciphertext: &Ciphertext) -> Vec<u64> {
        let measured = self.secret.measure_noise(ciphertext).unwrap();
        let bound = ciphertext.noise_bound_bits();
        assert!(measured <= bound, "measured noise 2^{measured:.2} above the bound 2^{bound:.2}");
        self.secret.decrypt(ciphertext).unwrap().decode(self.bgv.params()).unwrap()
    }
}

const SETS: [&str; 5] = [
    "insecure_bgv-65537-n11",
    "insecure_bgv-257-n8",
    "insecure_bgv-786433-n11",
    "insecure_bfv-257-n8",
    "insecure_bfv-65537-n11",
];

#[test]
fn encryption_round_trips() {
    for name in SETS {
        let mut f = fixture(name, 1);
        let v = f.values();
        let c = f.encrypt(&v);
        assert_eq!(f.open(&c), v);
        let public = PublicKey::generate(&f.secret, &mut f.rng);
        let c =
            public.encrypt(&Plaintext::encode(f.bgv.params(), &v).unwrap(), &mut f.rng).unwrap();
        assert_eq!(f.open(&c), v);
    }
}

#[test]
fn arithmetic_is_exact() {
    for name in SETS {
        let mut f = fixture(name, 2);
        let t = f.bgv.params().plaintext_ring().modulus(1);
        let (x, y) = (f.values(), f.values());
        let (a, b) = (f.encrypt(&x), f.encrypt(&y));
        let zip = |g: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
            x.iter().zip(&y).map(|(&x, &y)| g(x, y)).collect()
        };
        assert_eq!(f.open(&f.bgv.add(&a, &b).unwrap()), zip(&|x, y| t.add(x, y)));
        assert_eq!(f.open(&f.bgv.sub(&a, &b).unwrap()), zip(&|x, y| t.sub(x, y)));
        assert_eq!(f.open(&f.bgv.neg(&a).unwrap()), zip(&|x, _| t.neg(x)));
        assert_eq!(f.open(&f.bgv.add_scalar(&a, -5).unwrap()), zip(&|x, _| t.sub(x, 5)));
        assert_eq!(f.open(&f.bgv.mul_scalar(&a, -5).unwrap()), zip(&|x, _| t.neg(t.mul(x, 5))));
        for next in [NextUse::Product, NextUse::LinearMap, NextUse::Keep] {
            assert_eq!(f.open(&f.bgv.mul(&a, &b, next).unwrap()), zip(&|x, y| t.mul(x, y)));
        }
        let plain = Plaintext::encode(f.bgv.params(), &y).unwrap();
        assert_eq!(f.open(&f.bgv.mul_plain(&a, &plain).unwrap()), zip(&|x, y| t.mul(x, y)));
        assert_eq!(f.open(&f.bgv.add_plain(&a, &plain).unwrap()), zip(&|x, y| t.add(x, y)));
        assert_eq!(f.open(&f.bgv.sub_plain(&a, &plain).unwrap()), zip(&|x, y| t.sub(x, y)));
        // sums across levels, and of products across levels
        let deep = f.bgv.mul(&a, &b, NextUse::Product).unwrap();
        assert_eq!(f.open(&f.bgv.add(&deep, &a).unwrap()), zip(&|x, y| t.add(t.mul(x, y), x)));
        let p = f.bgv.mul_lazy(&a, &b).unwrap();
        let q = f.bgv.mul_lazy(&deep, &a).unwrap();
        let sum =
            f.bgv.relinearize(&f.bgv.add_products(&p, &q).unwrap(), NextUse::Product).unwrap();
        assert_eq!(f.open(&sum), zip(&|x, y| t.add(t.mul(x, y), t.mul(t.mul(x, y), x))));
    }
}

#[test]
fn multiplies_until_it_refuses() {
    for name in SETS {
        let mut f = fixture(name, 3);
        let t = f.bgv.params().plaintext_ring().modulus(1);
        let mut x = f.values();
        let mut c = f.encrypt(&x);
        let mut depth = 0;
        let error = loop {
            match f.bgv.mul(&c, &c, NextUse::Product) {
                Ok(next) => c = next,
                Err(e) => break e,
            }
            x.iter_mut().for_each(|v| *v = t.mul(*v, *v));
            assert_eq!(f.open(&c), x, "{name} at depth {depth}");
            depth += 1;
        };
        assert!(depth >= 8, "{name} reached depth {depth} only");
        assert!(error.to_string().contains("refused"), "{error}");
    }
}

#[test]
fn rotations_permute_the_slots() {
    for name in SETS {
        let mut f = fixture(name, 4);
        let columns = f.bgv.slot_shape().columns();
        let x = f.values();
        let a = f.encrypt(&x);
        for k in STEPS {
            let want: Vec<u64> = (0..x.len())
                .map(|i| {
                    x[i / columns * columns
                        + (i % columns).wrapping_add_signed(k as isize + columns as isize)
                            % columns]
                })
                .collect();
            assert_eq!(f.open(&f.bgv.rotate_columns(&a, k).unwrap()), want, "{name} by {k}");
        }
        // hoisted ones are the same ciphertexts
        let steps = [STEPS[0], 0, STEPS[1], STEPS[2]];
        for (k, c) in steps.iter().zip(f.bgv.rotate_many(&a, &steps).unwrap()) {
            assert_eq!(
                c.fingerprint(),
                f.bgv.rotate_columns(&a, *k).unwrap().fingerprint(),
                "{name} by {k}"
            );
        }
        let want: Vec<u64> = (0..x.len()).map(|i| x[(i + columns) % x.len()]).collect();
        assert_eq!(f.open(&f.bgv.swap_rows(&a).unwrap()), want);
        assert_eq!(f.open(&f.bgv.apply_galois(&a, f.bgv.slot_shape().frobenius()).unwrap()), x);
        let missing = f.bgv.rotate_columns(&a, 2).unwrap_err();
        assert!(missing.to_string().contains("Galois key"), "{missing}");
    }
}

#[test]
fn diagonals_and_double_hoisting() {
    for name in SETS {
        let mut f = fixture(name, 5);
        let shape = f.bgv.slot_shape().clone();
        let (columns, t) = (shape.columns(), f.bgv.params().plaintext_ring().modulus(1));
        let x = f.values();
        let a = f.encrypt(&x);
        let level = f.bgv.level(&a);
        let elements = [shape.identity(), shape.rotation(1), shape.rotation(3)];
        let outer = [shape.identity(), shape.swap_rows()];
        let mut diagonals = Vec::new();
        for period in [1, 4, 32, columns, 8, 2] {
            let values: Vec<u64> = (0..2 * period).map(|_| f.rng.next_u64() % t.value()).collect();
            diagonals.push(PeriodicSlots { period, values });
        }
        let prepared: Vec<_> = diagonals
            .iter()
            .map(|d| f.bgv.diagonal(&DiagonalValues::Periodic(d.clone()), 1, level).unwrap())
            .collect();
        let babies = f.bgv.hoist(&a, &elements).unwrap();
        let rows = vec![
            vec![Some(&prepared[0]), Some(&prepared[1]), Some(&prepared[2])],
            vec![Some(&prepared[3]), None, Some(&prepared[5])],
        ];
        let parts = f.bgv.combine(&babies, &rows).unwrap();
        let out =
            f.bgv.galois_sum(outer.into_iter().zip(parts).collect(), NextUse::Product).unwrap();

        let at =
            |d: &PeriodicSlots, i: usize| d.values[i / columns * d.period + i % columns % d.period];
        let rot = |i: usize, k: usize| x[i / columns * columns + (i % columns + k) % columns];
        let first = |i: usize| {
            let s =
                t.add(t.mul(at(&diagonals[0], i), x[i]), t.mul(at(&diagonals[1], i), rot(i, 1)));
            t.add(s, t.mul(at(&diagonals[2], i), rot(i, 3)))
        };
        let second = |i: usize| {
            t.add(t.mul(at(&diagonals[3], i), x[i]), t.mul(at(&diagonals[5], i), rot(i, 3)))
        };
        let want: Vec<u64> =
            (0..x.len()).map(|i| t.add(first(i), second((i + columns) % x.len()))).collect();
        assert_eq!(f.open(&out), want, "{name}");
    }
}

#[test]
fn the_overflow_has_the_promised_shape() {
    for name in SETS {
        let mut f = fixture(name, 6);
        let params = f.bgv.params().clone();
        let x = f.values();
        let a = f.encrypt(&x);
        let exhausted = f.bgv.mod_switch_to(&a, everlevel_scheme::Level(1)).unwrap();
        let raised = f.bgv.to_base_modulus(&exhausted).unwrap();
        let u = f.bgv.mod_raise_overflow(&raised, params.spec().plain_prime).unwrap();
        let p = params.spec().plain_prime as i64;
        let bound = params.spec().overflow_bound() as i64;
        let overflow = f.secret.decrypt(&u).unwrap();
        assert!(f.secret.measure_noise(&u).unwrap() <= u.noise_bound_bits());
        let q = params.plaintext_ring().modulus(2);
        let inner: Vec<i64> = overflow
            .coefficients()
            .iter()
            .map(|&c| {
                // u = I' - p I with |I|, |I'| <= B determines both
                let c = q.centered(c);
                let low = c - p * (c as f64 / p as f64).round() as i64;
                let high = (low - c) / p;
                assert!(low.abs() <= bound && high.abs() <= bound, "{name}: {low} {high}");
                high
            })
            .collect();
        let message = f.bgv.mod_raise_message(&raised, &u).unwrap();
        assert!(f.secret.measure_noise(&message).unwrap() <= message.noise_bound_bits());
        let raw = f.secret.decrypt(&message).unwrap();
        let t = params.plaintext_ring().modulus(1);
        let unit = t.reduce_i64(f.bgv.base_modulus_mod_t(&raised));
        let recovered: Vec<u64> = raw
            .coefficients()
            .iter()
            .zip(&inner)
            .map(|(&m, &i)| t.sub(m, t.mul(unit, t.reduce_i64(i))))
            .collect();
        assert_eq!(params.plaintext_ring().decode(&recovered, 1).unwrap(), x, "{name}");
    }
}

/// In every mode: sets that bypass the digit removal can be raised for those that use it
/// as well.
#[test]
fn the_scaled_phase_has_the_promised_shape() {
    for name in SETS.into_iter().chain(["insecure_bgv-127-n8", "insecure_bfv-127e2-n8"]) {
        let mut f = fixture(name, 11);
        let params = f.bgv.params().clone();
        let x = f.values();
        let a = f.encrypt(&x);
        let exhausted = f.bgv.mod_switch_to(&a, everlevel_scheme::Level(1)).unwrap();
        let raised = f.bgv.to_base_modulus(&exhausted).unwrap();
        let y = f.bgv.mod_raise_scaled(&raised).unwrap();
        let (measured, bound) = (f.secret.measure_noise(&y).unwrap(), y.noise_bound_bits());
        assert!(
            measured <= bound,
            "{name}: measured noise 2^{measured:.2} above the bound 2^{bound:.2}"
        );
        let t = params.plaintext_ring().modulus(params.raised_exponent());
        let (p, overflow) =
            (params.spec().plain_prime as i64, params.spec().overflow_bound() as i64);
        for &c in f.secret.decrypt(&y).unwrap().coefficients() {
            let c = t.centered(c);
            let low = c - p * (c as f64 / p as f64).round() as i64;
            assert!(low.abs() <= overflow, "{name}: overflow {low} above {overflow}");
        }
    }
}

#[test]
fn forms_convert_and_do_not_mix() {
    for name in ["insecure_bgv-257-n8", "insecure_bfv-65537-n11"] {
        let mut f = fixture(name, 9);
        let t = f.bgv.params().plaintext_ring().modulus(1);
        let x = f.values();
        let own = f.encrypt(&x);
        let (mine, other) = match own.meta().form {
            Form::Bgv => (Form::Bgv, Form::Bfv),
            Form::Bfv => (Form::Bfv, Form::Bgv),
        };
        let converted = f.bgv.convert(&own, other);
        assert_eq!(f.open(&converted), x);
        assert!(matches!(f.bgv.add(&own, &converted), Err(SchemeError::FormMismatch { .. })));
        assert!(matches!(
            f.bgv.mul(&own, &converted, NextUse::Keep),
            Err(SchemeError::FormMismatch { .. })
        ));
        assert_eq!(f.bgv.convert(&converted, mine).fingerprint(), own.fingerprint());
        // A sum of products in the other form, at several levels.
        let square = f.bgv.mul(&converted, &converted, NextUse::Product).unwrap();
        let sum =
            f.bgv.add(&f.bgv.mul(&square, &converted, NextUse::Product).unwrap(), &square).unwrap();
        let back = f.bgv.add(&f.bgv.convert(&sum, mine), &own).unwrap();
        let cubic = |x: u64| t.add(t.add(t.mul(x, t.mul(x, x)), t.mul(x, x)), x);
        assert_eq!(f.open(&back), x.iter().map(|&x| cubic(x)).collect::<Vec<_>>());
    }
}

#[test]
fn scale_invariant_products_are_exact_and_as_deep_as_those_through_bgv() {
    let mut depths = Vec::new();
    for through_bgv in [false, true] {
        let mut spec = everlevel_scheme::params::spec("insecure_bfv-257-n8").unwrap();
        spec.through_bgv = through_bgv;
        let mut f = fixture_of(Params::new(spec, OptIn::InsecureResearch).unwrap(), 10);
        assert_eq!(
            f.bgv.params().chain().auxiliary(f.bgv.params().chain().top()).is_empty(),
            through_bgv
        );
        let t = f.bgv.params().plaintext_ring().modulus(1);
        let mut x = f.values();
        let mut c = f.encrypt(&x);
        let mut depth = 0i32;
        while let Ok(next) = f.bgv.mul(&c, &c, NextUse::Product) {
            (c, depth) = (next, depth + 1);
            x.iter_mut().for_each(|x| *x = t.mul(*x, *x));
            assert_eq!(f.open(&c), x);
        }
        depths.push(depth);
    }
    // BFV's noise adds where BGV's multiplies, so no capacity is lost where the chain does not
    // stop at the ideal size.
    assert!(depths[0] >= depths[1] && depths[1] >= 18, "{depths:?}");
}

#[test]
fn seeds_determine_keys_and_ciphertexts() {
    let params = Params::named(SETS[1], OptIn::InsecureResearch).unwrap();
    let run = || {
        let mut rng = ChaCha20Rng::from_seed(sample::Seed::default());
        let secret = SecretKey::generate(&params, &mut rng);
        let plaintext = Plaintext::encode(&params, &[1, 2, 3]).unwrap();
        let c = secret.encrypt(&plaintext, &mut rng).unwrap();
        secret.measure_noise(&c).unwrap()
    };
    assert_eq!(run(), run());
}

/// Forms in one pass are combinations one by one, in their bits, levels and bounds.
#[test]
fn forms_in_one_pass_are_combinations() {
    for name in SETS {
        let mut f = fixture(name, 23);
        let values = f.values();
        let a = f.encrypt(&values);
        let b = f.bgv.mul(&a, &a, NextUse::Product).unwrap();
        let c = f.bgv.mul(&b, &a, NextUse::Product).unwrap();
        for xs in [vec![&a], vec![&a, &a, &b], vec![&c, &a, &b, &a, &c]] {
            let forms: Vec<AffineForm> = (0..6)
                .map(|row| AffineForm {
                    weights: (0..xs.len() as i64).map(|j| (row * 7 + j * 5) % 11 - 5).collect(),
                    constant: row - 3,
                })
                .collect();
            let made = f.bgv.linear_combinations(&xs, &forms).unwrap();
            assert_eq!(made.len(), forms.len());
            for (made, form) in made.iter().zip(&forms) {
                let terms: Vec<_> = xs.iter().copied().zip(form.weights.iter().copied()).collect();
                let one = f.bgv.linear_combination(&terms, form.constant).unwrap();
                assert_eq!(made.meta(), one.meta(), "{name}");
                assert_eq!(made.fingerprint(), one.fingerprint(), "{name}");
                f.open(made);
            }
        }
        assert!(f.bgv.linear_combinations(&[&a], &[]).unwrap().is_empty());
        let short = AffineForm { weights: vec![1], constant: 0 };
        let found = f.bgv.linear_combinations(&[&a, &b], &[short]).unwrap_err();
        assert_eq!(found.code(), "scheme.bad-argument", "{name}");
    }
}

/// What is not of one form, or of other parameters, is no term of a combination.
#[test]
fn combinations_refuse_other_forms_and_parameters() {
    let mut f = fixture("insecure_bgv-257-n8", 24);
    let values = f.values();
    let a = f.encrypt(&values);
    let bfv = f.bgv.convert(&a, Form::Bfv);
    let found = f.bgv.linear_combination(&[(&a, 1), (&bfv, 1)], 0).unwrap_err();
    assert_eq!(found.code(), "scheme.form-mismatch");
    let mut other = fixture("insecure_bgv-65537-n11", 24);
    let values = other.values();
    let foreign = other.encrypt(&values);
    assert!(f.bgv.linear_combination(&[(&a, 1), (&foreign, 1)], 0).is_err());
    assert!(f.bgv.linear_combination(&[(&foreign, 1), (&a, 1)], 0).is_err());
}

#[test]
fn linear_combinations_across_levels_and_factors() {
    for name in SETS {
        let mut f = fixture(name, 7);
        for e in [1, 2] {
            let t = f.bgv.params().plaintext_ring().modulus(e);
            let x: Vec<u64> =
                (0..f.bgv.params().slots()).map(|_| f.rng.next_u64() % t.value()).collect();
            let plaintext = Plaintext::encode_modulo(f.bgv.params(), &x, e).unwrap();
            let a = f.secret.encrypt(&plaintext, &mut f.rng).unwrap();
            let b = f.bgv.mul(&a, &a, NextUse::Product).unwrap();
            let c = f.bgv.mul(&b, &a, NextUse::Product).unwrap();
            let sum = f.bgv.linear_combination(&[(&a, 7), (&c, -3), (&b, 1), (&a, 0)], 11).unwrap();
            let want: Vec<u64> = x
                .iter()
                .map(|&x| {
                    let (y, z) = (t.mul(x, x), t.mul(x, t.mul(x, x)));
                    t.add(t.sub(t.add(t.mul(7, x), y), t.mul(3, z)), 11)
                })
                .collect();
            assert_eq!(f.open(&sum), want, "{name} mod p^{e}");
        }
        assert!(f.bgv.linear_combination(&[], 1).is_err());
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut f = fixture(SETS[0], 8);
    let x = f.values();
    let a = f.encrypt(&x);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let b = f.bgv.mul(&a, &a, NextUse::LinearMap).unwrap();
            let c = f.bgv.rotate_columns(&b, 3).unwrap();
            f.bgv.add(&c, &a).unwrap().fingerprint()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn specifications_are_checked() {
    let good = || everlevel_scheme::params::spec(SETS[0]).unwrap();
    let refused = |change: &dyn Fn(&mut everlevel_scheme::ParamsSpec), word: &str| {
        let mut spec = good();
        change(&mut spec);
        let message = Params::new(spec, OptIn::InsecureResearch).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    assert!(
        Params::new(good(), OptIn::SecureOnly)
            .unwrap_err()
            .to_string()
            .contains("asked for explicitly")
    );
    refused(&|s| s.plain_prime = 15, "prime");
    refused(&|s| s.plain_prime = 2, "prime");
    refused(&|s| s.plain_exponent = 0, "plain_exponent");
    refused(&|s| s.plain_exponent = 3, "2^62");
    refused(&|s| s.secret = SecretKind::Sparse(7), "sparse weight");
    refused(&|s| s.bootstrap.as_mut().unwrap().under_main_key = true, "under_main_key");
    refused(&|s| s.bootstrap.as_mut().unwrap().overflow_bound = Some(0), "overflow");
    refused(&|s| s.bootstrap.as_mut().unwrap().overflow_bound = Some(40000), "remove more digits");
    refused(&|s| s.bootstrap.as_mut().unwrap().digits = Some(0), "digits");
    refused(&|s| s.index = 1002, "index");
    for index in [8 * 25, 9 * 29] {
        refused(&|s| s.index = index, "without square factors");
        let spec =
            everlevel_scheme::ParamsSpec { index, plain_prime: 17, bootstrap: None, ..good() };
        let refusal =
            Params::new(spec, OptIn::InsecureResearch).err().map(|error| error.to_string());
        assert!(refusal.is_none(), "{refusal:?}");
    }
    refused(&|s| s.index = 1 << 40, "index");
    refused(&|s| s.bootstrap.as_mut().unwrap().sparse_weight = 1 << 20, "sparse_weight");
    refused(&|s| s.bootstrap.as_mut().unwrap().sparse_weight = 7, "sparse_weight");
    refused(&|s| s.base_bits = 30, "base_bits");
    refused(&|s| s.words = 500, "words");
    refused(&|s| s.fine_bits = vec![5], "fine_bits");
    refused(&|s| s.digit_size = 0, "digit_size");
    refused(&|s| s.name = "mine".into(), "insecure_");
    refused(&|s| s.name = "a b".into(), "name");
    // a wide q0 over a small ring, where pairs of primes abound: the search must stop early
    let mut wide = everlevel_scheme::params::spec(SETS[1]).unwrap();
    for bits in [62, 63, 80, 96] {
        wide.base_bits = bits;
        let q0 = Params::new(wide.clone(), OptIn::InsecureResearch).unwrap().base_modulus();
        assert!(q0 % 257 == 1 && q0 >> bits == 0 && q0 >> (bits - 2) != 0, "{bits}");
    }
    // Low security and frequent failures are asked for apart from each other.
    let with_bound = |name, bound| {
        let mut spec = everlevel_scheme::params::spec(name).unwrap();
        spec.bootstrap.as_mut().unwrap().overflow_bound = Some(bound);
        spec
    };
    for (name, bound, needed) in [
        ("bgv-65537-n15", 11, OptIn::AllowFailures),
        ("insecure_bgv-65537-n11", 4, OptIn::InsecureAllowFailures),
    ] {
        let error = Params::new(with_bound(name, bound), OptIn::InsecureResearch).unwrap_err();
        assert_eq!(error.code(), "scheme.frequent-failures");
        let params = Params::new(with_bound(name, bound), needed).unwrap();
        assert!((-40.0..=0.0).contains(&params.failure_log2()));
        assert!(params.failure_notice().unwrap().contains("2^-"));
    }
    let insecure = with_bound("insecure_bgv-65537-n11", 4);
    let error = Params::new(insecure, OptIn::AllowFailures).unwrap_err();
    assert_eq!(error.code(), "scheme.insecure");
    // Between 2^-128 and 2^-40 users are told; a probability is never above 1.
    let rare = Params::new(with_bound("bgv-65537-n15", 13), OptIn::SecureOnly).unwrap();
    assert!((-128.0..-40.0).contains(&rare.failure_log2()) && rare.failure_notice().is_some());
    let certain = Params::new(with_bound("bgv-65537-n15", 1), OptIn::AllowFailures).unwrap();
    assert_eq!(certain.failure_log2(), 0.0);
    for name in everlevel_scheme::params::names() {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        assert!(params.failure_notice().is_none(), "{name}");
    }
    let mut large = everlevel_scheme::params::spec("bgv-65537-n15").unwrap();
    large.words += 1;
    assert!(
        Params::new(large, OptIn::InsecureResearch).unwrap_err().to_string().contains("below 128")
    );
    assert!(
        Params::named("nothing", OptIn::SecureOnly)
            .unwrap_err()
            .to_string()
            .contains("bgv-65537-n15")
    );
}

#[test]
fn every_named_set_is_what_it_says() {
    for name in everlevel_scheme::params::names() {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let secure = params.security().bits() >= 128.0;
        assert_eq!(secure, !name.starts_with("insecure_"), "{name}");
        let p = params.spec().plain_prime;
        // correction factors vanish: every prime that can be dropped is 1 modulo p, and so is q0;
        // for odd indices primes are too rare
        assert!(params.base_modulus() % p as i128 == 1 || params.ring().axes().is_some(), "{name}");
        let chain = params.chain();
        if secure && params.bootstrap_mode() == BootstrapMode::Bypass {
            let droppable = chain.basis(chain.top()).minus(chain.basis(everlevel_scheme::Level(0)));
            assert!(droppable.iter().all(|i| params.ring().modulus(i).value() % p == 1), "{name}");
        }
        // levels ascend, and every gadget's special primes are free where it is used
        for l in 1..=chain.top().0 {
            let level = everlevel_scheme::Level(l);
            assert!(chain.bits(level) > chain.bits(everlevel_scheme::Level(l - 1)));
            assert!(chain.gadget(level).special().intersection(chain.basis(level)).is_empty());
        }
    }
}
