//! Objects know whose they are, whatever somebody does to their bytes.

use crate::common::{Party, SETS};
use crate::hostile::fuzz::resealed;
use everlevel_bgv::{Ciphertext, EvalKeys, Evaluator, PublicKey, SecretKey, ServerKeys};
use everlevel_scheme::{Arithmetic, KeyId, NextUse, SchemeError};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{
    BoundPolicy, CiphertextReader, CiphertextWriter, FileKeys, HEADER_BYTES, Metadata, ReadOptions,
    WireError, ciphertexts, inspect, public_key, results, secret_key, server_keys,
};

const NONE: Metadata = Metadata::new();

/// Where the id of the owner stands, after what it is an id of.
const ID: std::ops::Range<usize> = HEADER_BYTES + 1..HEADER_BYTES + 17;

fn stated() -> ReadOptions {
    ReadOptions::with_bounds(BoundPolicy::Stated)
}

/// Two owners of keys of one set.
fn parties(name: &str) -> [Party; 2] {
    let first = Party::new(name, 31);
    let second = Party::of(first.params.clone(), 32);
    [first, second]
}

fn encryption(party: &mut Party) -> Ciphertext {
    party.secret.encrypt(&party.message(5), &mut party.rng).unwrap()
}

fn read(party: &Party, bytes: &[u8]) -> Result<Vec<Ciphertext>, WireError> {
    Ok(ciphertexts::from_bytes(&party.params, bytes, &stated())?.0)
}

/// The object with another owner and checksums that match.
fn claimed(bytes: &[u8], owner: KeyId) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[ID].copy_from_slice(owner.bits());
    resealed(&bytes).unwrap()
}

/// The object as version 1 would have it, which names no owner.
fn stripped(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    out[8] = 1;
    let index = u64::from_le_bytes(out[32..40].try_into().unwrap()) - 34;
    out[32..40].copy_from_slice(&index.to_le_bytes());
    out.drain(HEADER_BYTES..HEADER_BYTES + 34);
    resealed(&out).unwrap()
}

#[test]
fn every_object_carries_its_owner() {
    for name in SETS {
        let [mut party, _] = parties(name);
        let (id, params) = (party.secret.id(), party.params.clone());
        let keys = party.server_keys();
        let public = PublicKey::generate(&party.secret, &mut party.rng);
        let x = encryption(&mut party);
        let compact = x.compact_for_decryption(&params).unwrap();
        let objects = [
            secret_key::expose_to_bytes(&party.secret, &NONE).unwrap().to_vec(),
            public_key::to_bytes(&public, &NONE).unwrap(),
            server_keys::to_bytes(&keys, &NONE).unwrap(),
            ciphertexts::to_bytes(&params, &[x], &NONE).unwrap(),
            results::to_bytes(&params, &[compact], &NONE).unwrap(),
        ];
        for bytes in &objects {
            let summary = inspect(bytes, &stated()).unwrap();
            assert_eq!((summary.owner, summary.change_from), (Some(id), None), "{name}");
            assert_eq!(bytes[ID], *id.bits());
        }
        let (back, _) = public_key::from_bytes(&params, &objects[1], &stated()).unwrap();
        assert_eq!(back.owner(), Some(id));
        let (back, _) = server_keys::from_bytes(&params, &objects[2], &stated()).unwrap();
        assert_eq!((back.owner(), back.change_from()), (Some(id), None));
        assert_eq!(read(&party, &objects[3]).unwrap()[0].owner(), Some(id));
        let (back, _) = results::from_bytes(&params, &objects[4], &stated()).unwrap();
        assert_eq!(back[0].owner(), Some(id));
    }
}

#[test]
fn one_object_has_one_owner() {
    let [mut a, mut b] = parties("insecure_bgv-257-n8");
    let (x, y) = (encryption(&mut a), encryption(&mut b));
    let both = [x.clone(), y.clone()];
    let code = |e: WireError| e.code();
    let refused = ciphertexts::to_bytes(&a.params, &both, &NONE).map_err(code);
    assert_eq!(refused, Err("scheme.wrong-key"));
    let cut = both.map(|x| x.compact_for_decryption(&a.params).unwrap());
    assert_eq!(results::to_bytes(&a.params, &cut, &NONE).map_err(code), Err("scheme.wrong-key"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("both.ct");
    let mut writer = CiphertextWriter::create(&a.params, &path, Existing::Keep, 2, &NONE).unwrap();
    writer.push(&x).unwrap();
    assert_eq!(writer.push(&y).map_err(code), Err("scheme.wrong-key"));
    let nobodys = x.clone().without_owner();
    assert_eq!(writer.push(&nobodys).map_err(code), Err("scheme.unknown-owner"));
    writer.push(&x).unwrap();
    writer.finish().unwrap();
    let mut reader = CiphertextReader::open(&a.params, &path, stated()).unwrap();
    assert!((0..2).all(|i| reader.read(i).unwrap().owner() == Some(a.secret.id())));

    // No file names an owner for what has an unknown one, in any order.
    let path = directory.path().join("unknown.ct");
    let mut writer = CiphertextWriter::create(&a.params, &path, Existing::Keep, 2, &NONE).unwrap();
    writer.push(&nobodys).unwrap();
    assert_eq!(writer.push(&x).map_err(code), Err("scheme.unknown-owner"));
    for mixed in [[x.clone(), nobodys.clone()], [nobodys.clone(), x.clone()]] {
        let refused = ciphertexts::to_bytes(&a.params, &mixed, &NONE).map_err(code);
        assert_eq!(refused, Err("scheme.unknown-owner"));
    }

    // A file that somebody put together nevertheless: one half is what it says, the other decrypts
    // for nobody.
    let joined = [nobodys, y.without_owner()];
    let mut joined = ciphertexts::to_bytes(&a.params, &joined, &NONE).unwrap();
    joined[ID.start - 1] = 1;
    let joined = claimed(&joined, a.secret.id());
    let found = read(&a, &joined).unwrap();
    assert_eq!(a.secret.decrypt(&found[0]).unwrap(), a.message(5));
    assert_eq!(a.secret.decrypt(&found[1]), Err(SchemeError::NotDecryptable));
    assert!(matches!(b.secret.decrypt(&found[1]), Err(SchemeError::WrongKey { .. })));
}

/// With an id that is not its own an object is refused by one key for the id, by the other one for
/// the phase.
#[test]
fn a_changed_id_helps_nobody() {
    for name in SETS {
        let [mut a, b] = parties(name);
        let x = encryption(&mut a);
        let bytes = ciphertexts::to_bytes(&a.params, std::slice::from_ref(&x), &NONE).unwrap();
        let mut damaged = bytes.clone();
        damaged[ID.start] ^= 1;
        assert_eq!(read(&a, &damaged).unwrap_err().code(), "wire.checksum", "{name}");
        let lie = read(&a, &claimed(&bytes, b.secret.id())).unwrap().remove(0);
        assert!(matches!(a.secret.decrypt(&lie), Err(SchemeError::WrongKey { .. })), "{name}");
        assert_eq!(b.secret.decrypt(&lie), Err(SchemeError::NotDecryptable), "{name}");

        // Server keys: what they compute decrypts for nobody.
        let keys = server_keys::to_bytes(&a.server_keys(), &NONE).unwrap();
        let lie = claimed(&keys, b.secret.id());
        let (lie, _) = server_keys::from_bytes(&a.params, &lie, &stated()).unwrap();
        let lie = Evaluator::new(lie);
        assert!(matches!(lie.mul(&x, &x, NextUse::Keep), Err(SchemeError::WrongKey { .. })));
        let mut b = b;
        let y = encryption(&mut b);
        let garbage = lie.mul(&y, &y, NextUse::Keep).unwrap();
        assert_eq!(b.secret.decrypt(&garbage), Err(SchemeError::NotDecryptable), "{name}");

        // A public key.
        let public = PublicKey::generate(&a.secret, &mut a.rng);
        let lie = claimed(&public_key::to_bytes(&public, &NONE).unwrap(), b.secret.id());
        let (lie, _) = public_key::from_bytes(&a.params, &lie, &stated()).unwrap();
        let garbage = lie.encrypt(&a.message(5), &mut a.rng).unwrap();
        assert_eq!(b.secret.decrypt(&garbage), Err(SchemeError::NotDecryptable), "{name}");
        assert!(matches!(a.secret.decrypt(&garbage), Err(SchemeError::WrongKey { .. })));

        // A secret key has its id by what it is.
        let secret = secret_key::expose_to_bytes(&a.secret, &NONE).unwrap();
        let lie = claimed(&secret, b.secret.id());
        let refused = secret_key::from_bytes(&a.params, &lie, &stated()).err().unwrap();
        assert!(refused.to_string().contains("id of the secret key"), "{refused}");
    }
}

/// Whoever takes the owner away makes an object that is not read unless that is asked for, and that
/// other keys do not decrypt.
#[test]
fn an_owner_that_was_taken_away_is_missed() {
    let [mut a, b] = parties("insecure_bgv-257-n8");
    let x = encryption(&mut a);
    let bytes = stripped(&ciphertexts::to_bytes(&a.params, &[x], &NONE).unwrap());
    let refused = read(&a, &bytes).unwrap_err();
    assert_eq!(refused.code(), "wire.unknown-owner");
    assert!(refused.to_string().contains("allow_unknown_owner"), "{refused}");
    let options = stated().allowing_unknown_owner(true);
    let (found, _) = ciphertexts::from_bytes(&a.params, &bytes, &options).unwrap();
    assert_eq!(found[0].owner(), None);
    assert_eq!(a.secret.decrypt(&found[0]).unwrap(), a.message(5));
    assert_eq!(b.secret.decrypt(&found[0]), Err(SchemeError::NotDecryptable));
    // Written again it is as it was: of nobody, in this version, too.
    let again = ciphertexts::to_bytes(&a.params, &found, &NONE).unwrap();
    assert_eq!(inspect(&again, &options).unwrap().version, 2);
    assert_eq!(read(&a, &again).unwrap_err().code(), "wire.unknown-owner");
    // A kind of owner that is not known, bits of one that is none, an owner of what has none.
    let mut group = again.clone();
    group[ID.start - 1] = 2;
    let mut bits = again.clone();
    bits[ID.start] = 1;
    let mut changed = again;
    changed[ID.end] = 1;
    for (bytes, part) in [(group, "kind of an owner"), (bits, "reserved"), (changed, "owners")] {
        let refused = ciphertexts::from_bytes(&a.params, &resealed(&bytes).unwrap(), &options);
        let refused = refused.err().unwrap();
        assert!(
            refused.code() == "wire.malformed" && refused.to_string().contains(part),
            "{refused}"
        );
    }
}

/// Files of version 1 under a wrong key: the check of the phase is what refuses.
#[test]
fn an_older_file_under_a_wrong_key_is_refused() {
    let sets = ["insecure_bgv-257-n8", "insecure_bfv-257-n8", "insecure_ltv-257-n8"];
    for name in sets {
        let params = crate::common::named(name);
        let path = |kind: &str| {
            let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");
            format!("{directory}/{name}.{kind}")
        };
        let stored = |kind: &str| std::fs::read(path(kind)).unwrap();
        let options = stated().allowing_unknown_owner(true);
        let other = SecretKey::generate(&params, &mut Party::new(name, 33).rng);
        let (secret, _) =
            secret_key::from_bytes(&params, &stored("secret_key"), &stated()).unwrap();
        let (found, _) =
            ciphertexts::from_bytes(&params, &stored("ciphertexts"), &options).unwrap();
        for x in &found {
            assert!(secret.decrypt(x).is_ok(), "{name}");
            assert_eq!(other.decrypt(x), Err(SchemeError::NotDecryptable), "{name}");
        }
        // Server keys of version 1, in their file.
        let file = std::path::PathBuf::from(path("server_keys"));
        let refused = FileKeys::open(&params, &file, 0).err().unwrap();
        assert_eq!(refused.code(), "wire.unknown-owner");
        let keys = FileKeys::open_with(&params, &file, 0, &options).unwrap();
        assert_eq!((keys.owner(), keys.change_from()), (None, None));
    }
}

/// Both ids of a change of keys survive their file, and only its direction works.
#[test]
fn changes_of_keys_have_a_direction() {
    let [mut a, b] = parties("insecure_bgv-257-n8");
    let x = encryption(&mut a);
    let top = a.params.chain().top();
    let keys = ServerKeys::key_change(&a.secret, &b.secret, top, &mut a.rng).unwrap();
    let bytes = server_keys::to_bytes(&keys, &NONE).unwrap();
    let summary = inspect(&bytes, &stated()).unwrap();
    let ids = (Some(b.secret.id()), Some(a.secret.id()));
    assert_eq!((summary.owner, summary.change_from), ids);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("change.keys");
    write_file(&path, &bytes, Existing::Keep).unwrap();
    let change = Evaluator::new(FileKeys::open(&a.params, &path, 0).unwrap());
    let moved = change.change_key(&x).unwrap();
    assert_eq!(b.secret.decrypt(&moved).unwrap(), a.message(5));
    assert!(matches!(change.change_key(&moved), Err(SchemeError::WrongKey { .. })));
    // The two ids exchanged: what it makes decrypts for nobody.
    let mut turned = bytes;
    turned[ID].copy_from_slice(a.secret.id().bits());
    turned[ID.end + 1..ID.end + 17].copy_from_slice(b.secret.id().bits());
    let turned = resealed(&turned).unwrap();
    let (turned, _) = server_keys::from_bytes(&a.params, &turned, &stated()).unwrap();
    let garbage = Evaluator::new(turned).change_key(&moved).unwrap();
    assert_eq!(a.secret.decrypt(&garbage), Err(SchemeError::NotDecryptable));
}
