//! The named parameter sets.

use super::form::Form;
use super::params::{Assumption, BootstrapSpec, ParamsSpec, SecretKind};

struct Set {
    name: &'static str,
    form: Form,
    through_bgv: bool,
    index: u64,
    p: u64,
    r: u32,
    /// The exponent that circuits extend ciphertexts to, if above r and r + v.
    extended: u32,
    base: u32,
    word: u32,
    words: usize,
    fine: &'static [u32],
    special: usize,
    digit: usize,
    /// Of the sparse secret of bootstrapping; 0 for sets without.
    weight: usize,
    /// B and v, where they are not the worst case and 1.
    bound: Option<u64>,
    removed: Option<u32>,
}

const BGV: Set = Set {
    name: "",
    form: Form::Bgv,
    through_bgv: false,
    index: 1 << 16,
    p: 65537,
    r: 1,
    extended: 0,
    base: 46,
    word: 50,
    words: 10,
    fine: &[48, 45, 41, 40, 40],
    special: 2,
    digit: 2,
    weight: 32,
    bound: Some(15),
    removed: None,
};

/// The plaintext spaces of Chen–Han 2018 at 128 bits: few slots of large degree, thin by default.
const N14: Set = Set {
    index: 1 << 15,
    p: 257,
    base: 34,
    word: 45,
    words: 6,
    fine: &[28, 25, 22],
    special: 1,
    digit: 1,
    weight: 40,
    bound: None,
    ..BGV
};
const N15: Set =
    Set { p: 257, base: 40, words: 11, fine: &[44, 38, 32], special: 3, digit: 3, ..BGV };
const N15_SQUARE: Set = Set { r: 2, base: 45, fine: &[43, 38, 28], ..N15 };
const N15_CUBE: Set = Set { p: 127, r: 3, base: 45, fine: &[45, 36, 28], ..N15 };
/// At n = 2^16 a weight of 28 is enough, and B its worst case.
const N16: Set = Set {
    index: 1 << 17,
    base: 47,
    words: 24,
    fine: &[47, 44, 40, 40, 40],
    special: 5,
    digit: 5,
    weight: 28,
    bound: None,
    ..BGV
};

/// Rings of odd index: h = 28 keeps |I| <= 41 in all coefficients with probability 1 - 2^-135 for
/// two prime factors, h = 30 |I| <= 43 with 1 - 2^-138, h = 32 |I| <= 45 with 1 - 2^-141.
const ODD: Set = Set { base: 45, special: 4, digit: 4, weight: 28, bound: Some(41), ..BGV };

/// Bytes in slots of GF(2^24), 16 of them along a dimension, and levels for AES: 13 · 17 · 241.
const AES: Set = Set {
    index: 53261,
    p: 2,
    words: 16,
    fine: &[44, 41, 38, 36],
    special: 3,
    digit: 3,
    weight: 0,
    base: 47,
    bound: None,
    ..BGV
};

const TOY_257: Set = Set {
    index: 1 << 9,
    p: 257,
    base: 40,
    words: 7,
    fine: &[44, 38, 32],
    special: 2,
    digit: 2,
    weight: 8,
    bound: None,
    ..BGV
};

const TOY_65537: Set = Set {
    index: 1 << 12,
    base: 47,
    words: 8,
    fine: &[47, 44, 39, 39],
    weight: 12,
    bound: None,
    ..BGV
};

/// 129 bits for every key, by every attack that is estimated: log2 QP at most 860 at n = 2^15 and
/// 1720 at 2^16. There a weight of 32 needs q0 R <= 2^96, and |I| <= 15 in place of 16 saves a
/// level (docs/adr/0033-weights.md). The `insecure_` sets have the same shape at toy degrees.
const SETS: &[Set] = &[
    Set { name: "bgv-65537-n15", ..BGV },
    Set { name: "bgv-65537-n16", ..N16 },
    Set {
        name: "bgv-786433-n16",
        p: 786433,
        base: 60,
        words: 23,
        fine: &[47, 45, 43, 43, 42],
        ..N16
    },
    Set { name: "bfv-127-n14", form: Form::Bfv, p: 127, ..N14 },
    Set { name: "bgv-127-n14", p: 127, ..N14 },
    Set { name: "bfv-257-n14", form: Form::Bfv, ..N14 },
    Set { name: "bgv-257-n14", ..N14 },
    Set { name: "bfv-257-n15", form: Form::Bfv, ..N15 },
    Set { name: "bgv-257-n15", ..N15 },
    Set { name: "bfv-127e2-n15", form: Form::Bfv, p: 127, ..N15_SQUARE },
    Set { name: "bgv-127e2-n15", p: 127, ..N15_SQUARE },
    Set { name: "bfv-257e2-n15", form: Form::Bfv, ..N15_SQUARE },
    Set { name: "bgv-257e2-n15", ..N15_SQUARE },
    Set { name: "bfv-127e3-n15", form: Form::Bfv, ..N15_CUBE },
    Set { name: "bgv-127e3-n15", ..N15_CUBE },
    Set { name: "insecure_bgv-65537-n11", ..TOY_65537 },
    Set {
        name: "insecure_bgv-786433-n11",
        p: 786433,
        base: 55,
        words: 9,
        fine: &[47, 44, 41, 40],
        special: 3,
        digit: 3,
        weight: 8,
        ..TOY_65537
    },
    Set { name: "bgv-65537-m50731", index: 50731, words: 17, fine: &[47, 44, 40, 40, 40], ..ODD },
    Set {
        name: "bgv-8191-m45193",
        index: 45193,
        p: 8191,
        base: 42,
        words: 14,
        fine: &[47, 44, 40, 39, 38],
        weight: 30,
        bound: Some(43),
        ..ODD
    },
    Set {
        name: "bgv-17e4-m38309",
        index: 38309,
        p: 17,
        r: 4,
        removed: Some(2),
        base: 42,
        words: 12,
        fine: &[47, 44, 42, 38],
        special: 3,
        digit: 3,
        weight: 32,
        bound: Some(45),
        ..ODD
    },
    Set {
        name: "bgv-2-m42799",
        index: 42799,
        p: 2,
        removed: Some(7),
        base: 34,
        words: 14,
        fine: &[44, 41, 38, 36],
        weight: 30,
        bound: Some(43),
        ..ODD
    },
    Set { name: "aes-bgv-leveled", extended: 32, ..AES },
    // Bits: 5 · 7 · 13 · 241, 2880 slots, and the 40 levels of bit-sliced AES.
    Set {
        name: "aes-bgv-bits",
        index: 109655,
        words: 22,
        fine: &[47, 44, 42, 41],
        special: 4,
        digit: 4,
        ..AES
    },
    // 3 · 17 · 97: four lines of 16 slots, in GF(2^48).
    Set { name: "insecure_aes-m4947", index: 4947, ..AES },
    // The same bytes, bootstrapped: c h + 1 = 225 uniforms, as the index has three prime factors,
    // keep |I| <= 63 in all coefficients with probability 1 - 2^-144.
    Set {
        name: "aes-bgv-refreshed",
        index: 53261,
        p: 2,
        extended: 32,
        removed: Some(7),
        bound: Some(63),
        base: 34,
        words: 15,
        fine: &[44, 41, 38, 36],
        special: 5,
        digit: 5,
        ..ODD
    },
    // The plaintexts that HElib's tests bootstrap.
    Set {
        name: "insecure_bgv-2-m15709",
        index: 15709,
        p: 2,
        removed: Some(7),
        base: 34,
        words: 8,
        fine: &[44, 41, 38, 36],
        special: 3,
        digit: 3,
        weight: 24,
        bound: Some(38),
        ..ODD
    },
    Set { name: "insecure_bgv-257-n8", ..TOY_257 },
    Set { name: "insecure_bfv-257-n8", form: Form::Bfv, ..TOY_257 },
    Set { name: "insecure_bgv-127-n8", p: 127, ..TOY_257 },
    Set {
        name: "insecure_bfv-127e2-n8",
        form: Form::Bfv,
        p: 127,
        r: 2,
        base: 44,
        words: 9,
        ..TOY_257
    },
    Set { name: "insecure_bfv-65537-n11", form: Form::Bfv, ..TOY_65537 },
];

/// The names of the sets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SETS.iter().map(|s| s.name)
}

/// The specification of a set.
pub fn spec(name: &str) -> Option<ParamsSpec> {
    let set = SETS.iter().find(|s| s.name == name)?;
    Some(ParamsSpec {
        name: set.name.into(),
        index: set.index,
        plain_prime: set.p,
        plain_exponent: set.r,
        extended_exponent: set.extended,
        base_bits: set.base,
        word_bits: set.word,
        words: set.words,
        fine_bits: set.fine.to_vec(),
        special: set.special,
        digit_size: set.digit,
        form: set.form,
        through_bgv: set.through_bgv,
        assumption: Assumption::Rlwe,
        secret: SecretKind::UniformTernary,
        bootstrap: (set.weight > 0).then(|| BootstrapSpec {
            overflow_bound: set.bound,
            digits: set.removed,
            ..BootstrapSpec::encapsulated(set.weight)
        }),
    })
}
