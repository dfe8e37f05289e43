//! Parameters as plain data: what a JSON file holds.

use serde::{Deserialize, Serialize};

use crate::error::SchemeError;

/// How the main secret key is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretKind {
    /// Every coefficient uniform in {-1, 0, 1}.
    UniformTernary,
}

/// What bootstrapping needs beyond the scheme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapSpec {
    /// Hamming weight h of the encapsulated sparse secret, even. The overflow is at most h/2 in absolute value, always.
    pub sparse_weight: usize,
    /// Homomorphic transform stages of coeff-to-slot: how many butterfly stages each merged factor holds, in the order of application (absent: planned).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coeff_to_slot: Option<Vec<usize>>,
    /// The same for slot-to-coeff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_to_coeff: Option<Vec<usize>>,
    /// Digit removal: `product_tree`, `paterson_stockmeyer` or `global` (absent: planned).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digit_removal: Option<String>,
}

/// A parameter set as plain, unchecked data. `Params::new` validates it.
///
/// Primes follow from the sizes: the largest ones below 2^bits that are 1 modulo m, and 1 modulo p too where there are
/// enough of those, taken in the order base, special, words, fine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamsSpec {
    /// The set's name. Sets below 128 bits begin with `insecure_`.
    pub name: String,
    /// The index m of the cyclotomic ring.
    pub index: u64,
    /// The prime p of the plaintext modulus p^r.
    pub plain_prime: u64,
    /// The exponent r of the plaintext modulus.
    pub plain_exponent: u32,
    /// Bits of q0, the lowest modulus: one prime up to 50 bits, a product of two above.
    pub base_bits: u32,
    /// Bits of the word-size primes.
    pub word_bits: u32,
    /// How many word-size primes.
    pub words: usize,
    /// Bits of the replaceable primes that let the ladder stop near any size.
    pub fine_bits: Vec<u32>,
    /// How many special primes (their product is P), of word size.
    pub special: usize,
    /// How many primes a key-switching digit holds.
    pub digit_size: usize,
    /// How the main secret is drawn.
    pub secret: SecretKind,
    /// Bootstrapping, if the set can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapSpec>,
}

impl ParamsSpec {
    /// Whether the name says that the set is not meant to be secure.
    pub fn is_insecure_by_name(&self) -> bool {
        self.name.starts_with("insecure_")
    }
    /// The checks that need no tables.
    pub(crate) fn check(&self) -> Result<(), SchemeError> {
        let bad = |problem: String| Err(SchemeError::BadParams { name: self.name.clone(), problem });
        if self.name.is_empty()
            || self.name.len() > 64
            || !self.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        {
            return bad("expected a name of 1 to 64 letters, digits, '-', '_' or '.'".into());
        }
        if !self.index.is_power_of_two() || !(32..=1 << 18).contains(&self.index) {
            return bad(format!("index = {}: expected a power of two from 32 to 262144", self.index));
        }
        if self.plain_prime < 3 || self.plain_prime >> 50 != 0 || !everlevel_arith::primes::is_prime(self.plain_prime) {
            return bad(format!("plain_prime = {}: expected an odd prime below 2^50", self.plain_prime));
        }
        if self.plain_exponent != 1 {
            return bad(format!("plain_exponent = {}: only 1 is supported yet", self.plain_exponent));
        }
        if !(20..=62).contains(&self.base_bits) {
            return bad(format!("base_bits = {}: expected 20 to 62", self.base_bits));
        }
        for (what, bits) in std::iter::once(("word_bits", self.word_bits)).chain(self.fine_bits.iter().map(|&b| ("fine_bits", b)))
        {
            if !(20..=50).contains(&bits) {
                return bad(format!("{what} = {bits}: expected 20 to 50 (primes stay below 2^50)"));
            }
        }
        if self.words > 80 || self.fine_bits.len() > 8 || !(1..=16).contains(&self.special) {
            return bad(format!(
                "words = {}, fine_bits: {}, special = {}: expected at most 80, at most 8, and 1 to 16",
                self.words,
                self.fine_bits.len(),
                self.special
            ));
        }
        if !(1..=16).contains(&self.digit_size) {
            return bad(format!("digit_size = {}: expected 1 to 16", self.digit_size));
        }
        if let Some(b) = &self.bootstrap {
            let degree = self.index / 2;
            if b.sparse_weight < 2 || b.sparse_weight % 2 == 1 || b.sparse_weight as u64 > degree {
                return bad(format!(
                    "sparse_weight = {}: expected an even weight from 2 to the degree {degree}",
                    b.sparse_weight
                ));
            }
            if 2 * (b.sparse_weight as u64 / 2) + 1 >= self.plain_prime {
                return bad(format!(
                    "sparse_weight = {} gives {} overflow values, but digit removal needs fewer than p = {}: lower the weight or raise p",
                    b.sparse_weight,
                    b.sparse_weight + 1,
                    self.plain_prime
                ));
            }
        }
        Ok(())
    }
}
