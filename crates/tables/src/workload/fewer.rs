//! Sets with no more slots than there are rows, where that makes bootstrapping cheaper.

use everlevel::{KeyPlanner, TimeModel};
use everlevel_integers::TablePlans;

use super::query::query;
use super::recommendation::{Recommendation, SetCost, Way};
use super::request::Workload;
use super::{lines, modular, tables, typed};

/// By how much operations on columns as they are encrypted may take longer: they are the same, but
/// what rotates takes other steps.
const SLACK: f64 = 1.05;

/// The same way on the set with the least number of used slots that holds all rows, if it has
/// cheaper bootstrapping and supports all operations, also on results; otherwise what is given, on
/// a set that uses all slots.
pub(super) fn or_all(
    workload: &Workload,
    plans: &TablePlans,
    all: Recommendation,
) -> Recommendation {
    better(workload, plans, &all).unwrap_or(all)
}

fn better(workload: &Workload, plans: &TablePlans, all: &Recommendation) -> Option<Recommendation> {
    // The server keys of a query that bootstraps nothing have no part for bootstrapping.
    if all.way == Way::Tables && all.operations.iter().all(|cost| cost.refreshes == 0) {
        return None;
    }
    let params = all.params.with_slots_for(usize::try_from(workload.rows).ok()?)?;
    let mut fewer = match all.way {
        Way::Modular => modular::on(workload, &params).ok()??,
        Way::Tables => tables::on(workload, &query(workload).ok()?, &params).ok()?,
        Way::Integers => typed::on(workload, plans, &params).ok()?.ok()?,
    };
    let (less, most) = (cost(workload, plans, &fewer)?, cost(workload, plans, all)?);
    let seconds = |cost: &SetCost| cost.exhausted_seconds.unwrap_or(cost.refresh_seconds);
    if less.key_bytes >= most.key_bytes
        || seconds(&less) >= seconds(&most)
        || less.seconds > SLACK * most.seconds
    {
        return None;
    }
    fewer.notes.push(lines::few_slots(less.slots, most.slots));
    fewer.compared = vec![less, most];
    Some(fewer)
}

/// What the recommendation takes; `None` if results of its operations could not be computed on.
fn cost(workload: &Workload, plans: &TablePlans, found: &Recommendation) -> Option<SetCost> {
    let params = &found.params;
    let planner = KeyPlanner::new(params).ok()?;
    if planner.multiplications_after() == 0 {
        return None;
    }
    let exhausted_seconds = match found.way {
        Way::Integers => Some(typed::exhausted(workload, plans, params)?),
        Way::Modular | Way::Tables => None,
    };
    Some(SetCost {
        set: params.name().into(),
        slots: params.slots(),
        key_bytes: found.key_bytes,
        memory_bytes: found.keys.memory_bytes(params).saturating_add(found.ciphertext_bytes),
        refresh_seconds: TimeModel::typical(params.degree()).seconds(&planner.cost()),
        seconds: found.seconds,
        exhausted_seconds,
    })
}
