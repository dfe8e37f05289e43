//! From bytes in slots to integers: on the no-op scheme with any garbage, and on small rings with cryptography.

use everlevel_circuit::aes::{AesError, ByteEmbedding};
use everlevel_circuit::integers::{ByteBits, ByteOrder, IntegersFromBytes};
use everlevel_circuit::sums::total_sum;
use everlevel_circuit::{CircuitError, Truncation};
use everlevel_scheme::params::{Family, SecretKind};
use everlevel_scheme::{
    Evaluator, Form, KeyPlan, Level, NextUse, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme, SchemeError, SecretKey,
    ServerKeys,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

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
        family: Family::Rlwe,
        secret: SecretKind::UniformTernary,
        bootstrap: None,
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Degrees 8, 24 and 16 of slots: no trace to the bytes, one, and all conjugates at once.
const RINGS: [u64; 4] = [255, 241, 257, 3 * 257];

/// One byte in each slot.
fn encode(params: &Params, bytes: &[u8]) -> Plaintext {
    let embedding = ByteEmbedding::new(params.slot_shape()).unwrap();
    Plaintext::encode_elements(params, &bytes.iter().flat_map(|&b| embedding.element(b)).copied().collect::<Vec<_>>()).unwrap()
}

/// So many integers below 2^bits, corners first.
fn integers(count: usize, bits: u32, skip: usize) -> Vec<u64> {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let most = (1u64 << bits) - 1;
    let corners = (0..bits).flat_map(|i| [1 << i, most - (1 << i), (1 << i) - 1]).chain([0, most, most / 3, most / 3 * 2]);
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
        for (seed, chunk) in all.chunks(slots).enumerate() {
            let mut bytes = chunk.to_vec();
            bytes.resize(slots, 0x5a);
            let scheme = NoOp::new(&params, seed as u64);
            let x = scheme.encrypt(&encode(&params, &bytes)).unwrap();

            let bits = ByteBits::new(&scheme, 7, top).unwrap().split(&scheme, &x).unwrap();
            let mut garbage = 0;
            for (i, bit) in bits.iter().enumerate() {
                // Integers: `decode` refuses all else.
                let found = scheme.decrypt(bit).unwrap().decode(&params).unwrap();
                assert!(found.iter().zip(&bytes).all(|(y, b)| y % 2 == u64::from(b >> i & 1)), "m = {index}, bit {i}");
                garbage += found.iter().filter(|y| **y > 1).count();
            }
            assert!(garbage > 4 * slots, "the test is one: {garbage} integers are no bits");

            for exponent in [8, 5, 16] {
                let map = IntegersFromBytes::new(&scheme, 1, exponent, ByteOrder::Little, top).unwrap();
                let y = map.evaluate(&scheme, &[&x]).unwrap();
                let expected: Vec<u64> = bytes.iter().map(|b| u64::from(*b) & ((1 << exponent) - 1)).collect();
                assert_eq!(scheme.decrypt(&y).unwrap().decode(&params).unwrap(), expected, "m = {index}, 2^{exponent}");
            }
        }
    }
}

#[test]
fn integers_of_several_bytes_on_the_no_op_scheme() {
    for (index, words) in [(255, 12), (241, 12)] {
        let params = params(index, words, Form::Bgv);
        let (slots, top) = (params.slots(), params.chain().top());
        for (bits, rounds) in [(16, 4), (24, 5), (32, 7)] {
            for round in 0..rounds {
                let values = integers(slots, bits, round * slots);
                let scheme = NoOp::new(&params, 100 * u64::from(bits) + round as u64);
                let count = bits as usize / 8;
                let bytes: Vec<_> = (0..count).map(|k| scheme.encrypt(&encode(&params, &byte_of(&values, k))).unwrap()).collect();
                let big = round % 2 == 1;
                let order = if big { ByteOrder::Big } else { ByteOrder::Little };
                let map = IntegersFromBytes::new(&scheme, count, bits, order, top).unwrap();
                let mut inputs: Vec<_> = bytes.iter().collect();
                if big {
                    inputs.reverse();
                }
                let before = scheme.cost();
                let y = map.evaluate(&scheme, &inputs).unwrap();
                assert_eq!(scheme.decrypt(&y).unwrap().decode(&params).unwrap(), values, "m = {index}, {bits} bits, {order:?}");
                assert_eq!((scheme.cost() - before).products as usize, map.costs().products);
                assert_eq!(y.meta().depth, map.costs().depth);
            }
        }
    }
}

#[test]
fn budget() {
    let params = Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap();
    let scheme = NoOp::blank(&params);
    let top = params.chain().top();
    let zero = Plaintext::encode_modulo(&params, &[], 1).unwrap();
    let started = std::time::Instant::now();
    for capacity in [226.0, 700.0] {
        let level = params.chain().at_least(capacity + 30.0);
        let x = scheme.encrypt_worn(&zero, level, capacity).unwrap();
        for (bytes, bits) in [(1, 8), (2, 16), (3, 24), (4, 32)] {
            let map = IntegersFromBytes::new(&scheme, bytes, bits, ByteOrder::Little, top).unwrap();
            println!("made {:?}", started.elapsed());
            let one = ByteBits::new(&scheme, bits, top).unwrap().split(&scheme, &x);
            match one {
                Ok(b) => println!(
                    "  split {:.1} level {} noise {:.1}",
                    scheme.capacity_bits(&b[0]),
                    params.modulus_bits(scheme.level(&b[0])),
                    b[0].meta().noise
                ),
                Err(e) => println!("  {e}"),
            }
            let inputs = vec![&x; bytes];
            match map.evaluate(&scheme, &inputs) {
                Ok(y) => {
                    println!("{capacity} {bits}: left {:.1}  {:?} {:?}", scheme.capacity_bits(&y), map.costs(), started.elapsed())
                }
                Err(e) => println!("{capacity} {bits}: {e}"),
            }
        }
    }
}
