//! AES decryption, modes of operation and layouts: against FIPS-197, SP 800-38A, the specification
//! of GCM and another implementation, on the no-op scheme.

use crate::common::*;
use everlevel_aes::bit_sliced::{AffineMap, BitSliced};
use everlevel_aes::{
    Aes, AesError, ByteEmbedding, ByteSliced, Direction, KeySize, Layout, Mode, Packed,
};
use everlevel_scheme::plain::Open;
use everlevel_scheme::{NoOp, Scheme};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Decrypts 16 blocks under one key, and returns them with the depth.
fn decrypt<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    key: &[u8],
    blocks: &[[u8; 16]],
) -> (Vec<[u8; 16]>, u32) {
    let keys = round_keys(scheme, aes, key, top(scheme));
    let state = open(scheme, aes, blocks, top(scheme)).unwrap();
    let (size, mut source) = (keys.size(), keys.source(scheme));
    let out =
        aes.decrypt(scheme, state, size, size.rounds(), &mut source, &mut |_, _| Ok(())).unwrap();
    (close(scheme, aes, &out), out.iter().map(|x| x.meta().depth).max().unwrap())
}

/// Known answers of single blocks: key, plaintext, ciphertext. FIPS-197, appendices B, C.1, C.2 and
/// C.3.
const BLOCKS: [[&str; 3]; 4] = [
    [KEY_128, "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"],
    [
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ],
    [
        "000102030405060708090a0b0c0d0e0f1011121314151617",
        "00112233445566778899aabbccddeeff",
        "dda97ca4864cdfe06eaf70a0ec0d7191",
    ],
    [
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
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

/// McGrew and Viega, The Galois/Counter Mode of Operation, appendix B, test cases 4, 10 and 16: 60
/// bytes, the vector cafebabefacedbaddecaf888.
const GCM_PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";

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

/// Known answers of decryption, random blocks under random keys, and the counts, which are those of
/// encryption.
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
        let (cost, rounds) =
            (scheme.cost() - before, KeySize::of(key.len()).unwrap().rounds() as u32);
        assert_eq!(
            (cost.products, cost.key_switches),
            (u64::from(rounds) * products, u64::from(rounds) * key_switches)
        );
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
    check_decryption(&scheme, &aes, 16 * 4, 16 * (4 + 3 + 4));
}

#[test]
fn packed_decryption_on_the_no_op_scheme() {
    let scheme = NoOp::new(&lines(20), 1);
    let aes = Packed::new(&scheme, top(&scheme)).unwrap();
    check_decryption(&scheme, &aes, 4, 4 + 3 + 4 + 3 + 3);
}

/// FIPS-197, C.1: the results of MixColumns in rounds 1 to 9 of encryption, which rounds 9 to 1 of
/// decryption end with.
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
            assert_eq!(
                close(scheme, aes, state),
                vec![block(expected); aes.blocks()],
                "round {round}"
            );
            seen += 1;
            Ok(())
        };
        aes.decrypt(scheme, state, keys.size(), 10, &mut keys.source(scheme), &mut observer)
            .unwrap();
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
    let bytes: Vec<[u8; 16]> =
        (0..16).map(|slot| std::array::from_fn(|i| 16 * slot + i as u8)).collect();
    let state = open(&scheme, &aes, &bytes, top(&scheme)).unwrap();
    let there: Vec<_> = state.iter().map(|x| aes.sub_byte(&scheme, x).unwrap()).collect();
    let back: Vec<_> = there.iter().map(|x| aes.inverse_sub_byte(&scheme, x).unwrap()).collect();
    assert_eq!(close(&scheme, &aes, &back), bytes);
    assert_ne!(close(&scheme, &aes, &there), bytes);
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
            assert_eq!(
                transcipher(scheme, aes, &keys, mode.clone(), &hex(cipher), 23),
                hex(plain),
                "{mode:?}, {key}"
            );
        }
    }
    for [key, cipher] in ECB {
        let keys = round_keys(scheme, aes, &hex(key), top(scheme));
        let blocks = hex(PLAIN).as_chunks::<16>().0.to_vec();
        let state = open(scheme, aes, &blocks, top(scheme)).unwrap();
        let (size, mut source) = (keys.size(), keys.source(scheme));
        let out = aes
            .encrypt(scheme, state, size, size.rounds(), &mut source, &mut |_, _| Ok(()))
            .unwrap();
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

#[test]
fn multi_block_messages_of_cavp() {
    // CAVS 11.1, AESVS MMT, count 1 of ECBMMT128.rsp, ECBMMT192.rsp and CBCMMT128.rsp.
    let cbc = Mode::cbc(&hex("aad1583cd91365e3bb2f0c3430d065bb")).unwrap();
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    for (mode, key, plain, cipher) in [
        (
            Mode::ecb(),
            "7723d87d773a8bbfe1ae5b081235b566",
            "1b0a69b7bc534c16cecffae02cc5323190ceb413f1db3e9f0f79ba654c54b60e",
            "ad5b089515e7821087c61652dc477ab1f2cc6331a70dfc59c9ffb0c723c682f6",
        ),
        (
            Mode::ecb(),
            "c9c86a51224e5f1916d3f33a602f697afc852a2c44d30d5f",
            "64145e61e61cd96f796b187464fabbde6f42e693f501f1d73b3c606f00801506",
            "502a73e4051cfac8fe6343211a129f5a5f56710c41b32c84da978dda2cec34ad",
        ),
        (
            cbc,
            "0700d603a1c514e46b6191ba430a3a0c",
            "068b25c7bfb1f8bdd4cfc908f69dffc5ddc726a197f0e5f720f730393279be91",
            "c4dc61d9725967a3020104a9738f23868527ce839aab1752fd8bdb95a82c4d00",
        ),
    ] {
        let keys = round_keys(&scheme, &aes, &hex(key), top(&scheme));
        assert_eq!(transcipher(&scheme, &aes, &keys, mode, &hex(cipher), 16), hex(plain));
    }
}

#[test]
fn counters_count_as_others_do() {
    // openssl enc -aes-128-ctr -K 2b7e151628aed2a6abf7158809cf4f3c -iv
    // 0000000000000000ffffffffffffffff on 48 bytes of 0: the carry goes into the upper half.
    let key = hex(KEY_128);
    let mut mode = Mode::ctr(&hex("0000000000000000ffffffffffffffff")).unwrap();
    let blocks = mode.next_blocks(&[0; 48]).unwrap();
    let stream: Vec<u8> =
        blocks.inputs.iter().flat_map(|x| oracle(&key, *x, Direction::Encrypt)).collect();
    assert_eq!(stream, hex(OPENSSL));
    assert_eq!(
        mode.next_blocks(&[0; 1]).unwrap().inputs,
        [block("00000000000000010000000000000002")]
    );

    // A nonce of 8 bytes and a counter of 64 bits; GCM's counter begins with 2.
    let mut mode = Mode::ctr_with_nonce(&[0xab; 8], 7).unwrap();
    assert_eq!(
        mode.next_blocks(&[1; 20]).unwrap().inputs[1],
        block("abababababababab0000000000000008")
    );
    let mut mode = Mode::gcm(&[0xcd; 12]).unwrap();
    let first = mode.next_blocks(&[9; 3]).unwrap();
    assert_eq!(
        (first.inputs, first.pads),
        (
            vec![block("cdcdcdcdcdcdcdcdcdcdcdcd00000002")],
            vec![block("09090900000000000000000000000000")]
        )
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

    assert_eq!(
        Mode::ctr_with_nonce(&[0; 15], 256),
        Err(AesError::CounterStart { found: 256, bits: 8 })
    );
    assert!(Mode::ctr_with_nonce(&[], u128::MAX).is_ok());
    for refused in [
        Mode::ctr(&[0; 12]),
        Mode::gcm(&[0; 16]),
        Mode::cbc(&[]),
        Mode::ctr_with_nonce(&[0; 16], 0),
    ] {
        assert!(matches!(refused, Err(AesError::NonceLength { .. })), "{refused:?}");
    }
    for mut mode in [Mode::ecb(), Mode::cbc(&[0; 16]).unwrap()] {
        assert_eq!(mode.next_blocks(&[0; 17]), Err(AesError::DataLength { found: 17 }));
    }
}

/// See [`counters_count_as_others_do`].
const OPENSSL: &str = "ef8737b783c4fa88e687ee9467073f6edc0a3bc38609c26f6f2a63a39cf7ee93c5eb9614bd235873ff3771254315047c";

#[test]
fn layouts_say_where_bytes_are() {
    let shape = bgv(2, 2).slot_shape().clone();
    let (bits, bytes) = (Layout::bit_sliced(&shape), Layout::byte_sliced(&shape).unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let blocks: Vec<[u8; 16]> = (0..16).map(|_| random(&mut rng, 16).try_into().unwrap()).collect();
    let field = ByteEmbedding::new(&shape).unwrap();
    let (as_bits, as_bytes) = (bits.encode(&blocks), bytes.encode(&blocks));
    for (b, block) in blocks.iter().enumerate() {
        for (position, byte) in block.iter().enumerate() {
            let place = bytes.place(b, position);
            assert_eq!(place.ciphertexts.len(), 1);
            assert_eq!(
                as_bytes[place.ciphertexts.start][8 * place.slot..][..8],
                field.element(*byte)
            );
            let place = bits.place(b, position);
            let byte_again = as_bits[place.ciphertexts]
                .iter()
                .fold(0, |byte, x| byte << 1 | x[8 * place.slot] as u8);
            assert_eq!(byte_again, *byte);
        }
    }
    // Bytes along a line: one slot each, and four blocks.
    let packed = Layout::packed(lines(2).slot_shape()).unwrap();
    assert_eq!((packed.width(), packed.blocks(), packed.capacity()), (1, 4, 64));
    let mut slots: Vec<_> = (0..64).map(|i| packed.place(i / 16, i % 16)).collect();
    assert!(slots.iter().all(|place| place.ciphertexts == (0..1)));
    assert_eq!(
        packed.bytes(&packed.encode(&blocks[..4]), 50).unwrap(),
        blocks[..4].as_flattened()[..50]
    );
    slots.sort_by_key(|place| place.slot);
    assert!(slots.iter().map(|place| place.slot).eq(0..64));
    assert!(matches!(Layout::packed(&shape).err(), Some(AesError::NoLine { .. })));

    for layout in [&bits, &bytes] {
        assert_eq!((layout.blocks(), layout.capacity()), (16, 256));
        let elements = layout.encode(&blocks[..5]);
        assert_eq!(layout.bytes(&elements, 70).unwrap(), blocks[..5].as_flattened()[..70]);
        assert_eq!(layout.bytes(&elements, 256).unwrap()[80..], [0; 176]);
        assert_eq!(
            layout.bytes(&elements, 257),
            Err(AesError::BatchLength { found: 257, highest: 256 })
        );
        assert!(matches!(layout.bytes(&elements[1..], 1), Err(AesError::Width { .. })));
        let mut wrong = elements;
        wrong[0][3] ^= 1;
        assert!(
            matches!(layout.bytes(&wrong, 1), Err(AesError::NotInField { slot: 0, .. }))
                || layout.width() == 16
        );
        wrong[0][..8].copy_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        assert!(matches!(layout.bytes(&wrong, 1), Err(AesError::NotInField { slot: 0, .. })));
        // A short vector is fewer blocks, not a panic.
        assert_eq!(
            layout.bytes(&vec![Vec::new(); layout.width()], 1),
            Err(AesError::BatchLength { found: 1, highest: 0 })
        );
    }
}
