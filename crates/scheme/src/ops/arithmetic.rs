//! Sums, products and the switching of the modulus.

use super::scheme::Scheme;
use crate::error::SchemeError;
use crate::plaintext::Plaintext;
use crate::spec::{Level, NextUse};

/// Σ w_j x_j + c with public constants: what one output of a linear layer is of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineForm {
    /// w: a constant for each value.
    pub weights: Vec<i64>,
    /// c.
    pub constant: i64,
}

impl AffineForm {
    /// Passes a form of this many values.
    ///
    /// # Errors
    /// More or fewer weights.
    pub fn check(&self, values: usize) -> Result<(), SchemeError> {
        if self.weights.len() != values {
            return Err(SchemeError::BadArgument {
                what: "affine form",
                expected: format!("a weight for each of {values} values"),
                found: self.weights.len().to_string(),
            });
        }
        Ok(())
    }
}

/// Sums and products, slot by slot, and the level at which they are made.
pub trait Arithmetic: Scheme {
    /// A product that was not relinearized yet; sums of products need one relinearization only.
    type Product: Clone + Send + Sync;

    /// Sum, slot by slot. Both operands have the same plaintext modulus and form.
    fn add(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Difference, slot by slot.
    fn sub(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Negation.
    fn neg(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;

    /// Adds the plaintext's slots.
    ///
    /// # Errors
    /// A plaintext of another set or modulus, or too much noise.
    fn add_plain(
        &self,
        a: &Self::Ciphertext,
        b: &Plaintext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Multiplies every slot by the plaintext's. The noise grows by the norm of the plaintext; a
    /// transform of the plaintext and a product for each prime, no key switch.
    ///
    /// # Errors
    /// A plaintext of another set or modulus, or too much noise.
    fn mul_plain(
        &self,
        a: &Self::Ciphertext,
        b: &Plaintext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Adds the constant `k` in every slot. Free of noise.
    fn add_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// Multiplies by the constant `k`; the noise grows by |k mod p^e| centered.
    fn mul_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// Σ k_i x_i + `constant`, in one pass. Each k_i is merged with the alignment of its operand's
    /// factor, so a term costs one multiplication by a constant below p^e/2 and no more, and terms
    /// above the lowest level absorb theirs on the way down. Errors if there is no term.
    fn linear_combination(
        &self,
        terms: &[(&Self::Ciphertext, i64)],
        constant: i64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Several affine forms of the same values: the product of a matrix of constants with a column
    /// of ciphertexts. A result is what [`Arithmetic::linear_combination`] gives for its form, with
    /// the same bound; schemes that can read each value once for all forms do so.
    ///
    /// # Errors
    /// As [`Arithmetic::linear_combination`]; a form that does not have a weight for each value.
    fn linear_combinations(
        &self,
        xs: &[&Self::Ciphertext],
        forms: &[AffineForm],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        let combination = |form: &AffineForm| {
            form.check(xs.len())?;
            let terms: Vec<_> = xs.iter().copied().zip(form.weights.iter().copied()).collect();
            self.linear_combination(&terms, form.constant)
        };
        forms.iter().map(combination).collect()
    }

    /// Product without relinearization. The operands are brought to a common level fit for a
    /// product first.
    fn mul_lazy(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError>;

    /// Product without relinearization at the lower of the operands' levels, as
    /// [`Arithmetic::prepare_together`] leaves them: sums of products that share operands stay at
    /// one level and switch nothing more.
    fn mul_lazy_aligned(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError> {
        self.mul_lazy(a, b)
    }

    /// Σ x y over pairs of ciphertexts, before relinearization, at the lowest level of all: bring
    /// factors that occur more than once there first ([`Arithmetic::prepare_together`]), or they
    /// are switched each time. Schemes that can add up before they reduce do so. The noise is that
    /// of the products together.
    ///
    /// # Errors
    /// No pair, ciphertexts of different owners, plaintext moduli or forms, too much noise.
    fn sum_of_products(
        &self,
        pairs: &[(&Self::Ciphertext, &Self::Ciphertext)],
    ) -> Result<Self::Product, SchemeError> {
        let lowest = pairs.iter().flat_map(|(x, y)| [self.level(x), self.level(y)]).min();
        let lowest = lowest.ok_or_else(|| SchemeError::BadArgument {
            what: "sum of products",
            expected: "at least one pair".into(),
            found: "none".into(),
        })?;
        let product = |x: &Self::Ciphertext, y: &Self::Ciphertext| {
            self.mul_lazy_aligned(&self.mod_switch_to(x, lowest)?, &self.mod_switch_to(y, lowest)?)
        };
        let mut sum = product(pairs[0].0, pairs[0].1)?;
        for (x, y) in &pairs[1..] {
            sum = self.add_products(&sum, &product(x, y)?)?;
        }
        Ok(sum)
    }

    /// Sum of two products.
    fn add_products(
        &self,
        a: &Self::Product,
        b: &Self::Product,
    ) -> Result<Self::Product, SchemeError>;

    /// Relinearizes and switches the modulus down in one pass: one key switch.
    fn relinearize(
        &self,
        a: &Self::Product,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Product with relinearization.
    fn mul(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError> {
        self.relinearize(&self.mul_lazy(a, b)?, next)
    }

    /// Switches `a` down to where `next` wants it.
    fn prepare(&self, a: &Self::Ciphertext, next: NextUse)
    -> Result<Self::Ciphertext, SchemeError>;

    /// Switches all of `xs` down to one level, the lowest that `next` wants one of them at: for
    /// operands that each meet several others.
    fn prepare_together(
        &self,
        xs: &[&Self::Ciphertext],
        next: NextUse,
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        xs.iter().map(|x| self.prepare(x, next)).collect()
    }

    /// Switches to a lower level (or stays).
    ///
    /// # Errors
    /// A level above the ciphertext's, or one whose modulus does not hold the noise.
    fn mod_switch_to(
        &self,
        a: &Self::Ciphertext,
        level: Level,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The product with X^k as a polynomial, for any integer k. Exact, without noise, key switch or
    /// level: one transform for each prime.
    fn mul_monomial(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;
}
