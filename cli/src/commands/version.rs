//! `everlevel version`.

use everlevel::Backend;
use serde::Serialize;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, threads};

#[derive(Serialize)]
struct Version {
    version: &'static str,
    backend: &'static str,
    backends_available: Vec<&'static str>,
    cpu_flags: String,
    threads: usize,
    target: String,
}

/// Prints the version.
pub fn run(verbose: bool, common: &Common) -> Result<(), CliError> {
    let v = Version {
        version: env!("CARGO_PKG_VERSION"),
        backend: Backend::detect().name(),
        backends_available: Backend::available().into_iter().map(Backend::name).collect(),
        cpu_flags: Backend::cpu_flags(),
        threads: threads(),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    };
    if common.json {
        return emit_json(&v);
    }
    if !verbose {
        return emit(&format!("everlevel {}", v.version));
    }
    let requested = Backend::selection()
        .requested
        .as_ref()
        .map_or(String::new(), |r| format!(" (EVERLEVEL_BACKEND={r})"));
    let rows = [
        ("everlevel", v.version.to_string()),
        ("backend", format!("{}{requested}", v.backend)),
        ("available", v.backends_available.join(", ")),
        ("processor", v.cpu_flags),
        ("threads", v.threads.to_string()),
        ("target", v.target),
    ];
    let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    let lines: Vec<String> = rows.iter().map(|(k, v)| format!("{k:<width$}  {v}")).collect();
    emit(&lines.join("\n"))
}
