//! From values, rows and operations to a way of computing and a parameter set.
//!
//! The user says what the values are; plaintext moduli, slots and levels are the planner's. Nothing
//! here is looked up: each operation is rehearsed on the no-op scheme of the set that is then
//! recommended, at the types that are recommended, so that it is not refused later.

mod error;
mod lines;
mod modular;
mod operations;
mod query;
mod recommendation;
mod request;
mod tables;
mod typed;

use everlevel::OptIn;

pub use error::{MOST_ROWS, WorkloadError};
pub use operations::Operation;
pub use recommendation::{OperationCost, Recommendation, Rejected, Way, WorkloadPlan};
pub use request::{Workload, parse_largest, parse_rows};

impl Workload {
    /// How to compute, on which set, and what that takes.
    ///
    /// Modular arithmetic where no result can wrap and its ciphertexts are no larger than those of
    /// typed integers; tables where rows are only filtered and added up; typed integers else. Sets
    /// have 128 bits unless `opt_in` allows others, which are then tried first. Takes seconds.
    ///
    /// # Errors
    /// [`WorkloadError::Unsupported`] for an operation that no set does, with the way out.
    pub fn plan(&self, opt_in: OptIn) -> Result<WorkloadPlan, WorkloadError> {
        let mut others = Vec::new();
        let mut rejected = |way, reason| others.push(Rejected { way, reason });
        let modular = modular::plan(self, opt_in);
        let asked = tables::plan(self, opt_in);
        let recommended = match (modular, asked) {
            (Ok(modular), asked) => {
                if let Err(reason) = asked {
                    rejected(Way::Tables, reason);
                }
                let reason = "sums and products modulo p that cannot wrap take less".into();
                rejected(Way::Integers, reason);
                modular
            }
            (Err(reason), Ok(tables)) => {
                rejected(Way::Modular, reason);
                let reason = "rows are only filtered and added up, which tables do in one query";
                rejected(Way::Integers, reason.into());
                tables
            }
            (Err(reason), Err(asked)) => {
                rejected(Way::Modular, reason);
                rejected(Way::Tables, asked);
                typed::plan(self, opt_in)?
            }
        };
        Ok(WorkloadPlan { recommended, others })
    }
}
