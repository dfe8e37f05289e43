//! AES with whole blocks in a ciphertext: where they lie, keys for the other ways, rounds on BGV,
//! and the whole cipher on demand.

use everlevel_aes::{
    Aes, AesError, ByteSliced, Cipher, Direction, KeySchedule, KeySize, Layout, Packed, Start,
    UnpackBytes,
};
use everlevel_bgv::{Ciphertext, Evaluator, SecretKey, ServerKeys};
use everlevel_ring::SlotShape;
use everlevel_scheme::{ExactScheme, Level, NoOp, OptIn, Params, Plaintext, Scheme};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::answers::{check_with_keys, packed_keys};
use crate::common::{close, lines, oracle, random, top};

#[test]
fn lines_need_a_dimension_of_16() {
    // 3 · 5 · 17, where the slots of 17 hold Frobenius; 13 · 241.
    for (index, sizes) in [(255, vec![2, 4, 2]), (13 * 241, vec![12, 10])] {
        let shape = SlotShape::new(index, 2, 1).unwrap();
        assert_eq!(Layout::packed(&shape).err(), Some(AesError::NoLine { sizes }));
    }
    let layout = Layout::packed(lines(7).slot_shape()).unwrap();
    assert_eq!((layout.width(), layout.blocks(), layout.capacity()), (1, 4, 64));
    // Dimensions of 2, 16 and 2 slots.
    let slots: Vec<usize> = (0..4).map(|b| layout.place(b, 3).slot).collect();
    assert_eq!(slots, [6, 7, 38, 39]);
    let blocks: Vec<[u8; 16]> = (0..4).map(|b| std::array::from_fn(|i| 16 * b + i as u8)).collect();
    let elements = layout.encode(&blocks);
    assert_eq!(layout.decode(&elements).unwrap(), blocks);
    assert_eq!(layout.encode(&blocks[..1])[0].len(), elements[0].len());
    assert!(layout.decode(&[]).is_err());
    let mut spoilt = elements;
    spoilt[0][48 * 7 + 1] ^= 1;
    assert_eq!(layout.decode(&spoilt), Err(AesError::NotInField { slot: 7, what: "byte" }));
}

/// One ciphertext for each round key, whatever the server does with it.
#[test]
fn packed_keys_serve_packed_aes_and_bytes() {
    let scheme = NoOp::new(&lines(18), 1);
    let level = top(&scheme);
    let (packed, bytes) =
        (Packed::new(&scheme, level).unwrap(), ByteSliced::new(&scheme, level).unwrap());
    let (schedule, keys) = packed_keys(&scheme, &packed);
    let to_bytes = UnpackBytes::new(&scheme, level).unwrap();

    let (one, before) = (&keys.keys()[1][0], scheme.cost());
    let unpacked = to_bytes.apply(&scheme, one).unwrap();
    assert_eq!((scheme.cost() - before).key_switches, 15);
    assert_eq!(close(&scheme, &bytes, &unpacked), vec![schedule.round_keys()[1]; 64]);

    // FIPS-197, C.1: the end, and the start of round 3.
    let end = "69c4e0d86a7b0430d8cdb78070b4c55a";
    check_with_keys(&scheme, &packed, 10, end, &mut keys.source(&scheme));
    let third = "4915598f55e5d7a0daca94fa1f0a63f7";
    check_with_keys(&scheme, &bytes, 2, third, &mut to_bytes.source(&scheme, &keys));
}

/// BGV with the keys that a rehearsal finds.
struct Real {
    secret: SecretKey,
    scheme: Evaluator,
    rng: ChaCha20Rng,
}

impl Real {
    fn new(params: &Params, rehearse: impl FnOnce(&NoOp)) -> Self {
        let planner = NoOp::blank(params);
        rehearse(&planner);
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let secret = SecretKey::generate(params, &mut rng);
        let keys = ServerKeys::generate(&secret, &planner.key_plan(), &mut rng, |_, _| ()).unwrap();
        Real { secret, scheme: Evaluator::new(keys), rng }
    }

    fn params(&self) -> &Params {
        self.scheme.params()
    }

    fn encrypt(&mut self, layout: &Layout, blocks: &[[u8; 16]], level: Level) -> Vec<Ciphertext> {
        let elements = layout.encode(blocks);
        let one = |x: &Vec<u64>| {
            let plain = Plaintext::encode_elements(self.secret.params(), x).unwrap();
            self.secret.encrypt_at(&plain, level, &mut self.rng).unwrap()
        };
        elements.iter().map(one).collect()
    }

    /// Decrypts, and checks that noise is within its bound.
    fn decrypt(&self, layout: &Layout, state: &[Ciphertext]) -> Vec<[u8; 16]> {
        let one = |x: &Ciphertext| {
            assert!(self.secret.measure_noise(x).unwrap() <= x.noise_bound_bits());
            self.secret.decrypt(x).unwrap().decode_elements(self.params()).unwrap()
        };
        layout.decode(&state.iter().map(one).collect::<Vec<_>>()).unwrap()
    }
}

/// Evaluates on a scheme without values.
fn rehearse(planner: &NoOp, aes: &impl Aes<NoOp>, cipher: Cipher) {
    let zero = Plaintext::encode(planner.params(), &[]).unwrap();
    let blank = |level| Ok(planner.encrypt_at(&zero, level)?);
    aes.round_key_levels(planner, blank(top(planner)).unwrap(), cipher, blank).unwrap();
}

/// The state ahead of the addition of key `round`, or after it.
fn encrypted(schedule: &KeySchedule, block: [u8; 16], round: usize, with_key: bool) -> [u8; 16] {
    let keys = schedule.round_keys();
    let mut out = block.into();
    for (i, key) in keys[..=round].iter().enumerate() {
        let key = if i < round || with_key { *key } else { [0; 16] };
        match i {
            0 => out = std::array::from_fn(|i| block[i] ^ key[i]).into(),
            _ => aes::hazmat::cipher_round(&mut out, &key.into()),
        }
    }
    out.into()
}

#[test]
fn two_rounds_of_decryption() {
    let params = lines(7);
    let level = params.chain().top();
    let cipher = Cipher::new(KeySize::Aes128, Direction::Decrypt).reduced(2);
    let mut real = Real::new(&params, |planner| {
        rehearse(planner, &Packed::new(planner, level).unwrap(), cipher)
    });
    let aes = Packed::new(&real.scheme, level).unwrap();
    let key = random(&mut real.rng, 16);
    let schedule = KeySchedule::new(&key).unwrap();
    let plain: Vec<[u8; 16]> =
        (0..4).map(|_| random(&mut real.rng, 16).try_into().unwrap()).collect();
    let blocks: Vec<_> = plain.iter().map(|x| oracle(&key, *x, Direction::Encrypt)).collect();
    let layout = Layout::packed(params.slot_shape()).unwrap();
    let start = Start::Encrypted(real.encrypt(&layout, &blocks, level));
    // Keys above the level of their use.
    let keys: Vec<_> =
        schedule.round_keys().iter().map(|key| real.encrypt(&layout, &[*key; 4], level)).collect();
    let mut between = |number: usize, state: Vec<Ciphertext>| {
        if number > 0 {
            // What lies ahead of the key of round 10 - number in encryption.
            let expected: Vec<_> =
                plain.iter().map(|x| encrypted(&schedule, *x, 10 - number, false)).collect();
            assert_eq!(real.decrypt(&layout, &state), expected, "after {number} rounds");
        }
        Ok(state)
    };
    aes.evaluate(
        &real.scheme,
        start,
        cipher,
        &mut |round, _| Ok(keys[round].clone()),
        &mut between,
    )
    .unwrap();
}

/// One round by bytes, with the keys of rounds 0 and 1 unpacked; the first key by itself, too.
fn round_with_unpacked_keys<S: ExactScheme>(
    scheme: &S,
    level: Level,
    state: Vec<S::Ciphertext>,
    keys: &[S::Ciphertext],
) -> [Vec<S::Ciphertext>; 2] {
    let (aes, unpack) =
        (ByteSliced::new(scheme, level).unwrap(), UnpackBytes::new(scheme, level).unwrap());
    let mut source = |round: usize, _: Level| unpack.apply(scheme, &keys[round]);
    let out =
        aes.encrypt(scheme, state, KeySize::Aes128, 1, &mut source, &mut |_, _| Ok(())).unwrap();
    [unpack.apply(scheme, &keys[0]).unwrap(), out]
}

#[test]
fn bytes_are_unpacked_on_a_real_ring() {
    let params = lines(7);
    let level = params.chain().top();
    let mut real = Real::new(&params, |planner| {
        let zero =
            planner.encrypt_at(&Plaintext::encode(planner.params(), &[]).unwrap(), level).unwrap();
        round_with_unpacked_keys(planner, level, vec![zero.clone(); 16], &vec![zero; 2]);
    });
    let (lines, bytes) = (
        Layout::packed(params.slot_shape()).unwrap(),
        Layout::byte_sliced(params.slot_shape()).unwrap(),
    );
    let schedule = KeySchedule::new(&random(&mut real.rng, 16)).unwrap();
    let keys: Vec<_> = (0..2)
        .map(|i| real.encrypt(&lines, &[schedule.round_keys()[i]; 4], level).remove(0))
        .collect();
    let blocks: Vec<[u8; 16]> =
        (0..64).map(|_| random(&mut real.rng, 16).try_into().unwrap()).collect();
    let state = real.encrypt(&bytes, &blocks, level);
    let [first, out] = round_with_unpacked_keys(&real.scheme, level, state, &keys);
    assert_eq!(real.decrypt(&bytes, &first), vec![schedule.round_keys()[0]; 64]);
    let expected: Vec<_> = blocks.iter().map(|b| encrypted(&schedule, *b, 1, true)).collect();
    assert_eq!(real.decrypt(&bytes, &out), expected);
}

#[test]
#[ignore = "the whole cipher at 128 bits of security: half a minute and 4 GB"]
fn the_whole_cipher_at_128_bits() {
    let params = Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap();
    let level = params.chain().top();
    let cipher = Cipher::new(KeySize::Aes128, Direction::Encrypt);
    let mut real = Real::new(&params, |planner| {
        rehearse(planner, &Packed::new(planner, level).unwrap(), cipher)
    });
    let aes = Packed::new(&real.scheme, level).unwrap();
    let layout = Layout::packed(params.slot_shape()).unwrap();
    let key = random(&mut real.rng, 16);
    let schedule = KeySchedule::new(&key).unwrap();
    let blocks: Vec<[u8; 16]> =
        (0..120).map(|_| random(&mut real.rng, 16).try_into().unwrap()).collect();
    let state = real.encrypt(&layout, &blocks, level);
    let keys: Vec<_> = schedule
        .round_keys()
        .iter()
        .map(|key| real.encrypt(&layout, &[*key; 120], level))
        .collect();
    let mut source = |round: usize, _: Level| Ok(keys[round].clone());
    let out = aes
        .encrypt(&real.scheme, state, KeySize::Aes128, 10, &mut source, &mut |_, _| Ok(()))
        .unwrap();
    let expected: Vec<_> = blocks.iter().map(|b| oracle(&key, *b, Direction::Encrypt)).collect();
    assert_eq!(real.decrypt(&layout, &out), expected);
    assert!(real.scheme.capacity_bits(&out[0]) >= 100.0);
}
