//! OR over slots: every single bit, none, all, on rings with and without bad dimensions, and with
//! cryptography.

use everlevel_circuit::{AnySlot, CircuitError};
use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::party::party;

fn bits(params: &Params, ones: impl IntoIterator<Item = usize>) -> Plaintext {
    let mut bits = vec![0; params.slots()];
    ones.into_iter().for_each(|slot| bits[slot] = 1);
    Plaintext::encode(params, &bits).unwrap()
}

#[test]
fn a_single_bit_in_any_slot_is_found() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for (name, step) in
        [("insecure_aes-m4947", 1), ("insecure_bgv-2-m15709", 97), ("aes-bgv-leveled", 397)]
    {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let scheme = NoOp::new(&params, 1);
        let any = AnySlot::new(&scheme, 3, &mut || rng.next_u64()).unwrap();
        let degree = params.slot_shape().degree_of_slot();
        assert!(any.error_log2() <= 11.0 - 3.0 * degree as f64 && any.error_log2() < -54.0);
        let open = |plain: &Plaintext| {
            let x = any.apply(&scheme, &scheme.encrypt(plain).unwrap()).unwrap();
            scheme.decrypt(&x).unwrap().decode(&params).unwrap()
        };
        let slots = params.slots();
        assert_eq!(open(&bits(&params, [])), vec![0; slots], "{name}");
        assert_eq!(open(&bits(&params, 0..slots)), vec![1; slots], "{name}");
        for slot in (0..slots).step_by(step).chain([slots - 1]) {
            assert_eq!(open(&bits(&params, [slot])), vec![1; slots], "{name} {slot}");
        }
        // Two sums of a single one, so that products over them count.
        let one = AnySlot::new(&scheme, 1, &mut || rng.next_u64()).unwrap();
        let x = scheme.encrypt(&bits(&params, [slots / 2])).unwrap();
        let found = scheme.decrypt(&one.apply(&scheme, &x).unwrap()).unwrap();
        assert_eq!(found.decode(&params).unwrap(), vec![1; slots], "{name}");
    }
}

/// Weights of 0 find nothing, so that it is by weights that bits are found.
#[test]
fn weights_decide() {
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    let scheme = NoOp::new(&params, 1);
    let x = scheme.encrypt(&bits(&params, [7])).unwrap();
    let none = AnySlot::new(&scheme, 2, &mut || 0).unwrap();
    let found = scheme.decrypt(&none.apply(&scheme, &x).unwrap()).unwrap();
    assert_eq!(found.decode(&params).unwrap(), vec![0; params.slots()]);
    let error = AnySlot::new(&scheme, 0, &mut || 0).err();
    assert_eq!(error, Some(CircuitError::Empty { what: "the list of random sums" }));
    let other = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let error = AnySlot::new(&NoOp::new(&other, 1), 1, &mut || 0).err();
    assert_eq!(error, Some(CircuitError::ModulusMismatch { expected: 2, found: 257 }));
}

#[test]
fn bits_are_found_with_cryptography() {
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let dry = NoOp::blank(&params);
    let rehearsed = AnySlot::new(&dry, 2, &mut || 1).unwrap();
    let zero = dry.encrypt(&bits(&params, [])).unwrap();
    rehearsed.apply(&dry, &zero).unwrap();
    let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
    let any = AnySlot::new(&scheme, 2, &mut || rng.next_u64()).unwrap();
    for (ones, wanted) in [(vec![], 0), (vec![63], 1), ((0..64).collect(), 1)] {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let x = secret.encrypt(&bits(&params, ones), &mut rng).unwrap();
        let found = any.apply(&scheme, &x).unwrap();
        assert!(secret.measure_noise(&found).unwrap() <= found.noise_bound_bits());
        let found = secret.decrypt(&found).unwrap().decode(&params).unwrap();
        assert_eq!(found, vec![wanted; 64]);
    }
}
