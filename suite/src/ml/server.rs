//! The stages of the server, which has no key.

use std::ops::Range;
use std::path::Path;

use everlevel_bgv::{Ciphertext, Evaluator, Product, ServerKeys};
use everlevel_scheme::{Arithmetic, SchemeError};
use everlevel_wire::file::Existing;
use everlevel_wire::{ProductWriter, ReadAhead, WireError};
use rayon::prelude::*;

use super::model::Model;
use super::protocol::{CLASSES, Files, INPUTS, INSTANCES, PART, metadata, model_file, spec};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{blocks, open_upload, read_params};
use crate::output::make_place_for;
use crate::stage::usage;
use crate::steps::Steps;

/// Pixels whose bytes are read at a time, into memory that is used again, while those before them
/// are unpacked.
const TOGETHER: usize = 32;
/// Parts whose bytes wait in memory.
const AHEAD: usize = 1;

/// `server_preprocess_model [MODEL]`: the model, that of train.py unless a file is named, as
/// `server_encrypted_compute` reads it.
///
/// # Errors
/// What [`Model::new`] refuses.
pub fn preprocess_model(arguments: &[&str]) -> Result<(), SuiteError> {
    if arguments.len() > 1 {
        return Err(usage("[MODEL]", arguments));
    }
    make_place_for(&model_file())?;
    let model = match arguments.first() {
        None => Model::trained()?,
        Some(path) => Model::read_json(Path::new(path))?,
    };
    model.write(&model_file())
}

/// `server_encrypted_compute SIZE`: the results of the model for every image.
///
/// # Errors
/// What is not an upload for this instance, not fresh from a secret key, or not at its place; no
/// model.
pub fn compute(arguments: &[&str]) -> Result<(), SuiteError> {
    let [size] = arguments else { return Err(usage("SIZE", arguments)) };
    let mut steps = Steps::start();
    let instance = Instance::at(&INSTANCES, size)?;
    let files = Files::of(&instance);
    make_place_for(&files.download)?;
    let (params, model) = steps.time("Load keys", || {
        let params = read_params(&spec(), &files.parameters)?;
        Ok::<_, SuiteError>((params, Model::read(&model_file())?))
    })?;
    let blocks = blocks(&instance, params.slots());
    let known = metadata(&instance);
    let mut upload = steps.time("Read inputs", || {
        let upload = open_upload(&params, &files.upload, &known, PART, INPUTS * blocks)?;
        Ok::<_, SuiteError>(ReadAhead::start(upload, (0..blocks).flat_map(parts).collect(), AHEAD)?)
    })?;
    let (replace, count) = (Existing::Replace, CLASSES * blocks);
    let mut download = ProductWriter::create(&params, &files.download, replace, count, &known)?;
    let evaluator = Evaluator::new(ServerKeys::empty(&params));
    for block in 0..blocks {
        let pixels = steps.time("Read inputs", || {
            let mut pixels = Vec::with_capacity(INPUTS);
            for part in parts(block) {
                pixels.extend(upload.read(part)?);
            }
            Ok::<_, WireError>(pixels)
        })?;
        let results =
            steps.time("Encrypted computation", || results(&evaluator, &model, &pixels))?;
        steps.time("Write outputs", || download.push_all(&results))?;
    }
    steps.time("Write outputs", || download.finish_without_sync())?;
    steps.write(&instance)
}

/// Where the pixels of a block are in the upload, some of them at a time.
fn parts(block: usize) -> impl Iterator<Item = Range<usize>> {
    let end = INPUTS * (block + 1);
    let part = move |first: usize| first..(first + TOGETHER).min(end);
    (INPUTS * block..end).step_by(TOGETHER).map(part)
}

/// The results of the model for a block of images.
fn results(
    evaluator: &Evaluator,
    model: &Model,
    pixels: &[Ciphertext],
) -> Result<Vec<Product>, SchemeError> {
    let pixels: Vec<&Ciphertext> = pixels.iter().collect();
    let hidden = evaluator.linear_combinations(&pixels, model.hidden())?;
    let squares = hidden.par_iter().map(|x| evaluator.mul_lazy_aligned(x, x));
    let squares = squares.collect::<Result<Vec<_>, _>>()?;
    evaluator.combine_products(&squares.iter().collect::<Vec<_>>(), model.results())
}
