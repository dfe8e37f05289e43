//! What the fuzz targets do with the bytes of objects, at three depths: parsing, conformance, use
//! after conformance. Nothing here may panic, whatever the bytes. The tests of `everlevel-wire` run
//! all of it over the corpus and over random changes to it.

mod parties;
mod sealed;

use std::cell::Cell;

use everlevel_bgv::{Ciphertext, CompactCiphertext, Evaluator};
use everlevel_integers::{DigitPart, Encrypted, IntegersError, Interval, Parts};
use everlevel_ring::PrimePower;
use everlevel_scheme::{
    Arithmetic, Automorphisms, Bootstrappable, Level, NextUse, OptIn, Params, PlainModulus,
    Plaintext, SchemeError,
};
use everlevel_wire::{
    BoundPolicy, Encryption, Manifest, Metadata, ReadOptions, ciphertexts, columns, inspect,
    params as wire_params, plaintexts, product_results, products, public_key, results, secret_key,
    server_keys, uploads,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

pub use parties::seeds;
use parties::{Party, manifest_key, parties};
pub use sealed::resealed;

/// Larger objects are none of the corpus, and only take time.
const LIMIT: u64 = 1 << 16;

fn options(bounds: BoundPolicy) -> ReadOptions {
    ReadOptions::with_bounds(bounds).limited_to(LIMIT).allowing_unknown_owner(true)
}

/// The parties that the bytes may be of: those of the parameter id in the header, or the first one,
/// which then refuses them.
fn addressed(bytes: &[u8]) -> impl Iterator<Item = &'static Party> {
    let id = inspect(bytes, &options(BoundPolicy::Untrusted)).ok().map(|summary| summary.params);
    let known = parties().iter().any(|party| Some(party.id) == id);
    parties()
        .iter()
        .enumerate()
        .filter(move |(i, party)| if known { Some(party.id) == id } else { *i == 0 })
        .map(|(_, party)| party)
}

/// Runs `depth` on the bytes as they are, and with checksums that match.
fn both(bytes: &[u8], depth: impl Fn(&[u8])) {
    depth(bytes);
    if let Some(sealed) = resealed(bytes) {
        depth(&sealed);
    }
}

/// Parsing: header, index, the JSON of parameters.
pub fn parse(bytes: &[u8]) {
    both(bytes, |bytes| {
        let _ = inspect(bytes, &options(BoundPolicy::Untrusted));
        let _ = wire_params::spec_from_bytes(bytes, &options(BoundPolicy::Untrusted));
    });
}

/// Conformance: whatever the bytes are, read for each set and under each policy. How often that
/// went well.
pub fn conform(bytes: &[u8]) -> usize {
    let read = Cell::new(0);
    let count = |well: bool| read.set(read.get() + usize::from(well));
    both(bytes, |bytes| {
        count(wire_params::spec_from_bytes(bytes, &options(BoundPolicy::Untrusted)).is_ok());
        for set in addressed(bytes).map(|party| party.secret.params()) {
            for bounds in [
                BoundPolicy::Untrusted,
                BoundPolicy::Fresh(Encryption::Public),
                BoundPolicy::Stated,
            ] {
                count(columns::from_bytes(set, bytes, &options(bounds.clone())).is_ok());
                count(products::from_bytes(set, bytes, &options(bounds.clone())).is_ok());
                count(ciphertexts::from_bytes(set, bytes, &options(bounds)).is_ok());
            }
            let any = options(BoundPolicy::Untrusted);
            count(secret_key::from_bytes(set, bytes, &any).is_ok());
            count(public_key::from_bytes(set, bytes, &any).is_ok());
            count(server_keys::from_bytes(set, bytes, &any).is_ok());
            count(plaintexts::from_bytes(set, bytes, &any).is_ok());
            count(results::from_bytes(set, bytes, &any).is_ok());
            count(product_results::from_bytes(set, bytes, &any).is_ok());
            count(columns::results_from_bytes(set, bytes, &any).is_ok());
            count(uploads::from_bytes(set, bytes, &any).is_ok());
            count(manifest_key().is_ok_and(|key| Manifest::from_bytes(bytes, &key, &any).is_ok()));
        }
    });
    read.get()
}

/// Use after conformance: whatever could be read is encrypted, computed with and decrypted. Results
/// may be wrong or refused.
pub fn compute(bytes: &[u8]) {
    both(bytes, |bytes| {
        for party in addressed(bytes) {
            use_ciphertexts(party, bytes);
            use_columns(party, bytes);
            use_keys(party, bytes);
            use_upload(party, bytes);
        }
    });
}

fn use_ciphertexts(party: &Party, bytes: &[u8]) {
    let (set, secret, evaluator) = (party.secret.params(), &party.secret, &party.evaluator);
    let read = ciphertexts::from_bytes(set, bytes, &options(BoundPolicy::Stated));
    let xs = read.map(|(xs, _)| xs).unwrap_or_default();
    for x in xs.iter().take(2) {
        let _ = secret.decrypt(x);
        let results = [
            evaluator.add(x, &xs[0]),
            evaluator.sub(x, &party.fresh),
            evaluator.neg(x),
            evaluator.add_plain(x, &party.message),
            evaluator.mul_plain(x, &party.message),
            evaluator.mul_scalar(x, -5),
            evaluator.linear_combination(&[(x, 3), (&party.fresh, 2)], 1),
            evaluator.mod_switch_to(x, Level(x.level().0 / 2)),
            evaluator.reduce_plain_modulus(x, 1),
            evaluator.divide_by_p(x),
            evaluator.multiply_by_p(x),
            evaluator.mul(x, &xs[0], NextUse::Product),
            evaluator.apply_galois(x, party.automorphism),
        ];
        if let Some(y) = results.iter().flatten().last() {
            let _ = secret.decrypt(y);
        }
        let _ = evaluator.mul_lazy(x, &party.fresh);
        if let Ok(compact) = x.compact_for_decryption(set) {
            let _ = secret.decrypt_compact(&compact);
        }
        if let Ok(raised) = evaluator.to_base_modulus(x) {
            let _ = evaluator.mod_raise_scaled(&raised).and_then(|y| secret.decrypt(&y));
        }
    }
    let read = products::from_bytes(set, bytes, &options(BoundPolicy::Stated));
    for x in read.iter().flat_map(|(xs, _)| xs).take(2) {
        let _ = secret.decrypt_product(x);
        if let Ok(compact) = x.compact_for_decryption(set) {
            let _ = secret.decrypt_compact(&compact);
        }
        let _ = evaluator.add_products(x, x).and_then(|y| evaluator.relinearize(&y, NextUse::Keep));
    }
    let any = options(BoundPolicy::Untrusted);
    let read =
        [results::from_bytes(set, bytes, &any), product_results::from_bytes(set, bytes, &any)];
    for x in read.iter().flatten().flat_map(|(xs, _)| xs).take(2) {
        let _ = secret.decrypt_compact(x);
    }
    let read = plaintexts::from_bytes(set, bytes, &options(BoundPolicy::Untrusted));
    for x in read.iter().flat_map(|(xs, _)| xs).take(2) {
        let _ = (x.decode(set), x.decode_signed(set), x.decode_elements(set), x.norm_bits(set));
        let _ = secret.encrypt(x, &mut ChaCha20Rng::seed_from_u64(2));
    }
}

fn use_columns(party: &Party, bytes: &[u8]) {
    let (set, secret) = (party.secret.params(), &party.secret);
    let read = columns::from_bytes(set, bytes, &options(BoundPolicy::Stated));
    if let Ok((columns, mut metadata)) = read {
        for column in columns.iter().take(4) {
            let _ = column.compact_for_decryption(set);
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let stated = columns::take_indexes(&mut metadata.clone(), &names);
        let left = columns::without_indexes(columns.clone(), &mut metadata);
        assert_eq!(stated.map(drop), left.map(drop));
        assert!(!metadata.contains_key(columns::INDEXES));
        open_columns(set, columns, |x: &Ciphertext| secret.decrypt(x));
    }
    let any = options(BoundPolicy::Untrusted);
    if let Ok((columns, _)) = columns::results_from_bytes(set, bytes, &any) {
        open_columns(set, columns, |x: &CompactCiphertext| secret.decrypt_compact(x));
    }
}

/// Columns are put together, decrypted, and taken apart again.
fn open_columns<C>(
    set: &Params,
    columns: Vec<columns::StoredColumn<C>>,
    decrypt: impl Fn(&C) -> Result<Plaintext, SchemeError>,
) {
    let modulus = PrimePower::new(set.spec().plain_prime, 1).expect("a prime");
    for column in columns.into_iter().take(4) {
        let digit = |d: columns::StoredDigit<C>| DigitPart {
            power: d.power,
            low: d.low,
            high: d.high,
            pad: d.pad,
            stride: d.stride as usize,
            value: d.ciphertext.map(Into::into),
        };
        let Ok(interval) = Interval::new(column.low, column.high) else { continue };
        let parts: Parts<C> = Parts {
            interval,
            anchor: column.anchor,
            length: column.length.map(|n| n as usize),
            divisor: column.divisor,
            digits: column.digits.into_iter().map(digit).collect(),
        };
        let Ok(x) = Encrypted::from_parts(parts, set.slots(), modulus) else { continue };
        let open = |x: &C| Ok::<_, IntegersError>(decrypt(x)?.decode(set)?);
        let _ = match &x {
            Encrypted::Column(x) => x.decrypt(modulus, open).map(|values| values.to_vec()),
            Encrypted::Total(x) => x.decrypt(modulus, open).map(|value| vec![value]),
        };
        assert!(x.to_parts(set.slots(), modulus).is_ok(), "what was accepted can be written");
    }
}

fn use_keys(party: &Party, bytes: &[u8]) {
    let set = party.secret.params();
    let any = options(BoundPolicy::Untrusted);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    if let Ok((key, _)) = public_key::from_bytes(set, bytes, &any)
        && let Ok(x) = key.encrypt(&party.message, &mut rng)
    {
        let _ = party.secret.decrypt(&x);
    }
    if let Ok((key, _)) = secret_key::from_bytes(set, bytes, &any) {
        let x = key.encrypt(&party.message, &mut rng).and_then(|x| key.decrypt(&x));
        assert!(
            x.as_ref() == Ok(&party.message),
            "a key that was accepted decrypts what it encrypts"
        );
    }
    if let Ok((keys, _)) = server_keys::from_bytes(set, bytes, &any) {
        let plan = keys.plan();
        let evaluator = Evaluator::new(keys);
        let x = &party.fresh;
        let results = plan.galois.keys().map(|(g, _)| evaluator.apply_galois(x, *g));
        for y in results.chain([evaluator.mul(x, x, NextUse::Keep)]).flatten() {
            let _ = party.secret.decrypt(&y);
        }
        if let Ok(raised) = evaluator.to_base_modulus(x) {
            let _ = evaluator.mod_raise_scaled(&raised).and_then(|y| party.secret.decrypt(&y));
        }
    }
}

/// An upload that was accepted is written again as it was.
fn use_upload(party: &Party, bytes: &[u8]) {
    let set = party.secret.params();
    let any = options(BoundPolicy::Untrusted);
    let Ok((upload, metadata)) = uploads::from_bytes(set, bytes, &any) else { return };
    let again = uploads::to_bytes(set, &upload, &metadata).expect("what was accepted is written");
    let back = uploads::from_bytes(set, &again, &any).map(|(back, _)| back);
    assert!(back.is_ok_and(|back| back == upload));
}

/// Parameters, from an object or from plain JSON. Sets that would take long are left out.
pub fn params(bytes: &[u8]) {
    let read = |bytes: &[u8]| {
        wire_params::spec_from_bytes(bytes, &options(BoundPolicy::Untrusted))
            .ok()
            .map(|(spec, _)| spec)
    };
    let spec = read(bytes)
        .or_else(|| read(&resealed(bytes)?))
        .or_else(|| serde_json::from_slice(bytes).ok());
    let Some(spec) = spec else { return };
    if spec.index > 64 || spec.words > 3 || spec.special > 2 || spec.fine_bits.len() > 2 {
        return;
    }
    if let Ok(set) = Params::new(spec, OptIn::InsecureResearch) {
        let bytes = wire_params::to_bytes(&set, &Metadata::new()).expect("little metadata");
        let back = wire_params::from_bytes(
            &bytes,
            OptIn::InsecureResearch,
            &options(BoundPolicy::Untrusted),
        );
        assert!(back.is_ok_and(|(back, _)| back.same(&set)));
    }
}
