//! Uploads of data under AES: the stored files, and what is refused.

use std::fs;
use std::path::PathBuf;

use everlevel_scheme::{KeyId, Params};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::uploads::{self, ModeKind, StoredUpload};
use everlevel_wire::{Metadata, ObjectKind, ParamsId, ReadOptions, WireError, inspect, secret_key};

/// The sets of the stored uploads, one in each mode.
const STORED: [(&str, ModeKind); 4] = [
    ("insecure_bgv-2-m255", ModeKind::Ctr),
    ("insecure_bgv-7-m120", ModeKind::Gcm),
    ("insecure_bgv-257-n8", ModeKind::Cbc),
    ("insecure_ltv-257-n8", ModeKind::Ecb),
];

fn path(set: &str, kind: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden/v2", &format!("{set}.{kind}")].iter().collect()
}

fn set_named(name: &str) -> Params {
    let odd = crate::common::odd_sets().into_iter().find(|set| set.name() == name);
    odd.unwrap_or_else(|| crate::common::named(name))
}

/// The id of the stored secret key of a set.
fn owner(set: &Params) -> KeyId {
    let bytes = fs::read(path(set.name(), "secret_key")).unwrap();
    secret_key::from_bytes(set, &bytes, &ReadOptions::default()).unwrap().0.id()
}

/// Two blocks of data, which say nothing.
fn example(mode: ModeKind, owner: KeyId) -> StoredUpload {
    StoredUpload {
        mode,
        iv: (0xe0..).take(mode.iv_bytes()).collect(),
        aes_key: std::array::from_fn(|i| 0xa0 + i as u8),
        owner: Some(owner),
        data: (0..if mode == ModeKind::Ctr { 27 } else { 32 }).collect(),
    }
}

fn metadata() -> Metadata {
    Metadata::from([("written by".into(), "format 2".into())])
}

#[test]
#[ignore = "writes the stored files: run once for each version of the format"]
fn write_golden_uploads() {
    for (name, mode) in STORED {
        let set = set_named(name);
        let bytes = uploads::to_bytes(&set, &example(mode, owner(&set)), &metadata()).unwrap();
        write_file(&path(name, "upload"), &bytes, Existing::Replace).unwrap();
    }
}

#[test]
fn stored_uploads_are_read_and_written_again() {
    for (name, mode) in STORED {
        let (set, bytes) = (set_named(name), fs::read(path(name, "upload")).unwrap());
        let options = ReadOptions::default();
        let (found, told) = uploads::from_bytes(&set, &bytes, &options).unwrap();
        assert_eq!((&found, &told), (&example(mode, owner(&set)), &metadata()), "{name}");
        assert_eq!(uploads::to_bytes(&set, &found, &told).unwrap(), bytes, "{name}");
        let summary = inspect(&bytes, &options).unwrap();
        assert_eq!(
            (summary.kind, summary.params, summary.records, summary.owner),
            (ObjectKind::UPLOAD, ParamsId::of(&set), 1, found.owner)
        );
        // As docs/format.md has it: the data are the last bytes, and the descriptor is before them.
        let at = bytes.len() - found.data.len();
        assert_eq!(bytes[at..], found.data);
        assert_eq!(bytes[at - 40], 1 + mode as u8);
        assert_eq!(bytes[at - 32..][..found.iv.len()], found.iv);
        assert_eq!(bytes[at - 16..at], found.aes_key);
    }
}

#[test]
fn what_is_no_upload_is_not_written() {
    let set = crate::common::named("insecure_bgv-257-n8");
    let good = example(ModeKind::Cbc, owner(&set));
    let refused = |change: &dyn Fn(&mut StoredUpload)| {
        let mut changed = good.clone();
        change(&mut changed);
        uploads::to_bytes(&set, &changed, &metadata()).unwrap_err().code()
    };
    assert_eq!(refused(&|x| x.iv.truncate(15)), "wire.malformed");
    assert_eq!(refused(&|x| x.mode = ModeKind::Ecb), "wire.malformed");
    assert_eq!(refused(&|x| x.data.truncate(31)), "wire.malformed");
    assert_eq!(refused(&|x| x.data.clear()), "wire.malformed");
}

/// Checksums that match, and rules that do not hold.
#[test]
fn what_breaks_a_rule_is_refused() {
    let set = crate::common::named("insecure_bgv-257-n8");
    let good = example(ModeKind::Cbc, owner(&set));
    let read = |bytes: &[u8], options: &ReadOptions| uploads::from_bytes(&set, bytes, options);
    let strict = ReadOptions::default();
    let refused = |bytes: &[u8]| read(bytes, &strict).unwrap_err().code();
    let bytes = uploads::to_bytes(&set, &good, &metadata()).unwrap();
    let descriptor = bytes.len() - good.data.len() - 40;
    // Modes 0 and 5, GCM and ECB with an initialization vector that is too long, a reserved byte.
    for (at, value) in [(0, 0), (0, 5), (0, 2), (0, 4), (3, 1)] {
        let mut changed = bytes.clone();
        changed[descriptor + at] = value;
        let sealed = crate::hostile::fuzz::resealed(&changed).unwrap();
        assert_eq!(refused(&sealed), "wire.malformed", "byte {at}: {value}");
    }
    let other = crate::common::named("insecure_bfv-257-n8");
    let error = uploads::from_bytes(&other, &bytes, &strict).unwrap_err();
    assert_eq!(error.code(), "wire.other-params");
    let secret = fs::read(path(set.name(), "secret_key")).unwrap();
    assert_eq!(refused(&secret), "wire.wrong-kind");
    assert_eq!(refused(b"ordinary data under AES, which say nothing"), "wire.not-ours");

    // For whom nobody knows: on request only.
    let unowned = StoredUpload { owner: None, ..good };
    let bytes = uploads::to_bytes(&set, &unowned, &metadata()).unwrap();
    let error = read(&bytes, &strict).unwrap_err();
    let found = ObjectKind::UPLOAD;
    assert_eq!(error, WireError::UnknownOwner { found, version: everlevel_wire::FORMAT_VERSION });
    let asked = strict.clone().allowing_unknown_owner(true);
    assert_eq!(read(&bytes, &asked).unwrap().0, unowned);
}
