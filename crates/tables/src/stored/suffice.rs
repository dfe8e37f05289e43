//! Whether the keys of a server suffice for a plan, before anything is computed.

use everlevel::{KeyPlan, Params, are_general};
use everlevel_integers::{IntegerScheme, Integers};

use crate::error::TablesError;
use crate::plan::Plan;
use crate::starts::{Cancelled, Starts};
use crate::stored::keys::{Held, On, Rehearsal, is_deep};

/// Whether the error means that a key is missing, or does not have all primes of a level.
fn is_of_keys(e: &TablesError) -> bool {
    ["scheme.missing-key", "scheme.key-too-short", "circuit.no-route"].contains(&e.code())
}

/// Whether the error means that something would have to be bootstrapped.
fn is_beyond(e: &TablesError) -> bool {
    is_deep(e) || e.code() == "circuit.no-bootstrapping"
}

impl Plan {
    /// Refuses keys of a server that lack one which the plan needs for a table of `rows` rows, by a
    /// rehearsal with these keys and no others, in a session that bootstraps as that of the server
    /// does. Its conditions begin at these levels, which [`Plan::starts_with`] found for the keys,
    /// and `clear` says that the server knows the table.
    ///
    /// What the table and the constants were encrypted with is not asked: keys are refused if they
    /// suffice for neither the secret nor the public key. Keys that a plan names suffice for both.
    /// What is refused for other reasons, or for one of many rankings alone, is left to the run.
    ///
    /// General keys pass at once, and so do those with which the only block was tried for these
    /// levels. For others it costs a rehearsal of two or three blocks, with two rankings of each
    /// form, which takes less than the run by far.
    ///
    /// # Errors
    /// [`TablesError::Keys`]; those of [`Layout::new`](crate::Layout::new);
    /// [`SchemeError::Cancelled`](everlevel_scheme::SchemeError::Cancelled) soon after `cancelled`
    /// returns true.
    pub(super) fn check_keys<S: IntegerScheme>(
        &self,
        (ints, keys, cancelled): (&Integers<'_, S>, &KeyPlan, Option<&Cancelled>),
        params: &Params,
        rows: usize,
        starts: &Starts,
        clear: bool,
    ) -> Result<(), TablesError> {
        if rows == 0 || are_general(params, keys)? {
            return Ok(());
        }
        let (_, layout) = self.layout(params, rows)?;
        if layout.block_count() == 1 && !starts.is_empty() {
            return Ok(());
        }
        let (session, plans, orders) = (ints.session(), ints.plans(), layout.orders());
        let whole = On::Bootstrapping(session.bootstrapper().map(|found| found.plan()));
        // A session that bootstraps prepares tables, which most queries do not need.
        let ways = match (session.can_bootstrap(), orders) {
            // Told by those that order rows.
            (false, true) => return Ok(()),
            (false, false) => vec![On::Keeping(None)],
            (true, false) => vec![On::Keeping(Some(session.minimum_capacity())), whole],
            (true, true) => vec![whole],
        };
        let mut all = Rehearsal::of(self);
        all.retain(|of| of.knows_table() == clear);
        if all.is_empty() {
            return Ok(());
        }
        let held = Some(Held { keys, cancelled, sampled: true });
        // Other keys than those of this server would bootstrap.
        let could = !session.can_bootstrap() && params.spec().bootstrap.is_some();
        for of in all {
            let mut found = Ok(KeyPlan::default());
            for on in &ways {
                found = self.rehearsed((params, &plans), rows, of, Some(starts), *on, held);
                // What bootstraps may do with other keys than what does not.
                let ends = |e: &TablesError| e.code() == "scheme.cancelled";
                if found.as_ref().err().is_none_or(ends) {
                    break;
                }
            }
            match found {
                Err(e) if e.code() == "scheme.cancelled" => return Err(e),
                Err(e) if is_of_keys(&e) || (could && is_beyond(&e)) => {}
                Ok(_) | Err(_) => return Ok(()),
            }
        }
        Err(TablesError::Keys { rows })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel::lab::NoOp;
    use everlevel::{OptIn, general_keys};
    use everlevel_integers::no_op_session;

    use super::*;
    use crate::query::OrderedBy;
    use crate::schema::Schema;

    const ROWS: usize = 40;

    /// On a server with these keys, which bootstraps or not.
    fn checked(plan: &Plan, keys: &KeyPlan, bootstraps: bool) -> Result<(), TablesError> {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let session = no_op_session(&params, Arc::new(NoOp::blank(&params)), bootstraps).unwrap();
        let ints = Integers::new(&session, &params).unwrap();
        let starts = plan.starts_with((&ints, Some(keys), None), &params, ROWS)?;
        plan.check_keys((&ints, keys, None), &params, ROWS, &starts, false)
    }

    /// Of queries that a server orders, of one set of rows and of ten of which two are rehearsed,
    /// and of one that bootstraps nothing: general keys and those that the plan names suffice, and
    /// fewer of them do not.
    #[test]
    fn a_key_less_is_refused() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "x", "type": "integer", "low": 0, "high": 9999},
                {"name": "y", "type": "integer", "low": 0, "high": 9}]}"#,
        )
        .unwrap();
        let general = general_keys(&params).unwrap();
        let median = "select median(x) from t where y < 5";
        let median = Plan::ordered(median, &schema, OrderedBy::Server).unwrap();
        let medians = "select y, median(x) from t group by y";
        let medians = Plan::ordered(medians, &schema, OrderedBy::Server).unwrap();
        let sum = Plan::new("select sum(x), count(*) from t where y < 5", &schema).unwrap();
        let refused = Err(TablesError::Keys { rows: ROWS });
        for (plan, ways) in [(&median, &[true][..]), (&medians, &[true]), (&sum, &[false, true])] {
            let keys = plan.keys(&params, ROWS).unwrap();
            assert_eq!(keys.bootstrap, plan != &sum);
            let (mut rotations, mut products) = (keys.clone(), keys.clone());
            rotations.relin.clear();
            products.galois.clear();
            for bootstraps in ways {
                assert_eq!(checked(plan, &general, *bootstraps), Ok(()), "{}", plan.sql());
                assert_eq!(checked(plan, &keys, *bootstraps), Ok(()), "{}", plan.sql());
                for fewer in [&rotations, &products] {
                    assert_eq!(checked(plan, fewer, *bootstraps), refused, "{}", plan.sql());
                }
            }
        }
        // Bootstrapping is a key as well, and a server without it orders no rows, which it tells.
        let mut levels = median.keys(&params, ROWS).unwrap();
        levels.bootstrap = false;
        assert_eq!(checked(&median, &levels, true), refused);
        assert_eq!(checked(&median, &levels, false), Ok(()));
    }
}
