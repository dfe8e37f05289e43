//! BGV on small rings: every operation against the plain computation, and every bound against the
//! measured noise.

use everlevel_bgv::{Ciphertext, Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_ring::sample;
use everlevel_scheme::{
    Arithmetic, Automorphisms, DiagonalValues, Form, KeyPlan, LinearMaps, NextUse, OptIn, Params,
    PeriodicSlots, PlainModulus, Plaintext, Scheme, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

pub struct Fixture {
    pub secret: SecretKey,
    pub bgv: Evaluator,
    pub rng: ChaCha20Rng,
}

const STEPS: [i64; 4] = [1, 3, -1, 8];

pub fn fixture(name: &str, seed: u8) -> Fixture {
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
    pub fn values(&mut self) -> Vec<u64> {
        let t = self.bgv.params().plain_modulus();
        (0..self.bgv.params().slots()).map(|_| self.rng.next_u64() % t).collect()
    }

    pub fn encrypt(&mut self, values: &[u64]) -> Ciphertext {
        let plaintext = Plaintext::encode(self.bgv.params(), values).unwrap();
        self.secret.encrypt(&plaintext, &mut self.rng).unwrap()
    }

    /// Decrypts, and checks that the measured noise is within the bound.
    pub fn open(&self, ciphertext: &Ciphertext) -> Vec<u64> {
        let measured = self.secret.measure_noise(ciphertext).unwrap();
        let bound = ciphertext.noise_bound_bits();
        assert!(measured <= bound, "measured noise 2^{measured:.2} above the bound 2^{bound:.2}");
        self.secret.decrypt(ciphertext).unwrap().decode(self.bgv.params()).unwrap()
    }
}

pub const SETS: [&str; 5] = [
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
