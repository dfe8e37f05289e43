//! What the tests of AES share.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use everlevel_aes::{
    Aes, Batch, ByteSliced, Direction, KeySchedule, Layout, Mode, RoundKeys, Transcipher,
};
use everlevel_scheme::params::{Family, SecretKind};
use everlevel_scheme::plain::Open;
use everlevel_scheme::{Level, NoOp, OptIn, Params, ParamsSpec, Plaintext, SchemeError};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

/// 16 slots of degree 8, and levels for the whole cipher.
pub fn ntru() -> Params {
    Params::named("insecure_ltv-2-m255", OptIn::InsecureResearch).unwrap()
}

/// The same ring for BGV, with so many words.
pub fn bgv(p: u64, words: usize) -> Params {
    let name = format!("insecure_aes-{p}");
    let spec = ParamsSpec {
        name,
        plain_prime: p,
        words,
        family: Family::Rlwe,
        secret: SecretKind::UniformTernary,
        ..ntru().spec().clone()
    };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Four lines of 16 slots of degree 48, with so many words.
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

/// A state in the clear: one block a slot.
pub fn open<A: Aes<NoOp>>(
    scheme: &NoOp,
    aes: &A,
    blocks: &[[u8; 16]],
    level: Level,
) -> Result<Vec<Open>, SchemeError> {
    let params = scheme.params();
    let plain =
        |values: &Vec<u64>| scheme.encrypt_at(&Plaintext::encode_elements(params, values)?, level);
    aes.encode(blocks).iter().map(plain).collect()
}

pub fn close<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, state: &[Open]) -> Vec<[u8; 16]> {
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

pub const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";

pub const KEY_192: &str = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b";

pub const KEY_256: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";

/// The plaintext of SP 800-38A, appendix F.
pub const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

/// SP 800-38A, F.1 (ECB): the ciphertexts of [`PLAIN`].
pub const ECB: [[&str; 2]; 3] = [
    [
        KEY_128,
        "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
    ],
    [
        KEY_192,
        "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eefef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e",
    ],
    [
        KEY_256,
        "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
    ],
];

/// SP 800-38A, F.2 (CBC), with the vector 00 01 .. 0f.
pub const CBC: [[&str; 2]; 3] = [
    [
        KEY_128,
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
    ],
    [
        KEY_192,
        "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
    ],
    [
        KEY_256,
        "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
    ],
];

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
pub fn key_bytes(scheme: &NoOp, aes: &ByteSliced<NoOp>, key: &[u8]) -> Vec<Open> {
    let one = |byte: &u8| {
        open(scheme, aes, &vec![[*byte; 16]; aes.blocks()], top(scheme)).unwrap().swap_remove(0)
    };
    key.iter().map(one).collect()
}
