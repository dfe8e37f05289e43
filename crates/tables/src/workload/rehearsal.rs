//! Counting on the no-op scheme.

use std::sync::Arc;

use everlevel::lab::{NoOp, Session};
use everlevel::{Error, Params, TimeModel};

use crate::pretend;

use super::recommendation::OperationCost;

/// A session on the no-op scheme of a set, which bootstraps if the set does.
pub(super) struct Rehearsal {
    pub(super) params: Params,
    pub(super) session: Session<NoOp>,
}

/// What something took.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    products: u64,
    refreshes: u64,
    seconds: f64,
}

impl Rehearsal {
    pub(super) fn new(params: &Params) -> Result<Self, Error> {
        let session = pretend::session(params, Arc::new(NoOp::blank(params)))?;
        Ok(Rehearsal { params: params.clone(), session })
    }

    /// A result, and what it took.
    pub(super) fn counted<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Counted), E> {
        let (before, refreshed) = (self.session.scheme().cost(), self.session.bootstraps());
        let found = work()?;
        let cost = self.session.scheme().cost() - before;
        let counted = Counted {
            products: cost.products,
            refreshes: (self.session.bootstraps() - refreshed) as u64,
            seconds: TimeModel::typical(self.params.degree()).seconds(&cost),
        };
        Ok((found, counted))
    }

    /// The ciphertexts that `rows` values take.
    pub(super) fn blocks(&self, rows: u64) -> u64 {
        rows.div_ceil(self.params.slots() as u64)
    }
}

impl Counted {
    /// As the cost of an operation, on `blocks` blocks.
    pub(super) fn cost(
        self,
        blocks: u64,
        operation: &'static str,
        rehearsed: String,
        (low, high): (i128, i128),
    ) -> OperationCost {
        OperationCost {
            operation,
            rehearsed,
            low: Some(low.to_string()),
            high: Some(high.to_string()),
            products: self.products.saturating_mul(blocks),
            refreshes: self.refreshes.saturating_mul(blocks),
            seconds: self.seconds * blocks as f64,
        }
    }
}
