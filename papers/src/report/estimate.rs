//! What jobs are expected to take: as recorded, times what this machine has shown so far.

use std::collections::BTreeMap;

use super::job::Job;

/// Seconds of jobs as they were run once, or, of long ones, as their records have them: keys,
/// tables and what is measured.
const RECORDED: &str = include_str!("../../data/job-seconds.json");
/// What a job is expected to take if nothing like it was ever run.
const UNKNOWN: f64 = 60.0;

/// The expectation.
pub struct Estimates {
    recorded: BTreeMap<String, f64>,
    /// Of what has been run: seconds expected, and taken.
    seen: [f64; 2],
}

impl Estimates {
    /// Before anything is run.
    pub fn new() -> Self {
        // A test reads the table.
        Estimates { recorded: serde_json::from_str(RECORDED).unwrap_or_default(), seen: [0.0; 2] }
    }

    /// Seconds that jobs will take.
    pub fn of<'a>(&self, jobs: impl Iterator<Item = &'a Job>) -> f64 {
        let [expected, taken] = self.seen;
        // One job says little: it counts against some seconds that went as expected.
        let pace = (taken + 5.0) / (expected + 5.0);
        jobs.map(|job| self.recorded(job)).fold(0.0, |all, seconds| all + seconds) * pace
    }

    /// A job has taken so long.
    pub fn learn(&mut self, job: &Job, seconds: f64) {
        self.seen[0] += self.recorded(job);
        self.seen[1] += seconds;
    }

    /// As recorded; of a job that was never run, that of the one without its last option, such as a
    /// digit removal, or the longest of those that differ from it in its last option, or in its
    /// last two: another secret, other arithmetic.
    fn recorded(&self, job: &Job) -> f64 {
        let alike = |name: &str| {
            let (stem, _) = name.rsplit_once('-')?;
            // Small rings say nothing of the papers' parameters.
            let begins = |(other, _): &(&String, &f64)| {
                other.ends_with("-quick") == job.name.ends_with("-quick")
                    && other.strip_prefix(stem).is_some_and(|rest| rest.starts_with('-'))
            };
            self.recorded.iter().filter(begins).map(|(_, seconds)| *seconds).reduce(f64::max)
        };
        let stem = job.name.rsplit_once('-').map_or("", |(stem, _)| stem);
        let known = self.recorded.get(&job.name).or_else(|| self.recorded.get(stem)).copied();
        known.or_else(|| alike(&job.name)).or_else(|| alike(stem)).unwrap_or(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::Program;
    use super::super::plan::Plan;
    use super::*;

    #[test]
    fn every_job_of_the_quick_plan_was_timed() {
        let recorded: BTreeMap<String, f64> = serde_json::from_str(RECORDED).unwrap();
        for job in Plan::new(true, None).jobs {
            assert!(recorded.get(&job.name).is_some_and(|s| *s > 0.0), "{}", job.name);
        }
    }

    #[test]
    fn what_was_never_run_takes_as_long_as_what_is_alike() {
        let estimates = Estimates::new();
        let of = |name: &str| {
            let (group, program) = (String::new(), Program::Papers);
            let job = Job { name: name.into(), group, program, args: vec![] };
            estimates.of([&job].into_iter())
        };
        // Another arithmetic: the longest with this secret.
        let row = "chen-han-table-4-row-3-main-128";
        let [mixed, bfv, other] = ["mixed", "bfv", "none"].map(|end| of(&format!("{row}-{end}")));
        assert!(other >= mixed.max(bfv) && mixed.min(bfv) > 5.0 * UNKNOWN, "{mixed} {bfv} {other}");
        // Another digit removal: as without the option.
        let set = "ma-et-al-table-6-ma-II-A";
        assert_eq!(of(&format!("{set}-none")), of(set));
        // A number of another row is no end of its name.
        assert!(of("ma-et-al-thin-ma-IV") < 2.0 * UNKNOWN && of("none") == UNKNOWN);
    }

    #[test]
    fn the_pace_is_learnt() {
        let plan = Plan::new(true, None);
        let mut estimates = Estimates::new();
        let before = estimates.of(plan.jobs.iter());
        for job in &plan.jobs {
            estimates.learn(job, 3.0 * estimates.recorded(job));
        }
        let after = estimates.of(plan.jobs.iter());
        assert!(after > 2.0 * before && after < 3.0 * before, "{before} {after}");
    }
}
