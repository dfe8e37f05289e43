//! `everlevel params`.

use std::path::PathBuf;

use clap::Subcommand;
use everlevel::{
    Datasheet, Form, Objective, OptIn, Params, TimeModel, search_plan, spec_with_plan,
};
use serde::Serialize;

use crate::commands::keyless;
use crate::commands::plan::{self, By, PlanArgs};
use crate::commands::rings::{self, RingsArgs};
use crate::commands::workload;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, power, progress, table};
use crate::console::params::{find_params, find_planner, find_spec, refused_plan};
use crate::console::{machine, measured};

/// Commands below `params`.
#[derive(Subcommand)]
pub enum ParamsCommand {
    /// List the parameter sets
    List {
        /// Print the table of docs/parameters.md
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
    /// Print a set; with --json, in the form that --params reads
    Show {
        /// The name of a set, or a JSON file
        name: String,
    },
    /// Print the properties of a set: slots, security of every key, levels, capacities, key sizes
    Datasheet {
        /// The name of a set, or a JSON file
        name: String,
        /// Show the bootstrapping time from this JSON file, which `bench bootstrap --record`
        /// writes; for a set that is not in it, the time that comes with the library
        #[arg(long, value_name = "FILE.json")]
        measured: Option<PathBuf>,
    },
    /// Recommend a parameter set and a way to compute by --max-value, --signed, --rows and --ops;
    /// or find sets by --plain-modulus, --slots and --depth, or with --keyless for servers without
    /// keys; or a good bootstrapping plan for a named set (with --json, print the set with that
    /// plan, in the form that --params reads)
    #[command(after_long_help = workload::help())]
    Plan(PlanArgs),
    /// Search for rings by their slots, and print degree, dimensions and the largest secure modulus
    Rings(RingsArgs),
}

#[derive(Serialize)]
struct Listed {
    name: String,
    form: Form,
    n: usize,
    m: u64,
    p: u64,
    r: u32,
    slots: usize,
    d: usize,
    log_q: f64,
    log_p: f64,
    security_bits: f64,
    bootstraps: bool,
}

/// Runs a command below `params`.
pub fn run(command: &ParamsCommand, common: &Common) -> Result<(), CliError> {
    match command {
        ParamsCommand::List { markdown: true } => emit(markdown(common)?.trim_end()),
        ParamsCommand::List { .. } => list(common),
        ParamsCommand::Show { name } => show(name, common),
        ParamsCommand::Datasheet { name, measured } => {
            let times = measured.as_deref().map(|path| measured::read("--measured", path));
            let times = times.transpose()?.unwrap_or_default();
            // Looking at a set is no use of it.
            let opt_in = Common { insecure_research: true, allow_failures: true, ..common.clone() };
            let params = find_params(name, &opt_in)?;
            let sheet = Datasheet::of(&params).map_err(|e| match params.spec().bootstrap {
                Some(_) => refused_plan(&params, e),
                None => e.into(),
            })?;
            let sheet = sheet.with_measured(&times);
            if common.json { emit_json(&sheet) } else { emit(&sheet.text()) }
        }
        ParamsCommand::Plan(args) => match (&args.name, &args.values.max_value) {
            (Some(name), _) => bootstrap_plan(name, args.by, common),
            _ if args.sums.keyless => keyless::run(args, common),
            (None, Some(largest)) => workload::run(largest, &args.values, common),
            (None, None) => plan::run(args, common),
        },
        ParamsCommand::Rings(args) => rings::run(args, common),
    }
}

fn list(common: &Common) -> Result<(), CliError> {
    let mut sets = Vec::new();
    for name in everlevel_scheme::params::names() {
        let params = Params::named(name, OptIn::InsecureResearch)?;
        let (spec, chain) = (params.spec(), params.chain());
        sets.push(Listed {
            name: name.into(),
            form: spec.form,
            n: params.degree(),
            m: spec.index,
            p: spec.plain_prime,
            r: spec.plain_exponent,
            slots: params.slots(),
            d: params.slot_shape().degree_of_slot(),
            log_q: chain.bits(chain.top()),
            log_p: params.ring().log2(chain.special()),
            security_bits: params.security().bits(),
            bootstraps: spec.bootstrap.is_some(),
        });
    }
    if common.json {
        return emit_json(&sets);
    }
    let head = ["name", "form", "n", "p^r", "slots", "d", "log2 QP", "security"]
        .map(String::from)
        .to_vec();
    let row = |s: &Listed| {
        let security =
            if s.security_bits > 0.0 { format!("{:.1}", s.security_bits) } else { "none".into() };
        vec![
            s.name.clone(),
            s.form.name().into(),
            s.n.to_string(),
            power(s.p, s.r),
            s.slots.to_string(),
            s.d.to_string(),
            format!("{:.1}", s.log_q + s.log_p),
            security,
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(sets.iter().map(row)).collect();
    emit(&format!(
        "{}\n\nsecurity: {}",
        table(&rows),
        everlevel_scheme::params::SecurityReport::MODEL
    ))
}

fn show(name: &str, common: &Common) -> Result<(), CliError> {
    let spec = find_spec(name)?;
    if common.json {
        return emit_json(&spec);
    }
    let mut value = serde_json::to_value(&spec).map_err(CliError::failure)?;
    // Files leave out what is as usual; people are told.
    value["form"] = spec.form.name().into();
    let fields = value.as_object().into_iter().flatten();
    let rows: Vec<Vec<String>> = fields
        .map(|(k, v)| vec![k.clone(), v.as_str().map_or_else(|| v.to_string(), String::from)])
        .collect();
    let width = rows.iter().map(|r| r[0].len()).max().unwrap_or(0);
    let lines: Vec<String> = rows.iter().map(|r| format!("{:<width$}  {}", r[0], r[1])).collect();
    emit(&lines.join("\n"))
}

/// Searches for a plan on the no-op scheme, with transforms and bandwidth as measured now.
fn bootstrap_plan(name: &str, by: By, common: &Common) -> Result<(), CliError> {
    let opt_in = Common { insecure_research: true, allow_failures: true, ..common.clone() };
    let params = find_params(name, &opt_in)?;
    // What the set says now is checked first: a set that cannot bootstrap has no plan.
    find_planner(&params, None)?;
    let objective = match by {
        By::Throughput => Objective::Throughput,
        By::Latency => Objective::Latency,
        By::Capacity => Objective::Capacity,
    };
    let model = TimeModel {
        transform: machine::transform_us(params.cpu()) / 1e6,
        byte: 1e-9 / machine::bandwidth_gb_s(),
    };
    let bar = progress(common, "searching", 1);
    let best = search_plan(&params, model, objective).map_err(CliError::usage)?;
    bar.finish_and_clear();
    if common.json {
        return emit_json(&spec_with_plan(params.spec(), &best.plan));
    }
    emit(&format!(
        "{}: coeff-to-slot {:?}, slot-to-coeff {:?}, {} in {} form\n{} key switches, {} products, \
         depth {}; modeled {:.2} s with {} threads\ncapacity {:.1} bits, {:.1} multiplications \
         after it; {:.0} MiB of bootstrapping keys",
        params.name(),
        best.plan.coeff_to_slot,
        best.plan.slot_to_coeff,
        best.plan.digits,
        best.plan.digit_form.name(),
        best.cost.key_switches,
        best.cost.products,
        best.costs.depth,
        best.seconds,
        crate::console::output::threads(),
        best.capacity_bits,
        best.multiplications,
        best.key_bytes as f64 / 1048576.0
    ))
}

/// The table of docs/parameters.md.
pub fn markdown(common: &Common) -> Result<String, CliError> {
    let names: Vec<&str> = everlevel_scheme::params::names().collect();
    let bar = progress(common, "parameter sets", names.len() as u64);
    let mut rows = Vec::new();
    for name in names {
        rows.push(Datasheet::of(&Params::named(name, OptIn::InsecureResearch)?)?.markdown_row());
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(format!("{}\n{}\n", Datasheet::MARKDOWN_HEAD, rows.join("\n")))
}
