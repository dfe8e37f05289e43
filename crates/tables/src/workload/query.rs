//! The query that corresponds to the operations of a workload.

use serde_json::json;

use super::operations::Asked;
use super::request::Workload;

/// The number of categories that is assumed if groups are requested.
pub(super) const CATEGORIES: usize = 10;

/// The schema and the query of a workload.
pub(super) struct TableQuery {
    pub(super) schema: String,
    pub(super) text: String,
}

/// The query that corresponds to the operations.
pub(super) fn query(workload: &Workload) -> Result<TableQuery, String> {
    let (low, high) = workload.bounds();
    let (mut conditions, mut sums, mut groups, mut filtered) =
        (Vec::new(), Vec::new(), false, false);
    for operation in &workload.operations {
        match operation.entry().asked {
            Asked::Nothing => return Err(format!("{operation} is no part of queries")),
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
        return Err("nothing is added up: a query for rows alone lists them".into());
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
    Ok(TableQuery { schema, text: text.replace("HALF", &half) })
}
