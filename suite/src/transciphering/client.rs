//! The stages of the client.

use std::path::Path;

use everlevel_aes::{KeySchedule, Layout};
use everlevel_bgv::CompactCiphertext;
use everlevel_ring::sample::system_rng;
use everlevel_scheme::{Params, Plaintext};
use everlevel_wire::file::{Existing, read_file, write_secret_file};
use everlevel_wire::{PlacedWriter, Places, results};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::placement::Placement;
use super::protocol::{
    BITS, BLOCK, Content, Files, PART, PER_BLOCK, ROUND_KEYS, Task, Workload, metadata, read_iv,
};
use super::rehearsal::{key_levels, rehearse};
use crate::error::SuiteError;
use crate::keyless::{check_file, limited};
use crate::keys::{self, read_secret};
use crate::numbers::{Bytes, Words, read_hex, to_bytes};
use crate::output::{Output, make_place_for};

/// `client_preprocess SIZE`: the round keys of the AES key.
///
/// # Errors
/// A file that does not hold a key of 16 bytes.
pub fn preprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let files = Files::of(&Workload::of(arguments)?.instance);
    make_place_for(&files.round_keys)?;
    let schedule = KeySchedule::new(&read_hex(&files.key, BLOCK)?)?;
    let bytes = Zeroizing::new(schedule.round_keys().concat());
    Ok(write_secret_file(&files.round_keys, &bytes, Existing::Replace)?)
}

/// `client_key_generation SIZE`: a secret key, the server's keys, and the levels at which round
/// keys are needed.
///
/// # Errors
/// What the system refuses.
pub fn generate_keys(arguments: &[&str]) -> Result<(), SuiteError> {
    let workload = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    let params = workload.params()?;
    let levels = key_levels(&params, &workload)?;
    // States after the first take the same levels and keys.
    let plan = rehearse(&params, &workload, &levels, 1)?.0.key_plan();
    let mut out = Output::create(files.levels)?;
    out.write(&to_bytes(&levels.iter().map(|level| level.0 as u64).collect::<Vec<_>>()))?;
    out.finish()?;
    let known = metadata(&workload.instance, Content::RoundKeys);
    keys::generate(&params, &plan, &known, &files.secret_key, &files.server_keys)
}

/// `client_encode_encrypt SIZE`: the round keys, a ciphertext each, in every line of its slots.
///
/// # Errors
/// What `client_preprocess` and `client_key_generation` do not make.
pub fn encrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let workload = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.encrypted_keys)?;
    let params = workload.params()?;
    let secret = read_secret(&params, &files.secret_key)?;
    let layout = Layout::packed(params.slot_shape())?;
    let length = BLOCK * ROUND_KEYS;
    let bytes = Bytes::open(&files.round_keys, length as u64)?.read(length)?;
    let known = metadata(&workload.instance, Content::RoundKeys);
    let places = Places::new(&mut system_rng()?);
    let (path, replace, top) = (&files.encrypted_keys, Existing::Replace, params.chain().top());
    let mut out = PlacedWriter::create(&params, path, replace, ROUND_KEYS, &known, &places, PART)?;
    let (keys, _) = bytes.as_chunks::<BLOCK>();
    out.push_with(ROUND_KEYS, |i, seed| {
        let blocks = Zeroizing::new(vec![keys[i]; layout.blocks()]);
        let elements = Zeroizing::new(layout.encode(&blocks));
        let message = Plaintext::encode_elements(&params, &elements[0])?;
        Ok::<_, SuiteError>(secret.encrypt_with_seed(&message, top, seed, &mut system_rng()?)?)
    })?;
    out.finish_without_sync()?;
    Ok(())
}

/// A file of results.
fn read_results(
    params: &Params,
    workload: &Workload,
    path: &Path,
    content: Content,
    count: usize,
) -> Result<Vec<CompactCiphertext>, SuiteError> {
    let options = limited();
    let bytes = read_file(path, options.max_bytes)?;
    let (found, known) = results::from_bytes(params, &bytes, &options)?;
    check_file(&metadata(&workload.instance, content), &known, found.len(), count)?;
    Ok(found)
}

/// `client_decrypt_decode_aes_decryption SIZE`: the bytes of the data, in their order.
///
/// # Errors
/// What is not a result for this instance and key.
pub fn decrypt_states(arguments: &[&str]) -> Result<(), SuiteError> {
    let workload = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.aes_bytes)?;
    let params = workload.params()?;
    let secret = read_secret(&params, &files.secret_key)?;
    let layout = Layout::packed(params.slot_shape())?;
    // Only counters that repeat decide about places.
    let iv = if workload.repeats() { read_iv(&workload, &files)? } else { vec![0; BLOCK] };
    let placement = Placement::new(&workload, layout.blocks(), iv[BLOCK - 1])?;
    let count = layout.width() * placement.states();
    let found = read_results(&params, &workload, &files.aes_download, Content::States, count)?;
    let open = |x: &CompactCiphertext| secret.decrypt_compact(x)?.decode_elements(&params);
    let mut states = Vec::with_capacity(placement.states());
    for state in found.chunks(layout.width()) {
        let elements = state.par_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        states.push(Zeroizing::new(layout.decode(&Zeroizing::new(elements))?));
    }
    let blocks = (0..workload.blocks()).flat_map(|block| {
        let (state, slot) = placement.place(block);
        states[state][slot]
    });
    let mut out = Output::create(files.aes_bytes)?;
    out.write(&Zeroizing::new(blocks.collect::<Vec<_>>()))?;
    out.finish()
}

/// `client_postprocess_aes_decryption SIZE`: the numbers, a line each.
///
/// # Errors
/// What `client_decrypt_decode_aes_decryption` does not make.
pub fn postprocess_states(arguments: &[&str]) -> Result<(), SuiteError> {
    let workload = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.aes_output)?;
    let bytes = Bytes::open(&files.aes_bytes, workload.bytes() as u64)?.read(workload.bytes())?;
    let (numbers, _) = bytes.as_chunks::<2>();
    let line = |number: &[u8; 2]| format!("{}\n", u16::from_be_bytes(*number));
    let lines = Zeroizing::new(numbers.iter().map(line).collect::<String>());
    let mut out = Output::create(files.aes_output)?;
    out.write(lines.as_bytes())?;
    out.finish()
}

/// `client_decrypt_decode SIZE`: the result as slots have it.
///
/// # Errors
/// What is not a result for this instance and key.
pub fn decrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let workload = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.slots)?;
    let params = workload.params()?;
    let secret = read_secret(&params, &files.secret_key)?;
    let content = Content::Result(workload.task);
    let found = read_results(&params, &workload, &files.download, content, 1)?;
    let slots = Zeroizing::new(secret.decrypt_compact(&found[0])?.decode_decrypted(&params)?);
    let mut out = Output::create(files.slots)?;
    out.write(&to_bytes(&slots))?;
    out.finish()
}

/// `client_postprocess SIZE`: the number.
///
/// # Errors
/// Slots that no honest server sends.
pub fn postprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let workload = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.output)?;
    let params = workload.params()?;
    let slots = Words::open(&files.slots, params.slots() as u64)?.read(params.slots())?;
    let layout = Layout::packed(params.slot_shape())?;
    let value = match workload.task {
        Task::Maximum => maximum(&layout, &slots)?,
        Task::InnerProduct => inner_product(&layout, &slots)?,
    };
    let mut out = Output::create(files.output)?;
    out.write(format!("{value}\n").as_bytes())?;
    out.finish()
}

/// The number whose bits are along every line, the lowest first.
fn maximum(layout: &Layout, slots: &[u64]) -> Result<u64, SuiteError> {
    let mut value = 0;
    for bit in 0..BITS as usize {
        let wanted = slots[layout.place(0, bit).slot];
        for block in 0..layout.blocks() {
            let slot = layout.place(block, bit).slot;
            if slots[slot] != wanted || wanted > 1 {
                return Err(SuiteError::Result {
                    place: format!("slot {slot}"),
                    expected: "a bit, the same as in all other lines".into(),
                    found: slots[slot],
                });
            }
        }
        value |= wanted << bit;
    }
    Ok(value)
}

/// The number that is in all slots that begin a number.
fn inner_product(layout: &Layout, slots: &[u64]) -> Result<u64, SuiteError> {
    let value = slots[layout.place(0, 0).slot];
    for block in 0..layout.blocks() {
        for number in 0..PER_BLOCK {
            let slot = layout.place(block, 2 * number).slot;
            if slots[slot] != value || value >> BITS != 0 {
                return Err(SuiteError::Result {
                    place: format!("slot {slot}"),
                    expected: format!("a number of {BITS} bits, the same as in all others"),
                    found: slots[slot],
                });
            }
        }
    }
    Ok(value)
}
