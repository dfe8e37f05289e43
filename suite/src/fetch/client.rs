//! The stages of the client that are about the database, keys and results.

use everlevel_bgv::{Ciphertext, SecretKey};
use everlevel_ring::sample::{Seed, system_rng};
use everlevel_scheme::{Level, Plaintext};
use everlevel_wire::file::{Existing, read_file};
use everlevel_wire::{PlacedWriter, Places, results};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::circuit::{BESIDE, Search, accumulators, folds, stride};
use super::diagonals::Diagonals;
use super::matches::{Layout, Sums, resolve, total};
use super::protocol::{
    Files, PAYLOAD, PAYLOAD_LEVEL, PAYLOADS, ROWS, Task, Workload, metadata, result_metadata,
};
use super::rounding::{Rotation, check};
use crate::error::SuiteError;
use crate::keyless::{batches, check_file, limited};
use crate::keys::{self, read_secret};
use crate::numbers::{Bytes, Words, to_bytes};
use crate::output::{Output, make_place_for};

/// Diagonals that are encrypted together, or as many as there are threads.
const AT_ONCE: usize = 16;
/// Rows that are rounded together.
const ROWS_AT_ONCE: usize = 1 << 12;

/// `client_preprocess_dataset SIZE ...`: a secret rotation, and rows as small integers, a byte
/// each.
///
/// # Errors
/// A file that does not hold as many unit vectors of floats.
pub fn preprocess_database(arguments: &[&str]) -> Result<(), SuiteError> {
    let (workload, _) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    // What was rotated otherwise goes with it.
    let old = [&files.rounded_rows, &files.database, &files.rounded_query, &files.encrypted_query];
    old.into_iter().try_for_each(|path| make_place_for(path))?;
    let (count, dimension) = (workload.instance.count, workload.dimension);
    let mut rows = Bytes::open(&files.rows, 4 * count * dimension as u64)?;
    let rotation = Rotation::random(dimension, &mut system_rng()?);
    rotation.write(&files.rotation)?;
    let mut out = Output::create(files.rounded_rows)?;
    for first in (0..count).step_by(ROWS_AT_ONCE) {
        let together = (count - first).min(ROWS_AT_ONCE as u64) as usize;
        let floats = floats(&rows.read(4 * dimension * together)?);
        let rounded = floats.par_chunks(dimension).map(|row| rotation.round(row));
        let rounded = rounded.collect::<Result<Vec<_>, _>>();
        let rounded = rounded.map_err(|(expected, found)| rows.unexpected(expected, found))?;
        let bytes = rounded.iter().flat_map(|row| row.iter().map(|x| *x as u8));
        out.write(&Zeroizing::new(bytes.collect::<Vec<_>>()))?;
    }
    out.finish()
}

/// Numbers of a file of floats, the lowest byte first.
pub(super) fn floats(bytes: &[u8]) -> Zeroizing<Vec<f32>> {
    let (words, _) = bytes.as_chunks::<4>();
    Zeroizing::new(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
}

/// `client_key_generation SIZE ...`: a secret key, and the server's keys for what is asked.
///
/// # Errors
/// What the system refuses.
pub fn generate_keys(arguments: &[&str]) -> Result<(), SuiteError> {
    let (workload, task) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    let params = workload.params()?;
    let plan = Search::new(&params, &workload)?.key_plan(&params, task)?;
    let known = metadata(&workload.instance);
    keys::generate(&params, &plan, &known, &files.secret_key, &files.server_keys)
}

/// `client_encode_encrypt_db SIZE ...`: the diagonals of each chunk of rows, as many as there are
/// coordinates, in the order in which they are multiplied, and a ciphertext for each number of
/// payloads if they are asked.
///
/// # Errors
/// Rows that are not those of `client_preprocess_dataset`, payloads of other numbers than 0 to
/// 32767.
pub fn encrypt_database(arguments: &[&str]) -> Result<(), SuiteError> {
    let (workload, task) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    for path in [&files.database, &files.encrypted_payloads] {
        make_place_for(path)?;
    }
    let params = workload.params()?;
    let secret = read_secret(&params, &files.secret_key)?;
    let diagonals = Diagonals::new(&params, &workload)?;
    let (slots, dimension) = (params.slots(), workload.dimension);
    let chunks = workload.chunks(slots);
    let known = metadata(&workload.instance);
    let (replace, top) = (Existing::Replace, params.chain().top());
    let length = workload.instance.count * dimension as u64;
    let mut rows = Bytes::open(&files.rounded_rows, length)?;
    let places = Places::new(&mut system_rng()?);
    let (path, count) = (&files.database, dimension * chunks);
    let mut out = PlacedWriter::create(&params, path, replace, count, &known, &places, ROWS)?;
    for chunk in 0..chunks {
        let bytes = rows.read(dimension * workload.rows_of(chunk, slots))?;
        let bytes: Zeroizing<Vec<i8>> = Zeroizing::new(bytes.iter().map(|x| *x as i8).collect());
        if !bytes.chunks(dimension).all(check) {
            return Err(rows.unexpected("rounded unit vectors", "others"));
        }
        for ranks in batches(dimension, AT_ONCE) {
            out.push_with(ranks.len(), |i, seed| {
                encrypt(&secret, diagonals.of_rows(ranks.start + i, &bytes), top, seed)
            })?;
        }
    }
    out.finish_without_sync()?;
    if task == Task::Count {
        return Ok(());
    }
    let each = 2 * PAYLOAD;
    let mut payloads = Bytes::open(&files.payloads, workload.instance.count * each as u64)?;
    let (path, count) = (&files.encrypted_payloads, PAYLOAD * chunks);
    let mut out = PlacedWriter::create(&params, path, replace, count, &known, &places, PAYLOADS)?;
    for chunk in 0..chunks {
        let bytes = payloads.read(each * workload.rows_of(chunk, slots))?;
        let (words, _) = bytes.as_chunks::<2>();
        if let Some(word) = words.iter().find(|word| i16::from_le_bytes(**word) < 0) {
            let found = i16::from_le_bytes(*word).to_string();
            return Err(payloads.unexpected(format!("numbers from 0 to {}", i16::MAX), found));
        }
        out.push_with(PAYLOAD, |number, seed| {
            let column = words.iter().skip(number).step_by(PAYLOAD);
            let column = column.map(|word| i64::from(i16::from_le_bytes(*word)));
            encrypt(&secret, column, Level(PAYLOAD_LEVEL), seed)
        })?;
    }
    out.finish_without_sync()?;
    Ok(())
}

/// A number for each row of a chunk, at a level, with the seed of its place.
fn encrypt(
    secret: &SecretKey,
    values: impl Iterator<Item = i64>,
    level: Level,
    seed: Seed,
) -> Result<Ciphertext, SuiteError> {
    let values = Zeroizing::new(values.collect::<Vec<_>>());
    let message = Plaintext::encode_signed(secret.params(), &values)?;
    Ok(secret.encrypt_with_seed(&message, level, seed, &mut system_rng()?)?)
}

/// How many sums there are in the results.
fn fields(chunks: usize, task: Task) -> usize {
    match task {
        Task::Count => 1,
        Task::Fetch => (BESIDE + PAYLOAD) * accumulators(chunks),
    }
}

/// `client_decrypt_decode SIZE ...`: the sums, slot by slot.
///
/// # Errors
/// What is not a result for this instance, task and key.
pub fn decrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let (workload, task) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.sums)?;
    let params = workload.params()?;
    let secret = read_secret(&params, &files.secret_key)?;
    let options = limited();
    let bytes = read_file(&files.download, options.max_bytes)?;
    let (found, known) = results::from_bytes(&params, &bytes, &options)?;
    let wanted = result_metadata(&workload.instance, task);
    check_file(&wanted, &known, found.len(), fields(workload.chunks(params.slots()), task))?;
    let decrypted = found
        .par_iter()
        .map(|sum| secret.decrypt_compact(sum)?.decode_decrypted(&params).map(Zeroizing::new));
    let decrypted = decrypted.collect::<Result<Vec<_>, _>>()?;
    let mut out = Output::create(files.sums)?;
    decrypted.iter().try_for_each(|values| out.write(&to_bytes(values)))?;
    out.finish()
}

/// `client_postprocess SIZE ...`: the number of matches, in eight bytes, or their payloads, sorted.
///
/// # Errors
/// Sums that no honest server sends; matches that cannot be told apart (`suite.collision`).
pub fn postprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let (workload, task) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.output)?;
    let params = workload.params()?;
    let (slots, columns) = (params.slots(), params.slot_shape().columns());
    let layout = Layout {
        columns,
        slots,
        chunks: workload.chunks(slots),
        rows: workload.instance.count,
        stride: stride(columns),
        modulus: params.plain_modulus(),
    };
    let fields = fields(layout.chunks, task);
    let mut words = Words::open(&files.sums, (slots * fields) as u64)?;
    let sums = (0..fields).map(|_| words.read(slots)).collect::<Result<Vec<_>, _>>()?;
    // What is added up afterwards does not overflow.
    if let Some(large) = sums.iter().flatten().find(|word| **word >= layout.modulus) {
        return Err(words.unexpected(format!("words below {}", layout.modulus), large.to_string()));
    }
    let mut out = Output::create(files.output)?;
    match task {
        Task::Count => {
            let count = total(&sums[0], &layout, 1 << folds(&params, &workload))?;
            out.write(&count.to_le_bytes())?;
        }
        Task::Fetch => {
            let sums: Sums = sums.chunks(BESIDE + PAYLOAD).map(<[_]>::to_vec).collect();
            let mut payloads = resolve(sums, &layout)?;
            payloads.sort_unstable();
            let bytes = payloads.iter().flatten().flat_map(|x| x.to_le_bytes());
            out.write(&bytes.collect::<Vec<u8>>())?;
        }
    }
    out.finish()
}
