//! Bootstrapping of named sets: where the time goes, and the capacity.

use everlevel_cli::plot::{NoisePoint, noise_plot};
use serde_json::Value;

use crate::report::model::{Cell, Chapter, Fields, Figure, Kind, column};
use crate::report::parts::{add, bars, figure, series};
use crate::report::plan::{BOOTSTRAP, EXPLAIN};
use crate::report::plot::BarPlot;
use crate::report::plot::Plot;
use crate::report::records::Records;

/// Stages in the order of the pipeline.
const STAGES: [(&str, &str); 7] = [
    ("encapsulate", "encapsulate"),
    ("raise", "raise"),
    ("trace", "trace"),
    ("coeff_to_slot", "coefficients to slots"),
    ("digit_removal", "digit removal"),
    ("slot_to_coeff", "slots to coefficients"),
    ("assemble", "assemble"),
];

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "bootstrapping",
        "Bootstrapping",
        "Bootstrapping, stage by stage",
        &["An exhausted ciphertext is brought to a small modulus under a sparse key \
             (encapsulate), its phase is made the content of a new one (raise), moved to the \
             slots, freed of its lowest digits, and moved back. The result encrypts the same \
             values, with room to compute. The papers have no such runs: these are this \
             library's own sets."],
    );
    if records.of(BOOTSTRAP).next().is_some() {
        add(&mut chapter, runs(records));
    }
    chapter.figure(stages(records));
    for (i, (job, stored)) in records.of(EXPLAIN).enumerate() {
        chapter.figure(pipeline(records, i + 1, &stored.value));
        let points: Vec<NoisePoint> = stored
            .value
            .list("steps")
            .iter()
            .filter_map(|v| serde_json::from_value(v.clone()).ok())
            .collect();
        let plot = Plot::Line(noise_plot(&stored.value.text("params"), &points));
        let command = job.command();
        let notes = vec![
            "Squares of a fresh ciphertext until one has to be bootstrapped, and its \
             bootstrapping, under new keys."
                .into(),
        ];
        chapter.figure(Some(Figure { id: format!("fig-noise-{}", i + 1), notes, command, plot }));
    }
    chapter
}

fn runs(records: &Records<'_>) -> crate::report::model::Table {
    let columns = [
        column("", "set", Kind::Text),
        column("", "threads", Kind::Number),
        column("", "slots", Kind::Number),
        column("", "security, bits", Kind::Number),
        column("", "seconds", Kind::Here),
        column("", "floor, seconds", Kind::Number),
        column("capacity, bits", "before", Kind::Number),
        column("capacity, bits", "after", Kind::Number),
        column("", "products after", Kind::Number),
        column("noise, bits", "bound", Kind::Number),
        column("noise, bits", "measured", Kind::Number),
        column("", "log2 failure", Kind::Number),
        column("", "key switches", Kind::Number),
        column("", "server keys, MiB", Kind::Number),
        column("", "memory, GB", Kind::Number),
        column("", "wrong", Kind::Wrong),
    ];
    let row = |r: &Value| {
        let security = r
            .number("security_bits")
            .filter(|bits| *bits > 0.0 && !r.text("params").starts_with("insecure_"));
        vec![
            Cell::text(r.text("params")),
            Cell::exact(r.number("threads")),
            Cell::exact(r.number("slots")),
            Cell::digits(security, 1),
            Cell::number(r.number("seconds_median")),
            Cell::number(r.number("floor_seconds")),
            Cell::digits(r.number("capacity_bits_before"), 1),
            Cell::digits(r.number("capacity_bits_after"), 1),
            Cell::exact(r.number("multiplications_after")),
            Cell::digits(r.number("noise_bound_bits"), 1),
            Cell::digits(r.number("noise_measured_bits"), 1),
            Cell::digits(r.number("failure_log2"), 0),
            Cell::exact(r.number("key_switches")),
            Cell::digits(r.number("server_key_bytes").map(|b| b / 1048576.0), 0),
            Cell::digits(r.number("peak_memory_bytes").map(|b| b / 1e9), 2),
            Cell::text(format!(
                "{} of {}",
                r.number("wrong_slots").unwrap_or(0.0),
                r.number("verified_slots").unwrap_or(0.0)
            )),
        ]
    };
    let rows = records.of(BOOTSTRAP).map(|(_, s)| row(&s.value)).collect();
    records.table(
        BOOTSTRAP,
        "Bootstrapping of named sets",
        &columns,
        rows,
        &[
            "Seconds: the median of the runs, each with keys and values of its own; all slots \
             decrypted and compared. Floor: what the counted operations and bytes would take at \
             the limits of the machine; in records without floor_parts, transforms times the \
             measured time of one, plus bytes moved over the measured bandwidth.",
            "The command takes --params SET and --threads K; sets that begin with insecure_ are \
             toys.",
        ],
    )
}

/// Shares of the time.
fn stages(records: &Records<'_>) -> Option<Figure> {
    let single = |r: &&Value| r.number("threads") == Some(1.0);
    let found: Vec<&Value> = records.of(BOOTSTRAP).map(|(_, s)| &s.value).filter(single).collect();
    let total = |r: &Value| {
        STAGES.iter().filter_map(|(key, _)| r.number(&format!("stages.{key}"))).sum::<f64>()
    };
    let share =
        |r: &&Value, key: &str| Some(100.0 * r.number(&format!("stages.{key}"))? / total(r));
    let all = STAGES
        .iter()
        .map(|(key, name)| series(*name, found.iter().map(|r| share(r, key)).collect()));
    let all: Vec<_> = all.filter(|s| s.values.iter().any(Option::is_some)).collect();
    let groups = found.iter().map(|r| r.text("params")).collect();
    let description = "for each set, the share of each stage in the time of one bootstrapping on \
                       one thread; the seconds of the whole stand behind the bars";
    let plot = bars(
        "Where the time of a bootstrapping goes",
        description,
        "per cent of the time",
        groups,
        all,
    )?;
    let totals =
        found.iter().map(|r| format!("{} s", crate::report::plot::short(total(r)))).collect();
    Some(figure(
        "fig-stages",
        records.plan.command(BOOTSTRAP),
        vec![],
        BarPlot { stacked: true, totals, ..plot },
    ))
}

/// The capacity of a fresh ciphertext, of what is left of it, and at the end of each stage of its
/// bootstrapping.
fn pipeline(records: &Records<'_>, i: usize, r: &Value) -> Option<Figure> {
    let mut ends: Vec<(String, Option<f64>)> = Vec::new();
    for step in r.list("steps") {
        let capacity = step.number("capacity_bits");
        let stage = step.text("stage");
        let name = match STAGES.iter().find(|(key, _)| *key == stage) {
            Some((_, name)) => *name,
            None if ends.is_empty() => "fresh",
            None => "after squares",
        };
        match ends.iter_mut().find(|(known, _)| known == name) {
            Some((_, last)) => *last = capacity,
            None => ends.push((name.into(), capacity)),
        }
    }
    let (groups, values) = ends.into_iter().unzip();
    let description = "bits of capacity, log2 of the modulus over twice the noise bound: of a \
                       fresh ciphertext, of what squares leave of it, and at the end of each \
                       stage of its bootstrapping, in the order in which they come";
    let title = format!("Capacity through the pipeline, {}", r.text("params"));
    let plot =
        bars(&title, description, "bits of capacity", groups, vec![series("capacity", values)])?;
    Some(figure(&format!("fig-pipeline-{i}"), records.plan.command(EXPLAIN), vec![], plot))
}
