//! What the fuzz targets do with bytes, at three depths. Nothing here may panic, whatever the bytes. `cargo +nightly fuzz run compute corpus/objects` runs one
//! target; the tests of `everlevel-wire` run all of them over the corpus and over random changes to it.

use std::cell::Cell;
use std::sync::OnceLock;

use everlevel_scheme::ltv::KeyForm;
use everlevel_scheme::{
    Ciphertext, Evaluator, Level, LtvParams, NextUse, OptIn, Params, Plaintext, Raise, Scheme, SecretKey, ServerKeys,
};
use everlevel_wire::{
    BoundPolicy, Encryption, HEADER_BYTES, Metadata, ReadOptions, ciphertexts, inspect, ltv, params as wire_params, plaintexts,
    public_key, results, secret_key, server_keys,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// The sets that bytes are read for: BGV, BFV and LTV, of degree 256.
pub const SETS: [&str; 3] = ["insecure_bgv-257-n8", "insecure_bfv-257-n8", "insecure_ltv-257-n8"];

/// Larger objects are none of the corpus, and only take time.
const LIMIT: u64 = 1 << 21;

/// A key owner of one of the sets.
struct Party {
    secret: SecretKey,
    message: Plaintext,
    fresh: Ciphertext,
}

fn parties() -> &'static [Party] {
    static ALL: OnceLock<Vec<Party>> = OnceLock::new();
    let party = |name: &&str| {
        let set = Params::named(name, OptIn::InsecureResearch).expect("a named set");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(&set, &mut rng);
        let message = Plaintext::encode(&set, &[1, 2, 3]).expect("three slots");
        let fresh = secret.encrypt(&message, &mut rng).expect("a plaintext of the set");
        Party { secret, message, fresh }
    };
    ALL.get_or_init(|| SETS.iter().map(party).collect())
}

fn options(bounds: BoundPolicy) -> ReadOptions {
    ReadOptions::with_bounds(bounds).limited_to(LIMIT)
}

/// The object with the checksums that it should have, so that changes are seen by what comes after them. None if header or index do not hold together.
pub fn resealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = bytes.to_vec();
    let number = |bytes: &[u8], at: usize, size: usize| -> Option<usize> {
        let field = bytes.get(at..at.checked_add(size)?)?;
        Some(field.iter().rev().fold(0usize, |x, byte| x << 8 | usize::from(*byte)))
    };
    let digest = |parts: &[&[u8]]| {
        let mut hasher = blake3::Hasher::new();
        parts.iter().for_each(|part| {
            hasher.update(part);
        });
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        short
    };
    let index_length = number(bytes, 32, 8)?;
    let end = HEADER_BYTES.checked_add(index_length).filter(|end| *end <= bytes.len())?;
    // Metadata, then records, as far as they can be followed.
    let mut at = HEADER_BYTES;
    let strings = number(bytes, at, 4)?.checked_mul(2)?;
    at += 4;
    for _ in 0..strings {
        at = at.checked_add(4)?.checked_add(number(bytes, at, 4)?)?;
        if at > end {
            break;
        }
    }
    let records = number(bytes, at, 4).unwrap_or(0);
    at = at.saturating_add(4);
    let mut start = end;
    for _ in 0..records {
        let (Some(length), Some(descriptor)) = (number(bytes, at, 8), number(bytes, at.saturating_add(24), 4)) else { break };
        let Some(record) = start.checked_add(length).and_then(|stop| bytes.get(start..stop)) else { break };
        if at + 24 > end {
            break;
        }
        out[at + 8..at + 24].copy_from_slice(&digest(&[record]));
        start += length;
        at = at.saturating_add(28).saturating_add(descriptor);
    }
    let checksum = digest(&[&out[..48], &out[HEADER_BYTES..end]]);
    out[48..HEADER_BYTES].copy_from_slice(&checksum);
    Some(out)
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

/// Conformance: whatever the bytes are, read for each set and under each policy. How often that went well.
pub fn conform(bytes: &[u8]) -> usize {
    let read = Cell::new(0);
    let count = |well: bool| read.set(read.get() + usize::from(well));
    both(bytes, |bytes| {
        for set in parties().iter().map(|party| party.secret.params()) {
            for bounds in [BoundPolicy::Untrusted, BoundPolicy::Fresh(Encryption::Public), BoundPolicy::Stated] {
                count(ciphertexts::from_bytes(set, bytes, &options(bounds)).is_ok());
            }
            let any = options(BoundPolicy::Untrusted);
            count(secret_key::from_bytes(set, bytes, &any).is_ok());
            count(public_key::from_bytes(set, bytes, &any).is_ok());
            count(server_keys::from_bytes(set, bytes, &any).is_ok());
            count(plaintexts::from_bytes(set, bytes, &any).is_ok());
            count(results::from_bytes(set, bytes, &any).is_ok());
        }
    });
    read.get() + conform_ltv(bytes)
}

/// The same for LTV over prime powers.
fn conform_ltv(bytes: &[u8]) -> usize {
    static SET: OnceLock<LtvParams> = OnceLock::new();
    let set = SET.get_or_init(|| LtvParams::named("insecure_ltv-m255", OptIn::InsecureResearch).expect("a named set"));
    let read = Cell::new(0);
    let count = |well: bool| read.set(read.get() + usize::from(well));
    both(bytes, |bytes| {
        let any = options(BoundPolicy::Stated);
        count(ltv::params::spec_from_bytes(bytes, &any).is_ok());
        count(ltv::ciphertexts::from_bytes(set, bytes, &any).is_ok());
        count(ltv::secret_key::from_bytes(set, bytes, &any).is_ok());
        count(ltv::public_key::from_bytes(set, bytes, &any).is_ok());
        count(ltv::eval_keys::from_bytes(set, KeyForm::Evaluations, bytes, &any).is_ok());
    });
    read.get()
}

/// Use after conformance: whatever could be read is encrypted, computed with and decrypted. Results may be wrong or refused.
pub fn compute(bytes: &[u8]) {
    both(bytes, |bytes| {
        for party in parties() {
            use_ciphertexts(party, bytes);
            use_keys(party, bytes);
        }
    });
}

fn use_ciphertexts(party: &Party, bytes: &[u8]) {
    let set = party.secret.params();
    let secret = &party.secret;
    let read = ciphertexts::from_bytes(set, bytes, &options(BoundPolicy::Stated));
    let evaluator = Evaluator::new(ServerKeys::empty(set));
    let xs = read.map(|(xs, _)| xs).unwrap_or_default();
    for x in xs.iter().take(3) {
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
        ];
        for y in results.iter().flatten() {
            let _ = secret.decrypt(y);
        }
        let _ = evaluator.mul_no_relin(x, &party.fresh);
        if let Ok(compact) = x.compact_for_decryption(set) {
            let _ = secret.decrypt_compact(&compact);
        }
    }
    let read = results::from_bytes(set, bytes, &options(BoundPolicy::Untrusted));
    for x in read.iter().flat_map(|(xs, _)| xs) {
        let _ = secret.decrypt_compact(x);
    }
    let read = plaintexts::from_bytes(set, bytes, &options(BoundPolicy::Untrusted));
    for x in read.iter().flat_map(|(xs, _)| xs).take(3) {
        let _ = (x.decode(set), x.decode_signed(set), x.decode_elements(set), x.norm_bits(set));
        let _ = secret.encrypt(x, &mut ChaCha20Rng::seed_from_u64(2));
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
        assert!(x.as_ref() == Ok(&party.message), "a key that was accepted decrypts what it encrypts");
    }
    if let Ok((keys, _)) = server_keys::from_bytes(set, bytes, &any) {
        let plan = keys.plan();
        let evaluator = Evaluator::new(keys);
        let low = evaluator.mod_switch_to(&party.fresh, Level(1)).ok();
        for x in std::iter::once(&party.fresh).chain(&low) {
            let results = plan.galois.keys().map(|(g, _)| evaluator.apply_galois(x, *g));
            for y in results.chain([evaluator.mul(x, x, NextUse::Keep)]).flatten() {
                let _ = party.secret.decrypt(&y);
            }
            if let Ok(raised) = evaluator.begin_raise(x) {
                let _ = evaluator.raise_scaled(&raised).and_then(|y| party.secret.decrypt(&y));
            }
        }
    }
}

/// Parameters, from an object or from plain JSON. Sets that would take long are left out.
pub fn params(bytes: &[u8]) {
    let read = |bytes: &[u8]| wire_params::spec_from_bytes(bytes, &options(BoundPolicy::Untrusted)).ok().map(|(spec, _)| spec);
    let spec = read(bytes).or_else(|| read(&resealed(bytes)?)).or_else(|| serde_json::from_slice(bytes).ok());
    let Some(spec) = spec else { return };
    if spec.index > 600 || spec.words > 12 || spec.special > 6 || spec.fine_bits.len() > 4 {
        return;
    }
    if let Ok(set) = Params::new(spec, OptIn::InsecureResearch) {
        let bytes = wire_params::to_bytes(&set, &Metadata::new()).expect("little metadata");
        let back = wire_params::from_bytes(&bytes, OptIn::InsecureResearch, &options(BoundPolicy::Untrusted));
        assert!(back.is_ok_and(|(back, _)| back.same(&set)));
    }
}
