//! How the time of one bootstrapping grows with the ring, the plaintext modulus and the number of
//! threads.

use std::collections::BTreeMap;

use everlevel_cli::console::output::power;
use everlevel_cli::plot::{Join, LinePlot, Series};
use serde_json::Value;

use crate::report::model::{Chapter, Fields, Figure};
use crate::report::parts::{bars, figure, series};
use crate::report::plan::{AES, BOOTSTRAP};
use crate::report::plot::Plot;
use crate::report::records::Records;

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "scaling",
        "Scaling",
        "Scaling",
        &["The same records seen from another side: one bootstrapping of integers in the slots \
           on one thread, by the degree n of the ring and by the exponent r of the plaintext \
           modulus p^r, and with more threads."],
    );
    let points = points(records);
    chapter.figure(by_degree(records, &points));
    chapter.figure(by_exponent(records, &points));
    chapter.figure(by_threads(records));
    chapter
}

/// A thin bootstrapping on one thread.
struct Point {
    p: u64,
    r: u32,
    log_n: f64,
    seconds: f64,
}

fn points(records: &Records<'_>) -> Vec<Point> {
    let mut found = Vec::new();
    for (_, stored) in records.of("chen-han-table-5") {
        let v = &stored.value;
        // Small rings hardly feel a second thread.
        let single = v.number("circumstances.threads") == Some(1.0) || records.quick();
        if !single || v.text("variant") != "encapsulated" || v.text("arithmetic") != "mixed" {
            continue;
        }
        found.extend(point(
            v.number("p"),
            v.number("r"),
            v.number("n"),
            v.number("seconds_median"),
        ));
    }
    for (_, stored) in records.of(BOOTSTRAP) {
        let v = &stored.value;
        let Ok(spec) = everlevel_scheme::params::spec(&v.text("params")) else { continue };
        // Rings of odd index have other transforms.
        if v.number("threads") == Some(1.0) && spec.index.is_power_of_two() {
            let n = Some((spec.index / 2) as f64);
            found.extend(point(
                Some(spec.plain_prime as f64),
                Some(f64::from(spec.plain_exponent)),
                n,
                v.number("seconds_median"),
            ));
        }
    }
    found
}

fn point(p: Option<f64>, r: Option<f64>, n: Option<f64>, seconds: Option<f64>) -> Option<Point> {
    Some(Point { p: p? as u64, r: r? as u32, log_n: n?.log2(), seconds: seconds? })
}

/// Lines of the least time for each value, those with one point left out.
fn lines<K: Ord>(
    points: &[Point],
    key: impl Fn(&Point) -> K,
    name: impl Fn(&K) -> String,
    x: impl Fn(&Point) -> f64,
) -> Vec<Series> {
    let mut all: BTreeMap<K, Vec<(f64, f64)>> = BTreeMap::new();
    for point in points {
        let line = all.entry(key(point)).or_default();
        match line.iter_mut().find(|(at, _)| *at == x(point)) {
            Some((_, seconds)) => *seconds = seconds.min(point.seconds),
            None => line.push((x(point), point.seconds)),
        }
    }
    let series = all.into_iter().filter(|(_, line)| line.len() > 1).map(|(k, mut points)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: name(&k), points, join: Join::Straight }
    });
    series.collect()
}

fn line_figure(
    records: &Records<'_>,
    id: &str,
    title: &str,
    x_label: &str,
    series: Vec<Series>,
) -> Option<Figure> {
    let mut notes = vec![
        "From table 5 of Chen and Han and from the named sets, which have moduli of their own: \
         the least time where there are several."
            .into(),
    ];
    if records.quick() {
        notes.push("Small rings, those of table 5 with as many threads as there were.".into());
    }
    let plot = LinePlot {
        title: title.into(),
        description: format!(
            "seconds of one bootstrapping on one thread, on a logarithmic axis, by {x_label}"
        ),
        x_label: x_label.into(),
        y_label: "seconds (logarithmic)".into(),
        log: [false, true],
        series,
        spans: vec![],
    };
    (!plot.series.is_empty()).then(|| Figure {
        id: id.into(),
        notes,
        command: records.plan.command(BOOTSTRAP),
        plot: Plot::Line(plot),
    })
}

fn by_degree(records: &Records<'_>, points: &[Point]) -> Option<Figure> {
    let series =
        lines(points, |p| (p.p, p.r), |(p, r)| format!("p^r = {}", power(*p, *r)), |p| p.log_n);
    line_figure(records, "fig-scaling-n", "Time by the degree of the ring", "log2 n", series)
}

fn by_exponent(records: &Records<'_>, points: &[Point]) -> Option<Figure> {
    let name = |(p, log_n): &(u64, u64)| format!("p = {p}, n = 2^{log_n}");
    let series = lines(points, |p| (p.p, p.log_n as u64), name, |p| f64::from(p.r));
    line_figure(
        records,
        "fig-scaling-r",
        "Time by the exponent of the plaintext modulus",
        "r",
        series,
    )
}

/// What was run with one thread and with more.
fn by_threads(records: &Records<'_>) -> Option<Figure> {
    let mut runs: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
    let mut add = |name: String, v: &Value, seconds: &str| {
        if let Some((threads, seconds)) = v.number("threads").zip(v.number(seconds)) {
            runs.entry(name).or_default().push((threads as u64, seconds));
        }
    };
    for (_, stored) in records.of(BOOTSTRAP) {
        add(format!("bootstrap {}", stored.value.text("params")), &stored.value, "seconds_median");
    }
    for (_, stored) in records.of(AES) {
        let v = &stored.value;
        add(
            format!("AES {}, {}, {}", v.text("params"), v.text("chain"), v.text("method")),
            v,
            "seconds_total",
        );
    }
    runs.retain(|_, runs| runs.iter().any(|r| r.0 != runs[0].0));
    let mut threads: Vec<u64> = runs.values().flatten().map(|r| r.0).collect();
    threads.sort_unstable();
    threads.dedup();
    let of =
        |k: u64| runs.values().map(|r| r.iter().find(|(t, _)| *t == k).map(|(_, s)| *s)).collect();
    let name = |k: u64| if k == 1 { "1 thread".to_string() } else { format!("{k} threads") };
    let all = threads.iter().map(|k| series(name(*k), of(*k))).collect();
    let description =
        "seconds of the same work with one thread and with more, on a logarithmic axis";
    let plot = bars(
        "Time by the number of threads",
        description,
        "seconds (logarithmic)",
        runs.keys().cloned().collect(),
        all,
    )?;
    Some(figure(
        "fig-scaling-threads",
        records.plan.command(BOOTSTRAP),
        vec![],
        crate::report::plot::BarPlot { log: true, ..plot },
    ))
}
