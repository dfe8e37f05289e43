//! `everlevel demo`: a circuit that no leveled scheme could run, on a column of integers.

mod integers;

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Subcommand};
use everlevel::{Client, Params, Server, Value, failure_log2};
use serde::Serialize;

use crate::columns::{Column, Header, csv, stated};
use crate::commands::parties::server_for;
use crate::console::args::{Common, SetArg};
use crate::console::errors::CliError;
use crate::console::files::read_text;
use crate::console::output::{counted, emit, emit_json, median, progress};
use crate::console::params::{find_params, find_planner};

/// Meter readings; see cli/data/README.md.
const READINGS: &str = include_str!("../../../data/meter.csv");

/// Other demonstrations.
#[derive(Subcommand)]
pub enum DemoCommand {
    /// Filter records, apply fees by bracket, look up a table, and take the maximum of two columns,
    /// under encryption
    Integers(integers::IntegersDemoArgs),
}

/// Arguments of `demo`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct DemoArgs {
    /// Another demonstration.
    #[command(subcommand)]
    pub other: Option<DemoCommand>,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// A CSV file with one integer column and an optional header (default: the meter readings that
    /// are built in)
    #[arg(long = "in", value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Use the column of this name of a CSV file with a header
    #[arg(long, value_name = "NAME", requires = "input")]
    pub column: Option<String>,
    /// The number of times to apply the map
    #[arg(
        long,
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub steps: u32,
    /// Values are signed: -v stands for p^r - v
    #[arg(long, conflicts_with = "reduce")]
    pub signed: bool,
    /// Reduce values modulo p^r instead of rejecting those out of range
    #[arg(long)]
    pub reduce: bool,
}

#[derive(Serialize)]
struct Report {
    params: String,
    slots: usize,
    multiplications: u64,
    bootstraps: usize,
    correct_slots: usize,
    wrong_slots: usize,
    security_bits: f64,
    failure_log2: f64,
    seconds_total: f64,
    seconds_per_bootstrap: f64,
}

/// The slot values: the column, then zeros; the readings that come with the program fill every
/// slot.
fn column(args: &DemoArgs, params: &Params) -> Result<(Vec<u64>, String), CliError> {
    let (p, slots) = (params.wide_modulus(), params.slots());
    let range = stated(args.signed, args.reduce, p);
    match &args.input {
        Some(path) => {
            let source = path.display().to_string();
            let text = read_text(&PathBuf::from(path), csv::MAX_BYTES, "the CSV file")?;
            let column = match &args.column {
                None => csv::parse(&text, &source, Header::Auto)?,
                Some(name) => csv::named(&text, &source, name)?,
            };
            let values = column.residues(p, slots, range)?;
            let told = format!("{} values of {source}", values.len());
            Ok((values, told))
        }
        None => {
            // For toy sets a part of the column, and modulo a p that may be small.
            let all = readings()?.residues(p, usize::MAX, None)?;
            Ok((
                all.iter().copied().cycle().take(slots).collect(),
                format!("{slots} meter readings"),
            ))
        }
    }
}

/// The readings that come with the program.
fn readings() -> Result<Column, CliError> {
    csv::parse(READINGS, "the meter readings", Header::Auto)
}

/// x <- 3x(1-x) on ciphertexts, with the key at hand to check every bootstrapping.
struct Run<'a> {
    client: &'a Client,
    server: &'a Server,
    /// Products without and with a bootstrapping, in seconds.
    products: [Vec<f64>; 2],
}

impl Run<'_> {
    /// One application, as 3(x - x^2). The server bootstraps x, in place, if its square would not
    /// fit.
    fn step(&mut self, x: &Value) -> Result<Value, CliError> {
        let (server, before) = (self.server, self.server.bootstraps());
        let started = Instant::now();
        let square = server.mul(x, x)?;
        let bootstrapped = server.bootstraps() > before;
        self.products[usize::from(bootstrapped)].push(started.elapsed().as_secs_f64());
        if bootstrapped {
            self.check(x)?;
        }
        let before = server.bootstraps();
        let y = server.mul_scalar(&server.sub(x, &square)?, 3)?;
        if server.bootstraps() > before {
            self.check(&y)?;
        }
        Ok(y)
    }

    fn check(&self, x: &Value) -> Result<(), CliError> {
        let x = x.get();
        let (measured, bound) = (self.client.secret().measure_noise(&x)?, x.noise_bound_bits());
        if measured <= bound {
            return Ok(());
        }
        Err(CliError::failure(format!(
            "the measured noise 2^{measured:.2} exceeds its bound 2^{bound:.2}: please report this"
        )))
    }

    /// The median time of a product that bootstrapped, less that of one that did not.
    fn seconds_per_bootstrap(&self) -> f64 {
        let [without, with] = &self.products;
        (median(with) - median(without)).max(0.0)
    }
}

/// Runs the demonstration.
pub fn run(args: &DemoArgs, common: &Common) -> Result<(), CliError> {
    if let Some(DemoCommand::Integers(args)) = &args.other {
        return integers::run(args, common);
    }
    let started = Instant::now();
    let params = find_params(&args.set.params, common)?;
    let (mut values, source) = column(args, &params)?;
    values.resize(params.slots(), 0);
    let planner = find_planner(&params, None)?;
    if planner.multiplications_after() == 0 {
        return Err(CliError::usage(format!(
            "parameter set {}: bootstrapping leaves too little room to multiply: raise words, or \
             use bgv-65537-n15",
            params.name()
        )));
    }
    let plan = planner.keys();
    let say = |text: String| if common.json { Ok(()) } else { emit(&text) };
    let (security, p) = (params.security().bits(), params.plain_modulus());
    say(format!(
        "{}: {} slots modulo {p}, {security:.1} bits of security (estimated; see `params \
         datasheet`)",
        params.name(),
        params.slots()
    ))?;

    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let keys_started = Instant::now();
    let client = Client::new(&params, &mut rng);
    let server = server_for(&client, (&planner, &plan), &mut rng, common)?;
    say(format!(
        "{} in {:.1} s, {:.0} MiB when seeded",
        counted(plan.len() as u64 + 1, "server key"),
        keys_started.elapsed().as_secs_f64(),
        plan.seeded_bytes(&params) as f64 / 1048576.0
    ))?;

    let mut x = server.load(client.encrypt_modular(&values, &mut rng)?);
    say(format!("encrypted {source}; x <- 3x(1-x) mod {p}, {} times\n", args.steps))?;
    say(format!(
        "{:>6} {:>6} {:>12} {:>14} {:>11} {:>9}",
        "step", "level", "noise bound", "capacity left", "bootstraps", "seconds"
    ))?;
    let mut run = Run { client: &client, server: &server, products: Default::default() };
    let bar = progress(common, "computing", u64::from(args.steps));
    for step in 1..=args.steps {
        let before = server.bootstraps();
        x = run.step(&x)?;
        values.iter_mut().for_each(|v| *v = logistic(*v, p));
        bar.inc(1);
        if step == args.steps || server.bootstraps() > before || step % 10 == 0 || args.steps <= 20
        {
            let now = x.get();
            let row = format!(
                "{step:>6} {:>6} {:>12} {:>14} {:>11} {:>9.1}",
                now.level().to_string(),
                format!("2^{:.1}", now.noise_bound_bits()),
                format!("{:.1} bits", server.capacity_bits(&x)),
                server.bootstraps(),
                started.elapsed().as_secs_f64()
            );
            bar.suspend(|| say(row))?;
        }
    }
    bar.finish_and_clear();

    let decrypted = client.decrypt_modular(&x.get())?;
    let correct = decrypted.iter().zip(&values).filter(|(a, b)| a == b).count();
    let report = Report {
        params: params.name().into(),
        slots: params.slots(),
        multiplications: u64::from(args.steps),
        bootstraps: server.bootstraps(),
        correct_slots: correct,
        wrong_slots: params.slots() - correct,
        security_bits: security,
        failure_log2: failure_log2(&params, &server.evaluator().cost()),
        seconds_total: started.elapsed().as_secs_f64(),
        seconds_per_bootstrap: run.seconds_per_bootstrap(),
    };
    if common.json {
        emit_json(&report)?;
    } else {
        emit(&format!(
            "\n{correct} of {} slots are correct after {} multiplications and {} bootstraps of \
             {:.2} s; measured noise was within its bound after each\nprobability that a bound \
             was exceeded anywhere: 2^{:.1}; {:.1} s in all, {} threads",
            report.slots,
            report.multiplications,
            report.bootstraps,
            report.seconds_per_bootstrap,
            report.failure_log2,
            report.seconds_total,
            crate::console::output::threads()
        ))?;
    }
    if report.wrong_slots > 0 {
        return Err(CliError::failure(format!(
            "{} of {} slots are wrong: please report this",
            report.wrong_slots, report.slots
        )));
    }
    Ok(())
}

/// 3x(1-x) mod p.
fn logistic(x: u64, p: u64) -> u64 {
    let x = u128::from(x);
    let p = u128::from(p);
    (3 * x % p * ((p + 1 - x) % p) % p) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readings_follow_their_rule() {
        const CURVE: [u64; 24] = [
            62, 55, 51, 49, 50, 58, 96, 142, 151, 128, 117, 121, 139, 133, 118, 112, 119, 148, 197,
            231, 224, 187, 139, 91,
        ];
        let mut s = 20260101u64;
        let expected: Vec<u64> = (0..32768u64)
            .map(|i| {
                s = (s * 1103515245 + 12345) % (1 << 31);
                let noise = (s >> 16) % 128;
                let spike = if (s >> 23).is_multiple_of(64) { 1500 + 8 * noise } else { 0 };
                let winter = (i / 96).abs_diff(182);
                CURVE[(i / 4 % 24) as usize] * (400 + winter) / 400 + noise + spike
            })
            .collect();
        assert_eq!(
            readings().unwrap().residues(65537u64, 32768, stated(false, false, 65537u64)).unwrap(),
            expected
        );
    }

    #[test]
    fn the_map_is_the_logistic_one() {
        assert_eq!(logistic(0, 17), 0);
        assert_eq!(logistic(1, 17), 0);
        assert_eq!(logistic(2, 17), 11); // 3 * 2 * -1 = -6
        assert_eq!(logistic(65536, 65537), 65531); // 3 * -1 * 2 = -6
    }
}
