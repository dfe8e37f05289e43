//! What the fuzz targets do with the bytes of objects of LTV over prime powers: conformance, and
//! use after conformance. Nothing here may panic, whatever the bytes. The tests of `everlevel-ltv`
//! run all of it over the corpora and over random changes to its own objects.

#[path = "objects/sealed.rs"]
mod sealed;

use std::cell::Cell;
use std::sync::OnceLock;

use everlevel_ltv::wire::{ciphertexts, eval_keys, params, public_key, secret_key};
use everlevel_ltv::{
    Gadget, KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey, LtvSpec,
};
use everlevel_ring::GaloisElement;
use everlevel_scheme::{Arithmetic, Level, NextUse, OptIn, Plaintext};
use everlevel_wire::{BoundPolicy, Metadata, ReadOptions, WireError};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

pub use sealed::resealed;

/// Larger objects are none of the corpus, and only take time.
const LIMIT: u64 = 1 << 16;

fn options() -> ReadOptions {
    ReadOptions::with_bounds(BoundPolicy::Stated).limited_to(LIMIT)
}

/// Owner and server of a ring as small as there are.
struct Party {
    secret: LtvSecretKey,
    message: Plaintext,
    fresh: LtvCiphertext,
    evaluator: LtvEvaluator,
}

fn party() -> &'static Party {
    static ONE: OnceLock<Party> = OnceLock::new();
    ONE.get_or_init(|| {
        let name = "insecure_fuzz-adic".into();
        let spec = LtvSpec {
            name,
            index: 15,
            prime_bits: 20,
            levels: 3,
            gadget: Gadget::Hybrid { rows: 2 },
        };
        let set = LtvParams::new(spec, OptIn::InsecureResearch).expect("a set that holds together");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = LtvSecretKey::generate(&set, &mut rng);
        let message =
            set.from_coefficients((0..set.degree() as u64).map(|i| i % 2).collect()).expect("bits");
        let fresh = secret.encrypt(&message, &mut rng).expect("a plaintext of the set");
        let automorphism = GaloisElement::new(15, 2).expect("a unit modulo the index");
        let keys = LtvEvalKeys::generate(&secret, &[automorphism], KeyForm::Evaluations, &mut rng);
        let evaluator = LtvEvaluator::new(keys).expect("keys of the set");
        Party { secret, message, fresh, evaluator }
    })
}

/// An object of every kind with its name: what fuzzing begins with.
///
/// # Errors
/// What writing refuses, which would be a mistake here.
pub fn seeds() -> Result<Vec<(String, Vec<u8>)>, WireError> {
    let metadata = Metadata::from([("values".into(), "16".into())]);
    let party = party();
    let set = party.secret.params();
    let objects = [
        ("params", params::to_bytes(set, &metadata)?),
        ("secret_key", secret_key::expose_to_bytes(&party.secret, &metadata)?.to_vec()),
        ("public_key", public_key::to_bytes(party.secret.public(), &metadata)?),
        ("eval_keys", eval_keys::to_bytes(party.evaluator.keys(), &metadata)?),
        ("ciphertexts", ciphertexts::to_bytes(set, std::slice::from_ref(&party.fresh), &metadata)?),
    ];
    Ok(objects.map(|(kind, bytes)| (format!("{}.{kind}", set.name()), bytes)).into())
}

/// Runs `depth` on the bytes as they are, and with checksums that match.
fn both(bytes: &[u8], depth: impl Fn(&[u8])) {
    depth(bytes);
    if let Some(sealed) = resealed(bytes) {
        depth(&sealed);
    }
}

/// Conformance: whatever the bytes are, read as every kind. How often that went well.
pub fn conform(bytes: &[u8]) -> usize {
    let set = party().secret.params();
    let read = Cell::new(0);
    let count = |well: bool| read.set(read.get() + usize::from(well));
    both(bytes, |bytes| {
        let any = options();
        count(params::spec_from_bytes(bytes, &any).is_ok());
        count(ciphertexts::from_bytes(set, bytes, &any).is_ok());
        count(secret_key::from_bytes(set, bytes, &any).is_ok());
        count(public_key::from_bytes(set, bytes, &any).is_ok());
        count(eval_keys::from_bytes(set, KeyForm::Evaluations, bytes, &any).is_ok());
    });
    read.get()
}

/// Use after conformance: whatever could be read is encrypted, computed with and decrypted. Results
/// may be wrong or refused.
pub fn compute(bytes: &[u8]) {
    both(bytes, |bytes| {
        use_ciphertexts(bytes);
        use_keys(bytes);
    });
}

fn use_ciphertexts(bytes: &[u8]) {
    let party = party();
    let (set, secret) = (party.secret.params(), &party.secret);
    let read = ciphertexts::from_bytes(set, bytes, &options());
    let xs = read.map(|(xs, _)| xs).unwrap_or_default();
    for x in xs.iter().take(2) {
        let _ = secret.decrypt(x);
        let results = [
            party.evaluator.add(x, &xs[0]),
            party.evaluator.sub(x, &party.fresh),
            party.evaluator.mul(x, &party.fresh, NextUse::Product),
            party.evaluator.mul_plain(x, &party.message),
            party.evaluator.mod_switch_to(x, Level(0)),
        ];
        if let Some(y) = results.iter().flatten().last() {
            let _ = secret.decrypt(y);
        }
    }
}

fn use_keys(bytes: &[u8]) {
    let party = party();
    let (set, secret, any) = (party.secret.params(), &party.secret, options());
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    if let Ok((key, _)) = secret_key::from_bytes(set, bytes, &any) {
        let x = key.encrypt(&party.message, &mut rng).and_then(|x| key.decrypt(&x));
        assert!(
            x.as_ref() == Ok(&party.message),
            "a key that was accepted decrypts what it encrypts"
        );
    }
    if let Ok((key, _)) = public_key::from_bytes(set, bytes, &any) {
        let _ = key.encrypt(&party.message, &mut rng).and_then(|x| secret.decrypt(&x));
    }
    if let Ok((keys, _)) = eval_keys::from_bytes(set, KeyForm::Evaluations, bytes, &any)
        && let Ok(evaluator) = LtvEvaluator::new(keys)
    {
        let _ = evaluator
            .mul(&party.fresh, &party.fresh, NextUse::Keep)
            .and_then(|y| secret.decrypt(&y));
    }
}
