//! Rotations and sums along the dimensions of indices with square factors and of 2^k times an odd
//! number, with cryptography.

use everlevel_circuit::rotate_along;
use everlevel_circuit::sums::total_sum;
use everlevel_scheme::{NextUse, NoOp, OptIn, Params, Plaintext, Scheme};
use everlevel_testing::{rotated_along, toy_spec};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::party::party;

/// (m, p, whether the last dimension is good). Frobenius is on the last axis, of prime order or of
/// the order of a prime power.
const RINGS: [(u64, u64, bool); 6] = [
    (25 * 41, 2, false),
    (9 * 7, 2, true),
    (3 * 25, 149, false),
    (4 * 25, 149, false),
    (8 * 3 * 25, 1249, false),
    (16 * 17, 127, false),
];

#[test]
fn slots_are_rotated_and_summed() {
    for (index, p, good) in RINGS {
        let params = Params::new(toy_spec(index, p, 1), OptIn::InsecureResearch)
            .unwrap_or_else(|e| panic!("{index}, {p}: {e}"));
        let shape = params.slot_shape();
        assert_eq!(shape.dimensions().last().map(|last| last.good), Some(good), "{index}");
        let values: Vec<u64> =
            (0..params.slots() as u64).map(|i| (i * i + i / 2 + 1) % p).collect();
        let plain = Plaintext::encode(&params, &values).unwrap();

        // The keys are those that a dry run asks for.
        let dry = NoOp::new(&params, 1);
        let x = dry.encrypt(&plain).unwrap();
        let turns: Vec<(usize, i64)> =
            (0..shape.dimensions().len()).flat_map(|a| [-1, 0, 1, 3].map(|k| (a, k))).collect();
        for (a, k) in &turns {
            rotate_along(&dry, &x, *a, *k, NextUse::Keep).unwrap();
        }
        total_sum(&dry, &x).unwrap();

        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let x = secret.encrypt(&plain, &mut rng).unwrap();
        let open = |x: &_| {
            assert!(secret.measure_noise(x).unwrap() <= scheme.noise_bound_bits(x), "{index}, {p}");
            secret.decrypt(x).unwrap().decode(&params).unwrap()
        };
        for (a, k) in turns {
            let moved = rotate_along(&scheme, &x, a, k, NextUse::Keep).unwrap();
            let expected = rotated_along(shape, &values, a, k);
            assert_eq!(open(&moved), expected, "m = {index}, p = {p}, dimension {a}, {k}");
        }
        let total = values.iter().sum::<u64>() % p;
        let sum = total_sum(&scheme, &x).unwrap();
        assert_eq!(open(&sum), vec![total; values.len()], "m = {index}, p = {p}");
    }
}
