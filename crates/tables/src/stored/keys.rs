//! The server keys that given queries need.

use std::sync::Arc;

use everlevel::lab::{Bootstrappable, Bootstrapper, NoOp, Session};
use everlevel::{Integers, KeyPlan, Params, Plaintext, bootstrap_plan};
use everlevel_integers::{EncryptedConstant, TablePlans};

use crate::error::TablesError;
use crate::field::Field;
use crate::kept::Kept;
use crate::known::Known;
use crate::plan::Plan;
use crate::run::Runner;
use crate::starts::Starts;
use crate::stored::cost::{least, pretended};

/// Whether the error means that a server with bootstrapping could compute it, but one without could
/// not.
fn is_deep(e: &TablesError) -> bool {
    let deep = [
        "integers.depth",
        "circuit.not-enough-capacity",
        "scheme.noise-overflow",
        "scheme.not-enough-capacity",
    ];
    deep.contains(&e.code())
}

/// The key with which a column is encrypted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Secret,
    Public,
    /// The server knows it.
    None,
}

/// A rehearsal of a plan, with the encryption of the table and of the constants.
#[derive(Clone, Copy)]
struct Rehearsal {
    table: Encryption,
    constants: Encryption,
}

impl Rehearsal {
    /// All combinations on which a plan may be run.
    fn of(plan: &Plan) -> Vec<Rehearsal> {
        use Encryption::{None, Public, Secret};
        let all = |tables: &[Encryption], constants: &[Encryption]| {
            let pairs = tables.iter().flat_map(|table| constants.iter().map(move |c| (*table, *c)));
            pairs.map(|(table, constants)| Rehearsal { table, constants }).collect()
        };
        match plan.query().parameters.is_empty() {
            true => all(&[Secret, Public], &[Secret]),
            false => all(&[Secret, Public, None], &[Secret, Public]),
        }
    }
}

impl Plan {
    /// The server keys that the plan needs for a table of `rows` rows, whichever keys the table and
    /// the constants were encrypted with, and whether or not the server knows the table. They take
    /// a few percent of the size of general keys if nothing has to be bootstrapped, as for most
    /// queries. The keys of several plans are merged with [`KeyPlan::merge`].
    ///
    /// They are found by a run on the no-op scheme, with two full blocks and the last one.
    ///
    /// # Errors
    /// As [`Plan::cost`].
    pub fn keys(&self, params: &Params, rows: usize) -> Result<KeyPlan, TablesError> {
        let plans = TablePlans::default();
        let starts = self.starts(params, rows, &plans, None)?;
        self.keys_from(&starts, (params, &plans), rows)
    }

    /// The same where the conditions begin at these levels.
    pub(crate) fn keys_from(
        &self,
        starts: &Starts,
        (params, plans): (&Params, &TablePlans),
        rows: usize,
    ) -> Result<KeyPlan, TablesError> {
        let (mut found, top) = (KeyPlan::default(), Starts::default());
        // What a server puts in order it bootstraps.
        let orders = self.layout(params, rows)?.1.orders();
        let bootstraps = params.spec().bootstrap.is_some();
        for of in Rehearsal::of(self) {
            // A table in the clear has conditions that begin at the top.
            let starts = if of.table == Encryption::None { &top } else { starts };
            let rehearsed =
                |bootstraps| self.rehearsed((params, plans), rows, of, starts, bootstraps);
            let keys = match rehearsed(orders && bootstraps) {
                Err(e) if is_deep(&e) && bootstraps && !orders => rehearsed(true),
                keys => keys,
            };
            found = found.merge(&keys?);
        }
        Ok(found)
    }

    /// The keys that were used.
    fn rehearsed(
        &self,
        (params, plans): (&Params, &TablePlans),
        rows: usize,
        of: Rehearsal,
        starts: &Starts,
        bootstraps: bool,
    ) -> Result<KeyPlan, TablesError> {
        let (needed, schema) = self.needed()?;
        let layout = self.layout(params, rows)?.1.deciding(starts.by_digits());
        let scheme = Arc::new(NoOp::blank(params));
        let session = if bootstraps {
            let bootstrapper = Bootstrapper::new(&*scheme, bootstrap_plan(params)?);
            let bootstrapper = bootstrapper.map_err(everlevel::Error::from)?;
            Session::new(scheme.clone(), Arc::new(bootstrapper))
        } else {
            Session::leveled(scheme.clone())
        };
        let ints = Integers::new(&session, params)?.with_plans(plans.clone());
        let width = self.schema().fields().len();
        let encrypt = |zero: &Plaintext, field: &Field, with: Encryption| match with {
            Encryption::Secret => scheme.encrypt_at(zero, field.level(params)),
            Encryption::Public => scheme.encrypt_publicly_at(zero, field.level(params)),
            Encryption::None => scheme.transparent(zero),
        };
        // Constants fill all slots.
        let constants = |x: &Plaintext, field: &Field| encrypt(x, field, of.constants);
        let constants = pretended(params, &schema, params.slots(), constants)?;
        let places = needed.iter().zip(&constants).enumerate();
        let bound = places.filter(|(_, (place, _))| **place >= width);
        let bound = bound.map(|(i, (_, x))| (i, EncryptedConstant::new(x.clone()))).collect();
        // Blocks between the second one and the last take what the second one does.
        let count = layout.block_count();
        let mut kept = Some(Kept::new(&layout));
        for batch in 0..layout.batches() {
            let mut runner = Runner::new(&ints, &schema, &layout, batch).beginning(starts);
            for (block, rows) in layout.blocks().enumerate() {
                if (2..count.saturating_sub(1)).contains(&block) {
                    runner.skip();
                    continue;
                }
                let (least, all) = (least(&schema, rows), of.table == Encryption::None);
                let mut columns: Vec<Option<&[i128]>> = Vec::with_capacity(needed.len());
                for ((place, codes), field) in needed.iter().zip(&least).zip(schema.fields()) {
                    columns.push((*place < width && (all || field.is_public())).then_some(codes));
                }
                let known = Known { columns, constants: &bound, rows };
                let any = known.columns.iter().any(Option::is_some);
                let known = any.then_some(&known);
                let table = pretended(params, &schema, rows, |x, field| match field.is_public() {
                    true => encrypt(x, field, Encryption::None),
                    false => encrypt(x, field, of.table),
                })?;
                let columns = needed.iter().zip(table.into_iter().zip(&constants));
                let columns = columns.map(|(place, (column, constant))| match *place < width {
                    true => Ok(column),
                    false => ints.shortened(constant, rows),
                });
                let columns = columns.collect::<Result<Vec<_>, _>>()?;
                runner.add_keeping(&columns, known, &mut kept)?;
            }
            runner.finish()?;
        }
        Ok(scheme.key_plan())
    }
}
