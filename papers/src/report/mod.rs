//! `papers all`: every table of the papers, and a report of which `papers/report/page.py` makes a
//! page.

pub mod args;
mod chapters;
mod estimate;
mod job;
mod model;
mod parts;
mod plan;
mod plot;
mod records;
mod runner;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json, table};
use serde_json::{Value, json};

use crate::record::{self, COMMITTED};
use args::{AllArgs, matches};
use estimate::Estimates;
use job::Job;
use plan::Plan;
use records::Records;
use store::{Origin, Store, Stored};

/// Where the report goes unless `--out` says otherwise.
const OUT: &str = "report";
/// What is written there beside the records.
const REPORT: &str = "report.json";

/// Runs what is missing, and writes the report after each job.
pub fn run(all: &AllArgs, common: &Common) -> Result<(), CliError> {
    if all.full && all.quick {
        return Err(CliError::usage("--full and --quick: expected one of them"));
    }
    let plan = Plan::new(!all.full, common.threads);
    let out = all.out.clone().unwrap_or_else(|| PathBuf::from(OUT));
    let mut store = Store::open(&out, &further(all))?;
    let wanted = |job: &Job| all.only.as_deref().is_none_or(|pattern| matches(pattern, &job.name));
    if all.list {
        return list(&plan, &store, &wanted, common);
    }
    if !plan.jobs.iter().any(&wanted) {
        return Err(CliError::usage(
            "--only: no job has such a name; `papers all --list` prints the names",
        ));
    }
    store.create()?;
    write(&out, &plan, &store)?;
    let failed = match all.no_run {
        true => 0,
        false => {
            runner::run(&plan, &mut store, &wanted, common, &mut |store| write(&out, &plan, store))?
        }
    };
    let summary = chapters::report(&Records::read(&plan, &store)).summary;
    let shown = out.join(REPORT).display().to_string();
    if common.json {
        emit_json(&json!({ "report": shown, "summary": summary }))?;
    } else {
        emit(&format!(
            "{shown}: {} of {} jobs, {} of {} slots and blocks wrong\n`python3 \
             papers/report/page.py {}` makes a page of it",
            summary.done,
            summary.jobs,
            summary.wrong,
            summary.checked,
            out.display()
        ))?;
    }
    match (failed, summary.wrong) {
        (0, 0) => Ok(()),
        (0, wrong) => {
            Err(CliError::failure(format!("{wrong} slots or blocks are wrong: please report this")))
        }
        (failed, _) => Err(CliError::failure(format!("{failed} jobs failed: {shown} says why"))),
    }
}

/// Directories of records beside the report's own. A list also has the committed ones of a
/// checkout, unless it is given others; a run makes records of its own, unless it is given some.
fn further(all: &AllArgs) -> Vec<PathBuf> {
    let committed = PathBuf::from(COMMITTED);
    if all.list && all.records.is_empty() && committed.is_dir() {
        vec![committed]
    } else {
        all.records.clone()
    }
}

/// Prints the jobs, and how many of them are without record; of the others, where and at which
/// commit their records were made, as far as these say.
fn list(
    plan: &Plan,
    store: &Store,
    wanted: &dyn Fn(&Job) -> bool,
    common: &Common,
) -> Result<(), CliError> {
    let estimates = Estimates::new();
    let jobs = plan.jobs.iter().filter(|job| wanted(job));
    let jobs: Vec<(&Job, Option<Stored>)> = jobs.map(|job| (job, store.find(&job.name))).collect();
    let place = |stored: &Stored| stored.elsewhere.clone().unwrap_or_else(|| "here".into());
    let missing: Vec<&Job> =
        jobs.iter().filter(|(_, found)| found.is_none()).map(|(job, _)| *job).collect();
    if common.json {
        let one = |(job, found): &(&Job, Option<Stored>)| {
            let origin = found.as_ref().and_then(Stored::origin);
            let of = |field: fn(&Origin) -> &str| origin.as_ref().map(field);
            json!({
                "name": job.name,
                "command": job.command(),
                "seconds": estimates.of([*job].into_iter()),
                "record": found.as_ref().map(place),
                "commit": of(|o| &o.commit),
                "date": of(|o| &o.date),
                "cpu": of(|o| &o.cpu),
                "threads": origin.as_ref().map(|o| o.threads),
            })
        };
        let jobs: Vec<Value> = jobs.iter().map(one).collect();
        return emit_json(&json!({ "missing": missing.len(), "jobs": jobs }));
    }
    let row = |(job, found): &(&Job, Option<Stored>)| {
        let seconds = runner::duration(estimates.of([*job].into_iter()));
        let origin = found.as_ref().and_then(Stored::origin);
        let [commit, machine] = origin
            .map_or_else(|| ["-", "-"].map(String::from), |o| [o.commit.clone(), machine(&o)]);
        let record = found.as_ref().map_or_else(|| "none".into(), place);
        vec![job.name.clone(), seconds, record, commit, machine]
    };
    let head = ["job", "about", "record", "commit", "machine"].map(String::from).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(jobs.iter().map(row)).collect();
    let left = runner::duration(estimates.of(missing.iter().copied()));
    emit(&format!(
        "{}\n{}{} jobs, {} of them without record, about {left}",
        table(&rows),
        by_origin(jobs.iter().filter_map(|(_, found)| found.as_ref()?.origin())),
        jobs.len(),
        missing.len()
    ))
}

/// The threads, as far as the record says, and the processor.
fn machine(origin: &Origin) -> String {
    match origin.threads {
        0 => origin.cpu.clone(),
        1 => format!("1 thread of {}", origin.cpu),
        threads => format!("{threads} threads of {}", origin.cpu),
    }
}

/// A line for each commit and processor that records are of, with how many these are.
fn by_origin(origins: impl Iterator<Item = Origin>) -> String {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for origin in origins {
        *counts.entry((origin.commit, origin.cpu)).or_default() += 1;
    }
    let counts = counts.into_iter();
    counts.map(|((commit, cpu), count)| format!("{count} at {commit} on {cpu}\n")).collect()
}

/// The report: tables and figures as JSON.
fn write(out: &Path, plan: &Plan, store: &Store) -> Result<(), CliError> {
    record::write_json(&out.join(REPORT), &chapters::report(&Records::read(plan, store)))
}
