//! What the stages of both sides agree on: pixels, the shape of models, parameters, files.

use std::path::PathBuf;

use everlevel_scheme::ParamsSpec;
use everlevel_wire::Metadata;

use crate::instance::Instance;
use crate::keyless;

/// The instances of the workload.
pub const INSTANCES: [Instance; 4] = [
    Instance { name: "single", count: 1 },
    Instance { name: "small", count: 15 },
    Instance { name: "medium", count: 1_000 },
    Instance { name: "large", count: 10_000 },
];

/// Pixels of a row of an image, and rows.
pub(super) const SIDE: usize = 28;
/// Pixels that are left out at each edge, where digits have next to nothing.
pub(super) const MARGIN: usize = 3;
/// Pixels that the model gets.
pub const INPUTS: usize = (SIDE - 2 * MARGIN) * (SIDE - 2 * MARGIN);
/// The largest level of a pixel: four bits.
pub const LARGEST_LEVEL: u8 = 15;
/// Forms whose squares the model takes.
pub const HIDDEN: usize = 128;
/// Digits, each with a result of the model.
pub(super) const CLASSES: usize = 10;
/// What [`ParamsSpec::for_products`] has to hold: for each result of a model the sum over its
/// squares of the constant of a square times the square of the sum of the constants in it.
pub(super) const TERMS: u64 = 1 << 29;
/// The part of an upload that images are: all of it.
pub(super) const PART: &str = "pixels";
/// Ciphertexts that the client makes together, or as many as there are threads.
pub(super) const PIXELS_AT_ONCE: usize = 44;

/// The parameter set, which [`ParamsSpec::for_products`] finds for 2^29 products modulo this prime,
/// the largest one below 2^36 that gives a slot for each coefficient; a constant, so that no stage
/// searches.
pub fn spec() -> ParamsSpec {
    ParamsSpec {
        base_bits: 43,
        word_bits: 43,
        words: 2,
        special: 0,
        ..ParamsSpec::new("bgv-68719230977-n13-keyless-3x43", 1 << 14, 68_719_230_977)
    }
}

/// The model as the server keeps it, for all instances: the stage that makes it is not told which.
pub(super) fn model_file() -> PathBuf {
    ["io", "server_model", "model.bin"].iter().collect()
}

/// The files between the stages of an instance.
pub(super) struct Files {
    pub pixels: PathBuf,
    pub levels: PathBuf,
    pub parameters: PathBuf,
    pub secret_key: PathBuf,
    pub upload: PathBuf,
    pub download: PathBuf,
    pub results: PathBuf,
    pub output: PathBuf,
}

impl Files {
    pub fn of(instance: &Instance) -> Self {
        Files {
            pixels: instance.dataset("intermediate/test_pixels.txt"),
            levels: instance.io("preprocessed/levels.bin"),
            parameters: instance.io("public_keys/parameters"),
            secret_key: instance.io("secret_key/secret.key"),
            upload: instance.io("ciphertexts_upload/pixels.ct"),
            download: instance.io("ciphertexts_download/results.ct"),
            results: instance.io("decrypted/results.bin"),
            output: instance.io("encrypted_model_predictions.txt"),
        }
    }
}

/// What the files of ciphertexts say of themselves.
pub(super) fn metadata(instance: &Instance) -> Metadata {
    keyless::metadata("ml-inference", instance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_scheme::{OptIn, Params};

    #[test]
    fn the_set_is_the_one_that_the_planner_finds() {
        assert_eq!(ParamsSpec::for_products(spec().plain_prime, TERMS).unwrap(), spec());
        let params = Params::new(spec(), OptIn::SecureOnly).unwrap();
        assert_eq!(params.slots(), params.degree());
        assert!(params.security().bits() >= 128.0, "{}", params.security().weakest());
    }
}
