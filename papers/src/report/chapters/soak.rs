//! Many bootstrappings under many keys: what was wrong, and how far the noise stayed below its
//! bound.

use serde_json::Value;

use crate::report::model::{Cell, Chapter, Fields, Figure, Kind, Table, column};
use crate::report::parts::{add, bars, figure, series};
use crate::report::plan::SOAK;
use crate::report::records::Records;
use crate::soak;

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "soak",
        "Soak test",
        "Soak test: bootstrappings of extreme inputs under many keys",
        &["Messages are random, 0, t − 1, (t − 1)/2 or (t + 1)/2 everywhere, 0 and t − 1 by \
           turns, or one value alone, t = p^r. Their noise is what encryption leaves, or it is \
           crafted to fill the bound that bootstrapping accepts: all of it in one coefficient, \
           or over all coefficients with random signs. Every slot is decrypted and compared \
           before and after, and every noise is measured. Equal seeds give equal counts."],
    );
    if records.of(SOAK).next().is_some() {
        add(&mut chapter, table(records));
    }
    chapter.figure(histogram(records));
    chapter
}

fn table(records: &Records<'_>) -> Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "what", Kind::Text),
        column("", "key pairs", Kind::Number),
        column("", "bootstrappings", Kind::Number),
        column("", "wrong slots", Kind::Wrong),
        column("", "above bound", Kind::Wrong),
        column("largest noise, bits", "bound", Kind::Number),
        column("largest noise, bits", "measured", Kind::Number),
        column("least log2(bound / noise)", "result", Kind::Number),
        column("least log2(bound / noise)", "crafted input", Kind::Number),
        column("", "log2 failure", Kind::Number),
        column("", "seconds", Kind::Here),
    ];
    let row = |r: &Value| {
        let of = |bad: &str, all: &str| {
            let count = |key| r.number(key).unwrap_or(0.0);
            Cell::text(format!("{} of {}", count(bad), count(all)))
        };
        vec![
            Cell::text(r.text("plan.family")),
            Cell::text(r.text("what")),
            Cell::exact(r.number("key_pairs")),
            Cell::exact(r.number("bootstrappings")),
            of("wrong_slots", "verified_slots"),
            of("above_bound", "bootstrappings"),
            Cell::digits(r.number("bound_bits"), 1),
            Cell::digits(r.number("largest_noise_bits"), 1),
            Cell::digits(r.number("least_gap_bits"), 2),
            Cell::digits(r.number("least_input_gap_bits"), 4),
            Cell::digits(r.number("failure_log2"), 0),
            Cell::number(r.number("seconds")),
        ]
    };
    let rows = records.of(SOAK).map(|(_, stored)| row(&stored.value)).collect();
    let notes =
        ["Above bound: inputs and results whose measured noise exceeds the bound that the \
         ciphertext states. Failure: the computed probability for one bootstrapping. Seconds: \
         keys, tables and checks included."];
    records.table(SOAK, "Counts", &columns, rows, &notes)
}

/// How far the noise of results lies below its bound, in whole bits.
fn histogram(records: &Records<'_>) -> Option<Figure> {
    let counts = |full: bool| {
        let mut bits: Vec<f64> = Vec::new();
        let all = records.of(SOAK).map(|(_, stored)| &stored.value);
        for r in all.filter(|r| (r.text("plan.family") == soak::full()) == full) {
            let width = r.number("gap_width").unwrap_or(1.0);
            for (i, count) in r.list("gaps").iter().enumerate() {
                let bit = (i as f64 * width) as usize;
                bits.resize(bits.len().max(bit + 1), 0.0);
                bits[bit] += count.as_f64().unwrap_or(0.0);
            }
        }
        bits
    };
    let found = [("small rings", counts(false)), (soak::full(), counts(true))];
    let places = found.iter().map(|(_, bits)| bits.len()).max().unwrap_or(0);
    let share = |bits: &[f64]| {
        let total: f64 = bits.iter().sum();
        (0..places)
            .map(|i| bits.get(i).filter(|n| **n > 0.0).map(|n| 100.0 * n / total))
            .collect::<Vec<_>>()
    };
    let all = found
        .iter()
        .filter(|(_, bits)| !bits.is_empty())
        .map(|(name, bits)| series(*name, share(bits)));
    let plot = bars(
        "How far the noise of bootstrapped ciphertexts stays below its bound",
        "for each whole number of bits of log2(bound / measured noise), the share of \
         bootstrappings",
        "per cent of the bootstrappings",
        (0..places).map(|bit| format!("{bit} to {} bits", bit + 1)).collect(),
        all.collect(),
    )?;
    Some(figure("fig-soak", records.plan.command(SOAK), vec![], plot))
}
