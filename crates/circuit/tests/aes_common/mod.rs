//! What the tests of AES share.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use everlevel_circuit::aes::{Aes, Direction};
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
pub fn open<A: Aes<NoOp>>(scheme: &NoOp, aes: &A, blocks: &[[u8; 16]], level: Level) -> Result<Vec<Open>, SchemeError> {
    let params = scheme.params();
    let plain = |values: &Vec<u64>| scheme.encrypt_at(&Plaintext::encode_elements(params, values)?, level);
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
