//! The evaluator: parameters, server keys and counters.

mod arithmetic;
pub(crate) mod diagonal;
pub(crate) mod key_switch;
pub(crate) mod linear_maps;
pub(crate) mod mod_raise;
mod operands;
pub(crate) mod prepared;
pub(crate) mod product;
mod relinearize;

use std::sync::OnceLock;

use everlevel_arith::{ArithError, TensorTable};

use crate::keys::{EvalKeys, ServerKeys};
use everlevel_scheme::Params;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{Cost, Counters, SchemeError, same_owner};

/// The evaluator of BGV and BFV, over ring-LWE and NTRU: parameters and server keys. It holds no
/// secret. Operands of one operation have one form; results have it too
/// ([`Scheme::convert`](everlevel_scheme::Scheme::convert)).
pub struct Evaluator<K: EvalKeys = ServerKeys> {
    pub(super) params: Params,
    pub(super) keys: K,
    pub(super) counters: Counters,
    transforms_before: u64,
    /// The transforms along the last axis, the last two, .., prime by prime: diagonals have values
    /// there only. Computed at their first use.
    pub(super) last_axes: Vec<Vec<OnceLock<Result<TensorTable, ArithError>>>>,
}

impl<K: EvalKeys> Evaluator<K> {
    /// An evaluator with these keys.
    pub fn new(keys: K) -> Self {
        let params = keys.params().clone();
        let transforms_before = params.ring().transform_count();
        let axes = params.slot_shape().axes().map_or(0, |axes| axes.all().len());
        let last_axes = (0..axes)
            .map(|_| (0..params.ring().prime_count()).map(|_| OnceLock::new()).collect())
            .collect();
        Evaluator { params, keys, counters: Counters::default(), transforms_before, last_axes }
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Passes an operand of the secret key that the keys belong to: what is compared once for each
    /// operation that uses keys or has two operands.
    pub(crate) fn check_owner(
        &self,
        operand: &Meta,
        operation: &'static str,
    ) -> Result<(), SchemeError> {
        same_owner(operand.owner, self.keys.owner(), operation)
    }

    /// The keys.
    pub fn keys(&self) -> &K {
        &self.keys
    }

    /// What was computed so far. Transforms are those of the whole ring since this evaluator was
    /// made.
    pub fn cost(&self) -> Cost {
        let transforms = self.params.ring().transform_count() - self.transforms_before;
        Cost { transforms, ..self.counters.snapshot() }
    }
}
