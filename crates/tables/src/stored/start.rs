//! The search for the lowest levels at which the conditions of a query can begin.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use everlevel::lab::{Bootstrappable, NoOp, Session};
use everlevel::{Integers, KeyPlan, Level, Params, TimeModel};
use everlevel_integers::{Column, IntegerScheme, TablePlans};

use crate::block::{Block, Mask};
use crate::condition::Condition;
use crate::error::TablesError;
use crate::field::Field;
use crate::kept::Kept;
use crate::known::Known;
use crate::layout::Layout;
use crate::plan::Plan;
use crate::run::Runner;
use crate::schema::Schema;
use crate::starts::{Cancelled, Part, Starts, parts};
use crate::stored::cost::{least as least_codes, pretended};

/// Bits of capacity that results keep above what a scheme needs to bootstrap them: the thin mode
/// needs some more than the others.
const ROOM: f64 = 24.0;
/// The most parts that are tried one by one; further ones begin where all can begin.
const MOST: usize = 12;

/// A ciphertext of the no-op scheme.
type Pretended = <NoOp as everlevel::lab::Scheme>::Ciphertext;
/// The truth values of the conditions of a part, and the seconds that they take by the model.
type Found = (Vec<(Condition, Mask<Pretended>)>, f64);

/// What the sessions of servers keep, as [`With::least`] has it: those without keys for
/// bootstrapping, and for a set that has it those with them. Where digits begin, and which of two
/// ways decides a comparison, depends on it.
pub(crate) fn leasts(params: &Params) -> Vec<Option<f64>> {
    let mut all = vec![None];
    if params.spec().bootstrap.is_some() {
        let least = NoOp::blank(params).minimum_capacity();
        all.extend([Some(least), Some(least + ROOM)]);
    }
    all
}

/// How a query is tried.
struct With {
    /// The keys of the server; all if there are none here.
    keys: Option<KeyPlan>,
    /// The bits of capacity that the session keeps, which refuses to bootstrap; with none here it
    /// does not know bootstrapping.
    least: Option<f64>,
    /// Whether columns were encrypted with the public key, or else with the secret one.
    publicly: bool,
    /// Whether conditions are decided by digits, or else by indexes.
    by_digits: bool,
}

/// A query on the no-op scheme, in a session of some kind.
struct Trial<'a> {
    scheme: &'a NoOp,
    ints: &'a Integers<'a, NoOp>,
    schema: &'a Schema,
    layout: &'a Layout,
    known: Option<&'a Known<'a, Pretended>>,
    columns: &'a [Column<Pretended>],
    model: TimeModel,
}

impl Trial<'_> {
    /// The seconds of a batch if it fits; `masks` are truth values that are known already.
    fn batch(
        &self,
        batch: usize,
        starts: &Starts,
        masks: HashMap<Condition, Mask<Pretended>>,
    ) -> Option<f64> {
        let before = self.scheme.cost();
        let runner = Runner::new(self.ints, self.schema, self.layout, batch);
        let mut runner = runner.beginning(starts);
        let mut kept = Some(Kept::holding(masks));
        runner.add_keeping(self.columns, self.known, &mut kept).ok()?;
        runner.skip_rest();
        runner.finish().ok()?;
        Some(self.model.seconds(&(self.scheme.cost() - before)))
    }

    /// Whether all batches fit with these starts.
    fn fits(&self, starts: &Starts) -> bool {
        (0..self.layout.batches()).all(|batch| self.batch(batch, starts, HashMap::new()).is_some())
    }

    /// The truth values of some conditions, all of one part.
    fn part(&self, conditions: &[Condition], starts: &Starts) -> Option<Found> {
        let before = self.scheme.cost();
        let columns = self.columns.to_vec();
        let mut block = Block::new(self.ints, &self.layout.schema, columns, self.known, starts);
        block.together(conditions.iter()).ok()?;
        let mask = |condition: &Condition| Some((condition.clone(), block.mask(condition).ok()?));
        let masks = conditions.iter().map(mask).collect::<Option<Vec<_>>>()?;
        Some((masks, self.model.seconds(&(self.scheme.cost() - before))))
    }
}

/// The parts of a query, and from which step each of them begins.
struct Search<'a> {
    trial: &'a Trial<'a>,
    parts: Vec<(Part, Vec<Condition>)>,
    steps: Vec<Level>,
    found: HashMap<(usize, usize), Option<Found>>,
}

impl Search<'_> {
    /// The starts where each part begins at a step; the first of these is the top.
    fn starts(&self, at: &[usize]) -> Starts {
        let parts = self.parts.iter().zip(at).filter(|(_, step)| **step > 0);
        Starts::new(parts.map(|((part, _), step)| (part.clone(), self.steps[*step])))
    }

    /// The seconds of the first batch where each part begins at a step; `None` if it does not fit.
    fn seconds(&mut self, at: &[usize]) -> Option<f64> {
        let starts = self.starts(at);
        let (mut masks, mut seconds) = (HashMap::new(), 0.0);
        for (part, step) in at.iter().enumerate() {
            let (trial, conditions) = (self.trial, &self.parts[part].1);
            let found = self.found.entry((part, *step));
            let found = found.or_insert_with(|| trial.part(conditions, &starts));
            let (truths, taken) = found.as_ref()?;
            masks.extend(truths.iter().cloned());
            seconds += taken;
        }
        Some(seconds + self.trial.batch(0, &starts, masks)?)
    }

    /// Lets all parts begin at the step at which the query takes least, if it fits there. Time is
    /// not monotonic: below some step, a filter that no longer fits with masks is multiplied last,
    /// which takes more products, and pays for them only some steps further down.
    fn common(&mut self, at: &mut [usize], top: f64) -> f64 {
        let mut best = (0, top);
        for step in 1..self.steps.len() {
            if let Some(seconds) = self.seconds(&vec![step; at.len()])
                && seconds <= best.1
            {
                best = (step, seconds);
            }
        }
        at.fill(best.0);
        best.1
    }

    /// The last step at which a part can begin such that the query fits and takes no longer than
    /// `best`, and the seconds that it takes.
    fn lowest(&mut self, at: &mut [usize], part: usize, mut best: f64) -> f64 {
        let (mut low, mut high) = (at[part], self.steps.len());
        while high - low > 1 {
            let middle = low.midpoint(high);
            at[part] = middle;
            match self.seconds(at).filter(|seconds| *seconds <= best) {
                Some(seconds) => (low, best) = (middle, seconds),
                None => high = middle,
            }
        }
        at[part] = low;
        best
    }

    /// The steps at which the parts begin; `None` if the query does not fit from the top on.
    fn run(&mut self) -> Option<Vec<usize>> {
        let mut at = vec![0; self.parts.len()];
        if at.is_empty() {
            return Some(at);
        }
        let top = self.seconds(&at)?;
        let mut best = self.common(&mut at, top);
        for part in 0..at.len().min(MOST) {
            best = self.lowest(&mut at, part, best);
        }
        Some(at)
    }
}

impl Plan {
    /// The levels at which the conditions begin on every server with keys at all levels, for a
    /// table of `rows` rows: the lowest ones at which the whole query, with its sums, fits without
    /// bootstrapping, and with the capacity that a server keeps for that. They are found by
    /// rehearsals; there are none where the query has to be bootstrapped, where the server orders
    /// rows, and where it compares what it knows with an encrypted constant, since the noise of
    /// that depends on what it knows. Nor are there any once `cancelled` returns true: the search
    /// then ends soon.
    ///
    /// A query that is too deep for the modulus of indexes is decided by the digits of columns,
    /// which have all of the modulus, if it fits then without bootstrapping.
    ///
    /// # Errors
    /// Those of [`Layout::new`]; a set without typed integers.
    pub(crate) fn starts(
        &self,
        params: &Params,
        rows: usize,
        plans: &TablePlans,
        cancelled: Option<&Cancelled>,
    ) -> Result<Starts, TablesError> {
        let on = (params, cancelled);
        if let Some(found) = self.searched(on, rows, plans, false)? {
            return Ok(found);
        }
        let lower = |field: &Field| field.level(params) < params.chain().top();
        let indexes = self.layout(params, rows)?.1.has_indexes();
        if indexes && self.needed()?.1.fields().iter().any(lower) {
            let found = self.searched(on, rows, plans, true)?;
            return Ok(found.unwrap_or_default());
        }
        Ok(Starts::default())
    }

    /// The levels where conditions are decided by digits or by indexes; `None` if the query does
    /// not fit without bootstrapping.
    fn searched(
        &self,
        on: (&Params, Option<&Cancelled>),
        rows: usize,
        plans: &TablePlans,
        by_digits: bool,
    ) -> Result<Option<Starts>, TablesError> {
        let (params, top) = (on.0, Starts::at_top(by_digits));
        let leasts = leasts(params);
        let most = leasts.last().copied().flatten();
        let with = |publicly, least| With { keys: None, least, publicly, by_digits };
        let secret = self.tried(on, rows, plans, with(false, most), |trial| {
            let parts = parts(trial.layout, trial.known);
            let (steps, found) = (params.chain().cheaper_levels(), HashMap::new());
            let mut search = Search { trial, parts, steps, found };
            let at = search.run()?;
            Some(search.starts(&at).deciding(by_digits))
        });
        let found = match secret? {
            None => return Ok(Some(top)),
            Some(None) => return Ok(None),
            Some(Some(found)) => found,
        };
        // The public key leaves more noise; the search takes the first batch for all; and with
        // less to keep digits may take another way, which leaves less.
        let fits = |starts: &Starts, publicly, least| -> Result<bool, TablesError> {
            let with = with(publicly, least);
            Ok(self.tried(on, rows, plans, with, |trial| trial.fits(starts))?.unwrap_or(false))
        };
        let mut fitting = found != top;
        for least in leasts {
            fitting = fitting && fits(&found, true, least)? && fits(&found, false, least)?;
        }
        if fitting {
            return Ok(Some(found));
        }
        Ok(fits(&top, true, most)?.then_some(top))
    }

    /// The same for a server in whose session the query is computed, with these keys, or all:
    /// levels that are higher by as many steps as it takes.
    ///
    /// # Errors
    /// As [`Plan::starts`].
    pub(crate) fn starts_with<S: IntegerScheme>(
        &self,
        (ints, keys, cancelled): (&Integers<'_, S>, Option<&KeyPlan>, Option<&Cancelled>),
        params: &Params,
        rows: usize,
    ) -> Result<Starts, TablesError> {
        let (plans, session) = (ints.plans(), ints.session());
        let found = self.starts(params, rows, &plans, cancelled)?;
        if found.is_empty() {
            return Ok(found);
        }
        let least = session.can_bootstrap().then(|| session.minimum_capacity());
        let by_digits = found.by_digits();
        let with = With { keys: keys.cloned(), least, publicly: true, by_digits };
        let raised = self.tried((params, cancelled), rows, &plans, with, |trial| {
            let steps = params.chain().cheaper_levels();
            let mut all = (0..steps.len()).map(|by| found.raised(&steps, by));
            all.find(|starts| starts.is_empty() || trial.fits(starts))
        });
        Ok(match raised? {
            Some(Some(raised)) => raised,
            // Digits have the whole modulus, and nothing is bootstrapped.
            Some(None) if least.is_none() => Starts::at_top(true),
            _ => Starts::at_top(by_digits),
        })
    }

    /// What `work` finds by trials of the query on columns that were just encrypted. `None` for a
    /// query that begins at the top in any case. Once `cancelled` returns true, no trial fits.
    fn tried<T>(
        &self,
        (params, cancelled): (&Params, Option<&Cancelled>),
        rows: usize,
        plans: &TablePlans,
        With { keys, least, publicly, by_digits }: With,
        work: impl FnOnce(&Trial<'_>) -> T,
    ) -> Result<Option<T>, TablesError> {
        let (_, schema) = self.needed()?;
        let (_, layout) = self.layout(params, rows)?;
        let layout = layout.deciding(by_digits);
        let public = schema.fields().iter().any(Field::is_public);
        let compared = public && !self.query().parameters.is_empty();
        if rows == 0 || layout.is_empty() || layout.orders() || compared {
            return Ok(None);
        }
        let scheme = match cancelled.cloned() {
            Some(cancelled) => NoOp::blank(params).cancelled_by(move || cancelled()),
            None => NoOp::blank(params),
        };
        let scheme = Arc::new(match keys {
            Some(keys) => scheme.holding(keys),
            None => scheme,
        });
        let session = match least {
            Some(least) => Session::unrefreshed(scheme.clone(), least),
            None => Session::leveled(scheme.clone()),
        };
        let ints = &Integers::new(&session, params)?.with_plans(plans.clone());
        let length = rows.min(params.slots());
        let columns = pretended(params, &schema, length, |zero, field| match field.is_public() {
            true => scheme.transparent(zero),
            false if publicly => scheme.encrypt_publicly_at(zero, field.level(params)),
            false => scheme.encrypt_at(zero, field.level(params)),
        })?;
        let (codes, constants) = (least_codes(&schema, length), BTreeMap::new());
        let codes = schema.fields().iter().zip(&codes);
        let codes = codes.map(|(field, codes)| field.is_public().then_some(&codes[..]));
        let known = Known { columns: codes.collect(), constants: &constants, rows: length };
        let trial = Trial {
            scheme: &scheme,
            ints,
            schema: &schema,
            layout: &layout,
            known: Some(&known).filter(|_| public),
            columns: &columns,
            model: TimeModel::typical(params.degree()),
        };
        Ok(Some(work(&trial)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use everlevel::OptIn;

    use super::*;

    #[test]
    fn a_search_ends_soon_after_it_is_cancelled() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "x", "type": "integer", "low": 0, "high": 9999},
                {"name": "y", "type": "integer", "low": 0, "high": 9999}]}"#,
        );
        let text = "select sum(y) from t where x between 100 and 4000";
        let plan = Plan::new(text, &schema.unwrap()).unwrap();
        // How often it is asked, and what is found.
        let searched = |most: usize| {
            let (asked, plans) = (Arc::new(AtomicUsize::new(0)), TablePlans::default());
            let counted = asked.clone();
            let cancelled: Cancelled =
                Arc::new(move || counted.fetch_add(1, Ordering::Relaxed) >= most);
            let found = plan.starts(&params, 100, &plans, Some(&cancelled)).unwrap();
            (asked.load(Ordering::Relaxed), found)
        };
        let (all, found) = searched(usize::MAX);
        assert!(!found.is_empty());
        let (asked, found) = searched(all / 10);
        assert!(found.is_empty() && asked < all / 2, "{asked} of {all}");
    }
}
