//! Which operations of a plan are computed at the same time.

use super::{Plan, PlannedColumn, wrong};
use crate::compute::{Room, evaluate};
use crate::error::Error;

impl Plan {
    /// The names of the operations that [`Plan::run`] computes at the same time, one group after
    /// the other, on a server with this number of threads. Sums that are results follow, one by
    /// one.
    ///
    /// The operations of a group need no result of each other. They read at most as many
    /// ciphertexts as there are threads and, if the server `bootstraps`, none in common. Those that
    /// put the same column in order are in groups of their own, as they share its ranks. Here each
    /// column is one ciphertext; those with more digits are more, which makes smaller groups.
    ///
    /// # Errors
    /// An expression with an argument of another plan.
    pub fn schedule(
        &self,
        threads: usize,
        bootstraps: bool,
    ) -> Result<Vec<Vec<&'static str>>, Error> {
        let roots: Vec<_> = self.wanted().into_iter().flatten().collect();
        let (mut groups, mut columns) = (Vec::new(), self.inputs.len());
        evaluate(
            &roots,
            Room { ciphertexts: threads, apart: bootstraps },
            |x: &PlannedColumn| {
                let place = self.inputs.iter().position(|own| own.name == x.name);
                place.ok_or_else(|| wrong(format!("argument {} is missing", x.name)))
            },
            |column: &usize| vec![*column],
            |calls| {
                groups.push(calls.iter().map(|call| call.operation.name()).collect());
                let results = calls.iter().map(|_| {
                    columns += 1;
                    Ok(columns)
                });
                results.collect()
            },
        )?;
        Ok(groups)
    }
}
