//! What every operation of LTV over prime powers leaves on two sets, from fixed seeds: equal before
//! and after every change that is to change nothing, on every backend and number of threads.
//!
//! A change that means to change bits writes the file anew, by
//! `EVERLEVEL_WRITE_FINGERPRINTS=1 cargo test --release -p everlevel-ltv fingerprints`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use everlevel_ltv::wire::{ciphertexts, eval_keys, public_key, secret_key};
use everlevel_ltv::{
    KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey, LtvSpec,
};
use everlevel_ring::{Backend, GaloisElement};
use everlevel_scheme::{Arithmetic, DiagonalValues, Level, OptIn, Scheme};
use everlevel_testing::fingerprints::{Operations, digest};
use everlevel_wire::Metadata;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Hybrid key switching and binary digits, and both forms of keys.
const SETS: [(&str, KeyForm); 2] = [
    ("insecure_ltv-m255", KeyForm::Evaluations),
    ("insecure_ltv-m255-binary", KeyForm::Polynomial),
];

type Lines = BTreeMap<String, String>;

fn bytes_digest(bytes: Result<impl AsRef<[u8]>, impl std::fmt::Debug>) -> String {
    format!("{:016x}", digest(bytes.unwrap().as_ref()))
}

/// The polynomial and the public data.
fn ciphertext_digest(x: &LtvCiphertext) -> u64 {
    let m = x.meta();
    digest(format!("{:x} {} {}", x.fingerprint(), m.factor, m.depth).as_bytes())
}

fn diagonal(scheme: &LtvEvaluator) -> DiagonalValues {
    let shape = scheme.slot_shape();
    let count = shape.dimensions().last().unwrap().size * shape.degree_of_slot();
    DiagonalValues::LastDimensions((0..count as u64).map(|i| (i * i + i / 3) % 2).collect())
}

fn fingerprints(name: &str, form: KeyForm, backend: Backend) -> Lines {
    let spec = LtvSpec::named(name).unwrap();
    let params = LtvParams::with_backend(spec, OptIn::InsecureResearch, backend).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(params.degree() as u64);
    let slots = params.plain().unwrap().shape().slots() as u64;
    let [x, y] =
        [3, 7].map(|k| params.encode(&(0..slots).map(|i| i * i / k % 2).collect::<Vec<_>>()));
    let [x, y] = [x.unwrap(), y.unwrap()];
    let gs = [2, 4].map(|g| GaloisElement::new(params.spec().index, g).unwrap());
    let secret = LtvSecretKey::generate(&params, &mut rng);
    let keys = LtvEvalKeys::generate(&secret, &gs, form, &mut rng);
    let none = Metadata::new();
    let mut lines = Lines::new();
    let mut add = |name: &str, line: String| {
        assert!(lines.insert(name.into(), line).is_none(), "{name} twice");
    };
    add("00 parameter id", params.id().to_string());
    add("01 secret key", bytes_digest(secret_key::expose_to_bytes(&secret, &none)));
    add("02 public key", bytes_digest(public_key::to_bytes(secret.public(), &none)));
    add("03 evaluation keys", bytes_digest(eval_keys::to_bytes(&keys, &none)));

    let scheme = LtvEvaluator::new(keys).unwrap();
    let a = secret.encrypt(&x, &mut rng).unwrap();
    let b = secret.encrypt(&y, &mut rng).unwrap();
    let low = secret.encrypt_at(&x, Level(1), &mut rng).unwrap();
    let all = [a.clone(), b.clone(), low];
    add("04 bytes of ciphertexts", bytes_digest(ciphertexts::to_bytes(&params, &all, &none)));
    let operations = Operations {
        scheme: &scheme,
        inputs: [&a, &b],
        automorphisms: &gs,
        diagonal: diagonal(&scheme),
        digest: &ciphertext_digest,
    };
    for (i, (name, line)) in operations.fingerprints().into_iter().enumerate() {
        add(&format!("{:02} {name}", 10 + i), line);
    }
    add("90 mul_plain", operations.line(&scheme.mul_plain(&a, &y).unwrap()));
    let relinearized = scheme.keys().reduced(Level(1)).relinearized(all[2].poly());
    let digits: Vec<u8> = relinearized.digits().flatten().flat_map(|d| d.to_le_bytes()).collect();
    add("91 relinearized at level 1", bytes_digest(Ok::<_, ()>(digits)));
    add("92 cost of the operations", format!("{:?}", scheme.cost()));
    add("93 bytes of the keys", scheme.keys().memory_bytes().to_string());
    assert_eq!(secret.decrypt(&a).unwrap(), x, "{name}");
    lines
}

fn all_fingerprints(backend: Backend) -> BTreeMap<String, Lines> {
    SETS.map(|(name, form)| (name.to_string(), fingerprints(name, form, backend))).into()
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data/fingerprints.json"].iter().collect()
}

fn assert_stored(found: &BTreeMap<String, Lines>) {
    let stored = std::fs::read(path()).unwrap();
    let stored: BTreeMap<String, Lines> = serde_json::from_slice(&stored).unwrap();
    assert!(found.keys().eq(stored.keys()), "sets: {:?}", found.keys());
    for (set, lines) in found {
        assert!(lines.keys().eq(stored[set].keys()), "{set}: {:?}", lines.keys());
        for (name, line) in lines {
            assert_eq!(*line, stored[set][name], "{set}: {name}");
        }
    }
}

#[test]
fn nothing_has_changed() {
    let found = all_fingerprints(Backend::detect());
    if std::env::var_os("EVERLEVEL_WRITE_FINGERPRINTS").is_some() {
        std::fs::create_dir_all(path().parent().unwrap()).unwrap();
        let mut text = serde_json::to_string_pretty(&found).unwrap();
        text.push('\n');
        std::fs::write(path(), text).unwrap();
        return;
    }
    assert_stored(&found);
}

/// One after the other in this process, each with a number of threads of its own.
#[test]
fn on_every_backend_and_number_of_threads() {
    for (i, backend) in Backend::available().into_iter().enumerate() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(i + 1).build().unwrap();
        assert_stored(&pool.install(|| all_fingerprints(backend)));
    }
}
