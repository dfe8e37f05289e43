//! What a plan costs and tells, before it is run.

use std::sync::Arc;

use everlevel::lab::{Bootstrapper, NoOp, Session};
use everlevel::{Integers, Params, Plaintext, TimeModel, bootstrap_plan};
use everlevel_integers::{Encoded, Encrypted};
use serde::Serialize;

use crate::error::TablesError;
use crate::plan::Plan;
use crate::query::Query;
use crate::run::Runner;
use crate::schema::Schema;
use crate::stored::result::modulus;

/// What a plan takes on a parameter set, for each block of as many rows as there are slots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlanCost {
    /// Ciphertexts of the columns that are read.
    pub ciphertexts: usize,
    /// Products of ciphertexts, those in bootstrappings included.
    pub products: u64,
    /// Key switches: relinearizations and rotations.
    pub key_switches: u64,
    /// Bootstrappings.
    pub refreshes: usize,
    /// Seconds on a typical core, by a model that counts operations.
    pub seconds: f64,
    /// Ciphertexts of the result.
    pub result_ciphertexts: usize,
    /// Integers that the reader decrypts and adds up: partial sums, each over several rows.
    pub partial_sums: usize,
}

impl Plan {
    /// The columns that the plan reads, or one, which has the number of rows: their places in the
    /// schema, their schema, and the question of a table of these.
    pub(crate) fn needed(&self) -> Result<(Vec<usize>, Schema, Query), TablesError> {
        let mut needed = self.query().columns();
        needed.extend(needed.is_empty().then_some(0));
        let field = |place: &usize| {
            let field = &self.schema().fields()[*place];
            (field.name().to_string(), field.kind().clone())
        };
        let schema = Schema::new(needed.iter().map(field))?;
        let query = self.query().of_columns(&needed);
        Ok((needed.into_iter().collect(), schema, query))
    }

    /// What the plan takes on a server that bootstraps, counted on the no-op scheme.
    ///
    /// # Errors
    /// A set on which typed integers cannot be computed, or whose bootstrapping cannot be planned;
    /// a question that is too deep even for it.
    pub fn cost(&self, params: &Params) -> Result<PlanCost, TablesError> {
        let (_, schema, query) = self.needed()?;
        let scheme = Arc::new(NoOp::blank(params));
        let bootstrapper = Bootstrapper::new(&*scheme, bootstrap_plan(params)?);
        let bootstrapper = bootstrapper.map_err(everlevel::Error::from)?;
        let session = Session::new(scheme.clone(), Arc::new(bootstrapper));
        let ints = Integers::new(&session, params)?;
        let zero = Plaintext::encode(params, &[])?;
        let mut columns = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            let entries = vec![field.bounds().0; params.slots()];
            let encoded = Encoded::new(&entries, field.integer_type()?, params.slots())?;
            columns.push(encoded.encrypt(|_| Ok::<_, TablesError>(scheme.encrypt(&zero)?))?);
        }
        let before = scheme.cost();
        let sums = Runner::new(&ints, &schema, &columns)?.sums(&query)?;
        let cost = scheme.cost() - before;
        let (mut result_ciphertexts, mut partial_sums) = (0, 0);
        for total in sums.totals.into_iter().flatten().flatten() {
            let parts = Encrypted::from(total).to_parts(params.slots(), modulus(params)?)?;
            for digit in parts.digits {
                result_ciphertexts += 1;
                partial_sums += params.slots() / digit.stride.max(1);
            }
        }
        Ok(PlanCost {
            ciphertexts: columns.iter().map(|column| column.ciphertexts()).sum(),
            products: cost.products,
            key_switches: cost.key_switches,
            refreshes: session.bootstraps(),
            seconds: TimeModel::typical(params.degree()).seconds(&cost),
            result_ciphertexts,
            partial_sums,
        })
    }
}
