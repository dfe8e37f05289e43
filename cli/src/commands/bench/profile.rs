//! Where the time of a bootstrapping goes: stage by stage, and by the kind of work.

use std::collections::BTreeMap;
use std::time::Duration;

use everlevel::lab::{StageObserver, StageReport};
use everlevel_ring::{Timings, Work};

use crate::console::output::table;

/// Seconds of all threads together, by stage and kind of work; what is left of a stage is `other`.
pub type Shares = BTreeMap<&'static str, BTreeMap<&'static str, f64>>;

/// What no kind of work has: waiting for other threads, and all that is not done by the engine.
const OTHER: &str = "other";

/// Collects the reports of all stages, and the work of each if that is timed.
pub struct Watch<'a> {
    /// The reports.
    pub reports: Vec<StageReport>,
    /// The work.
    pub shares: Shares,
    threads: usize,
    profile: Option<(&'a Timings, [Duration; Work::ALL.len()])>,
}

impl<'a> Watch<'a> {
    /// Starts the profile, if there is one; `threads` are those that work.
    pub fn new(profile: Option<&'a Timings>, threads: usize) -> Self {
        let started = |profile: &'a Timings| {
            profile.start();
            (profile, profile.spent())
        };
        let profile = profile.map(started);
        Watch { reports: Vec::new(), shares: Shares::new(), threads, profile }
    }
}

impl StageObserver for Watch<'_> {
    fn stage_done(&mut self, report: &StageReport) {
        self.reports.push(*report);
        let Some((profile, before)) = &mut self.profile else { return };
        let now = profile.spent();
        let spent = now.iter().zip(&*before).map(|(now, before)| (*now - *before).as_secs_f64());
        let spent: Vec<f64> = spent.collect();
        let whole = report.elapsed.as_secs_f64() * self.threads as f64;
        let other = (whole - spent.iter().sum::<f64>()).max(0.0);
        let stage = self.shares.entry(report.stage.name()).or_default();
        let named = Work::ALL.iter().map(|work| work.name()).zip(spent);
        for (name, seconds) in named.chain([(OTHER, other)]) {
            *stage.entry(name).or_insert(0.0) += seconds;
        }
        *before = now;
    }
}

/// The mean of several runs.
pub fn mean(runs: &[&Shares]) -> Shares {
    let mut mean = Shares::new();
    for (stage, parts) in runs.iter().flat_map(|run| run.iter()) {
        let sum = mean.entry(stage).or_default();
        for (work, seconds) in parts {
            *sum.entry(work).or_insert(0.0) += seconds / runs.len() as f64;
        }
    }
    mean
}

/// A row for each kind of work and a column for each of the `stages`, in per cent of all threads'
/// time.
pub fn text(shares: &Shares, stages: &[&'static str]) -> String {
    let whole: f64 = shares.values().flat_map(BTreeMap::values).sum();
    let per_cent = |seconds: f64| format!("{:.1}", 100.0 * seconds / whole.max(f64::MIN_POSITIVE));
    let of = |stage: &str, work: &str| {
        shares.get(stage).and_then(|parts| parts.get(work)).copied().unwrap_or(0.0)
    };
    let head = ["per cent of the time"].into_iter().chain(stages.iter().copied()).chain(["all"]);
    let row = |name: &str, of: &dyn Fn(&str) -> f64| {
        let parts: Vec<f64> = stages.iter().map(|stage| of(stage)).collect();
        let all: f64 = parts.iter().sum();
        let cells = parts.into_iter().chain([all]).map(per_cent);
        [name.to_string()].into_iter().chain(cells).collect::<Vec<String>>()
    };
    let kinds = Work::ALL.iter().map(|work| work.name()).chain([OTHER]);
    let mut rows = vec![head.map(String::from).collect()];
    rows.extend(kinds.clone().map(|work| row(work, &|stage| of(stage, work))));
    rows.push(row("all", &|stage| kinds.clone().map(|work| of(stage, work)).sum()));
    table(&rows)
}
