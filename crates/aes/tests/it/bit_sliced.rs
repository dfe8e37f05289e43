//! Bit-sliced AES against known answers and another implementation: on the no-op scheme, then on
//! BGV and over NTRU.

use everlevel_aes::bit_sliced::{AffineMap, BitSliced, UnpackBits};
use everlevel_aes::{Aes, AesError, ByteSliced, KeySchedule, KeySize, Mode, Packed, Transcipher};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::params::spec;
use everlevel_scheme::{Level, NoOp, OptIn, Params, ParamsSpec, Scheme, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::answers::{
    check_cipher, check_decryption, check_every_round_of_decryption, check_modes, check_with_keys,
    packed_keys, sub_byte,
};
use crate::common::rounds::{check_foreign_keys, rehearse, transcipher_rounds, two_rounds};
use crate::common::{
    STEPS, bgv, block, cipher, close, hex, lines, ntru, open, random, top, two_modes,
};

#[test]
fn s_box_on_all_bytes() {
    let scheme = NoOp::new(&bgv(2, 6), 1);
    let bytes: Vec<[u8; 16]> =
        (0..16).map(|slot| std::array::from_fn(|i| 16 * slot + i as u8)).collect();
    let expected: Vec<_> = bytes.iter().map(|block| block.map(sub_byte)).collect();

    let aes = BitSliced::new(scheme.slot_shape());
    let state = open(&scheme, &aes, &bytes, top(&scheme)).unwrap();
    let out = aes.sub_bytes(&scheme, state).unwrap();
    assert_eq!(close(&scheme, &aes, &out), expected);
    let cost = scheme.cost();
    assert_eq!(
        (cost.products, cost.relinearizations, cost.key_switches),
        (16 * 36, 16 * 18, 16 * 18)
    );
    assert!(out.iter().all(|x| x.meta().depth == 4));
}

#[test]
fn every_step_of_fips_197() {
    let scheme = NoOp::new(&bgv(2, 6), 1);
    let bits = BitSliced::new(scheme.slot_shape());
    let (shift_rows, mix_columns) = (AffineMap::shift_rows(), AffineMap::mix_columns());
    let schedule = KeySchedule::new(&hex("000102030405060708090a0b0c0d0e0f")).unwrap();
    let starts =
        STEPS.iter().map(|step| step[0]).skip(1).chain(["bd6e7c3df2b5779e0b61216e8b10b689"]);
    for ((number, step), next) in (1..).zip(&STEPS).zip(starts) {
        let [start, sub, shift, mix, key] = step.map(|text| vec![block(text); 16]);
        assert_eq!(schedule.round_keys()[number], key[0]);
        // Each step alone, ...
        let state = |blocks| open(&scheme, &bits, blocks, top(&scheme)).unwrap();
        let shows = |state: &[NoOpCiphertext], expected: &[[u8; 16]]| {
            assert_eq!(close(&scheme, &bits, state), expected)
        };
        shows(&bits.sub_bytes(&scheme, state(&start)).unwrap(), &sub);
        shows(&shift_rows.evaluate(&scheme, &state(&sub), None).unwrap(), &shift);
        shows(&mix_columns.evaluate(&scheme, &state(&shift), None).unwrap(), &mix);
        let mut keys = |_: usize, level: Level| Ok(open(&scheme, &bits, &key, level)?);
        let sum =
            Aes::<NoOp>::add_key(&bits, &scheme, &state(&mix), number, top(&scheme), &mut keys)
                .unwrap();
        shows(&sum, &[block(next); 16]);
        // ... and all of them at once.
        shows(
            &bits.round(&scheme, state(&start), cipher(10).round(number), &mut keys).unwrap(),
            &[block(next); 16],
        );
    }
}

#[test]
fn affine_maps_compose_as_they_apply() {
    let (a, b) =
        (AffineMap::bytewise([1, 3, 7, 15, 31, 63, 127, 255], 0x1d), AffineMap::mix_columns());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for _ in 0..20 {
        let state = u128::from_be_bytes(random(&mut rng, 16).try_into().unwrap());
        assert_eq!(a.then(&b).apply(state), b.apply(a.apply(state)));
    }
    // The inverse of ShiftRows is its cube.
    let s = AffineMap::shift_rows();
    assert_eq!(s.then(&s).then(&s).then(&s), AffineMap::bytewise([128, 64, 32, 16, 8, 4, 2, 1], 0));
}

#[test]
fn inverse_layers_undo_the_layers() {
    let identity = AffineMap::bytewise([128, 64, 32, 16, 8, 4, 2, 1], 0);
    assert_eq!(AffineMap::shift_rows().then(&AffineMap::inverse_shift_rows()), identity);
    assert_eq!(AffineMap::mix_columns().then(&AffineMap::inverse_mix_columns()), identity);
    assert_eq!(AffineMap::inverse_mix_columns().then(&AffineMap::mix_columns()), identity);
}

#[test]
fn aes_on_the_no_op_scheme() {
    let params = bgv(2, 32);
    let scheme = NoOp::new(&params, 1);
    // 2,880 relinearizations at depth 40 for AES-128.
    check_cipher(&scheme, &BitSliced::new(scheme.slot_shape()), 16 * 36, 16 * 18, 0, 4);
}

#[test]
fn decryption_on_the_no_op_scheme() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check_decryption(&scheme, &BitSliced::new(scheme.slot_shape()), 16 * 36, 16 * 18, 4);
}

#[test]
fn every_round_of_decryption() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    check_every_round_of_decryption(&scheme, &BitSliced::new(scheme.slot_shape()));
}

#[test]
fn modes_by_bits() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    // The cipher itself is checked above with every size of the key, in both directions.
    check_modes(&scheme, &BitSliced::new(scheme.slot_shape()), 1);
}

#[test]
fn misuse_is_refused() {
    let scheme = NoOp::new(&bgv(2, 2), 1);
    let aes = BitSliced::new(scheme.slot_shape());
    let state = open(&scheme, &aes, &[[0; 16]; 16], top(&scheme)).unwrap();
    let mut keys = |_: usize, level: Level| Ok(open(&scheme, &aes, &[[0; 16]; 16], level)?);
    let mut run = |state: Vec<NoOpCiphertext>, rounds: usize| {
        aes.encrypt(&scheme, state, KeySize::Aes128, rounds, &mut keys, &mut |_, _| Ok(())).err()
    };
    let width = AesError::Width { what: "the state", found: 127, expected: 128 };
    assert_eq!(run(state[1..].to_vec(), 1), Some(width));
    assert_eq!(run(state.clone(), 11), Some(AesError::Rounds { found: 11, highest: 10 }));
    // Two words are not enough for ten rounds.
    assert!(matches!(
        run(state.clone(), 10),
        Some(AesError::Scheme(SchemeError::NoiseOverflow { .. }))
    ));
    assert!(Aes::<NoOp>::decode(&aes, &vec![vec![1; 8]; 128]).is_err());
    let mut short = |_: usize, _: Level| Ok(Vec::new());
    let refused =
        aes.encrypt(&scheme, state, KeySize::Aes128, 0, &mut short, &mut |_, _| Ok(())).err();
    assert_eq!(refused, Some(AesError::Width { what: "a round key", found: 0, expected: 128 }));
    let narrow = open(&scheme, &aes, &[[0; 16]; 16], top(&scheme)).unwrap().split_off(1);
    let refused = aes.sub_bytes(&scheme, narrow).err();
    assert_eq!(refused, Some(AesError::Width { what: "the state", found: 127, expected: 128 }));
}

#[test]
fn only_bits_are_transciphered() {
    let odd = NoOp::new(&bgv(7, 2), 1);
    let bits = BitSliced::new(odd.slot_shape());
    let mut none = |_: usize, _: Level| Ok(Vec::new());
    let refused =
        Transcipher::new(&odd, &bits, KeySize::Aes128, Mode::ecb(), top(&odd), &mut none).err();
    assert_eq!(refused, Some(AesError::PlainModulus { found: 7 }));
}

#[test]
fn keys_of_other_parameters_are_refused() {
    check_foreign_keys(|s| BitSliced::new(s.slot_shape()));
}

/// One ciphertext for each round key, from which the server makes those for bits.
#[test]
fn packed_keys_serve_bits() {
    let scheme = NoOp::new(&lines(18), 1);
    let level = top(&scheme);
    let bits = BitSliced::new(scheme.slot_shape());
    let (schedule, keys) = packed_keys(&scheme, &Packed::new(&scheme, level).unwrap());
    let to_bits = UnpackBits::new(&scheme, level).unwrap();

    let before = scheme.cost();
    let unpacked = to_bits.apply(&scheme, &keys.keys()[1][0]).unwrap();
    assert_eq!((scheme.cost() - before).key_switches, 15 + 16 * 7);
    assert_eq!(close(&scheme, &bits, &unpacked), vec![schedule.round_keys()[1]; 64]);

    // FIPS-197, C.1: the start of round 2.
    let second = "89d810e8855ace682d1843d8cb128fe4";
    check_with_keys(&scheme, &bits, 1, second, &mut to_bits.source(&scheme, &keys));
}

#[test]
fn the_sets_of_the_paper_have_room_for_the_whole_cipher() {
    for (name, index, fine_bits, slots, bytes) in [
        ("ltv-32768", 65535, [47, 44, 42, 41], 2048, true),
        ("ltv-27000", 32767, [44, 38, 29, 23], 1800, false),
    ] {
        let spec = ParamsSpec {
            name: name.into(),
            index,
            words: 21,
            fine_bits: fine_bits.to_vec(),
            special: 7,
            digit_size: 7,
            ..spec("insecure_ltv-2-m255").unwrap()
        };
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        assert_eq!(params.slots(), slots);
        let planner = NoOp::blank(&params);
        let levels = rehearse(&planner, &BitSliced::new(params.slot_shape()), 10);
        assert!(levels.len() == 11 && levels.is_sorted_by(|a, b| a > b));
        assert_eq!((planner.cost().products, planner.cost().relinearizations), (5760, 2880));
        if bytes {
            rehearse(&planner, &ByteSliced::new(&planner, top(&planner)).unwrap(), 10);
        }
    }
}

#[test]
fn two_rounds_with_bgv_and_ntru() {
    for params in [bgv(2, 9), ntru()] {
        two_rounds(&params, |s| BitSliced::new(s.slot_shape()), |s| BitSliced::new(s.slot_shape()));
    }
}

/// One of the modes each: encryption with both is above, and both modes with both are by bytes.
#[test]
fn two_rounds_of_ctr_and_cbc() {
    for (params, mode) in [bgv(2, 9), ntru()].into_iter().zip(two_modes()) {
        transcipher_rounds(
            &params,
            |s| BitSliced::new(s.slot_shape()),
            |s| BitSliced::new(s.slot_shape()),
            &mode,
            2,
        );
    }
}
