//! Recommends a method of computation and a parameter set for given values, rows and operations.
//!
//! The user states what the values are; the planner chooses plaintext modulus, slots and levels.
//! Each operation is rehearsed on the no-op scheme, with the set and the types that are then
//! recommended, so that it is not refused later.

mod error;
mod fewer;
mod lines;
mod modular;
mod operations;
mod query;
mod recommendation;
mod request;
mod tables;
mod typed;

use everlevel::OptIn;
use everlevel_integers::TablePlans;

pub use error::{MOST_ROWS, WorkloadError};
pub use operations::Operation;
pub use recommendation::{OperationCost, Recommendation, Rejected, SetCost, Way, WorkloadPlan};
pub use request::{Workload, parse_largest, parse_rows};

impl Workload {
    /// Recommends how to compute the workload, on which set, and states the cost.
    ///
    /// The recommendation is modular arithmetic if no result can wrap and its ciphertexts are not
    /// larger than those of typed integers, tables if rows are only filtered and added up, and
    /// typed integers otherwise. Sets have 128 bits of security unless `opt_in` allows others,
    /// which are then tried first. If the rows fill at most a quarter of the slots and ciphertexts
    /// are bootstrapped, the set with fewer used slots is recommended, where it takes less. Takes
    /// seconds.
    ///
    /// # Errors
    /// [`WorkloadError::Unsupported`] for an operation that no set supports, with an alternative.
    pub fn plan(&self, opt_in: OptIn) -> Result<WorkloadPlan, WorkloadError> {
        let (plans, mut others) = (TablePlans::default(), Vec::new());
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
                typed::plan(self, &plans, opt_in)?
            }
        };
        Ok(WorkloadPlan { recommended: fewer::or_all(self, &plans, recommended), others })
    }
}
