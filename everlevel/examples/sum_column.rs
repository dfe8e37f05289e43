//! A column of 16-bit integers that its owner keeps under AES-CTR: a server takes it from AES to BGV and adds it up, without any key.
//!
//! `cargo run --release -p everlevel --example sum_column -- aes-bgv-leveled`: 15,360 integers in 1,920 blocks at 128 bits of security, some gigabytes and
//! a minute or two. Without a name a toy ring with ten blocks.
use std::error::Error;
use std::time::Instant;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use everlevel::circuit::CircuitError;
use everlevel::circuit::aes::{Aes, ByteSliced, KeySchedule, KeySize, KeySource, Mode, Transcipher};
use everlevel::circuit::integers::{ByteOrder, IntegersFromBytes};
use everlevel::circuit::sums::total_sum;
use everlevel::scheme::params;
use everlevel::{Ciphertext, Evaluator, Level, NoOp, OptIn, Params, Plaintext, Scheme, SecretKey, ServerKeys};

/// The first counter block.
const IV: [u8; 16] = *b"account 4711\0\0\0\0";

/// The server: AES-CTR undone under encryption, pairs of bytes as integers modulo 2^16, and the sum of them all in every slot.
fn balance<S: Scheme>(scheme: &S, top: Level, keys: KeySource<'_, S>, data: &[u8]) -> Result<S::Ciphertext, CircuitError> {
    let aes = ByteSliced::new(scheme, top)?;
    let integers = IntegersFromBytes::new(scheme, 2, 16, ByteOrder::Big, top)?;
    let mut run = Transcipher::new(scheme, &aes, KeySize::Aes128, Mode::ctr(&IV)?, top, keys)?;
    let bytes = run.next_batch(data, &mut |_| ())?.state;
    let mut sum: Option<S::Ciphertext> = None;
    for pair in bytes.chunks(2) {
        let column = integers.evaluate(scheme, &pair.iter().collect::<Vec<_>>())?;
        sum = Some(sum.map_or(Ok(column.clone()), |sum| scheme.add(&sum, &column))?);
    }
    total_sum(scheme, &sum.ok_or(CircuitError::Empty { what: "the column" })?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let params = match std::env::args().nth(1) {
        Some(name) => Params::named(&name, OptIn::SecureOnly)?,
        None => {
            // Insecure: a toy ring.
            let mut spec = params::spec("aes-bgv-leveled")?;
            (spec.name, spec.index) = ("insecure_sum-column".into(), 241);
            Params::new(spec, OptIn::InsecureResearch)?
        }
    };
    let top = params.chain().top();
    let mut rng = everlevel::system_rng()?;

    // Movements of an account, which its owner encrypts under AES as ever.
    let movements: Vec<i16> = (0..8 * params.slots() as i32).map(|i| (i * 7919 % 2003 - 1000) as i16).collect();
    let key = *b"an AES-128 key!!";
    let mut data: Vec<u8> = movements.iter().flat_map(|x| x.to_be_bytes()).collect();
    for (block, counter) in data.chunks_mut(16).zip(u128::from_be_bytes(IV)..) {
        let mut keystream = counter.to_be_bytes().into();
        Aes128::new(&key.into()).encrypt_block(&mut keystream);
        block.iter_mut().zip(keystream).for_each(|(x, k)| *x ^= k);
    }

    // Once: rehearsed without cryptography, the computation tells which server keys it takes, and at which levels the round keys are needed.
    let dry = NoOp::blank(&params);
    let mut levels = vec![Level(0); 11];
    let zero = Plaintext::encode(&params, &[])?;
    let mut blank = |round: usize, level: Level| {
        levels[round] = level;
        Ok(vec![dry.encrypt_at(&zero, level)?; 16])
    };
    balance(&dry, top, &mut blank, &data)?;
    let secret = SecretKey::generate(&params, &mut rng);
    let server = Evaluator::new(ServerKeys::generate(&secret, &dry.key_plan(), &mut rng, |_, _| ())?);
    let layout = ByteSliced::new(&server, top)?;
    let mut round_keys = Vec::new();
    for (round_key, level) in KeySchedule::new(&key)?.round_keys().iter().zip(&levels) {
        let slots = Aes::<Evaluator>::encode(&layout, &vec![*round_key; params.slots()]);
        let encrypt = |x: &Vec<u64>| secret.encrypt_at(&Plaintext::encode_elements(&params, x)?, *level, &mut rng);
        round_keys.push(slots.iter().map(encrypt).collect::<Result<Vec<Ciphertext>, _>>()?);
    }

    let started = Instant::now();
    let sum = balance(&server, top, &mut |round, _| Ok(round_keys[round].clone()), &data)?;
    let seconds = started.elapsed().as_secs_f64();

    let total = secret.decrypt(&sum)?.decode(&params)?[0] as u16 as i16;
    assert_eq!(i64::from(total), movements.iter().map(|x| i64::from(*x)).sum::<i64>());
    println!(
        "{} movements under AES add up to {total}: {seconds:.1} s, {:.0} bits left",
        movements.len(),
        server.capacity_bits(&sum)
    );
    Ok(())
}
