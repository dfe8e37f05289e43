//! Keys and ciphertexts of two owners do not go together, and a phase that cannot be is refused.

use everlevel_bgv::{
    Ciphertext, EvalKeys, Evaluator, FloodingPolicy, PublicKey, SecretKey, ServerKeys,
};
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{
    Arithmetic, Automorphisms, Bootstrappable, DiagonalValues, KeyPlan, Level, LinearMaps, NextUse,
    OptIn, Params, PeriodicSlots, Plaintext, Scheme, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// BGV and BFV, over ring-LWE and NTRU, an odd index.
const SETS: [&str; 5] = [
    "insecure_bgv-257-n8",
    "insecure_bfv-257-n8",
    "insecure_ltv-257-n8",
    "insecure_yashe-257-n8",
    "insecure_aes-m4947",
];

struct Owner {
    secret: SecretKey,
    server: Evaluator,
    x: Ciphertext,
    message: Plaintext,
}

fn owners(name: &str) -> [Owner; 2] {
    let params = Params::named(name, OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(21);
    [(); 2].map(|()| {
        let secret = SecretKey::generate(&params, &mut rng);
        let frobenius = params.slot_shape().frobenius();
        let moves = KeyPlan::automorphisms_up_to(&params, [frobenius], params.chain().top());
        let mut plan = KeyPlan::relinearization(&params).merge(&moves);
        plan.bootstrap = params.spec().bootstrap.is_some();
        let server =
            Evaluator::new(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ()).unwrap());
        let message = Plaintext::encode(&params, &[1, 0, 1]).unwrap();
        let public = PublicKey::generate(&secret, &mut rng);
        assert_eq!(public.owner(), Some(secret.id()));
        let x = public.encrypt(&message, &mut rng).unwrap();
        Owner { secret, server, x, message }
    })
}

/// Whether it is the one error, with both ids.
fn wrong<T>(found: Result<T, SchemeError>, a: &Owner, b: &Owner) -> bool {
    let ids = [a.secret.id(), b.secret.id()];
    let Err(e @ SchemeError::WrongKey { left, right, .. }) = found else { return false };
    let text = e.to_string();
    assert!(ids.iter().all(|id| text.contains(&id.to_string())), "{text}");
    e.code() == "scheme.wrong-key" && (ids == [left, right] || ids == [right, left])
}

#[test]
fn operations_over_two_owners_are_one_error() {
    for name in SETS {
        let [a, b] = owners(name);
        let (s, x, y) = (&a.server, &a.x, &b.x);
        assert_ne!(a.secret.id(), b.secret.id());
        assert_eq!((x.owner(), s.keys().owner()), (Some(a.secret.id()), Some(a.secret.id())));
        let g = s.params().slot_shape().frobenius();
        let products = [(s, x), (&b.server, y)].map(|(s, x)| s.mul_lazy(x, x).unwrap());
        let mut found = vec![
            // Two operands.
            s.add(x, y),
            s.sub(y, x),
            s.mul(x, y, NextUse::Keep),
            s.linear_combination(&[(x, 2), (y, 3)], 1),
            s.mul_lazy(x, y).and_then(|x| s.relinearize(&x, NextUse::Keep)),
            s.add_products(&products[0], &products[1])
                .and_then(|x| s.relinearize(&x, NextUse::Keep)),
            // Somebody else's keys.
            s.add(y, y),
            s.neg(y),
            s.add_scalar(y, 1),
            s.mul_scalar(y, 2),
            s.add_plain(y, &b.message),
            s.mul_plain(y, &b.message),
            s.mul_monomial(y, 1),
            s.mul(y, y, NextUse::Keep),
            s.relinearize(&products[1], NextUse::Keep),
            s.apply_galois(y, g),
            s.hoist(y, &[g]).and_then(|parts| {
                s.galois_sum(parts.into_iter().map(|x| (g, x)).collect(), NextUse::Keep)
            }),
        ];
        // Parts that were hoisted by the right server and meet at the wrong one.
        let part = |owner: &Owner| owner.server.hoist(&owner.x, &[g]).unwrap().remove(0);
        found.push(s.galois_sum(vec![(g, part(&a)), (g, part(&b))], NextUse::Keep));
        found.push(s.galois_sum(vec![(g, part(&b))], NextUse::Keep));
        let both = [Ok((g, part(&a))), Ok((g, part(&b)))];
        found.push(s.galois_chain(both.into_iter(), NextUse::Keep));
        if s.params().spec().bootstrap.is_some() {
            found.push(s.to_base_modulus(y).and_then(|base| s.mod_raise_scaled(&base)));
            let base = b.server.to_base_modulus(y).unwrap();
            found.push(s.mod_raise_scaled(&base));
            found.push(s.mod_raise_overflow(&base, 1));
            assert_eq!(b.server.mod_raise_scaled(&base).unwrap().owner(), y.owner());
        }
        for (i, found) in found.into_iter().enumerate() {
            assert!(wrong(found, &a, &b), "{name}: operation {i}");
        }
        // What has no owner goes with everything, and nothing is known of the owner of the result.
        let sum = s.add(&x.clone().without_owner(), x).unwrap();
        let neutral = s.mul(&sum, &x.clone().without_owner(), NextUse::Keep).unwrap();
        assert_eq!((sum.owner(), neutral.owner()), (None, None), "{name}");
    }
}

#[test]
fn other_keys_decrypt_nothing() {
    for name in SETS {
        let [a, b] = owners(name);
        assert_eq!(a.secret.decrypt(&a.x).unwrap(), a.message);
        assert!(wrong(b.secret.decrypt(&a.x), &a, &b), "{name}");
        let compact = a.x.compact_for_decryption(a.secret.params()).unwrap();
        assert_eq!(a.secret.decrypt_compact(&compact).unwrap(), a.message);
        assert!(wrong(b.secret.decrypt_compact(&compact), &a, &b), "{name}");

        // Without an owner the phase is what tells: at every level, down to a bit of capacity.
        let nameless = Evaluator::new(ServerKeys::empty(a.secret.params()));
        let params = a.secret.params();
        let mut refused = 0;
        for level in (0..=params.chain().top().0).map(Level) {
            let Ok(x) = nameless.mod_switch_to(&a.x.clone().without_owner(), level) else {
                continue;
            };
            assert_eq!(a.secret.decrypt(&x).unwrap(), a.message, "{name}, level {level}");
            // As much noise as the bound may have, and a hair of capacity more than none.
            for capacity in [nameless.capacity_bits(&x), 1.0] {
                let noise = params.noise().noise_at(level, capacity).max(x.noise_bound_bits());
                if params.noise().capacity(&Meta { noise, ..*x.meta() }) < 1.0 {
                    continue;
                }
                let meta = Meta { noise, ..*x.meta() };
                let x = Ciphertext::from_parts(params, meta, x.components().to_vec()).unwrap();
                assert_eq!(a.secret.decrypt(&x).unwrap(), a.message, "{name}, level {level}");
                let found = b.secret.decrypt(&x);
                assert_eq!(found, Err(SchemeError::NotDecryptable), "{name}, level {level}");
                refused += 1;
            }
        }
        assert!(refused > 10, "{name}: {refused}");
    }
}

/// Without an owner, and with a bound that leaves the check nothing to notice, no key decrypts; and
/// no bootstrapping hides what the check would have noticed.
#[test]
fn nothing_is_decrypted_that_no_check_would_notice() {
    for name in SETS {
        let [a, b] = owners(name);
        let params = a.secret.params();
        let untrusted = |x: &Ciphertext| {
            let noise = params.noise().largest_noise(x.level());
            let meta = Meta { noise, ..*x.meta() };
            Ciphertext::from_parts(params, meta, x.components().to_vec()).unwrap()
        };
        assert_eq!(a.secret.decrypt(&untrusted(&a.x)).unwrap(), a.message, "{name}");
        let nobodys = untrusted(&a.x.clone().without_owner());
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        for key in [&a.secret, &b.secret] {
            let found = key.decrypt(&nobodys);
            assert!(matches!(found, Err(SchemeError::UnknownOwner { .. })), "{name}");
            let shared = key.decrypt_for_sharing(&nobodys, &FloodingPolicy::default(), &mut rng);
            assert!(shared.is_err(), "{name}");
        }
        // Nor is anything known of the owner of what it was added to.
        let sum = a.server.add(&a.x, &b.x.clone().without_owner()).unwrap();
        assert_eq!(sum.owner(), None, "{name}");
        let found = a.secret.decrypt(&untrusted(&sum));
        assert!(matches!(found, Err(SchemeError::UnknownOwner { .. })), "{name}");
        let compact = a.x.compact_for_decryption(params).unwrap();
        let wide = compact.clone().owned_by(None).within(1 << 31).unwrap();
        let found = b.secret.decrypt_compact(&wide);
        assert!(matches!(found, Err(SchemeError::UnknownOwner { .. })), "{name}");
        if params.spec().bootstrap.is_some() {
            let found = b.server.to_base_modulus(&a.x.clone().without_owner()).err();
            assert!(matches!(found, Some(SchemeError::UnknownOwner { .. })), "{name}");
        }
    }
}

/// A linear map of several parts, one of which has no owner, in either order.
#[test]
fn nothing_is_known_of_the_owner_of_a_map_of_nobodys_parts() {
    for name in &SETS[..4] {
        let [a, b] = owners(name);
        let s = &a.server;
        let (one, x) = (s.params().slot_shape().identity(), &a.x);
        let ones = DiagonalValues::Periodic(PeriodicSlots { period: 1, values: vec![1, 1] });
        let ones = s.diagonal(&ones, x.meta().exponent, x.level()).unwrap();
        let part = |x: &Ciphertext| s.hoist(x, &[one]).unwrap().remove(0);
        let sum = |x: &Ciphertext, y: &Ciphertext| {
            let row = vec![Some(&ones), Some(&ones)];
            let sum = s.combine(&[part(x), part(y)], &[row]).unwrap().remove(0);
            s.galois_sum(vec![(one, sum)], NextUse::Keep).unwrap()
        };
        assert_eq!(sum(x, x).owner(), Some(a.secret.id()), "{name}");
        let nobodys = b.x.clone().without_owner();
        for sum in [sum(x, &nobodys), sum(&nobodys, x)] {
            assert_eq!(sum.owner(), None, "{name}");
            if s.params().spec().bootstrap.is_some() {
                let found = s.to_base_modulus(&sum).err();
                assert!(matches!(found, Some(SchemeError::UnknownOwner { .. })), "{name}");
            }
        }
    }
}

/// A bound that is too small by a factor of 2^k is found as soon as the noise is above it.
#[test]
fn a_phase_above_its_bound_is_refused() {
    for name in SETS {
        let [a, _] = owners(name);
        let params = a.secret.params();
        let measured = a.secret.measure_noise(&a.x).unwrap();
        let stated = |noise: f64| {
            let meta = Meta { noise, ..*a.x.meta() };
            let x = Ciphertext::from_parts(params, meta, a.x.components().to_vec()).unwrap();
            a.secret.decrypt(&x)
        };
        assert_eq!(stated(measured + 0.01).unwrap(), a.message, "{name}");
        // A coefficient is at least the norm divided by the degree.
        let least = measured - (params.degree() as f64).log2() - params.ring().coefficient_bits();
        // The last two are bounds of nothing but 0.
        for noise in [least - 0.01, -1.0, -1000.0] {
            assert_eq!(stated(noise), Err(SchemeError::NotDecryptable), "{name}, 2^{noise}");
        }
        let zero = a.server.mul_scalar(&a.x, 0).unwrap();
        let meta = Meta { noise: -1000.0, ..*zero.meta() };
        let zero = Ciphertext::from_parts(params, meta, zero.components().to_vec()).unwrap();
        let found = a.secret.decrypt(&zero).unwrap();
        assert!(found.coefficients().iter().all(|c| *c == 0), "{name}");
    }
}

/// Ids are equal for equal keys, and differ otherwise: by set, by seed.
#[test]
fn ids_follow_from_keys() {
    let key = |name: &str, seed: u64| {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        SecretKey::generate(&params, &mut ChaCha20Rng::seed_from_u64(seed))
    };
    let mut ids = std::collections::BTreeSet::new();
    for name in ["insecure_bgv-257-n8", "insecure_bfv-257-n8", "insecure_ltv-257-n8"] {
        for seed in 0..4 {
            let one = key(name, seed);
            assert_eq!(one.id(), key(name, seed).id());
            let exposed = one.expose_secret_coefficients();
            let again = SecretKey::from_secret_coefficients(one.params(), &exposed).unwrap();
            assert_eq!(one.id(), again.id());
            assert!(ids.insert(one.id()), "{name}, seed {seed}");
        }
    }
}
