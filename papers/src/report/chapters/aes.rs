//! Homomorphic AES-128: the evaluation of Doröz, Hu and Sunar, and those over BGV.

use everlevel_cli::plot::svg::COLORS;
use everlevel_cli::plot::{Join, LinePlot, Series};
use serde_json::Value;

use super::methods::{self, Compared};
use crate::ltv::{degree, log2_q_of_paper, seconds_by_windows, seconds_of_paper};
use crate::report::model::{Cell, Chapter, Fields, Figure, Kind, column};
use crate::report::parts::{add, shown};
use crate::report::plan::AES;
use crate::report::plot::Plot;
use crate::report::records::Records;
use crate::rows::{marked, marked_number};

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "aes",
        "AES",
        "AES-128 on encrypted blocks",
        &[
            "A server encrypts blocks that it cannot read, under a key that it cannot read: all \
             ten rounds, on random blocks under a random key whose round keys are encrypted. \
             Every block is decrypted and compared with another implementation.",
            "Doröz, Hu and Sunar took 29 hours for 2,048 blocks on an Intel Xeon at 2.9 GHz. \
             Their sets (ltv-) give no security; those of BGV hold 128 bits.",
        ],
    );
    add(&mut chapter, runs(records));
    let notes = [
        "Its method: bit-sliced, over powers of one prime, with keys for each bit; with windows, \
         as Öztürk, Doröz, Savaş and Sunar (2015) have them, whose 12.6 seconds a block the paper \
         cites without a ring. The best: any chain and any method, two threads like its method.",
    ];
    let title = "A whole state: paper, its method here, best here";
    let compared = compared(records);
    let methods = methods::table(records, AES, title, &compared, &notes);
    methods.into_iter().for_each(|table| add(&mut chapter, table));
    chapter.figure(seconds(records, &compared));
    for (id, family) in [("fig-aes-noise-bgv", "bgv"), ("fig-aes-noise-ltv", "ltv")] {
        chapter.figure(noise(records, id, family));
    }
    chapter.figure(modulus(records));
    chapter
}

/// Seconds that the paper took for as many blocks as a run here had.
fn paper(r: &Value) -> Option<f64> {
    seconds_of_paper(degree(&r.text("params"))?)
}

/// log2 of the modulus that the paper begins with on the ring of a run, and of the run's, marked
/// where it does not round to the paper's.
fn first_moduli(r: &Value) -> String {
    let here = r.number("modulus_bits_after_each_round.0");
    let paper = degree(&r.text("params")).and_then(log2_q_of_paper);
    match (paper, here) {
        (Some(paper), Some(here)) => format!("{paper:.0} / {}", marked_number(here, paper, 0)),
        (_, here) => format!("– / {}", shown(here.map(f64::round))),
    }
}

fn is_ltv(r: &Value) -> bool {
    r.text("scheme") == "ltv"
}

/// How a state is cut, marked where Doröz, Hu and Sunar have it otherwise, and how keys are kept
/// if not transformed.
fn method(r: &Value) -> String {
    let name = r.text("method");
    let method = marked(name.clone(), !is_ltv(r) || name == "bit-sliced");
    match r.text("keys") {
        keys if keys.is_empty() => method,
        keys => format!("{method}, {keys}"),
    }
}

/// The set, marked where Doröz, Hu and Sunar switch keys by other digits; over distinct primes the
/// chain is marked.
fn set(r: &Value) -> String {
    let name = r.text("params");
    let own = name.ends_with("-binary") || r.text("chain") != "prime-power";
    marked(name, own)
}

fn runs(records: &Records<'_>) -> crate::report::model::Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "chain", Kind::Text),
        column("", "method", Kind::Text),
        column("", "threads", Kind::Number),
        column("", "blocks", Kind::Number),
        column("", "log q0, paper / here", Kind::Text),
        column("seconds", "paper", Kind::Paper),
        column("seconds", "here", Kind::Here),
        column("seconds", "here ÷ paper", Kind::Ratio),
        column("seconds", "floor", Kind::Number),
        column("", "ms a block", Kind::Here),
        column("", "key switches", Kind::Number),
        column("", "depth", Kind::Number),
        column("set-up, seconds", "keys", Kind::Number),
        column("set-up, seconds", "round keys", Kind::Number),
        column("", "server keys, MiB", Kind::Number),
        column("", "memory, GB", Kind::Number),
        column("after the last round, bits", "noise", Kind::Number),
        column("after the last round, bits", "bound", Kind::Number),
        column("after the last round, bits", "modulus", Kind::Number),
        column("", "wrong", Kind::Wrong),
    ];
    let row = |r: &Value| {
        let last = |key: &str| r.list(key).last().and_then(Value::as_f64);
        vec![
            Cell::text(set(r)),
            Cell::text(marked(r.text("chain"), !is_ltv(r) || r.text("chain") == "prime-power")),
            Cell::text(method(r)),
            Cell::exact(r.number("threads")),
            Cell::exact(r.number("blocks")),
            Cell::text(first_moduli(r)),
            Cell::exact(paper(r)),
            Cell::number(r.number("seconds_total")),
            Cell::ratio(r.number("seconds_total"), paper(r)),
            Cell::number(r.number("floor_seconds")),
            Cell::number(r.number("seconds_per_block").map(|s| 1e3 * s)),
            Cell::exact(r.number("key_switches")),
            Cell::exact(r.number("depth")),
            Cell::number(r.number("seconds_keygen")),
            Cell::number(r.number("seconds_round_keys")),
            Cell::digits(r.number("key_bytes").map(|b| b / 1048576.0), 0),
            Cell::digits(r.number("peak_memory_bytes").map(|b| b / 1e9), 1),
            Cell::digits(last("noise_after_each_round"), 1),
            Cell::digits(last("bound_after_each_round"), 1),
            Cell::digits(last("modulus_bits_after_each_round"), 0),
            Cell::exact(r.number("wrong_blocks")),
        ]
    };
    let rows = records.of(AES).map(|(_, s)| row(&s.value)).collect();
    let mut table = records.table(
        AES,
        "Runs",
        &columns,
        rows,
        &[
            "Each row is a run of its own: `papers aes --scheme SCHEME --params SET \
             --chain CHAIN --method METHOD --threads K`, with --insecure-research for ltv-. The \
             paper's method is bit-sliced, over powers of one prime, with a digit of the \
             switched ciphertext for each bit (-binary); the other sets have digits of 16 bits \
             (-windows-16) or to base p^6. Bytes are x^254 in GF(2^8). Polynomials: the keys are \
             kept as such, and transformed when they are used.",
            "Noise is log2 of the canonical norm of the phase over distinct primes (rns), where \
             the bound is proved, and of its largest coefficient over prime powers, where it is \
             the average case with the paper's margin α = 8. q0 is the modulus before the first \
             round: the 41st power of a prime of as many bits as the paper cuts, 30 or 31, or as \
             many bits of distinct primes.",
        ],
    );
    table.notes.extend(records.not_comparable());
    table
}

/// The paper's two rings, by its own digits and by windows, each beside every run on the ring; none
/// without a run on it.
fn compared(records: &Records<'_>) -> Vec<Compared> {
    let found: Vec<&Value> = records.of(AES).map(|(_, s)| &s.value).collect();
    let on_two = |r: &&&Value| r.number("threads") == Some(2.0);
    let row = |name: &str, n: usize, digits: &str, paper: Option<f64>| {
        let own = format!("ltv-{n}-{digits}");
        let way = |r: &&Value| {
            let name = [r.text("params"), r.text("chain"), r.text("method")].join(", ");
            methods::Way::of(r, "seconds_total", name)
        };
        let on_ring = |r: &&&Value| degree(&r.text("params")) == Some(n);
        Compared {
            name: format!("n = {n}, {name}"),
            paper,
            method: found
                .iter()
                .find(|r| r.text("params") == own)
                .and_then(|r| r.number("seconds_total")),
            ways: found.iter().filter(on_two).filter(on_ring).filter_map(way).collect(),
        }
    };
    let rows = [32768, 27000].map(|n| {
        [
            row("a digit for each bit", n, "binary", seconds_of_paper(n)),
            row("windows", n, "windows-16", seconds_by_windows(n)),
        ]
    });
    rows.into_iter().flatten().filter(|row| !row.ways.is_empty()).collect()
}

fn seconds(records: &Records<'_>, rows: &[Compared]) -> Option<Figure> {
    let title = "AES on a whole state: the paper, its method here, the best here";
    let description = "seconds for AES-128 on all blocks of a state, 2,048 or 1,800, at the \
                       paper's rings and moduli, on a logarithmic axis: the paper's on its \
                       machine, the same method on two threads here, and the fastest way here";
    let notes = vec![
        "Windows at n = 32768: 12.6 seconds a block, which the paper cites without a ring, times \
         2,048."
            .into(),
    ];
    let command = records.plan.command(AES);
    methods::drawn("fig-aes-seconds", [title, description], command, rows, notes)
}

/// What a run has for each round.
fn by_round(r: &Value, key: &str) -> Vec<(f64, f64)> {
    r.list(key)
        .iter()
        .enumerate()
        .filter_map(|(round, v)| Some((round as f64, v.as_f64()?)))
        .collect()
}

/// What is left of the modulus after each round, for each way to evaluate.
fn modulus(records: &Records<'_>) -> Option<Figure> {
    let mut series: Vec<Series> = Vec::new();
    for (_, stored) in records.of(AES) {
        let r = &stored.value;
        let name = format!("{}, {}, {}", r.text("params"), r.text("chain"), r.text("method"));
        if series.len() < COLORS && series.iter().all(|s| s.name != name) {
            series.push(Series {
                name,
                points: by_round(r, "modulus_bits_after_each_round"),
                join: Join::Straight,
            });
        }
    }
    let plot = LinePlot {
        title: "Modulus after each AES round".into(),
        description: "log2 of the modulus of a state after the first round key and after each of \
                      the ten rounds; between noise and modulus is what is left to compute with"
            .into(),
        x_label: "round".into(),
        y_label: "bits (log2)".into(),
        log: [false; 2],
        series,
        spans: vec![],
    };
    let command = records.plan.command(AES);
    (!plot.series.is_empty()).then(|| Figure {
        id: "fig-aes-modulus".into(),
        notes: vec![],
        command,
        plot: Plot::Line(plot),
    })
}

/// Noise after each round, of the first run of a scheme over distinct primes.
fn noise(records: &Records<'_>, id: &str, family: &str) -> Option<Figure> {
    let wanted = |r: &&Value| r.text("scheme") == family && r.text("chain") == "rns";
    let (job, r) = records.of(AES).map(|(job, s)| (job, &s.value)).find(|(_, r)| wanted(r))?;
    let line =
        |name: &str, key: &str, join| Series { name: name.into(), points: by_round(r, key), join };
    let plot = LinePlot {
        title: format!("Noise after each AES round: {}, {}", r.text("params"), r.text("method")),
        description: "log2 of the bound on the noise and of the noise that was measured, after \
                      the first round key and after each of the ten rounds"
            .into(),
        x_label: "round".into(),
        y_label: "bits (log2)".into(),
        log: [false; 2],
        series: vec![
            line("bound on the noise", "bound_after_each_round", Join::Straight),
            line("measured noise", "noise_after_each_round", Join::Dots),
        ],
        spans: vec![],
    };
    Some(Figure { id: id.into(), notes: vec![], command: job.command(), plot: Plot::Line(plot) })
}
