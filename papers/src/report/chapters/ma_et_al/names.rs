//! The jobs of the chapter, and what its tables and figures read of their records.

use everlevel_cli::console::output::power;
use serde_json::Value;

use crate::ma_et_al::results::is_the_papers;
use crate::report::model::Fields;
use crate::report::records::Records;

pub const DEGREES: &str = "ma-et-al-degrees";
pub const T4: &str = "ma-et-al-table-4";
pub const T6: &str = "ma-et-al-table-6";
pub const THIN: &str = "ma-et-al-thin";

pub fn modulus(r: &Value) -> String {
    power(r.number("p").unwrap_or(0.0) as u64, r.number("r").unwrap_or(0.0) as u32)
}

/// The records of table 6, those of a set together, and of these one by a method of the paper
/// first.
pub fn by_set<'r>(records: &'r Records<'_>) -> Vec<&'r Value> {
    let found: Vec<&Value> = records.of(T6).map(|(_, stored)| &stored.value).collect();
    in_order(found)
}

fn in_order(mut found: Vec<&Value>) -> Vec<&Value> {
    let sets: Vec<String> = found.iter().map(|r| r.text("set")).collect();
    found.sort_by_key(|r| {
        let (set, removal) = (r.text("set"), r.text("digit_removal"));
        (sets.iter().position(|other| *other == set), !is_the_papers(&removal))
    });
    found
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn records_of_a_set_stand_together() {
        let of = |set: &str, removal: &str| json!({ "set": set, "digit_removal": removal });
        let found = [
            of("ma-II", "chen_han"),
            of("ma-II-A", "paterson_stockmeyer"),
            of("ma-IV-B", "global"),
            of("ma-II-A", "local"),
            of("ma-IV-B", "paterson_stockmeyer"),
        ];
        let ordered = in_order(found.iter().collect());
        let removals: Vec<String> = ordered.iter().map(|r| r.text("digit_removal")).collect();
        let expected =
            ["chen_han", "local", "paterson_stockmeyer", "global", "paterson_stockmeyer"];
        assert_eq!(removals, expected);
    }
}
