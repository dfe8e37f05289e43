//! Sums, products and modulus switching.

use super::scheme::Scheme;
use crate::error::SchemeError;
use crate::plaintext::Plaintext;
use crate::spec::{Level, NextUse};

/// Σ w_j x_j + c with public constants w_j and c: one output of a linear layer as a function of its
/// inputs x_j.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineForm {
    /// w: one constant for each value.
    pub weights: Vec<i64>,
    /// c.
    pub constant: i64,
}

impl AffineForm {
    /// Checks that the form has this number of values.
    ///
    /// # Errors
    /// A different number of weights.
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

impl From<&AffineForm> for SparseForm {
    /// The same form: constants that are 0 are terms, too.
    fn from(form: &AffineForm) -> Self {
        let terms = form.weights.iter().copied().enumerate().collect();
        SparseForm { terms, constant: form.constant }
    }
}

/// An affine form of some of the values: Σ w x + c over terms, each with the place of its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseForm {
    /// Places and constants w, each place at most once.
    pub terms: Vec<(usize, i64)>,
    /// c.
    pub constant: i64,
}

impl SparseForm {
    /// Checks that the places are of this number of values, and that none is there twice.
    ///
    /// # Errors
    /// Other places.
    pub fn check(&self, values: usize) -> Result<(), SchemeError> {
        let mut seen = vec![false; values];
        for (place, _) in &self.terms {
            if seen.get(*place).copied().unwrap_or(true) {
                return Err(SchemeError::BadArgument {
                    what: "sparse form",
                    expected: format!("places below {values}, each once"),
                    found: place.to_string(),
                });
            }
            seen[*place] = true;
        }
        Ok(())
    }
}

/// Sums and products, slot by slot, and modulus switching.
pub trait Arithmetic: Scheme {
    /// A product before relinearization; a sum of products needs only one relinearization.
    type Product: Clone + Send + Sync;

    /// Sum, slot by slot, at the lower of the operands' levels. Both operands must have the same
    /// plaintext modulus and form. The bound of the result is the sum of both bounds.
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

    /// Adds the slots of a plaintext.
    ///
    /// # Errors
    /// A plaintext of another set or modulus, or too much noise.
    fn add_plain(
        &self,
        a: &Self::Ciphertext,
        b: &Plaintext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Multiplies every slot by that of a plaintext. The noise is multiplied by the norm of the
    /// plaintext polynomial. It costs a transform of the plaintext and a product for each prime,
    /// and no key switch.
    ///
    /// # Errors
    /// A plaintext of another set or modulus, or too much noise.
    fn mul_plain(
        &self,
        a: &Self::Ciphertext,
        b: &Plaintext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Adds the constant `k` to every slot, without additional noise.
    fn add_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// Multiplies every slot by the constant `k`; the noise is multiplied by the absolute value of
    /// k modulo p^e, centered.
    fn mul_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// Σ k_i x_i + `constant`, in one pass. Each k_i is merged with the constant that aligns the
    /// correction factor of its operand, so a term costs one multiplication by a constant below
    /// p^e/2 in absolute value; for terms above the lowest level, it is merged with the modulus
    /// switch. Returns an error if there is no term.
    fn linear_combination(
        &self,
        terms: &[(&Self::Ciphertext, i64)],
        constant: i64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Several affine forms of the same values: the product of a matrix of constants with a vector
    /// of ciphertexts. Each result equals that of [`Arithmetic::linear_combination`] for its form,
    /// with the same bound; a scheme may read each value once for all forms.
    ///
    /// # Errors
    /// As [`Arithmetic::linear_combination`]; a form whose number of weights is not the number of
    /// values.
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

    /// Several affine forms, each of some of the values. Each result equals that of
    /// [`Arithmetic::linear_combination`] for the terms of its form, with the same level and bound,
    /// whatever the other forms are; a scheme may read each value once for all forms.
    ///
    /// # Errors
    /// As [`Arithmetic::linear_combination`]; a form with a place that no value has, or with one
    /// twice.
    fn sparse_combinations(
        &self,
        xs: &[&Self::Ciphertext],
        forms: &[SparseForm],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        let combination = |form: &SparseForm| {
            form.check(xs.len())?;
            let terms: Vec<_> = form.terms.iter().map(|(place, w)| (xs[*place], *w)).collect();
            self.linear_combination(&terms, form.constant)
        };
        forms.iter().map(combination).collect()
    }

    /// Product without relinearization. The operands are first switched to a common level suitable
    /// for a product.
    fn mul_lazy(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError>;

    /// Product without relinearization at the lower of the operands' levels, without a further
    /// switch: for operands that [`Arithmetic::prepare_together`] has switched, so that sums of
    /// products with shared operands stay at one level.
    fn mul_lazy_aligned(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError> {
        self.mul_lazy(a, b)
    }

    /// Σ x y over pairs of ciphertexts, before relinearization, at the lowest level of all
    /// operands. Switch factors that occur more than once there first
    /// ([`Arithmetic::prepare_together`]); otherwise they are switched each time. A scheme may add
    /// up products before reduction. The noise is the sum of those of the products.
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

    /// [`Arithmetic::sum_of_products`] of several lists. They are requested together, so that a
    /// scheme can read operands that several lists have once.
    ///
    /// # Errors
    /// As [`Arithmetic::sum_of_products`].
    fn sums_of_products(
        &self,
        sums: &[&[(&Self::Ciphertext, &Self::Ciphertext)]],
    ) -> Result<Vec<Self::Product>, SchemeError> {
        sums.iter().map(|pairs| self.sum_of_products(pairs)).collect()
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

    /// Product with relinearization: one product of ciphertexts and one key switch.
    fn mul(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError> {
        self.relinearize(&self.mul_lazy(a, b)?, next)
    }

    /// Switches `a` down to the level that suits its next use.
    fn prepare(&self, a: &Self::Ciphertext, next: NextUse)
    -> Result<Self::Ciphertext, SchemeError>;

    /// Switches all of `xs` down to one level, the lowest that suits the next use of any of them:
    /// for operands that are each combined with several others.
    fn prepare_together(
        &self,
        xs: &[&Self::Ciphertext],
        next: NextUse,
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        xs.iter().map(|x| self.prepare(x, next)).collect()
    }

    /// Modulus switching to a lower level; at the same level, a copy. The noise is divided by the
    /// ratio of the moduli, and the floor is added.
    ///
    /// # Errors
    /// A level above that of the ciphertext, or one whose modulus is too small for the noise.
    fn mod_switch_to(
        &self,
        a: &Self::Ciphertext,
        level: Level,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The product of the message polynomial with X^k, for any integer k. It adds no noise and
    /// needs neither a key switch nor a level; it costs one transform for each prime.
    ///
    /// Returns an error if the slots of the set repeat and those of the product would not.
    fn mul_monomial(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// The product of each ciphertext with its X^k, as [`Arithmetic::mul_monomial`]. A power of X
    /// that several of them at one level have is transformed once.
    ///
    /// # Errors
    /// As [`Arithmetic::mul_monomial`].
    fn mul_monomials(
        &self,
        factors: &[(&Self::Ciphertext, i64)],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        factors.iter().map(|(a, k)| self.mul_monomial(a, *k)).collect()
    }
}
