//! The stages of the client.

use everlevel_bgv::{Ciphertext, CompactCiphertext, SecretKey};
use everlevel_ring::sample::{Seed, system_rng};
use everlevel_scheme::Plaintext;
use everlevel_wire::file::Existing;
use everlevel_wire::{PlacedWriter, Places, ProductResultReader};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::points::{self, DIGIT_BITS, Interpolation, POINTS, largest};
use super::protocol::{Files, INSTANCES, Layout, PART, batches, metadata, spec, use_threads};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{self, check_file, limited, read_key};
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

/// `client_encode_encrypt_input INSTANCE`: a ciphertext for each digit of a block of pairs, or for
/// the values of each of their sides.
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
    let layout = Layout::of(&instance, params.slots());
    let (each, of_block) = (layout.operands(), layout.pairs(params.slots()));
    let blocks = layout.blocks(&instance, params.slots());
    use_threads(layout, blocks);
    let mut operands = Words::open(&files.operands, 2 * instance.count)?;
    let (path, replace, count) = (&files.upload, Existing::Replace, each * blocks);
    let (known, places) = (metadata(&instance), Places::new(&mut system_rng()?));
    let mut upload = PlacedWriter::create(params, path, replace, count, &known, &places, PART)?;
    let mut left = instance.count as usize;
    for batch in batches(blocks) {
        let pairs = left.min(batch.len() * of_block);
        left -= pairs;
        let words = Zeroizing::new(operands.read(2 * pairs)?);
        let pairs: Vec<&[u64]> = words.chunks(2 * of_block).collect();
        upload.push_with(each * batch.len(), |i, seed| {
            encrypt_operand(&secret, layout, pairs[i / each], i % each, seed)
        })?;
    }
    upload.finish_without_sync()?;
    Ok(())
}

/// An operand of some pairs, with the seed of its place: a digit, or the values, of the left or the
/// right factors.
fn encrypt_operand(
    secret: &SecretKey,
    layout: Layout,
    pairs: &[u64],
    operand: usize,
    seed: Seed,
) -> Result<Ciphertext, SuiteError> {
    let each = layout.operands() / 2;
    let (side, digit) = (operand / each, operand % each);
    let factors = pairs.chunks_exact(2).map(|pair| pair[side]);
    let values: Vec<u64> = match layout {
        Layout::Digits => factors.map(|x| x >> (DIGIT_BITS * digit as u32) & 0xffff).collect(),
        Layout::Points => factors.flat_map(points::values).collect(),
    };
    let values = Zeroizing::new(values);
    let message = Plaintext::encode(secret.params(), &values)?;
    let top = secret.params().chain().top();
    Ok(secret.encrypt_with_seed(&message, top, seed, &mut system_rng()?)?)
}

/// `client_decrypt_decode INSTANCE COUNT`: the sums, or what the values determine, put together to
/// products modulo 2^64.
///
/// # Errors
/// What is not a result for this instance and key, or cannot be one.
pub fn decrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name, count] = arguments else { return Err(usage("INSTANCE COUNT", arguments)) };
    let instance = Instance::with_count(&INSTANCES, name, count)?;
    let files = Files::of(&instance);
    make_place_for(&files.products)?;
    let secret = read_key(&spec(), &files.parameters, &files.secret_key)?;
    let params = secret.params();
    let layout = Layout::of(&instance, params.slots());
    let (each, of_block) = (layout.sums(), layout.pairs(params.slots()));
    let blocks = layout.blocks(&instance, params.slots());
    use_threads(layout, blocks);
    let interpolation = match layout {
        Layout::Digits => None,
        Layout::Points => Some(Interpolation::new(params.plain_modulus())?),
    };
    let mut sums = ProductResultReader::open(params, &files.download, limited())?;
    check_file(&metadata(&instance), sums.metadata(), sums.len(), each * blocks)?;
    let mut out = Output::create(files.products)?;
    for batch in batches(blocks) {
        let first = batch.start;
        let sums = sums.read_range(each * batch.start..each * batch.end)?;
        let block = |(i, sums): (usize, &[CompactCiphertext])| {
            let start = ((first + i) * of_block) as u64;
            let pairs = (instance.count - start).min(of_block as u64) as usize;
            match &interpolation {
                None => decrypt_digits(&secret, sums, start, pairs),
                Some(interpolation) => {
                    decrypt_points(&secret, interpolation, &sums[0], start, pairs)
                }
            }
        };
        let products = sums.par_chunks(each).enumerate().map(block);
        for block in products.collect::<Result<Vec<_>, _>>()? {
            out.write(&to_bytes(&block))?;
        }
    }
    out.finish()
}

/// Passes what can be coefficient k of a product of polynomials of digits.
fn check_sum(pair: u64, k: usize, found: u64) -> Result<(), SuiteError> {
    if found <= largest(k) {
        return Ok(());
    }
    Err(SuiteError::Result {
        place: format!("pair {pair}"),
        expected: format!("a sum of digits' products up to {}", largest(k)),
        found,
    })
}

/// The products of the pairs of a block, of which `start` is the first one, from their values.
fn decrypt_points(
    secret: &SecretKey,
    interpolation: &Interpolation,
    products: &CompactCiphertext,
    start: u64,
    pairs: usize,
) -> Result<Zeroizing<Vec<u64>>, SuiteError> {
    let values = secret.decrypt_compact(products)?.decode_decrypted(secret.params())?;
    let values = Zeroizing::new(values);
    let mut out = Zeroizing::new(Vec::with_capacity(pairs));
    for (pair, values) in (start..).zip(values.as_chunks::<POINTS>().0.iter().take(pairs)) {
        let mut product = 0u64;
        for (k, found) in interpolation.coefficients(values).into_iter().enumerate() {
            check_sum(pair, k, found)?;
            // What is shifted out is a multiple of 2^64.
            let place = found.checked_shl(DIGIT_BITS * k as u32).unwrap_or(0);
            product = product.wrapping_add(place);
        }
        out.push(product);
    }
    Ok(out)
}

/// The same from the sums of products of digits.
fn decrypt_digits(
    secret: &SecretKey,
    sums: &[CompactCiphertext],
    start: u64,
    pairs: usize,
) -> Result<Zeroizing<Vec<u64>>, SuiteError> {
    let mut products = Zeroizing::new(vec![0u64; pairs]);
    for (k, sum) in sums.iter().enumerate() {
        let values = secret.decrypt_compact(sum)?.decode_decrypted(secret.params())?;
        let values = Zeroizing::new(values);
        for (pair, (product, &found)) in (start..).zip(products.iter_mut().zip(values.iter())) {
            check_sum(pair, k, found)?;
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
