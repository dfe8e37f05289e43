//! Columns of integers: the stored file, what is refused, what is trusted.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use everlevel_bgv::{Ciphertext, CompactCiphertext, SecretKey};
use everlevel_integers::{DigitPart, Encrypted, IntegersError, Interval, Parts};
use everlevel_ring::PrimePower;
use everlevel_scheme::{Level, Params, Plaintext, SchemeError};
use everlevel_wire::columns::{self, StoredColumn, StoredDigit};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{
    BoundPolicy, Encryption, Manifest, Metadata, ObjectKind, ReadOptions, WireError, inspect,
    secret_key,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const SET: &str = "insecure_bgv-257-n8";

fn path(kind: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden/v2", &format!("{SET}.{kind}")].iter().collect()
}

/// The owner of the stored files.
fn owner() -> (Params, SecretKey) {
    let set = crate::common::named(SET);
    let bytes = fs::read(path("secret_key")).unwrap();
    let (secret, _) = secret_key::from_bytes(&set, &bytes, &ReadOptions::default()).unwrap();
    (set, secret)
}

/// A digit of a column whose unused slots hold `pad`.
fn digit(power: u32, x: Option<Ciphertext>, (low, high): (i64, i64), pad: i64) -> StoredDigit {
    StoredDigit { power, stride: 0, low, high, pad, ciphertext: x }
}

/// A column of two entries.
fn column(name: &str, (low, high): (i128, i128), digits: Vec<StoredDigit>) -> StoredColumn {
    let (name, length, divisor, anchor) = (name.into(), Some(2), None, 0);
    StoredColumn { name, length, divisor, low, high, anchor, digits }
}

/// What encrypts slots that begin with some values, for the owner of the stored files; the others
/// hold the second argument.
fn encryption(
    set: &Params,
    secret: &SecretKey,
    seed: u64,
) -> impl FnMut(&[u64], u64) -> Option<Ciphertext> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    move |values: &[u64], pad: u64| {
        let mut slots = values.to_vec();
        slots.resize(set.slots(), pad);
        let plain = Plaintext::encode(set, &slots).unwrap();
        Some(secret.encrypt_at(&plain, Level(1), &mut rng).unwrap())
    }
}

/// Ages 200 and 13 as u8, years 1010 and 1001 of 1000..=1010, whose upper digit is public, and the
/// mean of the ages.
fn example(set: &Params, secret: &SecretKey) -> Vec<StoredColumn> {
    let mut encrypt = encryption(set, secret, 14);
    let byte = (0, 15);
    let ages =
        vec![digit(0, encrypt(&[8, 13], 0), byte, 0), digit(1, encrypt(&[12, 0], 0), byte, 0)];
    let years = vec![
        digit(0, encrypt(&[2, 9], 8), byte, 8),
        digit(1, encrypt(&[15, 14], 14), (14, 15), 14),
        digit(2, None, (3, 3), 3),
    ];
    let part = |power, x| StoredDigit { stride: 64, ..digit(power, x, (0, 30), 0) };
    let sums = vec![part(0, encrypt(&[21], 0)), part(1, encrypt(&[12], 0))];
    let total = StoredColumn {
        length: None,
        divisor: Some(2),
        ..column("mean \u{f8} of \"age\"", (0, 255), sums)
    };
    vec![column("age", (0, 255), ages), column("year", (1000, 1010), years), total]
}

/// Integers 3 and -1 of -2..=3 with an index, 0 in the slots behind them, and a public column
/// whose name is that of no truth value; and the metadata that say so.
fn indexed(set: &Params, secret: &SecretKey) -> (Vec<StoredColumn>, Metadata) {
    let mut encrypt = encryption(set, secret, 15);
    // Counted from -8.
    let (digits, pad) = ([11, 7], 8);
    let whole = vec![digit(0, encrypt(&digits, pad), (6, 11), 8)];
    let mut columns = vec![StoredColumn { anchor: -8, ..column("x", (-2, 3), whole) }];
    for least in 7..=11 {
        let truth = |digit: u64| u64::from(digit >= least);
        let bit = digit(0, encrypt(&digits.map(truth), truth(pad)), (0, 1), truth(pad) as i64);
        let name = columns::index_column("x", 0, least as i64);
        columns.push(column(&name, (0, 1), vec![bit]));
    }
    columns.push(column("x%0.12", (1, 1), vec![digit(0, None, (1, 1), 1)]));
    let mut metadata = Metadata::from([("written by".into(), "format 2".into())]);
    columns::state_indexes(&["x"], &mut metadata);
    (columns, metadata)
}

/// What the columns hold, as the crate of typed integers sees it.
fn opened<C>(
    set: &Params,
    columns: Vec<StoredColumn<C>>,
    decrypt: impl Fn(&C) -> Result<Plaintext, SchemeError>,
) -> Vec<Vec<i128>> {
    let modulus = PrimePower::new(257, 1).unwrap();
    let open = |x: &C| Ok::<_, IntegersError>(decrypt(x)?.decode(set)?);
    let value = |column: StoredColumn<C>| {
        let digit = |d: StoredDigit<C>| DigitPart {
            power: d.power,
            low: d.low,
            high: d.high,
            pad: d.pad,
            stride: d.stride as usize,
            value: d.ciphertext.map(Into::into),
        };
        let parts = Parts {
            interval: Interval::new(column.low, column.high).unwrap(),
            anchor: column.anchor,
            length: column.length.map(|n| n as usize),
            divisor: column.divisor,
            digits: column.digits.into_iter().map(digit).collect(),
        };
        match Encrypted::from_parts(parts, set.slots(), modulus).unwrap() {
            Encrypted::Column(x) => x.decrypt(modulus, &open).unwrap().to_vec(),
            Encrypted::Total(x) => vec![x.decrypt(modulus, &open).unwrap()],
        }
    };
    columns.into_iter().map(value).collect()
}

/// What the columns of [`example`] hold.
const VALUES: [&[i128]; 3] = [&[200, 13], &[1010, 1001], &[106]];

/// These columns, cut to what decryption needs.
fn cut(set: &Params, secret: &SecretKey) -> Vec<StoredColumn<CompactCiphertext>> {
    let cut = |x: &StoredColumn| x.compact_for_decryption(set).unwrap();
    example(set, secret).iter().map(cut).collect()
}

fn stated() -> ReadOptions {
    ReadOptions::with_bounds(BoundPolicy::Stated)
}

#[test]
#[ignore = "writes the stored file: run once for each version of the format"]
fn write_golden_columns() {
    let (set, secret) = owner();
    let metadata = Metadata::from([("written by".into(), "format 2".into())]);
    let bytes = columns::to_bytes(&set, &example(&set, &secret), &metadata).unwrap();
    write_file(&path("columns"), &bytes, Existing::Replace).unwrap();
}

#[test]
fn stored_columns_are_read_and_written_again() {
    let (set, secret) = owner();
    let bytes = fs::read(path("columns")).unwrap();
    let (found, metadata) = columns::from_bytes(&set, &bytes, &stated()).unwrap();
    assert_eq!(metadata, Metadata::from([("written by".into(), "format 2".into())]));
    assert_eq!(columns::to_bytes(&set, &found, &metadata).unwrap(), bytes);
    let names: Vec<_> = found.iter().map(|column| column.name.clone()).collect();
    assert_eq!(names, ["age", "year", "mean \u{f8} of \"age\""]);
    let values = opened(&set, found, |x: &Ciphertext| secret.decrypt(x));
    assert_eq!(values, VALUES.map(<[i128]>::to_vec));
    let summary = inspect(&bytes, &stated()).unwrap();
    assert_eq!((summary.kind, summary.records), (ObjectKind::COLUMNS, 6));
    assert_eq!(summary.owner, Some(secret.id()));
    assert_eq!(
        summary.metadata["schema"],
        "[{\"name\":\"age\",\"length\":2,\"low\":\"0\",\"high\":\"255\",\"anchor\":\"0\"},\
         {\"name\":\"year\",\"length\":2,\"low\":\"1000\",\"high\":\"1010\",\"anchor\":\"0\",\
         \"public\":[[2,3]]},{\"name\":\"mean \u{f8} of \\\"age\\\"\",\"divisor\":2,\
         \"low\":\"0\",\"high\":\"255\",\"anchor\":\"0\"}]"
    );
    assert_eq!(columns::described(&summary).unwrap().len(), 3);
}

#[test]
#[ignore = "writes the stored file: run once for each version of the format"]
fn write_golden_columns_with_an_index() {
    let (set, secret) = owner();
    let (columns, metadata) = indexed(&set, &secret);
    let bytes = columns::to_bytes(&set, &columns, &metadata).unwrap();
    write_file(&path("indexed_columns"), &bytes, Existing::Replace).unwrap();
}

/// The tests of `everlevel` join its truth values to their column.
#[test]
fn stored_columns_with_an_index_are_read_and_written_again() {
    let (set, secret) = owner();
    let bytes = fs::read(path("indexed_columns")).unwrap();
    let (found, metadata) = columns::from_bytes(&set, &bytes, &stated()).unwrap();
    assert_eq!(columns::to_bytes(&set, &found, &metadata).unwrap(), bytes);
    assert_eq!(metadata["indexes"], "[\"x\"]");
    let names: Vec<&str> = found.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["x", "x%0.7", "x%0.8", "x%0.9", "x%0.10", "x%0.11", "x%0.12"]);
    let mut told = metadata.clone();
    assert_eq!(columns::take_indexes(&mut told, &names), Ok(vec!["x".to_string()]));
    assert_eq!(told, Metadata::from([("written by".into(), "format 2".into())]));
    let left = columns::without_indexes(found.clone(), &mut metadata.clone()).unwrap();
    let left: Vec<&str> = left.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(left, ["x", "x%0.12"]);
    let values = opened(&set, found, |x: &Ciphertext| secret.decrypt(x));
    let truths: [[i128; 2]; 7] = [[3, -1], [1, 1], [1, 0], [1, 0], [1, 0], [1, 0], [1, 1]];
    assert_eq!(values, truths.map(|both| both.to_vec()));
}

/// Files that do not hold together, whoever made them: their checksums match.
#[test]
fn what_does_not_fit_is_refused() {
    let (set, secret) = owner();
    let metadata = Metadata::new();
    let code = |change: &dyn Fn(&mut Vec<StoredColumn>)| {
        let mut changed = example(&set, &secret);
        change(&mut changed);
        let bytes = columns::to_bytes(&set, &changed, &metadata)?;
        columns::from_bytes(&set, &bytes, &stated()).map(drop)
    };
    let refused = |change: &dyn Fn(&mut Vec<StoredColumn>), expected: &str| {
        let error = code(change).unwrap_err();
        assert_eq!(error.code(), expected, "{error}");
        error.to_string()
    };
    assert_eq!(code(&|_| ()), Ok(()));
    let gap = refused(&|x| drop(x[0].digits.remove(0)), "wire.columns");
    assert!(gap.contains("column age") && gap.contains("digit 0 is missing"), "{gap}");
    refused(&|x| drop(x[1].digits.remove(1)), "wire.columns");
    refused(&|x| x[0].digits[1].power = 0, "wire.columns");
    refused(&|x| x[0].digits.swap(0, 1), "wire.columns");
    refused(&|x| x[1].digits[2].power = 1, "wire.columns");
    refused(&|x| x[0].digits[1].power = 32, "wire.columns");
    refused(&|x| x[1].name = "age".into(), "wire.columns");
    refused(&|x| x[1].name = String::new(), "wire.columns");
    refused(&|x| x[1].name = "a\u{1b}[2J".into(), "wire.columns");
    refused(&|x| x[1].name = "a".repeat(65), "wire.columns");
    refused(&|x| x[0].length = Some(129), "wire.limit");
    // A record of a column that the schema does not have.
    let bytes = columns::to_bytes(&set, &example(&set, &secret), &metadata).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("\"name\":\"year\""));
    for (from, to) in [
        (&b"\"age\""[..], &b"\"year"[..]),
        (b"\"low\":\"0\"", b"\"low\":\"x\""),
        (b"\"low\":\"0\"", b"\"low\": \"0"),
        (b"\"length\":2", b"\"lengty\":2"),
        (b"\"public\":[[2,3]]", b"\"public\":[[3,3]]"),
        (b"\"public\":[[2,3]]", b"\"public\":[[1,3]]"),
    ] {
        let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to);
        let sealed = crate::hostile::fuzz::resealed(&changed).unwrap();
        let error = columns::from_bytes(&set, &sealed, &stated()).unwrap_err();
        assert!(["wire.columns", "wire.malformed"].contains(&error.code()), "{error}");
    }
}

#[test]
#[ignore = "writes the stored file: run once for each version of the format"]
fn write_golden_column_results() {
    let (set, secret) = owner();
    let metadata = Metadata::from([("written by".into(), "format 2".into())]);
    let bytes = columns::results_to_bytes(&set, &cut(&set, &secret), &metadata).unwrap();
    write_file(&path("column_results"), &bytes, Existing::Replace).unwrap();
}

#[test]
fn stored_columns_for_decryption_are_read_and_written_again() {
    let (set, secret) = owner();
    let bytes = fs::read(path("column_results")).unwrap();
    let (found, metadata) = columns::results_from_bytes(&set, &bytes, &stated()).unwrap();
    assert_eq!(columns::results_to_bytes(&set, &found, &metadata).unwrap(), bytes);
    let values = opened(&set, found, |x: &CompactCiphertext| secret.decrypt_compact(x));
    assert_eq!(values, VALUES.map(<[i128]>::to_vec));
}

/// Columns that are cut hold the same integers in fewer bytes, under the same schema; nobody reads
/// them as columns, or columns as them.
#[test]
fn columns_are_cut_for_decryption() {
    let (set, secret) = owner();
    let metadata = Metadata::from([("note".into(), "kept".into())]);
    let whole = columns::to_bytes(&set, &example(&set, &secret), &metadata).unwrap();
    let bytes = columns::results_to_bytes(&set, &cut(&set, &secret), &metadata).unwrap();
    assert!(bytes.len() < whole.len(), "{} and {}", bytes.len(), whole.len());
    let (found, told) = columns::results_from_bytes(&set, &bytes, &stated()).unwrap();
    assert_eq!(told, metadata);
    let values = opened(&set, found, |x: &CompactCiphertext| secret.decrypt_compact(x));
    assert_eq!(values, VALUES.map(<[i128]>::to_vec));
    let [summary, of_whole] = [&bytes, &whole].map(|bytes| inspect(bytes, &stated()).unwrap());
    assert_eq!((summary.kind, summary.records), (ObjectKind::COLUMN_RESULTS, 6));
    assert_eq!(summary.kind.to_string(), "columns for decryption");
    assert_eq!((summary.owner, &summary.metadata), (Some(secret.id()), &of_whole.metadata));

    let error = columns::from_bytes(&set, &bytes, &stated()).unwrap_err();
    assert_eq!(error.code(), "wire.wrong-kind");
    let error = columns::results_from_bytes(&set, &whole, &stated()).unwrap_err();
    assert_eq!(error.code(), "wire.wrong-kind");
    let error = Manifest::new(&set).add(&bytes).unwrap_err();
    assert_eq!(error.code(), "wire.wrong-kind", "there is no noise bound to be listed");
}

/// Bytes that were changed, with checksums that match and without, and columns that contradict
/// themselves.
#[test]
fn cut_columns_that_do_not_fit_are_refused() {
    let (set, secret) = owner();
    let metadata = Metadata::new();
    let refused = |change: &dyn Fn(&mut Vec<StoredColumn<CompactCiphertext>>)| {
        let mut changed = cut(&set, &secret);
        change(&mut changed);
        let bytes = columns::results_to_bytes(&set, &changed, &metadata)?;
        columns::results_from_bytes(&set, &bytes, &stated()).map(drop)
    };
    assert_eq!(refused(&|_| ()), Ok(()));
    for change in [
        |x: &mut Vec<StoredColumn<CompactCiphertext>>| drop(x[0].digits.remove(0)),
        |x: &mut Vec<StoredColumn<CompactCiphertext>>| x[0].digits.swap(0, 1),
        |x: &mut Vec<StoredColumn<CompactCiphertext>>| x[0].digits[1].power = 32,
        |x: &mut Vec<StoredColumn<CompactCiphertext>>| x[1].name = "age".into(),
    ] {
        assert_eq!(refused(&change).unwrap_err().code(), "wire.columns");
    }
    let bytes = columns::results_to_bytes(&set, &cut(&set, &secret), &metadata).unwrap();
    for length in 0..bytes.len() {
        let error = columns::results_from_bytes(&set, &bytes[..length], &stated()).unwrap_err();
        assert_eq!(error.code(), "wire.truncated", "{length} bytes");
    }
    let mut damaged = bytes.clone();
    for at in (0..bytes.len()).filter(|at| *at < 2048 || at % 61 == 0) {
        damaged[at] ^= 0xff;
        assert!(columns::results_from_bytes(&set, &damaged, &stated()).is_err(), "byte {at}");
        // Sealed again it is another object or none; whatever was read is refused or decrypted.
        if let Some(sealed) = crate::hostile::fuzz::resealed(&damaged) {
            crate::hostile::fuzz::compute(&sealed);
        }
        damaged[at] ^= 0xff;
    }
}

#[test]
fn bounds_are_believed_as_asked() {
    let (set, secret) = owner();
    let bytes = columns::to_bytes(&set, &example(&set, &secret), &Metadata::new()).unwrap();
    let bound = |policy: BoundPolicy| {
        let options = ReadOptions::with_bounds(policy);
        let (found, _) = columns::from_bytes(&set, &bytes, &options)?;
        Ok::<_, WireError>(found[0].digits[0].ciphertext.as_ref().unwrap().noise_bound_bits())
    };
    let (secretly, publicly) = (Encryption::Secret, Encryption::Public);
    let largest = set.noise().largest_noise(Level(1));
    assert_eq!(bound(BoundPolicy::Untrusted), Ok(largest));
    let fresh = bound(BoundPolicy::Fresh(secretly)).unwrap();
    assert_eq!(bound(BoundPolicy::Stated), Ok(fresh));
    assert!(bound(BoundPolicy::Fresh(publicly)).unwrap() > fresh);
    let mut manifest = Manifest::new(&set);
    let empty = BoundPolicy::Manifest(Arc::new(manifest.clone()));
    assert_eq!(bound(empty).unwrap_err().code(), "wire.not-in-manifest");
    manifest.add(&bytes).unwrap();
    assert_eq!(bound(BoundPolicy::Manifest(Arc::new(manifest))), Ok(fresh));
    let other = crate::common::named("insecure_bfv-257-n8");
    let error = columns::from_bytes(&other, &bytes, &stated()).unwrap_err();
    assert_eq!(error.code(), "wire.other-params");
}
