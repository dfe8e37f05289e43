//! Every object of every family there and back.

use crate::common::{Party, SETS, named};
use everlevel_bgv::keys::EvalKeys;
use everlevel_bgv::{Ciphertext, Evaluator, PublicKey, SecretKey};
use everlevel_scheme::{
    Arithmetic, Automorphisms, Form, Level, NextUse, OptIn, PlainModulus, Plaintext,
};
use everlevel_wire::{
    BoundPolicy, Encryption, Metadata, ObjectKind, ParamsId, ReadOptions, WireError,
    canonical_json, ciphertexts, inspect, params, plaintexts, public_key, secret_key, server_keys,
};
use proptest::prelude::*;

fn stated() -> ReadOptions {
    ReadOptions::with_bounds(BoundPolicy::Stated)
}

/// There and back: equal bytes, equal polynomials.
fn again(party: &Party, xs: &[Ciphertext]) -> Vec<Ciphertext> {
    let metadata = Metadata::from([("layout".into(), "rows".into()), ("a".into(), "1 ≤ 2".into())]);
    let bytes = ciphertexts::to_bytes(&party.params, xs, &metadata).unwrap();
    let (back, found) = ciphertexts::from_bytes(&party.params, &bytes, &stated()).unwrap();
    assert_eq!(found, metadata);
    assert!(ciphertexts::to_bytes(&party.params, &back, &metadata).unwrap() == bytes);
    assert_eq!(
        back.iter().map(Ciphertext::fingerprint).collect::<Vec<_>>(),
        xs.iter().map(Ciphertext::fingerprint).collect::<Vec<_>>()
    );
    assert!(
        back.iter().zip(xs).all(|(a, b)| a.seed() == b.seed() && a.meta().level == b.meta().level)
    );
    back
}

#[test]
fn parameters_keep_their_names_and_ids() {
    for name in SETS {
        let set = named(name);
        let bytes = params::to_bytes(&set, &Metadata::new()).unwrap();
        let (back, _) =
            params::from_bytes(&bytes, OptIn::InsecureResearch, &ReadOptions::default()).unwrap();
        assert!(back.same(&set));
        assert_eq!(inspect(&bytes, &ReadOptions::default()).unwrap().params, ParamsId::of(&set));
        assert_eq!(params::named_spec(ParamsId::of(&set)).unwrap().name, name);
        let refused = params::from_bytes(&bytes, OptIn::SecureOnly, &ReadOptions::default());
        assert!(matches!(refused, Err(WireError::Scheme(_))), "an insecure set without opt-in");
    }
    let fewer = named("insecure_bgv-257-n8-s16");
    assert_eq!(fewer.slots(), 16);
    let found = params::named_spec(ParamsId::of(&fewer)).unwrap();
    assert_eq!(&found, fewer.spec());
    // Pinned: ids must never change. b3sum of the JSON, the first 16 bytes.
    let set = named("insecure_ltv-257-n8");
    assert_eq!(
        canonical_json(set.spec()),
        r#"{"name":"insecure_ltv-257-n8","index":512,"plain_prime":257,"plain_exponent":1,"base_bits":47,"word_bits":50,"words":9,"fine_bits":[44,38,32],"special":3,"digit_size":3,"family":"ntru","secret":"truncated_gaussian"}"#
    );
}

#[test]
fn secret_keys_decrypt_after_a_round_trip() {
    for name in SETS {
        let mut party = Party::new(name, 1);
        let bytes = secret_key::expose_to_bytes(&party.secret, &Metadata::new()).unwrap();
        let (back, _) =
            secret_key::from_bytes(&party.params, &bytes, &ReadOptions::default()).unwrap();
        assert!(*secret_key::expose_to_bytes(&back, &Metadata::new()).unwrap() == *bytes);
        let message = party.message(11);
        let x = party.secret.encrypt(&message, &mut party.rng).unwrap();
        assert_eq!(back.decrypt(&x).unwrap(), message);
        let y = back.encrypt(&message, &mut party.rng).unwrap();
        assert_eq!(party.secret.decrypt(&y).unwrap(), message);
    }
}

#[test]
fn secret_keys_that_were_never_drawn_are_refused() {
    let party = Party::new("insecure_bgv-257-n8", 2);
    let mut exposed = party.secret.expose_secret_coefficients();
    let refused = |x: &everlevel_bgv::keys::ExposedSecret| {
        SecretKey::from_secret_coefficients(&party.params, x).is_err()
    };
    assert!(!refused(&exposed));
    exposed.main[3] = 2;
    assert!(refused(&exposed), "a coefficient");
    // All ones: a norm that the model does not allow.
    exposed.main.fill(1);
    assert!(refused(&exposed), "the norm");
    let mut exposed = party.secret.expose_secret_coefficients();
    let sparse = exposed.sparse.as_mut().unwrap();
    let zero = sparse.iter().position(|x| *x == 0).unwrap();
    sparse[zero] = 1;
    assert!(refused(&exposed), "the weight");
    exposed.sparse = None;
    assert!(refused(&exposed), "no sparse secret");
}

#[test]
fn public_keys_encrypt_after_a_round_trip() {
    for name in SETS {
        let mut party = Party::new(name, 3);
        let key = PublicKey::generate(&party.secret, &mut party.rng);
        let bytes = public_key::to_bytes(&key, &Metadata::new()).unwrap();
        let (back, _) =
            public_key::from_bytes(&party.params, &bytes, &ReadOptions::default()).unwrap();
        assert!(public_key::to_bytes(&back, &Metadata::new()).unwrap() == bytes);
        let message = party.message(5);
        let x = back.encrypt(&message, &mut party.rng).unwrap();
        assert_eq!(party.secret.decrypt(&again(&party, &[x])[0]).unwrap(), message);
    }
}

#[test]
fn server_keys_compute_the_same_after_a_round_trip() {
    for name in SETS {
        let mut party = Party::new(name, 4);
        let keys = party.server_keys();
        let bytes = server_keys::to_bytes(&keys, &Metadata::new()).unwrap();
        let options = ReadOptions::default();
        let (back, _) = server_keys::from_bytes(&party.params, &bytes, &options).unwrap();
        assert!(server_keys::to_bytes(&back, &Metadata::new()).unwrap() == bytes);
        assert_eq!(back.plan(), party.plan);
        let report = server_keys::SizeReport::of_plan(&party.params, &party.plan);
        assert_eq!(report.relin.0 + report.galois.0, party.plan.len());
        let records = inspect(&bytes, &options).unwrap().records as u64;
        assert!(bytes.len() as u64 - report.total_bytes() <= 114 + 60 * records);
        // The sum that plans estimate, up to the seeds.
        let estimate = party.plan.seeded_bytes(&party.params) as f64;
        assert!(
            (report.total_bytes() as f64 / estimate - 1.0).abs() < 0.15,
            "{name}: {report:?}, {estimate}"
        );

        let x = party.secret.encrypt(&party.message(7), &mut party.rng).unwrap();
        let g = party.plan.galois.keys().next().unwrap().0;
        let compute = |keys| {
            let evaluator = Evaluator::new(keys);
            let y = evaluator.mul(&x, &x, NextUse::Product).unwrap();
            evaluator
                .apply_galois(&evaluator.mul(&y, &x, NextUse::Keep).unwrap(), g)
                .unwrap()
                .fingerprint()
        };
        assert_eq!(back.bootstrap().unwrap().is_some(), party.params.spec().bootstrap.is_some());
        assert_eq!(compute(keys), compute(back));
    }
}

#[test]
fn plaintexts_at_every_exponent() {
    for name in SETS {
        let party = Party::new(name, 5);
        for exponent in 1..=party.params.slot_shape().max_exponent() {
            let t = party.params.slot_shape().plain_modulus(exponent);
            let coefficients = (0..party.params.degree() as u64).map(|i| t - 1 - i % t).collect();
            let x = Plaintext::from_coefficients(&party.params, coefficients, exponent).unwrap();
            let bytes = plaintexts::to_bytes(
                &party.params,
                &[x.clone(), party.message(3)],
                &Metadata::new(),
            )
            .unwrap();
            let (back, _) =
                plaintexts::from_bytes(&party.params, &bytes, &ReadOptions::default()).unwrap();
            assert_eq!(back, [x, party.message(3)]);
        }
    }
}

#[test]
fn fresh_ciphertexts_are_seeded_and_results_are_not() {
    let mut party = Party::new("insecure_bfv-257-n8", 6);
    let x = party.secret.encrypt(&party.message(1), &mut party.rng).unwrap();
    let evaluator = Evaluator::new(party.server_keys());
    assert!(x.seed().is_some());
    let g = party.plan.galois.keys().next().unwrap().0;
    let results = [
        evaluator.add(&x, &x).unwrap(),
        evaluator.sub(&x, &x).unwrap(),
        evaluator.neg(&x).unwrap(),
        evaluator.add_scalar(&x, 1).unwrap(),
        evaluator.mul_scalar(&x, 3).unwrap(),
        evaluator.add_plain(&x, &party.message(2)).unwrap(),
        evaluator.mul_plain(&x, &party.message(2)).unwrap(),
        evaluator.linear_combination(&[(&x, 2)], 1).unwrap(),
        evaluator.convert(&x, Form::Bgv),
        evaluator.mul_monomial(&x, 3).unwrap(),
        evaluator.multiply_by_p(&x).unwrap(),
        evaluator.apply_galois(&x, g).unwrap(),
        evaluator.mul(&x, &x, NextUse::Keep).unwrap(),
        evaluator.mod_switch_to(&x, Level(3)).unwrap(),
    ];
    assert!(results.iter().all(|y| y.seed().is_none()));
    let bytes = |x: &Ciphertext| {
        ciphertexts::to_bytes(&party.params, std::slice::from_ref(x), &Metadata::new())
            .unwrap()
            .len()
    };
    assert!((bytes(&x) as f64) < 0.52 * bytes(&results[0]) as f64);
    again(&party, &results);
}

/// In BFV form the polynomials change with the plaintext modulus, so no seed stands for one of them
/// any more.
#[test]
fn fresh_ciphertexts_modulo_a_larger_power_are_written_whole() {
    for name in ["insecure_bgv-257-n8", "insecure_bfv-257-n8", "insecure_bfv-127e2-n8"] {
        let mut party = Party::new(name, 12);
        let fresh = party.secret.encrypt(&party.message(1), &mut party.rng).unwrap();
        let evaluator = Evaluator::new(party.server_keys());
        let exponent = party.params.raised_exponent();
        let extended = evaluator.extend_plain_modulus(&fresh, exponent).unwrap();
        let bytes =
            ciphertexts::to_bytes(&party.params, std::slice::from_ref(&extended), &Metadata::new());
        let back = ciphertexts::from_bytes(&party.params, &bytes.unwrap(), &stated()).unwrap().0;
        assert_eq!(back[0].fingerprint(), extended.fingerprint(), "{name}");
        assert!(fresh.seed().is_some() && extended.seed().is_none(), "{name}");
    }
}

#[test]
fn bounds_are_believed_as_the_policy_says() {
    for name in SETS {
        let mut party = Party::new(name, 7);
        let message = party.message(9);
        let fresh = party.secret.encrypt(&message, &mut party.rng).unwrap();
        let evaluator = Evaluator::new(party.server_keys());
        let product = evaluator.mul(&fresh, &fresh, NextUse::Keep).unwrap();
        let bytes = |x: &Ciphertext| {
            ciphertexts::to_bytes(&party.params, std::slice::from_ref(x), &Metadata::new()).unwrap()
        };
        let read = |bytes: &[u8], bounds| {
            ciphertexts::from_bytes(&party.params, bytes, &ReadOptions::with_bounds(bounds))
                .map(|(mut xs, _)| xs.remove(0))
        };

        let untrusted = read(&bytes(&product), BoundPolicy::Untrusted).unwrap();
        assert_eq!(
            party.secret.decrypt(&untrusted).unwrap(),
            party.secret.decrypt(&product).unwrap()
        );
        assert!(
            evaluator.mul(&untrusted, &untrusted, NextUse::Keep).is_err(),
            "{name}: decryptable, and nothing else"
        );
        assert!(evaluator.add(&untrusted, &untrusted).is_err());

        assert_eq!(
            read(&bytes(&fresh), BoundPolicy::Fresh(Encryption::Secret)).unwrap().meta(),
            fresh.meta()
        );
        let public = read(&bytes(&fresh), BoundPolicy::Fresh(Encryption::Public)).unwrap();
        assert!(public.noise_bound_bits() >= fresh.noise_bound_bits());
        let refused = read(&bytes(&product), BoundPolicy::Fresh(Encryption::Secret)).unwrap_err();
        assert_eq!(refused.code(), "wire.malformed");

        assert_eq!(read(&bytes(&product), BoundPolicy::Stated).unwrap().meta(), product.meta());
        // A lie about the bound is corrected to what the scheme reaches.
        let lie = evaluator.mul_scalar(&fresh, 0).unwrap();
        assert_eq!(lie.noise_bound_bits(), 0.0);
        let corrected = read(&bytes(&lie), BoundPolicy::Stated).unwrap().noise_bound_bits();
        let (noise, t) = (party.params.noise().bound(), party.params.plain_modulus());
        assert!((corrected - noise.floor(t).min(noise.fresh_secret(t))).abs() < 1e-6);
    }
}

#[test]
fn each_mistake_has_its_own_error() {
    let mut party = Party::new("insecure_bgv-257-n8", 8);
    let other = named("insecure_bfv-257-n8");
    let x = party.secret.encrypt(&party.message(1), &mut party.rng).unwrap();
    let bytes = ciphertexts::to_bytes(&party.params, &[x], &Metadata::new()).unwrap();
    let options = ReadOptions::default();
    let code = |bytes: &[u8]| {
        ciphertexts::from_bytes(&party.params, bytes, &options).map(|_| ()).unwrap_err().code()
    };
    assert_eq!(code(b"PK\x03\x04 something else altogether"), "wire.not-ours");
    assert_eq!(code(&bytes[..7]), "wire.truncated");
    assert_eq!(code(&bytes[..bytes.len() - 1]), "wire.truncated");
    assert_eq!(code(&[&bytes[..], &[0]].concat()), "wire.trailing");
    let mut newer = bytes.clone();
    newer[8] = 3;
    assert_eq!(code(&newer), "wire.newer-version");
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(code(&damaged), "wire.checksum");
    let of = |params| ciphertexts::from_bytes(params, &bytes, &options).map(|_| ()).unwrap_err();
    assert_eq!(of(&other).code(), "wire.other-params");
    assert!(of(&other).to_string().contains("insecure_bfv-257-n8"));
    let kind = public_key::from_bytes(&party.params, &bytes, &options).map(|_| ()).unwrap_err();
    assert_eq!(
        kind,
        WireError::WrongKind { expected: ObjectKind::PUBLIC_KEY, found: ObjectKind::CIPHERTEXTS }
    );
    let small = options.clone().limited_to(bytes.len() as u64 - 1);
    assert_eq!(
        ciphertexts::from_bytes(&party.params, &bytes, &small).map(|_| ()).unwrap_err().code(),
        "wire.limit"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn ciphertexts_at_all_levels_in_both_forms(
        set in 0..SETS.len(),
        seed in any::<u64>(),
        level in any::<usize>(),
        switched in any::<usize>(),
        bgv in any::<bool>(),
    ) {
        let mut party = Party::new(SETS[set], seed);
        let top = party.params.chain().top().0;
        let message = party.message(seed);
        // The highest levels hold a fresh encryption over any family; over NTRU the lowest ones
        // need not.
        let level = Level(top - level % (top / 2));
        let fresh = party.secret.encrypt_at(&message, level, &mut party.rng).unwrap();
        let evaluator = Evaluator::new(everlevel_bgv::ServerKeys::empty(&party.params));
        let form = if bgv { Form::Bgv } else { Form::Bfv };
        let mut all = vec![evaluator.convert(&fresh, form), fresh];
        let lower = evaluator.mod_switch_to(&all[1], Level(switched % (level.0 + 1)));
        all.extend(lower);
        for x in again(&party, &all) {
            prop_assert_eq!(&party.secret.decrypt(&x).unwrap(), &message);
        }
    }
}
