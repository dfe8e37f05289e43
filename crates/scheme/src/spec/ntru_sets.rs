//! NTRU sets. **Insecure, all of them**: NTRU is *overstretched* at such moduli, the lattice of the
//! key has a dense sublattice that reduction finds. At the parameters of Doröz–Hu–Sunar 2014 block
//! size 2, that is LLL, finds the key (Albrecht–Bai–Ducas 2016, Kirchner–Fouque 2017, Ducas–van
//! Woerden 2021). For studying the papers only.

use super::form::Form;
use super::params::{Assumption, ParamsSpec, SecretKind};

struct Set {
    name: &'static str,
    form: Form,
    index: u64,
    p: u64,
    base: u32,
    word: u32,
    words: usize,
    fine: &'static [u32],
    special: usize,
}

const LTV: Set = Set {
    name: "",
    form: Form::Bgv,
    index: 1 << 9,
    p: 257,
    base: 47,
    word: 50,
    words: 9,
    fine: &[44, 38, 32],
    special: 3,
};

const SETS: [Set; 4] = [
    Set { name: "insecure_ltv-257-n8", ..LTV },
    // 16 slots of GF(2^8), and levels for AES.
    Set {
        name: "insecure_ltv-2-m255",
        index: 255,
        p: 2,
        words: 18,
        fine: &[44, 38, 32, 28],
        ..LTV
    },
    Set { name: "insecure_yashe-257-n8", form: Form::Bfv, ..LTV },
    // YASHE′ as Bos et al. 2013 time it: n = 4096, a q of 127 bits.
    Set {
        name: "insecure_yashe-257-n12",
        form: Form::Bfv,
        index: 1 << 13,
        base: 43,
        word: 42,
        words: 2,
        fine: &[],
        special: 1,
        ..LTV
    },
];

/// The specification of an NTRU set.
pub fn spec(name: &str) -> Option<ParamsSpec> {
    let set = SETS.iter().find(|set| set.name == name)?;
    Some(ParamsSpec {
        base_bits: set.base,
        word_bits: set.word,
        words: set.words,
        fine_bits: set.fine.to_vec(),
        special: set.special,
        digit_size: set.special,
        form: set.form,
        assumption: Assumption::Ntru,
        secret: SecretKind::TruncatedGaussian,
        ..ParamsSpec::new(set.name, set.index, set.p)
    })
}

/// The names of the NTRU sets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SETS.iter().map(|set| set.name)
}
