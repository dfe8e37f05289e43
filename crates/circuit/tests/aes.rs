//! AES against FIPS-197, SP 800-38A and another implementation: on the no-op scheme, then on BGV
//! and on LTV over NTRU.

#[allow(dead_code)] // what the tests of AES share is used in parts
mod aes_common;

use aes_common::{bgv, block, close, hex, lines, ntru, open, oracle, random, top};
use everlevel_circuit::CircuitError;
use everlevel_circuit::aes::{
    Aes, AesError, AffineMap, BitSliced, ByteEmbedding, ByteSliced, Cipher, Direction, KeySchedule,
    KeySize, Packed,
};
use everlevel_scheme::ltv::{
    KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey,
};
use everlevel_scheme::params::spec;
use everlevel_scheme::plain::Open;
use everlevel_scheme::{
    Ciphertext, Cost, Evaluator, Level, NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme,
    SchemeError, SecretKey, ServerKeys,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// The first rounds of AES-128.
fn cipher(rounds: usize) -> Cipher {
    Cipher::new(KeySize::Aes128, Direction::Encrypt).reduced(rounds)
}

/// Encrypts blocks, each under a key of its own, and returns them with the depth.
fn encrypt<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    keys: &[Vec<u8>],
    blocks: &[[u8; 16]],
) -> (Vec<[u8; 16]>, u32) {
    let schedules: Vec<_> = keys.iter().map(|key| KeySchedule::new(key).unwrap()).collect();
    let mut source = |round: usize, level: Level| {
        let keys: Vec<_> = schedules.iter().map(|s| s.round_keys()[round]).collect();
        Ok(open(scheme, aes, &keys, level)?)
    };
    let state = open(scheme, aes, blocks, top(scheme)).unwrap();
    let size = schedules[0].size();
    let out =
        aes.encrypt(scheme, state, size, size.rounds(), &mut source, &mut |_, _| Ok(())).unwrap();
    (close(scheme, aes, &out), out.iter().map(|x| x.meta().depth).max().unwrap())
}

/// Known answers in all slots, 112 random keys of each size, and the counts.
fn check_cipher<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    products: u64,
    relinearizations: u64,
    automorphisms: u64,
    depth: u32,
) {
    let known = [
        // FIPS-197, B and C.1 to C.3; SP 800-38A, F.1.1
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "6bc1bee22e409f96e93d7e117393172a",
            "3ad77bb40d7a3660a89ecaf32466ef97",
        ),
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "ae2d8a571e03ac9c9eb76fac45af8e51",
            "f5d3d58503b9699de785895a96fdbaaf",
        ),
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "30c81c46a35ce411e5fbc1191a0a52ef",
            "43b1cd7f598ece23881b00e3ed030688",
        ),
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "f69f2445df4f9b17ad2b417be66c3710",
            "7b0c785e27e8ad3f8223207104725dd4",
        ),
        (
            "000102030405060708090a0b0c0d0e0f1011121314151617",
            "00112233445566778899aabbccddeeff",
            "dda97ca4864cdfe06eaf70a0ec0d7191",
        ),
        (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "00112233445566778899aabbccddeeff",
            "8ea2b7ca516745bfeafc49904b496089",
        ),
    ];
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    for length in [16, 24, 32] {
        let (mut keys, mut blocks, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for (key, plain, cipher) in known.iter().filter(|(key, _, _)| key.len() == 2 * length) {
            keys.push(hex(key));
            blocks.push(block(plain));
            expected.push(block(cipher));
        }
        let wanted = if length == 16 { 112 } else { 16 };
        while keys.len() < wanted {
            keys.push(random(&mut rng, length));
            blocks.push(random(&mut rng, 16).try_into().unwrap());
            expected.push(oracle(
                &keys[keys.len() - 1],
                blocks[blocks.len() - 1],
                Direction::Encrypt,
            ));
        }
        for i in (0..wanted).step_by(aes.blocks()) {
            let (before, those) = (scheme.cost(), i..i + aes.blocks());
            let (out, reached) = encrypt(scheme, aes, &keys[those.clone()], &blocks[those.clone()]);
            assert_eq!(out, expected[those], "keys of {length} bytes");
            let (cost, rounds) = (
                scheme.cost() - before,
                KeySchedule::new(&keys[0]).unwrap().size().rounds() as u64,
            );
            assert_eq!(cost.products, rounds * products);
            assert_eq!(cost.relinearizations, rounds * relinearizations);
            assert_eq!(cost.key_switches, rounds * (relinearizations + automorphisms));
            assert_eq!(reached, rounds as u32 * depth);
            assert_eq!(aes.depth_of_round(), depth);
        }
    }
}

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

/// SubBytes by its definition: the inverse found by trying, and the bits of FIPS-197's equation
/// (5.1).
fn sub_byte(x: u8) -> u8 {
    let product = |a: u8, b: u8| {
        let wide =
            (0..8).fold(0u16, |sum, i| sum ^ if b >> i & 1 == 1 { u16::from(a) << i } else { 0 });
        (8..15).rev().fold(wide, |r, i| if r >> i & 1 == 1 { r ^ 0x11b << (i - 8) } else { r })
            as u8
    };
    let inverse = (0..=255).find(|&y| product(x, y) == 1).unwrap_or(0);
    let bit = |i: u32| {
        [0, 4, 5, 6, 7].iter().fold(0x63 >> i & 1, |sum, k| sum ^ inverse >> ((i + k) % 8) & 1)
    };
    (0..8).fold(0, |out, i| out | bit(i) << i)
}

#[test]
fn both_s_boxes_on_all_bytes() {
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

    let aes = ByteSliced::new(&scheme, top(&scheme)).unwrap();
    let state = open(&scheme, &aes, &bytes, top(&scheme)).unwrap();
    let out: Vec<_> = state.iter().map(|x| aes.sub_byte(&scheme, x).unwrap()).collect();
    assert_eq!(close(&scheme, &aes, &out), expected);
    let cost = scheme.cost() - cost;
    // Three automorphisms for the powers and four for the affine map.
    assert_eq!(
        (cost.products, cost.relinearizations, cost.key_switches),
        (16 * 4, 16 * 4, 16 * (4 + 3 + 4))
    );
    assert!(out.iter().all(|x| x.meta().depth == 3));
}

/// FIPS-197, C.1: start, SubBytes, ShiftRows, MixColumns and key of each round.
const STEPS: [[&str; 5]; 9] = [
    [
        "00102030405060708090a0b0c0d0e0f0",
        "63cab7040953d051cd60e0e7ba70e18c",
        "6353e08c0960e104cd70b751bacad0e7",
        "5f72641557f5bc92f7be3b291db9f91a",
        "d6aa74fdd2af72fadaa678f1d6ab76fe",
    ],
    [
        "89d810e8855ace682d1843d8cb128fe4",
        "a761ca9b97be8b45d8ad1a611fc97369",
        "a7be1a6997ad739bd8c9ca451f618b61",
        "ff87968431d86a51645151fa773ad009",
        "b692cf0b643dbdf1be9bc5006830b3fe",
    ],
    [
        "4915598f55e5d7a0daca94fa1f0a63f7",
        "3b59cb73fcd90ee05774222dc067fb68",
        "3bd92268fc74fb735767cbe0c0590e2d",
        "4c9c1e66f771f0762c3f868e534df256",
        "b6ff744ed2c2c9bf6c590cbf0469bf41",
    ],
    [
        "fa636a2825b339c940668a3157244d17",
        "2dfb02343f6d12dd09337ec75b36e3f0",
        "2d6d7ef03f33e334093602dd5bfb12c7",
        "6385b79ffc538df997be478e7547d691",
        "47f7f7bc95353e03f96c32bcfd058dfd",
    ],
    [
        "247240236966b3fa6ed2753288425b6c",
        "36400926f9336d2d9fb59d23c42c3950",
        "36339d50f9b539269f2c092dc4406d23",
        "f4bcd45432e554d075f1d6c51dd03b3c",
        "3caaa3e8a99f9deb50f3af57adf622aa",
    ],
    [
        "c81677bc9b7ac93b25027992b0261996",
        "e847f56514dadde23f77b64fe7f7d490",
        "e8dab6901477d4653ff7f5e2e747dd4f",
        "9816ee7400f87f556b2c049c8e5ad036",
        "5e390f7df7a69296a7553dc10aa31f6b",
    ],
    [
        "c62fe109f75eedc3cc79395d84f9cf5d",
        "b415f8016858552e4bb6124c5f998a4c",
        "b458124c68b68a014b99f82e5f15554c",
        "c57e1c159a9bd286f05f4be098c63439",
        "14f9701ae35fe28c440adf4d4ea9c026",
    ],
    [
        "d1876c0f79c4300ab45594add66ff41f",
        "3e175076b61c04678dfc2295f6a8bfc0",
        "3e1c22c0b6fcbf768da85067f6170495",
        "baa03de7a1f9b56ed5512cba5f414d23",
        "47438735a41c65b9e016baf4aebf7ad2",
    ],
    [
        "fde3bad205e5d0d73547964ef1fe37f1",
        "5411f4b56bd9700e96a0902fa1bb9aa1",
        "54d990a16ba09ab596bbf40ea111702f",
        "e9f74eec023020f61bf2ccf2353c21c7",
        "549932d1f08557681093ed9cbe2c974e",
    ],
];

#[test]
fn every_step_of_fips_197() {
    let scheme = NoOp::new(&bgv(2, 6), 1);
    let (bits, bytes) =
        (BitSliced::new(scheme.slot_shape()), ByteSliced::new(&scheme, top(&scheme)).unwrap());
    let (shift_rows, mix_columns) = (AffineMap::shift_rows(), AffineMap::mix_columns());
    let schedule = KeySchedule::new(&hex("000102030405060708090a0b0c0d0e0f")).unwrap();
    let starts =
        STEPS.iter().map(|step| step[0]).skip(1).chain(["bd6e7c3df2b5779e0b61216e8b10b689"]);
    for ((number, step), next) in (1..).zip(&STEPS).zip(starts) {
        let [start, sub, shift, mix, key] = step.map(|text| vec![block(text); 16]);
        assert_eq!(schedule.round_keys()[number], key[0]);
        // Each step alone, ...
        let state = |blocks| open(&scheme, &bits, blocks, top(&scheme)).unwrap();
        let shows = |state: &[Open], expected: &[[u8; 16]]| {
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
        // ... and all of them at once, both ways.
        shows(
            &bits.round(&scheme, state(&start), cipher(10).round(number), &mut keys).unwrap(),
            &[block(next); 16],
        );
        let mut keys = |round: usize, level: Level| {
            Ok(open(&scheme, &bytes, &[schedule.round_keys()[round]; 16], level)?)
        };
        let state = open(&scheme, &bytes, &start, top(&scheme)).unwrap();
        let out = bytes.round(&scheme, state, cipher(10).round(number), &mut keys).unwrap();
        assert_eq!(close(&scheme, &bytes, &out), [block(next); 16]);
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
    assert_eq!(ByteEmbedding::new(&shape).err(), Some(AesError::NoBytes { degree: 7 }.into()));
}

#[test]
fn bit_sliced_aes_on_the_no_op_scheme() {
    let params = bgv(2, 32);
    let scheme = NoOp::new(&params, 1);
    // 2,880 relinearizations at depth 40 for AES-128.
    check_cipher(&scheme, &BitSliced::new(scheme.slot_shape()), 16 * 36, 16 * 18, 0, 4);
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
    let aes = BitSliced::new(scheme.slot_shape());
    let state = open(&scheme, &aes, &[[0; 16]; 16], top(&scheme)).unwrap();
    let mut keys = |_: usize, level: Level| Ok(open(&scheme, &aes, &[[0; 16]; 16], level)?);
    let mut run = |state: Vec<Open>, rounds: usize| {
        aes.encrypt(&scheme, state, KeySize::Aes128, rounds, &mut keys, &mut |_, _| Ok(())).err()
    };
    let width = AesError::Width { what: "the state", found: 127, expected: 128 };
    assert_eq!(run(state[1..].to_vec(), 1), Some(width.into()));
    assert_eq!(run(state.clone(), 11), Some(AesError::Rounds { found: 11, highest: 10 }.into()));
    // Two words are not enough for ten rounds.
    assert!(matches!(
        run(state.clone(), 10),
        Some(CircuitError::Scheme(SchemeError::NoiseOverflow { .. }))
    ));
    assert!(Aes::<NoOp>::decode(&aes, &vec![vec![1; 8]; 128]).is_err());
    let mut short = |_: usize, _: Level| Ok(Vec::new());
    let refused =
        aes.encrypt(&scheme, state, KeySize::Aes128, 0, &mut short, &mut |_, _| Ok(())).err();
    assert_eq!(
        refused,
        Some(AesError::Width { what: "a round key", found: 0, expected: 128 }.into())
    );
    let narrow = open(&scheme, &aes, &[[0; 16]; 16], top(&scheme)).unwrap().split_off(1);
    let refused = aes.sub_bytes(&scheme, narrow).err();
    assert_eq!(
        refused,
        Some(AesError::Width { what: "the state", found: 127, expected: 128 }.into())
    );
    let odd = NoOp::new(&bgv(7, 2), 1);
    assert_eq!(
        ByteSliced::new(&odd, top(&odd)).err(),
        Some(CircuitError::ModulusMismatch { expected: 2, found: 7 })
    );
}

/// Encrypts random blocks with so many rounds, and checks all of them after each round, and the
/// noise.
fn check_rounds<S: Scheme>(
    scheme: &S,
    aes: &impl Aes<S>,
    rounds: usize,
    mut encrypt: impl FnMut(&[u64], Option<(usize, Level)>) -> S::Ciphertext,
    decrypt: impl Fn(&S::Ciphertext) -> Vec<u64>,
    noise: impl Fn(&S::Ciphertext) -> f64,
) {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut expected: Vec<[u8; 16]> =
        (0..aes.blocks()).map(|_| random(&mut rng, 16).try_into().unwrap()).collect();
    let schedule = KeySchedule::new(&random(&mut rng, 16)).unwrap();
    let state = aes.encode(&expected).iter().map(|x| encrypt(x, None)).collect();
    let mut keys = |round: usize, level: Level| {
        Ok(aes
            .encode(&vec![schedule.round_keys()[round]; aes.blocks()])
            .iter()
            .map(|x| encrypt(x, Some((round, level))))
            .collect())
    };
    let mut check = |round: usize, state: &[S::Ciphertext]| {
        let key = schedule.round_keys()[round];
        for block in &mut expected {
            let mut out = (*block).into();
            match round {
                0 => out = std::array::from_fn(|i| block[i] ^ key[i]).into(),
                _ => aes::hazmat::cipher_round(&mut out, &key.into()),
            }
            *block = out.into();
        }
        let elements: Vec<_> = state.iter().map(&decrypt).collect();
        assert_eq!(aes.decode(&elements)?, expected, "round {round}");
        assert!(state.iter().all(|x| noise(x) <= scheme.noise_bound_bits(x)));
        Ok(())
    };
    aes.encrypt(scheme, state, KeySize::Aes128, rounds, &mut keys, &mut check).unwrap();
}

/// The levels of the round keys, on a scheme without values.
fn rehearse(planner: &NoOp, aes: &impl Aes<NoOp>, rounds: usize) -> Vec<Level> {
    let zero = Plaintext::encode(planner.params(), &[]).unwrap();
    let blank = |level| Ok(planner.encrypt_at(&zero, level)?);
    aes.round_key_levels(planner, blank(top(planner)).unwrap(), cipher(rounds), blank).unwrap()
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

/// Two rounds, planned on the no-op scheme, with the round keys encrypted at the levels foretold
/// there.
fn two_rounds<P: Aes<NoOp>, A: Aes<Evaluator>>(
    params: &Params,
    plan: impl Fn(&NoOp) -> P,
    aes: impl Fn(&Evaluator) -> A,
) {
    let planner = NoOp::blank(params);
    let levels = rehearse(&planner, &plan(&planner), 2);

    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let secret = SecretKey::generate(params, &mut rng);
    let scheme = Evaluator::new(
        ServerKeys::generate(&secret, &planner.key_plan(), &mut rng, |_, _| ()).unwrap(),
    );
    let encrypt = |elements: &[u64], key: Option<(usize, Level)>| {
        let level = key.map_or(params.chain().top(), |(round, level)| {
            assert_eq!(level, levels[round], "as foretold");
            level
        });
        secret
            .encrypt_at(&Plaintext::encode_elements(params, elements).unwrap(), level, &mut rng)
            .unwrap()
    };
    let decrypt = |x: &Ciphertext| secret.decrypt(x).unwrap().decode_elements(params).unwrap();
    let aes = aes(&scheme);
    let before = scheme.cost();
    check_rounds(&scheme, &aes, 2, encrypt, decrypt, |x| secret.measure_noise(x).unwrap());
    let counts = |cost: Cost| (cost.products, cost.relinearizations, cost.key_switches);
    assert_eq!(counts(scheme.cost() - before), counts(planner.cost()));
}

#[test]
fn two_rounds_with_bgv_and_ltv() {
    for params in [bgv(2, 9), ntru()] {
        two_rounds(&params, |s| BitSliced::new(s.slot_shape()), |s| BitSliced::new(s.slot_shape()));
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

#[test]
fn two_rounds_with_powers_of_a_prime() {
    let params = LtvParams::named("insecure_ltv-m255", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = LtvSecretKey::generate(&params, &mut rng);
    let powers = ByteSliced::<LtvEvaluator>::automorphisms(params.plain().unwrap().shape());
    let scheme =
        LtvEvaluator::new(LtvEvalKeys::generate(&secret, &powers, KeyForm::Evaluations, &mut rng))
            .unwrap();
    let mut encrypt = |elements: &[u64], key: Option<(usize, Level)>| {
        let level = key.map_or(params.top(), |(_, level)| level);
        secret.encrypt_at(&params.encode_elements(elements).unwrap(), level, &mut rng).unwrap()
    };
    let decrypt = |x: &LtvCiphertext| params.decode_elements(&secret.decrypt(x).unwrap()).unwrap();
    let noise = |x: &LtvCiphertext| secret.measure_noise(x).unwrap();
    check_rounds(&scheme, &BitSliced::new(scheme.slot_shape()), 2, &mut encrypt, decrypt, noise);
    check_rounds(
        &scheme,
        &ByteSliced::new(&scheme, params.top()).unwrap(),
        2,
        encrypt,
        decrypt,
        noise,
    );
    let cost = scheme.cost();
    assert_eq!((cost.products, cost.relinearizations), (2 * 16 * (36 + 4), 2 * 16 * (18 + 4)));
}
