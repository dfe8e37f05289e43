//! What every operation and one bootstrapping leave on twelve sets, from fixed seeds: equal before
//! and after every change that is to change nothing, on every backend and number of threads.
//!
//! A change that means to change bits writes the file anew, by `EVERLEVEL_WRITE_FINGERPRINTS=1
//! cargo test --release -p everlevel --test it nothing_has_changed`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use everlevel::bootstrap_plan;
use everlevel::lab::{Arithmetic, Evaluator, NoOp, PlainModulus};
use everlevel::{
    Backend, Ciphertext, Form, GaloisElement, KeyPlan, Keys, NextUse, OptIn, Params, ParamsSpec,
    Plaintext, PublicKey, SecretKey, ServerKeys,
};
use everlevel_circuit::bootstrap::{Bootstrapper, StageReport};
use everlevel_gpu::Gpu;
use everlevel_ring::Engine;
use everlevel_scheme::params::spec;
use everlevel_scheme::spec::{Assumption, BootstrapMode, BootstrapSpec, SecretKind};
use everlevel_scheme::{DiagonalValues, PeriodicSlots};
use everlevel_testing::Naive;
use everlevel_testing::fingerprints::{Operations, digest};
use everlevel_wire::{Metadata, ParamsId, ciphertexts, public_key, secret_key, server_keys};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Two rows of slots and one row; BGV and BFV, products of BFV by way of BGV or not; NTRU.
const NAMED: [&str; 9] = [
    "insecure_bgv-257-n8",
    "insecure_bgv-127-n8",
    "insecure_bgv-65537-n11",
    "insecure_bgv-786433-n11",
    "insecure_bfv-257-n8",
    "insecure_bfv-127e2-n8",
    "insecure_bfv-65537-n11",
    "insecure_ltv-257-n8",
    "insecure_yashe-257-n8",
];

/// (m, p, r, v, bound on the overflow, mode, form): one to three axes, p = 2, prime powers.
const ODD: [(u64, u64, u32, u32, u64, BootstrapMode, Form); 3] = [
    (7 * 13, 127, 1, 1, 20, BootstrapMode::Bypass, Form::Bgv),
    (7 * 13, 17, 2, 2, 20, BootstrapMode::Full, Form::Bfv),
    (3 * 5 * 17, 2, 1, 4, 4, BootstrapMode::Thin, Form::Bgv),
];

/// The sets of degree 2^11, which take most of the time.
const LARGE: [&str; 3] =
    ["insecure_bgv-65537-n11", "insecure_bgv-786433-n11", "insecure_bfv-65537-n11"];

type Lines = BTreeMap<String, String>;

fn is_small(spec: &ParamsSpec) -> bool {
    !LARGE.contains(&spec.name.as_str())
}

/// Those of the twelve sets that are wanted.
fn sets(backend: Backend, wanted: impl Fn(&ParamsSpec) -> bool) -> Vec<Params> {
    let odd =
        ODD.map(|(index, plain_prime, plain_exponent, digits, bound, mode, form)| ParamsSpec {
            name: format!("insecure_{plain_prime}-m{index}"),
            index,
            plain_prime,
            plain_exponent,
            base_bits: 50,
            words: 26,
            fine_bits: vec![46, 42, 38],
            special: 4,
            digit_size: 4,
            form,
            assumption: Assumption::Rlwe,
            secret: SecretKind::UniformTernary,
            bootstrap: Some(BootstrapSpec {
                overflow_bound: Some(bound),
                digits: Some(digits),
                mode: Some(mode),
                ..BootstrapSpec::encapsulated(2)
            }),
            ..spec("insecure_bgv-257-n8").unwrap()
        });
    let named = NAMED.map(|name| spec(name).unwrap());
    let all = named.into_iter().chain(odd).filter(wanted);
    all.map(|spec| Params::with_backend(spec, OptIn::InsecureAllowFailures, backend).unwrap())
        .collect()
}

fn bytes_digest(bytes: Result<impl AsRef<[u8]>, impl std::fmt::Debug>) -> String {
    format!("{:016x}", digest(bytes.unwrap().as_ref()))
}

/// The polynomials and the public data.
fn ciphertext_digest(x: &Ciphertext) -> u64 {
    let m = x.meta();
    digest(format!("{:x} {} {}", x.fingerprint(), m.factor, m.depth).as_bytes())
}

/// Two automorphisms with keys at every level.
fn automorphisms(params: &Params) -> [GaloisElement; 2] {
    let shape = params.slot_shape();
    match shape.axes() {
        None => [shape.rotation(1), shape.rotation(3)],
        Some(_) => [2, 4].map(|g| {
            let other = if params.ring().index() % 2 == 1 { g } else { g + 1 };
            GaloisElement::new(params.ring().index(), other).unwrap()
        }),
    }
}

fn diagonal(params: &Params) -> DiagonalValues {
    let shape = params.slot_shape();
    let t = params.plain_modulus();
    match shape.axes() {
        None => DiagonalValues::Periodic(PeriodicSlots {
            period: 4,
            values: (0..8).map(|i| (11 * i + 2) % t).collect(),
        }),
        Some(_) => {
            let last = shape.dimensions().last().unwrap().size;
            let count = last * shape.degree_of_slot();
            DiagonalValues::LastDimensions((0..count as u64).map(|i| (5 * i + 1) % t).collect())
        }
    }
}

/// The plan of one bootstrapping and its keys, by a dry run.
fn bootstrap_keys(params: &Params, message: &Plaintext) -> KeyPlan {
    let scheme = NoOp::new(params, 1);
    let plan = bootstrap_plan(params).unwrap();
    let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
    bootstrapper.bootstrap(&scheme, &scheme.encrypt(message).unwrap()).unwrap();
    scheme.key_plan()
}

/// The lines of a parameter set, operations and bootstrapping computed on an engine that may hold
/// `key_bytes` of keys.
fn fingerprints<E: Engine>(params: &Params, engine: Arc<E>, key_bytes: u64) -> Lines {
    let mut rng = ChaCha20Rng::seed_from_u64(params.degree() as u64 ^ params.plain_modulus() << 32);
    let t = params.plain_modulus();
    let [x, y] = [3, 7].map(|k| {
        let values: Vec<u64> = (0..params.slots() as u64).map(|i| (k * i * i + i) % t).collect();
        Plaintext::encode(params, &values).unwrap()
    });
    let gs = automorphisms(params);
    let top = params.chain().top();
    let mut plan = KeyPlan::relinearization(params);
    gs.iter().for_each(|&g| plan.add_galois(params, g, top));
    let bootstraps = params.spec().bootstrap.is_some();
    if bootstraps {
        plan = plan.merge(&bootstrap_keys(params, &x));
    }

    let secret = SecretKey::generate(params, &mut rng);
    let public = PublicKey::generate(&secret, &mut rng);
    let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
    let none = Metadata::new();
    let mut lines = Lines::new();
    let mut add = |name: &str, line: String| {
        assert!(lines.insert(name.into(), line).is_none(), "{name} twice");
    };
    add("00 parameter id", ParamsId::of(params).to_string());
    add("01 secret key", bytes_digest(secret_key::expose_to_bytes(&secret, &none)));
    add("02 public key", bytes_digest(public_key::to_bytes(&public, &none)));
    add("03 server keys", bytes_digest(server_keys::to_bytes(&keys, &none)));

    // With the keys of a server, for which the library has the evaluator compiled.
    let scheme = Evaluator::with_engine(Keys::from(keys), engine, key_bytes);
    let a = secret.encrypt(&x, &mut rng).unwrap();
    let b = public.encrypt(&y, &mut rng).unwrap();
    add("04 bytes of ciphertexts", bytes_digest(ciphertexts::to_bytes(params, &[&a, &b], &none)));
    let compact = a.compact_for_decryption(params).unwrap();
    let words: Vec<u8> =
        compact.components().iter().flatten().flat_map(|w| w.to_le_bytes()).collect();
    add("05 compact", bytes_digest(Ok::<_, ()>(words)));
    let (a, b) = (scheme.upload(&a).unwrap(), scheme.upload(&b).unwrap());
    let operations = Operations {
        scheme: &scheme,
        inputs: [&a, &b],
        automorphisms: &gs,
        diagonal: diagonal(params),
        digest: &|x| ciphertext_digest(&scheme.download(x).unwrap()),
    };
    for (i, (name, line)) in operations.fingerprints().into_iter().enumerate() {
        add(&format!("{:02} {name}", 10 + i), line);
    }
    add("90 mul_plain", operations.line(&scheme.mul_plain(&a, &y).unwrap()));
    let converted =
        scheme.convert(&a, if a.meta().form == Form::Bgv { Form::Bfv } else { Form::Bgv });
    add("91 convert", operations.line(&converted));
    let cost = scheme.cost();
    add("92 cost of the operations", format!("{cost:?}"));
    if bootstraps {
        let bootstrapper = Bootstrapper::new(&scheme, bootstrap_plan(params).unwrap()).unwrap();
        let product = scheme.mul(&a, &b, NextUse::Keep).unwrap();
        let mut stages: Vec<StageReport> = Vec::new();
        let fresh = bootstrapper.bootstrap_observed(&scheme, &product, &mut stages).unwrap();
        add("93 bootstrapping", operations.line(&fresh));
        for (i, s) in stages.iter().enumerate() {
            let line = format!("{:?} {:?} {:016x}", s.stage, s.level_after, s.noise_bits.to_bits());
            add(&format!("94 stage {i:02}"), line);
        }
        add("95 cost of bootstrapping", format!("{:?}", scheme.cost() - cost));
        let expected = x.mul(&y, params).unwrap();
        let fresh = scheme.download(&fresh).unwrap();
        assert_eq!(secret.decrypt(&fresh).unwrap(), expected, "{}", params.name());
    }
    assert_eq!(scheme.resident_key_bytes() > 0, E::RESIDENT, "{}", params.name());
    lines
}

fn all_fingerprints(sets: &[Params]) -> BTreeMap<String, Lines> {
    let lines = |params: &Params| fingerprints(params, params.shared_cpu(), 0);
    sets.iter().map(|params| (params.name().into(), lines(params))).collect()
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data/fingerprints.json"].iter().collect()
}

fn stored() -> BTreeMap<String, Lines> {
    serde_json::from_slice(&std::fs::read(path()).unwrap()).unwrap()
}

fn assert_stored(found: &BTreeMap<String, Lines>) {
    let stored = stored();
    for (set, lines) in found {
        assert!(lines.keys().eq(stored[set].keys()), "{set}: {:?}", lines.keys());
        for (name, line) in lines {
            assert_eq!(*line, stored[set][name], "{set}: {name}");
        }
    }
}

#[test]
fn nothing_has_changed() {
    let found = all_fingerprints(&sets(Backend::detect(), |_| true));
    if std::env::var_os("EVERLEVEL_WRITE_FINGERPRINTS").is_some() {
        std::fs::create_dir_all(path().parent().unwrap()).unwrap();
        let mut text = serde_json::to_string_pretty(&found).unwrap();
        text.push('\n');
        std::fs::write(path(), text).unwrap();
        return;
    }
    assert!(found.keys().eq(stored().keys()), "sets: {:?}", found.keys());
    assert_stored(&found);
}

/// One backend after the other in this process, each with a number of threads of its own; `wanted`
/// is also given the number of the backend, and wants that many sets of each.
fn on_every_backend(wanted: impl Fn(usize, &ParamsSpec) -> bool, count: usize) {
    for (i, backend) in Backend::available().into_iter().enumerate() {
        let sets = sets(backend, |spec| wanted(i, spec));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(i + 1).build().unwrap();
        let found = pool.install(|| all_fingerprints(&sets));
        assert_eq!(found.len(), count, "{backend}: {:?}", found.keys());
        assert_stored(&found);
    }
}

/// All small sets, and a large one: another one on each backend. The best backend has all of them
/// in `nothing_has_changed`.
#[test]
fn on_every_backend_and_number_of_threads() {
    on_every_backend(|i, spec| is_small(spec) || spec.name == LARGE[i % LARGE.len()], 10);
}

#[test]
#[ignore = "every set on every backend: half a minute"]
fn on_every_backend_in_full() {
    on_every_backend(|_, _| true, 12);
}

/// Operations and bootstrapping ask an engine for nothing but what the trait says: the slowest one,
/// with memory of its own and room for a few keys, leaves the same bits. It counts other
/// transforms. `bootstraps` of the sets bootstrap.
fn on_naive(wanted: impl Fn(&ParamsSpec) -> bool, bootstraps: usize) {
    let stored = stored();
    let mut compared = 0;
    for params in sets(Backend::detect(), wanted) {
        let engine = Arc::new(Naive::new(params.ring().clone()).unwrap());
        let found = fingerprints(&params, engine, 1 << 20);
        for (name, line) in found.iter().filter(|(name, _)| !name.contains("cost of")) {
            assert_eq!(*line, stored[params.name()][name], "{}: {name}", params.name());
        }
        compared += usize::from(found.contains_key("93 bootstrapping"));
    }
    assert_eq!(compared, bootstraps, "sets that bootstrap");
}

/// In rings of a power of two BGV with two rows, BFV with one row and a prime power, and NTRU;
/// those of odd index.
#[test]
fn on_an_engine_with_memory_of_its_own() {
    let others = ["insecure_bgv-127-n8", "insecure_bfv-257-n8"];
    on_naive(|spec| is_small(spec) && !others.contains(&spec.name.as_str()), 5);
}

#[test]
#[ignore = "the other small sets, too: some ten seconds"]
fn on_an_engine_with_memory_of_its_own_in_full() {
    on_naive(is_small, 7);
}

/// The same on a CUDA device, or on the emulated one; `count` of the wanted sets have an index that
/// is a power of two, as devices need.
fn on_device(wanted: impl Fn(&ParamsSpec) -> bool, count: usize) {
    let stored = stored();
    let wanted = |spec: &ParamsSpec| spec.index.is_power_of_two() && wanted(spec);
    let sets = sets(Backend::detect(), wanted);
    assert_eq!(sets.len(), count);
    for params in sets {
        let gpu = match Gpu::new(params.ring().clone(), 0) {
            Err(error) if error.code() == "gpu.none" => return println!("skipped: {error}"),
            gpu => gpu.unwrap(),
        };
        let found = fingerprints(&params, Arc::new(gpu), u64::MAX);
        for (name, line) in found.iter().filter(|(name, _)| !name.contains("cost of")) {
            assert_eq!(*line, stored[params.name()][name], "{}: {name}", params.name());
        }
    }
}

/// The small sets, and a large one with BFV: programs of `engines` compute on one with BGV.
#[test]
fn on_a_cuda_device() {
    on_device(|spec| is_small(spec) || spec.name == LARGE[2], 7);
}

#[test]
#[ignore = "every set: half a minute on the emulated device"]
fn on_a_cuda_device_in_full() {
    on_device(|_| true, 9);
}
