//! Ma, Huang, Wang and Wang 2024.

mod figures;
mod names;
mod rings;

use serde_json::Value;

use self::names::{DEGREES, T4, T6, THIN, by_set, largest, modulus, ring, starred};
use super::methods;
use crate::ma_et_al::results::is_the_papers;
use crate::report::model::{Cell, Chapter, Fields, Kind, Table, column};
use crate::report::parts::{add, shown};
use crate::report::records::Records;
use crate::rows::{marked, marked_number};

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
    chapter.figure(figures::degrees_drawn(records));
    add(&mut chapter, sets(records));
    add(&mut chapter, general(records));
    add(&mut chapter, capacities(records));
    add(&mut chapter, keys(records));
    let sets = figures::sets(records);
    let beside = figures::beside_others(&sets);
    let methods = methods::table(
        records,
        T6,
        "Table 6: paper, its method here, best here",
        &beside,
        &[
            "Its method: HElib's digit removal for the baselines, local null polynomials for A, \
             global ones for B.",
            "The best: any digit removal that the set was run with, or another set with the same \
             plaintexts, moduli and keys here, which is named then: so a baseline stands beside \
             the best of its ring. * is extrapolated, as in the table above.",
        ],
    );
    let compared: Vec<_> = sets.into_iter().map(|set| set.compared).collect();
    let tables = methods.into_iter().chain(rings::table(records, &compared));
    tables.for_each(|table| add(&mut chapter, table));
    chapter.figure(figures::seconds(records, &beside));
    chapter.figure(figures::time(records));
    chapter.figure(figures::capacity(records));
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
         the even bounds. The baseline of ring V is Halevi and Shoup's polynomial, of the same \
         degree as Chen and Han's.",
        "paterson_stockmeyer is a closed form with two polynomials, N and the b_k, instead of \
         one; it is not the paper's. The ratio is of the largest degrees. Bits: about, at n = \
         2^15.",
    ];
    records.table(DEGREES, "Degrees of the polynomials that remove digits", &columns, rows, &notes)
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
            parameter(r.number("log_qp"), r.number("paper.log_q"), 0),
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
            parameter(r.number("delta"), r.number("paper.delta"), 0),
            Cell::digits(r.number("paper.log_q0_r"), 1),
            parameter(r.number("log_q0_r"), r.number("paper.log_q0_r"), 1),
        ]
    };
    let rows = records
        .of(T4)
        .flat_map(|(_, s)| s.value.list("").iter().map(row).collect::<Vec<_>>())
        .collect();
    let notes = [
        "Security here by this library's estimator, rotations of the secret counted, at the \
         moduli here: more than any estimate of 2024 counts against sparse keys.",
        "ε: that some coefficient of an overflow exceeds B; the paper has 2^−34.3 for I, 2^−33.7 \
         for II, 2^−34.0 for IV and 2^−33.9 for V. Sets in braces are those that end in -80.",
        "QP here is a product of whole primes, up to 24 bits below the paper's. R is a prime of \
         50 bits, and q0 has 40 or 45.",
    ];
    records.table(T4, "Table 4: the parameter sets", &columns, rows, &notes)
}

/// How digits were removed, marked where the paper has no such removal.
fn removal(r: &Value) -> Cell {
    let name = r.text("digit_removal");
    Cell::text(marked(name.clone(), is_the_papers(&name)))
}

/// A parameter of what ran, marked where it is not the paper's; unmarked where the paper's is not
/// shown beside it.
fn parameter(here: Option<f64>, paper: Option<f64>, digits: usize) -> Cell {
    match here.zip(paper) {
        Some((value, paper)) => Cell { text: marked_number(value, paper, digits), value: here },
        None => Cell::digits(here, digits),
    }
}

/// The throughput of a set over that of the baseline of its ring, if both are there.
fn speedup(records: &Records<'_>, r: &Value) -> Option<f64> {
    let baseline = format!("ma-{}", ring(&r.text("set")));
    let baseline = records.of(T6).map(|(_, s)| &s.value).find(|b| b.text("set") == baseline)?;
    Some(r.number("throughput")? / baseline.number("throughput")?)
}

fn general(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "removal", Kind::Text),
        column("", "n", Kind::Number),
        column("bits remaining", "paper", Kind::Paper),
        column("bits remaining", "here", Kind::Here),
        column("linear, seconds", "paper", Kind::Paper),
        column("linear, seconds", "here", Kind::Here),
        column("digits, seconds", "paper", Kind::Paper),
        column("digits, seconds", "here", Kind::Here),
        column("total, seconds", "paper", Kind::Paper),
        column("total, seconds", "here", Kind::Here),
        column("total, seconds", "here ÷ paper", Kind::Ratio),
        column("total, seconds", "floor", Kind::Number),
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
            Cell::exact(paper("capacity.3")),
            Cell::digits(r.number("capacity_remaining"), 0),
            Cell::exact(paper("seconds.0")),
            Cell::number(r.number("seconds_linear")),
            Cell::exact(paper("seconds.1")),
            Cell::number(r.number("seconds_digits")),
            Cell::exact(paper("seconds.2")),
            Cell::number(r.number("seconds_total")),
            Cell::ratio(r.number("seconds_total"), paper("seconds.2").filter(|_| !records.quick())),
            Cell::number(r.number("floor_seconds")),
            Cell::exact(paper("throughput")),
            Cell::number(r.number("throughput")),
            Cell::exact(paper("speedup")),
            Cell::number(speedup(records, r)),
            Cell::digits(r.number("peak_memory_bytes").map(|b| b / 1e9), 1),
            Cell::text(wrong(r)),
        ]
    };
    let rows = by_set(records).into_iter().map(row).collect();
    let notes = [
        "Bits a second are remaining bits over the time of one bootstrapping, the paper's \
         throughput. The total modulus is the paper's, less up to 24 bits.",
        "paterson_stockmeyer is the closed form, which the paper does not have.",
        "* extrapolated: the digit removal of a thin bootstrapping times the slots' degree, with \
         the linear maps of variant A; the baseline of ring V evaluates a polynomial of degree \
         65537 for each of 18 digits.",
    ];
    let mut table = records.table(T6, "Table 6: general bootstrapping", &columns, rows, &notes);
    table.notes.extend(records.not_comparable());
    table
}

/// The bits of capacity after each part of a bootstrapping.
fn capacities(records: &Records<'_>) -> Table {
    const PARTS: [(&str, &str); 4] = [
        ("initial", "before it"),
        ("linear", "after the linear maps"),
        ("digits", "after the digits"),
        ("remaining", "remaining"),
    ];
    let mut columns = vec![column("", "set", Kind::Text), column("", "removal", Kind::Text)];
    for (_, name) in PARTS {
        columns.push(column(name, "paper", Kind::Paper));
        columns.push(column(name, "here", Kind::Here));
    }
    let row = |r: &Value| {
        let mut cells = vec![Cell::text(starred(r)), removal(r)];
        for (i, (part, _)) in PARTS.iter().enumerate() {
            cells.push(Cell::exact(r.number(&format!("paper.capacity.{i}"))));
            cells.push(Cell::digits(r.number(&format!("capacity_{part}")), 0));
        }
        cells
    };
    let rows = by_set(records).into_iter().map(row).collect();
    let title = "Table 6: bits of capacity";
    Table { id: format!("{T6}-bits"), ..records.table(T6, title, &columns, rows, &[]) }
}

/// What the plans and the keys of table 6 are, beside its times.
fn keys(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "removal", Kind::Text),
        column("log QP", "paper", Kind::Paper),
        column("log QP", "here", Kind::Here),
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
        let of_paper = |key: &str| keys.number(key).filter(|_| !records.quick());
        let [log_q, log_q0_r] = ["paper.log_q", "paper.log_q0_r"].map(of_paper);
        vec![
            Cell::text(starred(r)),
            removal(r),
            Cell::exact(log_q),
            parameter(keys.number("log_qp"), log_q, 0),
            Cell::exact(keys.number("paper.delta")),
            parameter(keys.number("delta"), keys.number("paper.delta"), 0),
            Cell::exact(log_q0_r),
            parameter(keys.number("log_q0_r"), log_q0_r, 1),
            Cell::exact(of_paper("paper.main_security")),
            Cell::digits(keys.number("main_security"), 1),
            Cell::exact(of_paper("paper.sparse_security")),
            Cell::digits(keys.number("sparse_security"), 1),
        ]
    };
    let rows = by_set(records).into_iter().map(row).collect();
    let notes =
        ["Security by this library's estimator, at the moduli here. Δ here is that of the \
                  plan that ran."];
    let title = "Table 6: the plans and keys that ran";
    Table { id: format!("{T6}-keys"), ..records.table(T6, title, &columns, rows, &notes) }
}

fn wrong(r: &Value) -> String {
    format!("{} of {}", shown(r.number("wrong_slots")), shown(r.number("verified_slots")))
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
        column("total, seconds", "floor", Kind::Number),
        column("", "memory, GB", Kind::Number),
        column("", "wrong", Kind::Wrong),
    ];
    let row = |r: &Value| {
        let helib = r.number("helib_thin_seconds");
        vec![
            Cell::text(r.text("set")),
            removal(r),
            Cell::exact(r.number("n")),
            Cell::digits(r.number("capacity_initial"), 0),
            Cell::digits(r.number("capacity_remaining"), 0),
            Cell::number(r.number("seconds_linear")),
            Cell::number(r.number("seconds_digits")),
            Cell::exact(helib),
            Cell::number(r.number("seconds_total")),
            Cell::ratio(r.number("seconds_total"), helib.filter(|_| !records.quick())),
            Cell::number(r.number("floor_seconds")),
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
