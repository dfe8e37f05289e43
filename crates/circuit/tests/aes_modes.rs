//! AES decryption, modes of operation, key expansion and transciphering: against FIPS-197, SP 800-38A, the specification of GCM and another implementation, on the
//! no-op scheme; then on BGV and NTRU.

mod aes_common;

use std::sync::atomic::{AtomicUsize, Ordering};

use aes_common::{bgv, block, close, hex, lines, ntru, open, oracle, random, top};
use everlevel_circuit::CircuitError;
use everlevel_circuit::aes::{
    Aes, AesError, AffineMap, Batch, BitSliced, ByteSliced, Cipher, Direction, KeySchedule, KeySize, Layout, Mode, Packed,
    Progress, Refresh, RoundKeys, Transcipher, UnpackBytes,
};
use everlevel_scheme::plain::Open;
use everlevel_scheme::{Evaluator, Level, NoOp, OptIn, Params, Plaintext, Scheme, SchemeError, SecretKey, ServerKeys};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Round keys in the clear at a level.
fn round_keys<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, key: &[u8], level: Level) -> RoundKeys<NoOp> {
    let schedule = KeySchedule::new(key).unwrap();
    let encrypted = |key: &[u8; 16]| open(scheme, aes, &vec![*key; aes.blocks()], level).unwrap();
    RoundKeys::new(schedule.size(), schedule.round_keys().iter().map(encrypted).collect()).unwrap()
}

/// Decrypts 16 blocks under one key, and returns them with the depth.
fn decrypt<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, key: &[u8], blocks: &[[u8; 16]]) -> (Vec<[u8; 16]>, u32) {
    let keys = round_keys(scheme, aes, key, top(scheme));
    let state = open(scheme, aes, blocks, top(scheme)).unwrap();
    let (size, mut source) = (keys.size(), keys.source(scheme));
    let out = aes.decrypt(scheme, state, size, size.rounds(), &mut source, &mut |_, _| Ok(())).unwrap();
    (close(scheme, aes, &out), out.iter().map(|x| x.meta().depth).max().unwrap())
}

const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const KEY_192: &str = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b";
const KEY_256: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
/// The plaintext of SP 800-38A, appendix F.
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

/// Known answers of single blocks: key, plaintext, ciphertext. FIPS-197, appendices B, C.1, C.2 and C.3.
const BLOCKS: [[&str; 3]; 4] = [
    [KEY_128, "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"],
    ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"],
    ["000102030405060708090a0b0c0d0e0f1011121314151617", "00112233445566778899aabbccddeeff", "dda97ca4864cdfe06eaf70a0ec0d7191"],
    [
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ],
];

/// SP 800-38A, F.1 (ECB): the ciphertexts of [`PLAIN`].
const ECB: [[&str; 2]; 3] = [
    [
        KEY_128,
        "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
    ],
    [
        KEY_192,
        "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eefef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e",
    ],
    [
        KEY_256,
        "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
    ],
];
/// SP 800-38A, F.2 (CBC), with the vector 00 01 .. 0f.
const CBC: [[&str; 2]; 3] = [
    [
        KEY_128,
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
    ],
    [
        KEY_192,
        "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
    ],
    [
        KEY_256,
        "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
    ],
];
/// SP 800-38A, F.5 (CTR), from the counter block f0 f1 .. ff.
const CTR: [[&str; 2]; 3] = [
    [
        KEY_128,
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
    ],
    [
        KEY_192,
        "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e941e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
    ],
    [
        KEY_256,
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
    ],
];
/// McGrew and Viega, The Galois/Counter Mode of Operation, appendix B, test cases 4, 10 and 16: 60 bytes, the vector cafebabefacedbaddecaf888.
const GCM_PLAIN: &str =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
const GCM: [[&str; 2]; 3] = [
    [
        "feffe9928665731c6d6a8f9467308308",
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
    ],
    [
        "feffe9928665731c6d6a8f9467308308feffe9928665731c",
        "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
    ],
    [
        "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
    ],
];

/// Known answers of decryption, random blocks under random keys, and the counts, which are those of encryption.
fn check_decryption<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, products: u64, key_switches: u64) {
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    for [key, plain, cipher] in BLOCKS {
        let key = hex(key);
        let mut blocks = vec![block(cipher)];
        let mut expected = vec![block(plain)];
        for _ in blocks.len()..aes.blocks() {
            expected.push(random(&mut rng, 16).try_into().unwrap());
            blocks.push(oracle(&key, expected[expected.len() - 1], Direction::Encrypt));
        }
        let before = scheme.cost();
        let (found, depth) = decrypt(scheme, aes, &key, &blocks);
        assert_eq!(found, expected, "a key of {} bytes", key.len());
        let (cost, rounds) = (scheme.cost() - before, KeySize::of(key.len()).unwrap().rounds() as u32);
        assert_eq!((cost.products, cost.key_switches), (u64::from(rounds) * products, u64::from(rounds) * key_switches));
        assert_eq!(depth, rounds * aes.depth_of_round());
    }
}

#[test]
fn bit_sliced_decryption_on_the_no_op_scheme() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check_decryption(&scheme, &BitSliced::new(scheme.slot_shape()), 16 * 36, 16 * 18);
}

#[test]
fn byte_sliced_decryption_on_the_no_op_scheme() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    check_decryption(&scheme, &aes, 16 * 4, 16 * (4 + 3 + 7));
}

#[test]
fn packed_decryption_on_the_no_op_scheme() {
    let scheme = NoOp::new(&lines(20), 1);
    let aes = Packed::new(&scheme, top(&scheme)).unwrap();
    check_decryption(&scheme, &aes, 4, 4 + 3 + 7 + 3 + 3);
}

/// FIPS-197, C.1: the results of MixColumns in rounds 1 to 9 of encryption, which rounds 9 to 1 of decryption end with.
const MIXED: [&str; 9] = [
    "5f72641557f5bc92f7be3b291db9f91a",
    "ff87968431d86a51645151fa773ad009",
    "4c9c1e66f771f0762c3f868e534df256",
    "6385b79ffc538df997be478e7547d691",
    "f4bcd45432e554d075f1d6c51dd03b3c",
    "9816ee7400f87f556b2c049c8e5ad036",
    "c57e1c159a9bd286f05f4be098c63439",
    "baa03de7a1f9b56ed5512cba5f414d23",
    "e9f74eec023020f61bf2ccf2353c21c7",
];

#[test]
fn every_round_of_decryption() {
    fn check<A: Aes<NoOp>>(scheme: &NoOp, aes: &A) {
        let [key, plain, cipher] = BLOCKS[1];
        let keys = round_keys(scheme, aes, &hex(key), top(scheme));
        let state = open(scheme, aes, &vec![block(cipher); aes.blocks()], top(scheme)).unwrap();
        let mut seen = 0;
        let mut observer = |round: usize, state: &[Open]| {
            let expected = match round {
                // The ciphertext and the last key.
                0 => "7ad5fda789ef4e272bca100b3d9ff59f",
                10 => plain,
                _ => MIXED[9 - round],
            };
            assert_eq!(close(scheme, aes, state), vec![block(expected); aes.blocks()], "round {round}");
            seen += 1;
            Ok(())
        };
        aes.decrypt(scheme, state, keys.size(), 10, &mut keys.source(scheme), &mut observer).unwrap();
        assert_eq!(seen, 11);
    }
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check(&scheme, &BitSliced::new(scheme.slot_shape()));
    check(&scheme, &ByteSliced::new(&scheme, top(&scheme)).unwrap());
    let scheme = NoOp::new(&lines(20), 1);
    check(&scheme, &Packed::new(&scheme, top(&scheme)).unwrap());
}

#[test]
fn inverse_layers_undo_the_layers() {
    let identity = AffineMap::bytewise([128, 64, 32, 16, 8, 4, 2, 1], 0);
    assert_eq!(AffineMap::shift_rows().then(&AffineMap::inverse_shift_rows()), identity);
    assert_eq!(AffineMap::mix_columns().then(&AffineMap::inverse_mix_columns()), identity);
    assert_eq!(AffineMap::inverse_mix_columns().then(&AffineMap::mix_columns()), identity);

    // S-boxes there and back, all 256 bytes.
    let scheme = NoOp::new(&bgv(2, 12), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let bytes: Vec<[u8; 16]> = (0..16).map(|slot| std::array::from_fn(|i| 16 * slot + i as u8)).collect();
    let state = open(&scheme, &aes, &bytes, top(&scheme)).unwrap();
    let there: Vec<_> = state.iter().map(|x| aes.sub_byte(&scheme, x).unwrap()).collect();
    let back: Vec<_> = there.iter().map(|x| aes.inverse_sub_byte(&scheme, x).unwrap()).collect();
    assert_eq!(close(&scheme, &aes, &back), bytes);
    assert_ne!(close(&scheme, &aes, &there), bytes);
}

/// Transciphers `data`, in pieces, and reads the results.
fn transcipher<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, keys: &RoundKeys<NoOp>, mode: Mode, data: &[u8], piece: usize) -> Vec<u8> {
    let mut source = keys.source(scheme);
    let mut run = Transcipher::new(scheme, aes, keys.size(), mode, top(scheme), &mut source).unwrap();
    let (mut plain, mut calls) = (Vec::new(), Vec::new());
    run.run(data.chunks(piece), &mut |p| calls.push(p), |batch| {
        assert_eq!(batch.offset, plain.len() as u64);
        plain.extend(read(scheme, aes.layout(), &batch));
        Ok(())
    })
    .unwrap();
    assert_eq!(run.offset(), data.len() as u64);
    let (rounds, capacity) = (keys.size().rounds(), aes.layout().capacity());
    let expected = (0..data.len()).step_by(capacity).flat_map(|at| (0..=rounds).map(move |round| (at as u64, round)));
    assert!(calls.iter().map(|p| (p.offset, p.round)).eq(expected) && calls.iter().all(|p| p.rounds == rounds));
    plain
}
/// What the owner of the key does.
fn read(scheme: &NoOp, layout: &Layout, batch: &Batch<NoOp>) -> Vec<u8> {
    layout.bytes(&elements(scheme, batch), batch.length).unwrap()
}
fn elements(scheme: &NoOp, batch: &Batch<NoOp>) -> Vec<Vec<u64>> {
    batch.state.iter().map(|x| scheme.decrypt(x).unwrap().decode_elements(scheme.params()).unwrap()).collect()
}

/// All known answers of modes, and SP 800-38A's of ECB in both directions.
fn check_modes<A: Aes<NoOp>>(scheme: &NoOp, aes: &A) {
    let counting: Vec<u8> = (0..16).collect();
    let f0: Vec<u8> = (0xf0..=0xff).collect();
    let gcm_iv = hex("cafebabefacedbaddecaf888");
    let families: [(_, &str, Mode); 4] = [
        (ECB, PLAIN, Mode::ecb()),
        (CBC, PLAIN, Mode::cbc(&counting).unwrap()),
        (CTR, PLAIN, Mode::ctr(&f0).unwrap()),
        (GCM, GCM_PLAIN, Mode::gcm(&gcm_iv).unwrap()),
    ];
    for (answers, plain, mode) in families {
        for [key, cipher] in answers {
            let keys = round_keys(scheme, aes, &hex(key), top(scheme));
            assert_eq!(transcipher(scheme, aes, &keys, mode.clone(), &hex(cipher), 23), hex(plain), "{mode:?}, {key}");
        }
    }
    for [key, cipher] in ECB {
        let keys = round_keys(scheme, aes, &hex(key), top(scheme));
        let blocks = hex(PLAIN).as_chunks::<16>().0.to_vec();
        let state = open(scheme, aes, &blocks, top(scheme)).unwrap();
        let (size, mut source) = (keys.size(), keys.source(scheme));
        let out = aes.encrypt(scheme, state, size, size.rounds(), &mut source, &mut |_, _| Ok(())).unwrap();
        assert_eq!(close(scheme, aes, &out)[..4].as_flattened(), hex(cipher));
    }
}

#[test]
fn modes_by_bits() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check_modes(&scheme, &BitSliced::new(scheme.slot_shape()));
}

#[test]
fn modes_by_bytes() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check_modes(&scheme, &ByteSliced::new(&scheme, top(&scheme)).unwrap());
}

#[test]
fn modes_packed() {
    let scheme = NoOp::new(&lines(20), 1);
    check_modes(&scheme, &Packed::new(&scheme, top(&scheme)).unwrap());
}

/// Modes in plain, by their definitions: counters as integers, the previous block in CBC.
fn encrypt_plain(key: &[u8], mode: &str, iv: [u8; 16], data: &[u8]) -> Vec<u8> {
    let (mut chain, mut out) = (iv, Vec::new());
    for piece in data.chunks(16) {
        match mode {
            "ctr" => {
                let stream = oracle(key, chain, Direction::Encrypt);
                out.extend(piece.iter().zip(stream).map(|(x, s)| x ^ s));
                chain = (u128::from_be_bytes(chain) + 1).to_be_bytes();
            }
            "cbc" => {
                chain = oracle(key, std::array::from_fn(|i| piece[i] ^ chain[i]), Direction::Encrypt);
                out.extend(chain);
            }
            _ => out.extend(oracle(key, piece.try_into().unwrap(), Direction::Encrypt)),
        }
    }
    out
}

#[test]
fn messages_of_many_lengths() {
    // As CAVP's multi-block message tests: a random key and vector for each length. States hold 256 bytes.
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    for (size, length, piece) in
        [(16, 1, 1), (24, 16, 16), (32, 160, 7), (16, 255, 64), (16, 256, 256), (24, 257, 300), (32, 700, 13)]
    {
        let key = random(&mut rng, size);
        let keys = round_keys(&scheme, &aes, &key, top(&scheme));
        let iv: [u8; 16] = random(&mut rng, 16).try_into().unwrap();
        let data = random(&mut rng, length);
        let cipher = encrypt_plain(&key, "ctr", iv, &data);
        assert_eq!(transcipher(&scheme, &aes, &keys, Mode::ctr(&iv).unwrap(), &cipher, piece), data, "{length} bytes");
        if length % 16 == 0 || length == 700 {
            let data = random(&mut rng, length.next_multiple_of(16));
            for (name, mode) in [("cbc", Mode::cbc(&iv).unwrap()), ("ecb", Mode::ecb())] {
                let cipher = encrypt_plain(&key, name, iv, &data);
                assert_eq!(transcipher(&scheme, &aes, &keys, mode, &cipher, piece), data, "{length} bytes in {name}");
            }
        }
    }
}

#[test]
fn counters_count_as_others_do() {
    // openssl enc -aes-128-ctr -K 2b7e151628aed2a6abf7158809cf4f3c -iv 0000000000000000ffffffffffffffff on 48 bytes of 0: the carry goes into the upper half.
    let key = hex(KEY_128);
    let mut mode = Mode::ctr(&hex("0000000000000000ffffffffffffffff")).unwrap();
    let blocks = mode.next_blocks(&[0; 48]).unwrap();
    let stream: Vec<u8> = blocks.inputs.iter().flat_map(|x| oracle(&key, *x, Direction::Encrypt)).collect();
    assert_eq!(stream, hex(OPENSSL));
    assert_eq!(mode.next_blocks(&[0; 1]).unwrap().inputs, [block("00000000000000010000000000000002")]);

    // A nonce of 8 bytes and a counter of 64 bits; GCM's counter begins with 2.
    let mut mode = Mode::ctr_with_nonce(&[0xab; 8], 7).unwrap();
    assert_eq!(mode.next_blocks(&[1; 20]).unwrap().inputs[1], block("abababababababab0000000000000008"));
    let mut mode = Mode::gcm(&[0xcd; 12]).unwrap();
    let first = mode.next_blocks(&[9; 3]).unwrap();
    assert_eq!(
        (first.inputs, first.pads),
        (vec![block("cdcdcdcdcdcdcdcdcdcdcdcd00000002")], vec![block("09090900000000000000000000000000")])
    );
}

#[test]
fn counters_do_not_wrap() {
    let mut mode = Mode::ctr(&[0xff; 16]).unwrap();
    let overflow = |bits, blocks, left| Err(AesError::CounterOverflow { bits, blocks, left });
    assert_eq!(mode.next_blocks(&[0; 17]), overflow(128, 2, 1));
    assert_eq!(mode.next_blocks(&[0; 16]).unwrap().inputs, [[0xff; 16]]);
    assert_eq!(mode.next_blocks(&[0; 1]), overflow(128, 1, 0));
    assert!(mode.next_blocks(&[]).unwrap().inputs.is_empty());

    // 2^32 - 2 blocks of GCM at most: SP 800-38D, section 5.2.1.1.
    let mut mode = Mode::ctr_with_nonce(&[0; 12], (1 << 32) - 3).unwrap();
    assert_eq!(mode.next_blocks(&[0; 64]), overflow(32, 4, 3));
    assert!(mode.next_blocks(&[0; 48]).is_ok());
    assert_eq!(mode.next_blocks(&[0; 16]), overflow(32, 1, 0));

    assert_eq!(Mode::ctr_with_nonce(&[0; 15], 256), Err(AesError::CounterStart { found: 256, bits: 8 }));
    assert!(Mode::ctr_with_nonce(&[], u128::MAX).is_ok());
    for refused in [Mode::ctr(&[0; 12]), Mode::gcm(&[0; 16]), Mode::cbc(&[]), Mode::ctr_with_nonce(&[0; 16], 0)] {
        assert!(matches!(refused, Err(AesError::NonceLength { .. })), "{refused:?}");
    }
    for mut mode in [Mode::ecb(), Mode::cbc(&[0; 16]).unwrap()] {
        assert_eq!(mode.next_blocks(&[0; 17]), Err(AesError::DataLength { found: 17 }));
    }
}
/// See [`counters_count_as_others_do`].
const OPENSSL: &str = "ef8737b783c4fa88e687ee9467073f6edc0a3bc38609c26f6f2a63a39cf7ee93c5eb9614bd235873ff3771254315047c";

#[test]
fn slots_without_data_repeat_the_last_block() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let (key, iv) = (hex(KEY_128), [3; 16]);
    let keys = round_keys(&scheme, &aes, &key, top(&scheme));
    for (name, mode, length) in [("ctr", Mode::ctr(&iv).unwrap(), 40), ("cbc", Mode::cbc(&iv).unwrap(), 48)] {
        let data: Vec<u8> = (0..length as u8).collect();
        let mut source = keys.source(&scheme);
        let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode, top(&scheme), &mut source).unwrap();
        let batch = run.next_batch(&encrypt_plain(&key, name, iv, &data), &mut |_| ()).unwrap();
        assert_eq!((batch.length, batch.offset), (length, 0));
        let blocks = aes.layout().decode(&elements(&scheme, &batch)).unwrap();
        assert_eq!(blocks[..3].as_flattened()[..length], data);
        assert!(blocks[3..].iter().all(|block| *block == blocks[2]), "{name}");
    }
}

#[test]
fn layouts_say_where_bytes_are() {
    let shape = bgv(2, 2).slot_shape().clone();
    let (bits, bytes) = (Layout::bit_sliced(&shape), Layout::byte_sliced(&shape).unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let blocks: Vec<[u8; 16]> = (0..16).map(|_| random(&mut rng, 16).try_into().unwrap()).collect();
    let field = everlevel_circuit::aes::ByteEmbedding::new(&shape).unwrap();
    let (as_bits, as_bytes) = (bits.encode(&blocks), bytes.encode(&blocks));
    for (b, block) in blocks.iter().enumerate() {
        for (position, byte) in block.iter().enumerate() {
            let place = bytes.place(b, position);
            assert_eq!(place.ciphertexts.len(), 1);
            assert_eq!(as_bytes[place.ciphertexts.start][8 * place.slot..][..8], *field.element(*byte));
            let place = bits.place(b, position);
            let byte_again = as_bits[place.ciphertexts].iter().fold(0, |byte, x| byte << 1 | x[8 * place.slot] as u8);
            assert_eq!(byte_again, *byte);
        }
    }
    // Bytes along a line: one slot each, and four blocks.
    let packed = Layout::packed(lines(2).slot_shape()).unwrap();
    assert_eq!((packed.width(), packed.blocks(), packed.capacity()), (1, 4, 64));
    let mut slots: Vec<_> = (0..64).map(|i| packed.place(i / 16, i % 16)).collect();
    assert!(slots.iter().all(|place| place.ciphertexts == (0..1)));
    assert_eq!(packed.bytes(&packed.encode(&blocks[..4]), 50).unwrap(), blocks[..4].as_flattened()[..50]);
    slots.sort_by_key(|place| place.slot);
    assert!(slots.iter().map(|place| place.slot).eq(0..64));
    assert!(matches!(Layout::packed(&shape).err(), Some(CircuitError::Aes(AesError::NoLine { .. }))));

    for layout in [&bits, &bytes] {
        assert_eq!((layout.blocks(), layout.capacity()), (16, 256));
        let elements = layout.encode(&blocks[..5]);
        assert_eq!(layout.bytes(&elements, 70).unwrap(), blocks[..5].as_flattened()[..70]);
        assert_eq!(layout.bytes(&elements, 256).unwrap()[80..], [0; 176]);
        assert_eq!(layout.bytes(&elements, 257), Err(AesError::BatchLength { found: 257, highest: 256 }));
        assert!(matches!(layout.bytes(&elements[1..], 1), Err(AesError::Width { .. })));
        let mut wrong = elements;
        wrong[0][3] ^= 1;
        assert!(matches!(layout.bytes(&wrong, 1), Err(AesError::NotInField { slot: 0, .. })) || layout.width() == 16);
        wrong[0][..8].copy_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        assert!(matches!(layout.bytes(&wrong, 1), Err(AesError::NotInField { slot: 0, .. })));
        // A short vector is fewer blocks, not a panic.
        assert_eq!(layout.bytes(&vec![Vec::new(); layout.width()], 1), Err(AesError::BatchLength { found: 1, highest: 0 }));
    }
}

#[test]
fn misuse_is_refused() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let key = hex(KEY_128);
    let keys = round_keys(&scheme, &aes, &key, top(&scheme));
    let mut source = keys.source(&scheme);
    let mode = Mode::cbc(&[0; 16]).unwrap();
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode, top(&scheme), &mut source).unwrap();
    let mut ignore = |_: Progress| ();
    let data = random(&mut ChaCha20Rng::seed_from_u64(2), 32);
    let cipher = encrypt_plain(&key, "cbc", [0; 16], &data);
    let refused = |result: Result<Batch<NoOp>, CircuitError>| result.err().unwrap();
    assert_eq!(refused(run.next_batch(&[], &mut ignore)), CircuitError::Empty { what: "the data to be decrypted" });
    assert_eq!(refused(run.next_batch(&[0; 257], &mut ignore)), AesError::BatchLength { found: 257, highest: 256 }.into());
    assert_eq!(refused(run.next_batch(&cipher[..17], &mut ignore)), AesError::DataLength { found: 17 }.into());
    // It is where it was.
    for half in [0, 1] {
        let batch = run.next_batch(&cipher[16 * half..][..16], &mut ignore).unwrap();
        assert_eq!(read(&scheme, aes.layout(), &batch), data[16 * half..][..16]);
    }

    let mut source = keys.source(&scheme);
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), Mode::gcm(&[1; 12]).unwrap(), top(&scheme), &mut source).unwrap();
    run.next_batch(&[0; 5], &mut ignore).unwrap();
    assert_eq!(refused(run.next_batch(&[0; 5], &mut ignore)), AesError::Ended { offset: 5 }.into());

    // Keys below the level of the state, keys that are missing, rounds that there are not.
    let low = round_keys(&scheme, &aes, &key, Level(1));
    let mut source = low.source(&scheme);
    let mut run = Transcipher::new(&scheme, &aes, low.size(), Mode::ecb(), top(&scheme), &mut source).unwrap();
    let error = AesError::KeyLevel { round: 10, found: Level(1), needed: top(&scheme) };
    assert_eq!(refused(run.next_batch(&[0; 16], &mut ignore)), error.into());
    let few = RoundKeys::<NoOp>::new(KeySize::Aes192, keys.keys().to_vec());
    assert_eq!(few.err(), Some(AesError::RoundKeys { found: 11, expected: 13 }));
    assert_eq!(keys.key(&scheme, 11, Level(0)).err(), Some(AesError::Rounds { found: 11, highest: 10 }.into()));

    // Plaintext moduli other than 2, states of other sets.
    let odd = NoOp::new(&bgv(7, 2), 1);
    assert!(matches!(ByteSliced::new(&odd, top(&odd)).err(), Some(CircuitError::ModulusMismatch { expected: 2, found: 7 })));
    let bits = BitSliced::new(odd.slot_shape());
    let mut none = |_: usize, _: Level| Ok(Vec::new());
    let refused = Transcipher::new(&odd, &bits, KeySize::Aes128, Mode::ecb(), top(&odd), &mut none).err();
    assert_eq!(refused, Some(CircuitError::ModulusMismatch { expected: 2, found: 7 }));
    let mut run = Transcipher::new(&scheme, &aes, KeySize::Aes128, Mode::ecb(), top(&scheme), &mut none).unwrap();
    let width = AesError::Width { what: "a round key", found: 0, expected: 16 };
    assert_eq!(run.next_batch(&[0; 16], &mut ignore).err(), Some(width.into()));
}

/// The bytes of an encrypted key, each in all slots of a ciphertext.
fn key_bytes(scheme: &NoOp, aes: &ByteSliced<NoOp>, key: &[u8]) -> Vec<Open> {
    let one = |byte: &u8| open(scheme, aes, &vec![[*byte; 16]; aes.blocks()], top(scheme)).unwrap().swap_remove(0);
    key.iter().map(one).collect()
}

#[test]
fn keys_are_expanded_homomorphically() {
    // FIPS-197, A.1 to A.3.
    let scheme = NoOp::new(&bgv(2, 40), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    for (key, steps, cipher) in [(KEY_128, 10, ECB[0][1]), (KEY_192, 8, ECB[1][1]), (KEY_256, 13, ECB[2][1])] {
        let before = scheme.cost().products;
        let keys = RoundKeys::expand(&scheme, &aes, key_bytes(&scheme, &aes, &hex(key)), None).unwrap();
        assert_eq!(scheme.cost().products - before, steps * 4 * 4);
        let schedule = KeySchedule::new(&hex(key)).unwrap();
        assert_eq!(keys.keys().len(), schedule.round_keys().len());
        for (found, expected) in keys.keys().iter().zip(schedule.round_keys()) {
            assert_eq!(close(&scheme, &aes, found), vec![*expected; aes.blocks()]);
        }
        let depth = keys.keys().iter().flatten().map(|x| x.meta().depth).max().unwrap();
        assert_eq!(u64::from(depth), 3 * steps);

        // Encryption with them is as deep as with keys from the client.
        let blocks = hex(PLAIN).as_chunks::<16>().0.to_vec();
        let state = open(&scheme, &aes, &blocks, top(&scheme)).unwrap();
        let mut source = |round: usize, _: Level| keys.key(&scheme, round, Level(0));
        let out = aes.encrypt(&scheme, state, keys.size(), keys.size().rounds(), &mut source, &mut |_, _| Ok(())).unwrap();
        assert_eq!(close(&scheme, &aes, &out)[..4].as_flattened(), hex(cipher));
        assert_eq!(out.iter().map(|x| x.meta().depth).max(), Some(3 * keys.size().rounds() as u32));
    }
    for length in [0, 15, 33] {
        let key = key_bytes(&scheme, &aes, &vec![0; length]);
        assert_eq!(RoundKeys::expand(&scheme, &aes, key, None).err(), Some(AesError::KeyLength { found: length }.into()));
    }
}

#[test]
fn packed_keys_are_expanded_and_unpacked() {
    // FIPS-197, A.1 to A.3.
    let scheme = NoOp::new(&lines(20), 1);
    let (aes, bytes) = (Packed::new(&scheme, top(&scheme)).unwrap(), ByteSliced::new(&scheme, top(&scheme)).unwrap());
    for (key, steps) in [(KEY_128, 10), (KEY_192, 8), (KEY_256, 13)] {
        let (key, before) = (hex(key), scheme.cost().products);
        let size = KeySize::of(key.len()).unwrap();
        assert_eq!(size.bytes(), key.len());
        let mut padded = key.clone();
        padded.resize(key.len().next_multiple_of(16), 0);
        let parts: Vec<Open> = padded
            .as_chunks::<16>()
            .0
            .iter()
            .flat_map(|part| open(&scheme, &aes, &vec![*part; aes.blocks()], top(&scheme)).unwrap())
            .collect();
        let keys = RoundKeys::expand_packed(&scheme, &aes, size, parts.clone(), None).unwrap();
        assert_eq!(scheme.cost().products - before, steps * 4);
        let schedule = KeySchedule::new(&key).unwrap();
        assert_eq!(keys.keys().len(), schedule.round_keys().len());
        for (found, expected) in keys.keys().iter().zip(schedule.round_keys()) {
            assert_eq!(close(&scheme, &aes, found), vec![*expected; aes.blocks()]);
        }
        let depth = keys.keys().iter().flatten().map(|x| x.meta().depth).max().unwrap();
        assert_eq!(u64::from(depth), 3 * steps);

        // From there to a ciphertext for each byte.
        let unpacked = keys.unpacked(&scheme, &UnpackBytes::new(&scheme, top(&scheme)).unwrap()).unwrap();
        for (found, expected) in unpacked.keys().iter().zip(schedule.round_keys()) {
            assert_eq!(close(&scheme, &bytes, found), vec![*expected; bytes.blocks()]);
        }
        let width = AesError::Width { what: "a packed round key", found: 16, expected: 1 };
        let again = unpacked.unpacked(&scheme, &UnpackBytes::new(&scheme, top(&scheme)).unwrap());
        assert_eq!(again.err(), Some(width.into()));
        let width = AesError::Width { what: "a packed key", found: 3, expected: padded.len() / 16 };
        let refused = RoundKeys::expand_packed(&scheme, &aes, size, vec![parts[0].clone(); 3], None);
        assert_eq!(refused.err(), Some(width.into()));
    }
}

#[test]
fn states_are_refreshed_between_rounds() {
    // Room for five rounds.
    let scheme = NoOp::new(&bgv(2, 2), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let blank = |level| Ok(scheme.encrypt_at(&Plaintext::encode(scheme.params(), &[]).unwrap(), level)?);
    let cipher = Cipher::new(KeySize::Aes256, Direction::Decrypt);
    let needed = aes.capacity_for_round(&scheme, Direction::Decrypt, top(&scheme), 0.0, blank).unwrap();

    let count = AtomicUsize::new(0);
    let fresh = |state: Vec<Open>| {
        count.fetch_add(1, Ordering::Relaxed);
        let one = |x: &Open| scheme.encrypt_at(&scheme.decrypt(x)?, Level(top(&scheme).0 - 1));
        Ok(state.iter().map(one).collect::<Result<_, SchemeError>>()?)
    };
    // The keys are expanded with refreshes, too.
    let key = key_bytes(&scheme, &aes, &hex(KEY_256));
    let refresh = Refresh::new(needed, &fresh);
    let keys = RoundKeys::expand(&scheme, &aes, key, Some(&refresh)).unwrap();
    assert!(count.swap(0, Ordering::Relaxed) >= 2);
    assert!(
        keys.keys()
            .iter()
            .zip(KeySchedule::new(&hex(KEY_256)).unwrap().round_keys())
            .all(|(found, expected)| { close(&scheme, &aes, found) == vec![*expected; aes.blocks()] })
    );

    let keys = round_keys(&scheme, &aes, &hex(KEY_256), top(&scheme));
    let levels = Transcipher::key_levels(&scheme, &aes, cipher, top(&scheme), Some(Refresh::new(needed, &fresh)), blank).unwrap();
    assert_eq!(levels[14], top(&scheme));
    let rises = levels.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!(count.swap(0, Ordering::Relaxed) >= rises && rises >= 2, "{levels:?}");

    let mut source = keys.source(&scheme);
    let mode = Mode::cbc(&(0..16).collect::<Vec<u8>>()).unwrap();
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode.clone(), top(&scheme), &mut source)
        .unwrap()
        .refreshed(Refresh::new(needed, &fresh));
    let batch = run.next_batch(&hex(CBC[2][1]), &mut |_| ()).unwrap();
    assert_eq!(read(&scheme, aes.layout(), &batch), hex(PLAIN));
    assert_eq!(run.cipher(), cipher);

    // Without them there is no room, and a refresh that does not help is refused.
    let mut source = keys.source(&scheme);
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode.clone(), top(&scheme), &mut source).unwrap();
    let error = run.next_batch(&[0; 16], &mut |_| ()).err();
    assert!(matches!(error, Some(CircuitError::Scheme(SchemeError::NoiseOverflow { .. }))), "{error:?}");
    let mut source = keys.source(&scheme);
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode, top(&scheme), &mut source)
        .unwrap()
        .refreshed(Refresh::new(needed, &|state| Ok(state)));
    assert!(matches!(run.next_batch(&[0; 16], &mut |_| ()).err(), Some(CircuitError::NotEnoughCapacity { .. })));
}

/// The first two rounds of a mode's AES in plain, or all of them.
fn rounds_of(key: &[u8], cipher: Cipher, input: [u8; 16]) -> [u8; 16] {
    if cipher.rounds == cipher.size.rounds() {
        return oracle(key, input, cipher.direction);
    }
    let schedule = KeySchedule::new(key).unwrap();
    let key = |number: usize| schedule.round_keys()[cipher.key(number)];
    let mut x: aes::Block = std::array::from_fn(|i| input[i] ^ key(0)[i]).into();
    assert_eq!(cipher.rounds, 2);
    for number in 1..=2 {
        let mut key: aes::Block = key(number).into();
        match cipher.direction {
            Direction::Encrypt => aes::hazmat::cipher_round(&mut x, &key),
            Direction::Decrypt => {
                // This one mixes columns after it has undone SubBytes, and adds the key then.
                aes::hazmat::inv_mix_columns(&mut key);
                aes::hazmat::equiv_inv_cipher_round(&mut x, &key);
            }
        }
    }
    if cipher.direction == Direction::Decrypt {
        aes::hazmat::mix_columns(&mut x);
    }
    x.into()
}

/// The first rounds of a mode, with keys encrypted at the levels foretold.
fn transcipher_rounds<P: Aes<NoOp>, A: Aes<Evaluator>>(
    params: &Params,
    plan: impl Fn(&NoOp) -> P,
    aes: impl Fn(&Evaluator) -> A,
    mode: &Mode,
    rounds: usize,
) {
    let planner = NoOp::blank(params);
    let (zero, start) = (Plaintext::encode(params, &[]).unwrap(), params.chain().top());
    let cipher = Cipher::new(KeySize::Aes128, mode.direction()).reduced(rounds);
    let blank = |level| Ok(planner.encrypt_at(&zero, level)?);
    let levels = Transcipher::key_levels(&planner, &plan(&planner), cipher, start, None, blank).unwrap();

    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let secret = SecretKey::generate(params, &mut rng);
    let scheme = Evaluator::new(ServerKeys::generate(&secret, &planner.key_plan(), &mut rng, |_, _| ()).unwrap());
    let aes = aes(&scheme);
    let key = random(&mut rng, 16);
    let schedule = KeySchedule::new(&key).unwrap();
    let encrypt = |x: &Vec<u64>, level| secret.encrypt_at(&Plaintext::encode_elements(params, x)?, level, &mut rng);
    let mut encrypt = encrypt;
    let keys = schedule.round_keys().iter().zip(&levels).map(|(key, level)| {
        aes.encode(&vec![*key; aes.blocks()]).iter().map(|x| encrypt(x, *level)).collect::<Result<Vec<_>, _>>().unwrap()
    });
    let keys = RoundKeys::<Evaluator>::new(schedule.size(), keys.collect()).unwrap();

    let data = random(&mut rng, aes.layout().capacity());
    let blocks = mode.clone().next_blocks(&data).unwrap();
    let expected = blocks.inputs.iter().zip(&blocks.pads).flat_map(|(input, pad)| {
        let out = rounds_of(&key, cipher, *input);
        std::array::from_fn::<u8, 16, _>(|i| out[i] ^ pad[i])
    });
    let mut source = keys.source(&scheme);
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode.clone(), start, &mut source).unwrap().reduced(rounds);
    let before = scheme.cost();
    let batch = run.next_batch(&data, &mut |_| ()).unwrap();
    let (cost, planned) = (scheme.cost() - before, planner.cost());
    assert_eq!((cost.products, cost.key_switches), (planned.products, planned.key_switches));
    let elements: Vec<_> = batch.state.iter().map(|x| secret.decrypt(x).unwrap().decode_elements(params).unwrap()).collect();
    assert!(aes.layout().bytes(&elements, data.len()).unwrap().into_iter().eq(expected), "{mode:?}");
    for x in &batch.state {
        assert!(secret.measure_noise(x).unwrap() <= scheme.noise_bound_bits(x));
    }
}

#[test]
fn two_rounds_of_ctr_and_cbc_with_bgv_and_ntru() {
    for params in [bgv(2, 9), ntru()] {
        for mode in two_modes() {
            transcipher_rounds(&params, |s| BitSliced::new(s.slot_shape()), |s| BitSliced::new(s.slot_shape()), &mode, 2);
            let top = params.chain().top();
            transcipher_rounds(&params, |s| ByteSliced::new(s, top).unwrap(), |s| ByteSliced::new(s, top).unwrap(), &mode, 2);
        }
    }
}

#[test]
fn two_rounds_of_ctr_and_cbc_packed() {
    let params = lines(7);
    let top = params.chain().top();
    for mode in two_modes() {
        transcipher_rounds(&params, |s| Packed::new(s, top).unwrap(), |s| Packed::new(s, top).unwrap(), &mode, 2);
    }
}

#[test]
#[ignore = "128 bits of security: minutes"]
fn aes_128_in_ctr_and_cbc_at_128_bits() {
    let params = Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap();
    let top = params.chain().top();
    for mode in two_modes() {
        transcipher_rounds(&params, |s| Packed::new(s, top).unwrap(), |s| Packed::new(s, top).unwrap(), &mode, 10);
    }
}

fn two_modes() -> [Mode; 2] {
    [Mode::ctr(&[0x5a; 16]).unwrap(), Mode::cbc(&[0xa5; 16]).unwrap()]
}

/// What is left of the capacity after a batch, or why there is no room for it, by direction and size of the key.
fn capacity_after<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, size: KeySize, mode: &Mode) -> Result<f64, CircuitError> {
    let zero = Plaintext::encode(scheme.params(), &[])?;
    let mut keys = |_: usize, level: Level| Ok(vec![scheme.encrypt_at(&zero, level)?; aes.width()]);
    let mut run = Transcipher::new(scheme, aes, size, mode.clone(), top(scheme), &mut keys)?;
    let batch = run.next_batch(&[0; 16], &mut |_| ())?;
    Ok(batch.state.iter().map(|x| scheme.capacity_bits(x)).fold(f64::INFINITY, f64::min))
}

#[test]
fn the_leveled_set_has_room_for_both_directions() {
    let params = Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap();
    let scheme = NoOp::blank(&params);
    let bytes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let packed = Packed::new(&scheme, top(&scheme)).unwrap();
    for mode in two_modes() {
        assert!(capacity_after(&scheme, &bytes, KeySize::Aes128, &mode).unwrap() > 220.0);
        assert!(capacity_after(&scheme, &packed, KeySize::Aes128, &mode).unwrap() > 100.0);
    }
    // Expanding the key at home or on the server makes no difference to what is left.
    let zero = Plaintext::encode(&params, &[]).unwrap();
    let keys = RoundKeys::expand(&scheme, &bytes, vec![scheme.encrypt(&zero).unwrap(); 16], None).unwrap();
    let mut source = |round: usize, _: Level| keys.key(&scheme, round, Level(0));
    let mode = Mode::ctr(&[0; 16]).unwrap();
    let mut run = Transcipher::new(&scheme, &bytes, KeySize::Aes128, mode, top(&scheme), &mut source).unwrap();
    let state = run.next_batch(&[0; 16], &mut |_| ()).unwrap().state;
    assert!(state.iter().all(|x| scheme.capacity_bits(x) > 220.0));
}
