//! Table 3 at the paper's own moduli: times, and the levels that are left.

use serde_json::Value;

use super::names::{BITS_OF_A_LEVEL, bits_used, problem};
use crate::report::model::{Cell, Fields, Kind, Table, column};
use crate::report::plan::OWN_MODULUS;
use crate::report::records::Records;
use crate::rows::marked;

/// Rows of table 3, each by every method, at 22 bits for each of the paper's levels before.
pub fn table(records: &Records<'_>) -> Table {
    let columns = [
        column("", "(p, e, v)", Kind::Text),
        column("", "log q", Kind::Number),
        column("", "method", Kind::Text),
        column("seconds", "paper", Kind::Paper),
        column("seconds", "here", Kind::Here),
        column("seconds", "here ÷ paper", Kind::Ratio),
        column("seconds", "floor", Kind::Number),
        column("bits used", "paper", Kind::Paper),
        column("bits used", "here", Kind::Here),
        column("bits used", "here ÷ paper", Kind::Ratio),
        column("levels of 22 bits", "before", Kind::Paper),
        column("levels of 22 bits", "after, paper", Kind::Paper),
        column("levels of 22 bits", "after, here", Kind::Here),
        column("squarings", "before", Kind::Here),
        column("squarings", "after", Kind::Here),
        column("", "wrong", Kind::Wrong),
    ];
    let rows = records.of(OWN_MODULUS).flat_map(|(_, stored)| {
        let r = &stored.value;
        r.list("methods").iter().map(|m| cells(r, m)).collect::<Vec<_>>()
    });
    let notes = [
        "A level of the paper is 22 bits of HElib's modulus (`FHE_pSize` in the FHEContext.h of \
         2018), not a product: halevi_shoup takes 39 levels for (127, 3, 1), at a depth of 14. \
         So log q is 22 bits for each of its levels before, and its levels after are counted as \
         `Ctxt::findBaseLevel` does, by the least modulus at which the noise is no more than \
         what rounding adds. The noise here is its proved bound; HElib's was an estimate.",
        "Squarings: how many in a row modulo p^(e−v) the bound allows.",
    ];
    let title = "Table 3 at the paper's own moduli: times, and levels that are left";
    records.table(OWN_MODULUS, title, &columns, rows.collect(), &notes)
}

/// A row by one method, in the order of the columns.
fn cells(r: &Value, m: &Value) -> Vec<Cell> {
    let method = m.text("method");
    let of_paper = |i: usize| r.number(&format!("paper.{method}.{i}"));
    let [seconds, before, after] = [0, 1, 2].map(of_paper);
    let used_by_paper = before.zip(after).map(|(b, a)| BITS_OF_A_LEVEL * (b - a));
    vec![
        Cell::text(problem(r, "paper.")),
        Cell::digits(r.number("log_q"), 0),
        Cell::text(marked(method, seconds.is_some())),
        Cell::exact(seconds),
        Cell::number(m.number("seconds")),
        Cell::ratio(m.number("seconds"), seconds),
        Cell::number(m.number("floor_seconds")),
        Cell::exact(used_by_paper),
        Cell::digits(bits_used(m), 0),
        Cell::ratio(bits_used(m), used_by_paper),
        Cell::exact(r.number("paper.chen_han.1")),
        Cell::exact(after),
        Cell::digits(m.number("base_bits.1").map(|bits| bits / BITS_OF_A_LEVEL), 1),
        Cell::exact(m.number("level_before")),
        Cell::exact(m.number("level_after")),
        Cell::exact(m.number("wrong_slots")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn levels_are_those_of_the_least_modulus() {
        let r = json!({
            "log_q": 923.9997,
            "paper": { "p": 127, "e": 3, "v": 1, "chen_han": [38.0, 42, 20] },
        });
        let m = |method: &str| {
            json!({
                "method": method,
                "seconds": 0.5,
                "capacity_bits": [880.0, 540.0],
                "base_bits": [924.0, 572.0],
            })
        };
        let found = cells(&r, &m("chen_han"));
        let values = [3, 7, 8, 9, 10, 11, 12].map(|i: usize| found[i].value);
        assert_eq!(values, [38.0, 484.0, 352.0, 352.0 / 484.0, 42.0, 20.0, 26.0].map(Some));
        assert_eq!(found[2].text, "chen_han");
        // What the paper has not stands beside nothing of it.
        let other = cells(&r, &m("geelen"));
        assert_eq!(other[2].text, "geelen, not the paper's");
        assert_eq!([3, 5, 7, 9, 11].map(|i: usize| other[i].value), [None; 5]);
        assert_eq!(other[12].value, Some(26.0));
        // A record at another modulus has no levels, and uses its capacity.
        let older = json!({ "method": "chen_han", "capacity_bits": [880.0, 540.0] });
        assert_eq!([8, 12].map(|i: usize| cells(&r, &older)[i].value), [Some(340.0), None]);
    }
}
