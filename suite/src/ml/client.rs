//! The stages of the client.

use std::io::Read;

use everlevel_bgv::{Ciphertext, SecretKey};
use everlevel_ring::sample::{Seed, system_rng};
use everlevel_scheme::Plaintext;
use everlevel_wire::file::Existing;
use everlevel_wire::{PlacedWriter, Places, ProductReader};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::protocol::{
    CLASSES, Files, INPUTS, INSTANCES, LARGEST_LEVEL, MARGIN, PART, PIXELS_AT_ONCE, SIDE, metadata,
    spec,
};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{self, batches, blocks, check_file, limited, read_key};
use crate::numbers::{Lines, Words, to_bytes};
use crate::output::{Output, make_place_for};
use crate::stage::usage;

/// No line of an image is longer: a pixel and a space take 9 bytes, and a few more are not refused.
const LONGEST_IMAGE: u64 = 32 * (SIDE * SIDE) as u64;

/// `client_preprocess_input SIZE`: pixels as text to levels, a byte each.
///
/// # Errors
/// A file that does not hold as many images, a line each, of 784 numbers from 0 to 1.
pub fn preprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let [size] = arguments else { return Err(usage("SIZE", arguments)) };
    let instance = Instance::at(&INSTANCES, size)?;
    let files = Files::of(&instance);
    make_place_for(&files.levels)?;
    let mut images = Lines::open(files.pixels, instance.count)?;
    let mut out = Output::create(files.levels)?;
    for _ in 0..instance.count {
        let line = Zeroizing::new(images.line(LONGEST_IMAGE)?);
        let levels =
            levels(&line).map_err(|(expected, found)| images.unexpected(&expected, found))?;
        out.write(&levels)?;
    }
    images.finish()?;
    out.finish()
}

/// The levels of the pixels of an image that the model gets; or what was expected, and found.
fn levels(line: &[u8]) -> Result<Zeroizing<Vec<u8>>, (String, &[u8])> {
    let mut levels = Zeroizing::new(Vec::with_capacity(INPUTS));
    let mut count = 0;
    for text in line.split(|byte| *byte == b' ').filter(|text| !text.is_empty()) {
        let pixel = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        let pixel = pixel.filter(|pixel| (0.0..=1.0).contains(pixel));
        let pixel = pixel.ok_or_else(|| ("a number from 0 to 1".to_string(), text))?;
        let inside = |at: usize| (MARGIN..SIDE - MARGIN).contains(&at);
        if count < SIDE * SIDE && inside(count / SIDE) && inside(count % SIDE) {
            levels.push((pixel * f64::from(LARGEST_LEVEL)).round() as u8);
        }
        count += 1;
    }
    if count != SIDE * SIDE {
        let start = &line[..line.len().min(20)];
        return Err((format!("{} pixels, not {count},", SIDE * SIDE), start));
    }
    Ok(levels)
}

/// `client_key_generation SIZE`: a secret key, and the parameters for the server, which gets no
/// keys.
///
/// # Errors
/// What the system refuses.
pub fn generate_key(arguments: &[&str]) -> Result<(), SuiteError> {
    let [size] = arguments else { return Err(usage("SIZE", arguments)) };
    let files = Files::of(&Instance::at(&INSTANCES, size)?);
    keyless::generate_key(spec(), &files.parameters, &files.secret_key)
}

/// `client_encode_encrypt_input SIZE`: a ciphertext for each pixel of a block of images.
///
/// # Errors
/// A file of another number of images, what the system refuses.
pub fn encrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let [size] = arguments else { return Err(usage("SIZE", arguments)) };
    let instance = Instance::at(&INSTANCES, size)?;
    let files = Files::of(&instance);
    make_place_for(&files.upload)?;
    let secret = read_key(&spec(), &files.parameters, &files.secret_key)?;
    let params = secret.params();
    let levels = read_levels(&files, &instance)?;
    let slots = params.slots();
    let blocks = blocks(&instance, slots);
    let (path, replace, count) = (&files.upload, Existing::Replace, INPUTS * blocks);
    let (known, places) = (metadata(&instance), Places::new(&mut system_rng()?));
    let mut upload = PlacedWriter::create(params, path, replace, count, &known, &places, PART)?;
    for images in levels.chunks(slots * INPUTS) {
        for pixels in batches(INPUTS, PIXELS_AT_ONCE) {
            upload.push_with(pixels.len(), |i, seed| {
                encrypt_pixel(&secret, images, pixels.start + i, seed)
            })?;
        }
    }
    upload.finish_without_sync()?;
    Ok(())
}

/// The levels of all images, one image after the other.
fn read_levels(files: &Files, instance: &Instance) -> Result<Zeroizing<Vec<u8>>, SuiteError> {
    let failed = |e: std::io::Error| SuiteError::io(&files.levels, &e);
    // At most 10^4 images.
    let length = instance.count as usize * INPUTS;
    let file = std::fs::File::open(&files.levels).map_err(failed)?;
    let mut levels = Zeroizing::new(Vec::with_capacity(length + 1));
    file.take(length as u64 + 1).read_to_end(&mut levels).map_err(failed)?;
    let large = levels.iter().find(|level| **level > LARGEST_LEVEL);
    if levels.len() != length || large.is_some() {
        return Err(SuiteError::Numbers {
            path: files.levels.display().to_string(),
            expected: format!("{length} bytes up to {LARGEST_LEVEL}"),
            found: large.map_or_else(|| format!("{} bytes", levels.len()), u8::to_string),
        });
    }
    Ok(levels)
}

/// A pixel of some images, with the seed of its place.
fn encrypt_pixel(
    secret: &SecretKey,
    images: &[u8],
    pixel: usize,
    seed: Seed,
) -> Result<Ciphertext, SuiteError> {
    let values = images[pixel..].iter().step_by(INPUTS).map(|&level| u64::from(level));
    let values = Zeroizing::new(values.collect::<Vec<_>>());
    let message = Plaintext::encode(secret.params(), &values)?;
    let top = secret.params().chain().top();
    Ok(secret.encrypt_with_seed(&message, top, seed, &mut system_rng()?)?)
}

/// `client_decrypt_decode SIZE`: ten results for each image.
///
/// # Errors
/// What is not a result for this instance and key.
pub fn decrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let [size] = arguments else { return Err(usage("SIZE", arguments)) };
    let instance = Instance::at(&INSTANCES, size)?;
    let files = Files::of(&instance);
    make_place_for(&files.results)?;
    let secret = read_key(&spec(), &files.parameters, &files.secret_key)?;
    let params = secret.params();
    let (slots, options) = (params.slots(), limited());
    let blocks = blocks(&instance, slots);
    let mut results = ProductReader::open(params, &files.download, options)?;
    check_file(&metadata(&instance), results.metadata(), results.len(), CLASSES * blocks)?;
    let mut out = Output::create(files.results)?;
    for block in 0..blocks {
        let results = results.read_range(CLASSES * block..CLASSES * (block + 1))?;
        let decrypted = results.par_iter().map(|result| {
            secret.decrypt_product(result)?.decode_decrypted_signed(params).map(Zeroizing::new)
        });
        let decrypted = decrypted.collect::<Result<Vec<_>, _>>()?;
        let images = (instance.count as usize - block * slots).min(slots);
        let by_image = (0..images).flat_map(|i| decrypted.iter().map(move |class| class[i] as u64));
        out.write(&to_bytes(&by_image.collect::<Vec<_>>()))?;
    }
    out.finish()
}

/// `client_postprocess SIZE`: for each image the digit with the largest result, the first of them
/// if there are several.
///
/// # Errors
/// A file of another number of results.
pub fn postprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    let [size] = arguments else { return Err(usage("SIZE", arguments)) };
    let instance = Instance::at(&INSTANCES, size)?;
    let files = Files::of(&instance);
    make_place_for(&files.output)?;
    let count = CLASSES as u64 * instance.count;
    // At most 10^5 results.
    let results = Words::open(&files.results, count)?.read(count as usize)?;
    let label = |results: &[u64]| {
        let largest = (0..CLASSES).rev().max_by_key(|&class| results[class] as i64);
        format!("{}\n", largest.unwrap_or_default())
    };
    let mut out = Output::create(files.output)?;
    out.write(results.chunks(CLASSES).map(label).collect::<String>().as_bytes())?;
    out.finish()
}
