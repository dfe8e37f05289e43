//! Security estimates of keys: those of the named sets, and those of the papers.

use everlevel_cli::console::output::power;
use serde_json::Value;

use crate::report::model::{Cell, Chapter, Fields, Figure, Kind, Table, column};
use crate::report::parts::{add, bars, figure, series};
use crate::report::plan::{DATASHEET, SECURITY};
use crate::report::plot::BarPlot;
use crate::report::records::Records;

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "security",
        "Security",
        "Security",
        &["Bits of classical security by this library's estimator, attack by attack, rotations \
           of sparse secrets counted: see docs/security.md. The named sets hold 128 bits with \
           every key; the papers' keys are less secure than they say, most of them for reasons \
           found later."],
    );
    chapter.figure(by_set(records));
    if records.of(DATASHEET).next().is_some() {
        add(&mut chapter, sets(records));
    }
    chapter.figure(claimed(records));
    if records.of(SECURITY).next().is_some() {
        add(&mut chapter, papers(records));
    }
    chapter
}

fn by_set(records: &Records<'_>) -> Option<Figure> {
    let found: Vec<&Value> = records.of(DATASHEET).map(|(_, s)| &s.value).collect();
    let keys =
        |r: &Value| r.list("security_by_key").iter().map(|k| k.text("key")).collect::<Vec<_>>();
    let mut names: Vec<String> = Vec::new();
    for name in found.iter().flat_map(|r| keys(r)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let bits = |r: &&Value, name: &str| {
        r.list("security_by_key").iter().find(|k| k.text("key") == name)?.number("bits")
    };
    let all = names
        .iter()
        .map(|name| series(name, found.iter().map(|r| bits(r, name)).collect()))
        .collect();
    let groups = found.iter().map(|r| r.text("name")).collect();
    let model = found.first().map_or_else(String::new, |r| r.text("security_model"));
    let description = format!(
        "bits of security of every key of every named set by the cheapest attack ({model}); the \
         mark is at 128"
    );
    let plot =
        bars("Security of each set, key by key", &description, "bits of security", groups, all)?;
    let plot = BarPlot { marks: vec![(128.0, "128".into())], ..plot };
    Some(figure(
        "fig-security",
        records.plan.command(DATASHEET),
        vec![format!("Model: {model}.")],
        plot,
    ))
}

/// Attacks as the estimator names them, and as a head does.
const ATTACKS: [(&str, &str); 6] = [
    ("usvp", "uSVP"),
    ("bdd", "BDD"),
    ("primal-hybrid-babai", "hybrid, Babai"),
    ("primal-hybrid-mitm", "hybrid, meeting"),
    ("dual", "dual"),
    ("dual-hybrid", "dual hybrid"),
];

fn sets(records: &Records<'_>) -> Table {
    let mut columns = vec![
        column("", "set", Kind::Text),
        column("", "n", Kind::Number),
        column("", "p^r", Kind::Number),
        column("", "slots", Kind::Number),
        column("", "key", Kind::Text),
        column("", "log2 of its modulus", Kind::Number),
        column("bits", "cheapest attack", Kind::Here),
        column("bits", "without rotations", Kind::Number),
    ];
    columns.extend(ATTACKS.map(|(_, head)| column("bits by attack", head, Kind::Number)));
    let mut rows = Vec::new();
    for (_, stored) in records.of(DATASHEET) {
        let r = &stored.value;
        let modulus =
            power(r.number("p").unwrap_or(0.0) as u64, r.number("r").unwrap_or(0.0) as u32);
        for key in r.list("security_by_key") {
            let bits = |name: &str| {
                key.list("attacks").iter().find(|a| a.text("name") == name)?.number("bits")
            };
            let mut row = vec![
                Cell::text(r.text("name")),
                Cell::exact(r.number("n")),
                Cell::text(modulus.clone()),
                Cell::exact(r.number("slots")),
                Cell::text(key.text("key")),
                Cell::digits(key.number("modulus_bits"), 1),
                Cell::digits(key.number("bits"), 1),
                Cell::digits(key.number("bits_without_rotations"), 1),
            ];
            row.extend(ATTACKS.map(|(name, _)| Cell::digits(bits(name), 1)));
            rows.push(row);
        }
    }
    let model = records
        .of(DATASHEET)
        .next()
        .map_or_else(String::new, |(_, s)| s.value.text("security_model"));
    let notes = ["A blank: the estimator finds no parameters for the attack, or a cost beyond \
                  its range. Without rotations: what estimates before 2026 counted against \
                  sparse keys."];
    let mut table = records.table(DATASHEET, "The named sets", &columns, rows, &notes);
    table.notes.push(format!("Model: {model}."));
    table
}

fn keys<'a>(records: &'a Records<'_>) -> &'a [Value] {
    records.of(SECURITY).next().map_or(&[], |(_, s)| s.value.list(""))
}

fn claimed(records: &Records<'_>) -> Option<Figure> {
    let found = keys(records);
    let groups = found
        .iter()
        .map(|k| {
            format!("{}: {}", k.text("paper").split(' ').next().unwrap_or_default(), k.text("key"))
        })
        .collect();
    let of = |field: &str| found.iter().map(|k| k.number(field)).collect();
    let all = vec![series("as the paper says", of("claimed_bits")), series("today", of("bits"))];
    let description =
        "bits of security of the keys of the three papers, as they say and by today's estimate";
    let plot = bars(
        "Keys of the papers: claimed and today",
        description,
        "bits of security",
        groups,
        all,
    )?;
    let plot = BarPlot { marks: vec![(128.0, "128".into())], ..plot };
    Some(figure("fig-security-papers", records.plan.command(SECURITY), vec![], plot))
}

fn papers(records: &Records<'_>) -> Table {
    let columns = [
        column("", "paper", Kind::Text),
        column("", "key", Kind::Text),
        column("", "n", Kind::Number),
        column("", "log2 q", Kind::Number),
        column("", "secret", Kind::Text),
        column("bits", "paper", Kind::Paper),
        column("bits", "here", Kind::Here),
        column("bits", "here ÷ paper", Kind::Relation),
        column("bits", "without rotations", Kind::Number),
        column("", "attack", Kind::Text),
        column("", "block size", Kind::Number),
    ];
    let row = |k: &Value| {
        vec![
            Cell::text(k.text("paper")),
            Cell::text(k.text("key")),
            Cell::exact(k.number("n")),
            Cell::digits(k.number("log_q"), 1),
            Cell::text(k.text("secret")),
            Cell::exact(k.number("claimed_bits")),
            Cell::digits(k.number("bits"), 1),
            Cell::ratio(k.number("bits"), k.number("claimed_bits")),
            Cell::digits(k.number("bits_without_rotations"), 1),
            Cell::text(k.text("attack").replace('_', " ")),
            Cell::exact(k.number("block_size")),
        ]
    };
    let rows = keys(records).iter().map(row).collect();
    records.table(
        SECURITY,
        "The keys of the papers",
        &columns,
        rows,
        &["Block size 2 is LLL: the key is found, whatever the bits say."],
    )
}
