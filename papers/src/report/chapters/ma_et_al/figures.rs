//! The figures of the chapter.

use serde_json::Value;

use super::names::{DEGREES, T6, by_set, largest, modulus, starred};
use crate::ma_et_al::results::is_the_papers;
use crate::report::chapters::methods::{self, Compared, Way};
use crate::report::model::{Fields, Figure};
use crate::report::parts::{bars, figure, series};
use crate::report::plot::{BarPlot, Bars};
use crate::report::records::Records;

pub fn degrees_drawn(records: &Records<'_>) -> Option<Figure> {
    let rows: Vec<&[Value]> = records.of(DEGREES).map(|(_, s)| s.value.list("")).collect();
    let groups = rows
        .iter()
        .map(|r| {
            r.first()
                .map_or_else(String::new, |l| format!("{}, p^r = {}", l.text("set"), modulus(l)))
        })
        .collect();
    // The first line of each set.
    let baseline = |field: &'static str| -> Vec<Option<f64>> {
        rows.iter().map(|lines| largest(&lines.first()?.text(field))).collect()
    };
    let of = |method: &str, field: &'static str| {
        let line = |lines: &&[Value]| {
            lines.iter().find(|l| l.text("method") == method).and_then(|l| largest(&l.text(field)))
        };
        rows.iter().map(line).collect::<Vec<_>>()
    };
    let all = vec![
        series("HElib's (paper)", baseline("degrees_paper")),
        series("HElib's (here)", baseline("degrees")),
        series("local null polynomial (paper)", of("local", "degrees_paper")),
        series("local null polynomial (here)", of("local", "degrees")),
        series("global null polynomial (paper)", of("global", "degrees_paper")),
        series("global null polynomial (here)", of("global", "degrees")),
        series("closed form, N and b_k (here)", of("paterson_stockmeyer", "degrees")),
    ];
    let description = "the largest degree of a polynomial that removes a digit, for each \
                       plaintext ring and method, on a logarithmic axis";
    let plot =
        bars("Degree by digit-removal method", description, "degree (logarithmic)", groups, all)?;
    Some(figure(
        "fig-degrees",
        records.plan.command(DEGREES),
        vec![],
        BarPlot { log: true, ..plot },
    ))
}

/// A set of table 6.
pub struct Set {
    /// By every digit removal that it was run with.
    pub compared: Compared,
    parameters: Parameters,
}

/// What sets may have in common: plaintexts, ring, moduli and keys.
type Parameters = [Option<f64>; 7];

fn parameters(r: &Value) -> Parameters {
    ["p", "r", "n", "log_q", "log_p", "keys.log_q0_r", "keys.h"].map(|key| r.number(key))
}

/// Sets of table 6; the paper's digit removals are those of HElib, local null polynomials and the
/// grid.
pub fn sets(records: &Records<'_>) -> Vec<Set> {
    let runs = if records.quick() { Vec::new() } else { by_set(records) };
    let mut found: Vec<Set> = Vec::new();
    for r in runs {
        let (name, removal) = (starred(r), r.text("digit_removal"));
        let at = found.iter().position(|set| set.compared.name == name).unwrap_or_else(|| {
            let paper = r.number("paper.seconds.2");
            let compared = Compared { name, paper, method: None, ways: Vec::new() };
            found.push(Set { compared, parameters: parameters(r) });
            found.len() - 1
        });
        let set = &mut found[at].compared;
        if is_the_papers(&removal) {
            set.method = r.number("seconds_total");
        }
        set.ways.extend(Way::of(r, "seconds_total", removal));
    }
    found
}

/// The same, each also by what other sets with its parameters were run with.
pub fn beside_others(sets: &[Set]) -> Vec<Compared> {
    let of = |(i, set): (usize, &Set)| {
        let known = set.parameters.iter().all(Option::is_some);
        let alike =
            |(k, other): &(usize, &Set)| known && *k != i && other.parameters == set.parameters;
        let mut ways = set.compared.ways.clone();
        for (_, other) in sets.iter().enumerate().filter(alike) {
            ways.extend(other.compared.ways.iter().map(|way| {
                let name = format!("{}, {}", other.compared.name, way.name);
                Way { name, ..way.clone() }
            }));
        }
        Compared { ways, ..set.compared.clone() }
    };
    sets.iter().enumerate().map(of).collect()
}

/// Times of all sets on one look.
pub fn seconds(records: &Records<'_>, sets: &[Compared]) -> Option<Figure> {
    let title = "General bootstrapping: the paper, its method here, the best here";
    let description = "seconds of one general bootstrapping for each set of table 6, on a \
                       logarithmic axis: the paper's, the same method here, and the fastest here";
    let notes = vec!["ma-V is extrapolated here; see table 6.".into()];
    methods::drawn(
        "fig-ma-et-al-seconds",
        [title, description],
        records.plan.command(T6),
        sets,
        notes,
    )
}

/// Parts of each set's whole, the paper's (at its own ring, hence not beside small ones) above
/// those found here, by its method where that was run.
fn parts(
    records: &Records<'_>,
    names: &[&str],
    paper: &[&str],
    here: &[&str],
    share: bool,
) -> (Vec<String>, Vec<Bars>) {
    let (mut groups, mut values) = (Vec::new(), vec![Vec::new(); names.len()]);
    let mut sets = by_set(records);
    sets.dedup_by_key(|r| r.text("set"));
    for r in sets {
        for (of, keys) in [(", paper", paper), ("", here)] {
            if records.quick() && !of.is_empty() {
                continue;
            }
            let parts: Vec<Option<f64>> = keys.iter().map(|key| r.number(key)).collect();
            let whole: f64 = if share { parts.iter().flatten().sum::<f64>() / 100.0 } else { 1.0 };
            groups.push(format!("{}{of}", r.text("set")));
            values.iter_mut().zip(parts).for_each(|(all, part)| all.push(part.map(|p| p / whole)));
        }
    }
    (groups, names.iter().zip(values).map(|(name, values)| series(*name, values)).collect())
}

/// Where the time goes.
pub fn time(records: &Records<'_>) -> Option<Figure> {
    let (paper, here) =
        (["paper.seconds.0", "paper.seconds.1"], ["seconds_linear", "seconds_digits"]);
    let (groups, all) = parts(records, &["linear maps", "digits"], &paper, &here, true);
    let description = "for each set of table 6, the shares of the linear maps and of the removal \
                       of digits in the time of both";
    let plot = bars(
        "Where the time goes",
        description,
        "per cent of the time of linear maps and digits",
        groups,
        all,
    )?;
    Some(figure(
        "fig-ma-et-al-time",
        records.plan.command(T6),
        vec![],
        BarPlot { stacked: true, ..plot },
    ))
}

/// Where the bits of what was raised go.
pub fn capacity(records: &Records<'_>) -> Option<Figure> {
    let paper = ["paper.capacity.1", "paper.capacity.2", "paper.capacity.3"];
    let here = ["capacity_linear", "capacity_digits", "capacity_remaining"];
    let (groups, all) =
        parts(records, &["linear maps", "digits", "remaining"], &paper, &here, false);
    let description = "bits of capacity of what was raised, for each set of table 6: those that \
                       the linear maps take, those that the removal of digits takes, and those \
                       that remain to compute with";
    let plot = bars("Where the capacity goes", description, "bits of capacity", groups, all)?;
    Some(figure(
        "fig-ma-et-al-capacity",
        records.plan.command(T6),
        vec![],
        BarPlot { stacked: true, ..plot },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(name: &str, log_q: Option<f64>, ways: &[(&str, f64)]) -> Set {
        let way = |&(way, seconds): &(&str, f64)| {
            Way::of(&json!({ "seconds": seconds }), "seconds", way.into())
        };
        let ways: Vec<Way> = ways.iter().filter_map(way).collect();
        let compared = Compared { name: name.into(), paper: Some(100.0), method: None, ways };
        let r = json!({ "p": 8191, "r": 1, "n": 44100, "log_q": log_q, "log_p": 450.0,
            "keys": { "log_q0_r": 95.0, "h": 24 } });
        Set { compared, parameters: parameters(&r) }
    }

    #[test]
    fn the_best_is_of_a_set_with_the_same_parameters() {
        let sets = [
            set("ma-IV", Some(1350.0), &[("chen_han", 332.0)]),
            set("ma-IV-A", Some(1350.0), &[("local", 36.0), ("paterson_stockmeyer", 34.5)]),
            set("ma-IV-B", Some(1364.0), &[("global", 168.0)]),
            // Of which nothing is known, not even that they are alike.
            set("ma-X", None, &[("global", 9.0)]),
            set("ma-Y", None, &[("global", 8.0)]),
        ];
        let beside = beside_others(&sets);
        let best: Vec<&str> =
            beside.iter().filter_map(|row| Some(row.best()?.name.as_str())).collect();
        let closed = ["ma-IV-A, paterson_stockmeyer", "paterson_stockmeyer"];
        assert_eq!(best, [closed[0], closed[1], "global", "global", "global"]);
        assert_eq!([0, 1, 2, 3].map(|i: usize| beside[i].ways.len()), [3, 3, 1, 1]);
        // By itself a set has no way of others.
        assert_eq!(sets[0].compared.best().map(|way| way.seconds), Some(332.0));
    }
}
