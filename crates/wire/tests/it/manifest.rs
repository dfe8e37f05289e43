//! Noise bounds that a manifest states under a key: what is trusted, what is refused.

use std::sync::Arc;

use crate::common::Party;
use crate::hostile::fuzz::resealed;
use everlevel_bgv::{Ciphertext, Evaluator};
use everlevel_scheme::{Arithmetic, NextUse};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{
    BoundPolicy, CiphertextReader, CiphertextWriter, HEADER_BYTES, Manifest, ManifestKey, Metadata,
    ReadOptions, ciphertexts, plaintexts,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

fn key(byte: u8) -> ManifestKey {
    ManifestKey::from_bytes(&[byte; 32]).unwrap()
}

fn believing(manifest: &Manifest) -> ReadOptions {
    ReadOptions::with_bounds(BoundPolicy::Manifest(Arc::new(manifest.clone())))
}

/// A party, a fresh ciphertext and a product.
fn computed(set: &str) -> (Party, Vec<Ciphertext>) {
    let mut party = Party::new(set, 7);
    let fresh = party.secret.encrypt(&party.message(5), &mut party.rng).unwrap();
    let product =
        Evaluator::new(party.server_keys()).mul(&fresh, &fresh, NextUse::Product).unwrap();
    (party, vec![fresh, product])
}

fn write(party: &Party, xs: &[Ciphertext]) -> Vec<u8> {
    ciphertexts::to_bytes(&party.params, xs, &Metadata::from([("rows".into(), "2".into())]))
        .unwrap()
}

/// The place of the noise bound of ciphertext 0 in the object that `write` makes.
const BOUND: usize = HEADER_BYTES + 2 * 17 + 4 + (4 + 4) + (4 + 1) + 4 + (8 + 16 + 4) + 24;

#[test]
fn listed_objects_have_the_bounds_of_the_manifest() {
    for set in crate::common::SETS {
        let (party, xs) = computed(set);
        let object = write(&party, &xs);
        let mut manifest = Manifest::new(&party.params);
        assert!(manifest.is_empty());
        manifest.add(&object).unwrap();
        let sent = manifest.to_bytes(&key(1)).unwrap();
        let received = Manifest::from_bytes(&sent, &key(1), &ReadOptions::default()).unwrap();
        assert_eq!(
            (&received, received.len(), received.to_bytes(&key(1)).unwrap() == sent),
            (&manifest, 1, true)
        );

        let (found, _) =
            ciphertexts::from_bytes(&party.params, &object, &believing(&received)).unwrap();
        for (x, y) in xs.iter().zip(&found) {
            assert!((x.noise_bound_bits() - y.noise_bound_bits()).abs() < 1e-8, "{set}");
            assert_eq!(party.secret.decrypt(x).unwrap(), party.secret.decrypt(y).unwrap(), "{set}");
        }
        // The rest of the same ciphertexts in another object is another object.
        let other = write(&party, &xs[..1]);
        let refused =
            ciphertexts::from_bytes(&party.params, &other, &believing(&received)).unwrap_err();
        assert_eq!(refused.code(), "wire.not-in-manifest");
        manifest.add(&other).unwrap();
        assert!(ciphertexts::from_bytes(&party.params, &other, &believing(&manifest)).is_ok());
    }
}

/// Whoever carries an object can neither lower its bound nor change anything else, whatever the
/// checksums say.
#[test]
fn changed_objects_are_refused() {
    let (party, xs) = computed("insecure_bgv-257-n8");
    let object = write(&party, &xs);
    let mut manifest = Manifest::new(&party.params);
    manifest.add(&object).unwrap();
    let read = |bytes: &[u8], options: &ReadOptions| {
        ciphertexts::from_bytes(&party.params, bytes, options)
    };
    let largest = party.params.noise().largest_noise(xs[0].level());
    assert_eq!(
        object[BOUND..BOUND + 8],
        xs[0].noise_bound_bits().to_bits().to_le_bytes(),
        "this is the bound"
    );
    let mut lie = object.clone();
    lie[BOUND..BOUND + 8].copy_from_slice(&(largest - 3.0).to_bits().to_le_bytes());
    let lie = resealed(&lie).unwrap();
    let stated = read(&lie, &ReadOptions::with_bounds(BoundPolicy::Stated)).unwrap().0;
    assert!(
        (stated[0].noise_bound_bits() - largest + 3.0).abs() < 1e-9,
        "without a manifest it would be trusted"
    );
    assert_eq!(read(&lie, &believing(&manifest)).unwrap_err().code(), "wire.not-in-manifest");
    for at in (0..object.len()).filter(|at| *at < 300 || at % 251 == 0) {
        let mut changed = object.clone();
        changed[at] ^= 1;
        assert!(read(&changed, &believing(&manifest)).is_err(), "byte {at}");
        if let Some(sealed) = resealed(&changed).filter(|sealed| *sealed != object) {
            assert!(read(&sealed, &believing(&manifest)).is_err(), "byte {at}, sealed");
        }
    }
}

/// A manifest vouches for what a key holder lists, and is held to the limits of the scheme all the
/// same.
#[test]
fn bounds_stay_within_what_levels_allow() {
    let (party, xs) = computed("insecure_bgv-257-n8");
    let largest = party.params.noise().largest_noise(xs[0].level());
    let listing = |bound: f64| {
        let mut object = write(&party, &xs);
        object[BOUND..BOUND + 8].copy_from_slice(&bound.to_bits().to_le_bytes());
        let object = resealed(&object).unwrap();
        let mut manifest = Manifest::new(&party.params);
        manifest.add(&object).map(|()| {
            ciphertexts::from_bytes(&party.params, &object, &believing(&manifest)).unwrap().0
        })
    };
    assert_eq!(listing(largest + 40.0).unwrap()[0].noise_bound_bits(), largest);
    let least = listing(-1000.0).unwrap()[0].noise_bound_bits();
    assert!(least > 0.0 && least <= xs[0].noise_bound_bits() + 1e-8, "{least}");
    assert_eq!(listing(f64::NAN).unwrap_err().code(), "wire.malformed");
    assert_eq!(listing(f64::INFINITY).unwrap_err().code(), "wire.malformed");
}

#[test]
fn every_changed_byte_and_every_other_key_is_refused() {
    let (party, xs) = computed("insecure_bgv-257-n8");
    let mut manifest = Manifest::new(&party.params);
    manifest.add(&write(&party, &xs)).unwrap();
    manifest.add(&write(&party, &xs[..1])).unwrap();
    let bytes = manifest.to_bytes(&key(1)).unwrap();
    let read =
        |bytes: &[u8], key: &ManifestKey| Manifest::from_bytes(bytes, key, &ReadOptions::default());
    assert_eq!(read(&bytes, &key(1)).unwrap(), manifest);
    for other in [key(0), key(2), ManifestKey::generate(&mut ChaCha20Rng::seed_from_u64(1))] {
        assert_eq!(read(&bytes, &other).unwrap_err().code(), "wire.not-authentic");
    }
    let mut forged = 0;
    for at in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            assert!(read(&changed, &key(1)).is_err(), "byte {at}");
            // With checksums that match: what is no part of the container is the tag's.
            if let Some(sealed) = resealed(&changed).filter(|sealed| *sealed != bytes) {
                let refused = read(&sealed, &key(1)).expect_err("a forged manifest");
                forged += usize::from(refused.code() == "wire.not-authentic");
            }
        }
        assert_eq!(read(&bytes[..at], &key(1)).unwrap_err().code(), "wire.truncated");
    }
    // The tag, the id of the parameters, and all that is listed: three bounds, two digests, two
    // owners.
    assert_eq!(forged, 3 * (32 + 16 + 4 + 2 * (32 + 17 + 4) + 3 * 8));
    assert_eq!(read(&[&bytes[..], &[0]].concat(), &key(1)).unwrap_err().code(), "wire.trailing");
    let small = ReadOptions::default().limited_to(10);
    assert_eq!(Manifest::from_bytes(&bytes, &key(1), &small).unwrap_err().code(), "wire.limit");
    for length in [0, 31, 33] {
        assert!(ManifestKey::from_bytes(&vec![1; length]).is_err());
    }
}

#[test]
fn manifests_are_of_one_set_and_of_ciphertexts() {
    let (party, xs) = computed("insecure_bgv-257-n8");
    let (other, ys) = computed("insecure_bfv-257-n8");
    let mut manifest = Manifest::new(&party.params);
    assert_eq!(manifest.add(&write(&other, &ys)).unwrap_err().code(), "wire.malformed");
    let plain = plaintexts::to_bytes(&party.params, &[party.message(1)], &Metadata::new()).unwrap();
    assert_eq!(manifest.add(&plain).unwrap_err().code(), "wire.wrong-kind");
    assert!(manifest.merge(&Manifest::new(&other.params)).is_err());
    // Two parties list one object each.
    let objects = [write(&party, &xs), write(&party, &xs[..1])];
    let mut second = Manifest::new(&party.params);
    manifest.add(&objects[0]).unwrap();
    second.add(&objects[1]).unwrap();
    manifest.merge(&second).unwrap();
    manifest.merge(&second).unwrap();
    assert_eq!((manifest.len(), manifest.params_id()), (2, second.params_id()));
    for object in &objects {
        assert!(ciphertexts::from_bytes(&party.params, object, &believing(&manifest)).is_ok());
    }
}

#[test]
fn files_that_are_read_piece_by_piece() {
    let (party, xs) = computed("insecure_bgv-257-n8");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ct");
    let mut writer =
        CiphertextWriter::create(&party.params, &path, Existing::Keep, 2, &Metadata::new())
            .unwrap();
    xs.iter().for_each(|x| writer.push(x).unwrap());
    writer.finish().unwrap();
    let (mut manifest, mut in_memory) =
        (Manifest::new(&party.params), Manifest::new(&party.params));
    manifest.add_file(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    in_memory.add(&bytes).unwrap();
    assert_eq!(manifest, in_memory);
    let mut reader = CiphertextReader::open(&party.params, &path, believing(&manifest)).unwrap();
    for (i, x) in xs.iter().enumerate().rev() {
        let found = reader.read(i).unwrap();
        assert!((x.noise_bound_bits() - found.noise_bound_bits()).abs() < 1e-8);
        assert_eq!(party.secret.decrypt(x).unwrap(), party.secret.decrypt(&found).unwrap());
    }
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    write_file(&path, &resealed(&changed).unwrap(), Existing::Replace).unwrap();
    let refused = CiphertextReader::open(&party.params, &path, believing(&manifest)).err().unwrap();
    assert_eq!(refused.code(), "wire.not-in-manifest");
    assert!(CiphertextReader::open(&party.params, &path, ReadOptions::default()).is_ok());
}
