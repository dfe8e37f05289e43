//! LTV over prime powers there and back.

use std::sync::Arc;

use everlevel_ltv::wire::{ciphertexts, eval_keys, params, public_key, secret_key};
use everlevel_ltv::{KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey};
use everlevel_ring::GaloisElement;
use everlevel_scheme::{Arithmetic, Automorphisms, Level, Meta, NextUse, OptIn};
use everlevel_wire::{
    BoundPolicy, Encryption, Manifest, Metadata, ReadOptions, WireError, inspect,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const SETS: [&str; 2] = ["insecure_ltv-m255", "insecure_ltv-m255-binary"];

fn stated() -> ReadOptions {
    ReadOptions::with_bounds(BoundPolicy::Stated)
}

#[test]
fn every_object_of_it() {
    for name in SETS {
        let (none, options) = (Metadata::new(), stated());
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let set = LtvParams::named(name, OptIn::InsecureResearch).unwrap();
        let bytes = params::to_bytes(&set, &none).unwrap();
        assert_eq!(
            params::from_bytes(&bytes, OptIn::InsecureResearch, &options).unwrap().0.spec(),
            set.spec()
        );
        assert_eq!(inspect(&bytes, &options).unwrap().params, set.id());

        let secret = LtvSecretKey::generate(&set, &mut rng);
        let bytes = secret_key::expose_to_bytes(&secret, &none).unwrap();
        let (again, _) = secret_key::from_bytes(&set, &bytes, &options).unwrap();
        assert!(*secret_key::expose_to_bytes(&again, &none).unwrap() == *bytes);
        let bytes = public_key::to_bytes(secret.public(), &none).unwrap();
        assert!(
            public_key::to_bytes(again.public(), &none).unwrap() == bytes,
            "h follows from u and g"
        );
        let (public, _) = public_key::from_bytes(&set, &bytes, &options).unwrap();

        let message =
            set.from_coefficients((0..set.degree() as u64).map(|i| i / 3 % 2).collect()).unwrap();
        let x = public.encrypt(&message, &mut rng).unwrap();
        assert_eq!(again.decrypt(&x).unwrap(), message);

        let g = GaloisElement::new(255, 2).unwrap();
        for form in [KeyForm::Evaluations, KeyForm::Polynomial] {
            let keys =
                LtvEvalKeys::generate(&secret, &[g], form, &mut ChaCha20Rng::seed_from_u64(2));
            let bytes = eval_keys::to_bytes(&keys, &none).unwrap();
            assert!(eval_keys::to_bytes(&keys.reduced(Level(1)), &none).is_err());
            let compute = |keys: LtvEvalKeys| {
                let evaluator = LtvEvaluator::new(keys).unwrap();
                let product = evaluator.mul(&x, &x, NextUse::Keep).unwrap();
                let rotated = evaluator.apply_galois(&product, g).unwrap();
                (product, rotated)
            };
            let (product, rotated) = compute(keys);
            for other in [KeyForm::Evaluations, KeyForm::Polynomial] {
                let (keys, _) = eval_keys::from_bytes(&set, other, &bytes, &options).unwrap();
                assert!(eval_keys::to_bytes(&keys, &none).unwrap() == bytes);
                assert_eq!(compute(keys).1.fingerprint(), rotated.fingerprint());
            }
            let all = [x.clone(), product, rotated];
            let bytes = ciphertexts::to_bytes(&set, &all, &none).unwrap();
            let (back, _) = ciphertexts::from_bytes(&set, &bytes, &options).unwrap();
            assert!(ciphertexts::to_bytes(&set, &back, &none).unwrap() == bytes);
            assert!(
                back.iter()
                    .zip(&all)
                    .all(|(a, b)| (a.meta(), a.fingerprint()) == (b.meta(), b.fingerprint()))
            );
        }
    }
}

#[test]
fn noise_is_believed_as_the_policy_says() {
    let set = LtvParams::named(SETS[0], OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = LtvSecretKey::generate(&set, &mut rng);
    let message = set.from_coefficients(vec![1; set.degree()]).unwrap();
    let x = secret.encrypt(&message, &mut rng).unwrap();
    let evaluator =
        LtvEvaluator::new(LtvEvalKeys::generate(&secret, &[], KeyForm::Evaluations, &mut rng))
            .unwrap();
    let product = evaluator.mul(&x, &x, NextUse::Keep).unwrap();
    let read = |x: &LtvCiphertext, bounds| {
        let bytes = ciphertexts::to_bytes(&set, std::slice::from_ref(x), &Metadata::new()).unwrap();
        ciphertexts::from_bytes(&set, &bytes, &ReadOptions::with_bounds(bounds))
            .map(|(mut xs, _)| xs.remove(0))
    };
    let untrusted = read(&x, BoundPolicy::Untrusted).unwrap();
    assert_eq!(secret.decrypt(&untrusted).unwrap(), message);
    assert!(
        evaluator.add(&untrusted, &untrusted).is_err()
            && evaluator.mul(&untrusted, &untrusted, NextUse::Keep).is_err()
    );
    assert_eq!(read(&x, BoundPolicy::Fresh(Encryption::Public)).unwrap().meta(), x.meta());
    assert_eq!(
        read(&product, BoundPolicy::Fresh(Encryption::Public)).unwrap_err().code(),
        "wire.malformed"
    );
}

/// Where a bound was not trusted, or is false, decryption refuses what does not lie well within the
/// modulus: the phases of other keys, and those that were reduced.
#[test]
fn a_false_bound_is_noticed() {
    let set = LtvParams::named(SETS[0], OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let [secret, other] = [0, 1].map(|_| LtvSecretKey::generate(&set, &mut rng));
    let message = set.from_coefficients(vec![1; set.degree()]).unwrap();
    let (low, none) = (Level(0), Metadata::new());
    let x = secret.encrypt_at(&message, low, &mut rng).unwrap();
    let bytes = ciphertexts::to_bytes(&set, std::slice::from_ref(&x), &none).unwrap();
    let options = ReadOptions::with_bounds(BoundPolicy::Untrusted);
    let untrusted = ciphertexts::from_bytes(&set, &bytes, &options).unwrap().0.remove(0);
    assert_eq!(untrusted.meta().noise, set.largest_noise(low));
    assert_eq!(secret.decrypt(&untrusted).unwrap(), message);
    assert_eq!(other.decrypt(&untrusted).unwrap_err().code(), "scheme.not-decryptable");

    // Three times the phase each time, in 31 bits of modulus.
    let stating = |x: &LtvCiphertext, noise: f64| {
        LtvCiphertext::from_parts(&set, Meta { noise, ..*x.meta() }, x.poly().clone()).unwrap()
    };
    let keys = LtvEvalKeys::generate(&secret, &[], KeyForm::Evaluations, &mut rng);
    let (evaluator, mut x, mut right) = (LtvEvaluator::new(keys).unwrap(), x, 0);
    for _ in 0..24 {
        match secret.decrypt(&stating(&x, set.largest_noise(low))) {
            Ok(found) => {
                assert_eq!(found, message);
                right += 1;
            }
            Err(e) => assert_eq!(e.code(), "scheme.not-decryptable"),
        }
        let lie = stating(&x, set.noise().floor());
        x = evaluator.add(&evaluator.add(&lie, &lie).unwrap(), &lie).unwrap();
    }
    assert!((1..24).contains(&right), "{right} were decrypted");
}

#[test]
fn damage_is_found() {
    let set = LtvParams::named(SETS[0], OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = LtvSecretKey::generate(&set, &mut rng);
    let message = set.from_coefficients(vec![1; set.degree()]).unwrap();
    let x = secret.encrypt_at(&message, Level(2), &mut rng).unwrap();
    let keys = LtvEvalKeys::generate(&secret, &[], KeyForm::Polynomial, &mut rng);
    let none = Metadata::new();
    type Read<'r> = Box<dyn Fn(&[u8]) -> Result<(), WireError> + 'r>;
    let options = stated();
    let objects: [(Vec<u8>, Read<'_>); 5] = [
        (
            params::to_bytes(&set, &none).unwrap(),
            Box::new(|b| params::spec_from_bytes(b, &options).map(drop)),
        ),
        (
            secret_key::expose_to_bytes(&secret, &none).unwrap().to_vec(),
            Box::new(|b| secret_key::from_bytes(&set, b, &options).map(drop)),
        ),
        (
            public_key::to_bytes(secret.public(), &none).unwrap(),
            Box::new(|b| public_key::from_bytes(&set, b, &options).map(drop)),
        ),
        (
            eval_keys::to_bytes(&keys, &none).unwrap(),
            Box::new(|b| eval_keys::from_bytes(&set, KeyForm::Polynomial, b, &options).map(drop)),
        ),
        (
            ciphertexts::to_bytes(&set, &[x], &none).unwrap(),
            Box::new(|b| ciphertexts::from_bytes(&set, b, &options).map(drop)),
        ),
    ];
    for (bytes, read) in objects {
        read(&bytes).unwrap();
        let step = if bytes.len() > 4096 { 97 } else { 1 };
        for at in (0..bytes.len()).filter(|at| *at < 256 || at % step == 0) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x21;
            assert!(read(&damaged).is_err(), "byte {at}");
            assert_eq!(read(&bytes[..at]).unwrap_err().code(), "wire.truncated");
        }
    }
}

#[test]
fn manifests_list_its_ciphertexts() {
    let set = LtvParams::named(SETS[0], OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = LtvSecretKey::generate(&set, &mut rng);
    let message = set.from_coefficients(vec![1; set.degree()]).unwrap();
    let x = secret.encrypt(&message, &mut rng).unwrap();
    let bytes = ciphertexts::to_bytes(&set, std::slice::from_ref(&x), &Metadata::new()).unwrap();
    let believing = |manifest: &Manifest| {
        ReadOptions::with_bounds(BoundPolicy::Manifest(Arc::new(manifest.clone())))
    };
    let mut manifest = Manifest::of_id(set.id());
    manifest.add(&bytes).unwrap();
    let (found, _) = ciphertexts::from_bytes(&set, &bytes, &believing(&manifest)).unwrap();
    assert!((found[0].meta().noise - x.meta().noise).abs() < 1e-8);
    assert_eq!(secret.decrypt(&found[0]).unwrap(), message);
    let empty = Manifest::of_id(set.id());
    assert_eq!(
        ciphertexts::from_bytes(&set, &bytes, &believing(&empty)).unwrap_err().code(),
        "wire.not-in-manifest"
    );
}
