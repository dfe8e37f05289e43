//! The server keys that questions take, and no others.

use std::sync::Arc;

use everlevel::lab::{Bootstrapper, NoOp, Session};
use everlevel::{Integers, KeyPlan, Params, Plaintext, bootstrap_plan};

use crate::error::TablesError;
use crate::plan::Plan;
use crate::run::Runner;
use crate::stored::cost::pretended;

/// Whether a server without bootstrapping could not compute it, where one with could.
fn is_deep(e: &TablesError) -> bool {
    let deep = [
        "integers.depth",
        "circuit.not-enough-capacity",
        "scheme.noise-overflow",
        "scheme.not-enough-capacity",
    ];
    deep.contains(&e.code())
}

impl Plan {
    /// The server keys that the plan takes for a table of so many rows, whichever key it was
    /// encrypted with: a few percent of general ones where nothing has to be bootstrapped, which
    /// is so for most questions. Keys of several plans are merged with [`KeyPlan::merge`].
    ///
    /// Found by running it on the no-op scheme, block by block.
    ///
    /// # Errors
    /// As [`Plan::cost`].
    pub fn keys(&self, params: &Params, rows: usize) -> Result<KeyPlan, TablesError> {
        let mut found = KeyPlan::default();
        for public in [false, true] {
            let keys = match self.rehearsed(params, rows, public, false) {
                Err(e) if is_deep(&e) && params.spec().bootstrap.is_some() => {
                    self.rehearsed(params, rows, public, true)
                }
                keys => keys,
            };
            found = found.merge(&keys?);
        }
        Ok(found)
    }

    /// The keys that were used, with encryptions under the secret key or the public one.
    fn rehearsed(
        &self,
        params: &Params,
        rows: usize,
        public: bool,
        bootstraps: bool,
    ) -> Result<KeyPlan, TablesError> {
        let (needed, schema) = self.needed()?;
        let (_, layout) = self.layout(params, rows)?;
        let scheme = Arc::new(NoOp::blank(params));
        let session = if bootstraps {
            let bootstrapper = Bootstrapper::new(&*scheme, bootstrap_plan(params)?);
            let bootstrapper = bootstrapper.map_err(everlevel::Error::from)?;
            Session::new(scheme.clone(), Arc::new(bootstrapper))
        } else {
            Session::leveled(scheme.clone())
        };
        let ints = Integers::new(&session, params)?;
        let width = self.schema().fields().len();
        let mut runner = Runner::new(&ints, &schema, &layout);
        let encrypt = |zero: &Plaintext| match public {
            true => scheme.encrypt_publicly(zero),
            false => scheme.encrypt(zero),
        };
        for length in layout.blocks() {
            // Constants fill all slots.
            let table = pretended(params, &schema, length, encrypt)?;
            let constants = pretended(params, &schema, params.slots(), encrypt)?;
            let columns = needed.iter().zip(table.into_iter().zip(constants));
            let columns = columns.map(|(place, (column, constant))| match *place < width {
                true => Ok(column),
                false => ints.shortened(&constant, length),
            });
            runner.add(&columns.collect::<Result<Vec<_>, _>>()?)?;
        }
        runner.finish()?;
        Ok(scheme.key_plan())
    }
}
