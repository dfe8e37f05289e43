//! States that have columns in common, on the no-op scheme.

use everlevel_aes::{Aes, Direction, KeySize, Packed, RoundKeys, SharedColumns, SharedRounds};
use everlevel_scheme::{Arithmetic, NoOp, Plaintext};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::common::answers::packed_keys;
use crate::common::{close, hex, lines, oracle, random, top};

/// The bytes that ShiftRows brings to column 0.
const FIRST: [usize; 4] = [0, 5, 10, 15];

fn blocks(rng: &mut ChaCha20Rng) -> Vec<[u8; 16]> {
    (0..4).map(|_| random(rng, 16).try_into().unwrap()).collect()
}

/// The blocks of `others` with the first column, after ShiftRows, of `first`.
fn joined(first: &[[u8; 16]], others: &[[u8; 16]]) -> Vec<[u8; 16]> {
    let block = |(first, others): (&[u8; 16], &[u8; 16])| {
        let mut block = *others;
        FIRST.iter().for_each(|i| block[*i] = first[*i]);
        block
    };
    first.iter().zip(others).map(block).collect()
}

#[test]
fn states_with_common_columns_are_those_of_their_own() {
    let scheme = NoOp::new(&lines(20), 1);
    let level = top(&scheme);
    let packed = Packed::new(&scheme, level).unwrap();
    let rounds = SharedRounds::new(&scheme, level).unwrap();
    // Each key at the level at which it is needed.
    let blank = |level| Ok(scheme.encrypt_at(&Plaintext::encode(scheme.params(), &[])?, level)?);
    let levels = rounds.key_levels(&scheme, &packed, KeySize::Aes128, level, blank).unwrap();
    assert!(levels.windows(2).all(|pair| pair[0] >= pair[1]) && levels[0] == level);
    let keys = packed_keys(&scheme, &packed).1;
    let lowered: Vec<_> = keys
        .keys()
        .iter()
        .zip(levels)
        .map(|(key, level)| vec![scheme.mod_switch_to(&key[0], level).unwrap()])
        .collect();
    let keys = RoundKeys::new(KeySize::Aes128, lowered).unwrap();

    let mut rng = ChaCha20Rng::seed_from_u64(21);
    let (firsts, others) = ([(); 2].map(|()| blocks(&mut rng)), [(); 3].map(|()| blocks(&mut rng)));
    let mut states: Vec<Vec<[u8; 16]>> =
        others.iter().flat_map(|y| firsts.iter().map(move |x| joined(x, y))).collect();
    // One that has nothing in common with them, and one that differs from another in a byte.
    states.push(blocks(&mut rng));
    let mut near = states[1].clone();
    near[3][10] ^= 1;
    states.push(near);
    let shared = SharedColumns::of(&states);
    assert_eq!((shared.states(), shared.bases()), (8, 4));
    let before = scheme.cost();
    let found = rounds.encrypt(&scheme, &packed, &shared, level, &keys).unwrap();
    let cost = scheme.cost() - before;
    // Bases: the first round, and all of the second but three automorphisms.
    assert_eq!(cost.key_switches, 4 * 31 + 8 * (3 + 8 * 17));
    assert_eq!((cost.products, cost.relinearizations), (4 * 8 + 8 * 32, 4 * 8 + 8 * 32));
    let key = hex("000102030405060708090a0b0c0d0e0f");
    for (state, found) in states.iter().zip(&found) {
        let wanted: Vec<_> = state.iter().map(|x| oracle(&key, *x, Direction::Encrypt)).collect();
        assert_eq!(close(&scheme, &packed, std::slice::from_ref(found)), wanted);
    }
}

#[test]
fn bases_are_as_many_as_the_part_with_more_patterns() {
    let mut rng = ChaCha20Rng::seed_from_u64(22);
    assert_eq!(SharedColumns::of(&[]).bases(), 0);
    let one = blocks(&mut rng);
    assert_eq!(SharedColumns::of(&vec![one.clone(); 3]).bases(), 1);
    for byte in 0..16 {
        let mut other = one.clone();
        other[2][byte] ^= 0x80;
        let states = [one.clone(), other.clone(), one.clone(), other];
        let shared = SharedColumns::of(&states);
        assert_eq!((shared.states(), shared.bases()), (4, 2), "{byte}");
    }
    // Counters, by their last byte and the one before.
    let counters = |low: u8, high: u8| {
        let block = |place: u8| {
            let mut block = [7; 16];
            (block[14], block[15]) = (high, low.wrapping_mul(4).wrapping_add(place));
            block
        };
        (0..4).map(block).collect::<Vec<_>>()
    };
    let states: Vec<_> = (0..6).flat_map(|x| (0..9).map(move |y| counters(x, y))).collect();
    let shared = SharedColumns::of(&states);
    assert_eq!((shared.states(), shared.bases()), (54, 9));
}

#[test]
fn more_blocks_than_places() {
    let scheme = NoOp::new(&lines(7), 1);
    let level = top(&scheme);
    let packed = Packed::new(&scheme, level).unwrap();
    let rounds = SharedRounds::new(&scheme, level).unwrap();
    let keys = packed_keys(&scheme, &packed).1;
    let many = SharedColumns::of(&[vec![[0; 16]; packed.blocks() + 1]]);
    let refused = rounds.encrypt(&scheme, &packed, &many, level, &keys).err().unwrap();
    assert_eq!(refused.code(), "aes.batch-length");
    let none = rounds.encrypt(&scheme, &packed, &SharedColumns::of(&[]), level, &keys).unwrap();
    assert!(none.is_empty());
}
