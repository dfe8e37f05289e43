//! What a command prints: text, JSON, tables, progress.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::args::Common;
use crate::console::errors::CliError;

/// Writes a line, or several, to standard output.
pub fn emit(text: &str) -> Result<(), CliError> {
    written(&[text.as_bytes(), b"\n"])
}

/// Writes bytes to standard output: to a terminal only if they are text.
pub fn emit_bytes(bytes: &[u8]) -> Result<(), CliError> {
    if std::io::stdout().is_terminal() && std::str::from_utf8(bytes).is_err() {
        let told = "standard output is a terminal, which cannot show these bytes: redirect it, or \
                    give a file to --out";
        return Err(CliError::usage(told));
    }
    written(&[bytes])
}

fn written(parts: &[&[u8]]) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    parts.iter().try_for_each(|part| out.write_all(part)).and_then(|()| out.flush()).map_err(|e| {
        if e.kind() == std::io::ErrorKind::BrokenPipe {
            CliError::OutputClosed
        } else {
            CliError::failure(format!("cannot write the output: {e}"))
        }
    })
}

/// Writes `value` as JSON.
pub fn emit_json(value: &impl serde::Serialize) -> Result<(), CliError> {
    emit(&serde_json::to_string_pretty(value).map_err(CliError::failure)?)
}

/// How many threads compute.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// A progress bar of `total` steps on standard error: if that is a terminal, or with --progress.
pub fn progress(common: &Common, label: impl Into<String>, total: u64) -> ProgressBar {
    let visible = common.progress || (!common.json && std::io::stderr().is_terminal());
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total), target).with_message(label.into());
    if let Ok(style) = ProgressStyle::with_template("{msg:22} [{bar:40}] {pos}/{len} {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    if visible {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}

/// The median; 0 for no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Columns of text, the first to the left, the others to the right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let text: Vec<String> = cells
            .map(|(i, (s, &w))| if i == 0 { format!("{s:<w$}") } else { format!("{s:>w$}") })
            .collect();
        text.join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// p^r as people write it.
pub fn power(p: u64, r: u32) -> String {
    if r == 1 { p.to_string() } else { format!("{p}^{r}") }
}
