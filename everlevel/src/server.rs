//! The server's side: computing without the key.

use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::{AutoRefresh, CircuitError, Shared};
use everlevel_scheme::{Ciphertext, Evaluator, Params, Plaintext, Scheme, ServerKeys};

use crate::error::Error;

/// A ciphertext in a server's care: the server may replace it by a fresher one with the same message.
pub type Value = Shared<Ciphertext>;

/// Computes on ciphertexts and bootstraps them by itself when the next operation would not fit, so that circuits of any depth run. Holds
/// no secret.
///
/// Every method takes shared references and may be called from many threads.
pub struct Server {
    bgv: Arc<Evaluator>,
    bootstrapper: Arc<Bootstrapper<Evaluator>>,
    auto: AutoRefresh<Evaluator>,
}

impl Server {
    /// A server with these keys that bootstraps by `plan`.
    ///
    /// # Errors
    /// A plan that does not suit the parameter set.
    pub fn new(keys: ServerKeys, plan: BootstrapPlan) -> Result<Self, Error> {
        let bgv = Arc::new(Evaluator::new(keys));
        let bootstrapper = Arc::new(Bootstrapper::new(&*bgv, plan)?);
        Ok(Server { auto: AutoRefresh::new(bgv.clone(), bootstrapper.clone()), bgv, bootstrapper })
    }
    /// The parameter set.
    pub fn params(&self) -> &Params {
        self.bgv.params()
    }
    /// The evaluator below, for operations without automatic bootstrapping.
    pub fn evaluator(&self) -> &Evaluator {
        &self.bgv
    }
    /// The bootstrapping below.
    pub fn bootstrapper(&self) -> &Bootstrapper<Evaluator> {
        &self.bootstrapper
    }
    /// The automatic evaluator below, for operations of one's own.
    pub fn automatic(&self) -> &AutoRefresh<Evaluator> {
        &self.auto
    }
    /// How many bootstrappings were done by themselves.
    pub fn bootstraps(&self) -> usize {
        self.auto.bootstraps()
    }
    /// Takes a ciphertext into care. [`Shared::get`] gives it back.
    pub fn load(&self, x: Ciphertext) -> Value {
        self.auto.share(x)
    }
    /// What is left to compute with: log2(modulus / (2 * noise bound)).
    pub fn capacity_bits(&self, x: &Value) -> f64 {
        self.bgv.capacity_bits(&x.get())
    }
    /// Bootstraps now.
    ///
    /// # Errors
    /// A ciphertext that is too noisy, missing keys.
    pub fn bootstrap(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.bootstrapper.bootstrap(&self.bgv, x)?)
    }

    /// Sum, slot by slot.
    ///
    /// # Errors
    /// Ciphertexts of other parameters.
    pub fn add(&self, a: &Value, b: &Value) -> Result<Value, Error> {
        Ok(self.auto.add(a, b)?)
    }
    /// Difference, slot by slot.
    ///
    /// # Errors
    /// Ciphertexts of other parameters.
    pub fn sub(&self, a: &Value, b: &Value) -> Result<Value, Error> {
        Ok(self.auto.sub(a, b)?)
    }
    /// Product, slot by slot.
    ///
    /// # Errors
    /// Ciphertexts of other parameters.
    pub fn mul(&self, a: &Value, b: &Value) -> Result<Value, Error> {
        Ok(self.auto.mul(a, b)?)
    }
    /// Negation.
    ///
    /// # Errors
    /// A ciphertext of other parameters.
    pub fn neg(&self, a: &Value) -> Result<Value, Error> {
        Ok(self.auto.neg(a)?)
    }
    /// Adds `k` in every slot.
    ///
    /// # Errors
    /// A ciphertext of other parameters.
    pub fn add_scalar(&self, a: &Value, k: i64) -> Result<Value, Error> {
        Ok(self.auto.add_scalar(a, k)?)
    }
    /// Multiplies every slot by `k`.
    ///
    /// # Errors
    /// A ciphertext of other parameters.
    pub fn mul_scalar(&self, a: &Value, k: i64) -> Result<Value, Error> {
        Ok(self.auto.mul_scalar(a, k)?)
    }
    /// Multiplies every slot by the plaintext's.
    ///
    /// # Errors
    /// A ciphertext or plaintext of other parameters.
    pub fn mul_plain(&self, a: &Value, b: &Plaintext) -> Result<Value, Error> {
        self.apply(a, |bgv, a| Ok(bgv.mul_plain(a, b)?))
    }
    /// Adds the plaintext's slots.
    ///
    /// # Errors
    /// A ciphertext or plaintext of other parameters.
    pub fn add_plain(&self, a: &Value, b: &Plaintext) -> Result<Value, Error> {
        self.apply(a, |bgv, a| Ok(bgv.add_plain(a, b)?))
    }
    /// Rotates the columns of both rows by `k` to the left. The key must have been planned ([`crate::KeyPlanner::rotations`]).
    ///
    /// # Errors
    /// A missing key, a ciphertext of other parameters.
    pub fn rotate_columns(&self, a: &Value, k: i64) -> Result<Value, Error> {
        Ok(self.auto.rotate_columns(a, k)?)
    }
    /// Exchanges the rows. The key must have been planned ([`crate::KeyPlanner::row_swap`]).
    ///
    /// # Errors
    /// A missing key, a ciphertext of other parameters.
    pub fn swap_rows(&self, a: &Value) -> Result<Value, Error> {
        Ok(self.auto.swap_rows(a)?)
    }
    /// Any operation on one ciphertext: tried, and tried again on a bootstrapped operand if its result could not be bootstrapped.
    ///
    /// # Errors
    /// An operation that is too deep even for a fresh operand; errors of the operation.
    pub fn apply(
        &self,
        a: &Value,
        operation: impl Fn(&Evaluator, &Ciphertext) -> Result<Ciphertext, CircuitError>,
    ) -> Result<Value, Error> {
        Ok(self.auto.apply(a, operation)?)
    }
}
