//! Ways of evaluation against known answers and another implementation, on the no-op scheme.

use everlevel_aes::{Aes, Direction, KeySchedule, KeySize, KeySource, Mode, Packed, RoundKeys};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::*;

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
pub fn check_cipher<A: Aes<NoOp>>(
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
        }
    }
}

/// SubBytes by its definition: the inverse found by trying, and the bits of FIPS-197's equation
/// (5.1).
pub fn sub_byte(x: u8) -> u8 {
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

/// Known answers of decryption, random blocks under random keys, and the counts, which are those of
/// encryption.
pub fn check_decryption<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    products: u64,
    key_switches: u64,
    depth_of_round: u32,
) {
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
        assert_eq!(depth, rounds * depth_of_round);
    }
}

/// Checks the state after every round of the decryption of FIPS-197, C.1.
pub fn check_every_round_of_decryption<A: Aes<NoOp>>(scheme: &NoOp, aes: &A) {
    let [key, plain, cipher] = BLOCKS[1];
    let keys = round_keys(scheme, aes, &hex(key), top(scheme));
    let state = open(scheme, aes, &vec![block(cipher); aes.blocks()], top(scheme)).unwrap();
    let mut seen = 0;
    let mut observer = |round: usize, state: &[NoOpCiphertext]| {
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

/// Known answers of modes, and SP 800-38A's of ECB in both directions: in each of them with
/// `sizes` of the three sizes of the key, beginning with another one.
pub fn check_modes<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, sizes: usize) {
    let counting: Vec<u8> = (0..16).collect();
    let f0: Vec<u8> = (0xf0..=0xff).collect();
    let gcm_iv = hex("cafebabefacedbaddecaf888");
    let families: [(_, &str, Mode); 4] = [
        (ECB, PLAIN, Mode::ecb()),
        (CBC, PLAIN, Mode::cbc(&counting).unwrap()),
        (CTR, PLAIN, Mode::ctr(&f0).unwrap()),
        (GCM, GCM_PLAIN, Mode::gcm(&gcm_iv).unwrap()),
    ];
    for (i, (answers, plain, mode)) in families.into_iter().enumerate() {
        for [key, cipher] in answers.iter().cycle().skip(i).take(sizes) {
            let keys = round_keys(scheme, aes, &hex(key), top(scheme));
            assert_eq!(
                transcipher(scheme, aes, &keys, mode.clone(), &hex(cipher), 23),
                hex(plain),
                "{mode:?}, {key}"
            );
        }
    }
    for [key, cipher] in ECB.iter().cycle().skip(1).take(sizes) {
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

/// Checks the blocks of FIPS-197, C.1, after some rounds with keys that come from elsewhere.
pub fn check_with_keys<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    rounds: usize,
    expected: &str,
    source: KeySource<'_, NoOp>,
) {
    let plain = vec![block("00112233445566778899aabbccddeeff"); aes.blocks()];
    let state = open(scheme, aes, &plain, top(scheme)).unwrap();
    let out =
        aes.encrypt(scheme, state, KeySize::Aes128, rounds, source, &mut |_, _| Ok(())).unwrap();
    assert!(close(scheme, aes, &out).into_iter().all(|x| x == block(expected)));
}

/// A key schedule, with a ciphertext for each round key.
pub fn packed_keys(scheme: &NoOp, packed: &Packed<NoOp>) -> (KeySchedule, RoundKeys<NoOp>) {
    let schedule = KeySchedule::new(&hex("000102030405060708090a0b0c0d0e0f")).unwrap();
    let keys = schedule
        .round_keys()
        .iter()
        .map(|key| open(scheme, packed, &[*key; 4], top(scheme)).unwrap())
        .collect();
    let keys = RoundKeys::new(schedule.size(), keys).unwrap();
    (schedule, keys)
}
