//! The parameter sets of Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115), Table 4.
//!
//! Names are `ma-` and the paper's, with `-80` for the variants in braces, whose encapsulated key
//! was meant to hold 80 bits. The main secret has weight 120, which the paper counts as about 82
//! bits. The moduli have the paper's total size, log2 QP, less up to 24 bits that make no prime; a
//! quarter to a third of it is P.

use everlevel::ParamsSpec;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec, SecretKind};

/// How a set of the paper removes digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// As the library that the paper started from: the digit polynomials of Chen–Han over all
    /// residues.
    Baseline,
    /// Type A: Δ = p^v, polynomials reduced by what is null on the values that occur.
    A,
    /// Type B: Δ coprime to p, interpolation on (2B + 1)² values.
    B,
}

/// One row of the paper's Table 4: its figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperSet {
    /// The paper's number of the plaintext ring, I to V.
    pub ring: &'static str,
    /// How digits are removed.
    pub variant: Variant,
    /// Whether this is the variant in braces.
    pub braced: bool,
    /// p.
    pub p: u64,
    /// r.
    pub r: u32,
    /// The index m.
    pub index: u64,
    /// d as printed.
    pub degree_of_slot: usize,
    /// log2 Q as printed: the modulus that the paper counts security for.
    pub modulus_bits: f64,
    /// λ', the security of the main key as printed.
    pub main_security: f64,
    /// h, the weight of the encapsulated secret.
    pub weight: usize,
    /// λ, the security of the encapsulated key as printed.
    pub sparse_security: f64,
    /// B.
    pub bound: u64,
    /// How many base-p digits are removed.
    pub digits: u32,
    /// Δ.
    pub delta: u64,
    /// log2(q0 R) as printed.
    pub encapsulation_bits: f64,
    /// How many special primes of 50 bits the set has here: as few as give three digits, or fewer
    /// where the paper's remaining bits need that.
    pub special: usize,
}

/// (ring, p, r, m, d, λ', log2 Q and special primes here, the same for type B).
type RingRow = (&'static str, u64, u32, u64, usize, f64, (f64, usize), Option<(f64, usize)>);
const RINGS: [RingRow; 5] = [
    ("I", 17, 4, 38309, 24, 82.5, (1462.0, 8), None),
    ("II", 127, 2, 56647, 45, 82.0, (2253.0, 12), None),
    ("III", 257, 2, 55427, 28, 82.8, (2176.0, 11), None),
    ("IV", 8191, 1, 45193, 14, 82.3, (1803.0, 9), Some((1787.0, 8))),
    ("V", 65537, 1, 50731, 18, 82.3, (2036.0, 10), Some((2018.0, 10))),
];

/// (ring, variant, braced, h, λ, B, log2(q0 R)). The paper prints no B for the baseline, and gives
/// B = 18 and 17 (I and the others) with its braced sets.
type KeyRow = (&'static str, Variant, bool, usize, f64, u64, f64);
const KEYS: [KeyRow; 24] = [
    ("I", Variant::Baseline, false, 24, 136.0, 23, 63.8),
    ("I", Variant::Baseline, true, 14, 81.3, 18, 64.5),
    ("I", Variant::A, false, 24, 133.1, 23, 70.3),
    ("I", Variant::A, true, 14, 89.8, 18, 70.3),
    ("II", Variant::Baseline, false, 22, 134.1, 22, 69.4),
    ("II", Variant::Baseline, true, 12, 87.3, 17, 60.7),
    ("II", Variant::A, false, 22, 135.4, 22, 66.6),
    ("II", Variant::A, true, 12, 85.7, 17, 66.6),
    ("III", Variant::Baseline, false, 22, 135.5, 22, 64.2),
    ("III", Variant::Baseline, true, 12, 87.4, 17, 64.7),
    ("III", Variant::A, false, 22, 133.4, 22, 70.6),
    ("III", Variant::A, true, 12, 85.5, 17, 70.6),
    ("IV", Variant::Baseline, false, 24, 130.2, 23, 66.3),
    ("IV", Variant::Baseline, true, 12, 83.3, 17, 66.8),
    ("IV", Variant::A, false, 24, 136.7, 23, 72.7),
    ("IV", Variant::A, true, 12, 81.9, 17, 72.7),
    ("IV", Variant::B, false, 22, 131.8, 22, 62.8),
    ("IV", Variant::B, true, 12, 83.8, 17, 62.8),
    ("V", Variant::Baseline, false, 24, 130.6, 23, 74.6),
    ("V", Variant::Baseline, true, 12, 83.0, 17, 75.1),
    ("V", Variant::A, false, 24, 136.8, 23, 81.2),
    ("V", Variant::A, true, 12, 82.3, 17, 81.2),
    ("V", Variant::B, false, 24, 132.8, 23, 67.1),
    ("V", Variant::B, true, 12, 84.8, 17, 67.1),
];

/// Every set of the paper.
pub fn paper_sets() -> impl Iterator<Item = PaperSet> {
    KEYS.iter().filter_map(
        |&(ring, variant, braced, weight, sparse_security, bound, encapsulation_bits)| {
            let &(_, p, r, index, degree_of_slot, main_security, type_a, type_b) =
                RINGS.iter().find(|row| row.0 == ring)?;
            let digits = if 2 * bound < p { 1 } else { 2 };
            let (modulus_bits, special) = if variant == Variant::B { type_b? } else { type_a };
            Some(PaperSet {
                ring,
                variant,
                braced,
                p,
                r,
                index,
                degree_of_slot,
                modulus_bits,
                main_security,
                weight,
                sparse_security,
                bound,
                digits,
                delta: if variant == Variant::B { 2 * bound + 1 } else { p.pow(digits) },
                encapsulation_bits,
                special,
            })
        },
    )
}

impl PaperSet {
    /// The set's name: `ma-V-A`, `ma-V-A-80`, `ma-V`.
    pub fn name(&self) -> String {
        let variant = match self.variant {
            Variant::Baseline => "",
            Variant::A => "-A",
            Variant::B => "-B",
        };
        format!("ma-{}{variant}{}", self.ring, if self.braced { "-80" } else { "" })
    }

    /// The set, for general bootstrapping.
    pub fn spec(&self) -> ParamsSpec {
        const WORD: u32 = 50;
        const SHORTEST: u32 = 36;
        let total = self.modulus_bits as u32;
        let special = self.special as u32;
        let mut fine_bits = vec![40, 41, 44, 47];
        let base_bits = if self.p > 1000 { 45 } else { 40 };
        let rest = total - special * WORD - base_bits - fine_bits.iter().sum::<u32>();
        let mut words = rest / WORD;
        // What is less than a word becomes one more fine prime, or two with a word, if that is long
        // enough: longer ones would spread the levels.
        match rest % WORD {
            left @ SHORTEST.. => fine_bits.push(left),
            left if left + WORD >= 2 * SHORTEST => {
                words -= 1;
                fine_bits.extend([(left + WORD) / 2, (left + WORD).div_ceil(2)]);
            }
            _ => {}
        }
        let digit_removal = match self.variant {
            // At e = 2 both methods have one polynomial of degree p; that one's is found in time
            // for the largest p.
            Variant::Baseline if self.ring == "V" => Some("halevi_shoup".into()),
            Variant::Baseline => Some("chen_han".into()),
            Variant::A => None,
            Variant::B => Some("global".into()),
        };
        ParamsSpec {
            plain_exponent: self.r,
            base_bits,
            word_bits: WORD,
            words: words as usize,
            fine_bits,
            special: self.special,
            digit_size: self.special,
            secret: SecretKind::Sparse(120),
            bootstrap: Some(BootstrapSpec {
                overflow_bound: Some(self.bound),
                digits: Some(self.digits),
                mode: Some(if self.variant == Variant::Baseline {
                    BootstrapMode::Full
                } else {
                    BootstrapMode::Bypass
                }),
                digit_removal,
                ..BootstrapSpec::encapsulated(self.weight)
            }),
            ..ParamsSpec::new(self.name(), self.index, self.p)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel::{OptIn, Params};

    #[test]
    fn names_are_distinct_and_moduli_are_the_papers() {
        let sets: Vec<PaperSet> = paper_sets().collect();
        assert_eq!(sets.len(), 24);
        let names: std::collections::BTreeSet<String> = sets.iter().map(PaperSet::name).collect();
        assert!(names.len() == 24 && names.contains("ma-V-B-80") && names.contains("ma-I"));
        for set in &sets {
            let spec = set.spec();
            Params::new(spec.clone(), OptIn::InsecureAllowFailures).unwrap();
            let bits = spec.base_bits
                + spec.fine_bits.iter().sum::<u32>()
                + 50 * (spec.words + spec.special) as u32;
            assert!(
                f64::from(bits) <= set.modulus_bits && f64::from(bits) > set.modulus_bits - 24.0,
                "{}",
                set.name()
            );
        }
    }
}
