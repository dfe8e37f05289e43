//! Each version of the format as it was first written: these files are read for ever. `cargo test
//! -p everlevel-ltv golden -- --ignored` wrote those of the version that is written.

use std::fs;
use std::path::PathBuf;

use everlevel_ltv::wire::{ciphertexts, eval_keys, params, public_key, secret_key};
use everlevel_ltv::{KeyForm, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey};
use everlevel_ring::GaloisElement;
use everlevel_scheme::{Automorphisms, Level, OptIn, Plaintext};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{BoundPolicy, FORMAT_VERSION, Metadata, ReadOptions, inspect};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const SET: &str = "insecure_ltv-m255";

fn path(version: u16, kind: &str) -> PathBuf {
    let directory = format!("tests/golden/v{version}");
    [env!("CARGO_MANIFEST_DIR"), &directory, &format!("{SET}.{kind}")].iter().collect()
}

fn stored(version: u16, kind: &str) -> Vec<u8> {
    let path = path(version, kind);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn metadata(version: u16) -> Metadata {
    Metadata::from([
        ("layout".into(), "coefficients".into()),
        ("written by".into(), format!("format {version}")),
    ])
}

fn message(set: &LtvParams) -> Plaintext {
    set.from_coefficients((0..set.degree() as u64).map(|i| i / 3 % 2).collect()).unwrap()
}

#[test]
#[ignore = "writes the stored files: run once for each version of the format"]
fn write_golden_files() {
    let set = LtvParams::named(SET, OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2026);
    let secret = LtvSecretKey::generate(&set, &mut rng);
    let g = GaloisElement::new(255, 2).unwrap();
    let keys = LtvEvalKeys::generate(&secret, &[g], KeyForm::Polynomial, &mut rng);
    let x = secret.encrypt_at(&message(&set), Level(2), &mut rng).unwrap();
    fs::create_dir_all(path(FORMAT_VERSION, "params").parent().unwrap()).unwrap();
    let write = |kind: &str, bytes: Vec<u8>| {
        write_file(&path(FORMAT_VERSION, kind), &bytes, Existing::Replace).unwrap()
    };
    write("params", params::to_bytes(&set, &metadata(FORMAT_VERSION)).unwrap());
    write(
        "secret_key",
        secret_key::expose_to_bytes(&secret, &metadata(FORMAT_VERSION)).unwrap().to_vec(),
    );
    write("public_key", public_key::to_bytes(secret.public(), &metadata(FORMAT_VERSION)).unwrap());
    write("eval_keys", eval_keys::to_bytes(&keys, &metadata(FORMAT_VERSION)).unwrap());
    write("ciphertexts", ciphertexts::to_bytes(&set, &[x], &metadata(FORMAT_VERSION)).unwrap());
}

/// Nothing here has an owner, so version 1 asks for no option.
#[test]
fn every_version_is_read_and_the_last_one_written_again_byte_by_byte() {
    (1..=FORMAT_VERSION).for_each(read_version);
}

fn read_version(version: u16) {
    let stored = |kind: &str| stored(version, kind);
    let same = |again: &[u8], bytes: &[u8]| version < FORMAT_VERSION || again == bytes;
    let options = ReadOptions::with_bounds(BoundPolicy::Stated);
    let bytes = stored("params");
    let (set, found) = params::from_bytes(&bytes, OptIn::InsecureResearch, &options).unwrap();
    assert_eq!((set.name(), &found), (SET, &metadata(version)));
    assert!(same(&params::to_bytes(&set, &found).unwrap(), &bytes));
    let bytes = stored("secret_key");
    let (secret, found) = secret_key::from_bytes(&set, &bytes, &options).unwrap();
    assert!(same(&secret_key::expose_to_bytes(&secret, &found).unwrap(), &bytes));
    let bytes = stored("public_key");
    let (public, found) = public_key::from_bytes(&set, &bytes, &options).unwrap();
    assert!(same(&public_key::to_bytes(&public, &found).unwrap(), &bytes));
    assert!(same(&public_key::to_bytes(secret.public(), &found).unwrap(), &bytes));
    let bytes = stored("ciphertexts");
    let (xs, found) = ciphertexts::from_bytes(&set, &bytes, &options).unwrap();
    assert!(same(&ciphertexts::to_bytes(&set, &xs, &found).unwrap(), &bytes));
    assert_eq!(secret.decrypt(&xs[0]).unwrap(), message(&set));
    let bytes = stored("eval_keys");
    let (keys, found) =
        eval_keys::from_bytes(&set, KeyForm::Evaluations, &bytes, &options).unwrap();
    assert!(same(&eval_keys::to_bytes(&keys, &found).unwrap(), &bytes));
    let evaluator = LtvEvaluator::new(keys).unwrap();
    let g = GaloisElement::new(255, 2).unwrap();
    let rotated = secret.decrypt(&evaluator.apply_galois(&xs[0], g).unwrap()).unwrap();
    assert_eq!(
        rotated.coefficients(),
        set.plain().unwrap().galois(message(&set).coefficients(), g, 1)
    );
}

/// The id of parameters, computed by hand as docs/format.md has it.
#[test]
fn the_id_is_that_of_the_json() {
    let set = LtvParams::named(SET, OptIn::InsecureResearch).unwrap();
    let json = set.spec().canonical_json();
    let id = set.id().0;
    assert_eq!(id, blake3::hash(json.as_bytes()).as_bytes()[..16]);
    let bytes = stored(FORMAT_VERSION, "params");
    assert!(bytes.ends_with(json.as_bytes()) && bytes[16..32] == id);
}

/// The container knows the kinds by number and name.
#[test]
fn every_kind_is_named() {
    let options = ReadOptions::default();
    let found = ["params", "secret_key", "public_key", "eval_keys", "ciphertexts"].map(|kind| {
        let kind = inspect(&stored(FORMAT_VERSION, kind), &options).unwrap().kind;
        (kind.number(), kind.to_string())
    });
    let names = ["parameters", "a secret key", "a public key", "evaluation keys", "ciphertexts"];
    let expected = names.map(|name| format!("{name} of LTV over prime powers"));
    assert_eq!(found, std::array::from_fn(|i| (8 + i as u16, expected[i].clone())));
}
