//! Parameter sets as plain data: the content of a JSON file.

use everlevel_ring::primes;
use serde::{Deserialize, Serialize};

use super::form::Form;
use crate::error::SchemeError;

/// Two primes that stay below 2^50 wherever their product is to end.
const MAX_BASE_BITS: u32 = 96;

/// The hardness assumption of the scheme, which determines the number of components of a
/// ciphertext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assumption {
    /// Ring-LWE: (c0, c1) with phase c0 + c1 s.
    #[default]
    Rlwe,
    /// NTRU: one polynomial c with phase c f, f = t u + 1, where t is the largest plaintext modulus
    /// of the set; the public key is t g / f. In BGV form this is LTV, in BFV form YASHE′. All
    /// errors are sampled by [`everlevel_ring::sample::truncated_gaussian`]. *Overstretched*, and
    /// so insecure, wherever q is large enough to compute anything (Albrecht–Bai–Ducas 2016,
    /// Kirchner–Fouque 2017, Ducas–van Woerden 2021).
    Ntru,
}

impl Assumption {
    /// How many polynomials a ciphertext has.
    pub fn components(self) -> usize {
        match self {
            Assumption::Rlwe => 2,
            Assumption::Ntru => 1,
        }
    }
}

/// The distribution of the main secret s; over NTRU, that of u and g.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretKind {
    /// Every coefficient uniform in {-1, 0, 1}.
    UniformTernary,
    /// A fixed number of coefficients 1 or -1, the others 0, as in papers before sparse-secret
    /// encapsulation (2022).
    Sparse(usize),
    /// A discrete Gaussian of standard deviation 1.55, truncated to -2..=2
    /// ([`everlevel_ring::sample::truncated_gaussian`]), as in LTV.
    TruncatedGaussian,
}

/// The modes of bootstrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BootstrapMode {
    /// The message bypasses the linear maps and the digit removal (Ma–Huang–Wang–Wang 2024). In
    /// rings of power-of-two index it requires r = 1, p = 1 modulo 4 and thin plaintexts.
    Bypass,
    /// For thin plaintexts: slot-to-coefficient comes first, and there is one digit removal
    /// (Chen–Han 2018, Fig. 2). Its name in files is `slim`, as in the paper; `thin` is read, too.
    #[serde(rename = "slim", alias = "thin")]
    Thin,
    /// For any plaintext: d digit removals between two linear maps (Chen–Han 2018, Fig. 1).
    Full,
}

/// The parameters of bootstrapping.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapSpec {
    /// The Hamming weight h of the sparse secret for modulus raising, an even number. In rings of
    /// power-of-two index the overflow is always at most h/2 in absolute value.
    pub sparse_weight: usize,
    /// B, a bound on the overflow below its worst case h/2 (absent: h/2), at the price of a
    /// probability of failure and, in rings of power-of-two index, of a few more bits of capacity
    /// that a ciphertext needs to be bootstrapped (see
    /// [`crate::noise::NoiseModel::overflow_tail`]). Rings of odd index need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow_bound: Option<u64>,
    /// v: the number of base-p digits that hold the overflow and are removed (absent: 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<u32>,
    /// Whether the main secret is the sparse one, without encapsulation, as in papers before 2022.
    #[serde(default, skip_serializing_if = "is_default")]
    pub under_main_key: bool,
    /// The mode (absent: `bypass` if it applies, slots have degree at most 2 and the ring is not of
    /// degree 2^16 or more over a power of two; otherwise `slim`, the thin mode).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<BootstrapMode>,
    /// Homomorphic transform stages of coeff-to-slot: how many butterfly stages each merged factor
    /// holds, in the order of application (absent: planned).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coeff_to_slot: Option<Vec<usize>>,
    /// The same for slot-to-coeff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_to_coeff: Option<Vec<usize>>,
    /// The form in which digits are removed (absent: `bgv`, whose products are faster; `bfv` loses
    /// less capacity for BFV sets).
    #[serde(default, skip_serializing_if = "is_default")]
    pub digit_form: Form,
    /// Digit removal: the name of a `DigitMethod` of everlevel-circuit, such as `product_tree_2`
    /// (absent: planned).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digit_removal: Option<String>,
    /// How many slots are used, a power of two from 4, if these are fewer than the ring has: all
    /// plaintexts of the set repeat their values along the rows, so that bootstrapping moves no
    /// more than these
    /// ([`SlotShape::repeating`](everlevel_ring::SlotShape::repeating)). It requires an index that
    /// is a power of two, p = 1 modulo 4, and the bypass or the thin mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_slots: Option<usize>,
}

impl BootstrapSpec {
    /// Encapsulation with a sparse secret of this weight, and defaults for everything else.
    pub fn encapsulated(sparse_weight: usize) -> Self {
        BootstrapSpec {
            sparse_weight,
            overflow_bound: None,
            digits: None,
            under_main_key: false,
            mode: None,
            coeff_to_slot: None,
            slot_to_coeff: None,
            digit_form: Form::Bgv,
            digit_removal: None,
            used_slots: None,
        }
    }

    /// v: the number of digits that are removed.
    pub fn removed_digits(&self) -> u32 {
        self.digits.unwrap_or(1)
    }

    /// B: the bound on the overflow.
    pub fn bound(&self) -> u64 {
        self.overflow_bound.unwrap_or(self.sparse_weight as u64 / 2)
    }
}

/// A parameter set as plain, unchecked data. `Params::new` validates it.
///
/// Primes follow from the sizes: the largest ones below 2^bits that are 1 modulo m (unless m is a
/// power of two, 1 modulo [`Ring::prime_step`](everlevel_ring::Ring::prime_step)), and 1 modulo p
/// too where there are enough of those, taken in the order base, special, words, fine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// The largest exponent that [`extend_plain_modulus`](crate::PlainModulus::extend_plain_modulus)
    /// reaches, if it is above r and above what bootstrapping needs (absent: those). Ring-LWE's
    /// keys and errors do not depend on it; NTRU's key is 1 modulo the largest plaintext modulus.
    #[serde(default, skip_serializing_if = "is_default")]
    pub extended_exponent: u32,
    /// Bits of q0, the lowest modulus, 20 to 96: one prime up to 50 bits, a product of two above.
    pub base_bits: u32,
    /// Bits of the word-size primes.
    pub word_bits: u32,
    /// The number of word-size primes.
    pub words: usize,
    /// The sizes in bits of the fine primes, which a level can have or lack, so that there are
    /// levels near any size.
    pub fine_bits: Vec<u32>,
    /// The number of special primes, of word size; their product is P. A set without special primes
    /// is for servers without keys, which add ciphertexts and compute products that are decrypted
    /// without relinearization.
    pub special: usize,
    /// The number of primes in a decomposition digit of key switching.
    pub digit_size: usize,
    /// The form of fresh ciphertexts (absent: `bgv`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: Form,
    /// Whether products of BFV ciphertexts are computed in BGV form, after the free conversion,
    /// instead of by scaling products over the integers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub through_bgv: bool,
    /// Ring-LWE or NTRU (absent: `rlwe`); in files `family`.
    #[serde(default, rename = "family", skip_serializing_if = "is_default")]
    pub assumption: Assumption,
    /// The distribution of the main secret.
    pub secret: SecretKind,
    /// The parameters of bootstrapping, if the set supports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapSpec>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ParamsSpec {
    /// The exponent of the plaintext modulus after modulus raising: r + v, or r for sets without
    /// bootstrapping.
    pub fn raised_exponent(&self) -> u32 {
        // Of a specification that is not checked yet, the sum may be more than a word holds.
        let removed = self.bootstrap.as_ref().map_or(0, BootstrapSpec::removed_digits);
        self.plain_exponent.saturating_add(removed)
    }

    /// v: the number of digits below the message that bootstrapping removes.
    pub fn overflow_digits(&self) -> u32 {
        self.raised_exponent() - self.plain_exponent
    }

    /// B: the bound on the absolute value of the overflow. It is the one that the set states or, in
    /// a ring of power-of-two index, h/2: with a small phase, the overflow is the rounding of a sum
    /// of h + 1 numbers of absolute value at most 1/2.
    pub fn overflow_bound(&self) -> u64 {
        self.bootstrap.as_ref().map_or(0, BootstrapSpec::bound)
    }

    /// The largest exponent e of a plaintext modulus p^e of ciphertexts of the set: r, r + v while
    /// bootstrapping removes v digits, or that of extended ciphertexts.
    pub fn largest_exponent(&self) -> u32 {
        self.raised_exponent().max(self.extended_exponent)
    }

    /// The same set for values in `slots` slots that repeat in all others
    /// ([`BootstrapSpec::used_slots`]): its name ends in `-s` and their number, and group sizes are
    /// planned, as there are fewer stages.
    ///
    /// # Errors
    /// A set without bootstrapping. The number is checked with all else, by
    /// [`Params::new`](crate::Params::new).
    pub fn with_used_slots(mut self, slots: usize) -> Result<Self, SchemeError> {
        let Some(bootstrap) = &mut self.bootstrap else {
            return Err(SchemeError::BadParams {
                name: self.name,
                problem: "used slots are a property of bootstrapping, and the set has no \
                          bootstrapping section: use one that has, such as bgv-65537-n15"
                    .into(),
            });
        };
        bootstrap.used_slots = Some(slots);
        (bootstrap.coeff_to_slot, bootstrap.slot_to_coeff) = (None, None);
        self.name = format!("{}-s{slots}", self.name);
        Ok(self)
    }

    /// Whether the name marks the set as not meant to be secure: it begins with `insecure_`, or
    /// with the prefix of the sets of a paper (`chen-han-`, `ma-`, `ltv-`).
    pub fn is_insecure_by_name(&self) -> bool {
        ["insecure_", "chen-han-", "ma-", "ltv-"].iter().any(|prefix| self.name.starts_with(prefix))
    }

    /// The checks that need no tables.
    pub fn check(&self) -> Result<(), SchemeError> {
        let bad =
            |problem: String| Err(SchemeError::BadParams { name: self.name.clone(), problem });
        if self.name.is_empty()
            || self.name.len() > 64
            || !self.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        {
            return bad("expected a name of 1 to 64 letters, digits, '-', '_' or '.'".into());
        }
        let degree = match everlevel_ring::Ring::degree_of(self.index) {
            Ok(degree) => degree,
            Err(e) => return bad(format!("index = {}: {e}", self.index)),
        };
        if self.plain_prime >> 50 != 0 || !primes::is_prime(self.plain_prime) {
            return bad(format!("plain_prime = {}: expected a prime below 2^50", self.plain_prime));
        }
        if self.index.is_multiple_of(self.plain_prime) {
            return bad(format!(
                "plain_prime = {}: expected a prime that does not divide the index {}: choose \
                 another index, for p = 2 an odd one such as 42799",
                self.plain_prime, self.index
            ));
        }
        if self.plain_exponent == 0 {
            return bad("plain_exponent = 0: expected at least 1".into());
        }
        let (p, e) = (self.plain_prime, self.largest_exponent());
        let largest = u128::from(p).checked_pow(e);
        if self.bootstrap.is_some() && largest.is_none_or(|t| t >> 62 != 0) {
            return bad(format!(
                "p^{e} does not stay below 2^62, with p = {p}: the plaintext modulus, the digits \
                 that bootstrapping removes and extended_exponent must fit; sets without \
                 bootstrapping have plaintext moduli of up to 2^64"
            ));
        }
        if largest.is_none_or(|t| t > 1 << 64) {
            return bad(format!(
                "p^{e} is above 2^64, with p = {p}: the plaintext modulus and extended_exponent \
                 must fit"
            ));
        }
        if let SecretKind::Sparse(weight) = self.secret
            && (weight < 2 || weight % 2 == 1 || weight > degree)
        {
            return bad(format!(
                "secret: a sparse weight of {weight}: expected an even weight from 2 to the \
                 degree {degree}"
            ));
        }
        if self.assumption == Assumption::Ntru && matches!(self.secret, SecretKind::Sparse(_)) {
            return bad("secret: expected uniform_ternary or truncated_gaussian over NTRU, whose \
                        sparse keys nothing here estimates"
                .into());
        }
        if !(20..=MAX_BASE_BITS).contains(&self.base_bits) {
            return bad(format!("base_bits = {}: expected 20 to {MAX_BASE_BITS}", self.base_bits));
        }
        for (what, bits) in std::iter::once(("word_bits", self.word_bits))
            .chain(self.fine_bits.iter().map(|&b| ("fine_bits", b)))
        {
            if !(20..=50).contains(&bits) {
                return bad(format!("{what} = {bits}: expected 20 to 50 (primes stay below 2^50)"));
            }
        }
        if self.words > 80 || self.fine_bits.len() > 8 || self.special > 16 {
            return bad(format!(
                "words = {}, fine_bits: {}, special = {}: expected at most 80, at most 8, and at \
                 most 16",
                self.words,
                self.fine_bits.len(),
                self.special
            ));
        }
        if !(1..=16).contains(&self.digit_size) {
            return bad(format!("digit_size = {}: expected 1 to 16", self.digit_size));
        }
        if self.special == 0 && self.bootstrap.is_some() {
            return bad("special = 0: expected at least 1, as bootstrapping switches keys".into());
        }
        if let Some(b) = &self.bootstrap {
            if self.assumption == Assumption::Ntru {
                return bad("family = ntru: expected no bootstrap section, as bootstrapping is \
                            defined over ring-LWE only"
                    .into());
            }
            if b.overflow_bound.is_none() && !self.index.is_power_of_two() {
                return bad(
                    "overflow_bound: expected a value, as the overflow has no useful worst case \
                     unless the index is a power of two: noise::least_overflow_bound has the least \
                     one for a weight"
                        .into(),
                );
            }
            if !self.index.is_power_of_two()
                && b.sparse_weight.saturating_mul(b.sparse_weight) > degree / 4
            {
                return bad(format!(
                    "sparse_weight = {}: expected at most the root of a quarter of the degree \
                     {degree}, so that few terms of the overflow coincide",
                    b.sparse_weight
                ));
            }
            if b.sparse_weight < 2 || b.sparse_weight % 2 == 1 || b.sparse_weight > degree {
                return bad(format!(
                    "sparse_weight = {}: expected an even weight from 2 to the degree {degree}",
                    b.sparse_weight
                ));
            }
            if !(1..=16).contains(&b.removed_digits()) {
                return bad(format!("digits = {}: expected 1 to 16", b.removed_digits()));
            }
            // Computations with q0 times p^v are done in 128 bits.
            let removed = (self.plain_prime as f64).log2() * f64::from(b.removed_digits());
            if f64::from(self.base_bits) + removed > 124.0 {
                return bad(format!(
                    "base_bits = {}, and {removed:.0} bits that bootstrapping removes: expected \
                     at most 124 together",
                    self.base_bits
                ));
            }
            let values = b.bound().saturating_mul(2).saturating_add(1);
            if b.bound() == 0 || values > self.plain_prime.saturating_pow(b.removed_digits()) {
                return bad(format!(
                    "an overflow of up to {} takes {values} values, but {} digits modulo p = {} \
                     hold fewer: lower the weight, remove more digits or raise p",
                    b.bound(),
                    b.removed_digits(),
                    self.plain_prime
                ));
            }
            if b.used_slots.is_some() && b.mode == Some(BootstrapMode::Full) {
                return bad("used_slots: expected the mode bypass or slim, as slots that repeat \
                            hold integers"
                    .into());
            }
            if b.under_main_key && self.secret != SecretKind::Sparse(b.sparse_weight) {
                return bad("under_main_key needs a sparse main secret of sparse_weight".into());
            }
        }
        Ok(())
    }
}
