//! The sets of the paper's AES over moduli of distinct primes. **They are insecure**: NTRU is
//! *overstretched* at such moduli, the lattice of the key has a dense sublattice that reduction
//! finds. Block size 2, that is LLL, finds these keys (Albrecht–Bai–Ducas 2016, Kirchner–Fouque
//! 2017, Ducas–van Woerden 2021).

use everlevel::ParamsSpec;
use everlevel_scheme::spec::{Assumption, SecretKind};

/// The ring and the size of the modulus of the paper's AES with 2,048 blocks, log q = 1271, and
/// with 1,800 blocks, log q = 1230. 50 bits are the machine's words; with seven special primes a
/// relinearization takes the least time. With small primes the modulus chain of the second has
/// levels where the last round of AES needs them.
const SETS: [(&str, u64, [u32; 4]); 2] =
    [("ltv-32768", 65535, [47, 44, 42, 41]), ("ltv-27000", 32767, [44, 38, 29, 23])];

/// The sets, n = 32768 first.
pub fn ntru_sets() -> [ParamsSpec; 2] {
    SETS.map(|(name, index, fine_bits)| ParamsSpec {
        base_bits: 47,
        words: 21,
        fine_bits: fine_bits.to_vec(),
        special: 7,
        digit_size: 7,
        assumption: Assumption::Ntru,
        secret: SecretKind::TruncatedGaussian,
        ..ParamsSpec::new(name, index, 2)
    })
}
