//! The stages of the server, which has data under AES and never sees what they are.

use std::path::Path;

use everlevel_aes::{AesError, Layout};
use everlevel_bgv::{Ciphertext, Evaluator};
use everlevel_circuit::CircuitError;
use everlevel_ring::Cpu;
use everlevel_ring::sample::system_rng;
use everlevel_scheme::{Level, Params};
use everlevel_wire::file::Existing;
use everlevel_wire::{
    BoundPolicy, CiphertextReader, CiphertextWriter, FileKeys, ReadOptions, WireError, results,
};
use rand_core::Rng;
use rayon::prelude::*;

use super::circuit::{Decryption, InnerProduct};
use super::maximum::Maximum;
use super::placement::Placement;
use super::protocol::{
    BLOCK, Content, Files, PART, ROUND_KEYS, Task, Workload, maximum_levels, metadata, read_iv,
    read_levels,
};
use super::rehearsal::{decryption_keys, inner_product_keys, maximum_keys};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{check_file, open_upload};
use crate::memory;
use crate::numbers::{Bytes, read_hex};
use crate::output::{Output, make_place_for};
use crate::stage::in_pool;
use crate::steps::{REPORT, Steps};

/// Bytes of expanded keys that are kept, where there is no memory for more: a key that is not kept
/// is read and expanded for every state again.
const KEY_CACHE: u64 = 3 << 30;

/// `server_preprocess_dataset SIZE`: the data under AES and their counter block as bytes.
///
/// # Errors
/// Files that do not hold as many bytes in hexadecimal digits.
pub fn preprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let workload = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.blocks)?;
    let iv = read_iv(&workload, &files)?;
    let data = read_hex(&files.data, workload.bytes())?;
    workload.mode(&iv)?.check_length(data.len() as u64)?;
    let mut out = Output::create(files.blocks)?;
    out.write(&iv)?;
    out.write(&data)?;
    out.finish()
}

/// How many blocks a state has places for.
fn places(params: &Params) -> Result<usize, AesError> {
    Ok(Layout::packed(params.slot_shape())?.blocks())
}

/// An evaluator with the keys of a file.
fn evaluator(params: &Params, path: &Path) -> Result<Evaluator<Cpu, FileKeys>, WireError> {
    let kept = memory::for_keys(KEY_CACHE, memory::available());
    Ok(Evaluator::new(FileKeys::open(params, path, kept)?))
}

/// All ciphertexts of a file of `count` of them.
fn read(
    params: &Params,
    instance: &Instance,
    path: &Path,
    content: Content,
    count: usize,
) -> Result<Vec<Ciphertext>, SuiteError> {
    let wanted = metadata(instance, content);
    // Round keys come from the client, states are the server's own.
    let mut file = match content {
        Content::RoundKeys => open_upload(params, path, &wanted, PART, count)?,
        Content::States | Content::Result(_) => {
            let stated = ReadOptions::with_bounds(BoundPolicy::Stated);
            let file = CiphertextReader::open(params, path, stated)?;
            check_file(&wanted, file.metadata(), file.len(), count)?;
            file
        }
    };
    Ok(file.read_range(0..count)?)
}

/// Writes ciphertexts, cut to what their decryption needs.
fn write_results(
    params: &Params,
    instance: &Instance,
    path: &Path,
    content: Content,
    found: &[Ciphertext],
) -> Result<(), SuiteError> {
    let compact = found.par_iter().map(|x| x.compact_for_decryption(params));
    let compact = compact.collect::<Result<Vec<_>, _>>()?;
    let mut out = Output::create(path.into())?;
    out.write(&results::to_bytes(params, &compact, &metadata(instance, content))?)?;
    out.finish()
}

/// `server_encrypted_aes_decryption SIZE`: AES on all blocks.
///
/// # Errors
/// What is not an upload for this instance, or not fresh from a secret key; what
/// `server_preprocess_dataset` does not make; missing keys.
pub fn decrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let mut steps = Steps::start();
    let workload = Workload::of(arguments)?;
    let (instance, files) = (workload.instance, Files::of(&workload.instance));
    for path in [&files.aes_download, &files.states, &instance.io(REPORT)] {
        make_place_for(path)?;
    }
    let params = workload.params()?;
    let top = params.chain().top();
    let evaluator = steps.time("Load keys", || evaluator(&params, &files.server_keys))?;
    let (packed, mode, blocks, levels) = steps.time("Read inputs", || {
        let (path, content) = (&files.encrypted_keys, Content::RoundKeys);
        let packed = read(&params, &instance, path, content, ROUND_KEYS)?;
        let mut file = Bytes::open(&files.blocks, (BLOCK + workload.bytes()) as u64)?;
        let iv = file.read(BLOCK)?.to_vec();
        let (mode, data) = (workload.mode(&iv)?, file.read(workload.bytes())?);
        let placement = Placement::new(&workload, places(&params)?, iv[BLOCK - 1])?;
        let levels = read_levels(&params, &files.levels)?;
        let blocks = placement.states_of(&mode, &data)?;
        Ok::<_, SuiteError>((packed, mode, blocks, levels))
    })?;
    let decryption =
        steps.time("Plan", || in_pool(|| Decryption::new(&evaluator, top, &workload)))?;
    steps.time("Load keys", || {
        evaluator.keys().preload(&decryption_keys(&params, &workload, &levels)?)?;
        Ok::<_, SuiteError>(())
    })?;
    let keys = steps
        .time("Round keys", || in_pool(|| decryption.round_keys(&evaluator, &packed, &levels)))?;
    let states = steps.time("Encrypted computation", || {
        in_pool(|| decryption.states(&evaluator, &mode, &keys, &blocks))
    })?;
    steps.time("Write outputs", || {
        write_results(&params, &instance, &files.aes_download, Content::States, &states)?;
        let known = metadata(&instance, Content::States);
        let (path, replace) = (&files.states, Existing::Replace);
        let mut out = CiphertextWriter::create(&params, path, replace, states.len(), &known)?;
        out.push_all(&states)?;
        out.finish_without_sync()?;
        Ok::<_, SuiteError>(())
    })?;
    steps.write_beside(&instance, "AES")
}

/// `server_encrypted_compute SIZE`: the maximum, or the inner product of the halves of the data.
///
/// # Errors
/// What `server_encrypted_aes_decryption` does not make; missing keys.
pub fn compute(arguments: &[&str]) -> Result<(), SuiteError> {
    let mut steps = Steps::start();
    let workload = Workload::of(arguments)?;
    let (instance, files) = (workload.instance, Files::of(&workload.instance));
    make_place_for(&files.download)?;
    let params = workload.params()?;
    let evaluator = steps.time("Load keys", || evaluator(&params, &files.server_keys))?;
    let placement = Placement::new(&workload, places(&params)?, 0)?;
    let states = steps.time("Read inputs", || {
        read(&params, &instance, &files.states, Content::States, placement.states())
    })?;
    let state = states.first().ok_or(CircuitError::Empty { what: "the list of states" })?.meta();
    let (stage, result) = match workload.task {
        Task::Maximum => {
            let (levels, bits) = (maximum_levels(&params), workload.random_bits());
            let (rehearsal, keys) =
                steps.time("Plan", || in_pool(|| maximum_keys(&params, &workload, state)))?;
            steps.time("Load keys", || evaluator.keys().preload(&keys))?;
            let maximum = steps.time("Plan", || {
                in_pool(|| Maximum::rehearsed(&evaluator, &params, levels, bits, &rehearsal))
            })?;
            drop(rehearsal);
            // Nobody knows the weights of this run before its data are there.
            let mut random = system_rng()?;
            let mut draw = || random.next_u64();
            let result = steps.time("Encrypted computation", || {
                in_pool(|| maximum.run(&evaluator, &states, &mut draw))
            })?;
            ("Maximum", result)
        }
        Task::InnerProduct => {
            let level = states.iter().map(Ciphertext::level).max().unwrap_or(Level(0));
            let keys = steps
                .time("Plan", || in_pool(|| inner_product_keys(&params, &placement, state)))?;
            steps.time("Load keys", || evaluator.keys().preload(&keys))?;
            let inner = steps
                .time("Plan", || in_pool(|| InnerProduct::new(&evaluator, placement, level)))?;
            let result = steps.time("Encrypted computation", || {
                in_pool(|| {
                    let products = states.par_iter().map(|state| inner.products(&evaluator, state));
                    inner.total(&evaluator, products.collect::<Result<_, _>>()?)
                })
            })?;
            ("Inner product", result)
        }
    };
    steps.time("Write outputs", || {
        let content = Content::Result(workload.task);
        write_results(&params, &instance, &files.download, content, &[result])
    })?;
    steps.write_beside(&instance, stage)
}
