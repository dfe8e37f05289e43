//! What every command needs: the parameter set, output, progress, input files of bounded size.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::time::Duration;

use everlevel::circuit::CircuitError;
use everlevel::scheme::spec::BootstrapMode;
use everlevel::{
    BootstrapPlan, Error, KeyPlanner, OptIn, Params, ParamsSpec, SchemeError, bootstrap_plan,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;
use crate::error::CliError;

/// The largest parameter file in bytes.
const MAX_PARAMS_BYTES: u64 = 64 << 10;
/// The largest ring index that a parameter file may ask for.
const MAX_INDEX: u64 = 1 << 20;

/// Reads a file of at most `limit` bytes.
pub fn read_bytes(path: &Path, limit: u64, what: &str) -> Result<Vec<u8>, CliError> {
    let shown = path.display();
    let file = File::open(path)
        .map_err(|e| CliError::usage(format!("cannot open {what} {shown}: {e}")))?;
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| CliError::usage(format!("cannot read {what} {shown}: {e}")))?;
    if bytes.len() as u64 > limit {
        return Err(CliError::usage(format!(
            "{what} {shown} is larger than {limit} bytes, the most that is read: split it"
        )));
    }
    Ok(bytes)
}

/// Reads a text file of at most `limit` bytes.
pub fn read_text(path: &Path, limit: u64, what: &str) -> Result<String, CliError> {
    let not_text = |_| CliError::usage(format!("{what} {} is not UTF-8 text", path.display()));
    String::from_utf8(read_bytes(path, limit, what)?).map_err(not_text)
}

/// The specification by name, or from a JSON file.
pub fn find_spec(name: &str) -> Result<ParamsSpec, CliError> {
    let path = Path::new(name);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        let text = read_text(path, MAX_PARAMS_BYTES, "the parameter file")?;
        let spec: ParamsSpec = serde_json::from_str(&text).map_err(|e| {
            CliError::usage(format!(
                "{} is no parameter file: {e}; `everlevel params show bgv-65537-n15 --json` \
                 prints an example",
                path.display()
            ))
        })?;
        if !(4..=MAX_INDEX).contains(&spec.index) {
            return Err(CliError::usage(format!(
                "parameter set {}: index = {}: expected 4 to {MAX_INDEX}",
                spec.name, spec.index
            )));
        }
        Ok(spec)
    } else {
        everlevel::scheme::params::spec(name).map_err(|e| {
            CliError::usage(format!("{e}; or give a file that ends in .json")).with_code(e.code())
        })
    }
}

/// The parameter set by name, or from a JSON file; sets below 128 bits only if `common` allows
/// them.
pub fn find_params(name: &str, common: &Common) -> Result<Params, CliError> {
    let opt_in = if common.insecure_research { OptIn::InsecureResearch } else { OptIn::SecureOnly };
    Params::new(find_spec(name)?, opt_in).map_err(CliError::usage)
}

/// Plans the keys and the bootstrapping of a set, in the mode that the set names or in another.
/// What does not fit is the parameter set's fault, hence a usage error.
pub fn find_planner(params: &Params, mode: Option<BootstrapMode>) -> Result<KeyPlanner, CliError> {
    let plan = bootstrap_plan(params).and_then(|plan| match mode {
        Some(mode) => Ok(BootstrapPlan::for_mode(params, mode)?),
        None => Ok(plan),
    });
    plan.and_then(|plan| KeyPlanner::with_plan(params, plan)).map_err(|e| match e {
        Error::Scheme(SchemeError::NoiseOverflow { .. })
        | Error::Circuit(CircuitError::Scheme(SchemeError::NoiseOverflow { .. })) => {
            CliError::usage(format!(
                "parameter set {}: too little room to bootstrap: raise words ({e})",
                params.name()
            ))
            .with_code(e.code())
        }
        Error::Circuit(e) => {
            CliError::usage(format!("parameter set {}: {e}", params.name())).with_code(e.code())
        }
        e => CliError::usage(e),
    })
}

/// Writes to standard output.
pub fn emit(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(|e| {
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

/// A progress bar of `total` steps: on a terminal only, never with --json.
pub fn progress(common: &Common, label: &'static str, total: u64) -> ProgressBar {
    let visible =
        !common.json && std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total), target).with_message(label);
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
