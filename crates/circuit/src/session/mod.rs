//! An evaluator for circuits of any depth, which bootstraps automatically. Its operations are in
//! [`operations`].

mod operations;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everlevel_scheme::{Bootstrappable, SchemeError};

use crate::bootstrap::Bootstrapper;
use crate::error::CircuitError;

pub use value::Value;

/// As many values are bootstrapped together: their baby steps and digits are in memory at the same
/// time, some 150 MiB for each at n = 2^15.
const TOGETHER: usize = 4;

/// A value and what it was when it was seen.
type Seen<'a, C> = (&'a Value<C>, Arc<C>);

/// An operation on two ciphertexts of a scheme.
type Operation<'a, S, C> = dyn Fn(&S, &C, &C) -> Result<C, CircuitError> + 'a;

/// Takes the item of the least size out of a list, the last one of several.
///
/// Operations on ciphertexts are tried again and again with the operand bootstrapped that has the
/// least capacity. They differ in their type, so that sorting their operands would be compiled for
/// each of them.
pub fn take_least<T>(items: &mut Vec<T>, size: impl Fn(&T) -> f64) -> Option<T> {
    let least = (0..items.len()).max_by(|&i, &j| size(&items[j]).total_cmp(&size(&items[i])))?;
    Some(items.remove(least))
}

/// An evaluator for circuits of any depth.
///
/// Every result keeps at least the capacity that a later bootstrapping needs. If an operation would
/// leave less, the operand with the least capacity is bootstrapped first, in place. Values whose
/// plaintext modulus was reduced below p^r cannot be bootstrapped; they keep the capacity that
/// decryption needs. A session can be shared between threads.
///
/// Arithmetic wraps modulo p^e. If the ranges of the operands are known ([`Value::within`]), the
/// result has the range that follows for integers without wrapping; comparisons and truncations are
/// refused if wrapping could affect their results. Operations whose effect on ranges is unknown,
/// such as [`Session::apply`], return a value of unknown range.
pub struct Session<S: Bootstrappable> {
    scheme: Arc<S>,
    /// None: operations that exceed the capacity are refused.
    bootstrapper: Option<Arc<Bootstrapper<S>>>,
    /// Without a bootstrapper: whether the session stands for one that has it.
    stands_for_one: bool,
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
            stands_for_one: false,
            bootstraps: AtomicUsize::new(0),
        }
    }

    /// An evaluator without bootstrapping, for sets without it and for circuits of bounded depth:
    /// operations that exceed the capacity are refused.
    pub fn leveled(scheme: Arc<S>) -> Self {
        Session {
            scheme,
            bootstrapper: None,
            stands_for_one: false,
            minimum_capacity: 0.0,
            bootstraps: AtomicUsize::new(0),
        }
    }

    /// An evaluator that does what one with bootstrapping does as long as nothing is bootstrapped,
    /// and refuses the first bootstrapping: for rehearsals that ask whether there is one. Results
    /// keep `minimum_capacity` bits. Unlike [`Session::new`] it prepares no tables.
    pub fn unrefreshed(scheme: Arc<S>, minimum_capacity: f64) -> Self {
        Session { stands_for_one: true, minimum_capacity, ..Session::leveled(scheme) }
    }

    /// The scheme.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// The capacity in bits that every result keeps: what bootstrapping needs, or 0.
    pub fn minimum_capacity(&self) -> f64 {
        self.minimum_capacity
    }

    /// Whether there is bootstrapping. A session that refuses it ([`Session::unrefreshed`]) says
    /// that there is, as the one that it stands for.
    pub fn can_bootstrap(&self) -> bool {
        self.bootstrapper.is_some() || self.stands_for_one
    }

    /// The bootstrapper; none for a session that does not bootstrap.
    pub fn bootstrapper(&self) -> Option<&Bootstrapper<S>> {
        self.bootstrapper.as_deref()
    }

    /// The bootstrapper, for another session on a scheme with the same parameters.
    pub fn shared_bootstrapper(&self) -> Option<Arc<Bootstrapper<S>>> {
        self.bootstrapper.clone()
    }

    /// The number of bootstrappings so far.
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

    /// Bootstraps a value in place, so that all clones share the refreshed ciphertext. A value with
    /// more capacity than bootstrapping would leave is not changed.
    ///
    /// # Errors
    /// As [`Session::refresh`].
    pub fn refresh_in_place(&self, a: &Value<S::Ciphertext>) -> Result<(), CircuitError> {
        self.refresh_together(&[(a, a.get())])
    }

    /// Bootstraps several values in place, as [`Session::refresh_in_place`] does for one, and all
    /// of them together ([`Bootstrapper::bootstrap_many`]), four at a time. A value that another
    /// thread bootstraps meanwhile is waited for, except in a thread of a pool, which bootstraps it
    /// for itself.
    ///
    /// # Errors
    /// As [`Session::refresh`]; some of the values may have been bootstrapped then.
    pub fn refresh_all(&self, values: &[&Value<S::Ciphertext>]) -> Result<(), CircuitError> {
        let mut distinct: Vec<(&Value<S::Ciphertext>, _)> = Vec::with_capacity(values.len());
        for &x in values {
            if !distinct.iter().any(|(y, _)| y.is(x)) {
                distinct.push((x, x.get()));
            }
        }
        let mut rest = distinct.into_iter();
        while !rest.as_slice().is_empty() {
            self.refresh_together(&rest.by_ref().take(TOGETHER).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Bootstraps those values together that no other thread has bootstrapped since they were seen
    /// as the given ciphertexts. It waits for threads that do so now, unless it is in a thread of a
    /// pool ([`Value::refreshing`]).
    fn refresh_together(&self, seen: &[Seen<'_, S::Ciphertext>]) -> Result<(), CircuitError> {
        let bootstrapper = self.bootstrapper.as_ref().ok_or(CircuitError::NoBootstrapping)?;
        // In one order for all threads: none waits for one that waits for it.
        let mut ordered: Vec<_> = seen.iter().map(|(x, _)| *x).collect();
        ordered.sort_by_key(|x| x.address());
        let _guards: Vec<_> = ordered.iter().map(|x| x.refreshing()).collect();
        // What was bootstrapped has more capacity; what was only reduced modulo p^r has as much.
        let capacity = |x: &S::Ciphertext| self.scheme.capacity_bits(x);
        let stale = seen.iter().map(|(x, seen)| (*x, x.get(), seen));
        let stale = stale.filter(|(_, now, seen)| capacity(now) <= capacity(seen));
        let (values, now): (Vec<_>, Vec<_>) = stale.map(|(x, now, _)| (x, now)).unzip();
        let xs: Vec<&S::Ciphertext> = now.iter().map(|now| &**now).collect();
        let fresh = bootstrapper.bootstrap_many(&self.scheme, &xs)?;
        self.bootstraps.fetch_add(fresh.len(), Ordering::Relaxed);
        for (x, fresh) in values.into_iter().zip(fresh) {
            self.set_if_better(x, fresh);
        }
        Ok(())
    }

    /// A fresh encryption may have more capacity than bootstrapping leaves.
    fn set_if_better(&self, x: &Value<S::Ciphertext>, fresh: S::Ciphertext) {
        if self.scheme.capacity_bits(&fresh) > self.scheme.capacity_bits(&x.get()) {
            x.set(Arc::new(fresh));
        }
    }

    /// Reduces the plaintext modulus to the one that bootstrapping supports, in place, for all
    /// clones of the value: x modulo p^e becomes x modulo p^r. Free of cost and noise.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn reduce_in_place(&self, a: &Value<S::Ciphertext>) -> Result<(), CircuitError> {
        let (mut x, exponent) = (a.get(), self.scheme.message_exponent());
        while self.scheme.plain_exponent(&x) > exponent {
            // What another thread has reduced meanwhile, and may have bootstrapped, stays.
            a.replace(&x, self.scheme.reduce_plain_modulus(&x, exponent)?);
            x = a.get();
        }
        Ok(())
    }

    fn bootstrapped(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        let bootstrapper = self.bootstrapper.as_ref().ok_or(CircuitError::NoBootstrapping)?;
        let fresh = bootstrapper.bootstrap(&self.scheme, x)?;
        self.bootstraps.fetch_add(1, Ordering::Relaxed);
        Ok(fresh)
    }

    /// Applies any operation to one ciphertext (a linear map, a polynomial); if the result has too
    /// little capacity, bootstraps the operand and applies the operation again.
    ///
    /// # Errors
    /// A ciphertext of other parameters or of another owner;
    /// [`CircuitError::NotEnoughCapacity`] or an error of the scheme if the operation is too deep
    /// even for a freshly bootstrapped operand; other errors of the operation and of bootstrapping.
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
        self.applied(a, b, &operation)
    }

    /// [`Session::apply2`], compiled once for all operations.
    fn applied(
        &self,
        a: &Value<S::Ciphertext>,
        b: &Value<S::Ciphertext>,
        operation: &Operation<'_, S, S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, CircuitError> {
        let mut stale = if a.is(b) { vec![a] } else { vec![a, b] };
        // Operations assume that their operands are of these parameters.
        stale.iter().try_for_each(|x| self.scheme.check_params(&x.get()))?;
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
            let worst = take_least(&mut stale, |x| self.scheme.capacity_bits(&x.get()));
            let Some(worst) = worst.filter(|_| self.bootstrapper.is_some()) else {
                return Err(shortage);
            };
            self.refresh_together(&[(worst, if worst.is(a) { x } else { y })])?;
        }
    }

    /// Whether bootstrapping is for this: not where digits were dropped, so that values are modulo
    /// a lower power of p.
    fn renewable(&self, x: &S::Ciphertext) -> bool {
        self.scheme.plain_exponent(x) >= self.scheme.message_exponent()
    }
}
