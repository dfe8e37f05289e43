//! Running jobs, one after the other, each as a process of its own: a job that fails, or that is
//! killed, is one record less.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use everlevel_cli::console::args::Common;
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::emit;
use serde_json::{Value, json};

use super::estimate::Estimates;
use super::job::{Job, Program};
use super::plan::{BOOTSTRAP, DATASHEET, Plan};
use super::store::{Entry, Store};

/// Runs those of the jobs that have no record; `after` is called after each. Returns how many
/// failed.
pub fn run(
    plan: &Plan,
    store: &mut Store,
    wanted: &dyn Fn(&Job) -> bool,
    common: &Common,
    after: &mut dyn FnMut(&Store) -> Result<(), CliError>,
) -> Result<usize, CliError> {
    let missing: Vec<&Job> =
        plan.jobs.iter().filter(|job| wanted(job) && store.find(&job.name).is_none()).collect();
    let told = |text: &str| if common.json { Ok(()) } else { emit(text) };
    let mut estimates = Estimates::new();
    let there =
        plan.jobs.len() - plan.jobs.iter().filter(|job| store.find(&job.name).is_none()).count();
    told(&format!(
        "{} jobs: {there} have records, {} to run, about {}",
        plan.jobs.len(),
        missing.len(),
        duration(estimates.of(missing.iter().copied()))
    ))?;
    let mut failed = 0;
    for (i, job) in missing.iter().enumerate() {
        let seconds = estimates.of([*job].into_iter());
        let left = estimates.of(missing[i..].iter().copied());
        told(&format!(
            "[{}/{}] {}, about {}; {} left",
            i + 1,
            missing.len(),
            job.name,
            duration(seconds),
            duration(left)
        ))?;
        let started = Instant::now();
        let outcome = one(job, store);
        let seconds = started.elapsed().as_secs_f64();
        estimates.learn(job, seconds);
        if let Err(error) = &outcome {
            failed += 1;
            told(&format!("    failed: {error}"))?;
        }
        let entry = Entry {
            version: env!("CARGO_PKG_VERSION").into(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            seconds,
            error: outcome.err(),
        };
        store.enter(&job.name, entry)?;
        after(store)?;
    }
    Ok(failed)
}

/// Runs a job; an error is why there is no record that can be relied on.
fn one(job: &Job, store: &mut Store) -> Result<(), String> {
    let told = |e: CliError| e.told().map_or_else(String::new, |told| told.2);
    let program =
        std::env::current_exe().map_err(|e| format!("cannot find the program itself: {e}"))?;
    let mut command = Command::new(program);
    if job.program == Program::Everlevel {
        command.arg(job.program.name());
    }
    command.args(&job.args).stdin(Stdio::null());
    if job.writes() {
        command.arg("--out").arg(store.directory());
    }
    if let Some(option) = of_times(job, store.measured_file()) {
        command.arg(option).arg(store.measured_file());
    }
    let output = command.arg("--json").output().map_err(|e| format!("cannot start: {e}"))?;
    let printed: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    if let (false, Some(value)) = (job.writes(), printed) {
        store.write(&job.name, &stamped(value)).map_err(told)?;
    }
    store.reload().map_err(told)?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        // The program tells one JSON object.
        let error = errors.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
        let message = error.and_then(|v| v["error"]["message"].as_str().map(String::from));
        return Err(message.unwrap_or_else(|| format!("{}: {}", output.status, errors.trim())));
    }
    if !store.has_own(&job.name) {
        return Err(format!("it wrote no record {}", job.name));
    }
    Ok(())
}

/// How a job is told the file of the times of bootstrapping: what is measured on one thread is
/// entered there, and datasheets show what is there.
fn of_times(job: &Job, file: &Path) -> Option<&'static str> {
    let one_thread = job.args.windows(2).any(|words| words == ["--threads", "1"]);
    match job.group.as_str() {
        BOOTSTRAP if one_thread => Some("--record"),
        DATASHEET if file.is_file() => Some("--measured"),
        _ => None,
    }
}

/// With the circumstances of this process, and the threads that the record itself tells, unless it
/// has some.
fn stamped(mut value: Value) -> Value {
    let threads = value.get("threads").cloned();
    if let Value::Object(fields) = &mut value
        && !fields.contains_key("circumstances")
        && !fields.contains_key("date")
    {
        let mut now = json!(Circumstances::now());
        if let Some(threads) = threads {
            now["threads"] = threads;
        }
        fields.insert("circumstances".into(), now);
    }
    value
}

/// Seconds as people say them.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        0..100 => format!("{whole} s"),
        100..6000 => format!("{} min", (whole + 30) / 60),
        _ => format!("{} h {} min", (whole + 30) / 3600, (whole + 30) % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let told = [0.34, 41.2, 300.0, 4320.0, 15000.0].map(duration);
        assert_eq!(told, ["0.3 s", "41 s", "5 min", "72 min", "4 h 10 min"]);
    }

    #[test]
    fn circumstances_are_added_once() {
        let stamped_once = stamped(json!({"threads": 7, "x": 1}));
        assert_eq!(stamped_once["circumstances"]["threads"], 7);
        assert_eq!(stamped(stamped_once.clone()), stamped_once);
        assert_eq!(stamped(json!({"date": "d"})), json!({"date": "d"}));
        assert_eq!(stamped(json!([1])), json!([1]));
    }
}
