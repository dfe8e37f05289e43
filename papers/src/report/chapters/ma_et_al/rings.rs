//! The rings of table 6: the fastest set of each, in the paper and here.

use super::names::{T6, ring};
use crate::report::chapters::methods::{Compared, Way};
use crate::report::model::{Cell, Kind, Table, column};
use crate::report::records::Records;

/// The fastest sets of a ring.
struct Ring<'a> {
    name: &'a str,
    /// The set that takes least in the paper, and its seconds there.
    paper: Option<(&'a str, f64)>,
    /// The set that takes least here, and in which way.
    here: Option<(&'a str, &'a Way)>,
}

impl<'a> Ring<'a> {
    /// Takes a set of this ring into account.
    fn add(&mut self, set: &'a Compared) {
        let name = set.name.as_str();
        if let Some(seconds) = set.paper
            && self.paper.is_none_or(|(_, least)| seconds < least)
        {
            self.paper = Some((name, seconds));
        }
        if let Some(best) = set.best()
            && self.here.is_none_or(|(_, least)| best.seconds < least.seconds)
        {
            self.here = Some((name, best));
        }
    }

    /// Its cells, in the order of the columns.
    fn cells(&self) -> Vec<Cell> {
        let way = self.here.map(|(_, way)| way);
        let seconds_of_paper = self.paper.map(|(_, seconds)| seconds);
        let seconds = way.map(|way| way.seconds);
        vec![
            Cell::text(self.name),
            Cell::text(self.paper.map_or("", |(set, _)| set)),
            Cell::exact(seconds_of_paper),
            Cell::text(self.here.map_or("", |(set, _)| set)),
            Cell::text(way.map_or("", |way| way.name.as_str())),
            Cell::number(seconds),
            Cell::number(way.and_then(|way| way.floor)),
            Cell::ratio(seconds, seconds_of_paper),
        ]
    }
}

/// The rings of sets, in the order of the sets.
fn rings(sets: &[Compared]) -> Vec<Ring<'_>> {
    let mut found: Vec<Ring<'_>> = Vec::new();
    for set in sets {
        let name = ring(&set.name);
        let at = found.iter().position(|known| known.name == name).unwrap_or_else(|| {
            found.push(Ring { name, paper: None, here: None });
            found.len() - 1
        });
        found[at].add(set);
    }
    found
}

/// The paper's best beside the best here, ring by ring; none without a set.
pub fn table(records: &Records<'_>, sets: &[Compared]) -> Option<Table> {
    let columns = [
        column("", "ring", Kind::Text),
        column("best in the paper", "set", Kind::Paper),
        column("best in the paper", "seconds", Kind::Paper),
        column("best here", "set", Kind::Text),
        column("best here", "digit removal", Kind::Text),
        column("best here", "seconds", Kind::Here),
        column("best here", "floor", Kind::Number),
        column("seconds", "best here ÷ best in the paper", Kind::Ratio),
    ];
    let rows: Vec<Vec<Cell>> = rings(sets).iter().map(Ring::cells).collect();
    let title = "Table 6: the best of each ring";
    let note = "The sets of a ring have the same plaintexts, and differ in the removal of digits \
                and the modulus: of each ring the one whose general bootstrapping takes least.";
    (!rows.is_empty()).then(|| Table {
        id: format!("{T6}-rings"),
        missing: Vec::new(),
        ..records.table(T6, title, &columns, rows, &[note])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(name: &str, paper: Option<f64>, ways: &[(&str, f64)]) -> Compared {
        let way = |&(way, seconds): &(&str, f64)| {
            Way::of(&json!({ "seconds": seconds }), "seconds", way.into())
        };
        let ways = ways.iter().filter_map(way).collect();
        Compared { name: name.into(), paper, method: None, ways }
    }

    #[test]
    fn a_ring_has_the_fastest_of_its_sets_in_the_paper_and_here() {
        let sets = [
            set("ma-IV", Some(4648.0), &[("chen_han", 332.0)]),
            set("ma-IV-A", Some(479.0), &[("local", 36.0), ("paterson_stockmeyer", 34.5)]),
            set("ma-V *", Some(46203.0), &[("halevi_shoup", 3182.0)]),
            set("ma-V-A", Some(688.0), &[("local", 48.7), ("paterson_stockmeyer", 48.5)]),
            set("ma-V-B", Some(3589.0), &[("global", 168.0)]),
            // The fastest here is another one than in the paper.
            set("ma-X", Some(2.0), &[("chen_han", 1.0)]),
            set("ma-X-A", Some(1.0), &[]),
            set("ma-X-B", None, &[("global", 0.5)]),
        ];
        let rows: Vec<Vec<Cell>> = rings(&sets).iter().map(Ring::cells).collect();
        let texts = |row: &[Cell]| [0, 1, 3, 4].map(|i| row[i].text.clone());
        assert_eq!(
            rows.iter().map(|row| texts(row)).collect::<Vec<_>>(),
            [
                ["IV", "ma-IV-A", "ma-IV-A", "paterson_stockmeyer"],
                ["V", "ma-V-A", "ma-V-A", "paterson_stockmeyer"],
                ["X", "ma-X-A", "ma-X-B", "global"],
            ]
        );
        let values = |row: &[Cell]| [2, 5, 7].map(|i| row[i].value);
        assert_eq!(values(&rows[1]), [688.0, 48.5, 48.5 / 688.0].map(Some));
        assert_eq!(values(&rows[2]), [1.0, 0.5, 0.5].map(Some));
        // What was not timed has no best.
        let none = [set("ma-I", None, &[])];
        assert_eq!(values(&rings(&none)[0].cells()), [None; 3]);
    }
}
