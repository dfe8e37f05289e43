//! Operands of other parameter sets of the same shape, which only the id of their set tells apart.

use everlevel_bgv::{
    Ciphertext, Evaluator, Product, PublicKey, SecretKey, SeededCiphertext, ServerKeys,
};
use everlevel_ring::GaloisElement;
use everlevel_scheme::{
    Arithmetic, Bootstrappable, DiagonalValues, ExactScheme, Form, KeyPlan, Level, LinearMaps,
    NextUse, NoOp, OptIn, Params, ParamsSpec, PeriodicSlots, Plaintext, Scheme, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const WRONG: &str = "scheme.wrong-params";
const ONE: GaloisElement = GaloisElement::IDENTITY;

fn build(spec: ParamsSpec) -> Params {
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// A set, and others with other primes, another plaintext modulus, another ring of the same degree,
/// another name.
fn sets() -> (Params, [Params; 4]) {
    let set = |name: &str, index, p| ParamsSpec {
        words: 3,
        ..ParamsSpec::new(format!("insecure_{name}"), index, p)
    };
    let one = set("one", 512, 17);
    let primes = ParamsSpec { base_bits: 49, word_bits: 49, ..set("primes", 512, 17) };
    let others = [primes, set("modulus", 512, 97), set("ring", 257, 17), set("name", 512, 17)];
    (build(one), others.map(build))
}

/// 1 in all slots.
fn ones(params: &Params) -> DiagonalValues {
    let shape = params.slot_shape();
    if shape.axes().is_none() {
        return DiagonalValues::Periodic(PeriodicSlots { period: 1, values: vec![1, 1] });
    }
    let degree = shape.degree_of_slot();
    let element = |i: usize| u64::from(i.is_multiple_of(degree));
    DiagonalValues::LastDimensions((0..shape.slots() * degree).map(element).collect())
}

/// Asserts that the scheme refuses `b` and what `other` makes of it, and that it accepts `a`.
fn assert_told_apart<S: ExactScheme>(
    (s, a, own): (&S, &S::Ciphertext, &DiagonalValues),
    (other, b, foreign): (&S, &S::Ciphertext, &DiagonalValues),
    name: &str,
) {
    assert_eq!(s.check_params(b).unwrap_err().code(), WRONG, "{name}");
    let keep = NextUse::Keep;
    let made = |x: S::Product| s.relinearize(&x, keep);
    let (squared, product) = (s.mul_lazy(a, a).unwrap(), other.mul_lazy(b, b).unwrap());
    let part = |s: &S, x: &S::Ciphertext| s.hoist(x, &[ONE]).unwrap().remove(0);
    let sum =
        |parts: Vec<S::Extended>| s.galois_sum(parts.into_iter().map(|x| (ONE, x)).collect(), keep);
    let diagonal = |s: &S, x: &S::Ciphertext, values: &DiagonalValues| {
        s.diagonal(values, 1, s.level(x)).unwrap()
    };
    let diagonals = [diagonal(s, a, own), diagonal(other, b, foreign)];
    let rows = diagonals.each_ref().map(|d| [vec![Some(d)]]);
    let found = [
        s.add(a, b),
        s.sub(b, a),
        s.neg(b),
        s.add_scalar(b, 1),
        s.mul_scalar(b, 2),
        s.mul_monomial(b, 1),
        s.linear_combination(&[(a, 1), (b, 1)], 0),
        s.linear_combination(&[(b, 1)], 0),
        s.mul(a, b, keep),
        s.mul(b, b, keep),
        s.mul_lazy(b, a).and_then(made),
        s.mul_lazy_aligned(b, b).and_then(made),
        s.sum_of_products(&[(a, a), (a, b)]).and_then(made),
        s.add_products(&squared, &product).and_then(made),
        s.relinearize(&product, keep),
        s.prepare(b, NextUse::Product),
        s.prepare_together(&[a, b], NextUse::LinearMap).map(|mut all| all.remove(0)),
        s.mod_switch_to(b, Level(1)),
        s.reduce_plain_modulus(b, 1),
        s.extend_plain_modulus(b, 1),
        s.divide_by_p(b),
        s.multiply_by_p(b),
        s.apply_galois(b, ONE),
        s.hoist(b, &[ONE]).and_then(sum),
        sum(vec![part(s, a), part(other, b)]),
        sum(vec![part(other, b)]),
        s.galois_chain([Ok((ONE, part(other, b)))].into_iter(), keep),
        s.combine(&[part(s, a)], &rows[1]).and_then(sum),
        s.combine(&[part(other, b)], &rows[0]).and_then(sum),
        s.combine(&[part(other, b)], &rows[1]).and_then(sum),
    ];
    for (i, found) in found.into_iter().enumerate() {
        assert_eq!(found.err().map(|e| e.code()), Some(WRONG), "{name}: operation {i}");
    }
    // A conversion has no error: it leaves it as it is, for the scheme that it is of.
    let form = if s.form(b) == Form::Bgv { Form::Bfv } else { Form::Bgv };
    assert_eq!(s.form(&s.convert(b, form)), s.form(b), "{name}");
    assert_eq!(s.form(&s.convert(a, form)), form, "{name}");
    assert!(s.combine(&[part(s, a)], &rows[0]).and_then(sum).is_ok(), "{name}");
    assert!(s.add(a, a).is_ok() && s.mod_switch_to(a, Level(1)).is_ok(), "{name}");
}

#[test]
fn operands_of_other_sets_are_refused() {
    let (params, others) = sets();
    let mut rng = ChaCha20Rng::seed_from_u64(31);
    let top = params.chain().top();
    for other in &others {
        let name = other.name();
        // As far as shapes go they are the same.
        assert_eq!((other.degree(), other.chain().top()), (params.degree(), top), "{name}");
        assert_eq!(other.chain().extended(top), params.chain().extended(top), "{name}");
        let [mine, theirs] = [&params, other].map(|set| {
            let message = Plaintext::encode(set, &[1, 2, 3]).unwrap();
            let x = SecretKey::generate(set, &mut rng).encrypt(&message, &mut rng).unwrap();
            (Evaluator::new(ServerKeys::empty(set)), x.without_owner(), ones(set))
        });
        assert_told_apart((&mine.0, &mine.1, &mine.2), (&theirs.0, &theirs.1, &theirs.2), name);
        let [mine, theirs] = [&params, other].map(|set| {
            let message = Plaintext::encode(set, &[1, 2, 3]).unwrap();
            let scheme = NoOp::new(set, 1);
            let x = scheme.encrypt(&message).unwrap();
            (scheme, x, ones(set))
        });
        assert_told_apart((&mine.0, &mine.1, &mine.2), (&theirs.0, &theirs.1, &theirs.2), name);
    }
    // The same set, made once more, is no other one.
    let again = Evaluator::new(ServerKeys::empty(&build(params.spec().clone())));
    let key = SecretKey::generate(&params, &mut rng);
    let x = key.encrypt(&Plaintext::encode(&params, &[1]).unwrap(), &mut rng).unwrap();
    assert!(again.check_params(&x).is_ok());
}

/// Keys, and what is made of parts.
#[test]
fn keys_and_parts_of_other_sets_are_refused() {
    let (params, others) = sets();
    let mut rng = ChaCha20Rng::seed_from_u64(32);
    let secret = SecretKey::generate(&params, &mut rng);
    let public = PublicKey::generate(&secret, &mut rng);
    let server = Evaluator::new(ServerKeys::empty(&params));
    let message = Plaintext::encode(&params, &[1, 2, 3]).unwrap();
    let own = public.encrypt(&message, &mut rng).unwrap();
    for other in &others {
        let name = other.name();
        let key = SecretKey::generate(other, &mut rng);
        let x = key.encrypt(&Plaintext::encode(other, &[1, 2, 3]).unwrap(), &mut rng).unwrap();
        let seeded = SeededCiphertext::of(&x).unwrap();
        let theirs = Evaluator::new(ServerKeys::empty(other));
        let product = theirs.mul_lazy(&x, &x).unwrap();
        let compact = x.compact_for_decryption(other).unwrap();
        let parts = product.components(other.cpu());
        let found: [Option<SchemeError>; 11] = [
            secret.decrypt(&x).err(),
            secret.decrypt_product(&product).err(),
            secret.decrypt_compact(&compact).err(),
            compact.check(&params).err(),
            x.compact_for_decryption(&params).err(),
            product.compact_for_decryption(&params).err(),
            product.check(&params).err(),
            Ciphertext::from_parts(&params, *x.meta(), x.components().to_vec()).err(),
            Product::from_parts(&params, *product.meta(), parts).err(),
            seeded.expanded(&params).err(),
            server.upload(&x).err(),
        ];
        for (i, found) in found.into_iter().enumerate() {
            assert_eq!(found.map(|e| e.code()), Some(WRONG), "{name}: {i}");
        }
        assert!(key.decrypt_compact(&compact).is_ok(), "{name}");
        assert_eq!(server.change_key(&x).unwrap_err().code(), WRONG, "{name}");
        let pairs = [(&own, &seeded)];
        let found = server.sums_of_seeded_products(&[&pairs]).unwrap_err();
        assert_eq!(found.code(), WRONG, "{name}");
    }
    assert_eq!(secret.decrypt(&own).unwrap(), message);
}

/// A plaintext is of a ring and a prime, and of every set that has both.
#[test]
fn plaintexts_of_other_rings_are_refused() {
    let (params, others) = sets();
    let mut rng = ChaCha20Rng::seed_from_u64(34);
    let secret = SecretKey::generate(&params, &mut rng);
    let server = Evaluator::new(ServerKeys::empty(&params));
    let own = Plaintext::encode(&params, &[1, 2, 3]).unwrap();
    let x = secret.encrypt(&own, &mut rng).unwrap();
    for other in &others {
        let plain = Plaintext::encode(other, &[1, 2, 3]).unwrap();
        let found = [
            secret.encrypt(&plain, &mut rng).map(drop),
            server.add_plain(&x, &plain).map(drop),
            server.mul_plain(&x, &plain).map(drop),
            server.prepare_plaintext(&plain, Level(0)).map(drop),
            own.add(&plain, &params).map(drop),
            plain.decode(&params).map(drop),
            plain.check(&params),
        ];
        let same = other.name().ends_with("primes") || other.name().ends_with("name");
        let expected = if same { Ok(()) } else { Err(WRONG) };
        for (i, found) in found.into_iter().enumerate() {
            assert_eq!(found.map_err(|e| e.code()), expected, "{}: {i}", other.name());
        }
    }
}

/// What is between the steps of raising.
#[test]
fn exhausted_ciphertexts_of_other_sets_are_refused() {
    let spec = ParamsSpec::named("insecure_bgv-257-n8").unwrap();
    let twin = build(ParamsSpec { name: "insecure_twin".into(), ..spec.clone() });
    let params = build(spec);
    let mut rng = ChaCha20Rng::seed_from_u64(33);
    let message = Plaintext::encode(&params, &[1]).unwrap();
    let secret = SecretKey::generate(&params, &mut rng);
    let mut plan = KeyPlan::relinearization(&params);
    plan.bootstrap = true;
    let keys = ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap();
    let x = secret.encrypt(&message, &mut rng).unwrap();
    let like = SecretKey::generate(&twin, &mut rng).encrypt(&message, &mut rng).unwrap();
    let (own, other) = (Evaluator::new(keys), Evaluator::new(ServerKeys::empty(&twin)));
    assert_refused(&own, &other, &x, &like.without_owner());
    let (own, other) = (NoOp::new(&params, 1), NoOp::new(&twin, 1));
    let (x, like) = (own.encrypt(&message).unwrap(), other.encrypt(&message).unwrap());
    assert_refused(&own, &other, &x, &like);
}

fn assert_refused<S: Bootstrappable>(own: &S, other: &S, x: &S::Ciphertext, like: &S::Ciphertext) {
    let base = own.to_base_modulus(x).unwrap();
    assert!(own.mod_raise_scaled(&base).is_ok());
    let found = [
        other.to_base_modulus(x).err(),
        other.mod_raise_scaled(&base).err(),
        other.mod_raise_overflow(&base, 1).err(),
        other.mod_raise_message(&base, like).err(),
        own.mod_raise_message(&base, like).err(),
        own.prepare_thin_input(like, 10.0).err(),
    ];
    for (i, found) in found.into_iter().enumerate() {
        assert_eq!(found.map(|e| e.code()), Some(WRONG), "step {i}");
    }
}

/// Plans of keys, and automorphisms that the ring does not have.
#[test]
fn plans_and_automorphisms_of_other_rings_are_refused() {
    let (params, [_, _, ring, _]) = sets();
    let larger = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(35);
    let secret = SecretKey::generate(&params, &mut rng);
    let mut code = |plan: &KeyPlan| {
        ServerKeys::generate(&secret, plan, &mut rng, |_, _| ()).err().map(|e| e.code())
    };
    let foreign = KeyPlan::relinearization(&larger);
    assert_eq!(code(&foreign), Some(WRONG));
    // What this set cannot have of it does not count.
    assert!(foreign.seeded_bytes(&params) < foreign.seeded_bytes(&larger));
    let even = GaloisElement::new(257, 2).unwrap();
    let top = params.chain().top();
    let plan = KeyPlan::automorphisms_up_to(&params, [even], top);
    assert_eq!(code(&plan), Some("ring.not-an-automorphism"));
    assert_eq!(code(&KeyPlan::relinearization(&params)), None);
    // Levels that are not there are the top.
    let all = Level(usize::MAX);
    assert_eq!(
        KeyPlan::relinearization_up_to(&params, all),
        KeyPlan::relinearization_up_to(&params, top)
    );
    let message = Plaintext::encode(&params, &[1]).unwrap();
    let x = secret.encrypt(&message, &mut rng).unwrap();
    assert_ring_kept(&Evaluator::new(ServerKeys::empty(&params)), &x, even);
    let dry = NoOp::new(&params, 1).holding(KeyPlan::default());
    assert_ring_kept(&dry, &dry.encrypt(&message).unwrap(), even);
    assert_eq!(dry.encrypt_at(&message, all).unwrap_err().code(), "scheme.bad-level");
    // Constants along the last dimension take another way to their polynomial than others.
    let elements = |n: usize| {
        let degree = ring.slot_shape().degree_of_slot();
        let element = |i: usize| if i.is_multiple_of(degree) { 17 } else { 0 };
        DiagonalValues::LastDimensions((0..n).map(element).collect())
    };
    let (server, dry) = (Evaluator::new(ServerKeys::empty(&ring)), NoOp::new(&ring, 1));
    for e in [0, 2, u32::MAX] {
        let found = [
            server.diagonal(&ones(&ring), e, Level(0)).err(),
            dry.diagonal(&ones(&ring), e, Level(0)).err(),
        ];
        assert_eq!(found.map(|e| e.map(|e| e.code())), [Some("scheme.bad-argument"); 2]);
    }
    let found = server.diagonal(&elements(ring.degree()), 1, Level(0)).err();
    assert!(matches!(found, Some(SchemeError::Ring(_))), "17 is no residue modulo 17");
}

/// Automorphisms that the ring does not have are refused, and levels that it does not have end no
/// search.
fn assert_ring_kept<S: ExactScheme>(s: &S, x: &S::Ciphertext, other: GaloisElement) {
    let part = || s.hoist(x, &[ONE]).unwrap().remove(0);
    let found = [
        s.apply_galois(x, other).err(),
        s.hoist(x, &[other]).err(),
        s.galois_sum(vec![(other, part())], NextUse::Keep).err(),
        s.galois_chain([Ok((other, part()))].into_iter(), NextUse::Keep).err(),
    ];
    assert_eq!(found.map(|e| e.map(|e| e.code())), [Some("ring.not-an-automorphism"); 4]);
    let frobenius = s.slot_shape().frobenius();
    assert_eq!(s.galois_level(frobenius, Level(usize::MAX)), None);
    assert!(s.galois_level(ONE, Level(usize::MAX)).is_some());
}
