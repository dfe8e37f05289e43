//! Chen and Han 2018.

mod compared;
mod levels;
mod names;

use serde_json::Value;

use self::names::{
    BITS_OF_A_LEVEL, T1, T2, T3, T4, T5, bits_used, is_the_papers, problem, space, way,
};
use crate::report::model::{Cell, Chapter, Column, Fields, Figure, Kind, column};
use crate::report::parts::{add, bars, figure, series, shown};
use crate::report::plot::Bars;
use crate::report::records::Records;
use crate::rows::marked;

/// The most characters of a list of degrees.
const DEGREES_SHOWN: usize = 28;

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "chen-han",
        "Chen–Han",
        "Chen and Han 2018: Homomorphic lower digits removal and improved FHE bootstrapping",
        &[
            "Bootstrapping removes the lowest digits of an encrypted number. The paper brings the \
             degree of the polynomial that does so from p^e down to (e−1)(p−1)+1 and shows what \
             that saves, and a bootstrapping of few slots that removes digits once instead of \
             once for each coefficient.",
            "Paper: an Intel i7-4770 at 3.4 GHz (tables 4 and 5) and a laptop at 2.6 GHz (table \
             3). HElib: CPU seconds of commit 3e337a6 on an AMD EPYC (Zen 4), measured for this \
             comparison.",
        ],
    );
    add(&mut chapter, formulas(records, T1, "Table 1: removing digits, by formula and as counted"));
    add(&mut chapter, formulas(records, T2, "Table 2: the same within bootstrapping"));
    chapter.figure(by_method(
        records,
        "fig-products",
        "products",
        "Products by digit-removal method",
        "products of two ciphertexts",
    ));
    chapter.figure(by_method(
        records,
        "fig-depth",
        "depth",
        "Depth by digit-removal method",
        "products in a row",
    ));
    add(&mut chapter, removal(records));
    if !records.quick() {
        add(&mut chapter, levels::table(records));
    }
    add(
        &mut chapter,
        recrypt(records, T4, "Table 4: full bootstrapping, every coefficient of every slot"),
    );
    add(&mut chapter, recrypt(records, T5, "Table 5: slim bootstrapping, integers in the slots"));
    compared::methods(records, &mut chapter);
    chapter.figure(compared::seconds(records));
    chapter
}

fn shortened(degrees: &str) -> String {
    match degrees.char_indices().nth(DEGREES_SHOWN) {
        Some((at, _)) => format!("{}…", &degrees[..at]),
        None => degrees.into(),
    }
}

fn formulas<'a>(records: &Records<'a>, group: &'a str, title: &str) -> crate::report::model::Table {
    let columns = [
        column("", "scheme", Kind::Text),
        column("", "(p, e, v)", Kind::Text),
        column("", "method", Kind::Text),
        column("", "degrees", Kind::Text),
        column("depth", "paper's formula", Kind::Paper),
        column("depth", "here", Kind::Here),
        column("depth", "here ÷ paper", Kind::Ratio),
        column("products", "paper's formula", Kind::Paper),
        column("products", "here", Kind::Here),
        column("products", "here ÷ paper", Kind::Ratio),
        column("", "relinearizations", Kind::Number),
    ];
    let row = |l: &Value| {
        let scheme = l.text("scheme");
        vec![
            Cell::text(if scheme.is_empty() { "any".into() } else { scheme }),
            Cell::text(problem(l, "")),
            Cell::text(l.text("method")),
            Cell::text(shortened(&l.text("degrees"))),
            Cell::digits(l.number("depth_formula"), 1),
            Cell::exact(l.number("depth")),
            Cell::ratio(l.number("depth"), l.number("depth_formula")),
            Cell::digits(l.number("products_formula"), 1),
            Cell::exact(l.number("products")),
            Cell::ratio(l.number("products"), l.number("products_formula")),
            Cell::exact(l.number("relinearizations")),
        ]
    };
    let rows = records
        .of(group)
        .flat_map(|(_, stored)| stored.value.list("").iter().map(row).collect::<Vec<_>>())
        .collect();
    records.table(
        group,
        title,
        &columns,
        rows,
        &[
            "The paper's formulas are asymptotic; here are counts of the circuits that are run. \
             Methods without a formula are not the paper's.",
            "e digits, of which the v lowest are removed; degrees of one digit's polynomials are \
             set apart by commas, digits by semicolons.",
        ],
    )
}

/// A count of the timed removals, for each method.
fn by_method(
    records: &Records<'_>,
    id: &str,
    field: &str,
    title: &str,
    label: &str,
) -> Option<Figure> {
    let found: Vec<_> = records.of(T3).map(|(_, stored)| &stored.value).collect();
    let mut methods: Vec<String> = Vec::new();
    for m in found.iter().flat_map(|r| r.list("methods")) {
        let name = m.text("method");
        // Those that spend one level more for fewer products differ little: the table has them.
        let plain = !name.ends_with("_1") && !name.ends_with("_2");
        if plain && !methods.contains(&name) {
            methods.push(name);
        }
    }
    let groups = found.iter().map(|r| problem(r, "paper.")).collect();
    let value = |r: &Value, name: &str| {
        r.list("methods").iter().find(|m| m.text("method") == name)?.number(field)
    };
    let all: Vec<Bars> = methods
        .iter()
        .map(|name| series(name, found.iter().map(|r| value(r, name)).collect()))
        .collect();
    let description = format!(
        "for each of the paper's problems (p, e, v) a bar for each way of removing digits: {label}"
    );
    let plot = bars(title, &description, label, groups, all)?;
    Some(figure(id, records.plan.command(T3), vec![], plot))
}

fn removal(records: &Records<'_>) -> crate::report::model::Table {
    let columns = [
        column("", "(p, e, v)", Kind::Text),
        column("", "n", Kind::Number),
        column("", "method", Kind::Text),
        column("", "depth", Kind::Number),
        column("", "products", Kind::Number),
        column("seconds", "paper", Kind::Paper),
        column("seconds", "HElib", Kind::Paper),
        column("seconds", "here", Kind::Here),
        column("seconds", "here ÷ paper", Kind::Ratio),
        column("seconds", "floor", Kind::Number),
        column("levels before / after", "paper", Kind::Paper),
        column("levels before / after", "here", Kind::Here),
        column("bits used", "paper", Kind::Paper),
        column("bits used", "here", Kind::Here),
        column("bits used", "here ÷ paper", Kind::Ratio),
        column("", "wrong", Kind::Wrong),
    ];
    let mut rows = Vec::new();
    for (_, stored) in records.of(T3) {
        let r = &stored.value;
        for m in r.list("methods") {
            let method = m.text("method");
            let (key, helib) = match method.as_str() {
                "halevi_shoup" => ("paper.halevi_shoup", "paper.helib.0"),
                "chen_han" => ("paper.chen_han", "paper.helib.1"),
                _ => ("", "none"),
            };
            let of_paper = |i: usize| r.number(&format!("{key}.{i}")).filter(|_| !key.is_empty());
            let [paper, before, after] = [0, 1, 2].map(of_paper);
            let used = bits_used(m);
            let used_by_paper = before.zip(after).map(|(a, b)| BITS_OF_A_LEVEL * (a - b));
            let levels = |a: Option<f64>, b: Option<f64>| {
                a.zip(b).map_or_else(String::new, |(a, b)| format!("{a} / {b}"))
            };
            rows.push(vec![
                Cell::text(problem(r, "paper.")),
                Cell::exact(r.number("n")),
                Cell::text(marked(method, !key.is_empty())),
                Cell::exact(m.number("depth")),
                Cell::exact(m.number("products")),
                Cell::exact(paper),
                Cell::exact(r.number(helib)),
                Cell::number(m.number("seconds")),
                Cell::ratio(m.number("seconds"), paper.filter(|_| !records.quick())),
                Cell::number(m.number("floor_seconds")),
                Cell::text(levels(before, after)),
                Cell::text(levels(m.number("level_before"), m.number("level_after"))),
                Cell::exact(used_by_paper),
                Cell::digits(used, 0),
                Cell::ratio(used, used_by_paper.filter(|_| !records.quick())),
                Cell::exact(m.number("wrong_slots")),
            ]);
        }
    }
    let mut table = records.table(
        T3,
        "Table 3: removing digits, timed beside HElib",
        &columns,
        rows,
        &[
            "All rows at the 910 bits of the modulus that HElib was run with here, whatever the \
             paper's was. Levels here: squarings in a row modulo p^(e−v) until the bound refuses \
             one. A level of the paper is 22 bits of HElib's modulus, whatever a squaring takes, \
             so that what it used is known in bits; bits used here: by how much the capacity \
             shrinks.",
            "p = 2 is run over the ring of index 21845 = 5 · 17 · 257, as 2 divides powers of two.",
        ],
    );
    table.notes.extend(records.not_comparable());
    table
}

const RECRYPT: [Column; 20] = [
    column("", "plaintexts", Kind::Text),
    column("", "n", Kind::Number),
    column("", "slots", Kind::Number),
    column("", "log q", Kind::Number),
    column("", "secret, arithmetic, digits removed by", Kind::Text),
    column("depth fresh / after", "paper", Kind::Paper),
    column("depth fresh / after", "here", Kind::Here),
    column("seconds", "paper", Kind::Paper),
    column("seconds", "here", Kind::Here),
    column("seconds", "here ÷ paper", Kind::Ratio),
    column("seconds", "floor", Kind::Number),
    column("set-up, seconds", "paper", Kind::Paper),
    column("set-up, seconds", "here", Kind::Here),
    column("memory, GB", "paper", Kind::Paper),
    column("memory, GB", "here", Kind::Here),
    column("keys", "appendix B", Kind::Paper),
    column("keys", "here", Kind::Here),
    column("security, bits", "paper", Kind::Paper),
    column("security, bits", "here", Kind::Here),
    column("", "wrong", Kind::Wrong),
];

fn recrypt<'a>(records: &Records<'a>, group: &'a str, title: &str) -> crate::report::model::Table {
    let row = |r: &Value| {
        let comparable = |x: Option<f64>| x.filter(|_| !records.quick());
        let [seconds, init, memory] =
            ["seconds", "init_seconds", "memory_gb"].map(|key| r.number(&format!("paper.{key}")));
        let peak = r.number("peak_memory_bytes").map(|b| b / 1e9);
        let depth = |at: &str| {
            format!(
                "{} / {}",
                shown(r.number(&format!("{at}fresh_level"))),
                shown(r.number(&format!("{at}after_level")))
            )
        };
        vec![
            Cell::text(space(r)),
            Cell::exact(r.number("n")),
            Cell::exact(r.number("slots")),
            Cell::digits(r.number("log_q"), 0),
            Cell::text(marked(way(r), is_the_papers(r))),
            Cell::text(depth("paper.")),
            Cell::text(depth("")),
            Cell::exact(seconds),
            Cell::number(r.number("seconds_median")),
            Cell::ratio(r.number("seconds_median"), comparable(seconds)),
            Cell::number(r.number("floor_seconds")),
            Cell::exact(init),
            Cell::number(r.number("table_seconds")),
            Cell::exact(memory),
            Cell::number(peak),
            Cell::digits(r.number("galois_keys_of_appendix_b"), 0),
            Cell::exact(r.number("galois_keys")),
            Cell::exact(r.number("paper_security")),
            Cell::digits(comparable(r.number("security_bits")), 0),
            Cell::text(format!(
                "{} of {}",
                shown(r.number("wrong_slots")),
                shown(r.number("verified_slots"))
            )),
        ]
    };
    let rows = records.of(group).map(|(_, stored)| row(&stored.value)).collect();
    let misprint = "The paper's last two rings of table 4 are misprinted there: these are the \
                    ones that n = 2^15 has.";
    let mut notes = vec![
        "main-128: the paper's main secret of weight 128, no encapsulation; main-64: the other \
         weight that its text has, though its captions do not; encapsulated: a ternary main \
         secret, raised under a sparse one.",
        "mixed: BFV with the digits removed in BGV, by the free conversion; bfv: scale-invariant \
         products throughout. The paper removes digits by chen_han.",
        "Depth counts squarings in a row until the bound refuses one. log q is the paper's; keys \
         to switch with come on top, and the security here is that of QP by this library's \
         estimator, the paper's at q by that of 2018.",
    ];
    if group == T4 {
        notes.insert(0, misprint);
    }
    let mut table = records.table(group, title, &RECRYPT, rows, &notes);
    table.notes.extend(records.not_comparable());
    table
}
