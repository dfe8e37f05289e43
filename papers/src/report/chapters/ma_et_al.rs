//! Ma, Huang, Wang and Wang 2024.

use everlevel_cli::console::output::power;
use serde_json::Value;

use crate::ma_et_al::general::is_the_papers;
use crate::report::model::{Cell, Chapter, Fields, Figure, Kind, Table, column};
use crate::report::parts::{add, bars, figure, series, shown};
use crate::report::plot::{BarPlot, Bars};
use crate::report::records::Records;
use crate::rows::marked;

const DEGREES: &str = "ma-et-al-degrees";
const T4: &str = "ma-et-al-table-4";
const T6: &str = "ma-et-al-table-6";
const THIN: &str = "ma-et-al-thin";

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "ma-et-al",
        "Ma et al.",
        "Ma, Huang, Wang and Wang 2024: Accelerating BGV bootstrapping for large p",
        &[
            "What bootstrapping removes is small. A polynomial that has to be right only there, \
             and may be anything elsewhere modulo p^e, has a degree that grows with the bound of \
             the overflow and no longer with p: 93 instead of 8191. The paper calls them null \
             polynomials.",
            "I to V are its plaintext rings; a set without a letter is the baseline, A takes \
             local null polynomials, B global ones on a grid that p does not divide.",
        ],
    );
    add(&mut chapter, degrees(records));
    chapter.figure(degrees_drawn(records));
    add(&mut chapter, sets(records));
    add(&mut chapter, general(records));
    add(&mut chapter, keys(records));
    chapter.figure(seconds(records));
    chapter.figure(time(records));
    chapter.figure(capacity(records));
    add(&mut chapter, thin(records));
    chapter
}

fn degrees(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "p^r", Kind::Text),
        column("", "e", Kind::Number),
        column("", "B", Kind::Number),
        column("", "Δ", Kind::Number),
        column("", "method", Kind::Text),
        column("degrees", "paper", Kind::Paper),
        column("degrees", "its formula", Kind::Paper),
        column("degrees", "here", Kind::Here),
        column("degrees", "here ÷ paper", Kind::Ratio),
        column("", "depth", Kind::Number),
        column("", "products", Kind::Number),
        column("", "relinearizations", Kind::Number),
        column("", "bits", Kind::Number),
    ];
    let row = |l: &Value| {
        vec![
            Cell::text(l.text("set")),
            Cell::text(modulus(l)),
            Cell::exact(l.number("e")),
            Cell::exact(l.number("bound")),
            Cell::exact(l.number("multiplier")),
            Cell::text(l.text("method")),
            Cell::text(l.text("degrees_paper")),
            Cell::text(l.text("degrees_formula")),
            Cell::text(l.text("degrees")),
            Cell::ratio(largest(&l.text("degrees")), largest(&l.text("degrees_paper"))),
            Cell::exact(l.number("depth")),
            Cell::exact(l.number("products")),
            Cell::exact(l.number("relinearizations")),
            Cell::digits(l.number("capacity_bits"), 0),
        ]
    };
    let rows = records
        .of(DEGREES)
        .flat_map(|(_, s)| s.value.list("").iter().map(row).collect::<Vec<_>>())
        .collect();
    let notes = [
        "The paper's degrees are bounds, and its 65536 is 65537. Odd polynomials are one below \
         the even bounds. Where nothing stands here, nobody would build the polynomial: that is \
         the point of the paper.",
        "paterson_stockmeyer is a closed form with two polynomials, N and the b_k, instead of \
         one; it is not the paper's. The ratio is of the largest degrees. Bits: about, at n = \
         2^15.",
    ];
    records.table(DEGREES, "Degrees of the polynomials that remove digits", &columns, rows, &notes)
}

fn modulus(r: &Value) -> String {
    power(r.number("p").unwrap_or(0.0) as u64, r.number("r").unwrap_or(0.0) as u32)
}

/// The largest of a list of degrees.
fn largest(degrees: &str) -> Option<f64> {
    degrees.split([',', ';']).filter_map(|d| d.trim().parse().ok()).reduce(f64::max)
}

fn degrees_drawn(records: &Records<'_>) -> Option<Figure> {
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

fn sets(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "p^r", Kind::Text),
        column("", "m", Kind::Number),
        column("d", "paper", Kind::Paper),
        column("d", "here", Kind::Here),
        column("log QP", "paper", Kind::Paper),
        column("log QP", "here", Kind::Here),
        column("log QP", "here ÷ paper", Kind::Relation),
        column("security, main key", "paper", Kind::Paper),
        column("security, main key", "here", Kind::Here),
        column("security, main key", "here ÷ paper", Kind::Relation),
        column("", "h", Kind::Number),
        column("security, sparse key", "paper", Kind::Paper),
        column("security, sparse key", "here", Kind::Here),
        column("security, sparse key", "here ÷ paper", Kind::Relation),
        column("", "log2 ε", Kind::Number),
        column("", "B", Kind::Number),
        column("Δ", "paper", Kind::Paper),
        column("Δ", "here", Kind::Here),
        column("log q0 R", "paper", Kind::Paper),
        column("log q0 R", "here", Kind::Here),
    ];
    let row = |r: &Value| {
        let sparse = r.number("sparse_security").filter(|bits| *bits > 0.0);
        vec![
            Cell::text(r.text("set")),
            Cell::text(modulus(r)),
            Cell::exact(r.number("m")),
            Cell::exact(r.number("paper.d")),
            Cell::exact(r.number("d")),
            Cell::digits(r.number("paper.log_q"), 0),
            Cell::digits(r.number("log_qp"), 0),
            Cell::ratio(r.number("log_qp"), r.number("paper.log_q")),
            Cell::exact(r.number("paper.main_security")),
            Cell::digits(r.number("main_security"), 1),
            Cell::ratio(r.number("main_security"), r.number("paper.main_security")),
            Cell::exact(r.number("h")),
            Cell::exact(r.number("paper.sparse_security")),
            Cell::digits(sparse, 1),
            Cell::ratio(sparse, r.number("paper.sparse_security")),
            Cell::digits(r.number("epsilon_log2"), 1),
            Cell::exact(r.number("overflow_bound")),
            Cell::exact(r.number("paper.delta")),
            delta(r),
            Cell::digits(r.number("paper.log_q0_r"), 1),
            Cell::digits(r.number("log_q0_r"), 1),
        ]
    };
    let rows = records
        .of(T4)
        .flat_map(|(_, s)| s.value.list("").iter().map(row).collect::<Vec<_>>())
        .collect();
    let notes = [
        "Security here by this library's estimator, rotations of the secret counted, at the \
         moduli here: more than any estimate of 2024 counts against sparse keys.",
        "ε: that some coefficient of an overflow exceeds B; the paper has 2^−34. Sets in braces \
         are those that end in -80.",
    ];
    records.table(T4, "Table 4: the parameter sets", &columns, rows, &notes)
}

/// How digits were removed, marked where the paper has no such removal.
fn removal(r: &Value) -> Cell {
    let name = r.text("digit_removal");
    Cell::text(marked(name.clone(), is_the_papers(&name)))
}

/// Δ of the plan that runs, marked where it is not the paper's.
fn delta(keys: &Value) -> Cell {
    let (here, paper) = (keys.number("delta"), keys.number("paper.delta"));
    let text = here.map_or_else(String::new, |delta| marked(delta.to_string(), here == paper));
    Cell { text, value: here }
}

/// The throughput of a set over that of the baseline of its ring, if both are there.
fn speedup(records: &Records<'_>, r: &Value) -> Option<f64> {
    let set = r.text("set");
    let ring = set.trim_start_matches("ma-").split('-').next()?.to_string();
    let baseline =
        records.of(T6).map(|(_, s)| &s.value).find(|b| b.text("set") == format!("ma-{ring}"))?;
    Some(r.number("throughput")? / baseline.number("throughput")?)
}

fn general(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "removal", Kind::Text),
        column("", "n", Kind::Number),
        column("bits", "initial", Kind::Number),
        column("bits", "linear", Kind::Number),
        column("bits", "digits", Kind::Number),
        column("bits remaining", "paper", Kind::Paper),
        column("bits remaining", "here", Kind::Here),
        column("linear, seconds", "paper", Kind::Paper),
        column("linear, seconds", "here", Kind::Here),
        column("digits, seconds", "paper", Kind::Paper),
        column("digits, seconds", "here", Kind::Here),
        column("total, seconds", "paper", Kind::Paper),
        column("total, seconds", "here", Kind::Here),
        column("total, seconds", "here ÷ paper", Kind::Ratio),
        column("bits a second", "paper", Kind::Paper),
        column("bits a second", "here", Kind::Here),
        column("speed-up over baseline", "paper", Kind::Paper),
        column("speed-up over baseline", "here", Kind::Here),
        column("", "memory, GB", Kind::Number),
        column("", "wrong", Kind::Wrong),
    ];
    let row = |r: &Value| {
        let paper = |key: &str| r.number(&format!("paper.{key}"));
        vec![
            Cell::text(starred(r)),
            removal(r),
            Cell::exact(r.number("n")),
            Cell::digits(r.number("capacity_initial"), 0),
            Cell::digits(r.number("capacity_linear"), 0),
            Cell::digits(r.number("capacity_digits"), 0),
            Cell::exact(paper("capacity.3")),
            Cell::digits(r.number("capacity_remaining"), 0),
            Cell::exact(paper("seconds.0")),
            Cell::number(r.number("seconds_linear")),
            Cell::exact(paper("seconds.1")),
            Cell::number(r.number("seconds_digits")),
            Cell::exact(paper("seconds.2")),
            Cell::number(r.number("seconds_total")),
            Cell::ratio(r.number("seconds_total"), paper("seconds.2").filter(|_| !records.quick())),
            Cell::exact(paper("throughput")),
            Cell::number(r.number("throughput")),
            Cell::exact(paper("speedup")),
            Cell::number(speedup(records, r)),
            Cell::digits(r.number("peak_memory_bytes").map(|b| b / 1e9), 1),
            Cell::text(wrong(r)),
        ]
    };
    let rows = records.of(T6).map(|(_, s)| row(&s.value)).collect();
    let notes = [
        "Bits a second are remaining bits over the time of one bootstrapping, the paper's \
         throughput. The total modulus is the paper's.",
        "paterson_stockmeyer is the closed form, which the paper does not have.",
        "* extrapolated: the digit removal of a thin bootstrapping times the slots' degree, with \
         the linear maps of variant A; the baseline of ring V evaluates a polynomial of degree \
         65537 for each of 18 digits.",
    ];
    let mut table = records.table(T6, "Table 6: general bootstrapping", &columns, rows, &notes);
    table.notes.extend(records.not_comparable());
    table
}

/// The name of a set, marked where its time is extrapolated.
fn starred(r: &Value) -> String {
    let star = if r.at("extrapolated").is_some_and(|x| x.is_string()) { " *" } else { "" };
    format!("{}{star}", r.text("set"))
}

/// What the plans and the keys of table 6 are, beside its times.
fn keys(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "removal", Kind::Text),
        column("Δ", "paper", Kind::Paper),
        column("Δ", "here", Kind::Here),
        column("log q0 R", "paper", Kind::Paper),
        column("log q0 R", "here", Kind::Here),
        column("security, main key", "paper", Kind::Paper),
        column("security, main key", "here", Kind::Here),
        column("security, sparse key", "paper", Kind::Paper),
        column("security, sparse key", "here", Kind::Here),
    ];
    let row = |r: &Value| {
        let keys = r.at("keys").unwrap_or(&Value::Null);
        // The paper's are of its own ring.
        let of_paper = |key: &str| Cell::exact(keys.number(key).filter(|_| !records.quick()));
        vec![
            Cell::text(starred(r)),
            removal(r),
            Cell::exact(keys.number("paper.delta")),
            delta(keys),
            of_paper("paper.log_q0_r"),
            Cell::digits(keys.number("log_q0_r"), 1),
            of_paper("paper.main_security"),
            Cell::digits(keys.number("main_security"), 1),
            of_paper("paper.sparse_security"),
            Cell::digits(keys.number("sparse_security"), 1),
        ]
    };
    let rows = records.of(T6).map(|(_, s)| row(&s.value)).collect();
    let notes =
        ["Security by this library's estimator, at the moduli here. Δ here is that of the \
                  plan that ran."];
    let title = "Table 6: the plans and keys that ran";
    Table { id: format!("{T6}-keys"), ..records.table(T6, title, &columns, rows, &notes) }
}

fn wrong(r: &Value) -> String {
    format!("{} of {}", shown(r.number("wrong_slots")), shown(r.number("verified_slots")))
}

fn seconds(records: &Records<'_>) -> Option<Figure> {
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
fn time(records: &Records<'_>) -> Option<Figure> {
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
fn capacity(records: &Records<'_>) -> Option<Figure> {
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

fn thin(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "removal", Kind::Text),
        column("", "n", Kind::Number),
        column("bits", "initial", Kind::Number),
        column("bits", "remaining", Kind::Number),
        column("seconds here", "linear", Kind::Here),
        column("seconds here", "digits", Kind::Here),
        column("total, seconds", "HElib", Kind::Paper),
        column("total, seconds", "here", Kind::Here),
        column("total, seconds", "here ÷ HElib", Kind::Ratio),
        column("", "memory, GB", Kind::Number),
        column("", "wrong", Kind::Wrong),
    ];
    let row = |r: &Value| {
        let helib = r.number("helib_thin_seconds");
        vec![
            Cell::text(r.text("set")),
            Cell::text(r.text("digit_removal")),
            Cell::exact(r.number("n")),
            Cell::digits(r.number("capacity_initial"), 0),
            Cell::digits(r.number("capacity_remaining"), 0),
            Cell::number(r.number("seconds_linear")),
            Cell::number(r.number("seconds_digits")),
            Cell::exact(helib),
            Cell::number(r.number("seconds_total")),
            Cell::ratio(r.number("seconds_total"), helib.filter(|_| !records.quick())),
            Cell::digits(r.number("peak_memory_bytes").map(|b| b / 1e9), 1),
            Cell::text(wrong(r)),
        ]
    };
    let rows = records.of(THIN).map(|(_, s)| row(&s.value)).collect();
    let notes = ["HElib: CPU seconds of commit 3e337a6 on the same plaintext rings, on an AMD \
                  EPYC (Zen 4); it cannot run ring V. The paper has no such table."];
    let mut table = records.table(THIN, "The same sets, thin", &columns, rows, &notes);
    table.notes.extend(records.not_comparable());
    table
}
