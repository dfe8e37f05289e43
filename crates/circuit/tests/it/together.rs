//! Several ciphertexts bootstrapped together.

use std::sync::Arc;

use everlevel_bgv::{Ciphertext, Evaluator, SecretKey, ServerKeys};
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, StageReport};
use everlevel_circuit::digits::{DigitKind, DigitMethod};
use everlevel_circuit::{CircuitError, Session};
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};
use everlevel_scheme::{
    KeyPlan, Level, NoOp, OptIn, Params, ParamsSpec, PlainModulus, Plaintext, Scheme,
};
use everlevel_testing::toy_spec;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Together they become what they become alone, bit by bit.
pub(crate) fn same_together(
    bootstrapper: &Bootstrapper<Evaluator>,
    scheme: &Evaluator,
    xs: &[&Ciphertext],
) {
    let together = bootstrapper.bootstrap_many(scheme, xs).unwrap();
    assert_eq!(together.len(), xs.len());
    for (x, found) in xs.iter().zip(&together) {
        let alone = bootstrapper.bootstrap(scheme, x).unwrap();
        assert_eq!(alone.fingerprint(), found.fingerprint());
        assert_eq!(alone.meta(), found.meta());
    }
}

struct Fixture {
    params: Params,
    secret: SecretKey,
    rng: ChaCha20Rng,
    scheme: Arc<Evaluator>,
    bootstrapper: Arc<Bootstrapper<Evaluator>>,
}

/// Keys in memory, or with their uniform halves as seeds.
fn fixture(seeded: bool) -> Fixture {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let plan = BootstrapPlan::balanced(params.slots());
    let dry = NoOp::new(&params, 1);
    let plain = Plaintext::encode(&params, &vec![1; params.slots()]).unwrap();
    let foretold = Bootstrapper::new(&dry, plan.clone()).unwrap();
    foretold.bootstrap(&dry, &dry.encrypt_at(&plain, Level(1)).unwrap()).unwrap();
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let secret = SecretKey::generate(&params, &mut rng);
    let keys = dry.key_plan().merge(&KeyPlan::relinearization(&params));
    let keys = match seeded {
        true => ServerKeys::generate_seeded(&secret, &keys, &mut rng, |_, _| ()),
        false => ServerKeys::generate(&secret, &keys, &mut rng, |_, _| ()),
    };
    let scheme = Arc::new(Evaluator::new(keys.unwrap()));
    let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
    Fixture { params, secret, rng, scheme, bootstrapper }
}

impl Fixture {
    /// An exhausted encryption of a constant.
    fn exhausted(&mut self, value: u64) -> Ciphertext {
        let values = vec![value; self.params.slots()];
        let plain = Plaintext::encode(&self.params, &values).unwrap();
        self.secret.encrypt_at(&plain, Level(1), &mut self.rng).unwrap()
    }

    fn value(&self, x: &Ciphertext) -> u64 {
        self.secret.decrypt(x).unwrap().decode(&self.params).unwrap()[0]
    }
}

#[test]
fn any_number_of_ciphertexts() {
    for seeded in [false, true] {
        let mut f = fixture(seeded);
        let xs: Vec<Ciphertext> = (0..6).map(|value| f.exhausted(value)).collect();
        for count in [0, 1, 5, 6] {
            let xs: Vec<&Ciphertext> = xs[..count].iter().collect();
            let before = f.scheme.cost();
            let mut reports: Vec<StageReport> = Vec::new();
            let found =
                f.bootstrapper.bootstrap_many_observed(&f.scheme, &xs, &mut reports).unwrap();
            let values: Vec<u64> = found.iter().map(|x| f.value(x)).collect();
            assert_eq!(values, (0..count as u64).collect::<Vec<_>>());
            // Each of them takes its key switches; the stages are reported once.
            let switches = (f.scheme.cost() - before).key_switches as usize;
            let alone = f.bootstrapper.costs().key_switches + 1;
            assert_eq!(switches, count * alone);
            assert_eq!(reports.is_empty(), count == 0);
        }
        same_together(&f.bootstrapper, &f.scheme, &xs.iter().collect::<Vec<_>>());
    }
}

/// In the thin mode on a grid the message and the overflow, which have different bounds, are moved
/// to the slots together, whatever the groups of the map are.
#[test]
fn messages_and_overflows_meet_at_one_level() {
    for p in [257, 12289] {
        let bootstrap =
            BootstrapSpec { mode: Some(BootstrapMode::Thin), ..BootstrapSpec::encapsulated(10) };
        let spec = ParamsSpec { bootstrap: Some(bootstrap), ..toy_spec(256, p, 1) };
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let stages: usize = BootstrapPlan::balanced(params.slots()).coeff_to_slot.iter().sum();
        let splits = (1..stages).flat_map(|a| (a..stages).map(move |b| (a, b)));
        for (a, b) in splits {
            let sizes = [a, b - a, stages - b].into_iter().filter(|size| *size > 0);
            let mut plan = BootstrapPlan::balanced(params.slots());
            plan.mode = BootstrapMode::Thin;
            plan.coeff_to_slot = sizes.collect();
            plan.digits = DigitMethod::new(DigitKind::Global);
            plan.steps.max_keys = 64;
            let scheme = NoOp::new(&params, 1);
            let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
            let values: Vec<u64> = (0..params.slots() as u64).collect();
            let plain = Plaintext::encode(&params, &values).unwrap();
            let fresh = bootstrapper.bootstrap(&scheme, &scheme.encrypt(&plain).unwrap());
            let found = scheme.decrypt(&fresh.unwrap()).unwrap().decode(&params).unwrap();
            assert_eq!(found, values, "{p}, groups split at {a} and {b}");
        }
    }
}

#[test]
fn one_that_cannot_be_bootstrapped_is_an_error() {
    let mut f = fixture(false);
    let (x, y) = (f.exhausted(1), f.exhausted(2));
    let y = f.scheme.extend_plain_modulus(&y, 2).unwrap();
    let error = f.bootstrapper.bootstrap_many(&f.scheme, &[&x, &y]).err().unwrap();
    assert_eq!(error, CircuitError::ExponentMismatch { expected: 1, found: 2 });
}

#[test]
fn a_session_bootstraps_each_value_once() {
    let mut f = fixture(false);
    let session = Session::new(f.scheme.clone(), f.bootstrapper.clone());
    let values: Vec<_> = (0..5).map(|value| session.share(f.exhausted(value))).collect();
    let before = f.scheme.capacity_bits(&values[0].get());
    let clone = values[0].clone();
    let mut all: Vec<_> = values.iter().collect();
    all.push(&clone);
    session.refresh_all(&all).unwrap();
    assert_eq!(session.bootstraps(), 5);
    for (k, x) in values.iter().enumerate() {
        assert!(f.scheme.capacity_bits(&x.get()) > before);
        assert_eq!(f.value(&x.get()), k as u64);
    }
    let leveled = Session::leveled(f.scheme.clone());
    assert_eq!(leveled.refresh_all(&all).err(), Some(CircuitError::NoBootstrapping));
}
