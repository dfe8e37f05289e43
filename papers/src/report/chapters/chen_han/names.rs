//! The jobs of the chapter, and what its tables and figures read of their records.

use everlevel_cli::console::output::power;
use serde_json::Value;

use crate::chen_han::recrypt::{is_the_papers_arithmetic, is_the_papers_secret};
use crate::chen_han::tables::LEVEL_BITS;
use crate::report::model::Fields;
use crate::report::plan::{CHEN_HAN, OWN_MODULUS};
use crate::report::records::Records;

pub const T1: &str = "chen-han-table-1";
pub const T2: &str = "chen-han-table-2";
pub const T3: &str = "chen-han-table-3";
pub const T4: &str = "chen-han-table-4";
pub const T5: &str = "chen-han-table-5";

/// Bits of the modulus that HElib counted as a level when the paper was written.
pub const BITS_OF_A_LEVEL: f64 = LEVEL_BITS as f64;

/// Where the times of table 3 that are compared with the paper's are from: the runs at its own
/// moduli, or those at one modulus as long as there are no others.
pub fn removals(records: &Records<'_>) -> &'static str {
    if records.of(OWN_MODULUS).next().is_some() { OWN_MODULUS } else { T3 }
}

/// The bits that a method used for a row of table 3: of the modulus, or of capacity where the
/// record has no more.
pub fn bits_used(m: &Value) -> Option<f64> {
    let of = |key: &str| {
        let at = |i: usize| m.number(&format!("{key}.{i}"));
        Some(at(0)? - at(1)?)
    };
    of("base_bits").or_else(|| of("capacity_bits"))
}

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

/// With which secret and arithmetic a bootstrapping ran, and how digits were removed.
pub fn way(r: &Value) -> String {
    [r.text("variant"), r.text("arithmetic"), r.text("digit_removal")].join(", ")
}

/// Whether all of that is as in the paper.
pub fn is_the_papers(r: &Value) -> bool {
    is_the_papers_secret(&r.text("variant"))
        && is_the_papers_arithmetic(&r.text("arithmetic"))
        && r.text("digit_removal") == CHEN_HAN
}
