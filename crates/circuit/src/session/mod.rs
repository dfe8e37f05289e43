//! Circuits of any depth: an evaluator that bootstraps by itself. Its operations are in
//! [`operations`].

mod operations;
mod value;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use everlevel_scheme::{Bootstrappable, SchemeError};

use crate::bootstrap::Bootstrapper;
use crate::error::CircuitError;

pub use value::Value;

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
