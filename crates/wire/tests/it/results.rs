//! Results cut to what decryption needs.

use crate::common::{Party, SETS};
use everlevel_bgv::{Ciphertext, Evaluator, SecretKey};
use everlevel_scheme::{
    Arithmetic, Form, Level, NextUse, OptIn, Params, ParamsSpec, PlainModulus, Scheme, SchemeError,
};
use everlevel_wire::{Metadata, ReadOptions, ciphertexts, results};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Bits a coefficient of a compact ciphertext, there and back.
fn compact_bits(party: &Party, x: &Ciphertext) -> f64 {
    let compact = x.compact_for_decryption(&party.params).unwrap();
    let bytes =
        results::to_bytes(&party.params, std::slice::from_ref(&compact), &Metadata::new()).unwrap();
    let (back, _) = results::from_bytes(&party.params, &bytes, &ReadOptions::default()).unwrap();
    assert!(back == [compact]);
    assert_eq!(party.secret.decrypt_compact(&back[0]).unwrap(), party.secret.decrypt(x).unwrap());
    back[0].widths().iter().sum::<u32>().into()
}

#[test]
fn results_decrypt_in_few_bits() {
    for name in SETS {
        let mut party = Party::new(name, 1);
        let evaluator = Evaluator::new(party.server_keys());
        let x = party.secret.encrypt(&party.message(3), &mut party.rng).unwrap();
        let product = evaluator.mul(&x, &x, NextUse::Keep).unwrap();
        let target = 2.0 * ((party.params.plain_modulus() as f64).log2() + 13.0);
        let mut all = vec![
            x.clone(),
            product.clone(),
            evaluator.convert(&x, Form::Bgv),
            evaluator.convert(&x, Form::Bfv),
        ];
        // At every level, down to the last bits of capacity.
        all.extend(
            (0..party.params.chain().top().0)
                .filter_map(|l| evaluator.mod_switch_to(&product, Level(l)).ok()),
        );
        let roomy: Vec<&Ciphertext> =
            all.iter().filter(|x| evaluator.capacity_bits(x) > 3.0).collect();
        assert!(roomy.len() > 20);
        for x in roomy {
            assert!(compact_bits(&party, x) <= target, "{name}: {}", compact_bits(&party, x));
        }
    }
}

/// The bound is what keeps decryption exact: where the widths leave no room, the rounding is as
/// large as it says, and one bit less is too few.
#[test]
fn narrower_ones_would_fail() {
    let mut party = Party::new("insecure_bgv-257-n8", 2);
    let x = party.secret.encrypt(&party.message(5), &mut party.rng).unwrap();
    let compact = x.compact_for_decryption(&party.params).unwrap();
    let cut = |bits: u32| {
        // Widths below that of the plaintext modulus are refused.
        let widths: Vec<u32> = compact.widths().iter().map(|w| (w - bits).max(9)).collect();
        let less = compact.widths().iter().zip(&widths).map(|(w, narrow)| w - narrow);
        let components = compact.components().iter().zip(less);
        let components =
            components.map(|(c, less)| c.iter().map(|x| x >> less).collect()).collect();
        everlevel_bgv::CompactCiphertext::from_parts(
            &party.params,
            compact.exponent(),
            compact.unit(),
            widths,
            components,
        )
        .unwrap()
        .owned_by(compact.owner())
    };
    let wanted = party.secret.decrypt(&x).unwrap();
    assert_eq!(party.secret.decrypt_compact(&cut(0)).unwrap(), wanted);
    let wrong = (1..8).find(|&bits| party.secret.decrypt_compact(&cut(bits)).unwrap() != wanted);
    // The tail factor of 15.4 standard deviations is four bits, one more comes from rounding down.
    assert!(wrong.is_some_and(|bits| bits <= 5), "{wrong:?}");
}

#[test]
fn what_cannot_be_compacted_is_refused() {
    let mut party = Party::new("insecure_bgv-257-n8", 3);
    let other = Party::new("insecure_ltv-257-n8", 3);
    let x = party.secret.encrypt(&party.message(5), &mut party.rng).unwrap();
    assert!(matches!(
        x.compact_for_decryption(&other.params),
        Err(SchemeError::WrongParams { .. })
    ));
    // Of as many primes, in a larger ring.
    let larger = ParamsSpec {
        name: "insecure_bgv-257-n9".into(),
        index: 1 << 10,
        bootstrap: None,
        ..party.params.spec().clone()
    };
    let larger = Params::new(larger, OptIn::InsecureResearch).unwrap();
    assert_eq!(larger.chain().basis(x.level()), party.params.chain().basis(x.level()));
    assert!(matches!(x.compact_for_decryption(&larger), Err(SchemeError::WrongParams { .. })));
    let compact = x.compact_for_decryption(&party.params).unwrap();
    assert!(matches!(other.secret.decrypt_compact(&compact), Err(SchemeError::WrongParams { .. })));
    let untrusted = ciphertexts::to_bytes(&party.params, &[x], &Metadata::new()).unwrap();
    let (untrusted, _) =
        ciphertexts::from_bytes(&party.params, &untrusted, &ReadOptions::default()).unwrap();
    assert!(matches!(
        untrusted[0].compact_for_decryption(&party.params),
        Err(SchemeError::BadArgument { .. })
    ));
}

/// Sizes at full size: of a fresh ciphertext, of the same ones at lower levels, of results.
#[test]
fn sizes_of_the_default_set() {
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = SecretKey::generate(&params, &mut rng);
    let values: Vec<u64> = (0..params.slots() as u64).collect();
    let message = everlevel_scheme::Plaintext::encode(&params, &values).unwrap();
    let x = secret.encrypt(&message, &mut rng).unwrap();
    let bytes = ciphertexts::to_bytes(&params, std::slice::from_ref(&x), &Metadata::new())
        .unwrap()
        .len() as f64;
    let ideal = params.degree() as f64 * params.modulus_bits(params.chain().top()) / 8.0;
    assert!((bytes / ideal - 1.0).abs() < 0.02, "fresh: {bytes} bytes, n log2 q / 8 = {ideal}");
    let compact = x.compact_for_decryption(&params).unwrap();
    let size = results::to_bytes(&params, std::slice::from_ref(&compact), &Metadata::new())
        .unwrap()
        .len() as f64;
    let target = 2.0 * params.degree() as f64 * ((65537f64).log2() + 13.0) / 8.0;
    println!("fresh {bytes} bytes, result {size} bytes, widths {:?}", compact.widths());
    assert!(size <= target && size < bytes / 15.0, "result: {size} bytes, fresh {bytes}");
    assert_eq!(secret.decrypt_compact(&compact).unwrap(), message);
}

/// Bytes a second of ciphertexts that are no longer seeded, and of fresh ones, whose seeds are
/// expanded.
#[test]
#[ignore = "prints a measurement"]
fn speed_of_the_default_set() {
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let secret = SecretKey::generate(&params, &mut rng);
    let message = everlevel_scheme::Plaintext::encode(&params, &[1, 2, 3]).unwrap();
    let fresh: Vec<Ciphertext> =
        (0..16).map(|_| secret.encrypt(&message, &mut rng).unwrap()).collect();
    let evaluator = Evaluator::new(everlevel_bgv::ServerKeys::empty(&params));
    let worked: Vec<Ciphertext> = fresh.iter().map(|x| evaluator.neg(x).unwrap()).collect();
    for (name, xs) in [("fresh", &fresh), ("worked on", &worked)] {
        for _ in 0..3 {
            let clock = std::time::Instant::now();
            let bytes = ciphertexts::to_bytes(&params, xs, &Metadata::new()).unwrap();
            let writing = clock.elapsed().as_secs_f64();
            let clock = std::time::Instant::now();
            let (back, _) =
                ciphertexts::from_bytes(&params, &bytes, &ReadOptions::default()).unwrap();
            let reading = clock.elapsed().as_secs_f64();
            assert_eq!(back.len(), xs.len());
            let speed = |seconds: f64| bytes.len() as f64 / seconds / 1e6;
            println!(
                "{name}: {} bytes, written at {:.0} MB/s, read at {:.0} MB/s",
                bytes.len(),
                speed(writing),
                speed(reading)
            );
        }
        let clock = std::time::Instant::now();
        let compact: Vec<_> =
            xs.iter().map(|x| x.compact_for_decryption(&params).unwrap()).collect();
        println!(
            "compaction: {:.1} ms each",
            clock.elapsed().as_secs_f64() * 1e3 / compact.len() as f64
        );
    }
}
