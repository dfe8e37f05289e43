//! AES against FIPS-197, SP 800-38A and another implementation: on the no-op scheme, then on BGV
//! and over NTRU.

use everlevel_aes::{Aes, AesError, ByteEmbedding, ByteSliced, KeySchedule, KeySize, Packed};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, SchemeError};

use crate::common::answers::{check_cipher, sub_byte};
use crate::common::rounds::two_rounds;
use crate::common::{STEPS, bgv, block, cipher, close, hex, lines, ntru, open, top};

#[test]
fn key_expansion_of_fips_197() {
    // Appendix A: the last four words.
    for (key, last) in [
        ("2b7e151628aed2a6abf7158809cf4f3c", "d014f9a8c9ee2589e13f0cc8b6630ca6"),
        ("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "e98ba06f448c773c8ecc720401002202"),
        (
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "fe4890d1e6188d0b046df344706c631e",
        ),
    ] {
        let schedule = KeySchedule::new(&hex(key)).unwrap();
        assert_eq!(schedule.round_keys().len(), schedule.size().rounds() + 1);
        assert_eq!(*schedule.round_keys().last().unwrap(), block(last));
    }
    for length in [0, 15, 17, 33] {
        let refused = KeySchedule::new(&vec![0; length]).err();
        assert_eq!(refused, Some(AesError::KeyLength { found: length }));
    }
}

#[test]
fn s_box_on_all_bytes() {
    let scheme = NoOp::new(&bgv(2, 6), 1);
    let bytes: Vec<[u8; 16]> =
        (0..16).map(|slot| std::array::from_fn(|i| 16 * slot + i as u8)).collect();
    let expected: Vec<_> = bytes.iter().map(|block| block.map(sub_byte)).collect();

    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let state = open(&scheme, &aes, &bytes, top(&scheme)).unwrap();
    let out: Vec<_> = state.iter().map(|x| aes.sub_byte(&scheme, x).unwrap()).collect();
    assert_eq!(close(&scheme, &aes, &out), expected);
    let cost = scheme.cost();
    // Three automorphisms for the powers and four for the affine map.
    assert_eq!(
        (cost.products, cost.relinearizations, cost.key_switches),
        (16 * 4, 16 * 4, 16 * (4 + 3 + 4))
    );
    assert!(out.iter().all(|x| x.meta().depth == 3));
}

#[test]
fn every_round_of_fips_197() {
    let scheme = NoOp::new(&bgv(2, 6), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let schedule = KeySchedule::new(&hex("000102030405060708090a0b0c0d0e0f")).unwrap();
    let starts =
        STEPS.iter().map(|step| step[0]).skip(1).chain(["bd6e7c3df2b5779e0b61216e8b10b689"]);
    for ((number, step), next) in (1..).zip(&STEPS).zip(starts) {
        assert_eq!(schedule.round_keys()[number], block(step[4]));
        let mut keys = |round: usize, level: Level| {
            Ok(open(&scheme, &aes, &[schedule.round_keys()[round]; 16], level)?)
        };
        let state = open(&scheme, &aes, &[block(step[0]); 16], top(&scheme)).unwrap();
        let out = aes.round(&scheme, state, cipher(10).round(number), &mut keys).unwrap();
        assert_eq!(close(&scheme, &aes, &out), [block(next); 16]);
    }
}

#[test]
fn bytes_are_a_subfield_of_the_slots() {
    // Degrees 8, 16 and 24.
    for index in [255, 4369, 28679] {
        let shape = everlevel_ring::SlotShape::new(index, 2, 1).unwrap();
        let (bytes, field) = (ByteEmbedding::new(&shape).unwrap(), shape.galois_ring(1).unwrap());
        for (a, b) in [(0x57u8, 0x83u8), (0x57, 0x13), (0xff, 0x01)] {
            let product = field.mul(&bytes.element(a), &bytes.element(b));
            // FIPS-197, section 4.2.
            let expected = match b {
                0x83 => 0xc1,
                0x13 => 0xfe,
                _ => a,
            };
            assert_eq!(bytes.byte(&product), Some(expected));
            assert_eq!(bytes.byte(&field.add(&bytes.element(a), &bytes.element(b))), Some(a ^ b));
        }
        assert_eq!(bytes.degree(), shape.degree_of_slot());
    }
    let shape = everlevel_ring::SlotShape::new(127, 2, 1).unwrap();
    assert_eq!(ByteEmbedding::new(&shape).err(), Some(AesError::NoBytes { degree: 7 }));
}

#[test]
fn byte_sliced_aes_on_the_no_op_scheme() {
    let params = bgv(2, 32);
    let scheme = NoOp::new(&params, 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    check_cipher(&scheme, &aes, 16 * 4, 16 * 4, 16 * (3 + 4), 3);
}

#[test]
fn packed_aes_on_the_no_op_scheme() {
    // Room for 14 rounds.
    let scheme = NoOp::new(&lines(20), 1);
    let aes = Packed::new(&scheme, top(&scheme)).unwrap();
    check_cipher(&scheme, &aes, 4, 4, 3 + 4 + 3 + 3, 3);
}

#[test]
fn misuse_is_refused() {
    let scheme = NoOp::new(&bgv(2, 2), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let state = open(&scheme, &aes, &[[0; 16]; 16], top(&scheme)).unwrap();
    let mut keys = |_: usize, level: Level| Ok(open(&scheme, &aes, &[[0; 16]; 16], level)?);
    let mut run = |state: Vec<NoOpCiphertext>, rounds: usize| {
        aes.encrypt(&scheme, state, KeySize::Aes128, rounds, &mut keys, &mut |_, _| Ok(())).err()
    };
    let width = |what, found| Some(AesError::Width { what, found, expected: 16 });
    assert_eq!(run(state[1..].to_vec(), 1), width("the state", 15));
    assert_eq!(run(state.clone(), 11), Some(AesError::Rounds { found: 11, highest: 10 }));
    // Two words are not enough for ten rounds.
    assert!(matches!(
        run(state.clone(), 10),
        Some(AesError::Scheme(SchemeError::NoiseOverflow { .. }))
    ));
    let mut short = |_: usize, _: Level| Ok(Vec::new());
    let refused =
        aes.encrypt(&scheme, state, KeySize::Aes128, 0, &mut short, &mut |_, _| Ok(())).err();
    assert_eq!(refused, width("a round key", 0));
    let odd = NoOp::new(&bgv(7, 2), 1);
    assert_eq!(ByteSliced::new(&odd, top(&odd)).err(), Some(AesError::PlainModulus { found: 7 }));
}

#[test]
fn two_rounds_with_bgv_and_ntru() {
    for params in [bgv(2, 9), ntru()] {
        let top = params.chain().top();
        two_rounds(
            &params,
            |s| ByteSliced::new(s, top).unwrap(),
            |s| ByteSliced::new(s, top).unwrap(),
        );
    }
}

#[test]
fn two_rounds_of_packed_aes() {
    let params = lines(7);
    let top = params.chain().top();
    two_rounds(&params, |s| Packed::new(s, top).unwrap(), |s| Packed::new(s, top).unwrap());
}
