//! Plaintext diagonals in evaluations.

use everlevel_ring::{Basis, Cpu, Engine};

use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::DiagonalValues;
use everlevel_scheme::SchemeError;
use everlevel_scheme::diagonal_plaintext;
use everlevel_scheme::noise::Profile;
use everlevel_scheme::spec::{Level, SetId};

/// A plaintext diagonal in evaluations, which repeat like the slots that it came from.
pub struct Diagonal<E: Engine = Cpu> {
    pub(super) evaluations: E::Diagonal,
    /// The set that it was prepared for.
    pub(super) set: SetId,
    exponent: u32,
    basis: Basis,
    profile: Profile,
}

impl<E: Engine> Diagonal<E> {
    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        E::diagonal_bytes(&self.evaluations)
    }

    /// Whether it multiplies ciphertexts of this plaintext exponent over this basis.
    pub(super) fn fits(&self, exponent: u32, basis: Basis) -> bool {
        self.exponent == exponent && basis.is_subset(self.basis)
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.profile
    }
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    pub(super) fn make_diagonal(
        &self,
        values: &DiagonalValues,
        exponent: u32,
        level: Level,
    ) -> Result<Diagonal<E>, SchemeError> {
        let params = self.params();
        let (coefficients, profile) = diagonal_plaintext(params, values, exponent)?;
        let basis = params.chain().extended(level);
        let evaluations = self.engine.diagonal(&coefficients, basis)?;
        Ok(Diagonal { evaluations, set: params.set_id(), exponent, basis, profile })
    }
}
