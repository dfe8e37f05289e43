//! The figures of the chapter.

use serde_json::Value;

use super::names::{DEGREES, T6, largest, modulus, starred};
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

/// Sets of table 6, each by every digit removal that it was run with; the paper's are those of
/// HElib, local null polynomials and the grid.
pub fn compared(records: &Records<'_>) -> Vec<Compared> {
    let mut rows: Vec<Compared> = Vec::new();
    for (_, stored) in records.of(T6).filter(|_| !records.quick()) {
        let (r, name) = (&stored.value, starred(&stored.value));
        let removal = r.text("digit_removal");
        let at = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            let paper = r.number("paper.seconds.2");
            rows.push(Compared { name, paper, method: None, ways: Vec::new() });
            rows.len() - 1
        });
        if is_the_papers(&removal) {
            rows[at].method = r.number("seconds_total");
        }
        rows[at].ways.extend(Way::of(r, "seconds_total", removal));
    }
    rows
}

pub fn seconds(records: &Records<'_>) -> Option<Figure> {
    let title = "General bootstrapping: the paper, its method here, the best here";
    let description = "seconds of one general bootstrapping for each set of table 6, on a \
                       logarithmic axis: the paper's, the same method here, and the fastest here";
    let notes = vec!["ma-V is extrapolated here; see table 6.".into()];
    methods::drawn(
        "fig-ma-et-al-seconds",
        [title, description],
        records.plan.command(T6),
        &compared(records),
        notes,
    )
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
