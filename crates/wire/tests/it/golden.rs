//! Each version of the format as it was first written: these files are read for ever. `cargo test
//! -p everlevel-wire --test it golden -- --ignored` wrote those of the version that is written.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use crate::common::Party;
use everlevel_bgv::keys::EvalKeys;
use everlevel_bgv::{Ciphertext, Evaluator, PublicKey};
use everlevel_ring::GaloisElement;
use everlevel_scheme::{Arithmetic, Automorphisms, KeyPlan, Level, OptIn, Params, SchemeError};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{
    BoundPolicy, FORMAT_VERSION, Manifest, Metadata, ObjectKind, ParamsId, ReadOptions,
    ciphertexts, inspect, params, plaintexts, product_results, products, public_key, results,
    secret_key, server_keys,
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

fn path(version: u16, set: &str, kind: &str) -> PathBuf {
    let directory = format!("tests/golden/v{version}");
    [env!("CARGO_MANIFEST_DIR"), &directory, &format!("{set}.{kind}")].iter().collect()
}

fn stored(version: u16, set: &str, kind: &str) -> Vec<u8> {
    let path = path(version, set, kind);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn metadata(version: u16) -> Metadata {
    Metadata::from([
        ("layout".into(), "coefficients".into()),
        ("written by".into(), format!("format {version}")),
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
            write_file(&path(FORMAT_VERSION, set, kind), &bytes, Existing::Replace).unwrap()
        };
        fs::create_dir_all(path(FORMAT_VERSION, set, "params").parent().unwrap()).unwrap();
        write("params", params::to_bytes(&party.params, &metadata(FORMAT_VERSION)).unwrap());
        write(
            "secret_key",
            secret_key::expose_to_bytes(&party.secret, &metadata(FORMAT_VERSION)).unwrap().to_vec(),
        );
        write("public_key", public_key::to_bytes(&public, &metadata(FORMAT_VERSION)).unwrap());
        write("server_keys", server_keys::to_bytes(&keys, &metadata(FORMAT_VERSION)).unwrap());
        write(
            "plaintexts",
            plaintexts::to_bytes(
                &party.params,
                std::slice::from_ref(&message),
                &metadata(FORMAT_VERSION),
            )
            .unwrap(),
        );
        write(
            "ciphertexts",
            ciphertexts::to_bytes(&party.params, &[fresh, switched], &metadata(FORMAT_VERSION))
                .unwrap(),
        );
        write(
            "results",
            results::to_bytes(&party.params, &[compact], &metadata(FORMAT_VERSION)).unwrap(),
        );
    }
}

/// The set whose stored ciphertexts have a stored manifest.
const LISTED: &str = "insecure_bgv-257-n8";

#[test]
#[ignore = "writes the stored manifest: run once for each version of the format"]
fn write_golden_manifest() {
    let mut manifest = Manifest::new(&crate::common::named(LISTED));
    manifest.add(&stored(FORMAT_VERSION, LISTED, "ciphertexts")).unwrap();
    write_file(
        &path(FORMAT_VERSION, LISTED, "manifest"),
        &manifest.to_bytes(&crate::common::manifest_key()).unwrap(),
        Existing::Replace,
    )
    .unwrap();
}

/// Products came with the second version.
#[test]
#[ignore = "writes the stored products: run once for each version of the format"]
fn write_golden_products() {
    let options = ReadOptions::with_bounds(BoundPolicy::Stated);
    for set in sets() {
        let stored = |kind: &str| stored(FORMAT_VERSION, set.name(), kind);
        let (xs, _) = ciphertexts::from_bytes(&set, &stored("ciphertexts"), &options).unwrap();
        let server = Evaluator::new(everlevel_bgv::ServerKeys::empty(&set));
        let square = server.mul_lazy_aligned(&xs[0], &xs[0]).unwrap();
        let bytes = products::to_bytes(&set, &[square], &metadata(FORMAT_VERSION)).unwrap();
        let path = path(FORMAT_VERSION, set.name(), "products");
        write_file(&path, &bytes, Existing::Replace).unwrap();
    }
}

#[test]
fn stored_products_are_read_and_written_again() {
    let options = ReadOptions::with_bounds(BoundPolicy::Stated);
    for set in sets() {
        let stored = |kind: &str| stored(FORMAT_VERSION, set.name(), kind);
        let (secret, _) = secret_key::from_bytes(&set, &stored("secret_key"), &options).unwrap();
        let (messages, _) = plaintexts::from_bytes(&set, &stored("plaintexts"), &options).unwrap();
        let bytes = stored("products");
        let (found, about) = products::from_bytes(&set, &bytes, &options).unwrap();
        assert!(products::to_bytes(&set, &found, &about).unwrap() == bytes, "{}", set.name());
        let expected = messages[0].mul(&messages[0], &set).unwrap();
        assert!(secret.decrypt_product(&found[0]).unwrap() == expected, "{}", set.name());
        assert_eq!(found[0].meta().level, Level(2));
        let summary = inspect(&bytes, &options).unwrap();
        assert_eq!((summary.kind, summary.owner), (ObjectKind::PRODUCTS, Some(secret.id())));
    }
}

/// The stored products, cut.
#[test]
#[ignore = "writes the stored results of products: run once for each version of the format"]
fn write_golden_product_results() {
    let options = ReadOptions::with_bounds(BoundPolicy::Stated);
    for set in sets() {
        let stored = stored(FORMAT_VERSION, set.name(), "products");
        let (found, _) = products::from_bytes(&set, &stored, &options).unwrap();
        let compact = found[0].compact_for_decryption(&set).unwrap();
        let bytes = product_results::to_bytes(&set, &[compact], &metadata(FORMAT_VERSION)).unwrap();
        let path = path(FORMAT_VERSION, set.name(), "product_results");
        write_file(&path, &bytes, Existing::Replace).unwrap();
    }
}

#[test]
fn stored_results_of_products_are_read_and_written_again() {
    let options = ReadOptions::default();
    for set in sets() {
        let stored = |kind: &str| stored(FORMAT_VERSION, set.name(), kind);
        let (secret, _) = secret_key::from_bytes(&set, &stored("secret_key"), &options).unwrap();
        let (messages, _) = plaintexts::from_bytes(&set, &stored("plaintexts"), &options).unwrap();
        let bytes = stored("product_results");
        let (found, about) = product_results::from_bytes(&set, &bytes, &options).unwrap();
        assert!(
            product_results::to_bytes(&set, &found, &about).unwrap() == bytes,
            "{}",
            set.name()
        );
        let expected = messages[0].mul(&messages[0], &set).unwrap();
        assert!(secret.decrypt_compact(&found[0]).unwrap() == expected, "{}", set.name());
        let summary = inspect(&bytes, &options).unwrap();
        assert_eq!((summary.kind, summary.owner), (ObjectKind::PRODUCT_RESULTS, Some(secret.id())));
    }
}

#[test]
fn manifests_of_every_version_are_read() {
    let (set, key) = (crate::common::named(LISTED), crate::common::manifest_key());
    for version in 1..=FORMAT_VERSION {
        let bytes = stored(version, LISTED, "manifest");
        let manifest = Manifest::from_bytes(&bytes, &key, &ReadOptions::default()).unwrap();
        if version == FORMAT_VERSION {
            assert_eq!(manifest.to_bytes(&key).unwrap(), bytes);
        }
        let options = ReadOptions::with_bounds(BoundPolicy::Manifest(Arc::new(manifest)))
            .allowing_unknown_owner(version == 1);
        let listed = stored(version, LISTED, "ciphertexts");
        let (xs, _) = ciphertexts::from_bytes(&set, &listed, &options).unwrap();
        assert_eq!(xs.iter().map(Ciphertext::level).collect::<Vec<_>>(), [Level(2), Level(1)]);
        let summary = inspect(&bytes, &options).unwrap();
        assert_eq!(
            (summary.kind, summary.params, summary.records, summary.version),
            (ObjectKind::MANIFEST, ParamsId::of(&set), 1, version)
        );
        // The tag, computed by hand as docs/format.md has it.
        let derived = blake3::derive_key(
            "everlevel 2026-11-22 tag of manifests of noise bounds, format version 1",
            key.expose_bytes(),
        );
        let owner = if version == 1 { 0 } else { 17 };
        let record = 4 + 32 + owner + 4 + 2 * 8;
        let covered = [&bytes[..32], &bytes[bytes.len() - record..]].concat();
        let tag = *blake3::keyed_hash(&derived, &covered).as_bytes();
        let at = everlevel_wire::HEADER_BYTES + 2 * owner + 4 + 4 + 8 + 16 + 4;
        assert_eq!(bytes[at..at + 32], tag);
    }
}

/// The versions differ in what is around the records, and in what descriptors say.
#[test]
fn records_are_the_same_in_every_version() {
    let records = |version: u16, set: &Params, kind: &str| {
        let bytes = stored(version, set.name(), kind);
        let index = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
        bytes[everlevel_wire::HEADER_BYTES + index..].to_vec()
    };
    for set in sets() {
        for (kind, _) in KINDS {
            assert!(records(1, &set, kind) == records(2, &set, kind), "{}: {kind}", set.name());
        }
    }
}

/// Version 1 names no owner: its keys and ciphertexts are read on request only, its secret keys
/// have their id all the same.
#[test]
fn every_version_is_read_and_the_last_one_written_again_byte_by_byte() {
    for version in 1..=FORMAT_VERSION {
        sets().iter().for_each(|set| read_version(version, set));
    }
    assert_eq!(FORMAT_VERSION, 2);
}

fn read_version(version: u16, expected: &Params) {
    let name = expected.name();
    let asked = ReadOptions::with_bounds(BoundPolicy::Stated);
    let options = asked.clone().allowing_unknown_owner(version == 1);
    let stored = |kind: &str| stored(version, name, kind);
    // Each reader's bytes as they are written again, which version 1 is not.
    let same = |kind: &str, again: Vec<u8>| {
        assert!(version < FORMAT_VERSION || again == stored(kind), "{name}: {kind}");
    };
    let refused = |kind: &str, code: Option<&'static str>| {
        let expected = (version == 1).then_some("wire.unknown-owner");
        assert_eq!(code, expected, "{name}: {kind} of version {version}");
    };
    let (set, found) =
        params::from_bytes(&stored("params"), OptIn::InsecureResearch, &asked).unwrap();
    assert_eq!(found, metadata(version));
    assert!(set.same(expected), "{name}: the set is not what it was when it was written");
    same("params", params::to_bytes(&set, &found).unwrap());

    let (secret, found) = secret_key::from_bytes(&set, &stored("secret_key"), &asked).unwrap();
    same("secret_key", secret_key::expose_to_bytes(&secret, &found).unwrap().to_vec());
    let owner = (version > 1).then_some(secret.id());

    let (messages, found) = plaintexts::from_bytes(&set, &stored("plaintexts"), &asked).unwrap();
    same("plaintexts", plaintexts::to_bytes(&set, &messages, &found).unwrap());
    assert_eq!(messages[0].coefficients(), coefficients(&set));

    let bytes = stored("ciphertexts");
    refused("ciphertexts", ciphertexts::from_bytes(&set, &bytes, &asked).err().map(|e| e.code()));
    let (xs, found) = ciphertexts::from_bytes(&set, &bytes, &options).unwrap();
    same("ciphertexts", ciphertexts::to_bytes(&set, &xs, &found).unwrap());
    assert_eq!(xs.iter().map(Ciphertext::level).collect::<Vec<_>>(), [Level(2), Level(1)]);
    assert!(xs.iter().all(|x| x.owner() == owner));
    // Pins the expansion of seeds, the order of evaluations and the primes of the set.
    assert!(xs.iter().all(|x| secret.decrypt(x).unwrap() == messages[0]), "{name}");

    let bytes = stored("results");
    refused("results", results::from_bytes(&set, &bytes, &asked).err().map(|e| e.code()));
    let (compact, found) = results::from_bytes(&set, &bytes, &options).unwrap();
    same("results", results::to_bytes(&set, &compact, &found).unwrap());
    // Without an owner, and in so small a ring, nothing would tell a wrong key.
    let opened = secret.decrypt_compact(&compact[0]);
    match owner {
        Some(_) => assert!(opened.unwrap() == messages[0]),
        None => assert!(matches!(opened, Err(SchemeError::UnknownOwner { .. })), "{name}"),
    }
    assert_eq!(compact[0].owner(), owner);

    let bytes = stored("public_key");
    refused("public key", public_key::from_bytes(&set, &bytes, &asked).err().map(|e| e.code()));
    let (public, found) = public_key::from_bytes(&set, &bytes, &options).unwrap();
    same("public_key", public_key::to_bytes(&public, &found).unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let fresh = public.encrypt(&messages[0], &mut rng).unwrap();
    assert!(secret.decrypt(&fresh).unwrap() == messages[0]);
    assert_eq!(fresh.owner(), owner);

    let bytes = stored("server_keys");
    refused("server keys", server_keys::from_bytes(&set, &bytes, &asked).err().map(|e| e.code()));
    let (keys, found) = server_keys::from_bytes(&set, &bytes, &options).unwrap();
    same("server_keys", server_keys::to_bytes(&keys, &found).unwrap());
    assert_eq!((keys.plan(), keys.owner(), keys.change_from()), (plan(&set), owner, None));
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
        let summary = inspect(&stored(kind), &asked).unwrap();
        let owned = !["params", "plaintexts"].contains(&kind);
        assert_eq!(
            (summary.kind, summary.params, &summary.metadata, summary.version),
            (number, ParamsId::of(&set), &metadata(version), version)
        );
        assert_eq!((summary.owner, summary.change_from), (owner.filter(|_| owned), None));
    }
}
