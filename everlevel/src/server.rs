//! The server's side: computing without the key.

use std::num::NonZeroU64;
use std::sync::Arc;

use everlevel_bgv::{Ciphertext, EvalKeys, Evaluator, ServerKeys};
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::expression::{Program, Values};
use everlevel_circuit::sums::sum_by_keys;
use everlevel_circuit::{CircuitError, Session, rotate_by_keys};
use everlevel_ring::Cpu;
use everlevel_scheme::{Arithmetic, Params, Plaintext, Scheme};

use crate::error::Error;

/// A ciphertext in a server's care: the server may replace it by a fresher one with the same
/// message.
pub type Value = everlevel_circuit::Value<Ciphertext>;

/// Computes on ciphertexts and bootstraps them by itself when the next operation would not fit, so
/// that circuits of any depth run. Holds no secret.
///
/// Slots hold integers modulo p^r, or whole elements of GR(p^r, d) where the server bootstraps in
/// full mode (see [`crate::Client::server_for`]): the other modes are for integers only, and lose
/// what else a slot holds without notice, as a server cannot see it.
///
/// Every method takes shared references and may be called from many threads.
///
/// Its keys are in memory ([`ServerKeys`]) or wherever `K` has them, such as in a file
/// ([`crate::wire::FileKeys`]).
pub struct Server<K: EvalKeys = ServerKeys> {
    pub(crate) evaluator: Arc<Evaluator<Cpu, K>>,
    bootstrapper: Option<Arc<Bootstrapper<Evaluator<Cpu, K>>>>,
    auto: Session<Evaluator<Cpu, K>>,
}

impl<K: EvalKeys> Server<K> {
    /// A server with these keys that bootstraps by `plan`.
    ///
    /// # Errors
    /// A plan that does not suit the parameter set.
    pub fn new(keys: K, plan: BootstrapPlan) -> Result<Self, Error> {
        let evaluator = Arc::new(Evaluator::new(keys));
        let bootstrapper = Arc::new(Bootstrapper::new(&*evaluator, plan)?);
        let auto = Session::new(evaluator.clone(), bootstrapper.clone());
        Ok(Server { auto, evaluator, bootstrapper: Some(bootstrapper) })
    }

    /// A server that does not bootstrap, for sets without it and for circuits that fit: what does
    /// not fit is refused.
    pub fn leveled(keys: K) -> Self {
        let evaluator = Arc::new(Evaluator::new(keys));
        Server { auto: Session::leveled(evaluator.clone()), evaluator, bootstrapper: None }
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        self.evaluator.params()
    }

    /// The evaluator below, for operations without automatic bootstrapping: the verbs of
    /// [`Scheme`], in BGV and in BFV form alike, and conversion between the two
    /// (`PlainModulus::convert`).
    pub fn evaluator(&self) -> &Evaluator<Cpu, K> {
        &self.evaluator
    }

    /// The bootstrapping below, if there is any.
    pub fn bootstrapper(&self) -> Option<&Bootstrapper<Evaluator<Cpu, K>>> {
        self.bootstrapper.as_deref()
    }

    /// The automatic evaluator below, for operations of one's own.
    pub fn automatic(&self) -> &Session<Evaluator<Cpu, K>> {
        &self.auto
    }

    /// How many bootstrappings were done by themselves.
    pub fn bootstraps(&self) -> usize {
        self.auto.bootstraps()
    }

    /// Takes a ciphertext into care. [`Value::get`] gives it back.
    pub fn load(&self, x: Ciphertext) -> Value {
        self.auto.share(x)
    }

    /// What is left to compute with: log2(modulus / (2 * noise bound)).
    pub fn capacity_bits(&self, x: &Value) -> f64 {
        self.evaluator.capacity_bits(&x.get())
    }

    /// Bootstraps now.
    ///
    /// # Errors
    /// A ciphertext that is too noisy, missing keys, a server that does not bootstrap.
    pub fn bootstrap(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let bootstrapper = self.bootstrapper.as_ref().ok_or(CircuitError::NoBootstrapping)?;
        Ok(bootstrapper.bootstrap(&self.evaluator, x)?)
    }

    /// Runs a program on named values of one plaintext modulus and returns its outputs. `progress`
    /// is called with the number of statements done.
    ///
    /// # Errors
    /// A missing input or key, values of other parameters.
    pub fn run(
        &self,
        program: &Program,
        inputs: &Values<Evaluator<Cpu, K>>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Values<Evaluator<Cpu, K>>, Error> {
        Ok(program.run(&self.auto, inputs, progress)?)
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

    /// A power, slot by slot, at depth ⌈log2⌉.
    ///
    /// # Errors
    /// Ciphertexts of other parameters.
    pub fn pow(&self, a: &Value, exponent: NonZeroU64) -> Result<Value, Error> {
        Ok(self.auto.pow(a, exponent)?)
    }

    /// The sum of all slots, in every slot. Keys as for [`crate::general_keys`]; a key switch for
    /// each doubling of the slots.
    ///
    /// # Errors
    /// A missing key, a ciphertext of other parameters.
    pub fn sum(&self, a: &Value) -> Result<Value, Error> {
        Ok(self.auto.apply(a, sum_by_keys)?)
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
        self.apply(a, |evaluator, a| Ok(evaluator.mul_plain(a, b)?))
    }

    /// Adds the plaintext's slots.
    ///
    /// # Errors
    /// A ciphertext or plaintext of other parameters.
    pub fn add_plain(&self, a: &Value, b: &Plaintext) -> Result<Value, Error> {
        self.apply(a, |evaluator, a| Ok(evaluator.add_plain(a, b)?))
    }

    /// Rotates the columns of every row (two for p = 1 modulo 4, else one) by `k` to the left. Keys
    /// must have been planned: for this step ([`crate::KeyPlanner::rotations`]), or general ones
    /// ([`crate::general_rotations`]), which may take a lower level and several steps. Whole
    /// elements that pass the end of a row arrive conjugated, see [`crate::SlotShape`].
    ///
    /// # Errors
    /// A missing key, a ciphertext of other parameters.
    pub fn rotate_columns(&self, a: &Value, k: i64) -> Result<Value, Error> {
        Ok(self.auto.apply(a, |s, a| rotate_by_keys(s, a, k))?)
    }

    /// Rotates the slots along a dimension of their hypercube (see [`crate::SlotShape`]) by `k` to
    /// the left, cyclically. The keys must have been planned
    /// ([`crate::KeyPlanner::rotations_along`]). Where the dimension is a bad one, two
    /// automorphisms and two masks: a level.
    ///
    /// # Errors
    /// An unknown dimension, a missing key, a ciphertext of other parameters.
    pub fn rotate_along(&self, a: &Value, dimension: usize, k: i64) -> Result<Value, Error> {
        Ok(self.auto.rotate_along(a, dimension, k)?)
    }

    /// Exchanges the two rows; where there is one row (p = 3 modulo 4), the identity. The key must
    /// have been planned ([`crate::KeyPlanner::row_swap`]).
    ///
    /// # Errors
    /// A missing key, a ciphertext of other parameters.
    pub fn swap_rows(&self, a: &Value) -> Result<Value, Error> {
        Ok(self.auto.swap_rows(a)?)
    }

    /// Any operation on one ciphertext: tried, and tried again on a bootstrapped operand if its
    /// result could not be bootstrapped.
    ///
    /// # Errors
    /// An operation that is too deep even for a fresh operand; errors of the operation.
    pub fn apply(
        &self,
        a: &Value,
        operation: impl Fn(&Evaluator<Cpu, K>, &Ciphertext) -> Result<Ciphertext, CircuitError>,
    ) -> Result<Value, Error> {
        Ok(self.auto.apply(a, operation)?)
    }
}
