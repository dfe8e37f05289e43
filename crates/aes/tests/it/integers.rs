//! From bytes in slots to integers: on the no-op scheme with any garbage, and on small rings with
//! cryptography.

use everlevel_aes::integers::{ByteBits, ByteOrder, IntegersFromBytes, joined_along};
use everlevel_aes::{
    Aes, AesError, ByteEmbedding, ByteSliced, Cipher, Direction, KeySize, Start, UnpackBytes,
};
use everlevel_bgv::Ciphertext;
use everlevel_circuit::digits::{DigitKind, DigitMethod};
use everlevel_circuit::sums::total_sum;
use everlevel_circuit::{CircuitError, Truncation};
use everlevel_scheme::spec::{Assumption, SecretKind};
use everlevel_scheme::{
    Arithmetic, Form, Level, NextUse, NoOp, OptIn, Params, ParamsSpec, PlainModulus, Plaintext,
    Scheme, SchemeError,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::common::leveled;
use crate::common::rounds::party;

/// p = 2, bits in slots, and integers up to 2^32.
fn params(index: u64, words: usize, form: Form) -> Params {
    let spec = ParamsSpec {
        name: format!("insecure_integers-m{index}"),
        index,
        plain_prime: 2,
        plain_exponent: 1,
        extended_exponent: 32,
        base_bits: 47,
        word_bits: 50,
        words,
        fine_bits: vec![47, 44, 42, 41],
        special: 3,
        digit_size: 3,
        form,
        through_bgv: false,
        assumption: Assumption::Rlwe,
        secret: SecretKind::UniformTernary,
        bootstrap: None,
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Degrees 8, 24 and 16 of slots: no trace to the bytes, one, and all conjugates at once. Two axes
/// carry Frobenius in the last two rings; one of them has a square factor, hence all conjugates.
const RINGS: [u64; 6] = [255, 241, 257, 3 * 257, 3 * 7 * 17, 45 * 17];

/// One byte in each slot.
fn encode(params: &Params, bytes: &[u8]) -> Plaintext {
    let embedding = ByteEmbedding::new(params.slot_shape()).unwrap();
    Plaintext::encode_elements(
        params,
        &bytes.iter().flat_map(|&b| embedding.element(b)).collect::<Vec<_>>(),
    )
    .unwrap()
}

/// `count` integers below 2^bits, corners first.
fn integers(count: usize, bits: u32, skip: usize) -> Vec<u64> {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let most = (1u64 << bits) - 1;
    let corners = (0..bits).flat_map(|i| [1 << i, most - (1 << i), (1 << i) - 1]).chain([
        0,
        most,
        most / 3,
        most / 3 * 2,
    ]);
    let random = std::iter::repeat_with(move || rng.next_u64() & most);
    corners.chain(random).skip(skip).take(count).collect()
}

/// The byte `k` of each integer, the lowest first.
fn byte_of(values: &[u64], k: usize) -> Vec<u8> {
    values.iter().map(|v| v.to_le_bytes()[k]).collect()
}

#[test]
fn all_bytes_become_integers_whatever_the_garbage() {
    for index in RINGS {
        let params = params(index, 10, Form::Bgv);
        let (slots, top) = (params.slots(), params.chain().top());
        let all: Vec<u8> = (0..=255).collect();
        let scheme = NoOp::new(&params, index);
        let split = ByteBits::new(&scheme, 7, top).unwrap();
        let maps = [8, 5, 16].map(|exponent| {
            IntegersFromBytes::new(&scheme, 1, exponent, ByteOrder::Little, top).unwrap()
        });
        for (k, chunk) in all.chunks(slots).enumerate() {
            let mut bytes = chunk.to_vec();
            bytes.resize(slots, 0x5a);
            let x = scheme.encrypt(&encode(&params, &bytes)).unwrap();

            let bits = split.split(&scheme, &x).unwrap();
            let mut garbage = 0;
            for (i, bit) in bits.iter().enumerate() {
                // Integers: `decode` refuses all else.
                let found = scheme.decrypt(bit).unwrap().decode(&params).unwrap();
                assert!(
                    found.iter().zip(&bytes).all(|(y, b)| y % 2 == u64::from(b >> i & 1)),
                    "m = {index}, bit {i}"
                );
                garbage += found.iter().filter(|y| **y > 1).count();
            }
            assert!(garbage > 4 * slots, "the test is one: {garbage} integers are no bits");

            // Fewer bits than a byte has, and more, of a quarter of the bytes.
            let maps = if k % 4 == 3 { &maps[..] } else { &maps[..1] };
            for map in maps {
                let exponent = map.exponent();
                let y = map.evaluate(&scheme, &[&x]).unwrap();
                let expected: Vec<u64> =
                    bytes.iter().map(|b| u64::from(*b) & ((1 << exponent) - 1)).collect();
                assert_eq!(
                    scheme.decrypt(&y).unwrap().decode(&params).unwrap(),
                    expected,
                    "m = {index}, 2^{exponent}"
                );
            }
        }
    }
}

#[test]
fn integers_of_several_bytes_on_the_no_op_scheme() {
    for (index, words) in [(255, 12), (241, 12)] {
        let params = params(index, words, Form::Bgv);
        let (slots, top) = (params.slots(), params.chain().top());
        for (bits, rounds) in [(16, 4), (24, 5), (28, 2), (32, 7)] {
            for round in 0..rounds {
                let values = integers(slots, bits, round * slots);
                let scheme = NoOp::new(&params, 100 * u64::from(bits) + round as u64);
                let count = (bits as usize).div_ceil(8);
                let bytes: Vec<_> = (0..count)
                    .map(|k| scheme.encrypt(&encode(&params, &byte_of(&values, k))).unwrap())
                    .collect();
                let big = round % 2 == 1;
                let order = if big { ByteOrder::Big } else { ByteOrder::Little };
                let map = IntegersFromBytes::new(&scheme, count, bits, order, top).unwrap();
                let mut inputs: Vec<_> = bytes.iter().collect();
                if big {
                    inputs.reverse();
                }
                let before = scheme.cost();
                let y = map.evaluate(&scheme, &inputs).unwrap();
                assert_eq!(
                    scheme.decrypt(&y).unwrap().decode(&params).unwrap(),
                    values,
                    "m = {index}, {bits} bits, {order:?}"
                );
                assert_eq!((scheme.cost() - before).products as usize, map.costs().products);
                assert_eq!(y.meta().depth, map.costs().depth);
            }
        }
    }
}

/// Bytes under encryption, as integers, with the keys that a rehearsal asks for: the plaintexts of
/// all bits on the way and of the result.
#[test]
fn bytes_become_integers_with_cryptography_and_within_their_noise() {
    for (index, form, bits) in [
        (255, Form::Bgv, 8),
        (255, Form::Bgv, 16),
        (255, Form::Bgv, 32),
        (255, Form::Bfv, 16),
        (241, Form::Bgv, 16),
        (257, Form::Bgv, 8),
        (45 * 17, Form::Bgv, 8),
    ] {
        let params = params(index, 10, form);
        let (slots, top, count) = (params.slots(), params.chain().top(), bits as usize / 8);
        let values = integers(slots, bits, 7);
        let plain: Vec<Plaintext> =
            (0..count).map(|k| encode(&params, &byte_of(&values, k))).collect();

        let dry = NoOp::new(&params, 2);
        let foretold = {
            let map = IntegersFromBytes::new(&dry, count, bits, ByteOrder::Little, top).unwrap();
            let bytes: Vec<_> = plain.iter().map(|x| dry.encrypt(x).unwrap()).collect();
            let y = map.evaluate(&dry, &bytes.iter().collect::<Vec<_>>()).unwrap();
            dry.mul(&y, &y, NextUse::LinearMap).unwrap();
            y
        };
        // What the circuit says that it needs, and no more.
        let used: std::collections::BTreeSet<_> =
            dry.key_plan().galois.keys().map(|(g, _)| *g).collect();
        assert!(
            used.into_iter().eq(IntegersFromBytes::<NoOp>::automorphisms(params.slot_shape())),
            "m = {index}"
        );

        let mut rng = ChaCha20Rng::seed_from_u64(index);
        let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
        let bytes: Vec<_> = plain.iter().map(|x| secret.encrypt(x, &mut rng).unwrap()).collect();
        let open = |x: &Ciphertext| {
            let (measured, bound) = (secret.measure_noise(x).unwrap(), scheme.noise_bound_bits(x));
            assert!(
                measured <= bound,
                "m = {index}, {form:?}: noise 2^{measured:.1}, bound 2^{bound:.1}"
            );
            secret.decrypt(x).unwrap().decode(&params).unwrap()
        };
        for (k, byte) in bytes.iter().enumerate() {
            let split = ByteBits::new(&scheme, bits, top).unwrap().split(&scheme, byte).unwrap();
            for (i, bit) in split.iter().enumerate() {
                assert!(
                    open(bit).iter().zip(&values).all(|(y, v)| y % 2 == v >> (8 * k + i) & 1),
                    "m = {index}, bit {i}"
                );
            }
        }
        let map = IntegersFromBytes::new(&scheme, count, bits, ByteOrder::Little, top).unwrap();
        let y = map.evaluate(&scheme, &bytes.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(open(&y), values, "m = {index}, {form:?}");
        assert_eq!(
            (y.meta().level, y.meta().noise),
            (foretold.meta().level, foretold.meta().noise),
            "as foretold"
        );

        // Ordinary integers modulo 2^bits: 3 x^2 - x, half of them rounded down, and their sum.
        let t = 1u64 << bits;
        let square = scheme.mul(&y, &y, NextUse::LinearMap).unwrap();
        let z = scheme.linear_combination(&[(&square, 3), (&y, -1)], 0).unwrap();
        assert!(
            open(&z)
                .iter()
                .zip(&values)
                .all(|(z, v)| *z == v.wrapping_mul(*v).wrapping_mul(3).wrapping_sub(*v) % t),
            "m = {index}"
        );
    }
}

#[test]
fn integers_are_truncated_and_summed() {
    let params = params(255, 12, Form::Bgv);
    let values = integers(params.slots(), 8, 4);
    let scheme = NoOp::new(&params, 3);
    let x = scheme.encrypt(&encode(&params, &byte_of(&values, 0))).unwrap();
    let y = IntegersFromBytes::new(&scheme, 1, 8, ByteOrder::Little, params.chain().top())
        .unwrap()
        .evaluate(&scheme, &[&x])
        .unwrap();
    let open = |x: &_| scheme.decrypt(x).unwrap().decode(&params).unwrap();
    // The sign of two's complement: the highest of eight bits.
    let sign = Truncation::new(2, 8, 7, DigitMethod::new(DigitKind::Doubling))
        .unwrap()
        .floor(&scheme, &y, NextUse::Keep)
        .unwrap();
    assert_eq!(open(&sign), values.iter().map(|v| v >> 7).collect::<Vec<_>>());
    let total = values.iter().sum::<u64>() % 256;
    assert_eq!(open(&total_sum(&scheme, &y).unwrap()), vec![total; params.slots()]);
}

#[test]
fn bytes_side_by_side_are_joined() {
    // Four, and by way of masks two slots along a dimension.
    for (index, dimension, counts) in [(5 * 17, 0, &[1, 2, 4][..]), (13 * 241, 1, &[2])] {
        let params = params(index, 14, Form::Bgv);
        let (shape, slots) = (params.slot_shape(), params.slots());
        let size = shape.dimensions()[dimension].size;
        let inner: usize = shape.dimensions()[dimension + 1..].iter().map(|d| d.size).product();
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let bytes: Vec<u8> = (0..slots).map(|_| rng.next_u64() as u8).collect();
        let scheme = NoOp::new(&params, 7);
        let x = scheme.encrypt(&encode(&params, &bytes)).unwrap();
        for &count in counts {
            for (order, exponent) in [(ByteOrder::Big, 8 * count as u32), (ByteOrder::Little, 20)] {
                let single =
                    IntegersFromBytes::new(&scheme, 1, exponent, order, params.chain().top())
                        .unwrap();
                let digits = single.evaluate(&scheme, &[&x]).unwrap();
                let joined = joined_along(&scheme, &digits, dimension, count, order).unwrap();
                let expected: Vec<u64> = (0..slots)
                    .map(|s| {
                        let place = s / inner % size;
                        let byte = |k: usize| {
                            u64::from(bytes[s - place * inner + (place + k) % size * inner])
                        };
                        let weight = |k: usize| {
                            if order == ByteOrder::Big { 8 * (count - 1 - k) } else { 8 * k }
                        };
                        (0..count).map(|k| byte(k) << weight(k)).sum::<u64>() % (1 << exponent)
                    })
                    .collect();
                assert_eq!(
                    scheme.decrypt(&joined).unwrap().decode(&params).unwrap(),
                    expected,
                    "m = {index}, {count}, {order:?}"
                );
            }
        }
        // A window of the last integer that is meant would pass the end.
        for count in [3, 2 * size, usize::MAX] {
            let refused = joined_along(&scheme, &x, dimension, count, ByteOrder::Big).err();
            let code = refused.map(|e| e.code());
            assert_eq!(code, Some("scheme.bad-argument"), "{count} of {size}");
        }
        let refused = joined_along(&scheme, &x, dimension, 0, ByteOrder::Big).err();
        assert_eq!(refused, Some(CircuitError::Empty { what: "the list of bytes" }.into()));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let set = params(255, 2, Form::Bgv);
    let (scheme, top) = (NoOp::new(&set, 1), set.chain().top());
    let new =
        |bytes, exponent| IntegersFromBytes::new(&scheme, bytes, exponent, ByteOrder::Little, top);
    assert_eq!(new(0, 8).err(), Some(CircuitError::Empty { what: "the list of bytes" }.into()));
    assert!(matches!(new(1, 33).err(), Some(AesError::Ring(_))));
    let x = scheme.encrypt(&encode(&set, &[1; 16])).unwrap();
    let width = AesError::Width { what: "an integer", found: 1, expected: 2 };
    assert_eq!(new(2, 16).unwrap().evaluate(&scheme, &[&x]).err(), Some(width));
    // 60 bits are not enough for 32-bit integers.
    let exhausted = scheme.encrypt_exhausted(&encode(&set, &[1; 16]), top, 60.0).unwrap();
    let refused = new(4, 32).unwrap().evaluate(&scheme, &[&exhausted; 4]).err();
    assert!(matches!(refused, Some(AesError::Scheme(SchemeError::NoiseOverflow { .. }))));
    for e in [0, 33] {
        assert!(matches!(scheme.extend_plain_modulus(&x, e), Err(SchemeError::BadArgument { .. })));
    }
    // Slots of degree 12.
    let set = params(91, 2, Form::Bgv);
    let refused = ByteBits::new(&NoOp::new(&set, 1), 4, set.chain().top()).err();
    assert_eq!(refused, Some(AesError::NoBytes { degree: 12 }));
}

/// What the secure set leaves: round keys from one ciphertext each, all of AES-128 by bytes on
/// public counters, then integers. Levels and noise bounds only.
#[test]
fn integers_of_16_bits_fit_behind_aes() {
    let params = leveled();
    let (scheme, top) = (NoOp::blank(&params), params.chain().top());
    let zero = Plaintext::encode(&params, &[]).unwrap();
    let aes = ByteSliced::new(&scheme, top).unwrap();
    let uploaded = scheme.encrypt_at(&zero, top).unwrap();
    let key = UnpackBytes::new(&scheme, top).unwrap().apply(&scheme, &uploaded).unwrap();
    let start = key.iter().map(|x| scheme.level(x)).min().unwrap();
    let mut keys = |_: usize, level: Level| {
        let lowered = key.iter().map(|x| scheme.mod_switch_to(x, level.min(start)));
        Ok(lowered.collect::<Result<Vec<_>, _>>()?)
    };
    let counters = vec![zero; 16];
    let state = aes
        .evaluate(
            &scheme,
            Start::Public(&counters, start),
            Cipher::new(KeySize::Aes128, Direction::Encrypt),
            &mut keys,
            &mut |_, state| Ok(state),
        )
        .unwrap();
    let left = |bits: u32| {
        let map =
            IntegersFromBytes::new(&scheme, bits as usize / 8, bits, ByteOrder::Big, top).unwrap();
        let integers =
            map.evaluate(&scheme, &state[..map.bytes()].iter().collect::<Vec<_>>()).unwrap();
        let sum = total_sum(&scheme, &integers).unwrap();
        (scheme.capacity_bits(&integers), scheme.capacity_bits(&sum), map.costs().products)
    };
    let (eight, sixteen) = (left(8), left(16));
    println!(
        "after AES {:.1}; integers and their sums: 8 bits {eight:.1?}, 16 bits {sixteen:.1?}",
        scheme.capacity_bits(&state[0])
    );
    // A product more modulo 2^8, sums of all slots of many states modulo 2^16.
    assert!(eight.0 > 100.0 && sixteen.0 > 40.0 && sixteen.1 > 30.0);
    assert_eq!((eight.2, sixteen.2), (17, 49));
}
