//! The evaluator: parameters, server keys, the engine, and counters of operations.

mod arithmetic;
mod combination;
pub(crate) mod diagonal;
mod engine_keys;
pub(crate) mod linear_maps;
pub(crate) mod mod_raise;
mod operands;
mod plain_modulus;
pub(crate) mod prepared;
pub(crate) mod product;
mod product_sum;
mod relinearize;
mod resident_keys;

use std::sync::Arc;

use everlevel_ring::{Cpu, Engine};

use self::resident_keys::ResidentKeys;
use crate::ciphertext::Ciphertext;
use crate::keys::{EvalKeys, ServerKeys};
use everlevel_scheme::Params;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{Cost, Counters, SchemeError, same_owner};

/// The evaluator of BGV and BFV, over ring-LWE and NTRU: parameters and server keys, on the
/// processor or on another [`Engine`]. It holds no secret. All operands of an operation must have
/// the same form, which is that of the result
/// ([`PlainModulus::convert`](everlevel_scheme::PlainModulus::convert)).
pub struct Evaluator<E: Engine = Cpu, K: EvalKeys = ServerKeys> {
    params: Params,
    keys: K,
    engine: Arc<E>,
    resident: ResidentKeys<E>,
    counters: Counters,
    transforms_before: u64,
}

impl<K: EvalKeys> Evaluator<Cpu, K> {
    /// An evaluator with these keys, on the processor.
    pub fn new(keys: K) -> Self {
        let engine = keys.params().shared_cpu();
        Self::with_engine(keys, engine, 0)
    }
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// An evaluator with these keys on an engine of the same ring. An engine with memory of its own
    /// keeps copies of keys there, of at most `key_bytes` bytes in all, but always the key that was
    /// used last.
    ///
    /// # Panics
    /// If the engine computes in another ring than that of the keys' parameters.
    pub fn with_engine(keys: K, engine: Arc<E>, key_bytes: u64) -> Self {
        let params = keys.params().clone();
        assert!(engine.ring().same(params.ring()), "an engine of the parameters' ring");
        let transforms_before = engine.transform_count();
        let resident = ResidentKeys::new(key_bytes);
        Evaluator {
            params,
            keys,
            engine,
            resident,
            counters: Counters::default(),
            transforms_before,
        }
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Refuses an operand of another parameter set: a comparison of two words, before every
    /// operation.
    pub(crate) fn check_set(&self, operand: &Meta) -> Result<(), SchemeError> {
        self.params.noise().check_origin(operand, "the ciphertext")
    }

    /// Checks that an operand belongs to the parameter set and to the secret key of the server
    /// keys, once for each operation that uses keys or has two operands.
    pub(crate) fn check_owner(
        &self,
        operand: &Meta,
        operation: &'static str,
    ) -> Result<(), SchemeError> {
        self.check_set(operand)?;
        same_owner(operand.owner, self.keys.owner(), operation)
    }

    /// The keys.
    pub fn keys(&self) -> &K {
        &self.keys
    }

    /// The engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The bytes of the keys that are in the memory of the engine, a word for each residue; none on
    /// the processor, which needs no copies of them.
    pub fn resident_key_bytes(&self) -> u64 {
        self.resident.bytes()
    }

    /// A ciphertext in the memory of the engine, with the seed of its original. On the processor it
    /// shares its polynomials with the original.
    ///
    /// # Errors
    /// A ciphertext of other parameters, or a fault of the engine.
    pub fn upload(&self, x: &Ciphertext) -> Result<Ciphertext<E>, SchemeError> {
        x.check(self.params())?;
        self.engine.status()?;
        Ok(x.copied(x.components.iter().map(|c| self.engine.upload(c)).collect()))
    }

    /// A ciphertext in the memory of the processor.
    ///
    /// # Errors
    /// A fault of the engine, now or earlier.
    pub fn download(&self, x: &Ciphertext<E>) -> Result<Ciphertext, SchemeError> {
        let components = x.components.iter().map(|c| self.engine.download(c));
        Ok(x.copied(components.collect::<Result<_, _>>()?))
    }

    /// The cost of the operations so far. Transforms are those of the whole engine since this
    /// evaluator was created.
    pub fn cost(&self) -> Cost {
        let transforms = self.engine.transform_count() - self.transforms_before;
        Cost { transforms, ..self.counters.snapshot() }
    }
}
