//! Where the time of a bootstrapping goes: stage by stage, and by the kind of work.

use std::collections::BTreeMap;
use std::time::Duration;

use everlevel::lab::{StageObserver, StageReport};
use everlevel_ring::{Timings, Work};

use crate::console::output::table;

/// Seconds of all threads together, by stage and kind of work; what no kind has is [`OTHER`] or
/// [`WAITING`].
pub type Shares = BTreeMap<&'static str, BTreeMap<&'static str, f64>>;

/// What the thread that bootstraps spends outside of the engine, and at the end of parallel steps.
const OTHER: &str = "other";

/// What the other threads of the pool spend without work.
const WAITING: &str = "waiting";

/// Collects the reports of all stages, and the work of each if that is timed.
pub struct Watch<'a> {
    /// The reports.
    pub reports: Vec<StageReport>,
    /// The work.
    pub shares: Shares,
    threads: usize,
    profile: Option<(&'a Timings, Spent)>,
}

/// What was spent on work so far.
struct Spent {
    /// By all threads, kind by kind.
    kinds: [Duration; Work::ALL.len()],
    /// By this thread.
    here: Duration,
}

impl Spent {
    fn now(timings: &Timings) -> Self {
        Spent { kinds: timings.spent(), here: Timings::of_this_thread() }
    }
}

/// What threads spend in a stage beside their `work`, of which this thread did `here`: this one
/// ([`OTHER`]), and all others of a pool of `threads` ([`WAITING`]).
fn idle(elapsed: f64, threads: usize, work: f64, here: f64) -> [f64; 2] {
    let others = elapsed * threads.saturating_sub(1) as f64;
    [(elapsed - here).max(0.0), (others - (work - here)).max(0.0)]
}

impl<'a> Watch<'a> {
    /// Starts the profile, if there is one, on the thread that bootstraps; `threads` are those that
    /// work.
    pub fn new(profile: Option<&'a Timings>, threads: usize) -> Self {
        let started = |profile: &'a Timings| {
            profile.start();
            (profile, Spent::now(profile))
        };
        let profile = profile.map(started);
        Watch { reports: Vec::new(), shares: Shares::new(), threads, profile }
    }
}

impl StageObserver for Watch<'_> {
    fn stage_done(&mut self, report: &StageReport) {
        self.reports.push(*report);
        let Some((profile, before)) = &mut self.profile else { return };
        let now = Spent::now(profile);
        let kinds = now.kinds.iter().zip(&before.kinds);
        let spent: Vec<f64> = kinds.map(|(now, before)| (*now - *before).as_secs_f64()).collect();
        let here = (now.here - before.here).as_secs_f64();
        let elapsed = report.elapsed.as_secs_f64();
        let [other, waiting] = idle(elapsed, self.threads, spent.iter().sum(), here);
        let stage = self.shares.entry(report.stage.name()).or_default();
        let named = Work::ALL.iter().map(|work| work.name()).zip(spent);
        for (name, seconds) in named.chain([(OTHER, other), (WAITING, waiting)]) {
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
    let kinds = Work::ALL.iter().map(|work| work.name()).chain([OTHER, WAITING]);
    let mut rows = vec![head.map(String::from).collect()];
    rows.extend(kinds.clone().map(|work| row(work, &|stage| of(stage, work))));
    rows.push(row("all", &|stage| kinds.clone().map(|work| of(stage, work)).sum()));
    table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_this_threads_or_anothers() {
        // Of 2 s on three threads, 3 s are work, 1.5 s of it here.
        assert_eq!(idle(2.0, 3, 3.0, 1.5), [0.5, 2.5]);
        // A single thread does not wait for others.
        assert_eq!(idle(2.0, 1, 1.5, 1.5), [0.5, 0.0]);
        // Work that is counted a little late leaves nothing below zero.
        assert_eq!(idle(1.0, 2, 2.25, 1.125), [0.0, 0.0]);
    }

    #[test]
    fn shares_have_a_row_for_each_kind() {
        let parts = BTreeMap::from([("transforms", 3.0), (OTHER, 0.5), (WAITING, 0.5)]);
        let shares = Shares::from([("digit_removal", parts)]);
        let text = text(&mean(&[&shares, &shares]), &["digit_removal"]);
        assert_eq!(text.lines().count(), Work::ALL.len() + 4, "{text}");
        let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(row("transforms").contains("75.0") && row(WAITING).contains("12.5"), "{text}");
    }
}
