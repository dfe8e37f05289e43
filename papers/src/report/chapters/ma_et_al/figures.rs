//! The figures of the chapter.

use serde_json::Value;

use super::names::{DEGREES, T6, largest, modulus};
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
    let of = |method: &str, field: &'static str| {
        let line = |lines: &&[Value]| {
            lines.iter().find(|l| l.text("method") == method).and_then(|l| largest(&l.text(field)))
        };
        rows.iter().map(line).collect::<Vec<_>>()
    };
    let all = vec![
        series("HElib's (paper)", of("chen_han", "degrees_paper")),
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

pub fn seconds(records: &Records<'_>) -> Option<Figure> {
    if records.quick() {
        return None;
    }
    let found: Vec<&Value> = records.of(T6).map(|(_, s)| &s.value).collect();
    let of = |key: &str| found.iter().map(|r| r.number(key)).collect();
    let description = "seconds of one general bootstrapping for each set of table 6, on a \
                       logarithmic axis: the paper's and those measured here";
    let all = vec![series("paper", of("paper.seconds.2")), series("here", of("seconds_total"))];
    let groups = found.iter().map(|r| r.text("set")).collect();
    let plot = bars(
        "General bootstrapping: paper and here",
        description,
        "seconds (logarithmic)",
        groups,
        all,
    )?;
    let notes = vec!["ma-V is extrapolated here; see table 6.".into()];
    Some(figure(
        "fig-ma-et-al-seconds",
        records.plan.command(T6),
        notes,
        BarPlot { log: true, ..plot },
    ))
}

/// Parts of each set's whole, the paper's (at its own ring, hence not beside small ones) above
/// those found here.
fn parts(
    records: &Records<'_>,
    names: &[&str],
    paper: &[&str],
    here: &[&str],
    share: bool,
) -> (Vec<String>, Vec<Bars>) {
    let (mut groups, mut values) = (Vec::new(), vec![Vec::new(); names.len()]);
    for (_, stored) in records.of(T6) {
        let r = &stored.value;
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
