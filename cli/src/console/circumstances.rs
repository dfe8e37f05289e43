//! Where and when a measurement was made.

use std::process::Command;

use everlevel::Backend;
use serde::Serialize;

use crate::console::output::threads;

/// Where and when a run was made.
#[derive(Serialize)]
pub struct Circumstances {
    /// The time in UTC, to the second.
    pub date: String,
    version: &'static str,
    /// The commit of the source tree, with a plus sign if it has changes.
    pub commit: String,
    /// The processor, with its family and model.
    pub cpu: String,
    cpu_flags: String,
    backend: &'static str,
    threads: usize,
}

impl Circumstances {
    /// On what the times were taken, for the foot of a table.
    pub fn machine(&self) -> String {
        format!("{} threads of {}", self.threads, self.cpu)
    }

    /// Of this process.
    pub fn now() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|l| l.starts_with(name));
            line.and_then(|l| l.split(':').nth(1))
                .map_or_else(|| "unknown".into(), |v| v.trim().to_string())
        };
        Circumstances {
            date: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            version: env!("CARGO_PKG_VERSION"),
            commit: commit(),
            cpu: format!(
                "{}, family {}, model {}",
                field("model name"),
                field("cpu family"),
                field("model\t")
            ),
            cpu_flags: Backend::cpu_flags().to_string(),
            backend: Backend::detect().name(),
            threads: threads(),
        }
    }
}

/// The commit of the source tree that the program runs in, with a plus sign if it has changes that
/// are not committed.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|o| o.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let dirty =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty());
    git(&["rev-parse", "--short=12", "HEAD"])
        .map_or_else(|| "unknown".into(), |c| if dirty { c + "+" } else { c })
}
