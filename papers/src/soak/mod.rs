//! `papers soak`: many bootstrappings under many keys, of random and extreme messages with noise up
//! to the bound; every slot is compared and every noise measured.

mod families;
mod input;
mod run;
mod tally;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use everlevel_cli::console::args::Common;
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json, progress, table};
use rayon::prelude::*;
use serde::Serialize;

use crate::record;
use families::{FULL, Family, SMALL, find};
use run::Soak;
use tally::{Plan, Tally};

/// The names of the families on small rings.
pub fn small() -> impl Iterator<Item = &'static str> {
    SMALL.iter().map(|family| family.name)
}

/// The name of the family at full size.
pub const fn full() -> &'static str {
    FULL.name
}

/// Key pairs that are tried between two writings of the record.
const CHUNK: usize = 10;

/// Arguments of `papers soak`.
#[derive(Args)]
pub struct SoakArgs {
    /// The family (default: all families on small rings, one after the other)
    pub family: Option<String>,
    /// The number of key pairs for each family (default: 78, which is 1014 in all; 25 at full size;
    /// 2 with --quick)
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub keys: Option<u64>,
    /// The number of bootstrappings under each key pair (default: 10; 20 at full size; 7 with
    /// --quick)
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub runs: Option<u64>,
    /// The seed of all random numbers: equal seeds give equal records
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// Also write the record to this directory after every few key pairs, and continue from an
    /// existing record
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// A record: finished ones say where and when.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    tally: &'a Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    circumstances: Option<Circumstances>,
}

/// Runs what is left of the families.
pub fn run(args: &SoakArgs, common: &Common) -> Result<(), CliError> {
    let families: Vec<&Family> = match &args.family {
        None => SMALL.iter().collect(),
        Some(name) => vec![find(name).ok_or_else(|| {
            let known: Vec<&str> = small().chain([full()]).collect();
            CliError::usage(format!("no family {name}: expected one of {}", known.join(", ")))
        })?],
    };
    args.out.as_deref().map_or(Ok(()), record::make_directory)?;
    let tallies =
        families.iter().map(|family| one(family, args, common)).collect::<Result<Vec<_>, _>>()?;
    if common.json {
        let records: Vec<_> = tallies.iter().map(finished).collect();
        match &records[..] {
            [record] if args.family.is_some() => emit_json(record)?,
            _ => emit_json(&records)?,
        }
    } else {
        emit(&text(&tallies))?;
    }
    match tallies.iter().find(|tally| !tally.is_clean()) {
        None => Ok(()),
        Some(t) => Err(CliError::failure(format!(
            "{}: {} of {} slots are wrong and {} noises above their bound, with seed {}: please \
             report this",
            t.plan.family, t.wrong_slots, t.verified_slots, t.above_bound, t.plan.seed
        ))),
    }
}

fn finished(tally: &Tally) -> Record<'_> {
    Record { tally, circumstances: Some(Circumstances::now()) }
}

/// One family, from where its record ends.
fn one(family: &Family, args: &SoakArgs, common: &Common) -> Result<Tally, CliError> {
    let large = family.is_large();
    let (keys, runs) = match (args.quick, large) {
        (true, _) => (2, 7),
        (false, true) => (25, 20),
        (false, false) => (78, 10),
    };
    let plan = Plan {
        family: family.name.into(),
        seed: args.seed,
        keys: args.keys.unwrap_or(keys),
        runs: args.runs.unwrap_or(runs),
    };
    let name = name(&plan, args.quick);
    let started = Instant::now();
    let soak = Soak::new(family)?;
    let there = match &args.out {
        Some(directory) => record::read::<Tally>(directory, &name)?,
        None => None,
    };
    let mut tally = there
        .and_then(|tally| tally.continued(&plan))
        .unwrap_or_else(|| Tally::new(plan, family.what, soak.failure_log2()));
    let left = tally.left();
    let bar = progress(common, family.name, tally.key_pairs + left.len() as u64);
    bar.set_position(tally.key_pairs);
    let (seconds, slots) = (tally.seconds, soak.params().slots());
    for chunk in left.chunks(if large { 1 } else { CHUNK }) {
        let run = |&key: &u64| {
            let outcomes = soak.key_pair(args.seed, key, tally.plan.runs);
            bar.inc(1);
            outcomes
        };
        let outcomes = chunk.par_iter().map(run).collect::<Result<Vec<_>, _>>()?;
        outcomes.iter().for_each(|outcomes| tally.enter(outcomes, slots));
        tally.seconds = seconds + started.elapsed().as_secs_f64();
        write(args.out.as_deref(), &name, &Record { tally: &tally, circumstances: None })?;
    }
    bar.finish_and_clear();
    if !left.is_empty() {
        write(args.out.as_deref(), &name, &finished(&tally))?;
    }
    if !common.json {
        emit(&format!(
            "{}: {} bootstrappings under {} key pairs, {} slots wrong, {:.0} s",
            family.name, tally.bootstrappings, tally.key_pairs, tally.wrong_slots, tally.seconds
        ))?;
    }
    Ok(tally)
}

/// The name of a record.
fn name(plan: &Plan, quick: bool) -> String {
    format!("soak-{}{}", plan.family, if quick { "-quick" } else { "" })
}

fn write(directory: Option<&Path>, name: &str, record: &Record<'_>) -> Result<(), CliError> {
    directory.map_or(Ok(()), |directory| record::write(directory, name, record))
}

fn text(tallies: &[Tally]) -> String {
    let head = [
        "family",
        "key pairs",
        "bootstrappings",
        "wrong slots",
        "above bound",
        "noise",
        "bound",
        "least gap",
        "input's gap",
        "log2 failure",
        "seconds",
    ];
    let row = |t: &Tally| {
        vec![
            t.plan.family.clone(),
            t.key_pairs.to_string(),
            t.bootstrappings.to_string(),
            format!("{} of {}", t.wrong_slots, t.verified_slots),
            t.above_bound.to_string(),
            format!("2^{:.1}", t.largest_noise_bits),
            format!("2^{:.1}", t.bound_bits),
            format!("{:.2}", t.least_gap_bits),
            format!("{:.4}", t.least_input_gap_bits),
            format!("{:.0}", t.failure_log2),
            format!("{:.1}", t.seconds),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head.map(String::from).to_vec()).chain(tallies.iter().map(row)).collect();
    table(&rows)
}
