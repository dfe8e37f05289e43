//! Stages, which are evaluated between two refreshes.

use everlevel_circuit::CircuitError;
use everlevel_circuit::straight_line::Circuit;
use everlevel_scheme::{ExactScheme, NextUse};

use crate::blocks::Blocks;
use crate::plan::TablePlan;
use crate::together::Sums;

/// A function of some ciphertexts that is evaluated as a whole.
pub(crate) enum Stage<'a> {
    /// Functions of one digit.
    Table(&'a TablePlan),
    /// Any circuit.
    Circuit(&'a Circuit),
    /// Sums of products with shared operands.
    Sums(&'a Sums),
    /// Such sums for less memory.
    Blocks(&'a Blocks),
}

impl Stage<'_> {
    /// The number of ways to evaluate the stage, of which the cheapest is the first.
    pub(crate) fn ways(&self) -> usize {
        match self {
            Stage::Table(plan) => plan.ways(),
            Stage::Circuit(_) | Stage::Sums(_) | Stage::Blocks(_) => 1,
        }
    }

    pub(crate) fn depth(&self) -> u32 {
        match self {
            Stage::Table(plan) => plan.costs().depth,
            Stage::Circuit(circuit) => circuit.costs().depth,
            Stage::Sums(sums) => sums.depth(),
            Stage::Blocks(blocks) => blocks.depth(),
        }
    }

    /// The results, with `None` for those that are constant.
    pub(crate) fn run<T: ExactScheme>(
        &self,
        scheme: &T,
        inputs: &[&T::Ciphertext],
        way: usize,
    ) -> Result<Vec<Option<T::Ciphertext>>, CircuitError> {
        match (self, inputs) {
            (Stage::Table(plan), [x]) => plan.evaluate(scheme, x, way),
            (Stage::Table(_), _) => {
                Err(CircuitError::InputCount { expected: 1, found: inputs.len() })
            }
            (Stage::Circuit(circuit), _) => {
                Ok(circuit.run(scheme, inputs, NextUse::Keep)?.into_iter().map(Some).collect())
            }
            (Stage::Sums(sums), _) => Ok(sums.run(scheme, inputs)?.into_iter().map(Some).collect()),
            (Stage::Blocks(blocks), _) => {
                Ok(blocks.run(scheme, inputs)?.into_iter().map(Some).collect())
            }
        }
    }
}
