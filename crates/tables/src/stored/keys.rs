//! The server keys that given queries need.

use std::sync::Arc;

use everlevel::lab::{Bootstrappable, Bootstrapper, NoOp, Session};
use everlevel::{BootstrapPlan, Integers, KeyPlan, Params, Plaintext, bootstrap_plan};
use everlevel_integers::{Column, EncryptedConstant, TablePlans};

use crate::across::Pretends;
use crate::error::TablesError;
use crate::field::Field;
use crate::kept::Kept;
use crate::known::Known;
use crate::plan::Plan;
use crate::run::Runner;
use crate::starts::{Cancelled, Starts};
use crate::stored::cost::{first, least, pretended};
use crate::stored::start::leasts;

/// Whether the error means that a server with bootstrapping could compute it, but one without could
/// not.
pub(super) fn is_deep(e: &TablesError) -> bool {
    let deep = ["integers.depth", "circuit.not-enough-capacity", "scheme.noise-overflow"];
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

/// The session of a server.
#[derive(Clone, Copy)]
pub(super) enum On<'a> {
    /// It bootstraps by this plan, or by that of the set.
    Bootstrapping(Option<&'a BootstrapPlan>),
    /// It keeps these bits of capacity, and refuses to bootstrap; with none it does not know
    /// bootstrapping.
    Keeping(Option<f64>),
}

/// The keys of a server, in a rehearsal with no others.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) keys: &'a KeyPlan,
    /// What ends the rehearsal.
    pub(super) cancelled: Option<&'a Cancelled>,
    /// Whether two rankings of each form are rehearsed, and not all: those behind the second one
    /// take the same, and nearly always the same keys.
    pub(super) sampled: bool,
}

/// A rehearsal of a plan, with the encryption of the table and of the constants.
#[derive(Clone, Copy)]
pub(super) struct Rehearsal {
    table: Encryption,
    constants: Encryption,
}

impl Rehearsal {
    /// Whether the server knows the table.
    pub(super) fn knows_table(&self) -> bool {
        self.table == Encryption::None
    }

    /// All combinations on which a plan may be run.
    pub(super) fn of(plan: &Plan) -> Vec<Rehearsal> {
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
    /// queries. The keys of several plans are merged with [`KeyPlan::merge`], and
    /// [`Plan::smaller_keys`] are fewer of them.
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

    /// Fewer relinearization keys than `keys`, those of these plans for a table of `rows` rows
    /// ([`KeyPlan::smaller`]), if every server that computes the plans with `keys` does so with
    /// them; else `keys` as they are.
    ///
    /// Each plan is rehearsed twice more as by [`Plan::keys`], with either keys and no others.
    pub fn smaller_keys(plans: &[Plan], params: &Params, rows: usize, keys: &KeyPlan) -> KeyPlan {
        let (smaller, tables) = (keys.smaller(params), TablePlans::default());
        // On how many servers it can be computed; none if not on one of those that it is for.
        let reached = |plan: &Plan, keys: &KeyPlan| {
            let held = plan.all_rehearsed(None, (params, &tables), rows, Some(keys));
            held.map_or(0, |(_, count)| count)
        };
        let suffices = |plan: &Plan| {
            let found = reached(plan, &smaller);
            found > 0 && found >= reached(plan, keys)
        };
        if smaller != *keys && plans.iter().all(suffices) { smaller } else { keys.clone() }
    }

    /// The keys where the conditions begin at these levels.
    pub(crate) fn keys_from(
        &self,
        starts: &Starts,
        (params, plans): (&Params, &TablePlans),
        rows: usize,
    ) -> Result<KeyPlan, TablesError> {
        let found = self.all_rehearsed(Some(starts), (params, plans), rows, None)?;
        Ok(found.0)
    }

    /// The keys that were used, of those that are held or of all, on all servers that the keys are
    /// for, and how many these are. Conditions begin at these levels, or where a server with the
    /// keys that are held lets them begin.
    fn all_rehearsed(
        &self,
        starts: Option<&Starts>,
        (params, plans): (&Params, &TablePlans),
        rows: usize,
        held: Option<&KeyPlan>,
    ) -> Result<(KeyPlan, usize), TablesError> {
        let (mut found, mut count, top) = (KeyPlan::default(), 0, Starts::default());
        // What a server puts in order it bootstraps.
        let orders = self.layout(params, rows)?.1.orders();
        let bootstraps = params.spec().bootstrap.is_some();
        for of in Rehearsal::of(self) {
            // A table in the clear has conditions that begin at the top.
            let starts = if of.table == Encryption::None { Some(&top) } else { starts };
            let held = held.map(|keys| Held { keys, cancelled: None, sampled: false });
            let rehearsed = |on| self.rehearsed((params, plans), rows, of, starts, on, held);
            let mut add = |keys: KeyPlan| {
                found = std::mem::take(&mut found).merge(&keys);
                count += 1;
            };
            if orders && bootstraps {
                add(rehearsed(On::Bootstrapping(None))?);
                continue;
            }
            match rehearsed(On::Keeping(None)) {
                Err(e) if is_deep(&e) && bootstraps => {
                    add(rehearsed(On::Bootstrapping(None))?);
                    continue;
                }
                keys => add(keys?),
            }
            // A server that has keys for bootstrapping, from another plan, decides otherwise at
            // some places. Where this plan is too deep for it, the keys are for servers without.
            for keeping in leasts(params).into_iter().filter(Option::is_some) {
                match rehearsed(On::Keeping(keeping)) {
                    Err(e) if is_deep(&e) || e.code() == "circuit.no-bootstrapping" => {}
                    keys => add(keys?),
                }
            }
        }
        Ok((found, count))
    }

    /// The keys that were used, of those that are held or of all, where conditions begin at these
    /// levels or where a server with the keys that are held lets them begin.
    pub(super) fn rehearsed(
        &self,
        (params, plans): (&Params, &TablePlans),
        rows: usize,
        of: Rehearsal,
        starts: Option<&Starts>,
        on: On<'_>,
        held: Option<Held<'_>>,
    ) -> Result<KeyPlan, TablesError> {
        let (needed, schema) = self.needed()?;
        let (keys, cancelled) = (held.map(|held| held.keys), held.and_then(|held| held.cancelled));
        let scheme = match cancelled.cloned() {
            Some(cancelled) => NoOp::blank(params).cancelled_by(move || cancelled()),
            None => NoOp::blank(params),
        };
        let scheme = Arc::new(match keys {
            Some(keys) => scheme.holding(keys.clone()),
            None => scheme,
        });
        let session = match on {
            On::Bootstrapping(plan) => {
                let plan = plan.cloned().map_or_else(|| bootstrap_plan(params), Ok)?;
                let bootstrapper = Bootstrapper::new(&*scheme, plan);
                let bootstrapper = bootstrapper.map_err(everlevel::Error::from)?;
                Session::new(scheme.clone(), Arc::new(bootstrapper))
            }
            On::Keeping(Some(least)) => Session::unrefreshed(scheme.clone(), least),
            On::Keeping(None) => Session::leveled(scheme.clone()),
        };
        let ints = Integers::new(&session, params)?.with_plans(plans.clone());
        let server;
        let starts = match starts {
            Some(starts) => starts,
            None => {
                server = self.starts_with((&ints, keys, cancelled), params, rows)?;
                &server
            }
        };
        let layout = self.layout(params, rows)?.1.deciding(starts.by_digits());
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
        let places: Vec<usize> = needed.iter().copied().collect();
        let rows_of = |block: usize| layout.blocks().nth(block).unwrap_or(1);
        let all = of.table == Encryption::None;
        let knows = |i: usize| places[i] < width && (all || schema.fields()[i].is_public());
        let of_table = |zero: &Plaintext, field: &Field| match field.is_public() {
            true => encrypt(zero, field, Encryption::None),
            false => encrypt(zero, field, of.table),
        };
        let column = |block: usize, i: usize| -> Result<Column<_>, TablesError> {
            if places[i] >= width {
                return Ok(ints.shortened(&constants[i], rows_of(block))?);
            }
            first(pretended(params, &schema.at([i]), rows_of(block), of_table)?)
        };
        let codes = |block: usize, i: usize| -> Result<Option<Vec<i128>>, TablesError> {
            Ok(knows(i).then(|| vec![schema.fields()[i].bounds().0; rows_of(block)]))
        };
        // Blocks between the second one and the last take what the second one does.
        let count = layout.block_count();
        let meter = || (scheme.cost(), session.bootstraps());
        // What comes after rankings is the same whichever sets blocks have, or none at all.
        let pretends = [Pretends::ALL, Pretends::NONE];
        for pretends in pretends.into_iter().take(if layout.passes.is_empty() { 1 } else { 2 }) {
            let mut kept = Some(Kept::new(&layout));
            for batch in 0..layout.batches() {
                let runner = Runner::new(&ints, &schema, &layout, batch).beginning(starts);
                let mut runner = runner.beside((&column, &codes), None);
                if held.is_some_and(|held| held.sampled) {
                    runner = runner.metered(&meter);
                }
                runner.pretend(vec![pretends; layout.passes.len()]);
                for (block, rows) in layout.blocks().enumerate() {
                    if (2..count.saturating_sub(1)).contains(&block) {
                        runner.skip();
                        continue;
                    }
                    let least = least(&schema, rows);
                    let least =
                        least.iter().enumerate().map(|(i, codes)| knows(i).then_some(&codes[..]));
                    let known = Known { columns: least.collect(), constants: &bound, rows };
                    let any = known.columns.iter().any(Option::is_some);
                    let known = any.then_some(&known);
                    let table = pretended(params, &schema, rows, of_table)?;
                    let columns = places.iter().zip(table.into_iter().zip(&constants));
                    let columns = columns.map(|(place, (column, constant))| match *place < width {
                        true => Ok(column),
                        false => ints.shortened(constant, rows),
                    });
                    let columns = columns.collect::<Result<Vec<_>, _>>()?;
                    runner.add_keeping(&columns, known, &mut kept)?;
                }
                runner.finish()?;
            }
        }
        Ok(scheme.key_plan())
    }
}

#[cfg(test)]
mod tests {
    use everlevel::OptIn;

    use super::*;
    use crate::schema::Schema;

    /// On servers without bootstrapping and on those that have it from another plan: what their
    /// sessions keep decides where digits begin. So are the smaller ones of these keys.
    #[test]
    fn keys_are_enough_for_servers_of_each_kind() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "seen", "type": "timestamp", "unit": "s",
                 "low": "2026-01-01T00:00:00", "high": "2026-12-31T23:59:59"},
                {"name": "a", "type": "integer", "low": 0, "high": 15},
                {"name": "b", "type": "integer", "low": -300, "high": 4000},
                {"name": "c", "type": "integer", "low": 0, "high": 99999, "nullable": true},
                {"name": "d", "type": "integer", "low": 0, "high": 1099511627775},
                {"name": "e", "type": "integer", "low": 0, "high": 9223372036854775807}]}"#,
        )
        .unwrap();
        let plans = TablePlans::default();
        for condition in [
            "seen > timestamp '2026-01-31 12:00:00'",
            "seen <= timestamp '2026-03-01' and a > 3",
            "seen between timestamp '2026-02-01' and timestamp '2026-03-01'",
            "b > 17",
            "b < c",
            "c >= 40000 or c is null",
            "d < 70000000000",
            "d > c + b",
            "e >= 123456789012345",
            "e < d",
            "not (d = 7 or e > 9)",
            "seen > :at",
            "d < :at",
        ] {
            let text = format!("select count(*), sum(a) from t where {condition}");
            let plan = Plan::new(&text, &schema).unwrap();
            let keys = plan.keys(&params, 3).unwrap();
            let smaller = keys.smaller(&params);
            let taken = Plan::smaller_keys(std::slice::from_ref(&plan), &params, 3, &keys);
            assert!(taken == smaller || (keys.bootstrap && taken == keys), "{condition}");
            let each = leasts(&params).into_iter().flat_map(|l| [(l, &keys), (l, &smaller)]);
            for (keeping, keys) in each {
                if keys.bootstrap {
                    continue;
                }
                let scheme = Arc::new(NoOp::blank(&params));
                let session = match keeping {
                    Some(least) => Session::unrefreshed(scheme, least),
                    None => Session::leveled(scheme),
                };
                let ints = Integers::new(&session, &params).unwrap().with_plans(plans.clone());
                let starts = plan.starts_with((&ints, Some(keys), None), &params, 3).unwrap();
                for of in Rehearsal::of(&plan) {
                    let top = Starts::default();
                    let starts = if of.table == Encryption::None { &top } else { &starts };
                    let starts = Some(starts);
                    let on = On::Keeping(keeping);
                    let all = plan.rehearsed((&params, &plans), 3, of, starts, on, None);
                    // Too deep for a server that keeps what bootstrapping needs.
                    if keeping.is_some() && all.is_err() {
                        continue;
                    }
                    let held = Some(Held { keys, cancelled: None, sampled: false });
                    let found = plan.rehearsed((&params, &plans), 3, of, starts, on, held);
                    assert!(found.is_ok(), "{condition}, {keeping:?}: {}", found.unwrap_err());
                }
            }
            // Whether the plan fits without bootstrapping.
            println!("{condition}: bootstrapping {}, {} keys", keys.bootstrap, keys.len());
        }
    }

    /// Smaller keys with which a plan cannot be computed are not taken.
    #[test]
    fn keys_that_do_not_suffice_stay_whole() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = r#"{"columns": [{"name": "a", "type": "integer", "low": 0, "high": 9999}]}"#;
        let schema = Schema::from_json(schema).unwrap();
        let plan = Plan::new("select sum(a) from t where a < :most", &schema).unwrap();
        let keys = plan.keys(&params, 3).unwrap();
        let kept = |keys: &KeyPlan| {
            Plan::smaller_keys(std::slice::from_ref(&plan), &params, 3, keys) == *keys
        };
        assert!(!kept(&keys) && keys.smaller(&params) != keys);
        // Products are served, and sums are not.
        let products = KeyPlan::relinearization(&params);
        assert!(products.smaller(&params) != products && kept(&products));
    }
}
