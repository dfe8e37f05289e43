//! Workloads on encrypted tables: a condition on rows, and sums.

use everlevel::{OptIn, Params, general_keys};
use everlevel_integers::ciphertext_bytes;

use super::lines;
use super::query::{TableQuery, query};
use super::recommendation::{OperationCost, Recommendation, Way};
use super::request::Workload;
use super::typed;
use crate::error::TablesError;
use crate::plan::Plan;
use crate::schema::Schema;

/// The largest number of blocks of rows for which the keys of a query are determined by a rehearsal
/// on each block.
const BLOCKS: u64 = 256;
/// Plans the workload as one query, on the first set that supports it, or returns the reason why
/// that is not recommended.
pub(super) fn plan(workload: &Workload, opt_in: OptIn) -> Result<Recommendation, String> {
    let query = query(workload)?;
    let mut last = String::from("no set is allowed");
    for params in typed::sets(opt_in) {
        match on(workload, &query, &params) {
            Ok(found) => return Ok(found),
            Err(e) => last = e.to_string(),
        }
    }
    Err(last)
}

/// Plans the query on one set.
pub(super) fn on(
    workload: &Workload,
    query: &TableQuery,
    params: &Params,
) -> Result<Recommendation, TablesError> {
    let schema = Schema::from_json(&query.schema)?;
    let plan = Plan::new(&query.text, &schema)?;
    let rows = workload.rows as usize;
    let cost = plan.cost(params, rows)?;
    let (ciphertexts, _) = typed::size(workload, params)?;
    let (low, high) = workload.bounds();
    let operation = OperationCost {
        operation: "query",
        rehearsed: query.text.clone(),
        low: None,
        high: None,
        products: cost.products,
        refreshes: cost.refreshes as u64,
        seconds: cost.seconds,
    };
    let (_, kind) = typed::kind(workload)?;
    let own_keys = workload.rows.div_ceil(params.slots() as u64) <= BLOCKS;
    let keys = if own_keys { plan.keys(params, rows)? } else { general_keys(params)? };
    let mut found = Recommendation {
        way: Way::Tables,
        params: params.clone(),
        security_bits: params.security().bits(),
        slots: params.slots(),
        kind: Some(kind),
        low: low.to_string(),
        high: high.to_string(),
        ciphertexts,
        ciphertext_bytes: ciphertexts
            .saturating_mul(ciphertext_bytes(params, params.chain().top())),
        key_bytes: keys.seeded_bytes(params),
        keys,
        refreshes_automatically: params.spec().bootstrap.is_some(),
        seconds: cost.seconds,
        operations: vec![operation],
        compared: Vec::new(),
        commands: Vec::new(),
        python: Vec::new(),
        notes: Vec::new(),
    };
    lines::table(workload, query, own_keys, &mut found);
    found.notes.extend(plan.advice(params, rows, &cost).map(|advice| advice.to_string()));
    Ok(found)
}
