//! Workloads on encrypted tables: a condition on rows, and sums.

use everlevel::{OptIn, Params, general_keys};
use serde_json::json;

use super::operations::Asked;
use super::rehearsal::ciphertext_bytes;
use super::{OperationCost, Recommendation, Way, Workload, lines, typed};
use crate::error::TablesError;
use crate::plan::Plan;
use crate::schema::Schema;

/// The most blocks of rows for which the keys of one question are found: it is rehearsed on each.
const BLOCKS: u64 = 256;
/// Categories that are planned for where groups are asked for.
pub(super) const CATEGORIES: usize = 10;

/// The schema and the question of a workload.
pub(super) struct Question {
    pub(super) schema: String,
    pub(super) text: String,
}

/// Plans the workload as one question, on the first set that answers it; or why that is not
/// recommended.
pub(super) fn plan(workload: &Workload, opt_in: OptIn) -> Result<Recommendation, String> {
    let question = question(workload)?;
    let mut last = String::from("no set is allowed");
    for params in typed::sets(opt_in) {
        match on(workload, &question, &params) {
            Ok(found) => return Ok(found),
            Err(e) => last = e.to_string(),
        }
    }
    Err(last)
}

/// The question that stands for the operations.
fn question(workload: &Workload) -> Result<Question, String> {
    let (low, high) = workload.bounds();
    let (mut conditions, mut sums, mut groups, mut filtered) =
        (Vec::new(), Vec::new(), false, false);
    for operation in &workload.operations {
        match operation.entry().asked {
            Asked::Nothing => return Err(format!("{operation} is no part of questions")),
            Asked::Condition(text) => conditions.push(text),
            Asked::Sum(text) => sums.push(text),
            Asked::Both(text) => {
                filtered = true;
                sums.push(text);
            }
            Asked::Groups => groups = true,
        }
    }
    if sums.is_empty() && groups {
        sums.push("count(*)");
    }
    if sums.is_empty() {
        return Err("nothing is added up: a question for rows alone lists them".into());
    }
    if conditions.is_empty() && !groups && (!filtered || sums.len() == 1) {
        return Err("there is no condition on rows, and no group".into());
    }
    let half = (high / 2).to_string();
    let two = workload.operations.iter().any(|o| o.name() == "dot");
    let integer = |name: &str| json!({"name": name, "type": "integer", "low": low, "high": high});
    let mut columns = vec![];
    if low < -i128::from(i64::MAX) || high > i128::from(i64::MAX) {
        return Err("columns of tables have at most 63 bits".into());
    }
    columns.push(integer("x"));
    columns.extend(two.then(|| integer("y")));
    let categories: Vec<String> = (1..=CATEGORIES).map(|i| format!("category-{i}")).collect();
    columns.extend(groups.then(|| json!({"name": "g", "type": "category", "values": categories})));
    let mut text = format!("select {}{} from t", if groups { "g, " } else { "" }, sums.join(", "));
    if !conditions.is_empty() {
        text += &format!(" where {}", conditions.join(" or "));
    }
    if groups {
        text += " group by g order by g";
    }
    let schema = json!({ "columns": columns }).to_string();
    Ok(Question { schema, text: text.replace("HALF", &half) })
}

fn on(
    workload: &Workload,
    question: &Question,
    params: &Params,
) -> Result<Recommendation, TablesError> {
    let schema = Schema::from_json(&question.schema)?;
    let plan = Plan::new(&question.text, &schema)?;
    let rows = workload.rows as usize;
    let cost = plan.cost(params, rows)?;
    let (ciphertexts, _) = typed::size(workload, params)?;
    let (low, high) = workload.bounds();
    let operation = OperationCost {
        operation: "question",
        rehearsed: question.text.clone(),
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
        ciphertext_bytes: ciphertexts.saturating_mul(ciphertext_bytes(params)),
        key_bytes: keys.seeded_bytes(params),
        refreshes_automatically: params.spec().bootstrap.is_some(),
        seconds: cost.seconds,
        operations: vec![operation],
        commands: Vec::new(),
        python: Vec::new(),
        notes: Vec::new(),
    };
    lines::table(workload, question, own_keys, &mut found);
    Ok(found)
}
