//! Format version 1 as it was first written: these files are read for ever. `cargo test -p
//! everlevel-wire --test it golden -- --ignored` wrote them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use crate::common::Party;
use everlevel_bgv::keys::EvalKeys;
use everlevel_bgv::{Ciphertext, Evaluator, PublicKey};
use everlevel_ring::GaloisElement;
use everlevel_scheme::{Arithmetic, Automorphisms, KeyPlan, Level, OptIn, Params};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{
    BoundPolicy, FORMAT_VERSION, Manifest, Metadata, ObjectKind, ParamsId, ReadOptions,
    ciphertexts, inspect, params, plaintexts, public_key, results, secret_key, server_keys,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// BGV, BFV and LTV, and the orders of evaluations of every kind of index.
fn sets() -> Vec<Params> {
    let named = ["insecure_bgv-257-n8", "insecure_bfv-257-n8", "insecure_ltv-257-n8"]
        .map(crate::common::named);
    named.into_iter().chain(crate::common::odd_sets()).collect()
}

/// An automorphism of the set that is not the identity.
fn automorphism(set: &Params) -> GaloisElement {
    if set.slot_shape().axes().is_none() {
        set.slot_shape().rotation(1)
    } else {
        GaloisElement::new(set.ring().index(), 7).unwrap()
    }
}

/// The coefficients of the stored message.
fn coefficients(set: &Params) -> Vec<u64> {
    (0..set.degree() as u64).map(|i| (1234567 * i + 9645) % set.plain_modulus()).collect()
}
const KINDS: [(&str, ObjectKind); 7] = [
    ("params", ObjectKind::PARAMS),
    ("secret_key", ObjectKind::SECRET_KEY),
    ("public_key", ObjectKind::PUBLIC_KEY),
    ("server_keys", ObjectKind::SERVER_KEYS),
    ("plaintexts", ObjectKind::PLAINTEXTS),
    ("ciphertexts", ObjectKind::CIPHERTEXTS),
    ("results", ObjectKind::RESULTS),
];

fn path(set: &str, kind: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden/v1", &format!("{set}.{kind}")].iter().collect()
}

fn stored(set: &str, kind: &str) -> Vec<u8> {
    let path = path(set, kind);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn metadata() -> Metadata {
    Metadata::from([
        ("layout".into(), "coefficients".into()),
        ("written by".into(), "format 1".into()),
    ])
}

/// The plan of the stored server keys: few levels, one automorphism, bootstrapping.
fn plan(set: &Params) -> KeyPlan {
    let low = Level(2);
    let mut plan = KeyPlan::relinearization_up_to(set, low);
    plan = plan.merge(&KeyPlan::automorphisms_up_to(set, [automorphism(set)], low));
    plan.bootstrap = set.spec().bootstrap.is_some();
    plan
}

#[test]
#[ignore = "writes the stored files: run once for each version of the format"]
fn write_golden_files() {
    for set in sets() {
        let mut party = Party::of(set, 2026);
        let set = &party.params.name().to_string()[..];
        let (low, message) = (Level(2), party.message(1234567));
        let keys = everlevel_bgv::ServerKeys::generate(
            &party.secret,
            &plan(&party.params),
            &mut party.rng,
            |_, _| (),
        )
        .unwrap();
        let public = PublicKey::generate(&party.secret, &mut party.rng);
        let fresh = party.secret.encrypt_at(&message, low, &mut party.rng).unwrap();
        let switched = Evaluator::new(everlevel_bgv::ServerKeys::empty(&party.params))
            .mod_switch_to(&party.secret.encrypt(&message, &mut party.rng).unwrap(), Level(1))
            .unwrap();
        let compact = fresh.compact_for_decryption(&party.params).unwrap();
        let write = |kind: &str, bytes: Vec<u8>| {
            write_file(&path(set, kind), &bytes, Existing::Replace).unwrap()
        };
        fs::create_dir_all(path(set, "params").parent().unwrap()).unwrap();
        write("params", params::to_bytes(&party.params, &metadata()).unwrap());
        write(
            "secret_key",
            secret_key::expose_to_bytes(&party.secret, &metadata()).unwrap().to_vec(),
        );
        write("public_key", public_key::to_bytes(&public, &metadata()).unwrap());
        write("server_keys", server_keys::to_bytes(&keys, &metadata()).unwrap());
        write(
            "plaintexts",
            plaintexts::to_bytes(&party.params, std::slice::from_ref(&message), &metadata())
                .unwrap(),
        );
        write(
            "ciphertexts",
            ciphertexts::to_bytes(&party.params, &[fresh, switched], &metadata()).unwrap(),
        );
        write("results", results::to_bytes(&party.params, &[compact], &metadata()).unwrap());
    }
}

/// The set whose stored ciphertexts have a stored manifest.
const LISTED: &str = "insecure_bgv-257-n8";

#[test]
#[ignore = "writes the stored manifest: run once for each version of the format"]
fn write_golden_manifest() {
    let mut manifest = Manifest::new(&crate::common::named(LISTED));
    manifest.add(&stored(LISTED, "ciphertexts")).unwrap();
    write_file(
        &path(LISTED, "manifest"),
        &manifest.to_bytes(&crate::common::manifest_key()).unwrap(),
        Existing::Replace,
    )
    .unwrap();
}

#[test]
fn version_1_of_manifests_is_read_and_written_again_byte_by_byte() {
    let (set, bytes) = (crate::common::named(LISTED), stored(LISTED, "manifest"));
    let key = crate::common::manifest_key();
    let manifest = Manifest::from_bytes(&bytes, &key, &ReadOptions::default()).unwrap();
    assert_eq!(manifest.to_bytes(&key).unwrap(), bytes);
    let options = ReadOptions::with_bounds(BoundPolicy::Manifest(Arc::new(manifest)));
    let (xs, _) = ciphertexts::from_bytes(&set, &stored(LISTED, "ciphertexts"), &options).unwrap();
    assert_eq!(xs.iter().map(Ciphertext::level).collect::<Vec<_>>(), [Level(2), Level(1)]);
    let summary = inspect(&bytes, &options).unwrap();
    assert_eq!(
        (summary.kind, summary.params, summary.records),
        (ObjectKind::MANIFEST, ParamsId::of(&set), 1)
    );
    // The tag, computed by hand as docs/format.md has it.
    let derived = blake3::derive_key(
        "everlevel 2026-11-22 tag of manifests of noise bounds, format version 1",
        key.expose_bytes(),
    );
    let covered = [&bytes[..32], &bytes[bytes.len() - (4 + 32 + 4 + 2 * 8)..]].concat();
    let tag = *blake3::keyed_hash(&derived, &covered).as_bytes();
    let at = everlevel_wire::HEADER_BYTES + 4 + 4 + 8 + 16 + 4;
    assert_eq!(bytes[at..at + 32], tag);
}

#[test]
fn version_1_is_read_and_written_again_byte_by_byte() {
    for expected in sets() {
        let name = expected.name();
        let options = ReadOptions::with_bounds(BoundPolicy::Stated);
        let bytes = stored(name, "params");
        let (set, found) = params::from_bytes(&bytes, OptIn::InsecureResearch, &options).unwrap();
        assert_eq!(found, metadata());
        assert!(
            set.same(&expected),
            "{name}: the set is not what it was when version 1 was written"
        );
        assert!(params::to_bytes(&set, &found).unwrap() == bytes);

        let bytes = stored(name, "secret_key");
        let (secret, found) = secret_key::from_bytes(&set, &bytes, &options).unwrap();
        assert!(*secret_key::expose_to_bytes(&secret, &found).unwrap() == bytes);

        let bytes = stored(name, "plaintexts");
        let (messages, found) = plaintexts::from_bytes(&set, &bytes, &options).unwrap();
        assert!(plaintexts::to_bytes(&set, &messages, &found).unwrap() == bytes);
        assert_eq!(messages[0].coefficients(), coefficients(&set));

        let bytes = stored(name, "ciphertexts");
        let (xs, found) = ciphertexts::from_bytes(&set, &bytes, &options).unwrap();
        assert!(ciphertexts::to_bytes(&set, &xs, &found).unwrap() == bytes);
        assert_eq!(xs.iter().map(Ciphertext::level).collect::<Vec<_>>(), [Level(2), Level(1)]);
        // Pins the expansion of seeds, the order of evaluations and the primes of the set.
        assert!(xs.iter().all(|x| secret.decrypt(x).unwrap() == messages[0]), "{name}");

        let bytes = stored(name, "results");
        let (compact, found) = results::from_bytes(&set, &bytes, &options).unwrap();
        assert!(results::to_bytes(&set, &compact, &found).unwrap() == bytes);
        assert!(secret.decrypt_compact(&compact[0]).unwrap() == messages[0]);

        let bytes = stored(name, "public_key");
        let (public, found) = public_key::from_bytes(&set, &bytes, &options).unwrap();
        assert!(public_key::to_bytes(&public, &found).unwrap() == bytes);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        assert!(
            secret.decrypt(&public.encrypt(&messages[0], &mut rng).unwrap()).unwrap()
                == messages[0]
        );

        let bytes = stored(name, "server_keys");
        let (keys, found) = server_keys::from_bytes(&set, &bytes, &options).unwrap();
        assert!(server_keys::to_bytes(&keys, &found).unwrap() == bytes);
        assert_eq!(keys.plan(), plan(&set));
        if let Some(key) = keys.bootstrap().unwrap() {
            let first = secret.decrypt(&key.sparse()[0]).unwrap();
            let t = set.slot_shape().plain_modulus(first.exponent());
            let nonzero = first.coefficients().iter().filter(|x| **x != 0);
            assert!(nonzero.clone().all(|x| [1, t - 1].contains(x)));
            assert_eq!(nonzero.count(), set.spec().bootstrap.as_ref().unwrap().sparse_weight);
        }
        let evaluator = Evaluator::new(keys);
        let g = automorphism(&set);
        let rotated = secret.decrypt(&evaluator.apply_galois(&xs[0], g).unwrap()).unwrap();
        assert_eq!(
            rotated.coefficients(),
            set.plaintext_ring().galois(messages[0].coefficients(), g, 1)
        );

        for (kind, number) in KINDS {
            let summary = inspect(&stored(name, kind), &options).unwrap();
            assert_eq!(
                (summary.kind, summary.params, &summary.metadata),
                (number, ParamsId::of(&set), &metadata())
            );
        }
    }
    assert_eq!(FORMAT_VERSION, 1);
}
