//! `everlevel explain`: what each operation of a program, or of a bootstrapping, does to level and
//! noise.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use everlevel::lab::{Arithmetic, NoOp, Scheme};
use everlevel::{
    Ciphertext, Explainer, Explanation, KeyPlanner, NextUse, Params, Plaintext, RecordedValue,
    SecretKey, Server, ServerKeys, Step, Value,
};
use everlevel_scheme::same_owner;
use everlevel_wire::file::write_file;
use rand_core::Rng;
use serde::Serialize;

use crate::commands::roles::args::{BoundsArg, KeyMemoryArg, ServerArgs, SetOfFile};
use crate::commands::roles::eval;
use crate::commands::roles::files::secret_key;
use crate::commands::roles::files::server as server_of;
use crate::commands::roles::inputs::Inputs;
use crate::commands::roles::typed;
use crate::console::args::{Common, SetArg};
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_file, existing, of_output};
use crate::console::output::{counted, emit, emit_json, progress};
use crate::console::params::{find_params, find_planner};
use crate::plot::{LinePlot, NoisePoint, noise_plot};

/// Arguments of `explain`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ExplainArgs {
    /// Something else than a program.
    #[command(subcommand)]
    pub other: Option<ExplainCommand>,
    /// The server keys
    #[arg(long, value_name = "FILE", required = true)]
    pub server_keys: Option<PathBuf>,
    /// The memory for keys.
    #[command(flatten)]
    pub memory: KeyMemoryArg,
    /// Noise bounds.
    #[command(flatten)]
    pub bounds: BoundsArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
    /// The program, as for `eval`
    #[arg(value_name = "PROGRAM", allow_hyphen_values = true, required = true)]
    pub program: Option<String>,
    /// The ciphertexts that the program reads; for files of typed columns, the costs of the program
    /// are printed without running it: products, refreshes, seconds, memory, bytes
    #[arg(value_name = "NAME=FILE")]
    pub inputs: Vec<String>,
    /// For typed columns: a table of integers, as for `eval`
    #[arg(long = "lookup", value_name = "NAME=FILE")]
    pub tables: Vec<String>,
    /// The secret key, to measure the noise as well; the output then depends on the key and must
    /// not be shared
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The plot.
    #[command(flatten)]
    pub plot: PlotArg,
}

/// Where the plot goes.
#[derive(Args, Clone)]
pub struct PlotArg {
    /// Also draw a plot of modulus, noise bound and measured noise for each operation
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// Commands below `explain`.
#[derive(Subcommand)]
pub enum ExplainCommand {
    /// Square a fresh ciphertext under new keys until it has to be bootstrapped, bootstrap it, and
    /// measure the noise of every step
    Bootstrap(ExplainBootstrapArgs),
}

/// Arguments of `explain bootstrap`.
#[derive(Args)]
pub struct ExplainBootstrapArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The plot.
    #[command(flatten)]
    pub plot: PlotArg,
}

#[derive(Serialize)]
struct Report {
    /// The row of each result.
    outputs: BTreeMap<String, usize>,
    #[serde(flatten)]
    explanation: Explanation,
    bootstraps: usize,
    /// How many ciphertexts each column has, of which the first is explained.
    ciphertexts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_slack_bits: Option<f64>,
}

/// Runs the command.
pub fn run(args: &ExplainArgs, common: &Common) -> Result<(), CliError> {
    if let Some(ExplainCommand::Bootstrap(args)) = &args.other {
        return bootstrap(args, common);
    }
    // The parser has seen to it that both are there.
    let (Some(server_keys), Some(text)) = (args.server_keys.clone(), &args.program) else {
        return Err(CliError::usage(
            "expected --server-keys FILE and a program, or `explain bootstrap`",
        ));
    };
    let server = ServerArgs {
        server_keys,
        memory: args.memory,
        bounds: args.bounds.clone(),
        set: args.set.clone(),
    };
    check_plot(&args.plot)?;
    let program = eval::parse(text)?;
    if let Some(files) = typed::inputs(&args.inputs)? {
        let asked = typed::Asked {
            server: &server,
            text,
            program: &program,
            files: &files,
            tables: &args.tables,
            refused: [("--key", &args.key), ("--svg", &args.plot.svg)],
        };
        return typed::explain(&asked, common);
    }
    if !args.tables.is_empty() {
        return Err(CliError::usage("--lookup: tables are for columns of typed integers"));
    }
    let inputs = Inputs::named(&program, &args.inputs)?;
    let manifests = server.bounds.manifests.files().map(PathBuf::as_path);
    let read = inputs.files().chain(manifests);
    args.plot.svg.as_deref().map_or(Ok(()), |path| check_apart(path, read))?;
    let keys = server_of(&server, common)?;
    let explainer = match &args.key {
        Some(path) => {
            let secret = secret_key(path, &server.set, common)?;
            if !secret.params().same(keys.params()) {
                return Err(CliError::usage(format!(
                    "{}: a key of other parameters than the server's",
                    path.display()
                )));
            }
            same_owner(Some(secret.id()), keys.keys().owner(), "explanation")?;
            keys.measuring_explainer(Arc::new(secret))?
        }
        None => keys.explainer()?,
    };
    let loaded = inputs.read(&keys, &server.bounds.believed()?, &server.set, true)?;
    let ciphertexts = loaded.blocks();
    // What happens to the others of a column is the same.
    let first = |(name, xs): (&String, &Vec<Value>)| {
        let x = Ciphertext::clone(&xs.first()?.get());
        Some((name.clone(), explainer.load(x, name)))
    };
    let values = loaded.arrays().iter().filter_map(first).collect();
    let bar = progress(common, "explaining", program.len() as u64);
    let results = explainer
        .run(&program, &values, &mut |done| bar.set_position(done as u64))
        .map_err(eval::told)?;
    bar.finish_and_clear();
    let named: Vec<(&str, &RecordedValue)> =
        program.outputs().map(|name| (name, &results[name])).collect();
    let done = (explainer.session().bootstraps(), ciphertexts);
    finish(&explainer, &named, done, &args.plot, common)
}

/// Keys are drawn for this and thrown away: measuring tells nothing about any other.
fn bootstrap(args: &ExplainBootstrapArgs, common: &Common) -> Result<(), CliError> {
    check_plot(&args.plot)?;
    let params = find_params(&args.set.params, common)?;
    let planner = find_planner(&params, None)?;
    let bar = progress(common, "keys", 3);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let secret = Arc::new(SecretKey::generate(&params, &mut rng));
    let keys = ServerKeys::generate(&secret, &planner.keys(), &mut rng, |_, _| ())?;
    let server = Server::new(keys, planner.bootstrap_plan().clone())?;
    let explainer = server.measuring_explainer(secret.clone())?;
    bar.inc(1);
    let values: Vec<u64> =
        (0..params.slots()).map(|_| rng.next_u64() % params.plain_modulus()).collect();
    let mut plain = Plaintext::encode(&params, &values)?;
    let mut x = explainer.load(secret.encrypt(&plain, &mut rng)?, "x");
    for _ in 0..squares(&params, &planner)? {
        x = explainer.mul(&x, &x)?;
        plain = plain.mul(&plain, &params)?;
    }
    bar.inc(1);
    let fresh = explainer.bootstrap(&x)?;
    bar.finish_and_clear();
    if secret.decrypt(fresh.get().inner())? != plain {
        return Err(CliError::failure(
            "the bootstrapped ciphertext decrypts to something else: please report this",
        ));
    }
    finish(&explainer, &[("x", &fresh)], (1, 1), &args.plot, common)
}

/// How many squarings a fresh ciphertext takes so that the last result can still be bootstrapped.
fn squares(params: &Params, planner: &KeyPlanner) -> Result<usize, CliError> {
    let dry = NoOp::blank(params);
    let mut x = dry.encrypt(&Plaintext::encode(params, &[])?)?;
    let mut count = 0;
    while let Some(next) = dry
        .mul(&x, &x, NextUse::Product)
        .ok()
        .filter(|x| dry.capacity_bits(x) >= planner.minimum_capacity())
    {
        x = next;
        count += 1;
    }
    Ok(count)
}

fn check_plot(plot: &PlotArg) -> Result<(), CliError> {
    plot.svg.as_deref().map_or(Ok(()), |path| check_file(path, plot.force))
}

fn finish(
    explainer: &Explainer,
    named: &[(&str, &RecordedValue)],
    (bootstraps, ciphertexts): (usize, usize),
    plot: &PlotArg,
    common: &Common,
) -> Result<(), CliError> {
    let explanation = explainer.explain_all(named.iter().map(|(_, x)| *x));
    if let Some(path) = &plot.svg {
        write_file(path, drawn(&explanation).svg().as_bytes(), existing(plot.force))
            .map_err(of_output(path))?;
    }
    let slack = explanation.least_slack_bits();
    let outputs = named
        .iter()
        .zip(&explanation.results)
        .map(|((name, _), row)| ((*name).to_string(), *row))
        .collect();
    let least_slack_bits = slack;
    let report = Report { outputs, least_slack_bits, bootstraps, ciphertexts, explanation };
    if common.json {
        emit_json(&report)?;
    } else {
        let mut lines = vec![report.explanation.to_string()];
        lines.extend(report.outputs.iter().map(|(name, row)| format!("{name}: row {row}")));
        lines.push(counted(bootstraps as u64, "bootstrap"));
        if ciphertexts > 1 {
            lines.push(format!("the first of {ciphertexts} ciphertexts; the others are like it"));
        }
        lines.extend(slack.map(|s| {
            format!(
                "measured noise at least {s:.1} bits below its bound; measured with the secret \
                 key: do not share"
            )
        }));
        lines.extend(plot.svg.as_ref().map(|path| path.display().to_string()));
        emit(&lines.join("\n"))?;
    }
    match slack {
        Some(s) if s < 0.0 => {
            Err(CliError::failure("measured noise above its bound: please report this"))
        }
        _ => Ok(()),
    }
}

/// The plot of a history, with its stages.
fn drawn(explanation: &Explanation) -> LinePlot {
    let point = |step: &Step| NoisePoint {
        row: step.row,
        stage: step.stage.clone(),
        modulus_bits: step.modulus_bits,
        bound_bits: step.bound_bits,
        estimate_bits: step.estimate_bits,
        measured_bits: step.measured_bits,
    };
    noise_plot(&explanation.params, &explanation.steps.iter().map(point).collect::<Vec<_>>())
}
