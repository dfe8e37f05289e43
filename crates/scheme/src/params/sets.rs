//! The named parameter sets.

use super::spec::{BootstrapSpec, ParamsSpec, SecretKind};
use crate::error::SchemeError;

struct Set {
    name: &'static str,
    log_degree: u32,
    p: u64,
    base: u32,
    words: usize,
    fine: &'static [u32],
    special: usize,
    digit: usize,
    weight: usize,
}

/// 128 bits for every key: log2 QP at most 855 at n = 2^15 and 1720 at 2^16, encapsulation within the tables of `security`.
/// The `insecure_` sets have the same shape at toy degrees: d = 1 and d = 2.
const SETS: &[Set] = &[
    Set {
        name: "bgv-65537-n15",
        log_degree: 15,
        p: 65537,
        base: 47,
        words: 10,
        fine: &[47, 44, 39, 39, 39],
        special: 2,
        digit: 2,
        weight: 28,
    },
    Set {
        name: "bgv-65537-n16",
        log_degree: 16,
        p: 65537,
        base: 47,
        words: 24,
        fine: &[47, 44, 40, 40, 40],
        special: 5,
        digit: 5,
        weight: 24,
    },
    Set {
        name: "bgv-786433-n16",
        log_degree: 16,
        p: 786433,
        base: 60,
        words: 23,
        fine: &[47, 45, 43, 43, 42],
        special: 5,
        digit: 5,
        weight: 24,
    },
    Set {
        name: "insecure_bgv-65537-n11",
        log_degree: 11,
        p: 65537,
        base: 47,
        words: 8,
        fine: &[47, 44, 39, 39],
        special: 2,
        digit: 2,
        weight: 12,
    },
    Set {
        name: "insecure_bgv-786433-n11",
        log_degree: 11,
        p: 786433,
        base: 55,
        words: 9,
        fine: &[47, 44, 41, 40],
        special: 3,
        digit: 3,
        weight: 8,
    },
    Set {
        name: "insecure_bgv-257-n8",
        log_degree: 8,
        p: 257,
        base: 40,
        words: 7,
        fine: &[44, 38, 32],
        special: 2,
        digit: 2,
        weight: 8,
    },
];

/// The names of all sets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SETS.iter().map(|s| s.name)
}

/// The specification of a named set.
///
/// # Errors
/// An unknown name; the error lists the known ones.
pub fn spec(name: &str) -> Result<ParamsSpec, SchemeError> {
    let set = SETS
        .iter()
        .find(|s| s.name == name)
        .ok_or_else(|| SchemeError::UnknownParams { name: name.into(), known: names().collect::<Vec<_>>().join(", ") })?;
    Ok(ParamsSpec {
        name: set.name.into(),
        index: 2 << set.log_degree,
        plain_prime: set.p,
        plain_exponent: 1,
        base_bits: set.base,
        word_bits: 50,
        words: set.words,
        fine_bits: set.fine.to_vec(),
        special: set.special,
        digit_size: set.digit,
        secret: SecretKind::UniformTernary,
        bootstrap: Some(BootstrapSpec {
            sparse_weight: set.weight,
            coeff_to_slot: None,
            slot_to_coeff: None,
            digit_removal: None,
        }),
    })
}
