//! AES decryption, modes of operation and layouts: against FIPS-197, SP 800-38A, the specification
//! of GCM and another implementation, on the no-op scheme.

use everlevel_aes::{AesError, ByteEmbedding, ByteSliced, Direction, Layout, Mode, Packed};
use everlevel_scheme::NoOp;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::answers::{check_decryption, check_every_round_of_decryption, check_modes};
use crate::common::*;

#[test]
fn byte_sliced_decryption_on_the_no_op_scheme() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    check_decryption(&scheme, &aes, 16 * 4, 16 * (4 + 3 + 4), 3);
}

#[test]
fn packed_decryption_on_the_no_op_scheme() {
    let scheme = NoOp::new(&lines(20), 1);
    let aes = Packed::new(&scheme, top(&scheme)).unwrap();
    check_decryption(&scheme, &aes, 4, 4 + 3 + 4 + 3 + 3, 3);
}

#[test]
fn every_round_of_decryption() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check_every_round_of_decryption(&scheme, &ByteSliced::new(&scheme, top(&scheme)).unwrap());
    let scheme = NoOp::new(&lines(20), 1);
    check_every_round_of_decryption(&scheme, &Packed::new(&scheme, top(&scheme)).unwrap());
}

#[test]
fn s_boxes_there_and_back() {
    // All 256 bytes.
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

#[test]
fn modes_by_bytes() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check_modes(&scheme, &ByteSliced::new(&scheme, top(&scheme)).unwrap(), 3);
}

/// What was prepared for one direction serves the other one, too.
#[test]
fn modes_packed() {
    let scheme = NoOp::new(&lines(20), 1);
    let aes = Packed::in_direction(&scheme, top(&scheme), Direction::Decrypt).unwrap();
    check_modes(&scheme, &aes, 3);
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
            matches!(layout.decode(&wrong), Err(AesError::NotInField { slot: 0, .. }))
                || layout.width() == 16
        );
        wrong[0][..8].copy_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        assert!(matches!(layout.decode(&wrong), Err(AesError::NotInField { slot: 0, .. })));
        // Of a decryption it is what cannot have been encrypted.
        assert_eq!(layout.bytes(&wrong, 1).unwrap_err().code(), "scheme.not-decryptable");
        // A short vector is fewer blocks, not a panic.
        assert_eq!(
            layout.bytes(&vec![Vec::new(); layout.width()], 1),
            Err(AesError::BatchLength { found: 1, highest: 0 })
        );
    }
}
