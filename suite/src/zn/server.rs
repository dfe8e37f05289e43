//! The stage of the server, which has no key.

use everlevel_bgv::{Ciphertext, Evaluator, Product, ServerKeys};
use everlevel_scheme::{Arithmetic, SchemeError};
use everlevel_wire::file::Existing;
use everlevel_wire::{BoundPolicy, CiphertextReader, Encryption, ProductWriter, ReadOptions};
use rayon::prelude::*;

use super::protocol::{DIGITS, Files, INSTANCES, OPERANDS, batches, metadata, use_threads};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{blocks, check_file, read_params};
use crate::output::make_place_for;
use crate::stage::usage;
use crate::steps::Steps;

/// `server_encrypted_compute INSTANCE COUNT`: the sums of products of digits.
///
/// # Errors
/// What is not an upload for this instance, or not fresh from a secret key.
pub fn compute(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name, count] = arguments else { return Err(usage("INSTANCE COUNT", arguments)) };
    let mut steps = Steps::start();
    let instance = Instance::with_count(&INSTANCES, name, count)?;
    let files = Files::of(&instance);
    make_place_for(&files.download)?;
    let params = steps.time("Load keys", || read_params(&files.parameters))?;
    let blocks = blocks(&instance, params.slots());
    use_threads(blocks);
    let fresh = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
    let mut upload =
        steps.time("Read inputs", || CiphertextReader::open(&params, &files.upload, fresh))?;
    check_file(&metadata(&instance), upload.metadata(), upload.len(), OPERANDS * blocks)?;
    let (replace, count) = (Existing::Replace, DIGITS * blocks);
    let mut download =
        ProductWriter::create(&params, &files.download, replace, count, &metadata(&instance))?;
    let evaluator = Evaluator::new(ServerKeys::empty(&params));
    for batch in batches(blocks) {
        let places = OPERANDS * batch.start..OPERANDS * batch.end;
        let operands = steps.time("Read inputs", || upload.read_range(places))?;
        let sums = steps.time("Encrypted computation", || {
            let blocks = operands.par_chunks(OPERANDS).map(|block| multiply(&evaluator, block));
            blocks.collect::<Result<Vec<_>, _>>()
        })?;
        steps.time("Write outputs", || download.push_all(&sums.concat()))?;
    }
    steps.time("Write outputs", || download.finish_without_sync())?;
    steps.write(&instance)
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
