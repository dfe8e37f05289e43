//! The operations of a session, each with the range of its result.

use std::num::NonZeroU64;

use everlevel_scheme::{Bootstrappable, NextUse, Plaintext};

use super::{Session, Value};
use crate::compare::Comparison;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, Polynomial, PolynomialPlan};
use crate::range::ValueRange;
use crate::rotate::{rotate_along, rotate_by_keys};
use crate::sums::sum_by_keys;
use crate::truncate::Truncation;

impl<S: Bootstrappable> Session<S> {
    /// Sum, slot by slot.
    ///
    /// # Errors
    /// As [`Session::apply2`].
    pub fn add(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let range = both(a, b, ValueRange::plus);
        Ok(self.apply2(a, b, |s, a, b| Ok(s.add(a, b)?))?.within(range))
    }

    /// Difference, slot by slot.
    ///
    /// # Errors
    /// As [`Session::apply2`].
    pub fn sub(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let range = both(a, b, |x, y| x.plus(y.negated()));
        Ok(self.apply2(a, b, |s, a, b| Ok(s.sub(a, b)?))?.within(range))
    }

    /// Product, slot by slot.
    ///
    /// # Errors
    /// As [`Session::apply2`].
    pub fn mul(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        // One value may stand for other integers in each operand: then it is no square of them.
        let range = match a.is(b) && a.range == b.range {
            true => a.range.and_then(|x| x.power(2)),
            false => both(a, b, ValueRange::times),
        };
        Ok(self.apply2(a, b, |s, a, b| Ok(s.mul(a, b, NextUse::Product)?))?.within(range))
    }

    /// A power, at depth ⌈log2 exponent⌉: the product of the powers a^(2^i), the small ones first.
    /// It takes a product for each bit of the exponent but the first, and one more for each other
    /// bit that is set.
    ///
    /// # Errors
    /// As [`Session::apply2`].
    pub fn pow(
        &self,
        a: &Value<S::Ciphertext>,
        exponent: NonZeroU64,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let (mut square, mut out) = (a.clone(), None);
        for bit in 0..=exponent.ilog2() {
            if bit > 0 {
                square = self.mul(&square, &square)?;
            }
            if exponent.get() >> bit & 1 == 1 {
                out = Some(match out {
                    None => square.clone(),
                    Some(low) => self.mul(&low, &square)?,
                });
            }
        }
        let range = a.range.and_then(|x| x.power(exponent.get()));
        Ok(out.unwrap_or(square).within(range))
    }

    /// Negation.
    ///
    /// # Errors
    /// As [`Session::apply`].
    pub fn neg(&self, a: &Value<S::Ciphertext>) -> Result<Value<S::Ciphertext>, CircuitError> {
        Ok(self.apply(a, |s, a| Ok(s.neg(a)?))?.within(a.range.map(ValueRange::negated)))
    }

    /// Adds a constant in every slot.
    ///
    /// # Errors
    /// As [`Session::apply`].
    pub fn add_scalar(
        &self,
        a: &Value<S::Ciphertext>,
        k: i64,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let range = a.range.and_then(|x| x.plus(ValueRange::point(k)));
        Ok(self.apply(a, |s, a| Ok(s.add_scalar(a, k)?))?.within(range))
    }

    /// Multiplies every slot by a constant.
    ///
    /// # Errors
    /// As [`Session::apply`].
    pub fn mul_scalar(
        &self,
        a: &Value<S::Ciphertext>,
        k: i64,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let range = a.range.and_then(|x| x.times(ValueRange::point(k)));
        Ok(self.apply(a, |s, a| Ok(s.mul_scalar(a, k)?))?.within(range))
    }

    /// Adds the slots of a plaintext, which are residues, so that the range of the result is
    /// unknown.
    ///
    /// # Errors
    /// As [`Session::apply`]; a plaintext of another set or modulus.
    pub fn add_plain(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Plaintext,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        self.apply(a, |s, a| Ok(s.add_plain(a, b)?))
    }

    /// Multiplies every slot by that of a plaintext, which is a residue, so that the range of the
    /// result is unknown.
    ///
    /// # Errors
    /// As [`Session::apply`]; a plaintext of another set or modulus.
    pub fn mul_plain(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Plaintext,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        self.apply(a, |s, a| Ok(s.mul_plain(a, b)?))
    }

    /// The value of the polynomial Σ c_i x^i in every slot x, with coefficients modulo p^e from the
    /// constant term on, at depth ⌈log2 degree⌉ and with about 2 √degree products
    /// (Paterson–Stockmeyer).
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without coefficients; as [`Session::apply`].
    pub fn polynomial(
        &self,
        a: &Value<S::Ciphertext>,
        coefficients: &[i64],
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let constant = coefficients
            .first()
            .copied()
            .ok_or(CircuitError::Empty { what: "the list of coefficients" })?;
        let exponent = self.scheme.plain_exponent(&a.get());
        let modulus = PrimePower::new(self.scheme.plain_prime(), exponent)?;
        let range = a.range.and_then(|x| x.polynomial(coefficients));
        let residues = coefficients.iter().map(|&c| modulus.reduce_i64(c));
        let polynomial = Polynomial::new(modulus, residues);
        if polynomial.degree() == 0 {
            let zero = self.mul_scalar(a, 0)?;
            return Ok(self.add_scalar(&zero, constant)?.within(range));
        }
        let plan = PolynomialPlan::new(&[polynomial], DepthGoal::Least)?;
        let value = self.apply(a, |s, a| {
            let mut values = plan.evaluate(s, a, NextUse::Product)?;
            values.pop().ok_or(CircuitError::Empty { what: "the values of a polynomial" })
        })?;
        Ok(value.within(range))
    }

    /// The sum of all slots, in every slot: a key switch for each doubling of the slots that are
    /// added up, with the available keys ([`sum_by_keys`]).
    ///
    /// # Errors
    /// As [`Session::apply`]; a missing key.
    pub fn sum(&self, a: &Value<S::Ciphertext>) -> Result<Value<S::Ciphertext>, CircuitError> {
        let slots = ValueRange::point(self.scheme.slot_shape().slots() as i64);
        Ok(self.apply(a, sum_by_keys)?.within(a.range.and_then(|x| x.times(slots))))
    }

    /// The inner product, in every slot: the sum of all slots of the product.
    ///
    /// # Errors
    /// As [`Session::mul`] and [`Session::sum`].
    pub fn dot(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        self.sum(&self.mul(a, b)?)
    }

    /// Rotates the columns of every row by `k` to the left with the available keys, possibly at a
    /// lower level and in several steps ([`rotate_by_keys`]). For a bad last dimension of an index
    /// with axes use [`Session::rotate_along`].
    ///
    /// # Errors
    /// As [`Session::apply`]; a missing key.
    pub fn rotate_columns(
        &self,
        a: &Value<S::Ciphertext>,
        k: i64,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        Ok(self.apply(a, |s, a| rotate_by_keys(s, a, k))?.within(a.range))
    }

    /// Rotates the slots along a dimension by `k` to the left, cyclically, whether it is good or
    /// bad: see [`rotate_along`].
    ///
    /// # Errors
    /// As [`Session::apply`], and [`CircuitError::UnknownDimension`].
    pub fn rotate_along(
        &self,
        a: &Value<S::Ciphertext>,
        dimension: usize,
        k: i64,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let rotated = |s: &S, a: &_| rotate_along(s, a, dimension, k, NextUse::LinearMap);
        Ok(self.apply(a, rotated)?.within(a.range))
    }

    /// Exchanges the two rows; the identity if there is one row.
    ///
    /// # Errors
    /// As [`Session::apply`].
    pub fn swap_rows(
        &self,
        a: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        Ok(self.apply(a, |s, a| Ok(s.swap_rows(a)?))?.within(a.range))
    }

    /// 1 modulo p where the integer is negative, else 0.
    ///
    /// # Errors
    /// [`CircuitError::Range`] unless the range is known and `comparison` supports it; as
    /// [`Session::apply`].
    pub fn is_negative(
        &self,
        a: &Value<S::Ciphertext>,
        comparison: &Comparison,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        comparison.check(a.range)?;
        let value = self.apply(a, |s, x| comparison.is_negative(s, x))?;
        Ok(value.within(ValueRange::new(0, 1)))
    }

    /// 1 modulo p where the integer of `a` is below that of `b`, else 0.
    ///
    /// # Errors
    /// As [`Session::is_negative`], for the range of the difference.
    pub fn less_than(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
        comparison: &Comparison,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        self.is_negative(&self.sub(a, b)?, comparison)
    }

    /// -1, 0 or 1 modulo p: the sign of the integer.
    ///
    /// # Errors
    /// As [`Session::is_negative`].
    pub fn sign(
        &self,
        a: &Value<S::Ciphertext>,
        comparison: &Comparison,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        // The sign is that of x and of x - 1.
        comparison.check(a.range.and_then(|x| x.plus(ValueRange::new(-1, 0)?)))?;
        let value = self.apply(a, |s, x| comparison.sign(s, x))?;
        Ok(value.within(ValueRange::new(-1, 1)))
    }

    /// The integer divided by p^v, to the nearest one (a tie goes up), modulo p^(e - v).
    ///
    /// # Errors
    /// [`CircuitError::Range`] unless the range is known and its integers have different residues;
    /// as [`Session::apply`].
    pub fn round(
        &self,
        a: &Value<S::Ciphertext>,
        truncation: &Truncation,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let range = truncation.rounded(a.range)?;
        Ok(self.apply(a, |s, x| truncation.round(s, x, NextUse::Product))?.within(range))
    }

    /// The largest integer not above the integer divided by p^v, modulo p^(e - v).
    ///
    /// # Errors
    /// As [`Session::round`].
    pub fn floor(
        &self,
        a: &Value<S::Ciphertext>,
        truncation: &Truncation,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let range = truncation.floored(a.range)?;
        Ok(self.apply(a, |s, x| truncation.floor(s, x, NextUse::Product))?.within(range))
    }
}

/// The range of an operation on two values of known range.
fn both<C>(
    a: &Value<C>,
    b: &Value<C>,
    operation: impl Fn(ValueRange, ValueRange) -> Option<ValueRange>,
) -> Option<ValueRange> {
    operation(a.range?, b.range?)
}
