//! What a command prints: text, JSON, tables, progress.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

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

/// Writes a line to standard error. Nothing can be done if that is closed, or the disk full: what
/// is told there ends no command.
pub fn remark(text: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What another party states, without characters that would steer a terminal, and at most 200 of
/// the others.
pub fn stated(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
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

/// A number of things, whose plural ends in s: `1 row`, `2 rows`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How many threads compute.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Whether progress and times are shown on standard error: if that is a terminal, or with
/// --progress.
pub fn shows_progress(common: &Common) -> bool {
    common.progress || (!common.json && std::io::stderr().is_terminal())
}

/// A progress bar of `total` steps on standard error, if progress is shown.
pub fn progress(common: &Common, label: impl Into<String>, total: u64) -> ProgressBar {
    let terminal = std::io::stderr().is_terminal();
    let visible = shows_progress(common);
    let target = match (visible, terminal) {
        (true, true) => ProgressDrawTarget::stderr(),
        (true, false) => ProgressDrawTarget::term_like_with_hz(Box::new(Lines::default()), 1),
        (false, _) => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(total), target).with_message(label.into());
    let template = match terminal {
        true => "{msg:22} [{bar:40}] {pos}/{len} {elapsed}",
        false => "{msg}: {pos} of {len}, {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    if visible && terminal {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}

/// Standard error where it is no terminal: a line each time that something changed, without what
/// moves a cursor.
#[derive(Debug, Default)]
struct Lines {
    last: Mutex<String>,
}

impl TermLike for Lines {
    fn width(&self) -> u16 {
        100
    }

    fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn write_line(&self, line: &str) -> std::io::Result<()> {
        self.write_str(line)
    }

    fn write_str(&self, text: &str) -> std::io::Result<()> {
        let (text, mut last) = (text.trim(), self.last.lock().unwrap_or_else(|e| e.into_inner()));
        if text.is_empty() || text == last.as_str() {
            return Ok(());
        }
        *last = text.into();
        writeln!(std::io::stderr(), "{text}")
    }

    fn clear_line(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
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
