//! Products before relinearization as bytes and files.

use crate::common::{Party, SETS};
use crate::hostile::fuzz::resealed;
use everlevel_bgv::{Evaluator, Product, ServerKeys};
use everlevel_scheme::{Arithmetic, Plaintext};
use everlevel_wire::file::Existing;
use everlevel_wire::{
    BoundPolicy, CiphertextReader, Encryption, HEADER_BYTES, Manifest, Metadata, ObjectKind,
    ProductReader, ProductWriter, ReadOptions, ciphertexts, inspect, products,
};

/// Three sums of products with what they hold.
fn sums(party: &mut Party) -> Vec<(Product, Plaintext)> {
    let server = Evaluator::new(ServerKeys::empty(&party.params));
    let sum = |k: u64| {
        let (x, y) = (party.message(k), party.message(k + 17));
        let [a, b] = [&x, &y].map(|m| party.secret.encrypt(m, &mut party.rng).unwrap());
        let product = server.sum_of_products(&[(&a, &b), (&b, &b)]).unwrap();
        let expected = x.add(&y, &party.params).unwrap().mul(&y, &party.params).unwrap();
        (product, expected)
    };
    (0..3).map(sum).collect()
}

fn options(bounds: BoundPolicy) -> ReadOptions {
    ReadOptions::with_bounds(bounds)
}

#[test]
fn products_come_back_and_decrypt() {
    for name in SETS {
        let mut party = Party::new(name, 41);
        let (all, expected): (Vec<_>, Vec<_>) = sums(&mut party).into_iter().unzip();
        let metadata = Metadata::from([("name".into(), "value".into())]);
        let bytes = products::to_bytes(&party.params, &all, &metadata).unwrap();
        for bounds in [BoundPolicy::Untrusted, BoundPolicy::Stated] {
            let (back, found) =
                products::from_bytes(&party.params, &bytes, &options(bounds)).unwrap();
            assert_eq!((back.len(), &found), (3, &metadata));
            for (product, expected) in back.iter().zip(&expected) {
                assert!(party.secret.decrypt_product(product).unwrap() == *expected, "{name}");
            }
            assert!(
                products::to_bytes(&party.params, &back[..0], &metadata).unwrap().len()
                    < bytes.len()
            );
        }
        let stated = options(BoundPolicy::Stated);
        let (back, _) = products::from_bytes(&party.params, &bytes, &stated).unwrap();
        let again = products::to_bytes(&party.params, &back, &metadata).unwrap();
        assert!(again == bytes, "{name}");
        let summary = inspect(&bytes, &stated).unwrap();
        assert_eq!((summary.kind, summary.records), (ObjectKind::PRODUCTS, 3));
        assert_eq!(summary.owner, Some(party.secret.id()));
        // Products are no fresh encryptions, and no ciphertexts.
        let fresh = options(BoundPolicy::Fresh(Encryption::Secret));
        let found = products::from_bytes(&party.params, &bytes, &fresh).unwrap_err();
        assert_eq!(found.code(), "wire.malformed", "{name}");
        let found = ciphertexts::from_bytes(&party.params, &bytes, &stated).unwrap_err();
        assert_eq!(found.code(), "wire.wrong-kind", "{name}");
    }
}

#[test]
fn manifests_list_products() {
    let mut party = Party::new("insecure_bgv-257-n8", 42);
    let (all, expected): (Vec<_>, Vec<_>) = sums(&mut party).into_iter().unzip();
    let bytes = products::to_bytes(&party.params, &all, &Metadata::new()).unwrap();
    let mut manifest = Manifest::new(&party.params);
    manifest.add(&bytes).unwrap();
    let listed = options(BoundPolicy::Manifest(manifest.into()));
    let (back, _) = products::from_bytes(&party.params, &bytes, &listed).unwrap();
    assert!(back.iter().zip(&all).all(|(x, y)| x.meta().noise == y.meta().noise));
    assert!(party.secret.decrypt_product(&back[2]).unwrap() == expected[2]);
    let other = products::to_bytes(&party.params, &all[1..], &Metadata::new()).unwrap();
    assert!(products::from_bytes(&party.params, &other, &listed).is_err());
}

#[test]
fn files_of_products_are_written_and_read_by_parts() {
    let mut party = Party::new("insecure_bgv-257-n8", 43);
    let (all, expected): (Vec<_>, Vec<_>) = sums(&mut party).into_iter().unzip();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("products");
    let none = Metadata::new();
    let write = |existing| ProductWriter::create(&party.params, &path, existing, 3, &none);
    let mut writer = write(Existing::Keep).unwrap();
    writer.push_all(&all[..2]).unwrap();
    assert!(writer.push_all(&all[..2]).is_err(), "more than were announced");
    writer.push_all(&all[2..]).unwrap();
    assert!(!path.exists());
    let bytes = writer.finish_without_sync().unwrap();
    let written = std::fs::read(&path).unwrap();
    assert_eq!(written.len() as u64, bytes);
    assert!(written == products::to_bytes(&party.params, &all, &none).unwrap());
    assert_eq!(write(Existing::Keep).err().unwrap().code(), "wire.exists");
    let mut writer = write(Existing::Replace).unwrap();
    writer.push(&all[0]).unwrap();
    assert!(writer.finish_without_sync().is_err(), "fewer than were announced");
    assert!(std::fs::read(&path).unwrap() == written);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);

    let open = || ProductReader::open(&party.params, &path, ReadOptions::default());
    let mut reader = open().unwrap();
    let some = reader.read_range(1..3).unwrap();
    assert!(party.secret.decrypt_product(&some[1]).unwrap() == expected[2]);
    let kind = CiphertextReader::open(&party.params, &path, ReadOptions::default());
    assert_eq!(kind.err().unwrap().code(), "wire.wrong-kind");
    // Damage in the second record is found where it is.
    let mut damaged = written.clone();
    let third = (written.len() - HEADER_BYTES) / 3;
    damaged[HEADER_BYTES + third * 3 / 2] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    let mut reader = open().unwrap();
    assert!(reader.read(0).is_ok() && reader.read(2).is_ok());
    assert_eq!(reader.read_range(0..3).unwrap_err().code(), "wire.checksum");
    std::fs::write(&path, &written[..written.len() - 1]).unwrap();
    assert_eq!(open().err().unwrap().code(), "wire.truncated");
}

/// A seed stands for nothing in a product.
#[test]
fn products_have_one_encoding() {
    let mut party = Party::new("insecure_bgv-257-n8", 44);
    let (all, _): (Vec<_>, Vec<_>) = sums(&mut party).into_iter().unzip();
    let mut bytes = products::to_bytes(&party.params, &all[..1], &Metadata::new()).unwrap();
    // Owners, no metadata, one record: its length, its checksum, the length of its descriptor.
    let encoding = HEADER_BYTES + 34 + 4 + 4 + 8 + 16 + 4 + 4;
    assert_eq!(bytes[encoding], 0);
    bytes[encoding] = 1;
    let sealed = resealed(&bytes).unwrap();
    let found = products::from_bytes(&party.params, &sealed, &ReadOptions::default());
    assert_eq!(found.unwrap_err().code(), "wire.malformed");
}
