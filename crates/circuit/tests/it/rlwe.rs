//! Bootstrapping with cryptography: planned on the no-op scheme, run on BGV and BFV with the keys
//! that the plan names.

use std::sync::Arc;

use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
use everlevel_circuit::Session;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, StageReport};
use everlevel_circuit::digits::{DigitKind, DigitMethod};
use everlevel_circuit::rotate_by_keys;
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec, SecretKind};
use everlevel_scheme::{
    Arithmetic, Automorphisms, ExactScheme, Form, KeyPlan, Level, NextUse, NoOp, OptIn, Params,
    ParamsSpec, Plaintext, Scheme,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

use crate::party::party;
use crate::together::same_together;

/// The keys of one bootstrapping, from a dry run; and what every stage left there.
fn dry_run(
    params: &Params,
    plan: &BootstrapPlan,
    exhausted: &Plaintext,
) -> (KeyPlan, Vec<StageReport>) {
    let scheme = NoOp::new(params, 1);
    let bootstrapper = Bootstrapper::new(&scheme, plan.clone()).unwrap();
    let x = scheme.encrypt_at(exhausted, Level(1)).unwrap();
    let mut reports = Vec::new();
    bootstrapper.bootstrap_observed(&scheme, &x, &mut reports).unwrap();
    (scheme.key_plan(), reports)
}

/// Threads of a pool take up other operations while parts of a bootstrapping are done elsewhere:
/// those of one value do not wait for each other without end.
#[test]
fn operations_of_a_pool_share_a_value() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let plan = BootstrapPlan::balanced(params.slots());
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i % 257).collect();
    let plain = Plaintext::encode(&params, &values).unwrap();
    let dry = Arc::new(NoOp::new(&params, 1));
    let bootstrapper = Arc::new(Bootstrapper::new(&*dry, plan.clone()).unwrap());
    let session = Session::new(dry.clone(), bootstrapper);
    let x = session.share(dry.encrypt_at(&plain, Level(1)).unwrap());
    session.mul(&x, &x).unwrap();

    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let secret = SecretKey::generate(&params, &mut rng);
    let key_plan = dry.key_plan().merge(&KeyPlan::relinearization(&params));
    let keys = ServerKeys::generate(&secret, &key_plan, &mut rng, |_, _| ()).unwrap();
    let scheme = Arc::new(Evaluator::new(keys));
    let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
    let session = Session::new(scheme, bootstrapper);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let squares: Vec<u64> = values.iter().map(|v| v * v % 257).collect();
    for _ in 0..4 {
        let x = session.share(secret.encrypt_at(&plain, Level(1), &mut rng).unwrap());
        let square = |_| session.mul(&x, &x).unwrap();
        let found: Vec<_> = pool.install(|| (0..8).into_par_iter().map(square).collect());
        for y in found {
            let back = secret.decrypt(&y.get()).unwrap().decode(&params).unwrap();
            assert_eq!(back, squares);
        }
    }
}

#[test]
fn bootstrapping_is_exact_on_bgv() {
    // d = 2, 1 and 2; both types of digit removal
    for (name, digits) in [
        ("insecure_bgv-257-n8", DigitMethod { kind: DigitKind::ProductTree, extra: 2 }),
        ("insecure_bgv-257-n8", DigitMethod::new(DigitKind::Global)),
        ("insecure_bgv-257-n8", DigitMethod::new(DigitKind::Local)),
        ("insecure_bgv-65537-n11", DigitMethod { kind: DigitKind::ProductTree, extra: 1 }),
        ("insecure_bgv-65537-n11", DigitMethod { kind: DigitKind::Global, extra: 1 }),
        ("insecure_bgv-786433-n11", DigitMethod { kind: DigitKind::ProductTree, extra: 2 }),
        ("insecure_bgv-786433-n11", DigitMethod::new(DigitKind::Global)),
    ] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let values: Vec<u64> =
            (0..params.slots()).map(|_| rng.next_u64() % params.plain_modulus()).collect();
        let plain = Plaintext::encode(&params, &values).unwrap();
        let plan = BootstrapPlan::balanced(params.slots()).with_digits(digits);
        let (key_plan, dry) = dry_run(&params, &plan, &plain);

        let (secret, scheme) = party(&params, &key_plan, &mut rng);
        let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
        bootstrapper.prepare(&scheme, &dry).unwrap();
        let exhausted = secret.encrypt_at(&plain, Level(1), &mut rng).unwrap();
        let mut reports: Vec<StageReport> = Vec::new();
        let fresh = bootstrapper.bootstrap_observed(&scheme, &exhausted, &mut reports).unwrap();
        let other = secret.encrypt(&plain, &mut rng).unwrap();
        same_together(&bootstrapper, &scheme, &[&exhausted, &other, &exhausted]);

        let back = secret.decrypt(&fresh).unwrap().decode(&params).unwrap();
        assert_eq!(
            back.iter().zip(&values).filter(|(a, b)| a != b).count(),
            0,
            "{name}, {digits}: wrong slots"
        );
        assert!(
            secret.measure_noise(&fresh).unwrap() <= scheme.noise_bound_bits(&fresh),
            "{name}, {digits}: noise above its bound"
        );
        // The no-op scheme foretold every stage.
        assert_eq!(reports.len(), dry.len());
        for (real, foretold) in reports.iter().zip(&dry) {
            assert_eq!(
                (real.stage, real.level_after, real.noise_bits),
                (foretold.stage, foretold.level_after, foretold.noise_bits)
            );
        }
    }
}

/// The secret that messages are raised under.
#[derive(Clone, Copy, Debug)]
enum Secret {
    /// A sparse one of this weight beside a ternary main secret.
    Encapsulated(usize),
    /// The main secret, of this weight, with this bound on the overflow.
    Main(usize, u64),
}

/// A plaintext space, how it is bootstrapped, and by which digit removal.
struct Case {
    log_degree: u32,
    p: u64,
    r: u32,
    /// How many digits are removed.
    v: u32,
    secret: Secret,
    mode: BootstrapMode,
    digits: &'static str,
}

/// Form, and whether BFV products go through BGV.
const FORMS: [(Form, bool); 3] = [(Form::Bgv, false), (Form::Bfv, false), (Form::Bfv, true)];

impl Case {
    fn params(&self, (form, through_bgv): (Form, bool)) -> Params {
        let bits = (self.p as f64).log2() * f64::from(self.r + self.v);
        let (secret, bootstrap) = match self.secret {
            Secret::Encapsulated(weight) => {
                (SecretKind::UniformTernary, BootstrapSpec::encapsulated(weight))
            }
            Secret::Main(weight, bound) => {
                let sparse = BootstrapSpec::encapsulated(weight);
                (
                    SecretKind::Sparse(weight),
                    BootstrapSpec { under_main_key: true, overflow_bound: Some(bound), ..sparse },
                )
            }
        };
        let spec = ParamsSpec {
            plain_exponent: self.r,
            base_bits: (bits as u32 + 20).max(34),
            words: 18,
            fine_bits: vec![44, 38, 32],
            special: 3,
            digit_size: 3,
            secret,
            form,
            through_bgv,
            bootstrap: Some(BootstrapSpec {
                mode: Some(self.mode),
                digits: Some(self.v),
                digit_removal: Some(self.digits.into()),
                ..bootstrap
            }),
            ..ParamsSpec::new("insecure_through", 2 << self.log_degree, self.p)
        };
        Params::new(spec, OptIn::InsecureAllowFailures).unwrap()
    }

    /// Uniform values in every slot: residues, or in full mode whole elements.
    fn random(&self, params: &Params, rng: &mut ChaCha20Rng) -> Plaintext {
        let mut values = |count: usize| {
            (0..count).map(|_| rng.next_u64() % params.plain_modulus()).collect::<Vec<u64>>()
        };
        match self.mode {
            BootstrapMode::Full => {
                Plaintext::from_coefficients(params, values(params.degree()), self.r).unwrap()
            }
            _ => Plaintext::encode(params, &values(params.slots())).unwrap(),
        }
    }
}

/// How a product is exhausted: an encryption of zero at a low level is added, then it is multiplied
/// by constants.
struct Wear {
    level: Level,
    constants: Vec<i64>,
}

impl Wear {
    /// The lowest level that leaves `needed` bits of capacity, and the constants that take what is
    /// left there down to less than two bits.
    fn search(scheme: &NoOp, product: &NoOpCiphertext, needed: f64) -> Wear {
        let params = scheme.params();
        let zero = Plaintext::encode(params, &[]).unwrap();
        let low = |level| scheme.add(product, &scheme.encrypt_at(&zero, Level(level)).ok()?).ok();
        let enough = |x: &NoOpCiphertext| scheme.capacity_bits(x) >= needed;
        let mut found = (0..params.chain().top().0)
            .filter_map(|level| Some((level, low(level).filter(enough)?)));
        let (level, mut x) = found.next().expect("a level with room for bootstrapping");
        let mut constants = Vec::new();
        loop {
            let most = (scheme.capacity_bits(&x) - needed)
                .exp2()
                .min(params.plain_modulus() as f64 / 2.0) as i64;
            let k = if most % params.spec().plain_prime as i64 == 0 { most - 1 } else { most };
            match scheme.mul_scalar(&x, k) {
                Ok(y) if k > 1 && enough(&y) => x = y,
                _ => break,
            }
            constants.push(k);
        }
        assert!(scheme.capacity_bits(&x) < needed + 2.0);
        Wear { level: Level(level), constants }
    }

    fn out<S: ExactScheme>(
        &self,
        scheme: &S,
        product: &S::Ciphertext,
        zero: &S::Ciphertext,
    ) -> S::Ciphertext {
        let low = scheme.add(product, zero).unwrap();
        self.constants.iter().fold(low, |x, &k| scheme.mul_scalar(&x, k).unwrap())
    }
}

/// Multiplies two fresh ciphertexts, wears the product out and bootstraps it: once on the no-op
/// scheme, which foretells levels, noise bounds and counts of every stage, and once with
/// cryptography.
fn check(case: &Case, form: (Form, bool)) {
    let params = case.params(form);
    let name = format!(
        "p = {}, r = {}, {:?}, {:?}, {}, {form:?}",
        case.p, case.r, case.secret, case.mode, case.digits
    );
    let mut rng = ChaCha20Rng::seed_from_u64(case.p << 8 | u64::from(case.r));
    let (x, y) = (case.random(&params, &mut rng), case.random(&params, &mut rng));
    let zero = Plaintext::encode(&params, &[]).unwrap();

    let dry = NoOp::new(&params, 1);
    let plan = BootstrapPlan::for_set(&params).unwrap();
    let bootstrapper =
        Bootstrapper::new(&dry, plan.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let product =
        dry.mul(&dry.encrypt(&x).unwrap(), &dry.encrypt(&y).unwrap(), NextUse::Product).unwrap();
    let wear = Wear::search(&dry, &product, bootstrapper.minimum_capacity(&dry));
    let exhausted = wear.out(&dry, &product, &dry.encrypt_at(&zero, wear.level).unwrap());
    let (before, mut foretold) = (dry.cost(), Vec::new());
    let fresh = bootstrapper
        .bootstrap_observed(&dry, &exhausted, &mut foretold)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let foretold_cost = dry.cost() - before;
    let expected = wear
        .constants
        .iter()
        .fold(x.mul(&y, &params).unwrap(), |value, &k| value.scaled(k, &params).unwrap());
    assert_eq!(dry.decrypt(&fresh).unwrap(), expected, "{name}: the no-op scheme");
    let foretold_meta = *fresh.meta();

    let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
    // What a rehearsal knows need not be found with keys, and is the same.
    let before = scheme.cost();
    let rehearsed = Bootstrapper::rehearsed(&scheme, &bootstrapper).unwrap();
    assert_eq!((scheme.cost() - before).key_switches, 0, "{name}");
    let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
    let least = [&bootstrapper, &rehearsed].map(|it| it.minimum_capacity(&scheme).to_bits());
    assert_eq!(least[0], least[1], "{name}");
    assert_eq!(rehearsed.galois_elements(), bootstrapper.galois_elements(), "{name}");
    let mut encrypt = |value, level| secret.encrypt_at(value, level, &mut rng).unwrap();
    let top = params.chain().top();
    let product = scheme.mul(&encrypt(&x, top), &encrypt(&y, top), NextUse::Product).unwrap();
    let input = wear.out(&scheme, &product, &encrypt(&zero, wear.level));
    assert_eq!(input.meta(), exhausted.meta(), "{name}");
    let (before, mut reports) = (scheme.cost(), Vec::<StageReport>::new());
    let fresh = rehearsed.bootstrap_observed(&scheme, &input, &mut reports).unwrap();
    let cost = scheme.cost() - before;
    assert_eq!(secret.decrypt(&fresh).unwrap(), expected, "{name}");
    let measured = secret.measure_noise(&fresh).unwrap();
    assert!(
        measured <= fresh.noise_bound_bits(),
        "{name}: measured noise 2^{measured} above 2^{}",
        fresh.noise_bound_bits()
    );
    assert_eq!(*fresh.meta(), foretold_meta, "{name}");
    assert_eq!(
        (cost.key_switches, cost.products),
        (foretold_cost.key_switches, foretold_cost.products),
        "{name}"
    );
    let public = |r: &StageReport| {
        (r.stage, r.group, r.level_before, r.level_after, r.exponent, r.noise_bits.to_bits())
    };
    assert!(reports.iter().map(public).eq(foretold.iter().map(public)), "{name}: stages");
}

#[test]
fn thin_is_exact_with_cryptography() {
    use Secret::{Encapsulated, Main};
    // (log2 n, p, r, v, secret, removal), (k, d) = (16, 8), (8, 8), (16, 8), (64, 8), (64, 8), (64,
    // 8), (64, 1), (64, 1), (128, 4)
    for (log_degree, p, r, v, secret, digits) in [
        (7, 31, 1, 1, Encapsulated(8), "chen_han"),
        (6, 17, 1, 1, Encapsulated(8), "halevi_shoup"),
        (7, 31, 2, 1, Main(16, 6), "local"),
        (9, 127, 1, 1, Main(64, 27), "chen_han"),
        (9, 127, 2, 1, Encapsulated(12), "geelen"),
        (9, 127, 3, 1, Encapsulated(24), "product_tree_2"),
        (6, 257, 1, 1, Encapsulated(8), "paterson_stockmeyer"),
        (6, 257, 3, 1, Main(32, 14), "product_tree_2"),
        (9, 257, 2, 1, Encapsulated(16), "local"),
        // Two digits hold an overflow of up to 12, and of up to 27.
        (6, 17, 1, 2, Encapsulated(24), "chen_han"),
        (7, 17, 2, 2, Main(64, 27), "geelen"),
        (6, 17, 3, 2, Encapsulated(24), "halevi_shoup"),
    ] {
        for form in FORMS {
            check(&Case { log_degree, p, r, v, secret, mode: BootstrapMode::Thin, digits }, form);
        }
    }
}

#[test]
fn full_is_exact_with_cryptography() {
    use Secret::{Encapsulated, Main};
    for (i, (log_degree, p, r, v, secret, digits)) in [
        (6, 17, 1, 1, Encapsulated(8), "geelen"),
        (7, 31, 1, 1, Main(24, 10), "local"),
        (7, 31, 3, 1, Encapsulated(8), "product_tree_2"),
        (7, 127, 2, 1, Main(64, 27), "product_tree_2"),
        (6, 257, 2, 1, Encapsulated(8), "product_tree_2"),
        (8, 257, 1, 1, Encapsulated(12), "local"),
        (6, 17, 2, 2, Encapsulated(24), "chen_han"),
    ]
    .into_iter()
    .enumerate()
    {
        // Each form in its turn, as d digit removals take their time.
        check(
            &Case { log_degree, p, r, v, secret, mode: BootstrapMode::Full, digits },
            FORMS[i % 3],
        );
        check(
            &Case { log_degree, p, r, v, secret, mode: BootstrapMode::Full, digits },
            FORMS[(i + 1) % 3],
        );
    }
}

/// A key for 1 at a high level only, and one for -4 at a low one only: 1 has to come first.
#[test]
fn a_route_does_not_fall_below_keys_that_it_still_needs() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let (shape, chain) = (params.slot_shape(), params.chain());
    // Keys serve all levels of their gadget up to their own.
    let gadget = |l: usize| chain.gadget_id(Level(l));
    let lowest = |high: usize| (0..=high).find(|&l| gadget(l) == gadget(high)).unwrap_or(high);
    let high = (1..=chain.top().0).rev().find(|&high| lowest(high) > 0).unwrap();
    let (high, low) = (Level(high), Level(lowest(high) - 1));
    let mut plan = KeyPlan::default();
    plan.add_galois(&params, shape.rotation(1), high);
    plan.add_galois(&params, shape.rotation(-4), low);
    let mut rng = ChaCha20Rng::from_seed([8; 32]);
    let (secret, scheme) = party(&params, &plan, &mut rng);
    assert_eq!(scheme.galois_level(shape.rotation(1), low), None);
    assert_eq!(scheme.galois_level(shape.rotation(-4), high), Some(low));

    let values: Vec<u64> = (0..params.slots() as u64).collect();
    let plain = Plaintext::encode(&params, &values).unwrap();
    let x = secret.encrypt_at(&plain, high, &mut rng).unwrap();
    let moved = rotate_by_keys(&scheme, &x, -3).unwrap();
    let mut expected = values;
    expected.chunks_exact_mut(shape.columns()).for_each(|row| row.rotate_right(3));
    assert_eq!(secret.decrypt(&moved).unwrap().decode(&params).unwrap(), expected);
}
