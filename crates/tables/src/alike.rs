//! Rankings of the same form, of which rehearsals compute two.
//!
//! Groups by an encrypted column are sets of rows that differ in a code alone, and each is ranked
//! by the same operations: the first one leaves what all of them share, such as bootstrapped
//! digits, and those behind it take the same.

use everlevel::Cost;
use everlevel_integers::{Column, IntegerScheme};

use crate::block::Block;
use crate::condition::Condition;
use crate::error::TablesError;
use crate::order::Ranking;

/// What some work took, and how many ciphertexts were bootstrapped in it.
pub(crate) type Spent = (Cost, usize);

/// Counts what was done so far.
pub(crate) type Meter<'a> = dyn Fn() -> Spent + 'a;

/// A form of rankings: of an aggregate, which decides what they rank by, and of conditions that
/// take the same operations.
struct Alike<C> {
    of: usize,
    when: Condition,
    /// What the second one takes, and its truth values.
    second: Option<(Spent, Vec<Column<C>>)>,
}

/// Rankings that are computed one by one in a rehearsal of a block.
pub(crate) struct Sampled<'a, C> {
    meter: &'a Meter<'a>,
    forms: Vec<Alike<C>>,
    /// What those take that were not computed, each as the second one of its form.
    unrehearsed: Vec<Spent>,
}

impl<'a, C> Sampled<'a, C> {
    /// Before the first ranking, with what counts.
    pub(crate) fn new(meter: &'a Meter<'a>) -> Self {
        Sampled { meter, forms: Vec::new(), unrehearsed: Vec::new() }
    }

    /// What rankings take that were not computed since this was asked last, each.
    pub(crate) fn unrehearsed(&mut self) -> Vec<Spent> {
        std::mem::take(&mut self.unrehearsed)
    }

    /// The truth values of a ranking: those of the second one of its form for all behind that, in
    /// values of their own.
    pub(crate) fn ranked<S: IntegerScheme<Ciphertext = C>>(
        &mut self,
        block: &mut Block<'_, S>,
        ranking: &Ranking,
    ) -> Result<Vec<Column<C>>, TablesError> {
        let detached = |all: &[Column<C>]| all.iter().map(Column::detached).collect::<Vec<_>>();
        let form = ranking.when.form();
        let known = self.forms.iter_mut().find(|x| x.of == ranking.of && x.when == form);
        if let Some(Alike { second: Some((spent, truths)), .. }) = &known {
            self.unrehearsed.push(*spent);
            return Ok(detached(truths));
        }
        let before = (self.meter)();
        let truths = block.ranked(ranking)?;
        let after = (self.meter)();
        match known {
            Some(first) => {
                first.second = Some(((after.0 - before.0, after.1 - before.1), detached(&truths)));
            }
            None => self.forms.push(Alike { of: ranking.of, when: form, second: None }),
        }
        Ok(truths)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use everlevel::lab::NoOp;
    use everlevel::{Integers, OptIn, Params};
    use everlevel_integers::no_op_session;

    use crate::plan::Plan;
    use crate::query::OrderedBy;
    use crate::run::Runner;
    use crate::schema::Schema;
    use crate::stored::cost::pretended;

    const ROWS: usize = 9;

    /// The products and bootstrappings of medians of the groups of an encrypted column, how many
    /// times it was counted, and how many rankings were not computed.
    fn counted(groups: usize, sampled: bool) -> (u64, usize, usize, usize) {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = format!(
            r#"{{"columns": [{{"name": "g", "type": "integer", "low": 0, "high": {}}},
                             {{"name": "x", "type": "integer", "low": 0, "high": 9999}}]}}"#,
            groups - 1
        );
        let schema = Schema::from_json(&schema).unwrap();
        let text = "select g, median(x) from t group by g";
        let plan = Plan::ordered(text, &schema, OrderedBy::Server).unwrap();
        let (_, layout) = plan.layout(&params, ROWS).unwrap();
        assert_eq!((layout.rankings.len(), layout.passes.len()), (groups, 0));
        assert_eq!(layout.batches(), 1);
        let scheme = Arc::new(NoOp::blank(&params));
        let session = no_op_session(&params, scheme.clone(), true).unwrap();
        let ints = Integers::new(&session, &params).unwrap();
        let columns = pretended(&params, &schema, ROWS, |zero, field| {
            scheme.encrypt_at(zero, field.level(&params))
        });
        let (columns, asked) = (columns.unwrap(), Cell::new(0));
        let meter = || {
            asked.set(asked.get() + 1);
            (scheme.cost(), session.bootstraps())
        };
        let mut runner = Runner::new(&ints, &schema, &layout, 0);
        if sampled {
            runner = runner.metered(&meter);
        }
        let before = (scheme.cost(), session.bootstraps());
        runner.add(&columns).unwrap();
        let others = runner.unrehearsed();
        runner.finish().unwrap();
        let cost = scheme.cost() - before.0;
        let products = cost.products + others.iter().map(|x| x.0.products).sum::<u64>();
        let refreshed = session.bootstraps() - before.1;
        let refreshed = refreshed + others.iter().map(|x| x.1).sum::<usize>();
        (products, refreshed, asked.get(), others.len())
    }

    /// However many groups there are, two of them are ranked, and as much is counted as all take.
    #[test]
    fn of_many_rankings_of_a_form_two_are_computed() {
        let (products, refreshed, asked, left) = counted(24, true);
        assert_eq!((asked, left), (4, 22));
        let (all, every, none, nothing) = counted(24, false);
        assert_eq!((none, nothing), (0, 0));
        assert!(products.abs_diff(all) * 50 <= all, "{products} of {all} products");
        // Some behind the second one find digits bootstrapped that the second one had to bootstrap.
        assert!(refreshed >= every && (refreshed - every) * 20 <= every, "{refreshed} of {every}");
        let (_, _, asked, left) = counted(60, true);
        assert_eq!((asked, left), (4, 58));
    }
}
