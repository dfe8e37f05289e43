//! Bytes from somebody else: every one of them flipped, cut at every length, and random changes
//! with checksums that match.

#[path = "../../../../fuzz/src/changes.rs"]
mod changes;
#[path = "../../../../fuzz/src/corpus.rs"]
mod corpus;
#[path = "../../../../fuzz/src/objects/mod.rs"]
pub mod fuzz;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use changes::changed;
use everlevel_scheme::Params;
use everlevel_wire::{
    BoundPolicy, FORMAT_VERSION, Manifest, ReadOptions, WireError, ciphertexts, columns, params,
    plaintexts, product_results, products, public_key, results, secret_key, server_keys, uploads,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const DIRECTORY: &str = env!("CARGO_MANIFEST_DIR");

/// The files of a directory, by name.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut out: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
        })
        .collect();
    out.sort();
    assert!(!out.is_empty());
    out
}

/// The stored objects of a version of the format.
fn golden(version: u16) -> Vec<(String, Vec<u8>)> {
    files(&Path::new(DIRECTORY).join(format!("tests/golden/v{version}")))
}

/// Reads an object as what its name says.
fn read(set: &Params, name: &str, bytes: &[u8]) -> Result<(), WireError> {
    let options = ReadOptions::with_bounds(BoundPolicy::Stated).allowing_unknown_owner(true);
    match name.rsplit('.').next().unwrap() {
        "params" => params::spec_from_bytes(bytes, &options).map(drop),
        "secret_key" => secret_key::from_bytes(set, bytes, &options).map(drop),
        "public_key" => public_key::from_bytes(set, bytes, &options).map(drop),
        "server_keys" => server_keys::from_bytes(set, bytes, &options).map(drop),
        "plaintexts" => plaintexts::from_bytes(set, bytes, &options).map(drop),
        "ciphertexts" => ciphertexts::from_bytes(set, bytes, &options).map(drop),
        "columns" | "indexed_columns" => columns::from_bytes(set, bytes, &options).map(drop),
        "product_results" => product_results::from_bytes(set, bytes, &options).map(drop),
        "column_results" => columns::results_from_bytes(set, bytes, &options).map(drop),
        "products" => products::from_bytes(set, bytes, &options).map(drop),
        "results" => results::from_bytes(set, bytes, &options).map(drop),
        "upload" => uploads::from_bytes(set, bytes, &options).map(drop),
        "manifest" => {
            Manifest::from_bytes(bytes, &crate::common::manifest_key(), &options).map(drop)
        }
        other => panic!("no kind of object: {other}"),
    }
}

static ODD: LazyLock<[Params; 2]> = LazyLock::new(crate::common::odd_sets);

fn set_of(name: &str) -> Params {
    let set = name.rsplit_once('.').unwrap().0;
    let odd = ODD.iter().find(|known| known.name() == set);
    odd.cloned().unwrap_or_else(|| crate::common::named(set))
}

#[test]
fn every_flipped_byte_is_found() {
    for (name, bytes) in
        golden(FORMAT_VERSION).iter().filter(|(name, _)| !name.starts_with("insecure_bfv"))
    {
        let set = set_of(name);
        read(&set, name, bytes).unwrap();
        let mut damaged = bytes.clone();
        // Of long objects all of header and index, and of the records one byte in 61: of a byte
        // there one bit or all of them, in turn.
        let step = if bytes.len() > 8192 { 61 } else { 1 };
        let places = (0..bytes.len()).filter(|at| *at < 2048 || at % step == 0);
        for (number, at) in places.enumerate() {
            let all = [0x01, 0xff];
            let changes = if at < 2048 { &all[..] } else { &all[number % 2..][..1] };
            for &change in changes {
                damaged[at] ^= change;
                let found = read(&set, name, &damaged).unwrap_err();
                assert!(!matches!(found, WireError::Scheme(_)), "{name}, byte {at}: {found}");
                damaged[at] ^= change;
            }
        }
    }
}

#[test]
fn every_truncation_is_found() {
    for (name, bytes) in
        golden(FORMAT_VERSION).iter().filter(|(name, _)| !name.starts_with("insecure_bfv"))
    {
        let set = set_of(name);
        for length in 0..bytes.len() {
            let found = read(&set, name, &bytes[..length]).unwrap_err();
            assert_eq!(found.code(), "wire.truncated", "{name}, {length} bytes");
        }
        assert_eq!(
            read(&set, name, &[&bytes[..], &[0]].concat()).unwrap_err().code(),
            "wire.trailing"
        );
    }
}

/// How many objects the bytes were.
fn fuzz_all(bytes: &[u8]) -> usize {
    fuzz::parse(bytes);
    fuzz::compute(bytes);
    fuzz::params(bytes);
    fuzz::conform(bytes)
}

#[test]
#[ignore = "writes the stored objects that fuzzing begins with"]
fn write_seeds() {
    corpus::write("objects", &fuzz::seeds().unwrap());
}

#[test]
fn fuzz_targets_pass_the_corpus() {
    let seeds = corpus::read("objects");
    let mut written = fuzz::seeds().unwrap();
    written.sort();
    assert!(seeds == written, "the seeds are not what the format writes: run write_seeds");
    assert!(seeds.iter().all(|(name, bytes)| fuzz_all(bytes) > 0 || panic!("{name} is not read")));
    // Inputs of all targets that reached code which no other did.
    let kept = corpus::read("found");
    let read = kept.iter().filter(|(_, bytes)| fuzz_all(bytes) > 0).count();
    assert!(read > 20, "{read} of {} inputs are objects", kept.len());
}

#[test]
fn fuzz_targets_pass_random_changes() {
    random_changes(17, 40);
}

#[test]
#[ignore = "many more random changes: two minutes"]
fn fuzz_targets_pass_many_random_changes() {
    random_changes(18, 8000);
}

fn random_changes(seed: u64, rounds: usize) {
    let corpus = corpus::read("objects");
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut accepted = 0;
    for round in 0..rounds {
        for (name, bytes) in &corpus {
            let mutant = changed(bytes, &mut rng);
            let outcome = std::panic::catch_unwind(|| fuzz_all(&mutant));
            accepted +=
                outcome.unwrap_or_else(|_| panic!("{name}, round {round}: {mutant:?}")).min(1);
        }
    }
    // Changes of records that checksums do not give away are objects, too: the third depth is
    // reached.
    assert!(accepted * 20 > rounds * corpus.len(), "{accepted} mutants were read");
}

/// The unchanged objects with their checksums computed anew are the same: what the random changes
/// are sealed with is right.
#[test]
fn sealing_is_right() {
    for (name, bytes) in golden(1).into_iter().chain(golden(2)) {
        assert!(fuzz::resealed(&bytes).unwrap() == bytes, "{name}");
        let mut damaged = bytes.clone();
        damaged[50] ^= 1;
        assert!(fuzz::resealed(&damaged).unwrap() == bytes, "{name}");
    }
}
