//! What the stages of both sides agree on: moduli, parameters, files.

use std::path::{Path, PathBuf};

use everlevel_scheme::{OptIn, Params, ParamsSpec, SchemeError};
use everlevel_wire::Metadata;
use rayon::prelude::*;

use crate::instance::Instance;
use crate::keyless;

/// How many moduli there are.
pub(super) const COUNT: usize = 8;

/// The plaintext moduli, in ascending order: the least primes above 2^32.25 that are 1 modulo 2^14,
/// so that there are 8,192 slots, except those modulo which a prime of 50 bits could be 1 as well:
/// that one would be chosen for the ciphertext modulus, and is up to a bit below 2^50.
pub const MODULI: [u64; COUNT] = [
    5_107_679_233,
    5_107_843_073,
    5_108_072_449,
    5_108_563_969,
    5_108_826_113,
    5_108_924_417,
    5_109_465_089,
    5_109_841_921,
];

/// Bits of a number that is encrypted.
pub const INPUT_BITS: u32 = 64;
/// The most bits of numbers that their residues tell apart: 2^258 is at most the product of the
/// moduli.
pub const LARGEST_BITS: u32 = 258;

/// The parameter set for a modulus: two products in sequence, the second of sums of two results.
pub fn spec(modulus: u64) -> ParamsSpec {
    ParamsSpec { words: 2, ..ParamsSpec::new(format!("bgv-{modulus}-n13-whole"), 1 << 14, modulus) }
}

/// The parameters for all moduli, in their order.
pub(super) fn params() -> Result<Vec<Params>, SchemeError> {
    MODULI.par_iter().map(|&modulus| Params::new(spec(modulus), OptIn::SecureOnly)).collect()
}

/// The files between the stages of an instance; but for two of them, there is one for each modulus
/// in this place ([`part`]).
pub(super) struct Files {
    pub operands: PathBuf,
    pub server_keys: PathBuf,
    pub secret_keys: PathBuf,
    pub upload: PathBuf,
    pub download: PathBuf,
    pub products: PathBuf,
}

impl Files {
    pub fn of(instance: &Instance) -> Self {
        Files {
            operands: instance.io("preprocessed/operands.bin"),
            server_keys: instance.io("public_keys/relinearization"),
            secret_keys: instance.io("secret_key/secret"),
            upload: instance.io("ciphertexts_upload/operands"),
            download: instance.io("ciphertexts_download/products"),
            products: instance.io("decrypted/products.bin"),
        }
    }
}

/// The file of a modulus.
pub(super) fn part(path: &Path, modulus: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("-{modulus}"));
    name.into()
}

/// The metadata of files of numbers of `bits` bits.
pub(super) fn metadata(instance: &Instance, bits: u32) -> Metadata {
    let mut metadata = keyless::metadata("zn-multiplication", instance);
    metadata.insert("bits".into(), bits.to_string());
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_scheme::{Arithmetic, NextUse, NoOp, Plaintext};

    #[test]
    fn the_moduli_hold_numbers_of_258_bits() {
        assert!(MODULI.is_sorted_by(|a, b| a < b));
        // Bits beyond 258: far more than the error of a sum of logarithms.
        let bits: f64 = MODULI.iter().map(|&t| (t as f64).log2()).sum();
        assert!(bits > f64::from(LARGEST_BITS) + 0.001, "{bits}");
    }

    /// Products of two numbers, of which two are added up, and the product of two such sums; then
    /// no level is left. All of this at 128 bits, for each set, by its noise bounds.
    #[test]
    fn the_sets_hold_a_product_of_sums_of_products() {
        for params in params().unwrap() {
            assert!(params.security().bits() >= 128.0, "{}", params.security().weakest());
            assert_eq!(params.slots(), params.degree());
            let scheme = NoOp::new(&params, 1);
            let number = Plaintext::encode(&params, &[3]).unwrap();
            let x = scheme.encrypt(&number).unwrap();
            let product = scheme.mul(&x, &x, NextUse::Product).unwrap();
            // In limbs of 8,192 words.
            assert_eq!((scheme.cost().transforms, scheme.cost().bytes >> 16), (20, 107));
            let sum = scheme.add(&product, &product).unwrap();
            let last = scheme.mul(&sum, &sum, NextUse::Product).unwrap();
            let found = scheme.decrypt(&last).unwrap().decode(&params).unwrap();
            assert_eq!(found[..2], [18 * 18, 0]);
            assert!(scheme.mul(&last, &x, NextUse::Product).is_err());
            let twice = scheme.add(&sum, &sum).unwrap();
            assert!(scheme.mul(&twice, &twice, NextUse::Product).is_err());
            // One key, for products at both levels.
            assert_eq!(scheme.key_plan().len(), 1);
        }
    }
}
