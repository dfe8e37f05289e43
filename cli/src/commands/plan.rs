//! `everlevel params plan`: parameter sets for a computation.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use everlevel::lab::{Arithmetic, Evaluator};
use everlevel::{
    Candidate, Client, Depth, KeyPlan, Minimize, NextUse, Params, ParamsSpec, Requirements,
    ServerKeys, TimeModel,
};
use everlevel_wire::file::write_file;
use serde::Serialize;

use crate::commands::bench::measure::Bench;
use crate::commands::workload::ValuesArgs;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_file, existing, of_output};
use crate::console::machine;
use crate::console::output::{emit, emit_json, progress, table, threads};
use crate::console::params::find_planner;

/// Arguments of `params plan`.
#[derive(Args)]
pub struct PlanArgs {
    /// The set to find a bootstrapping plan for: a name or a JSON file
    #[arg(conflicts_with_all = [
        "plain_modulus", "slots", "repeat", "depth", "minimize", "measure", "save"
    ])]
    pub name: Option<String>,
    /// The criterion for the bootstrapping plan
    #[arg(long, value_enum, default_value = "throughput", requires = "name")]
    pub by: By,
    /// What the values are.
    #[command(flatten)]
    pub values: ValuesArgs,
    /// What a server without keys computes.
    #[command(flatten)]
    pub sums: KeylessArgs,
    /// The plaintext modulus, a power of a prime, such as 65537, 65537^2 or 2^32
    #[arg(
        long,
        value_name = "P^R",
        value_parser = parse_modulus,
        required_unless_present_any = ["name", "max_value"]
    )]
    pub plain_modulus: Option<u128>,
    /// The minimum number of slots
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub slots: usize,
    /// Use no more than these slots: sets that bootstrap are also offered with values that repeat
    /// in all others, which is faster
    #[arg(long, requires = "slots")]
    pub repeat: bool,
    /// The number of multiplications in sequence, or `unlimited` for sets that bootstrap
    #[arg(
        long,
        value_name = "D|unlimited",
        value_parser = parse_depth,
        required_unless_present_any = ["name", "max_value", "keyless"]
    )]
    pub depth: Option<Depth>,
    /// The criterion for the parameter set
    #[arg(long, value_enum, default_value = "latency")]
    pub minimize: Goal,
    /// Run the best K candidates with real keys on one thread, and print their times
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub measure: usize,
    /// The maximum number of candidates to print
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub max_rows: usize,
    /// Write the best candidate to this file, which --params reads
    #[arg(long = "out", value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "save")]
    pub force: bool,
}

/// What a server without keys computes.
#[derive(Args)]
pub struct KeylessArgs {
    /// Find the smallest set for a server without keys, which multiplies fresh ciphertexts once
    /// and adds up the products; its results can only be decrypted. With --plain-modulus, or with
    /// --max-value, which chooses a prime
    #[arg(long, conflicts_with_all = ["name", "by", "repeat", "minimize", "measure", "max_rows"])]
    pub keyless: bool,
    /// With --keyless: the most products that are added up
    #[arg(long, value_name = "N", requires = "keyless", default_value_t = 1)]
    pub terms: u64,
    /// With --keyless: the largest magnitude of a public constant that multiplies a product, those
    /// of its factors included
    #[arg(long, value_name = "W", requires = "keyless", default_value_t = 1)]
    pub weight: u64,
}

/// A number, or a power of one.
fn parse_modulus(text: &str) -> Result<u128, String> {
    let (base, exponent) = text.split_once('^').unwrap_or((text, "1"));
    let wrong = || "expected P or P^R, such as 65537 or 2^32".to_string();
    let (base, exponent): (u128, u32) =
        (base.parse().map_err(|_| wrong())?, exponent.parse().map_err(|_| wrong())?);
    base.checked_pow(exponent).ok_or_else(|| format!("{text} is above 2^64"))
}

fn parse_depth(text: &str) -> Result<Depth, String> {
    match text {
        "unlimited" => Ok(Depth::Unlimited),
        _ => text
            .parse()
            .map(Depth::Levels)
            .map_err(|_| format!("{text}: expected a number of multiplications, or unlimited")),
    }
}

/// What a bootstrapping plan is chosen by.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The least time per multiplication, bootstrapping included
    Throughput,
    /// The least time for one bootstrapping
    Latency,
    /// The most capacity after bootstrapping
    Capacity,
}

/// What a parameter set is chosen by.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// The time to a result: all multiplications in sequence, or one bootstrapping
    Latency,
    /// The time of a multiplication divided by the slots
    Throughput,
    /// The size of keys and ciphertexts
    Memory,
}

#[derive(Serialize)]
struct Plan {
    plain_modulus: u128,
    slots: usize,
    /// How many multiplications in a row; none if unlimited.
    depth: Option<u32>,
    threads: usize,
    candidates: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    n: usize,
    slots: usize,
    log_qp: f64,
    security_bits: f64,
    failure_log2: f64,
    /// In a row, of a fresh ciphertext or of a bootstrapped one.
    multiplications: usize,
    /// Modeled: all multiplications, or one bootstrapping.
    latency_seconds: f64,
    /// The same, measured, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_seconds: Option<f64>,
    /// Modeled: a multiplication in a slot, bootstrapping included.
    seconds_per_slot: f64,
    /// Server keys and four ciphertexts.
    bytes: u64,
    /// A file that --params takes.
    spec: ParamsSpec,
}

/// Prints the candidates, the best first.
pub fn run(args: &PlanArgs, common: &Common) -> Result<(), CliError> {
    // The parser requires both where no set is named.
    let (Some(plain_modulus), Some(depth)) = (args.plain_modulus, args.depth) else {
        return Err(CliError::usage("expected --plain-modulus and --depth, or the name of a set"));
    };
    args.save.as_deref().map_or(Ok(()), |path| check_file(path, args.force))?;
    let minimize = match args.minimize {
        Goal::Latency => Minimize::Latency,
        Goal::Throughput => Minimize::Throughput,
        Goal::Memory => Minimize::Memory,
    };
    let requirements = Requirements::new(plain_modulus)
        .slots(args.slots)
        .repeating(args.repeat)
        .depth(depth)
        .minimize(minimize);
    // How many sets are tried depends on which fit.
    let bar = progress(common, "parameter sets", 0);
    let byte = 1e-9 / machine::bandwidth_gb_s();
    let model = |params: &Params| {
        bar.inc_length(1);
        bar.inc(1);
        TimeModel { transform: machine::transform_us(params.cpu()) / 1e6, byte }
    };
    let mut candidates = requirements.candidates(model).map_err(|e| {
        let way = match requirements.exceeds_rings() {
            true => "; `everlevel params rings` lists the rings that exist",
            false => "",
        };
        CliError::usage(format!("{e}{way}")).with_code(e.code())
    })?;
    bar.finish_and_clear();
    candidates.truncate(args.max_rows.max(1));
    if let Some(path) = &args.save {
        save(path, candidates[0].params.spec(), args.force)?;
    }
    let rows = candidates.iter().enumerate().map(|(i, candidate)| {
        let measured = if i < args.measure { Some(measured(candidate, depth)?) } else { None };
        Ok(row(candidate, measured))
    });
    let plan = Plan {
        plain_modulus,
        slots: args.slots,
        depth: match depth {
            Depth::Levels(depth) => Some(depth),
            Depth::Unlimited => None,
        },
        threads: threads(),
        candidates: rows.collect::<Result<_, CliError>>()?,
    };
    if common.json { emit_json(&plan) } else { emit(&text(&plan, args)) }
}

/// Writes a set to a file that --params reads.
pub fn save(path: &Path, spec: &ParamsSpec, force: bool) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(spec).map_err(CliError::failure)?;
    write_file(path, format!("{text}\n").as_bytes(), existing(force)).map_err(of_output(path))
}

fn row(candidate: &Candidate, measured_seconds: Option<f64>) -> Row {
    let params = &candidate.params;
    Row {
        name: params.name().into(),
        n: params.degree(),
        slots: params.slots(),
        log_qp: params.security().keys()[0].modulus_bits,
        security_bits: params.security().bits(),
        failure_log2: candidate.failure_log2,
        multiplications: candidate.multiplications,
        latency_seconds: candidate.latency,
        measured_seconds,
        seconds_per_slot: candidate.per_slot,
        bytes: candidate.bytes,
        spec: params.spec().clone(),
    }
}

/// The seconds that the model predicts as `latency`, with real keys: the multiplications of a fresh
/// ciphertext of random values, or a bootstrapping. Everything is checked.
fn measured(candidate: &Candidate, depth: Depth) -> Result<f64, CliError> {
    let params = &candidate.params;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let Depth::Levels(depth) = depth else {
        let mut bench = Bench::new(params, find_planner(params, None)?);
        let outcome = bench.run(&mut rng, &|| ())?;
        if outcome.wrong > 0 {
            return Err(CliError::failure(format!(
                "{}: {} slots are wrong: please report this",
                params.name(),
                outcome.wrong
            )));
        }
        return Ok(outcome.seconds);
    };
    let client = Client::new(params, &mut rng);
    let keys = ServerKeys::generate(
        client.secret(),
        &KeyPlan::relinearization(params),
        &mut rng,
        |_, _| (),
    )?;
    let evaluator = Evaluator::new(keys);
    let t = params.plaintext_ring().modulus(params.plain_exponent());
    let values: Vec<u64> =
        (0..params.slots() as u64).map(|i| t.reduce_u64(i.wrapping_mul(0x9e37_79b9))).collect();
    let mut x = client.encrypt_modular(&values, &mut rng)?;
    let fresh = x.clone();
    let mut seconds = 0.0;
    // Once to warm up.
    for _ in 0..2 {
        x = fresh.clone();
        let now = Instant::now();
        for _ in 0..depth {
            x = evaluator.mul(&x, &x, NextUse::Product)?;
        }
        seconds = now.elapsed().as_secs_f64();
    }
    let power = |v: u64| (0..depth).fold(v, |v, _| t.mul(v, v));
    if !client.decrypt_modular(&x)?.into_iter().eq(values.into_iter().map(power)) {
        return Err(CliError::failure(format!(
            "{}: slots are wrong: please report this",
            params.name()
        )));
    }
    Ok(seconds)
}

fn text(plan: &Plan, args: &PlanArgs) -> String {
    let what = if plan.depth.is_some() { "s" } else { "s, bootstrap" };
    let head = [
        "set",
        "n",
        "slots",
        "log2 QP",
        "security",
        "failure",
        "multiplications",
        what,
        "measured",
        "ns a slot",
        "MiB",
    ]
    .map(String::from);
    let row = |r: &Row| {
        vec![
            r.name.clone(),
            r.n.to_string(),
            r.slots.to_string(),
            format!("{:.1}", r.log_qp),
            format!("{:.1}", r.security_bits),
            format!("2^{:.0}", r.failure_log2),
            r.multiplications.to_string(),
            format!("{:.3}", r.latency_seconds),
            r.measured_seconds.map_or_else(|| "-".into(), |s| format!("{s:.3}")),
            format!("{:.0}", r.seconds_per_slot * 1e9),
            format!("{:.1}", r.bytes as f64 / 1048576.0),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head.to_vec()).chain(plan.candidates.iter().map(row)).collect();
    let saved = args.save.as_ref().map_or_else(
        || "--out FILE.json writes the first one as a file that --params reads".to_owned(),
        |path| format!("the first one is in {}", path.display()),
    );
    format!(
        "{}\n\nseconds modeled from transforms and bytes at this machine's speed, with {} \
         threads; a slot: one multiplication, bootstrapping included; MiB: server keys and four \
         ciphertexts\n{saved}",
        table(&rows),
        plan.threads
    )
}
