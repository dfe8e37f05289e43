//! The same work on other libraries, as `papers/compare` recorded it.

use serde_json::Value;

use crate::report::model::{Cell, Chapter, Fields, Kind, Table, column};
use crate::report::parts::{add, bars, figure, series};
use crate::report::plot::BarPlot;
use crate::report::store::Store;

const PREFIX: &str = "compare-";
const COMMAND: &str = "papers/compare/run --out papers/results";

/// The chapter, if there are such records.
pub fn chapter(store: &Store) -> Option<Chapter> {
    let found = store.with_prefix(PREFIX);
    if found.is_empty() {
        return None;
    }
    let mut chapter = Chapter::new(
        "peers",
        "Peers",
        "Peers: the same work on other libraries",
        &["Each peer was built and run on the machine named below, by turns with this library. A \
           ratio below 1 says that this library takes less time. What compares and what does not \
           is in papers/compare/README.md."],
    );
    for (name, stored) in &found {
        let v = &stored.value;
        let row = |r: &Value| {
            vec![
                Cell::text(operation(r)),
                Cell::text(parameters(r)),
                Cell::number(r.number("seconds")),
                Cell::number(r.number("ours_seconds")),
                Cell::ratio(r.number("ours_seconds"), r.number("seconds")),
                Cell::text(r.text("note")),
            ]
        };
        let first = v.list("rows").first();
        let named = |key: &str| {
            Some(v.text(key))
                .filter(|t| !t.is_empty())
                .or_else(|| first.map(|r| r.text(key)))
                .unwrap_or_default()
        };
        let peer = format!("{} {}", named("peer"), named("version"));
        add(
            &mut chapter,
            Table {
                id: name.clone(),
                title: peer.trim().into(),
                command: COMMAND.into(),
                columns: vec![
                    column("", "what", Kind::Text),
                    column("", "parameters", Kind::Text),
                    column("seconds", "peer", Kind::Paper),
                    column("seconds", "here", Kind::Here),
                    column("seconds", "here ÷ peer", Kind::Ratio),
                    column("", "note", Kind::Text),
                ],
                rows: v.list("rows").iter().map(row).collect(),
                notes: Some(v.text("licence"))
                    .filter(|l| !l.is_empty())
                    .map(|l| format!("The peer's license: {l}."))
                    .into_iter()
                    .collect(),
                missing: vec![],
                origins: stored.origin().into_iter().collect(),
            },
        );
        let rows = v.list("rows");
        let drawn: Vec<&Value> =
            rows.iter().filter(|r| r.at("figure") != Some(&Value::Bool(false))).collect();
        let of = |key: &str| drawn.iter().map(|r| r.number(key)).collect();
        let plot = bars(
            &format!("{} and everlevel", peer.trim()),
            "seconds of the same operations, on a logarithmic axis",
            "seconds (logarithmic)",
            drawn.iter().map(|r| operation(r)).collect(),
            vec![series(peer.trim(), of("seconds")), series("here", of("ours_seconds"))],
        );
        chapter.figure(plot.map(|plot| {
            figure(&format!("fig-{name}"), COMMAND.into(), vec![], BarPlot { log: true, ..plot })
        }));
    }
    Some(chapter)
}

/// What was measured, and in which scheme where that is told.
fn operation(row: &Value) -> String {
    let form = row.text("form");
    if form.is_empty() { row.text("what") } else { format!("{}, {form}", row.text("what")) }
}

/// Text, or what a JSON object says.
fn parameters(row: &Value) -> String {
    match row.at("params") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(fields)) => fields
            .iter()
            .map(|(k, v)| {
                format!("{k} = {}", v.as_str().map_or_else(|| v.to_string(), String::from))
            })
            .collect::<Vec<_>>()
            .join(", "),
        _ => String::new(),
    }
}
