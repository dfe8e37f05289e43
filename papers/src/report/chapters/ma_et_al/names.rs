//! The jobs of the chapter, and what its tables and figures read of their records.

use everlevel_cli::console::output::power;
use serde_json::Value;

use crate::report::model::Fields;

pub const DEGREES: &str = "ma-et-al-degrees";
pub const T4: &str = "ma-et-al-table-4";
pub const T6: &str = "ma-et-al-table-6";
pub const THIN: &str = "ma-et-al-thin";

pub fn modulus(r: &Value) -> String {
    power(r.number("p").unwrap_or(0.0) as u64, r.number("r").unwrap_or(0.0) as u32)
}

/// The largest of a list of degrees.
pub fn largest(degrees: &str) -> Option<f64> {
    degrees.split([',', ';']).filter_map(|d| d.trim().parse().ok()).reduce(f64::max)
}

/// The name of a set, marked where its time is extrapolated.
pub fn starred(r: &Value) -> String {
    let star = if r.at("extrapolated").is_some_and(|x| x.is_string()) { " *" } else { "" };
    format!("{}{star}", r.text("set"))
}

/// The ring of a set: its name without the letter of a variant.
pub fn ring(set: &str) -> &str {
    set.trim_start_matches("ma-").split(['-', ' ']).next().unwrap_or_default()
}
