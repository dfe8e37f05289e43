//! Whether the keys of a server suffice for a plan, before anything is computed.

use everlevel::{KeyPlan, Params};
use everlevel_integers::{IntegerScheme, Integers};

use crate::error::TablesError;
use crate::plan::Plan;
use crate::starts::{Cancelled, Starts};
use crate::stored::keys::{On, Rehearsal, is_deep};

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
    /// does. Its conditions begin at these levels, and `clear` says that the server knows the
    /// table.
    ///
    /// What the table and the constants were encrypted with is not asked: keys are refused if they
    /// suffice for neither the secret nor the public key. Keys that a plan names suffice for both.
    /// What is refused for other reasons is left to the run.
    ///
    /// It costs a rehearsal, which takes less than the run by far.
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
        let (session, plans) = (ints.session(), ints.plans());
        let orders = self.layout(params, rows)?.1.orders();
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
        if rows == 0 || all.is_empty() {
            return Ok(());
        }
        let held = Some((keys, cancelled));
        // Other keys than those of this server would bootstrap.
        let could = !session.can_bootstrap() && params.spec().bootstrap.is_some();
        for of in all {
            let mut found = Ok(KeyPlan::default());
            for on in &ways {
                found = self.rehearsed((params, &plans), rows, of, Some(starts), *on, held);
                if !found.as_ref().is_err_and(is_beyond) {
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
