//! What the stages of both sides agree on: digits, parameters, files, blocks.

use std::path::PathBuf;

use everlevel_scheme::ParamsSpec;
use everlevel_wire::Metadata;

use crate::instance::Instance;
use crate::keyless;

/// The instances of the workload.
pub const INSTANCES: [Instance; 4] = [
    Instance { name: "single", count: 1 },
    Instance { name: "small", count: 1_000 },
    Instance { name: "medium", count: 100_000 },
    Instance { name: "large", count: 10_000_000 },
];

/// Bits of a digit.
pub(super) const DIGIT_BITS: u32 = 16;
/// Digits of a number.
pub(super) const DIGITS: usize = 4;
/// Ciphertexts of a block of pairs: the digits of the left factors, then those of the right ones.
pub(super) const OPERANDS: usize = 2 * DIGITS;
/// The part of an upload that operands are, of which there is one for each parameter set.
pub(super) const PART: &str = "operands";
/// Blocks that are in memory together, or as many as there are threads: 2 MB each, which should
/// stay in a cache.
const BLOCKS_AT_ONCE: usize = 4;

/// The parameter set, which [`ParamsSpec::for_products`] finds for four products modulo this prime;
/// a constant, so that no stage searches.
pub fn spec() -> ParamsSpec {
    ParamsSpec {
        base_bits: 48,
        word_bits: 48,
        words: 1,
        special: 0,
        ..ParamsSpec::new("bgv-17179926529-n12-keyless", 1 << 13, 17_179_926_529)
    }
}

/// The files between the stages of an instance.
pub(super) struct Files {
    pub operands: PathBuf,
    pub parameters: PathBuf,
    pub secret_key: PathBuf,
    pub upload: PathBuf,
    pub download: PathBuf,
    pub products: PathBuf,
    pub output: PathBuf,
}

impl Files {
    pub fn of(instance: &Instance) -> Self {
        Files {
            operands: instance.io("preprocessed/operands.bin"),
            parameters: instance.io("public_keys/parameters"),
            secret_key: instance.io("secret_key/secret.key"),
            upload: instance.io("ciphertexts_upload/operands.ct"),
            download: instance.io("ciphertexts_download/products.ct"),
            products: instance.io("decrypted/products.bin"),
            output: instance.io("cleartext_output/out.txt"),
        }
    }
}

/// What the files of ciphertexts say of themselves.
pub(super) fn metadata(instance: &Instance) -> Metadata {
    keyless::metadata("zn-multiplication", instance)
}

/// The blocks a few at a time.
pub(super) fn batches(blocks: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    keyless::batches(blocks, BLOCKS_AT_ONCE)
}

/// Starts threads for `blocks` blocks: none for a single one, which takes less time than starting
/// them.
pub(super) fn use_threads(blocks: usize) {
    if blocks == 1 {
        // Fails only where threads were started before, which is as well.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_scheme::{OptIn, Params};

    #[test]
    fn the_set_is_the_one_that_the_planner_finds_and_holds_the_sums() {
        assert_eq!(ParamsSpec::for_products(spec().plain_prime, DIGITS as u64).unwrap(), spec());
        let params = Params::new(spec(), OptIn::SecureOnly).unwrap();
        let digit = (1u64 << DIGIT_BITS) - 1;
        assert!(DIGITS as u64 * digit * digit < params.plain_modulus());
        assert_eq!(params.slots(), params.degree());
        assert!(params.security().bits() >= 128.0, "{}", params.security().weakest());
    }
}
