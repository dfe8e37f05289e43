//! The stages of the client.

use everlevel_bgv::{Ciphertext, CompactCiphertext, SecretKey};
use everlevel_ring::sample::{Seed, system_rng};
use everlevel_scheme::Plaintext;
use everlevel_wire::file::Existing;
use everlevel_wire::{PlacedWriter, Places, ProductResultReader};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::protocol::{
    DIGIT_BITS, DIGITS, Files, INSTANCES, OPERANDS, PART, batches, metadata, spec, use_threads,
};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{self, blocks, check_file, limited, read_key};
use crate::numbers::{Lines, Words, to_bytes};
use crate::output::{Output, make_place_for};
use crate::stage::usage;

/// Pairs that are text in memory together.
const PAIRS_AT_ONCE: u64 = 1 << 16;

/// `client_preprocess_input COUNT`: both files of text to one of words, pair by pair.
///
/// # Errors
/// Files that do not hold as many numbers below 2^64, one a line.
pub fn preprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let [count] = arguments else { return Err(usage("COUNT", arguments)) };
    let instance = Instance::of_count(&INSTANCES, count)?;
    make_place_for(&Files::of(&instance).operands)?;
    let open = |file| Lines::open(instance.dataset(file), instance.count);
    let (mut left, mut right) = (open("lhs.txt")?, open("rhs.txt")?);
    let mut out = Output::create(Files::of(&instance).operands)?;
    for _ in 0..instance.count {
        out.write(&to_bytes(&[left.number()?, right.number()?]))?;
    }
    left.finish()?;
    right.finish()?;
    out.finish()
}

/// `client_key_generation INSTANCE`: a secret key, and the parameters for the server, which gets no
/// keys.
///
/// # Errors
/// What the system refuses.
pub fn generate_key(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name] = arguments else { return Err(usage("INSTANCE", arguments)) };
    let files = Files::of(&Instance::named(&INSTANCES, name)?);
    keyless::generate_key(spec(), &files.parameters, &files.secret_key)
}

/// `client_encode_encrypt_input INSTANCE`: a ciphertext for each digit of a block of pairs.
///
/// # Errors
/// A file of another number of pairs, what the system refuses.
pub fn encrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name] = arguments else { return Err(usage("INSTANCE", arguments)) };
    let instance = Instance::named(&INSTANCES, name)?;
    let files = Files::of(&instance);
    make_place_for(&files.upload)?;
    let secret = read_key(&spec(), &files.parameters, &files.secret_key)?;
    let params = secret.params();
    let slots = params.slots();
    let blocks = blocks(&instance, slots);
    use_threads(blocks);
    let mut operands = Words::open(&files.operands, 2 * instance.count)?;
    let (path, replace, count) = (&files.upload, Existing::Replace, OPERANDS * blocks);
    let (known, places) = (metadata(&instance), Places::new(&mut system_rng()?));
    let mut upload = PlacedWriter::create(params, path, replace, count, &known, &places, PART)?;
    let mut left = instance.count as usize;
    for batch in batches(blocks) {
        let pairs = left.min(batch.len() * slots);
        left -= pairs;
        let words = Zeroizing::new(operands.read(2 * pairs)?);
        let pairs: Vec<&[u64]> = words.chunks(2 * slots).collect();
        upload.push_with(OPERANDS * batch.len(), |i, seed| {
            let (block, operand) = (i / OPERANDS, i % OPERANDS);
            encrypt_digit(&secret, pairs[block], operand / DIGITS, operand % DIGITS, seed)
        })?;
    }
    upload.finish_without_sync()?;
    Ok(())
}

/// A digit of the left or the right factors of some pairs, with the seed of its place.
fn encrypt_digit(
    secret: &SecretKey,
    pairs: &[u64],
    side: usize,
    digit: usize,
    seed: Seed,
) -> Result<Ciphertext, SuiteError> {
    let digit_of = |pair: &[u64]| pair[side] >> (DIGIT_BITS * digit as u32) & 0xffff;
    let digits = Zeroizing::new(pairs.chunks_exact(2).map(digit_of).collect::<Vec<u64>>());
    let message = Plaintext::encode(secret.params(), &digits)?;
    let top = secret.params().chain().top();
    Ok(secret.encrypt_with_seed(&message, top, seed, &mut system_rng()?)?)
}

/// `client_decrypt_decode INSTANCE COUNT`: the sums, put together to products modulo 2^64.
///
/// # Errors
/// What is not a result for this instance and key, or cannot be one.
pub fn decrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name, count] = arguments else { return Err(usage("INSTANCE COUNT", arguments)) };
    let instance = Instance::with_count(&INSTANCES, name, count)?;
    let files = Files::of(&instance);
    make_place_for(&files.products)?;
    let secret = read_key(&spec(), &files.parameters, &files.secret_key)?;
    let slots = secret.params().slots();
    let blocks = blocks(&instance, slots);
    use_threads(blocks);
    let mut sums = ProductResultReader::open(secret.params(), &files.download, limited())?;
    check_file(&metadata(&instance), sums.metadata(), sums.len(), DIGITS * blocks)?;
    let mut out = Output::create(files.products)?;
    for batch in batches(blocks) {
        let first = batch.start;
        let sums = sums.read_range(DIGITS * batch.start..DIGITS * batch.end)?;
        let block = |(i, sums): (usize, &[CompactCiphertext])| {
            let start = ((first + i) * slots) as u64;
            let pairs = (instance.count - start).min(slots as u64) as usize;
            decrypt_block(&secret, sums, start, pairs)
        };
        let products = sums.par_chunks(DIGITS).enumerate().map(block);
        for block in products.collect::<Result<Vec<_>, _>>()? {
            out.write(&to_bytes(&block))?;
        }
    }
    out.finish()
}

/// The products of the pairs of a block, of which `start` is the first one.
fn decrypt_block(
    secret: &SecretKey,
    sums: &[CompactCiphertext],
    start: u64,
    pairs: usize,
) -> Result<Zeroizing<Vec<u64>>, SuiteError> {
    let mut products = Zeroizing::new(vec![0u64; pairs]);
    for (k, sum) in sums.iter().enumerate() {
        let values = secret.decrypt_compact(sum)?.decode_decrypted(secret.params())?;
        let values = Zeroizing::new(values);
        let digit = (1u64 << DIGIT_BITS) - 1;
        let largest = (k as u64 + 1) * digit * digit;
        for (place, (product, &found)) in products.iter_mut().zip(values.iter()).enumerate() {
            if found > largest {
                return Err(SuiteError::Result {
                    place: format!("pair {}", start + place as u64),
                    expected: format!("a sum of digits' products up to {largest}"),
                    found,
                });
            }
            *product = product.wrapping_add(found << (DIGIT_BITS * k as u32));
        }
    }
    Ok(products)
}

/// `client_postprocess INSTANCE COUNT`: the products as text.
///
/// # Errors
/// A file of another number of products.
pub fn postprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name, count] = arguments else { return Err(usage("INSTANCE COUNT", arguments)) };
    let instance = Instance::with_count(&INSTANCES, name, count)?;
    let files = Files::of(&instance);
    make_place_for(&files.output)?;
    let mut products = Words::open(&files.products, instance.count)?;
    let mut out = Output::create(files.output)?;
    let mut left = instance.count;
    while left > 0 {
        let next = left.min(PAIRS_AT_ONCE);
        left -= next;
        let lines: String =
            products.read(next as usize)?.iter().map(|product| format!("{product}\n")).collect();
        out.write(lines.as_bytes())?;
    }
    out.finish()
}
