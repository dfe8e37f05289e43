//! Whole circuits over the no-op scheme: levels, noise and refusals as BGV would have them, no
//! cryptography.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everlevel_circuit::bootstrap::{
    BootstrapPlan, Bootstrapper, DryRun, Objective, Planner, StageReport, TimeModel,
};
use everlevel_circuit::digits::{DigitKind, DigitMethod, DigitProblem};
use everlevel_circuit::poly::{DepthGoal, Polynomial, PolynomialPlan};
use everlevel_circuit::{CircuitError, PrimePower, Session};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};
use everlevel_scheme::{
    Bootstrappable, Cost, Form, Level, NextUse, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme,
    SchemeError,
};
use everlevel_testing::toy_spec;

use crate::costs::{assert_costs, assert_keys};

/// A toy set; 16 words are enough for any plan.
fn params(log_degree: u32, p: u64, weight: usize, words: usize) -> Params {
    let bootstrap = Some(BootstrapSpec::encapsulated(weight));
    let spec = ParamsSpec { words, bootstrap, ..toy_spec(2 << log_degree, p, 1) };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// All kinds of digit removal that a bootstrapping of one digit can have, type B where (2B + 1)^2
/// <= p.
fn methods(p: u64, weight: usize) -> Vec<DigitMethod> {
    let bound = weight as u64 / 2;
    let mut methods = DigitMethod::candidates(&DigitProblem { p, e: 2, v: 1, bound }).unwrap();
    if (weight as u64 + 1).pow(2) <= p {
        methods.extend([
            DigitMethod::new(DigitKind::Global),
            DigitMethod { kind: DigitKind::Global, extra: 1 },
        ]);
    }
    methods
}

fn message(params: &Params, seed: u64) -> Vec<u64> {
    (0..params.slots() as u64)
        .map(|i| {
            (i.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) >> 20)
                % params.plain_modulus()
        })
        .collect()
}

#[test]
fn bootstrapping_is_exact_on_the_no_op_scheme() {
    // (log2 n, p, weight): d = 1, 1, 1, 2, 2
    for (log_degree, p, weight) in
        [(6, 257, 8), (9, 12289, 12), (10, 65537, 24), (7, 257, 8), (8, 257, 8), (8, 786433, 16)]
    {
        let params = params(log_degree, p, weight, 16);
        for digits in methods(p, weight) {
            let scheme = NoOp::new(&params, 1);
            let bootstrapper = Bootstrapper::new(
                &scheme,
                BootstrapPlan::balanced(params.slots()).with_digits(digits),
            )
            .unwrap();
            let values = message(&params, 7);
            let plain = Plaintext::encode(&params, &values).unwrap();
            let exhausted = scheme.encrypt_at(&plain, Level(1)).unwrap();
            let before = scheme.cost();
            let mut reports: Vec<StageReport> = Vec::new();
            let fresh = bootstrapper.bootstrap_observed(&scheme, &exhausted, &mut reports).unwrap();
            assert!(reports.iter().all(|r| r.capacity_bits > 0.0));
            let back = scheme.decrypt(&fresh).unwrap().decode(&params).unwrap();
            let wrong = back.iter().zip(&values).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "p = {p}, n = 2^{log_degree}, {digits:?}");
            assert!(scheme.capacity_bits(&fresh) > scheme.capacity_bits(&exhausted));
            let name = format!("p = {p}, n = 2^{log_degree}, {digits:?}");
            assert_costs(&scheme, &bootstrapper, before, &name);
            assert_keys(&scheme, &bootstrapper, &name);
        }
    }
}

fn auto_refresh(params: &Params) -> Session<NoOp> {
    let scheme = Arc::new(NoOp::new(params, 3));
    let bootstrapper =
        Arc::new(Bootstrapper::new(&*scheme, BootstrapPlan::balanced(params.slots())).unwrap());
    Session::new(scheme, bootstrapper)
}

#[test]
fn sixty_multiplications_in_a_row() {
    let params = params(6, 257, 8, 8);
    let auto = auto_refresh(&params);
    let scheme = auto.scheme();
    let p = params.plain_modulus();
    let (mut xs, ys) = (message(&params, 1), message(&params, 2));
    let encrypt = |v: &[u64]| scheme.encrypt(&Plaintext::encode(&params, v).unwrap()).unwrap();
    let (mut x, y) = (auto.share(encrypt(&xs)), auto.share(encrypt(&ys)));
    for round in 0..60 {
        x = auto.mul(&x, &y).unwrap();
        x = if round % 2 == 0 {
            auto.add_scalar(&x, 5).unwrap()
        } else {
            auto.rotate_columns(&x, 1).unwrap()
        };
        xs = xs.iter().zip(&ys).map(|(a, b)| a * b % p).collect();
        if round % 2 == 0 {
            xs.iter_mut().for_each(|a| *a = (*a + 5) % p);
        } else {
            let half = xs.len() / 2;
            xs[..half].rotate_left(1);
            xs[half..].rotate_left(1);
        }
        assert!(scheme.capacity_bits(&x.get()) >= scheme.minimum_capacity());
    }
    assert_eq!(scheme.decrypt(&x.get()).unwrap().decode(&params).unwrap(), xs);
    assert!(auto.bootstraps() >= 2, "{} bootstrappings", auto.bootstraps());
    // The other factor is refreshed now and then, not once an operation.
    assert!(auto.bootstraps() < 20, "{} bootstrappings", auto.bootstraps());
}

#[test]
fn one_bootstrapping_serves_all_threads() {
    let params = params(6, 257, 8, 8);
    let auto = auto_refresh(&params);
    let values = message(&params, 6);
    let plain = Plaintext::encode(&params, &values).unwrap();
    let least = auto.scheme().minimum_capacity() + 1.0;
    let exhausted = auto.share(auto.scheme().encrypt_exhausted(&plain, Level(1), least).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut x = exhausted.clone();
                for _ in 0..3 {
                    x = auto.mul(&x, &exhausted).unwrap();
                }
                let fourth: Vec<u64> =
                    values.iter().map(|v| v * v % 257 * v % 257 * v % 257).collect();
                assert_eq!(
                    auto.scheme().decrypt(&x.get()).unwrap().decode(&params).unwrap(),
                    fourth
                );
            });
        }
    });
    assert_eq!(auto.bootstraps(), 1);
}

#[test]
fn deep_operations_are_refused_and_shallow_ones_retried() {
    let params = params(6, 257, 8, 8);
    let auto = auto_refresh(&params);
    let t = PrimePower::new(257, 1).unwrap();
    let evaluate = |degree: usize| {
        let f = Polynomial::new(t, vec![1; degree + 1]);
        let plan = PolynomialPlan::new(&[f], DepthGoal::Least).unwrap();
        let plain = Plaintext::encode(&params, &message(&params, 4)).unwrap();
        let exhausted = auto.share(auto.scheme().encrypt_at(&plain, Level(1)).unwrap());
        auto.apply(&exhausted, |s, x| Ok(plan.evaluate(s, x, NextUse::Keep)?.remove(0)))
    };
    assert!(evaluate(20).is_ok());
    assert_eq!(auto.bootstraps(), 1);
    assert!(matches!(
        evaluate(1 << 16),
        Err(CircuitError::Scheme(SchemeError::NoiseOverflow { .. })
            | CircuitError::NotEnoughCapacity { .. })
    ));
}

struct Dry(Params);

impl DryRun for Dry {
    type Scheme = NoOp;
    fn scheme(&self) -> Result<NoOp, SchemeError> {
        Ok(NoOp::new(&self.0, 1))
    }

    fn exhausted(&self, scheme: &NoOp, _: f64) -> Result<NoOpCiphertext, SchemeError> {
        scheme.encrypt_at(&Plaintext::encode(&self.0, &message(&self.0, 9))?, Level(1))
    }

    fn cost(&self, scheme: &NoOp) -> Cost {
        scheme.cost()
    }

    fn key_bytes(&self, scheme: &NoOp) -> u64 {
        scheme.key_plan().seeded_bytes(&self.0)
    }
}

/// Thin and full on the no-op scheme: p = 1 and 3 modulo 4, r = 1, 2, 3, slots of every kind, both
/// forms.
#[test]
fn thin_and_full_are_exact_on_the_no_op_scheme() {
    // (log2 n, p, r, weight): (k, d) = (16, 8), (16, 8), (64, 2), (64, 8), (8, 8), (8, 8), (64, 8),
    // (64, 8), (64, 1)
    for (log_degree, p, r, weight) in [
        (7, 17, 1, 8),
        (7, 31, 1, 8),
        (7, 127, 1, 12),
        (9, 127, 2, 12),
        (6, 17, 3, 8),
        (6, 17, 2, 16),
        (9, 127, 3, 24),
        (10, 257, 2, 12),
        (6, 257, 3, 8),
    ] {
        let base = params(log_degree, 257, 8, 16).spec().clone();
        for (form, mode) in [
            (Form::Bgv, BootstrapMode::Thin),
            (Form::Bfv, BootstrapMode::Thin),
            (Form::Bgv, BootstrapMode::Full),
        ] {
            let bootstrap =
                Some(BootstrapSpec { mode: Some(mode), ..BootstrapSpec::encapsulated(weight) });
            let spec = ParamsSpec {
                plain_prime: p,
                plain_exponent: r,
                base_bits: 60,
                words: 22,
                form,
                bootstrap,
                ..base.clone()
            };
            let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
            let scheme = NoOp::new(&params, 1);
            let plan = BootstrapPlan::for_set(&params).unwrap();
            if r > 1 || p % 4 == 3 {
                let bypass =
                    Bootstrapper::new(&scheme, plan.clone().in_mode(BootstrapMode::Bypass))
                        .map(|_| ());
                assert!(
                    matches!(bypass, Err(CircuitError::PlanMismatch { .. })),
                    "p = {p}, r = {r}"
                );
            }
            let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
            let name = format!("p = {p}, r = {r}, n = 2^{log_degree}, {form:?}, {mode:?}");
            let plain = match mode {
                BootstrapMode::Full => {
                    let t = params.plain_modulus();
                    let value = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % t;
                    Plaintext::from_coefficients(
                        &params,
                        (0..params.degree() as u64).map(value).collect(),
                        r,
                    )
                    .unwrap()
                }
                _ => Plaintext::encode(&params, &message(&params, 3)).unwrap(),
            };
            let x = scheme.encrypt(&plain).unwrap();
            let before = scheme.cost();
            let fresh = bootstrapper.bootstrap(&scheme, &x).unwrap();
            assert_costs(&scheme, &bootstrapper, before, &name);
            assert_eq!(scheme.decrypt(&fresh).unwrap(), plain, "{name}");
            assert!(
                scheme.capacity_bits(&fresh) > bootstrapper.minimum_capacity(&scheme),
                "{name}"
            );
        }
    }
}

/// Whatever has the capacity that is asked for can be bootstrapped, at whatever level, with nothing
/// to spare or with much. Noise below the floor, which only encryptions at a low level of a small
/// ring have, is left out: there capacity does not tell the size of the modulus.
#[test]
fn the_minimum_capacity_is_enough_at_every_level() {
    for (p, r, mode) in [
        (257, 1, BootstrapMode::Bypass),
        (257, 2, BootstrapMode::Thin),
        (127, 1, BootstrapMode::Full),
    ] {
        for form in [Form::Bgv, Form::Bfv] {
            let bootstrap =
                Some(BootstrapSpec { mode: Some(mode), ..BootstrapSpec::encapsulated(8) });
            let base = params(6, 257, 8, 16).spec().clone();
            let spec = ParamsSpec { plain_prime: p, plain_exponent: r, form, bootstrap, ..base };
            let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
            let scheme = NoOp::blank(&params);
            let bootstrapper =
                Bootstrapper::new(&scheme, BootstrapPlan::for_set(&params).unwrap()).unwrap();
            let needed = bootstrapper.minimum_capacity(&scheme);
            let plain = Plaintext::encode(&params, &[]).unwrap();
            let floor = params.noise().bound().floor(params.plain_modulus());
            let mut accepted = 0;
            for level in (0..params.chain().top().0).map(Level) {
                let fresh = scheme.encrypt_at(&plain, level).into_iter();
                let inputs = fresh.chain(scheme.encrypt_exhausted(&plain, level, needed + 1e-3));
                for x in inputs.filter(|x| {
                    scheme.capacity_bits(x) >= needed && scheme.noise_bound_bits(x) >= floor
                }) {
                    let name = format!(
                        "{mode:?}, {form:?}, {level:?}, {} bits of {needed}",
                        scheme.capacity_bits(&x)
                    );
                    bootstrapper.bootstrap(&scheme, &x).unwrap_or_else(|e| panic!("{name}: {e}"));
                    accepted += 1;
                }
            }
            assert!(accepted > 20, "{mode:?}, {form:?}: {accepted}");
        }
    }
}

/// Wherever keys are needed: a bootstrapping is cancelled at each of these places.
#[test]
fn cancelled_work_is_refused() {
    let params = params(6, 257, 8, 16);
    let plain = Plaintext::encode(&params, &[]).unwrap();
    let ended = (0..10_000).find(|places| {
        let (places, asked) = (*places, AtomicUsize::new(0));
        let scheme = NoOp::blank(&params)
            .cancelled_by(move || asked.fetch_add(1, Ordering::Relaxed) >= places);
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
        let x = scheme.encrypt(&plain).unwrap();
        match bootstrapper.bootstrap(&scheme, &x) {
            Ok(_) => true,
            Err(CircuitError::Scheme(SchemeError::Cancelled)) => false,
            Err(e) => panic!("{places}: {e}"),
        }
    });
    assert!(ended.is_some_and(|places| places > 5), "{ended:?}");
}

#[test]
fn the_planner_optimizes_its_objective() {
    let dry = Dry(params(6, 257, 8, 16));
    // Every kind of digit removal and most group sizes are among the few.
    let candidates: Vec<_> =
        BootstrapPlan::candidates(dry.0.slots(), 4).into_iter().step_by(17).collect();
    let model = TimeModel::typical(dry.0.degree());
    let best = |objective| {
        let reports = Planner::new(&dry, model, objective).rank(&candidates).unwrap();
        assert!(reports.windows(2).all(|w| w[0].score(objective) <= w[1].score(objective)));
        let found = Planner::new(&dry, model, objective).search(&candidates).unwrap();
        assert!(
            found.score(objective) <= 1.05 * reports[0].score(objective)
                || objective == Objective::Capacity
        );
        reports[0].clone()
    };
    let (throughput, latency, capacity) =
        (best(Objective::Throughput), best(Objective::Latency), best(Objective::Capacity));
    assert!(
        latency.seconds <= throughput.seconds && throughput.capacity_bits <= capacity.capacity_bits
    );
    assert!(throughput.multiplications > 10.0 && throughput.key_bytes > 0);
    assert!(matches!(
        Planner::new(&dry, model, Objective::Latency).rank(&[]),
        Err(CircuitError::NoPlan { tried: 0, .. })
    ));
}
