//! What the stages of both sides agree on: digits, parameters, files, blocks.

use std::path::PathBuf;

use everlevel_scheme::ParamsSpec;
use everlevel_wire::Metadata;

use super::points::{DIGITS, POINTS};
use crate::instance::Instance;
use crate::keyless;

/// The instances of the workload.
pub const INSTANCES: [Instance; 4] = [
    Instance { name: "single", count: 1 },
    Instance { name: "small", count: 1_000 },
    Instance { name: "medium", count: 100_000 },
    Instance { name: "large", count: 10_000_000 },
];

/// The part of an upload that operands are, of which there is one for each parameter set.
pub(super) const PART: &str = "operands";
/// Blocks that are in memory together, or as many as there are threads: 2 MB each, which should
/// stay in a cache.
const BLOCKS_AT_ONCE: usize = 4;

/// How the pairs of an instance lie in ciphertexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// A ciphertext for each digit of the left and then of the right factors, with a pair in each
    /// slot; the results are the sums of products of digits.
    Digits,
    /// One ciphertext for the left and one for the right factors, with a pair in seven slots; the
    /// result is their product ([`super::points`]).
    Points,
}

impl Layout {
    /// The one of fewer ciphertexts: points for up to 1,755 pairs, digits for more.
    pub fn of(instance: &Instance, slots: usize) -> Self {
        let uploaded = |layout: Self| layout.operands() * layout.blocks(instance, slots);
        if uploaded(Layout::Points) < uploaded(Layout::Digits) {
            Layout::Points
        } else {
            Layout::Digits
        }
    }

    /// Pairs of a block.
    pub fn pairs(self, slots: usize) -> usize {
        match self {
            Layout::Digits => slots,
            Layout::Points => slots / POINTS,
        }
    }

    /// Ciphertexts of a block: as many of the left factors, and then of the right ones.
    pub fn operands(self) -> usize {
        match self {
            Layout::Digits => 2 * DIGITS,
            Layout::Points => 2,
        }
    }

    /// Results of a block.
    pub fn sums(self) -> usize {
        match self {
            Layout::Digits => DIGITS,
            Layout::Points => 1,
        }
    }

    /// The blocks of an instance.
    pub fn blocks(self, instance: &Instance, slots: usize) -> usize {
        keyless::blocks(instance, self.pairs(slots))
    }
}

/// The parameter set, which [`ParamsSpec::for_products`] finds for four products modulo this prime;
/// a constant, so that no stage searches.
pub fn spec() -> ParamsSpec {
    ParamsSpec {
        base_bits: 48,
        word_bits: 48,
        words: 1,
        special: 0,
        ..ParamsSpec::new("bgv-17179926529-n12-keyless-2x48", 1 << 13, 17_179_926_529)
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

/// Starts threads: for the few blocks of points one each, of which this one is the first, as
/// starting others takes longer than what they would do.
pub(super) fn use_threads(layout: Layout, blocks: usize) {
    if layout == Layout::Points {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(blocks).use_current_thread();
        // Fails only where threads were started before, which is as well.
        let _ = threads.build_global();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zn::points::DIGIT_BITS;
    use everlevel_scheme::{OptIn, Params};

    #[test]
    fn the_set_is_the_one_that_the_planner_finds_and_holds_the_sums() {
        assert_eq!(ParamsSpec::for_products(spec().plain_prime, DIGITS as u64).unwrap(), spec());
        let params = Params::new(spec(), OptIn::SecureOnly).unwrap();
        let digit = (1u64 << DIGIT_BITS) - 1;
        assert!(DIGITS as u64 * digit * digit < params.plain_modulus());
        assert_eq!(params.slots(), params.degree());
        // What the instances have: blocks, and ciphertexts of each.
        let layouts = INSTANCES.map(|instance| {
            let layout = Layout::of(&instance, params.slots());
            (layout, layout.blocks(&instance, params.slots()))
        });
        let (points, digits) = (Layout::Points, Layout::Digits);
        assert_eq!(layouts, [(points, 1), (points, 2), (digits, 25), (digits, 2_442)]);
        assert!(params.security().bits() >= 128.0, "{}", params.security().weakest());
    }
}
