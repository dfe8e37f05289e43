//! The stage of the server, which has no key.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use std::{panic, thread};

use everlevel_bgv::{Ciphertext, CompactCiphertext, Evaluator, Product, ServerKeys};
use everlevel_scheme::{Arithmetic, Params, SchemeError};
use everlevel_wire::file::Existing;
use everlevel_wire::{CiphertextReader, ProductResultWriter, WireError};
use rayon::prelude::*;

use super::protocol::{
    DIGITS, Files, INSTANCES, OPERANDS, PART, batches, metadata, spec, use_threads,
};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{blocks, open_upload, read_params};
use crate::output::make_place_for;
use crate::stage::usage;
use crate::steps::Steps;

/// What is on its way to the file.
type Results = Vec<CompactCiphertext>;

/// `server_encrypted_compute INSTANCE COUNT`: the sums of products of digits, cut to what
/// decryption needs.
///
/// # Errors
/// What is not an upload for this instance, not fresh from a secret key, or not at its place.
pub fn compute(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name, count] = arguments else { return Err(usage("INSTANCE COUNT", arguments)) };
    let mut steps = Steps::start();
    let instance = Instance::with_count(&INSTANCES, name, count)?;
    let files = Files::of(&instance);
    make_place_for(&files.download)?;
    let params = steps.time("Load keys", || read_params(&spec(), &files.parameters))?;
    let blocks = blocks(&instance, params.slots());
    use_threads(blocks);
    let about = metadata(&instance);
    let mut upload = steps.time("Read inputs", || {
        open_upload(&params, &files.upload, &about, PART, OPERANDS * blocks)
    })?;
    let (replace, count) = (Existing::Replace, DIGITS * blocks);
    let download = ProductResultWriter::create(&params, &files.download, replace, count, &about)?;
    let (sender, receiver) = sync_channel(1);
    let spent = if blocks == 1 {
        // The only batch waits in the channel: the only thread of the pool is this one.
        compute_all(&mut steps, &params, blocks, &mut upload, sender)?;
        write_all(download, receiver)?
    } else {
        thread::scope(|scope| {
            let writer = scope.spawn(move || write_all(download, receiver));
            let computed = compute_all(&mut steps, &params, blocks, &mut upload, sender);
            let written = writer.join().unwrap_or_else(|reason| panic::resume_unwind(reason));
            computed?;
            Ok::<_, SuiteError>(written?)
        })?
    };
    steps.add("Write outputs", spent);
    steps.write(&instance)
}

/// Reads, computes and cuts batch by batch, and passes the results on.
fn compute_all(
    steps: &mut Steps,
    params: &Params,
    blocks: usize,
    upload: &mut CiphertextReader,
    results: SyncSender<Results>,
) -> Result<(), SuiteError> {
    let evaluator = Evaluator::new(ServerKeys::empty(params));
    for batch in batches(blocks) {
        let places = OPERANDS * batch.start..OPERANDS * batch.end;
        let operands = steps.time("Read inputs", || upload.read_range(places))?;
        let sums = steps.time("Encrypted computation", || {
            let blocks = operands.par_chunks(OPERANDS).map(|block| multiply(&evaluator, block));
            blocks.collect::<Result<Vec<_>, _>>()
        })?;
        let cut = steps.time("Compaction", || {
            let sums = sums.par_iter().flatten();
            sums.map(|sum| sum.compact_for_decryption(params)).collect::<Result<Results, _>>()
        })?;
        if results.send(cut).is_err() {
            // The writer failed, and says why.
            break;
        }
    }
    Ok(())
}

/// Writes results as they come, while the next ones are computed: a disk that is behind makes only
/// this thread wait. How long it took without waiting for results.
fn write_all(
    mut download: ProductResultWriter,
    results: Receiver<Results>,
) -> Result<Duration, WireError> {
    let mut spent = Duration::ZERO;
    for batch in results {
        let start = Instant::now();
        download.push_all(&batch)?;
        spent += start.elapsed();
    }
    let start = Instant::now();
    download.finish_without_sync()?;
    Ok(spent + start.elapsed())
}

/// s_k = Σ a_i b_j over i + j = k for the digits of the left and the right factors of a block.
fn multiply(evaluator: &Evaluator, block: &[Ciphertext]) -> Result<Vec<Product>, SchemeError> {
    let (a, b) = block.split_at(DIGITS);
    let sum = |k: usize| {
        let pairs: Vec<_> = (0..=k).map(|i| (&a[i], &b[k - i])).collect();
        evaluator.sum_of_products(&pairs)
    };
    (0..DIGITS).map(sum).collect()
}
