//! The levels of columns that either key may encrypt, for programs in text form and for other work.

use std::cell::Cell;

use everlevel_integers::{Estimate, IntegersError, Origin, Rehearsal, TablePlans, best_estimate};
use everlevel_scheme::{Level, Params};

use crate::plan::levels::{common, single};

/// The cost of work on typed columns that is no program in text form, found as
/// [`TypedProgram::estimate`](super::TypedProgram::estimate) finds that of a program. If the work
/// fits without bootstrapping, each column is at the lowest level at which the work takes no more
/// than at the top. Otherwise the server bootstraps, and columns are at the top. The keys are for
/// columns that either key has just encrypted at these levels.
///
/// `columns` are the names of the columns that the work reads, as they are in estimates.
/// `rehearse` does the work on columns of an origin whose digits are at these levels, in the order
/// of the names ([`Rehearsal::argument`]), and returns its estimate ([`Estimate::new`]). It is
/// called up to some twelve times, and up to 70 times more if there are several columns.
///
/// # Errors
/// Those of `rehearse`, if the work fits in neither way.
pub fn work_estimate(
    params: &Params,
    columns: &[&str],
    side_by_side: bool,
    rehearse: impl Fn(&Rehearsal, Origin, &[Level]) -> Result<Estimate, IntegersError>,
) -> Result<Estimate, IntegersError> {
    let plans = TablePlans::default();
    let on = |rehearsal: &Rehearsal| {
        let rehearsal = rehearsal.again().with_side_by_side(side_by_side);
        lowest(&rehearsal, columns.len(), &rehearse)
    };
    let found = best_estimate([params.clone()], &plans, on, |found| found.total().seconds)?;
    Ok(refined(found, &plans, columns, &rehearse))
}

/// The cost of work on `count` columns in a rehearsal: at the lowest level at which it takes no
/// more than at the top, or at the top if it bootstraps.
pub(super) fn lowest<E>(
    rehearsal: &Rehearsal,
    count: usize,
    rehearse: impl Fn(&Rehearsal, Origin, &[Level]) -> Result<Estimate, E>,
) -> Result<Estimate, E> {
    // The one that is there counts nothing yet.
    let unused = Cell::new(true);
    let rehearsed = |origin: Origin, levels: &[Level]| match unused.take() {
        true => rehearse(rehearsal, origin, levels),
        false => rehearse(&rehearsal.again(), origin, levels),
    };
    common(
        rehearsal.params(),
        count,
        |levels| rehearsed(Origin::Public, levels),
        |levels| either(rehearsed, levels),
    )
}

/// The same with lower levels for columns that are used late, or not at all.
pub(super) fn refined<E>(
    found: Estimate,
    plans: &TablePlans,
    columns: &[&str],
    rehearse: impl Fn(&Rehearsal, Origin, &[Level]) -> Result<Estimate, E>,
) -> Estimate {
    if found.bootstraps || columns.len() < 2 {
        return found;
    }
    // What was planned is planned once more.
    let Ok(rehearsal) = Rehearsal::new(&found.params, false) else { return found };
    let rehearsal = rehearsal.with_plans(plans.clone()).with_side_by_side(found.side_by_side);
    let rehearsed = |origin: Origin, levels: &[Level]| rehearse(&rehearsal.again(), origin, levels);
    single(
        found,
        columns,
        |levels| rehearsed(Origin::Public, levels),
        |levels| either(rehearsed, levels),
    )
}

/// The cost of columns that are encrypted with the public key, and the keys for those that are
/// encrypted with either key: their products meet at other levels.
pub(super) fn either<E>(
    rehearsed: impl Fn(Origin, &[Level]) -> Result<Estimate, E>,
    levels: &[Level],
) -> Result<Estimate, E> {
    let mut found = rehearsed(Origin::Public, levels)?;
    found.keys = found.keys.merge(&rehearsed(Origin::Secret, levels)?.keys);
    Ok(found)
}
