//! Which indices with axes have slots: those of bootstrapping, and what is refused.

use everlevel_ring::{Backend, PlaintextRing, RingError, SlotShape};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::odd_slots::random;

#[test]
fn rings_for_bootstrapping_have_their_slots() {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    type Expected = (u64, u64, usize, &'static [usize], usize, bool);
    let rings: [Expected; 8] = [
        (38309, 17, 36960, &[28, 55], 24, true),
        (56647, 127, 55080, &[36, 34], 45, true),
        (55427, 257, 54096, &[42, 46], 28, false),
        (45193, 8191, 44100, &[42, 75], 14, true),
        (50731, 65537, 50112, &[96, 29], 18, true),
        (21845, 2, 16384, &[4, 16, 16], 16, false),
        (32767, 2, 27000, &[6, 30, 10], 15, false),
        (15709, 2, 15004, &[22, 31], 22, true),
    ];
    for (index, p, n, sizes, d, good) in rings {
        let shape = SlotShape::new(index, p, 2).unwrap();
        let found: Vec<usize> = shape.dimensions().iter().map(|dimension| dimension.size).collect();
        assert_eq!(
            (&found[..], shape.degree_of_slot(), shape.slots() * d),
            (sizes, d, n),
            "{index} {p}"
        );
        assert!(
            shape
                .dimensions()
                .iter()
                .enumerate()
                .all(|(i, dimension)| dimension.good == (good || i + 1 < sizes.len()))
        );
        let plain = PlaintextRing::new(shape, Backend::detect()).unwrap();
        let thin = random(&mut rng, plain.shape().slots(), plain.modulus(2).value());
        let coefficients = plain.encode(&thin, 2).unwrap();
        assert_eq!(plain.decode(&coefficients, 2).unwrap(), thin);
        let rotated = plain.galois(&coefficients, plain.shape().rotation_along(0, -3), 2);
        let mut want = thin;
        want.rotate_right(3 * plain.shape().slots() / sizes[0]);
        assert_eq!(plain.decode(&rotated, 2).unwrap(), want);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (index, p, e) in
        [(12, 2, 1), (40, 5, 1), (15, 5, 1), (15, 4, 1), (15, 7, 0), (15, 7, 23), (1009, 11, 1)]
    {
        assert!(
            matches!(SlotShape::new(index, p, e), Err(RingError::BadPlainModulus { .. })),
            "{index}"
        );
    }
    for index in [0, 1, 2, 16, 30, 3 << 13, (1 << 18) + 1] {
        assert_eq!(SlotShape::new(index, 7, 1), Err(RingError::UnsupportedIndex { index }));
    }
    let odd = PlaintextRing::new(SlotShape::new(85, 2, 3).unwrap(), Backend::detect()).unwrap();
    assert!(matches!(odd.encode_base(&[0; 4], 1), Err(RingError::WrongIndexKind { .. })));
    assert!(matches!(odd.decode_base(&[0; 64], 1), Err(RingError::WrongIndexKind { .. })));
    assert!(matches!(odd.encode_periodic(&[0; 2], 1, 1), Err(RingError::WrongIndexKind { .. })));
    assert!(matches!(odd.base_ring(1), Err(RingError::WrongIndexKind { .. })));
    assert_eq!(odd.shape().axis_root(2, 1), Err(RingError::NoAxis { axis: 2, index: 85 }));
    assert_eq!(
        odd.encode_last(&[0; 15], 1),
        Err(RingError::ResidueCount { found: 15, expected: 16 })
    );
    assert_eq!(
        odd.embed_last(&[8; 16], 3),
        Err(RingError::ValueOutOfRange { value: 8, position: 0, modulus: 8 })
    );
    assert_eq!(
        odd.decode_last(&[0; 16], 4),
        Err(RingError::UnknownExponent { exponent: 4, highest: 3 })
    );
    let power_of_two =
        PlaintextRing::new(SlotShape::new(512, 257, 2).unwrap(), Backend::detect()).unwrap();
    assert!(matches!(power_of_two.encode_last(&[0], 1), Err(RingError::WrongIndexKind { .. })));
    assert!(matches!(power_of_two.embed_last(&[0], 1), Err(RingError::WrongIndexKind { .. })));
    assert!(power_of_two.shape().axes().is_none());
}
