//! What the tests of AES share. Nothing here refers to the rest of this binary, so that the tests
//! of other ways of evaluation can include it.

pub mod answers;
pub mod rounds;
mod vectors;

use std::sync::LazyLock;

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use everlevel_aes::{
    Aes, Batch, ByteSliced, Cipher, Direction, KeySchedule, KeySize, Layout, Mode, RoundKeys,
    Transcipher,
};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::spec::{Assumption, SecretKind};
use everlevel_scheme::{Level, NoOp, OptIn, Params, ParamsSpec, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

pub use vectors::*;

/// The set of 128 bits for the whole cipher, made once for all tests.
pub fn leveled() -> Params {
    static SET: LazyLock<Params> =
        LazyLock::new(|| Params::named("aes-bgv-leveled", OptIn::SecureOnly).unwrap());
    SET.clone()
}

/// 16 slots of degree 8, and levels for the whole cipher.
pub fn ntru() -> Params {
    Params::named("insecure_ltv-2-m255", OptIn::InsecureResearch).unwrap()
}

/// The same ring for BGV, with a modulus of `words` words.
pub fn bgv(p: u64, words: usize) -> Params {
    let name = format!("insecure_aes-{p}");
    let spec = ParamsSpec {
        name,
        plain_prime: p,
        words,
        assumption: Assumption::Rlwe,
        secret: SecretKind::UniformTernary,
        ..ntru().spec().clone()
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Four lines of 16 slots of degree 48, with a modulus of `words` words.
pub fn lines(words: usize) -> Params {
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    Params::new(ParamsSpec { words, ..params.spec().clone() }, OptIn::InsecureResearch).unwrap()
}

pub fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

pub fn block(text: &str) -> [u8; 16] {
    hex(text).try_into().unwrap()
}

pub fn random(rng: &mut ChaCha20Rng, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// The first rounds of AES-128.
pub fn cipher(rounds: usize) -> Cipher {
    Cipher::new(KeySize::Aes128, Direction::Encrypt).reduced(rounds)
}

/// A state in the clear: one block a slot.
pub fn open<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    blocks: &[[u8; 16]],
    level: Level,
) -> Result<Vec<NoOpCiphertext>, SchemeError> {
    let params = scheme.params();
    let plain =
        |values: &Vec<u64>| scheme.encrypt_at(&Plaintext::encode_elements(params, values)?, level);
    aes.encode(blocks).iter().map(plain).collect()
}

pub fn close<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, state: &[NoOpCiphertext]) -> Vec<[u8; 16]> {
    let elements = |x| scheme.decrypt(x).unwrap().decode_elements(scheme.params()).unwrap();
    aes.decode(&state.iter().map(elements).collect::<Vec<_>>()).unwrap()
}

pub fn top(scheme: &NoOp) -> Level {
    scheme.params().chain().top()
}

/// What another implementation says.
pub fn oracle(key: &[u8], input: [u8; 16], direction: Direction) -> [u8; 16] {
    fn apply<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>(
        key: &[u8],
        input: [u8; 16],
        direction: Direction,
    ) -> [u8; 16] {
        let cipher = C::new_from_slice(key).unwrap();
        let mut block = aes::cipher::Block::<C>::try_from(&input[..]).unwrap();
        match direction {
            Direction::Encrypt => cipher.encrypt_block(&mut block),
            Direction::Decrypt => cipher.decrypt_block(&mut block),
        }
        block[..].try_into().unwrap()
    }
    match key.len() {
        16 => apply::<Aes128>(key, input, direction),
        24 => apply::<Aes192>(key, input, direction),
        _ => apply::<Aes256>(key, input, direction),
    }
}

/// Round keys in the clear at a level.
pub fn round_keys<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    key: &[u8],
    level: Level,
) -> RoundKeys<NoOp> {
    let schedule = KeySchedule::new(key).unwrap();
    let encrypted = |key: &[u8; 16]| open(scheme, aes, &vec![*key; aes.blocks()], level).unwrap();
    RoundKeys::new(schedule.size(), schedule.round_keys().iter().map(encrypted).collect()).unwrap()
}

/// Transciphers `data`, in pieces, and reads the results.
pub fn transcipher<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    keys: &RoundKeys<NoOp>,
    mode: Mode,
    data: &[u8],
    piece: usize,
) -> Vec<u8> {
    let mut source = keys.source(scheme);
    let mut run =
        Transcipher::new(scheme, aes, keys.size(), mode, top(scheme), &mut source).unwrap();
    let (mut plain, mut calls) = (Vec::new(), Vec::new());
    run.run(data.chunks(piece), &mut |p| calls.push(p), |batch| {
        assert_eq!(batch.offset, plain.len() as u64);
        plain.extend(read(scheme, aes.layout(), &batch));
        Ok(())
    })
    .unwrap();
    assert_eq!(run.offset(), data.len() as u64);
    let (rounds, capacity) = (keys.size().rounds(), aes.layout().capacity());
    let expected = (0..data.len())
        .step_by(capacity)
        .flat_map(|at| (0..=rounds).map(move |round| (at as u64, round)));
    assert!(
        calls.iter().map(|p| (p.offset, p.round)).eq(expected)
            && calls.iter().all(|p| p.rounds == rounds)
    );
    plain
}

/// What the owner of the key does.
pub fn read(scheme: &NoOp, layout: &Layout, batch: &Batch<NoOp>) -> Vec<u8> {
    layout.bytes(&elements(scheme, batch), batch.length).unwrap()
}

pub fn elements(scheme: &NoOp, batch: &Batch<NoOp>) -> Vec<Vec<u64>> {
    batch
        .state
        .iter()
        .map(|x| scheme.decrypt(x).unwrap().decode_elements(scheme.params()).unwrap())
        .collect()
}

/// Modes in plain, by their definitions: counters as integers, the previous block in CBC.
pub fn encrypt_plain(key: &[u8], mode: &str, iv: [u8; 16], data: &[u8]) -> Vec<u8> {
    let (mut chain, mut out) = (iv, Vec::new());
    for piece in data.chunks(16) {
        match mode {
            "ctr" => {
                let stream = oracle(key, chain, Direction::Encrypt);
                out.extend(piece.iter().zip(stream).map(|(x, s)| x ^ s));
                chain = (u128::from_be_bytes(chain) + 1).to_be_bytes();
            }
            "cbc" => {
                chain =
                    oracle(key, std::array::from_fn(|i| piece[i] ^ chain[i]), Direction::Encrypt);
                out.extend(chain);
            }
            _ => out.extend(oracle(key, piece.try_into().unwrap(), Direction::Encrypt)),
        }
    }
    out
}

pub fn two_modes() -> [Mode; 2] {
    [Mode::ctr(&[0x5a; 16]).unwrap(), Mode::cbc(&[0xa5; 16]).unwrap()]
}

/// The bytes of an encrypted key, each in all slots of a ciphertext.
pub fn key_bytes(scheme: &NoOp, aes: &ByteSliced<NoOp>, key: &[u8]) -> Vec<NoOpCiphertext> {
    let one = |byte: &u8| {
        open(scheme, aes, &vec![[*byte; 16]; aes.blocks()], top(scheme)).unwrap().swap_remove(0)
    };
    key.iter().map(one).collect()
}
