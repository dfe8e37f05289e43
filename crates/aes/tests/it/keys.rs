//! Key expansion on encrypted AES keys: against FIPS-197, on the no-op scheme and on BGV.

use everlevel_aes::{
    Aes, AesError, ByteSliced, KeySchedule, KeySize, Layout, Packed, RoundKeys, UnpackBytes,
};
use everlevel_bgv::{Ciphertext, Evaluator};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, Params, Plaintext, Scheme};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::rounds::party;
use crate::common::*;

#[test]
fn keys_are_expanded_homomorphically() {
    // FIPS-197, A.1 to A.3.
    let scheme = NoOp::new(&bgv(2, 40), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    for (key, steps, cipher) in
        [(KEY_128, 10, ECB[0][1]), (KEY_192, 8, ECB[1][1]), (KEY_256, 13, ECB[2][1])]
    {
        let before = scheme.cost().products;
        let keys =
            RoundKeys::expand(&scheme, &aes, key_bytes(&scheme, &aes, &hex(key)), None).unwrap();
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
        let out = aes
            .encrypt(&scheme, state, keys.size(), keys.size().rounds(), &mut source, &mut |_, _| {
                Ok(())
            })
            .unwrap();
        assert_eq!(close(&scheme, &aes, &out)[..4].as_flattened(), hex(cipher));
        assert_eq!(out.iter().map(|x| x.meta().depth).max(), Some(3 * keys.size().rounds() as u32));
    }
    for length in [0, 15, 33] {
        let key = key_bytes(&scheme, &aes, &vec![0; length]);
        assert_eq!(
            RoundKeys::expand(&scheme, &aes, key, None).err(),
            Some(AesError::KeyLength { found: length })
        );
    }
}

#[test]
fn packed_keys_are_expanded_and_unpacked() {
    // FIPS-197, A.1 to A.3.
    let scheme = NoOp::new(&lines(20), 1);
    let (aes, bytes) = (
        Packed::new(&scheme, top(&scheme)).unwrap(),
        ByteSliced::new(&scheme, top(&scheme)).unwrap(),
    );
    let unpack = UnpackBytes::new(&scheme, top(&scheme)).unwrap();
    for (key, steps) in [(KEY_128, 10), (KEY_192, 8), (KEY_256, 13)] {
        let (key, before) = (hex(key), scheme.cost().products);
        let size = KeySize::of(key.len()).unwrap();
        assert_eq!(size.bytes(), key.len());
        let mut padded = key.clone();
        padded.resize(key.len().next_multiple_of(16), 0);
        let parts: Vec<NoOpCiphertext> = padded
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

        // From there to a ciphertext for each byte: each round key by itself, whatever the size.
        if size == KeySize::Aes128 {
            let unpacked = keys.unpacked(&scheme, &unpack).unwrap();
            assert_eq!(unpacked.keys().len(), schedule.round_keys().len());
            for (found, expected) in unpacked.keys().iter().zip(schedule.round_keys()) {
                assert_eq!(close(&scheme, &bytes, found), vec![*expected; bytes.blocks()]);
            }
            let width = AesError::Width { what: "a packed round key", found: 16, expected: 1 };
            assert_eq!(unpacked.unpacked(&scheme, &unpack).err(), Some(width));
        }
        let width = AesError::Width { what: "a packed key", found: 3, expected: padded.len() / 16 };
        let refused =
            RoundKeys::expand_packed(&scheme, &aes, size, vec![parts[0].clone(); 3], None);
        assert_eq!(refused.err(), Some(width));
    }
}

/// AES-128's keys, expanded with cryptography: the right ones, with noise below its bound. `key` is
/// what a client encrypts.
fn expanded_for_real(
    params: &Params,
    layout: &Layout,
    key: &[u8; 16],
    parts: &[Vec<u64>],
    plan: impl Fn(&NoOp, Vec<NoOpCiphertext>) -> RoundKeys<NoOp>,
    expand: impl Fn(&Evaluator, Vec<Ciphertext>) -> RoundKeys<Evaluator>,
) {
    let planner = NoOp::blank(params);
    let zero = planner.encrypt(&Plaintext::encode(params, &[]).unwrap()).unwrap();
    let planned = plan(&planner, vec![zero; parts.len()]);
    let mut rng = ChaCha20Rng::seed_from_u64(13);
    let (secret, scheme) = party(params, &planner.key_plan(), &mut rng);
    let encrypt = |x: &Vec<u64>| {
        secret.encrypt(&Plaintext::encode_elements(params, x).unwrap(), &mut rng).unwrap()
    };
    let keys = expand(&scheme, parts.iter().map(encrypt).collect());
    for (round, expected) in KeySchedule::new(key).unwrap().round_keys().iter().enumerate() {
        let found = &keys.keys()[round];
        assert_eq!(keys.level(&scheme, round), planned.level(&planner, round), "as foretold");
        assert!(
            found.iter().all(|x| secret.measure_noise(x).unwrap() <= scheme.noise_bound_bits(x))
        );
        let elements: Vec<_> = found
            .iter()
            .map(|x| secret.decrypt(x).unwrap().decode_elements(params).unwrap())
            .collect();
        assert_eq!(
            layout.decode(&elements).unwrap(),
            vec![*expected; layout.blocks()],
            "round {round}"
        );
    }
}

#[test]
fn keys_are_expanded_with_bgv() {
    let key: [u8; 16] = hex(KEY_128).try_into().unwrap();

    let params = bgv(2, 20);
    let (top, layout) = (params.chain().top(), Layout::byte_sliced(params.slot_shape()).unwrap());
    // Ciphertext i holds byte i in all slots: a round key by bytes.
    let parts = layout.encode(&vec![key; layout.blocks()]);
    expanded_for_real(
        &params,
        &layout,
        &key,
        &parts,
        |s, key| RoundKeys::expand(s, &ByteSliced::new(s, top).unwrap(), key, None).unwrap(),
        |s, key| RoundKeys::expand(s, &ByteSliced::new(s, top).unwrap(), key, None).unwrap(),
    );

    let params = lines(16);
    let (top, layout) = (params.chain().top(), Layout::packed(params.slot_shape()).unwrap());
    let parts = layout.encode(&vec![key; layout.blocks()]);
    let size = KeySize::Aes128;
    expanded_for_real(
        &params,
        &layout,
        &key,
        &parts,
        |s, key| {
            RoundKeys::expand_packed(s, &Packed::new(s, top).unwrap(), size, key, None).unwrap()
        },
        |s, key| {
            RoundKeys::expand_packed(s, &Packed::new(s, top).unwrap(), size, key, None).unwrap()
        },
    );
}
