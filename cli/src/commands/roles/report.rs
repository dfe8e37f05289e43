//! What `eval` and `bootstrap` say of their results.

use std::time::Instant;

use everlevel::Params;
use serde::Serialize;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{counted, emit, emit_json};

#[derive(Serialize)]
struct Report<'a, R> {
    params: &'a str,
    bootstraps: usize,
    outputs: Vec<R>,
    seconds: f64,
}

/// Prints the results of a computation that began at `started`, each in a `line` of its own for
/// people, and what it took.
pub fn report<R: Serialize>(
    params: &Params,
    bootstraps: usize,
    started: Instant,
    outputs: Vec<R>,
    line: impl Fn(&R) -> String,
    common: &Common,
) -> Result<(), CliError> {
    let seconds = started.elapsed().as_secs_f64();
    let report = Report { params: params.name(), bootstraps, outputs, seconds };
    if common.json {
        return emit_json(&report);
    }
    let mut lines: Vec<String> = report.outputs.iter().map(line).collect();
    let bootstraps = counted(bootstraps as u64, "bootstrap");
    lines.push(format!("{}: {bootstraps}, {seconds:.1} s", report.params));
    emit(&lines.join("\n"))
}
