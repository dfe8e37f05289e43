//! Transciphering: streams, misuse and refreshes on the no-op scheme; then on BGV and NTRU.

use std::sync::atomic::{AtomicUsize, Ordering};

use everlevel_aes::{
    Aes, AesError, Batch, ByteSliced, Cipher, Direction, KeySchedule, KeySize, Mode, Packed,
    Progress, Refresh, RoundKeys, Transcipher,
};
use everlevel_circuit::CircuitError;
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, Plaintext, Scheme, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::rounds::{check_foreign_keys, transcipher_rounds};
use crate::common::*;

#[test]
fn messages_of_many_lengths() {
    // A random key and vector for each length, as in those tests. States hold 256 bytes.
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    for (size, length, piece) in [
        (16, 1, 1),
        (24, 16, 16),
        (32, 160, 7),
        (16, 255, 64),
        (16, 256, 256),
        (24, 257, 300),
        (32, 700, 13),
    ] {
        let key = random(&mut rng, size);
        let keys = round_keys(&scheme, &aes, &key, top(&scheme));
        let iv: [u8; 16] = random(&mut rng, 16).try_into().unwrap();
        let data = random(&mut rng, length);
        let cipher = encrypt_plain(&key, "ctr", iv, &data);
        assert_eq!(
            transcipher(&scheme, &aes, &keys, Mode::ctr(&iv).unwrap(), &cipher, piece),
            data,
            "{length} bytes"
        );
        if length % 16 == 0 || length == 700 {
            let data = random(&mut rng, length.next_multiple_of(16));
            for (name, mode) in [("cbc", Mode::cbc(&iv).unwrap()), ("ecb", Mode::ecb())] {
                let cipher = encrypt_plain(&key, name, iv, &data);
                assert_eq!(
                    transcipher(&scheme, &aes, &keys, mode, &cipher, piece),
                    data,
                    "{length} bytes in {name}"
                );
            }
        }
    }
}

#[test]
fn slots_without_data_repeat_the_last_block() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let (key, iv) = (hex(KEY_128), [3; 16]);
    let keys = round_keys(&scheme, &aes, &key, top(&scheme));
    for (name, mode, length) in
        [("ctr", Mode::ctr(&iv).unwrap(), 40), ("cbc", Mode::cbc(&iv).unwrap(), 48)]
    {
        let data: Vec<u8> = (0..length as u8).collect();
        let mut source = keys.source(&scheme);
        let mut run =
            Transcipher::new(&scheme, &aes, keys.size(), mode, top(&scheme), &mut source).unwrap();
        let batch = run.next_batch(&encrypt_plain(&key, name, iv, &data), &mut |_| ()).unwrap();
        assert_eq!((batch.length, batch.offset), (length, 0));
        let blocks = aes.layout().decode(&elements(&scheme, &batch)).unwrap();
        assert_eq!(blocks[..3].as_flattened()[..length], data);
        assert!(blocks[3..].iter().all(|block| *block == blocks[2]), "{name}");
    }
}

/// Blocks of a stream in a chosen order, some of them twice, and with chosen pads.
#[test]
fn blocks_in_chosen_places() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let (key, iv) = (hex(KEY_128), [3; 16]);
    let keys = round_keys(&scheme, &aes, &key, top(&scheme));
    let data: Vec<u8> = (0..80).collect();
    let mode = Mode::ctr(&iv).unwrap();
    let blocks = mode.clone().next_blocks(&encrypt_plain(&key, "ctr", iv, &data)).unwrap();
    let mut source = keys.source(&scheme);
    let mut run =
        Transcipher::new(&scheme, &aes, keys.size(), mode, top(&scheme), &mut source).unwrap();
    let order = [4, 0, 0, 3, 2];
    let mut placed: Vec<_> = order.map(|i| (blocks.inputs[i], blocks.pads[i])).to_vec();
    placed[1].1 = blocks.pads[0].map(|pad| !pad);
    let mut rounds = 0;
    let state = run.placed(&placed, &mut |_| rounds += 1).unwrap();
    assert_eq!((rounds, run.offset()), (11, 0));
    let found = close(&scheme, &aes, &state);
    for (slot, block) in found.iter().enumerate() {
        let i = order[slot.min(order.len() - 1)];
        let wanted: [u8; 16] = data[16 * i..][..16].try_into().unwrap();
        let wanted = if slot == 1 { wanted.map(|byte| !byte) } else { wanted };
        assert_eq!(*block, wanted, "{slot}");
    }
    let refused = |found: Result<_, AesError>| found.err().map(|e| e.code());
    let ignore = &mut |_: Progress| ();
    assert_eq!(refused(run.placed(&[], ignore)), Some("circuit.empty"));
    let many = vec![placed[0]; aes.blocks() + 1];
    assert_eq!(refused(run.placed(&many, ignore)), Some("aes.batch-length"));
}

#[test]
fn misuse_is_refused() {
    let scheme = NoOp::new(&bgv(2, 32), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let key = hex(KEY_128);
    let keys = round_keys(&scheme, &aes, &key, top(&scheme));
    let mut source = keys.source(&scheme);
    let mode = Mode::cbc(&[0; 16]).unwrap();
    let mut run =
        Transcipher::new(&scheme, &aes, keys.size(), mode, top(&scheme), &mut source).unwrap();
    let mut ignore = |_: Progress| ();
    let data = random(&mut ChaCha20Rng::seed_from_u64(2), 32);
    let cipher = encrypt_plain(&key, "cbc", [0; 16], &data);
    let refused = |result: Result<Batch<NoOp>, AesError>| result.err().unwrap();
    assert_eq!(
        refused(run.next_batch(&[], &mut ignore)),
        CircuitError::Empty { what: "the data to be decrypted" }.into()
    );
    assert_eq!(
        refused(run.next_batch(&[0; 257], &mut ignore)),
        AesError::BatchLength { found: 257, highest: 256 }
    );
    assert_eq!(
        refused(run.next_batch(&cipher[..17], &mut ignore)),
        AesError::DataLength { found: 17 }
    );
    // It is where it was.
    for half in [0, 1] {
        let batch = run.next_batch(&cipher[16 * half..][..16], &mut ignore).unwrap();
        assert_eq!(read(&scheme, aes.layout(), &batch), data[16 * half..][..16]);
    }

    let mut source = keys.source(&scheme);
    let mut run = Transcipher::new(
        &scheme,
        &aes,
        keys.size(),
        Mode::gcm(&[1; 12]).unwrap(),
        top(&scheme),
        &mut source,
    )
    .unwrap();
    run.next_batch(&[0; 5], &mut ignore).unwrap();
    assert_eq!(refused(run.next_batch(&[0; 5], &mut ignore)), AesError::Ended { offset: 5 });

    // Keys below the level of the state, keys that are missing, rounds that do not exist.
    let low = round_keys(&scheme, &aes, &key, Level(1));
    let mut source = low.source(&scheme);
    let mut run =
        Transcipher::new(&scheme, &aes, low.size(), Mode::ecb(), top(&scheme), &mut source)
            .unwrap();
    let error = AesError::KeyLevel { round: 10, found: Level(1), needed: top(&scheme) };
    assert_eq!(refused(run.next_batch(&[0; 16], &mut ignore)), error);
    let few = RoundKeys::<NoOp>::new(KeySize::Aes192, keys.keys().to_vec());
    assert_eq!(few.err(), Some(AesError::RoundKeys { found: 11, expected: 13 }));
    assert_eq!(
        keys.key(&scheme, 11, Level(0)).err(),
        Some(AesError::Rounds { found: 11, highest: 10 })
    );

    // Plaintext moduli other than 2, states of other sets.
    let odd = NoOp::new(&bgv(7, 2), 1);
    assert!(matches!(
        ByteSliced::new(&odd, top(&odd)).err(),
        Some(AesError::PlainModulus { found: 7 })
    ));
    let mut none = |_: usize, _: Level| Ok(Vec::new());
    let mut run =
        Transcipher::new(&scheme, &aes, KeySize::Aes128, Mode::ecb(), top(&scheme), &mut none)
            .unwrap();
    let width = AesError::Width { what: "a round key", found: 0, expected: 16 };
    assert_eq!(run.next_batch(&[0; 16], &mut ignore).err(), Some(width));
}

#[test]
fn states_are_refreshed_between_rounds() {
    // Room for five rounds.
    let scheme = NoOp::new(&bgv(2, 2), 1);
    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let blank =
        |level| Ok(scheme.encrypt_at(&Plaintext::encode(scheme.params(), &[]).unwrap(), level)?);
    let cipher = Cipher::new(KeySize::Aes256, Direction::Decrypt);
    let needed =
        aes.capacity_for_round(&scheme, Direction::Decrypt, top(&scheme), 0.0, blank).unwrap();

    let count = AtomicUsize::new(0);
    let fresh = |state: Vec<NoOpCiphertext>| {
        count.fetch_add(1, Ordering::Relaxed);
        let one =
            |x: &NoOpCiphertext| scheme.encrypt_at(&scheme.decrypt(x)?, Level(top(&scheme).0 - 1));
        Ok(state.iter().map(one).collect::<Result<_, SchemeError>>()?)
    };
    // The keys are expanded with refreshes, too.
    let key = key_bytes(&scheme, &aes, &hex(KEY_256));
    let refresh = Refresh::new(needed, &fresh);
    let keys = RoundKeys::expand(&scheme, &aes, key, Some(&refresh)).unwrap();
    assert!(count.swap(0, Ordering::Relaxed) >= 2);
    assert!(
        keys.keys().iter().zip(KeySchedule::new(&hex(KEY_256)).unwrap().round_keys()).all(
            |(found, expected)| { close(&scheme, &aes, found) == vec![*expected; aes.blocks()] }
        )
    );

    let keys = round_keys(&scheme, &aes, &hex(KEY_256), top(&scheme));
    let levels = Transcipher::key_levels(
        &scheme,
        &aes,
        cipher,
        top(&scheme),
        Some(Refresh::new(needed, &fresh)),
        blank,
    )
    .unwrap();
    assert_eq!(levels[14], top(&scheme));
    let rises = levels.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!(count.swap(0, Ordering::Relaxed) >= rises && rises >= 2, "{levels:?}");

    let mut source = keys.source(&scheme);
    let mode = Mode::cbc(&(0..16).collect::<Vec<u8>>()).unwrap();
    let mut run =
        Transcipher::new(&scheme, &aes, keys.size(), mode.clone(), top(&scheme), &mut source)
            .unwrap()
            .refreshed(Refresh::new(needed, &fresh));
    let batch = run.next_batch(&hex(CBC[2][1]), &mut |_| ()).unwrap();
    assert_eq!(read(&scheme, aes.layout(), &batch), hex(PLAIN));
    assert_eq!(run.cipher(), cipher);

    // Without them there is no room, and a refresh that does not help is refused.
    let mut source = keys.source(&scheme);
    let mut run =
        Transcipher::new(&scheme, &aes, keys.size(), mode.clone(), top(&scheme), &mut source)
            .unwrap();
    let error = run.next_batch(&[0; 16], &mut |_| ()).err();
    assert!(
        matches!(error, Some(AesError::Scheme(SchemeError::NoiseOverflow { .. }))),
        "{error:?}"
    );
    let mut source = keys.source(&scheme);
    let mut run = Transcipher::new(&scheme, &aes, keys.size(), mode, top(&scheme), &mut source)
        .unwrap()
        .refreshed(Refresh::new(needed, &|state| Ok(state)));
    assert!(matches!(
        run.next_batch(&[0; 16], &mut |_| ()).err(),
        Some(AesError::Circuit(CircuitError::NotEnoughCapacity { .. }))
    ));
}

#[test]
fn two_rounds_of_ctr_and_cbc_with_bgv_and_ntru() {
    for params in [bgv(2, 9), ntru()] {
        for mode in two_modes() {
            let top = params.chain().top();
            transcipher_rounds(
                &params,
                |s| ByteSliced::new(s, top).unwrap(),
                |s| ByteSliced::new(s, top).unwrap(),
                &mode,
                2,
            );
        }
    }
}

#[test]
fn two_rounds_of_ctr_and_cbc_packed() {
    let params = lines(7);
    let top = params.chain().top();
    for mode in two_modes() {
        transcipher_rounds(
            &params,
            |s| Packed::new(s, top).unwrap(),
            |s| Packed::new(s, top).unwrap(),
            &mode,
            2,
        );
    }
}

#[test]
#[ignore = "128 bits of security: minutes"]
fn aes_128_in_ctr_and_cbc_at_128_bits() {
    let params = leveled();
    let top = params.chain().top();
    for mode in two_modes() {
        transcipher_rounds(
            &params,
            |s| Packed::new(s, top).unwrap(),
            |s| Packed::new(s, top).unwrap(),
            &mode,
            10,
        );
    }
}

#[test]
fn keys_of_other_parameters_are_refused() {
    check_foreign_keys(|s| ByteSliced::new(s, s.params().chain().top()).unwrap());
}

/// What is left of the capacity after a batch, or why there is no room for it, by direction and
/// size of the key.
fn capacity_after<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    size: KeySize,
    mode: &Mode,
) -> Result<f64, AesError> {
    let zero = Plaintext::encode(scheme.params(), &[])?;
    let mut keys = |_: usize, level: Level| Ok(vec![scheme.encrypt_at(&zero, level)?; aes.width()]);
    let mut run = Transcipher::new(scheme, aes, size, mode.clone(), top(scheme), &mut keys)?;
    let batch = run.next_batch(&[0; 16], &mut |_| ())?;
    Ok(batch.state.iter().map(|x| scheme.capacity_bits(x)).fold(f64::INFINITY, f64::min))
}

#[test]
fn the_leveled_set_has_room_for_both_directions() {
    let params = leveled();
    let scheme = NoOp::blank(&params);
    let bytes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let packed = Packed::new(&scheme, top(&scheme)).unwrap();
    for mode in two_modes() {
        assert!(capacity_after(&scheme, &bytes, KeySize::Aes128, &mode).unwrap() > 220.0);
        assert!(capacity_after(&scheme, &packed, KeySize::Aes128, &mode).unwrap() > 100.0);
    }
    // Expanding the key at home or on the server makes no difference to what is left.
    let zero = Plaintext::encode(&params, &[]).unwrap();
    let keys =
        RoundKeys::expand(&scheme, &bytes, vec![scheme.encrypt(&zero).unwrap(); 16], None).unwrap();
    let mut source = |round: usize, _: Level| keys.key(&scheme, round, Level(0));
    let mode = Mode::ctr(&[0; 16]).unwrap();
    let mut run =
        Transcipher::new(&scheme, &bytes, KeySize::Aes128, mode, top(&scheme), &mut source)
            .unwrap();
    let state = run.next_batch(&[0; 16], &mut |_| ()).unwrap().state;
    assert!(state.iter().all(|x| scheme.capacity_bits(x) > 220.0));
    // A round takes less than it needs to begin with: the lowest levels are coarse.
    let aside = NoOp::blank(&params);
    let blank = |level| Ok(aside.encrypt_at(&zero, level)?);
    let room = |direction: Direction, reserve: f64| {
        packed.capacity_for_round(&aside, direction, top(&aside), reserve, blank).unwrap()
    };
    let needed = [Direction::Encrypt, Direction::Decrypt].map(|direction| room(direction, 0.0));
    assert!(needed.iter().all(|bits| (60.0..130.0).contains(bits)), "{needed:?}");
    assert!(room(Direction::Decrypt, 60.0) > needed[1]);
}
