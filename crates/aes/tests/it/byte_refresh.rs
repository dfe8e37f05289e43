//! Bytes in slots, packed, bootstrapped and taken apart again: on the no-op scheme, on a small ring
//! with cryptography, and between rounds of AES.

use std::time::Instant;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use everlevel_aes::integers::{ByteOrder, IntegersFromBytes};
use everlevel_aes::{
    Aes, AesError, ByteEmbedding, BytePacking, ByteRefresh, ByteSliced, Cipher, Direction,
    KeySchedule, KeySize,
};
use everlevel_bgv::Ciphertext;
use everlevel_circuit::bootstrap::BootstrapPlan;
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::spec::{Assumption, BootstrapSpec, SecretKind};
use everlevel_scheme::{
    Arithmetic, Bootstrappable, Form, Level, NextUse, NoOp, OptIn, Params, ParamsSpec, Plaintext,
    Scheme,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::common::rounds::party;

/// Bits in slots, with bootstrapping. The overflow of a weight of 2 stays within 12.
fn params(index: u64, words: usize) -> Params {
    let bootstrap = BootstrapSpec {
        overflow_bound: Some(12),
        digits: Some(5),
        ..BootstrapSpec::encapsulated(2)
    };
    let spec = ParamsSpec {
        name: format!("insecure_bytes-m{index}"),
        index,
        plain_prime: 2,
        plain_exponent: 1,
        extended_exponent: 32,
        base_bits: 34,
        word_bits: 50,
        words,
        fine_bits: vec![44, 41, 38, 36],
        special: 4,
        digit_size: 4,
        form: Form::Bgv,
        through_bgv: false,
        assumption: Assumption::Rlwe,
        secret: SecretKind::UniformTernary,
        bootstrap: Some(bootstrap),
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// A byte for each slot of each of `count` ciphertexts.
fn random_bytes(params: &Params, count: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..count).map(|_| (0..params.slots()).map(|_| rng.next_u64() as u8).collect()).collect()
}

fn encode(params: &Params, bytes: &[u8]) -> Plaintext {
    let embedding = ByteEmbedding::new(params.slot_shape()).unwrap();
    Plaintext::encode_elements(
        params,
        &bytes.iter().flat_map(|&b| embedding.element(b)).collect::<Vec<_>>(),
    )
    .unwrap()
}

/// Panics unless all slots hold bytes.
fn decode(params: &Params, plain: &Plaintext) -> Vec<u8> {
    let embedding = ByteEmbedding::new(params.slot_shape()).unwrap();
    let elements = plain.decode_elements(params).unwrap();
    elements.chunks(embedding.degree()).map(|x| embedding.byte(x).unwrap()).collect()
}

fn refresh_of<S: Bootstrappable>(scheme: &S, params: &Params) -> ByteRefresh<S> {
    ByteRefresh::new(scheme, &BootstrapPlan::for_set(params).unwrap(), params.chain().top())
        .unwrap()
}

#[test]
fn bytes_are_packed_refreshed_and_taken_apart() {
    // One, two and three bytes in a slot, also where two axes carry Frobenius together, without
    // square factor and with one; 5, 4 and 1 of them, and in one ring the 16 of a state.
    let several = [(3 * 7 * 17, 3), (45 * 17, 3)];
    let single = [(255, 1), (257, 2), (241, 3), (3 * 257, 2), (3 * 241, 3)];
    for (index, in_a_slot) in single.into_iter().chain(several) {
        let params = params(index, 12);
        let carrier = params.slot_shape().carrier().unwrap().len();
        assert_eq!(carrier > 1, several.contains(&(index, in_a_slot)), "m = {index}");
        let scheme = NoOp::new(&params, 1);
        let refresh = refresh_of(&scheme, &params);
        assert_eq!(refresh.packing().capacity(), in_a_slot, "m = {index}");
        let counts: &[usize] = if index == 241 { &[16, 5, 4, 1] } else { &[5, 4, 1] };
        for &count in counts {
            let bytes = random_bytes(&params, count, index + count as u64);
            let capacity = refresh.minimum_capacity(&scheme);
            let exhausted = |x: &Vec<u8>| {
                scheme.encrypt_exhausted(&encode(&params, x), Level(6), capacity).unwrap()
            };
            let fresh =
                refresh.refresh(&scheme, &bytes.iter().map(exhausted).collect::<Vec<_>>()).unwrap();
            let open: Vec<_> =
                fresh.iter().map(|x| decode(&params, &scheme.decrypt(x).unwrap())).collect();
            assert_eq!(open, bytes, "m = {index}, {count} bytes");
            assert!(fresh.iter().all(|x| scheme.capacity_bits(x) > capacity + 50.0), "m = {index}");
            assert_eq!(refresh.bootstraps(count), count.div_ceil(in_a_slot));
        }
    }
}

#[test]
fn bytes_are_refreshed_with_cryptography() {
    let params = params(241, 12);
    let bytes = random_bytes(&params, 4, 9);
    let dry = NoOp::new(&params, 1);
    let foretold = {
        let x: Vec<_> = bytes.iter().map(|x| dry.encrypt(&encode(&params, x)).unwrap()).collect();
        refresh_of(&dry, &params).refresh(&dry, &x).unwrap()
    };
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
    let refresh = refresh_of(&scheme, &params);
    let mut state: Vec<Ciphertext> =
        bytes.iter().map(|x| secret.encrypt(&encode(&params, x), &mut rng).unwrap()).collect();
    for _ in 0..2 {
        state = refresh.refresh(&scheme, &state).unwrap();
        let open: Vec<_> =
            state.iter().map(|x| decode(&params, &secret.decrypt(x).unwrap())).collect();
        assert_eq!(open, bytes);
        for (x, like) in state.iter().zip(&foretold) {
            let (measured, bound) = (secret.measure_noise(x).unwrap(), scheme.noise_bound_bits(x));
            assert!(
                measured <= bound && bound == dry.noise_bound_bits(like),
                "noise 2^{measured:.1}, bound 2^{bound:.1}"
            );
        }
    }
}

#[test]
fn what_holds_no_bytes_is_refused() {
    let set = params(91, 2);
    let scheme = NoOp::new(&set, 1);
    let refused = BytePacking::new(&scheme, Level(3)).err();
    assert_eq!(refused, Some(AesError::NoBytes { degree: 12 }));
    let set = params(257, 12);
    let scheme = NoOp::new(&set, 1);
    let packing = BytePacking::new(&scheme, set.chain().top()).unwrap();
    let x = scheme.encrypt(&encode(&set, &vec![1; set.slots()])).unwrap();
    let width =
        |found, expected| Some(AesError::Width { what: "a slot of bytes", found, expected });
    assert_eq!(packing.pack(&scheme, &[]).err(), width(0, 1));
    assert_eq!(packing.pack(&scheme, &vec![x.clone(); 3]).err(), width(3, 2));
    assert_eq!(packing.unpack(&scheme, &x, 3).err(), width(3, 2));
}

/// AES by bytes with refreshes where the next round would not leave enough to be refreshed, and how
/// many there were.
fn encrypt_with_refreshes(
    scheme: &NoOp,
    (aes, refresh): (&ByteSliced<NoOp>, &ByteRefresh<NoOp>),
    state: Vec<NoOpCiphertext>,
    cipher: Cipher,
    keys: &mut dyn FnMut(usize, Level) -> Result<Vec<NoOpCiphertext>, AesError>,
) -> (Vec<NoOpCiphertext>, usize) {
    let mut state = aes.add_key(scheme, &state, 0, scheme.level(&state[0]), keys).unwrap();
    let (mut refreshes, mut round_bits) = (0, 0.0);
    for number in 1..=cipher.rounds {
        if least(scheme, &state) - round_bits < refresh.minimum_capacity(scheme) {
            state = refresh.refresh(scheme, &state).unwrap();
            refreshes += 1;
        }
        let before = least(scheme, &state);
        state = aes.round(scheme, state, cipher.round(number), keys).unwrap();
        round_bits = f64::max(round_bits, before - least(scheme, &state) + 5.0);
    }
    (state, refreshes)
}

fn least(scheme: &NoOp, state: &[NoOpCiphertext]) -> f64 {
    state.iter().map(|x| scheme.capacity_bits(x)).fold(f64::INFINITY, f64::min)
}

/// AES-128 in the middle of whose rounds states are refreshed, with values, and two bytes of each
/// block as integers.
#[test]
fn aes_with_refreshes_between_its_rounds() {
    let params = params(241, 6);
    let scheme = NoOp::new(&params, 1);
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let mut random = || {
        let mut block = [0; 16];
        rng.fill_bytes(&mut block);
        block
    };
    let schedule = KeySchedule::new(&random()).unwrap();
    let blocks: Vec<[u8; 16]> = (0..params.slots()).map(|_| random()).collect();
    let encrypt = |blocks: &[[u8; 16]], level: Level| -> Vec<NoOpCiphertext> {
        let column =
            |i: usize| encode(&params, &blocks.iter().map(|block| block[i]).collect::<Vec<_>>());
        (0..16).map(|i| scheme.encrypt_at(&column(i), level).unwrap()).collect()
    };
    let mut keys = |round: usize, level: Level| {
        let key = schedule.round_keys()[round];
        Ok(encrypt(&vec![key; params.slots()], level))
    };
    let top = params.chain().top();
    let (aes, refresh) = (ByteSliced::new(&scheme, top).unwrap(), refresh_of(&scheme, &params));
    let (state, refreshes) = encrypt_with_refreshes(
        &scheme,
        (&aes, &refresh),
        encrypt(&blocks, top),
        Cipher::new(KeySize::Aes128, Direction::Encrypt),
        &mut keys,
    );
    assert!((1..=5).contains(&refreshes), "{refreshes} refreshes");
    let columns: Vec<Vec<u8>> =
        state.iter().map(|x| decode(&params, &scheme.decrypt(x).unwrap())).collect();
    let cipher = Aes128::new(&schedule.round_keys()[0].into());
    for (slot, block) in blocks.iter().enumerate() {
        let mut expected = (*block).into();
        cipher.encrypt_block(&mut expected);
        let found: Vec<u8> = columns.iter().map(|column| column[slot]).collect();
        assert_eq!(found, expected.as_slice(), "slot {slot}");
    }
    let map = IntegersFromBytes::new(&scheme, 2, 16, ByteOrder::Big, top).unwrap();
    let fresh = refresh.refresh(&scheme, &state[..2]).unwrap();
    let integers = map.evaluate(&scheme, &[&fresh[0], &fresh[1]]).unwrap();
    let expected: Vec<u64> = columns[0]
        .iter()
        .zip(&columns[1])
        .map(|(&a, &b)| u64::from(u16::from_be_bytes([a, b])))
        .collect();
    assert_eq!(scheme.decrypt(&integers).unwrap().decode(&params).unwrap(), expected);
}

/// Levels and noise bounds at full size: AES-128 fits without a refresh and AES-256 takes one; a
/// refresh at the end leaves room for integers of 32 bits and products of them.
#[test]
fn integers_of_32_bits_fit_behind_a_refresh() {
    let params = Params::named("aes-bgv-refreshed", OptIn::SecureOnly).unwrap();
    assert!(params.security().bits() >= 128.0);
    let (scheme, top) = (NoOp::blank(&params), params.chain().top());
    let zero = Plaintext::encode(&params, &[]).unwrap();
    let blank = |level: Level| scheme.encrypt_at(&zero, level).unwrap();
    let (aes, refresh) = (ByteSliced::new(&scheme, top).unwrap(), refresh_of(&scheme, &params));
    let map = IntegersFromBytes::new(&scheme, 4, 32, ByteOrder::Little, top).unwrap();
    for (size, expected) in [(KeySize::Aes128, 0), (KeySize::Aes256, 1)] {
        let cipher = Cipher::new(size, Direction::Encrypt);
        let mut keys = |_: usize, level: Level| Ok(vec![blank(level); 16]);
        let (state, refreshes) = encrypt_with_refreshes(
            &scheme,
            (&aes, &refresh),
            vec![blank(top); 16],
            cipher,
            &mut keys,
        );
        let fresh = refresh.refresh(&scheme, &state).unwrap();
        let integers = map.evaluate(&scheme, &fresh[..4].iter().collect::<Vec<_>>()).unwrap();
        let product = scheme.mul(&integers, &integers, NextUse::Product).unwrap();
        println!(
            "after {} rounds {:.1}, refreshed {refreshes} times; refreshed again {:.1}; integers \
             {:.1}; their product {:.1}",
            cipher.rounds,
            least(&scheme, &state),
            least(&scheme, &fresh),
            scheme.capacity_bits(&integers),
            scheme.capacity_bits(&product)
        );
        assert_eq!(refreshes, expected);
        assert!(least(&scheme, &fresh) > 600.0 && scheme.capacity_bits(&product) > 150.0);
    }
}

/// The same at full size with cryptography: four ciphertexts of bytes, three of which are
/// bootstrapped as one, and the integers of 32 bits that they are.
#[test]
#[ignore = "minutes, and keys of 6 GB: two bootstrappings at full size"]
fn bytes_are_refreshed_at_full_size() {
    let params = Params::named("aes-bgv-refreshed", OptIn::SecureOnly).unwrap();
    let bytes = random_bytes(&params, 4, 11);
    let plain: Vec<Plaintext> = bytes.iter().map(|x| encode(&params, x)).collect();
    let top = params.chain().top();
    let dry = NoOp::blank(&params);
    let capacity = refresh_of(&dry, &params).minimum_capacity(&dry);
    let low = params.chain().at_least(params.noise().bound().floor(2u64) + capacity + 3.0);
    {
        let x: Vec<_> = plain.iter().map(|x| dry.encrypt_at(x, low).unwrap()).collect();
        let fresh = refresh_of(&dry, &params).refresh(&dry, &x).unwrap();
        let map = IntegersFromBytes::new(&dry, 4, 32, ByteOrder::Little, top).unwrap();
        map.evaluate(&dry, &fresh.iter().collect::<Vec<_>>()).unwrap();
    }
    let started = Instant::now();
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let (secret, scheme) = party(&params, &dry.key_plan(), &mut rng);
    println!(
        "keys of {} MB in {:.1?}",
        scheme.keys().memory_bytes() / 1_000_000,
        started.elapsed()
    );
    let exhausted: Vec<Ciphertext> =
        plain.iter().map(|x| secret.encrypt_at(x, low, &mut rng).unwrap()).collect();
    let refresh = refresh_of(&scheme, &params);
    let slack = |x: &Ciphertext| {
        let (measured, bound) = (secret.measure_noise(x).unwrap(), scheme.noise_bound_bits(x));
        assert!(measured <= bound, "noise 2^{measured:.1}, bound 2^{bound:.1}");
        bound - measured
    };
    let started = Instant::now();
    let three = refresh.refresh(&scheme, &exhausted[..3]).unwrap();
    println!("three bytes refreshed in {:.1?}", started.elapsed());
    let started = Instant::now();
    let one = refresh.refresh(&scheme, &exhausted[3..]).unwrap();
    println!("one byte in {:.1?}", started.elapsed());
    let fresh = [three, one].concat();
    for (x, expected) in fresh.iter().zip(&bytes) {
        assert_eq!(decode(&params, &secret.decrypt(x).unwrap()), *expected);
        println!(
            "capacity {:.1}, the bound {:.1} bits above the noise",
            scheme.capacity_bits(x),
            slack(x)
        );
    }
    let started = Instant::now();
    let map = IntegersFromBytes::new(&scheme, 4, 32, ByteOrder::Little, top).unwrap();
    let integers = map.evaluate(&scheme, &fresh.iter().collect::<Vec<_>>()).unwrap();
    println!(
        "integers in {:.1?}, capacity {:.1}, the bound {:.1} bits above the noise",
        started.elapsed(),
        scheme.capacity_bits(&integers),
        slack(&integers)
    );
    let found = secret.decrypt(&integers).unwrap().decode(&params).unwrap();
    let expected = (0..params.slots())
        .map(|s| u64::from(u32::from_le_bytes(std::array::from_fn(|k| bytes[k][s]))));
    assert!(found.into_iter().eq(expected));
}
