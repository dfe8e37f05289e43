//! One evaluation of AES on random blocks under a random key, with every block checked.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Instant;

use ::aes::Aes128;
use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
use everlevel::lab::{Scheme, SchemeError};
use everlevel::{Cost, Level};
use everlevel_aes::{Aes, AesError, KeySchedule};
use rand_core::CryptoRng;

use super::party::Party;

type CiphertextOf<P> = <<P as Party>::Scheme as Scheme>::Ciphertext;

/// What the state was like after a round.
pub struct RoundReport {
    /// log2 of the largest noise measured.
    pub noise: f64,
    /// log2 of the largest bound on it.
    pub bound: f64,
    /// log2 of the largest modulus.
    pub modulus: f64,
}

/// What a run showed.
pub struct Outcome {
    /// Blocks encrypted.
    pub blocks: usize,
    /// Those that are wrong.
    pub wrong: usize,
    /// Seconds of the evaluation alone.
    pub seconds: f64,
    /// Seconds for the encryption of the round keys.
    pub key_seconds: f64,
    /// What was computed.
    pub cost: Cost,
    /// Products in a row.
    pub depth: u32,
    /// After the addition of the first key, and after each round.
    pub rounds: Vec<RoundReport>,
    /// The least capacity of a ciphertext of the result, in bits.
    pub capacity: f64,
}

/// The first `rounds` rounds of AES-128 as another implementation has them.
fn expected(key: &[u8; 16], schedule: &KeySchedule, block: &[u8; 16], rounds: usize) -> [u8; 16] {
    let mut out = ::aes::Block::from(*block);
    if rounds == schedule.size().rounds() {
        Aes128::new(&(*key).into()).encrypt_block(&mut out);
        return out.into();
    }
    let keys = schedule.round_keys();
    out.iter_mut().zip(keys[0]).for_each(|(x, k)| *x ^= k);
    keys[1..=rounds].iter().for_each(|key| ::aes::hazmat::cipher_round(&mut out, &(*key).into()));
    out.into()
}

/// A state of `blocks` at a level. Equal slots are encoded once: a round key has few different
/// ones.
fn encrypted<P: Party>(
    party: &P,
    aes: &impl Aes<P::Scheme>,
    blocks: &[[u8; 16]],
    level: Level,
    rng: &mut impl CryptoRng,
) -> Result<Vec<CiphertextOf<P>>, SchemeError> {
    let mut encoded = BTreeMap::new();
    let one = |elements: Vec<u64>| {
        let plain = match encoded.entry(elements) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let plain = party.encode(new.key())?;
                new.insert(plain)
            }
        };
        party.encrypt(plain, level, rng)
    };
    aes.encode(blocks).into_iter().map(one).collect()
}

/// Encrypts as many random blocks as a state holds, with `rounds` rounds; `tick` is called after
/// each.
pub fn run<P: Party>(
    party: &P,
    aes: &impl Aes<P::Scheme>,
    rounds: usize,
    rng: &mut impl CryptoRng,
    tick: &dyn Fn(),
) -> Result<Outcome, AesError> {
    let scheme = party.scheme();
    let mut random = || {
        let mut bytes = [0; 16];
        rng.fill_bytes(&mut bytes);
        bytes
    };
    let key = random();
    let blocks: Vec<[u8; 16]> = (0..aes.blocks()).map(|_| random()).collect();
    let schedule = KeySchedule::new(&key)?;
    let state = encrypted(party, aes, &blocks, party.start(), rng)?;

    let (mut key_seconds, mut watched_seconds, mut reports) = (0.0, 0.0, Vec::new());
    let mut keys = |round: usize, level: Level| {
        let started = Instant::now();
        // The evaluation asks for no round that there is not.
        let key = schedule.round_keys().get(round).copied().unwrap_or_default();
        let key = encrypted(party, aes, &vec![key; blocks.len()], level, rng)?;
        key_seconds += started.elapsed().as_secs_f64();
        Ok(key)
    };
    let mut watch = |_: usize, state: &[CiphertextOf<P>]| {
        let started = Instant::now();
        let noises = state.iter().map(|x| party.measure_noise(x)).collect::<Result<Vec<_>, _>>()?;
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        reports.push(RoundReport {
            noise: most(&mut noises.into_iter()),
            bound: most(&mut state.iter().map(|x| scheme.noise_bound_bits(x))),
            modulus: most(&mut state.iter().map(|x| party.modulus_bits(scheme.level(x)))),
        });
        tick();
        watched_seconds += started.elapsed().as_secs_f64();
        Ok(())
    };
    let before = party.cost();
    let started = Instant::now();
    let out = aes.encrypt(scheme, state, schedule.size(), rounds, &mut keys, &mut watch)?;
    let seconds = started.elapsed().as_secs_f64() - key_seconds - watched_seconds;
    let cost = party.cost() - before;

    let elements = out.iter().map(|x| party.decrypt(x)).collect::<Result<Vec<_>, _>>()?;
    let found = aes.decode(&elements)?;
    let wrong = blocks
        .iter()
        .zip(&found)
        .filter(|(block, found)| expected(&key, &schedule, block, rounds) != **found)
        .count();
    let capacity = out.iter().map(|x| scheme.capacity_bits(x)).fold(f64::INFINITY, f64::min);
    let depth = out.iter().map(|x| party.depth(x)).max().unwrap_or(0);
    Ok(Outcome {
        blocks: blocks.len(),
        wrong,
        seconds,
        key_seconds,
        cost,
        depth,
        rounds: reports,
        capacity,
    })
}
