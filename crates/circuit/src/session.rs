//! Circuits of any depth: an evaluator that bootstraps by itself.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use everlevel_scheme::{Bootstrappable, NextUse, Plaintext, SchemeError};

use crate::bootstrap::Bootstrapper;
use crate::compare::Comparison;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, Polynomial, PolynomialPlan};
use crate::range::ValueRange;
use crate::rotate::{rotate_along, rotate_by_keys};
use crate::sums::sum_by_keys;
use crate::truncate::Truncation;

/// A ciphertext that a [`Session`] may replace by a fresher one with the same message, and the
/// range of its integers, if it is known.
///
/// Clones share the ciphertext, so a value that was bootstrapped for one operation is fresh for all
/// later ones.
pub struct Value<C> {
    cell: Arc<Cell<C>>,
    range: Option<ValueRange>,
}

struct Cell<C> {
    current: RwLock<Arc<C>>,
    /// Held while the ciphertext is bootstrapped, so that two threads do not do it twice.
    refreshing: Mutex<()>,
}

impl<C> Clone for Value<C> {
    fn clone(&self) -> Self {
        Value { cell: self.cell.clone(), range: self.range }
    }
}

impl<C> From<C> for Value<C> {
    fn from(x: C) -> Self {
        let cell = Cell { current: RwLock::new(Arc::new(x)), refreshing: Mutex::new(()) };
        Value { cell: Arc::new(cell), range: None }
    }
}

impl<C> Value<C> {
    /// Which integers the slots hold; none where that is not known, and arithmetic wraps modulo p^e
    /// unnoticed.
    pub fn range(&self) -> Option<ValueRange> {
        self.range
    }

    /// The same value, whose slots hold integers of this range, modulo p^e: so says the caller, for
    /// all slots, those included that hold 0 since nothing was put there. None: it is not known.
    #[must_use]
    pub fn within(self, range: impl Into<Option<ValueRange>>) -> Self {
        Value { range: range.into(), ..self }
    }

    /// The ciphertext as it is now.
    pub fn get(&self) -> Arc<C> {
        self.cell.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, x: Arc<C>) {
        *self.cell.current.write().unwrap_or_else(PoisonError::into_inner) = x;
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cell, &other.cell)
    }
}

/// An evaluator for circuits of any depth.
///
/// Every result keeps at least the capacity with which it can be bootstrapped later. Where an
/// operation would leave less, the operand with the least capacity is bootstrapped first, in place.
/// Values of which digits were dropped, modulo less than p^r, cannot be bootstrapped: they keep
/// what decryption needs.
/// Shareable between threads.
///
/// Arithmetic wraps modulo p^e. Where the ranges of the operands are known ([`Value::within`]),
/// results have the range that follows, as integers that did not wrap; by it comparisons and
/// truncations are refused whose results would depend on a wrap. What cannot be followed, as
/// [`Session::apply`], gives a value of unknown range.
pub struct Session<S: Bootstrappable> {
    scheme: Arc<S>,
    /// None: operations that do not fit are refused.
    bootstrapper: Option<Arc<Bootstrapper<S>>>,
    minimum_capacity: f64,
    bootstraps: AtomicUsize,
}

impl<S: Bootstrappable> Session<S> {
    /// An evaluator over `scheme`.
    pub fn new(scheme: Arc<S>, bootstrapper: Arc<Bootstrapper<S>>) -> Self {
        Session {
            minimum_capacity: bootstrapper.minimum_capacity(&scheme),
            scheme,
            bootstrapper: Some(bootstrapper),
            bootstraps: AtomicUsize::new(0),
        }
    }

    /// An evaluator without bootstrapping: what does not fit is refused. For sets that have none,
    /// and for circuits that fit.
    pub fn leveled(scheme: Arc<S>) -> Self {
        Session {
            scheme,
            bootstrapper: None,
            minimum_capacity: 0.0,
            bootstraps: AtomicUsize::new(0),
        }
    }

    /// The scheme.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// The capacity in bits that every result keeps: what bootstrapping needs, or 0.
    pub fn minimum_capacity(&self) -> f64 {
        self.minimum_capacity
    }

    /// Whether there is bootstrapping.
    pub fn can_bootstrap(&self) -> bool {
        self.bootstrapper.is_some()
    }

    /// What bootstraps; none of a leveled one.
    pub fn bootstrapper(&self) -> Option<&Bootstrapper<S>> {
        self.bootstrapper.as_deref()
    }

    /// How many bootstrappings were done so far.
    pub fn bootstraps(&self) -> usize {
        self.bootstraps.load(Ordering::Relaxed)
    }

    /// Wraps a ciphertext so that the session can refresh it automatically.
    pub fn share(&self, x: S::Ciphertext) -> Value<S::Ciphertext> {
        Value::from(x)
    }

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
        let range = match a.is(b) {
            true => a.range.and_then(|x| x.power(2)),
            false => both(a, b, ValueRange::times),
        };
        Ok(self.apply2(a, b, |s, a, b| Ok(s.mul(a, b, NextUse::Product)?))?.within(range))
    }

    /// A power, at depth ⌈log2⌉: the product of the powers a^(2^i), the small ones first. A product
    /// for each bit of the exponent but the first, and one for each other bit that is set.
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

    /// Adds the plaintext's slots, which are residues: the range of the result is unknown.
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

    /// Multiplies every slot by the plaintext's, a residue: the range of the result is unknown.
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

    /// The polynomial Σ c_i x^i of every slot, coefficients modulo p^e, lowest first, at depth
    /// ⌈log2 of the degree⌉ and with about 2 √degree products (Paterson–Stockmeyer).
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

    /// The sum of all slots, in every slot: a key switch for each doubling of the slots, by the
    /// keys that there are ([`sum_by_keys`]).
    ///
    /// # Errors
    /// As [`Session::apply`]; a missing key.
    pub fn sum(&self, a: &Value<S::Ciphertext>) -> Result<Value<S::Ciphertext>, CircuitError> {
        let slots = ValueRange::point(self.scheme.slot_shape().slots() as i64);
        Ok(self.apply(a, sum_by_keys)?.within(a.range.and_then(|x| x.times(slots))))
    }

    /// The scalar product, in every slot: the sum of all slots of the product.
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

    /// Rotates the columns of every row by `k` to the left, by the keys that there are, which may
    /// take a lower level and several steps ([`rotate_by_keys`]). Along a bad last dimension of an
    /// index with axes take [`Session::rotate_along`].
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

    /// Exchanges the two rows; the identity where there is one row.
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
    /// [`CircuitError::Range`] unless the range is known and one that `comparison` tells apart; as
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
    /// [`CircuitError::Range`] unless the range is known and residues tell its integers apart; as
    /// [`Session::apply`].
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

    /// Bootstraps now.
    ///
    /// # Errors
    /// [`CircuitError::NoBootstrapping`]; those of bootstrapping.
    pub fn refresh(&self, a: &Value<S::Ciphertext>) -> Result<Value<S::Ciphertext>, CircuitError> {
        Ok(Value::from(self.bootstrapped(&a.get())?).within(a.range))
    }

    /// Bootstraps now, in place, so that the value is fresh for all who share it. One that is
    /// fresher than bootstrapping would leave it stays as it is.
    ///
    /// # Errors
    /// As [`Session::refresh`].
    pub fn refresh_in_place(&self, a: &Value<S::Ciphertext>) -> Result<(), CircuitError> {
        self.refresh_operand(a, &a.get())
    }

    /// Forgets the digits above those that bootstrapping keeps, in place, for all who share the
    /// value: x modulo p^e becomes x modulo p^r. Free.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn reduce_in_place(&self, a: &Value<S::Ciphertext>) -> Result<(), CircuitError> {
        let (x, exponent) = (a.get(), self.scheme.message_exponent());
        if self.scheme.plain_exponent(&x) > exponent {
            a.set(Arc::new(self.scheme.reduce_plain_modulus(&x, exponent)?));
        }
        Ok(())
    }

    fn bootstrapped(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        let bootstrapper = self.bootstrapper.as_ref().ok_or(CircuitError::NoBootstrapping)?;
        let fresh = bootstrapper.bootstrap(&self.scheme, x)?;
        self.bootstraps.fetch_add(1, Ordering::Relaxed);
        Ok(fresh)
    }

    /// Any operation on one ciphertext (a linear map, a polynomial): tried, and tried again on a
    /// bootstrapped operand if its result has too little capacity.
    ///
    /// # Errors
    /// [`CircuitError::NotEnoughCapacity`] or the scheme's refusal if the operation is too deep
    /// even for a fresh operand; other errors of the operation and of bootstrapping.
    pub fn apply(
        &self,
        a: &Value<S::Ciphertext>,
        operation: impl Fn(&S, &S::Ciphertext) -> Result<S::Ciphertext, CircuitError>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        self.apply2(a, a, |s, a, _| operation(s, a))
    }

    /// Any operation on two ciphertexts.
    ///
    /// # Errors
    /// As [`Session::apply`].
    pub fn apply2<F>(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
        operation: F,
    ) -> Result<Value<S::Ciphertext>, CircuitError>
    where
        F: Fn(&S, &S::Ciphertext, &S::Ciphertext) -> Result<S::Ciphertext, CircuitError>,
    {
        let mut stale = if a.is(b) { vec![a] } else { vec![a, b] };
        stale.retain(|x| self.renewable(&x.get()));
        loop {
            let (x, y) = (a.get(), b.get());
            let shortage = match operation(&self.scheme, &x, &y) {
                Ok(result) => {
                    let left = self.scheme.capacity_bits(&result);
                    let needed = match self.renewable(&result) {
                        true => self.minimum_capacity,
                        false => 0.0,
                    };
                    if left >= needed {
                        return Ok(Value::from(result));
                    }
                    CircuitError::NotEnoughCapacity { left, needed }
                }
                Err(error @ CircuitError::Scheme(SchemeError::NoiseOverflow { .. })) => error,
                Err(error) => return Err(error),
            };
            let capacity = |x: &Value<S::Ciphertext>| self.scheme.capacity_bits(&x.get());
            stale.sort_by(|x, y| capacity(y).total_cmp(&capacity(x)));
            let Some(worst) = stale.pop().filter(|_| self.bootstrapper.is_some()) else {
                return Err(shortage);
            };
            self.refresh_operand(worst, if worst.is(a) { &x } else { &y })?;
        }
    }

    /// Whether bootstrapping is for this: not where digits were dropped, so that values are modulo
    /// a lower power of p.
    fn renewable(&self, x: &S::Ciphertext) -> bool {
        self.scheme.plain_exponent(x) >= self.scheme.message_exponent()
    }

    /// Bootstraps `x` unless another thread has done so since it was `seen`.
    fn refresh_operand(
        &self,
        x: &Value<S::Ciphertext>,
        seen: &Arc<S::Ciphertext>,
    ) -> Result<(), CircuitError> {
        let _guard = x.cell.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = x.get();
        if Arc::ptr_eq(&current, seen) {
            let fresh = self.bootstrapped(&current)?;
            // A fresh encryption may have more capacity than bootstrapping leaves.
            if self.scheme.capacity_bits(&fresh) > self.scheme.capacity_bits(&current) {
                x.set(Arc::new(fresh));
            }
        }
        Ok(())
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
