//! Plaintext moduli from 2^62 to 2^64, that itself included: slots there and back, their products
//! and automorphisms, with integers of 128 bits as the oracle.

use everlevel_ring::{Backend, PlaintextRing, PrimePower, RingError, SlotShape};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Index, prime, exponent: words at odd indices, of one axis and of several, and odd moduli of 63
/// and 64 bits in both kinds of rings, with slots of both degrees of a base.
const RINGS: [(u64, u64, u32); 10] = [
    (127, 2, 64),
    (255, 2, 64),
    (45, 2, 63),
    (21, 2, 62),
    (23, 3, 40),
    (40, 3, 40),
    (64, 3, 40),
    (64, 4_294_967_291, 2),
    (64, u64::MAX - 58, 1),
    (128, 17, 15),
];

fn plain(index: u64, p: u64, e: u32) -> PlaintextRing {
    PlaintextRing::new(SlotShape::new(index, p, e).unwrap(), Backend::detect()).unwrap()
}

/// Residues with those at the ends and in the middle first.
fn residues(t: PrimePower, count: usize, rng: &mut ChaCha20Rng) -> Vec<u64> {
    let edges = [t.last(), 0, t.last() / 2, t.last() / 2 + 1, t.last() - 1, 1];
    let drawn = (edges.len()..count).map(|_| (u128::from(rng.next_u64()) % t.wide()) as u64);
    edges.into_iter().chain(drawn).take(count).collect()
}

#[test]
fn slots_come_back_and_are_multiplied() {
    let mut rng = ChaCha20Rng::from_seed([64; 32]);
    for (index, p, e) in RINGS {
        let (plain, name) = (plain(index, p, e), format!("index {index}, {p}^{e}"));
        let (t, slots) = (plain.modulus(e), plain.shape().slots());
        assert_eq!(plain.shape().wide_modulus(e), t.wide());
        let [a, mut b] = [(); 2].map(|()| residues(t, slots, &mut rng));
        b.rotate_right(1);
        let [x, y] = [&a, &b].map(|v| plain.encode(v, e).unwrap());
        assert_eq!(plain.decode(&x, e).unwrap(), a, "{name}");
        let product: Vec<u64> = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| (u128::from(a) * u128::from(b) % t.wide()) as u64)
            .collect();
        assert_eq!(plain.decode(&plain.mul(&x, &y, e), e).unwrap(), product, "{name}");
        let elements = residues(t, plain.degree(), &mut rng);
        let whole = plain.encode_elements(&elements, e).unwrap();
        assert_eq!(plain.decode_elements(&whole, e).unwrap(), elements, "{name}");
        // What is below a smaller power of p is the same modulo that.
        if e > 1 {
            let low = plain.modulus(e - 1);
            let reduced = |v: &[u64]| v.iter().map(|&x| low.reduce_u64(x)).collect::<Vec<u64>>();
            assert_eq!(plain.decode(&reduced(&x), e - 1).unwrap(), reduced(&a), "{name}");
        }
    }
}

/// Products of polynomials with the largest coefficients, by the schoolbook modulo X^n + 1.
#[test]
fn products_of_the_largest_coefficients_are_exact() {
    for (p, e) in [(3, 40), (4_294_967_291, 2), (u64::MAX - 58, 1)] {
        let (plain, mut rng) = (plain(64, p, e), ChaCha20Rng::from_seed([3; 32]));
        let (t, n) = (plain.modulus(e), plain.degree());
        for largest in [vec![t.last() / 2; n], vec![t.last() / 2 + 1; n]] {
            for b in [largest.clone(), residues(t, n, &mut rng)] {
                let mut want = vec![0u128; n];
                for (i, &x) in largest.iter().enumerate() {
                    for (j, &y) in b.iter().enumerate() {
                        let product = u128::from(x) * u128::from(y) % t.wide();
                        let signed = if i + j < n { product } else { t.wide() - product };
                        want[(i + j) % n] = (want[(i + j) % n] + signed) % t.wide();
                    }
                }
                let found = plain.mul(&largest, &b, e);
                assert!(found.iter().map(|&x| u128::from(x)).eq(want), "{p}^{e}");
            }
        }
    }
}

#[test]
fn rotations_move_words() {
    let (plain, mut rng) = (plain(127, 2, 64), ChaCha20Rng::from_seed([7; 32]));
    let values = residues(plain.modulus(64), plain.shape().slots(), &mut rng);
    let coefficients = plain.encode(&values, 64).unwrap();
    let moved = plain.galois(&coefficients, plain.shape().rotation_along(0, -3), 64);
    let mut want = values;
    want.rotate_right(3);
    assert_eq!(plain.decode(&moved, 64).unwrap(), want);
    let centered = plain.centered(&[0, 1 << 63, u64::MAX], 64);
    assert_eq!(centered, [0, i64::MIN, -1]);
}

#[test]
fn what_is_above_is_refused() {
    for (index, p, e) in [(127, 2, 65), (64, 3, 41), (64, 65537, 4), (127, 2, u32::MAX)] {
        let found = SlotShape::new(index, p, e);
        assert!(matches!(found, Err(RingError::BadPlainModulus { .. })), "{p}^{e}");
    }
    let plain = plain(64, 3, 40);
    let modulus = 3u128.pow(40);
    let (value, position) = (plain.modulus(40).last() + 1, 1);
    assert_eq!(
        plain.encode(&[0, value], 40),
        Err(RingError::ValueOutOfRange { value, position, modulus })
    );
}
