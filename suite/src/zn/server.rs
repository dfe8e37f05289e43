//! The stage of the server, which has no key.

use std::ops::Range;
use std::sync::mpsc::{SyncSender, sync_channel};

use everlevel_bgv::{Ciphertext, CompactCiphertext, Evaluator, Product, ServerKeys};
use everlevel_scheme::{Arithmetic, Params, SchemeError};
use everlevel_wire::file::Existing;
use everlevel_wire::{Packed, ProductResultWriter, ReadAhead, WireError};
use rayon::prelude::*;

use super::points::DIGITS;
use super::protocol::{Files, INSTANCES, Layout, PART, batches, metadata, spec, use_threads};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{open_upload, read_params};
use crate::output::{make_place_for, write_all, write_meanwhile};
use crate::stage::{in_pool, usage};
use crate::steps::Steps;

/// What is on its way to the file.
type Results = Packed<CompactCiphertext>;

/// Batches whose bytes wait in memory, 1.6 MB each with two threads.
const AHEAD: usize = 1;

/// `server_encrypted_compute INSTANCE COUNT`: the sums of products of digits, or the products of
/// values, cut to what decryption needs.
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
    let layout = Layout::of(&instance, params.slots());
    let (blocks, operands) = (layout.blocks(&instance, params.slots()), layout.operands());
    use_threads(layout, blocks);
    let about = metadata(&instance);
    let mut upload = steps.time("Read inputs", || {
        open_upload(&params, &files.upload, &about, PART, operands * blocks)
    })?;
    let (replace, count) = (Existing::Replace, layout.sums() * blocks);
    let mut download =
        ProductResultWriter::create(&params, &files.download, replace, count, &about)?;
    let write = |records| Ok::<_, SuiteError>(download.push_packed(records)?);
    let places = |batch: Range<usize>| operands * batch.start..operands * batch.end;
    let order: Vec<Range<usize>> = batches(blocks).map(places).collect();
    let spent = if layout == Layout::Points {
        // All batches wait in the channel: this thread computes, as the first of the pool, and
        // writes them afterwards.
        let (sender, receiver) = sync_channel(order.len());
        let read = |places| upload.read_range(places);
        compute_all(&mut steps, &params, layout, order, read, sender)?;
        write_all(receiver, write)?
    } else {
        let mut upload = ReadAhead::start(upload, order.clone(), AHEAD)?;
        let read = |places| upload.read(places);
        // In the pool it may wait for the writer, which needs no thread of it.
        write_meanwhile(write, |results| {
            in_pool(|| compute_all(&mut steps, &params, layout, order, read, results))
        })?
    };
    steps.add("Write outputs", spent);
    steps.time("Write outputs", || download.finish_without_sync())?;
    steps.write(&instance)
}

/// Reads, computes and cuts batch by batch, and passes the results on as they will be in the file.
fn compute_all(
    steps: &mut Steps,
    params: &Params,
    layout: Layout,
    order: Vec<Range<usize>>,
    mut read: impl FnMut(Range<usize>) -> Result<Vec<Ciphertext>, WireError>,
    results: SyncSender<Results>,
) -> Result<(), SuiteError> {
    let evaluator = Evaluator::new(ServerKeys::empty(params));
    for places in order {
        let operands = steps.time("Read inputs", || read(places))?;
        let sums = steps.time("Encrypted computation", || {
            let blocks = operands.par_chunks(layout.operands());
            let products = blocks.map(|block| multiply(&evaluator, layout, block));
            products.collect::<Result<Vec<_>, _>>()
        })?;
        drop(operands);
        let cut = steps.time("Compaction", || {
            let sums: Vec<Product> = sums.into_iter().flatten().collect();
            Packed::made(params, sums, |sum| Ok::<_, SuiteError>(sum.into_compact(params)?))
        })?;
        if results.send(cut).is_err() {
            // The writer failed, and says why.
            break;
        }
    }
    Ok(())
}

/// For the left and the right factors of a block, s_k = Σ a_i b_j over i + j = k of their digits,
/// or the products of their values.
fn multiply(
    evaluator: &Evaluator,
    layout: Layout,
    block: &[Ciphertext],
) -> Result<Vec<Product>, SchemeError> {
    let (a, b) = block.split_at(layout.operands() / 2);
    if layout == Layout::Points {
        return evaluator.sums_of_products(&[&[(&a[0], &b[0])]]);
    }
    let pairs = |k: usize| (0..=k).map(|i| (&a[i], &b[k - i])).collect::<Vec<_>>();
    let sums: [_; DIGITS] = std::array::from_fn(pairs);
    evaluator.sums_of_products(&sums.each_ref().map(Vec::as_slice))
}
