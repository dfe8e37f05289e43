//! Products that are cut to what decryption needs, as bytes and files.

use crate::common::{Party, SETS};
use crate::hostile::fuzz::resealed;
use everlevel_bgv::{CompactCiphertext, Evaluator, ServerKeys};
use everlevel_scheme::{Arithmetic, Plaintext};
use everlevel_wire::file::Existing;
use everlevel_wire::{
    BoundPolicy, HEADER_BYTES, Manifest, Metadata, ObjectKind, Packed, ProductReader,
    ProductResultReader, ProductResultWriter, ReadOptions, WireError, inspect, product_results,
    products, results,
};

/// Three sums of products, cut, with what they hold.
fn sums(party: &mut Party) -> (Vec<CompactCiphertext>, Vec<Plaintext>) {
    let server = Evaluator::new(ServerKeys::empty(&party.params));
    let sum = |k: u64| {
        let (x, y) = (party.message(k), party.message(k + 17));
        let [a, b] = [&x, &y].map(|m| party.secret.encrypt(m, &mut party.rng).unwrap());
        let product = server.sum_of_products(&[(&a, &b), (&b, &b)]).unwrap();
        let expected = x.add(&y, &party.params).unwrap().mul(&y, &party.params).unwrap();
        (product.compact_for_decryption(&party.params).unwrap(), expected)
    };
    (0..3).map(sum).unzip()
}

#[test]
fn results_of_products_come_back_and_decrypt() {
    for name in SETS {
        let mut party = Party::new(name, 51);
        let (all, expected) = sums(&mut party);
        let metadata = Metadata::from([("name".into(), "value".into())]);
        let bytes = product_results::to_bytes(&party.params, &all, &metadata).unwrap();
        let options = ReadOptions::default();
        let (back, found) = product_results::from_bytes(&party.params, &bytes, &options).unwrap();
        assert!(back == all && found == metadata, "{name}");
        for (result, expected) in back.iter().zip(&expected) {
            assert!(party.secret.decrypt_compact(result).unwrap() == *expected, "{name}");
        }
        let summary = inspect(&bytes, &options).unwrap();
        assert_eq!((summary.kind, summary.records), (ObjectKind::PRODUCT_RESULTS, 3));
        assert_eq!(summary.owner, Some(party.secret.id()));
    }
}

/// Neither a product nor a result of a ciphertext is taken for one, also where both have one
/// component.
#[test]
fn kinds_are_told_apart() {
    for name in ["insecure_bgv-257-n8", "insecure_ltv-257-n8"] {
        let mut party = Party::new(name, 52);
        let (all, _) = sums(&mut party);
        let (none, options) = (Metadata::new(), ReadOptions::default());
        let message = party.message(5);
        let fresh = party.secret.encrypt(&message, &mut party.rng).unwrap();
        let single = fresh.compact_for_decryption(&party.params).unwrap();
        let found = results::to_bytes(&party.params, &all, &none).unwrap_err();
        assert_eq!(found.code(), "wire.malformed", "{name}");
        let found = product_results::to_bytes(&party.params, &[single], &none).unwrap_err();
        assert_eq!(found.code(), "wire.malformed", "{name}");
        let bytes = product_results::to_bytes(&party.params, &all, &none).unwrap();
        let found = results::from_bytes(&party.params, &bytes, &options).unwrap_err();
        assert_eq!(found.code(), "wire.wrong-kind", "{name}");
        let found = products::from_bytes(&party.params, &bytes, &options).unwrap_err();
        assert_eq!(found.code(), "wire.wrong-kind", "{name}");
        // They have no bounds that a manifest could state.
        let manifest = Manifest::new(&party.params);
        let listed = ReadOptions::with_bounds(BoundPolicy::Manifest(manifest.into()));
        let found = product_results::from_bytes(&party.params, &bytes, &listed).unwrap_err();
        assert_eq!(found.code(), "wire.not-in-manifest", "{name}");
    }
}

#[test]
fn files_are_written_and_read_by_parts() {
    let mut party = Party::new("insecure_bgv-257-n8", 53);
    let (all, expected) = sums(&mut party);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results");
    let none = Metadata::new();
    let mut writer =
        ProductResultWriter::create(&party.params, &path, Existing::Keep, 3, &none).unwrap();
    writer.push_all(&all[..1]).unwrap();
    writer.push_all(&all[1..]).unwrap();
    writer.finish_without_sync().unwrap();
    let written = std::fs::read(&path).unwrap();
    assert!(written == product_results::to_bytes(&party.params, &all, &none).unwrap());
    // So are records that were made before, but for those of other parameters.
    let mut other = Party::new("insecure_ltv-257-n8", 53);
    let (foreign, _) = sums(&mut other);
    assert!(Packed::new(&party.params, &foreign).is_err());
    let mut writer =
        ProductResultWriter::create(&party.params, &path, Existing::Replace, 3, &none).unwrap();
    let mut push = |party: &Party, some: &[CompactCiphertext]| {
        writer.push_packed(Packed::new(&party.params, some).unwrap()).map_err(|e| e.code())
    };
    assert_eq!(push(&party, &all[..2]), Ok(()));
    assert_eq!(push(&party, &all[..2]), Err("wire.malformed"), "more than were announced");
    assert_eq!(push(&other, &foreign[..1]), Err("wire.other-params"));
    assert_eq!(push(&party, &all[2..]), Ok(()));
    writer.finish_without_sync().unwrap();
    assert!(std::fs::read(&path).unwrap() == written);
    // And those that were made of something else, one by one.
    let made = |party: &Party, places: Vec<usize>| {
        Packed::made(&party.params, places, |i| match all.get(i) {
            Some(x) => Ok(x.clone()),
            None => Err(WireError::Truncated { needed: i as u64, found: all.len() as u64 }),
        })
    };
    let mut writer =
        ProductResultWriter::create(&party.params, &path, Existing::Replace, 3, &none).unwrap();
    writer.push_packed(made(&party, vec![0, 1]).unwrap()).unwrap();
    writer.push_packed(made(&party, Vec::new()).unwrap()).unwrap();
    writer.push_packed(made(&party, vec![2]).unwrap()).unwrap();
    writer.finish_without_sync().unwrap();
    assert!(std::fs::read(&path).unwrap() == written);
    assert_eq!(made(&party, vec![0, 3]).err().unwrap().code(), "wire.truncated");
    let found = made(&other, vec![0]).err().unwrap().code();
    assert_eq!(Some(found), Packed::new(&other.params, &all[..1]).err().map(|e| e.code()));
    let open = || ProductResultReader::open(&party.params, &path, ReadOptions::default());
    let some = open().unwrap().read_range(1..3).unwrap();
    assert!(party.secret.decrypt_compact(&some[1]).unwrap() == expected[2]);
    let kind = ProductReader::open(&party.params, &path, ReadOptions::default());
    assert_eq!(kind.err().unwrap().code(), "wire.wrong-kind");
    let mut damaged = written.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    assert_eq!(open().unwrap().read_range(0..3).unwrap_err().code(), "wire.checksum");
    std::fs::write(&path, &written[..last]).unwrap();
    assert_eq!(open().err().unwrap().code(), "wire.truncated");
}

/// Descriptors that no writer makes, under checksums that are right.
#[test]
fn hostile_descriptors_are_refused() {
    let mut party = Party::new("insecure_bgv-257-n8", 54);
    let (all, _) = sums(&mut party);
    let none = Metadata::new();
    let bytes = product_results::to_bytes(&party.params, &all[..1], &none).unwrap();
    // Owners, no metadata, one record: its length, its checksum, the length of its descriptor.
    let descriptor = HEADER_BYTES + 34 + 4 + 4 + 8 + 16 + 4;
    let code = |changes: &[(usize, u8)]| {
        let mut changed = bytes.clone();
        changes.iter().for_each(|&(at, byte)| changed[descriptor + at] = byte);
        let sealed = resealed(&changed).unwrap();
        product_results::from_bytes(&party.params, &sealed, &ReadOptions::default())
            .map_err(|e| e.code())
    };
    let widths = all[0].widths();
    assert_eq!(
        &bytes[descriptor + 4..descriptor + 7],
        widths.iter().map(|&w| w as u8).collect::<Vec<_>>()
    );
    assert!(code(&[]).is_ok());
    for (changes, expected) in [
        // The exponent of the plaintext modulus.
        (vec![(0, 0)], "scheme.bad-argument"),
        (vec![(0, 9)], "scheme.bad-argument"),
        // A width of 0, of more bits than there are, of 63 and 255; one that is reserved.
        (vec![(4, 0)], "wire.malformed"),
        (vec![(6, widths[2] as u8 + 1)], "wire.malformed"),
        (vec![(6, 63)], "wire.malformed"),
        (vec![(6, 255)], "wire.malformed"),
        (vec![(7, 1)], "wire.malformed"),
        // Widths that add up to the same, but do not ascend.
        (vec![(4, widths[2] as u8), (6, widths[0] as u8)], "scheme.bad-argument"),
        // A factor that is no unit, and one that is not reduced.
        ((8..16).map(|at| (at, 0)).collect(), "scheme.bad-argument"),
        (vec![(15, 1)], "scheme.bad-argument"),
        // A bound of 0, and one above one half.
        ((16..20).map(|at| (at, 0)).collect(), "scheme.bad-argument"),
        (vec![(19, 0xff)], "scheme.bad-argument"),
    ] {
        assert_eq!(code(&changes).err(), Some(expected), "{changes:?}");
    }
}
