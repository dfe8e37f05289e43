//! `everlevel bench bootstrap`: fresh keys and random values in every run, everything checked.

use std::collections::BTreeMap;
use std::io::ErrorKind::NotFound;
use std::path::Path;

use everlevel::{Measured, failure_log2};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_wire::file::{Existing, write_file};
use serde::Serialize;

#[cfg(feature = "cuda")]
use super::cuda;
use super::measure::{Bench, Outcome};
use super::profile::{self, Shares};
use crate::commands::bench::args::{BootstrapArgs, Mode};
use crate::console::args::Common;
use crate::console::circumstances::Circumstances;
use crate::console::device::Device;
use crate::console::errors::CliError;
use crate::console::files::{check_named, of_output};
use crate::console::machine::{self, Floor};
use crate::console::measured;
use crate::console::output::{emit, emit_json, median, progress, table, threads};
use crate::console::params::{find_params, find_planner, find_spec, params_of, refused_set};

#[derive(Serialize)]
struct Report {
    params: String,
    slots: usize,
    threads: usize,
    backend: &'static str,
    security_bits: f64,
    security_model: &'static str,
    failure_log2: f64,
    batch: u32,
    seconds_median: f64,
    seconds_min: f64,
    stages: BTreeMap<&'static str, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Shares>,
    key_switches: u64,
    non_scalar_products: u64,
    capacity_bits_before: f64,
    capacity_bits_after: f64,
    multiplications_after: usize,
    server_key_bytes: u64,
    peak_memory_bytes: u64,
    #[serde(flatten)]
    floor: Floor,
    noise_bound_bits: f64,
    noise_measured_bits: f64,
    verified_slots: usize,
    wrong_slots: usize,
}

/// Runs the measurement.
pub fn run(args: &BootstrapArgs, common: &Common) -> Result<(), CliError> {
    check_device(args)?;
    check_recorded(args)?;
    // What cannot be recorded is not measured, which takes minutes.
    if let Some(path) = &args.record {
        check_named(path)?;
        recorded(path)?;
    }
    let params = match args.slots {
        Some(slots) => {
            let spec = find_spec(&args.set.params)?;
            params_of(spec.with_used_slots(slots).map_err(refused_set)?, common)?
        }
        None => find_params(&args.set.params, common)?,
    };
    let mode = match args.mode {
        Mode::Thin => None,
        Mode::Full if params.ring().axes().is_some() => Some(BootstrapMode::Bypass),
        Mode::Full => (params.slot_shape().degree_of_slot() > 1).then_some(BootstrapMode::Full),
    };
    #[cfg(feature = "cuda")]
    if let Device::Cuda(ordinal) = args.device {
        return cuda::run(args, common, ordinal, &params, mode);
    }
    let mut bench = Bench::new(&params, find_planner(&params, mode)?)
        .profiled(args.profile)
        .with_seeded_keys(args.seeded_keys)
        .with_batch(args.batch);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let bar = progress(common, "bootstrapping", u64::from(args.runs) * 4);
    let outcomes = (0..args.runs)
        .map(|_| bench.run(&mut rng, &|| bar.inc(1)))
        .collect::<Result<Vec<Outcome>, _>>()?;
    bar.finish_and_clear();

    let peak_memory_bytes = machine::peak_memory_bytes();
    let Some(first) = outcomes.first() else {
        return Err(CliError::usage("--runs: expected at least 1"));
    };
    let cost = first.cost;
    let batch = args.batch as usize;
    let seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
    let names = first.stages.keys().copied();
    let stage = |name| {
        median(&outcomes.iter().filter_map(|o| o.stages.get(name).copied()).collect::<Vec<_>>())
    };
    let most = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
    let least = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).fold(f64::INFINITY, f64::min);
    let report = Report {
        params: params.name().into(),
        slots: params.slots(),
        threads: threads(),
        backend: everlevel::Backend::detect().name(),
        security_bits: params.security().bits(),
        security_model: params.security().model(),
        failure_log2: failure_log2(&params, &cost),
        batch: args.batch,
        seconds_median: median(&seconds),
        seconds_min: seconds.iter().copied().fold(f64::INFINITY, f64::min),
        stages: names.map(|n| (n, stage(n))).collect(),
        profile: args
            .profile
            .then(|| profile::mean(&outcomes.iter().map(|o| &o.shares).collect::<Vec<_>>())),
        key_switches: cost.key_switches,
        non_scalar_products: cost.products,
        capacity_bits_before: least(|o| o.before),
        capacity_bits_after: least(|o| o.after),
        multiplications_after: outcomes.iter().map(|o| o.multiplications).min().unwrap_or(0),
        server_key_bytes: bench.planner().keys().seeded_bytes(&params),
        peak_memory_bytes,
        floor: Floor::of(params.cpu(), &cost),
        noise_bound_bits: least(|o| o.bound),
        noise_measured_bits: most(|o| o.measured),
        verified_slots: params.slots() * outcomes.len() * batch,
        wrong_slots: outcomes.iter().map(|o| o.wrong).sum(),
    };
    if let Some(path) = args.record.as_ref().filter(|_| report.wrong_slots == 0) {
        enter(path, &report, outcomes.len())?;
    }
    if common.json {
        emit_json(&report)?;
    } else {
        emit(&text(&report, &outcomes)?)?;
    }
    if report.wrong_slots > 0 || outcomes.iter().any(|o| o.measured > o.bound) {
        return Err(CliError::failure(format!(
            "{} of {} slots are wrong, measured noise 2^{:.2}, bound 2^{:.2}: please report this",
            report.wrong_slots,
            report.verified_slots,
            report.noise_measured_bits,
            report.noise_bound_bits
        )));
    }
    Ok(())
}

/// Refuses a device that this program does not compute on, and what is measured on the processor
/// alone.
fn check_device(args: &BootstrapArgs) -> Result<(), CliError> {
    let device = args.device;
    device.check()?;
    let of_processor = [(args.profile, "--profile"), (args.record.is_some(), "--record")];
    match of_processor.into_iter().find(|&(given, _)| given && device != Device::Cpu) {
        Some((_, option)) => Err(CliError::usage(format!(
            "{option} is for the processor: leave it out, or --device {device}"
        ))),
        None => Ok(()),
    }
}

/// Refuses to record another time than that of one bootstrapping of the set as it is.
fn check_recorded(args: &BootstrapArgs) -> Result<(), CliError> {
    let others = [
        (args.batch > 1, "--batch"),
        (args.seeded_keys, "--seeded-keys"),
        (args.mode == Mode::Full, "--bootstrapping full"),
    ];
    match others.into_iter().find(|&(given, _)| given && args.record.is_some()) {
        Some((_, option)) => Err(CliError::usage(format!(
            "--record is for the time of one bootstrapping of the set: leave out {option}, which \
             changes the time"
        ))),
        None => Ok(()),
    }
}

/// What is in a file of measurements: nothing if there is no file yet.
fn recorded(path: &Path) -> Result<BTreeMap<String, Measured>, CliError> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
    let absent = std::fs::metadata(path).is_err_and(|e| e.kind() == NotFound);
    if absent && directory.is_none_or(Path::is_dir) {
        return Ok(BTreeMap::new());
    }
    measured::read("--record", path)
}

/// Enters the time into a file of measurements.
fn enter(path: &Path, report: &Report, runs: usize) -> Result<(), CliError> {
    let mut all = recorded(path)?;
    let now = Circumstances::now();
    let measured = Measured {
        seconds: report.seconds_median,
        runs,
        threads: report.threads,
        cpu: now.cpu,
        backend: report.backend.into(),
        date: now.date,
        commit: now.commit,
    };
    all.insert(report.params.clone(), measured);
    let mut text = serde_json::to_string_pretty(&all).map_err(CliError::failure)?;
    text.push('\n');
    write_file(path, text.as_bytes(), Existing::Replace).map_err(of_output(path))
}

fn text(r: &Report, outcomes: &[Outcome]) -> Result<String, CliError> {
    let mut rows: Vec<Vec<String>> = vec![vec!["stage".into(), "seconds".into()]];
    rows.extend(r.stages.iter().map(|(k, v)| vec![(*k).to_string(), format!("{v:.3}")]));
    let keys = median(&outcomes.iter().map(|o| o.key_seconds).collect::<Vec<_>>());
    let tables = outcomes.iter().map(|o| o.table_seconds).fold(0.0, f64::max);
    let mib = |b: u64| b as f64 / 1048576.0;
    let mut lines = vec![
        format!(
            "{}: {} slots, {} threads, {} backend, {:.1} bits of security",
            r.params, r.slots, r.threads, r.backend, r.security_bits
        ),
        format!(
            "one bootstrapping{}: {:.3} s (median of {}), {:.3} s at best",
            if r.batch > 1 { format!(" of {} together", r.batch) } else { String::new() },
            r.seconds_median,
            outcomes.len(),
            r.seconds_min
        ),
        table(&rows),
        format!(
            "{} key switches, {} products; failure 2^{:.1}",
            r.key_switches, r.non_scalar_products, r.failure_log2
        ),
        format!(
            "capacity {:.1} bits before, {:.1} after: {} multiplications",
            r.capacity_bits_before, r.capacity_bits_after, r.multiplications_after
        ),
        format!("noise bound 2^{:.1}, measured 2^{:.1}", r.noise_bound_bits, r.noise_measured_bits),
        format!("{} slots checked, {} wrong", r.verified_slots, r.wrong_slots),
        r.floor.to_string(),
        format!(
            "server keys {:.0} MiB when seeded, made in {keys:.1} s; tables made in {tables:.1} \
             s; peak memory {:.0} MiB",
            mib(r.server_key_bytes),
            mib(r.peak_memory_bytes)
        ),
    ];
    if let Some(shares) = &r.profile {
        let stages: Vec<&'static str> = r.stages.keys().copied().collect();
        lines.insert(3, profile::text(shares, &stages));
    }
    Ok(lines.join("\n"))
}
