//! The jobs of the chapter, and what its tables and figures read of their records.

use everlevel_cli::console::output::power;
use serde_json::Value;

use crate::report::model::Fields;

pub const T1: &str = "chen-han-table-1";
pub const T2: &str = "chen-han-table-2";
pub const T3: &str = "chen-han-table-3";
pub const T4: &str = "chen-han-table-4";
pub const T5: &str = "chen-han-table-5";

pub fn problem(v: &Value, at: &str) -> String {
    let n = |key: &str| v.number(&format!("{at}{key}")).map_or_else(String::new, |n| n.to_string());
    format!("({}, {}, {})", n("p"), n("e"), n("v"))
}

pub fn space(r: &Value) -> String {
    let n = |key: &str| r.number(key).unwrap_or(0.0) as u64;
    let modulus = power(n("p"), n("r") as u32);
    match (r.text("table").as_str(), n("r")) {
        ("table-4", 1) => format!("GF({}^{})", n("p"), n("slot_degree")),
        ("table-4", _) => format!("R({modulus}, {})", n("slot_degree")),
        _ => format!("Z_{modulus}"),
    }
}
