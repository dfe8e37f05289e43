//! `explain` of programs on typed columns: what they take, before anything is computed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use everlevel::lab::EvaluationError;
use everlevel::{Estimate, Program};
use everlevel_integers::{Column, EstimatedStep, Rehearsal};
use everlevel_scheme::noop::NoOpCiphertext;
use serde::Serialize;

use super::super::args::ServerArgs;
use super::super::files::server;
use super::super::inputs::of_program;
use super::eval::{Input, columns, tables};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json};

/// What is asked of a program.
pub struct Asked<'a> {
    /// The server.
    pub server: &'a ServerArgs,
    /// The text of the program.
    pub text: &'a str,
    /// The program.
    pub program: &'a Program,
    /// The files that it reads.
    pub files: &'a [Input<'a>],
    /// Its tables.
    pub tables: &'a [String],
    /// What cannot be told of typed columns: a secret key, a plot.
    pub refused: [(&'static str, &'a Option<PathBuf>); 2],
}

/// What a program takes.
#[derive(Serialize)]
pub struct Report {
    params: String,
    bootstraps: bool,
    blocks: u64,
    products: u64,
    key_switches: u64,
    refreshes: u64,
    seconds: f64,
    memory_bytes: u64,
    key_bytes: u64,
    input_ciphertexts: u64,
    input_bytes: u64,
    result_ciphertexts: u64,
    result_bytes: u64,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    name: String,
    low: Option<String>,
    high: Option<String>,
    products: u64,
    key_switches: u64,
    refreshes: u64,
    seconds: f64,
}

impl From<&EstimatedStep> for Step {
    fn from(step: &EstimatedStep) -> Self {
        Step {
            name: step.name.clone(),
            low: step.interval.map(|i| i.low().to_string()),
            high: step.interval.map(|i| i.high().to_string()),
            products: step.counted.products,
            key_switches: step.counted.key_switches,
            refreshes: step.counted.refreshes,
            seconds: step.counted.seconds,
        }
    }
}

impl From<&Estimate> for Report {
    fn from(x: &Estimate) -> Self {
        let total = x.total();
        Report {
            params: x.params.name().into(),
            bootstraps: x.bootstraps,
            blocks: x.blocks,
            products: total.products,
            key_switches: total.key_switches,
            refreshes: total.refreshes,
            seconds: total.seconds,
            memory_bytes: x.memory_bytes(),
            key_bytes: x.key_bytes(),
            input_ciphertexts: x.input_ciphertexts,
            input_bytes: x.input_bytes,
            result_ciphertexts: x.result_ciphertexts,
            result_bytes: x.result_bytes,
            steps: x.steps.iter().map(Step::from).collect(),
        }
    }
}

/// Runs `explain` on files of columns.
pub fn explain(asked: &Asked<'_>, common: &Common) -> Result<(), CliError> {
    for (option, path) in asked.refused {
        if path.is_some() {
            return Err(CliError::usage(format!(
                "{option} is for values modulo p^r: for typed columns, `explain` prints what the \
                 program costs before it is run, and no noise"
            )));
        }
    }
    let bounds = asked.server.bounds.believed()?;
    let tables = tables(asked.tables)?;
    let server = server(asked.server, common)?;
    let inputs = columns(asked.files, &server, &bounds, &asked.server.set)?;
    let refused = |e| of_program(e, asked.text, CliError::from);
    inputs.shape(asked.program).map_err(refused)?;
    let rehearsal = Rehearsal::new(server.params(), server.session().can_bootstrap())
        .map_err(everlevel::Error::from)?;
    let mut pretended = BTreeMap::new();
    // The parts of a column are alike.
    for (name, x) in inputs.part(0) {
        let like = rehearsal.like(&x, |c: &everlevel::Ciphertext| *c.meta());
        pretended.insert(name, like.map_err(everlevel::Error::from)?);
    }
    // Of their own, as inputs may be bootstrapped in place.
    let plain = |(name, x): (&String, &Column<_>)| (name.clone(), x.detached().without_index());
    let plain: BTreeMap<String, Column<NoOpCiphertext>> = pretended.iter().map(plain).collect();
    let blocks = inputs.blocks() as u64;
    let found = Estimate::of_program(&rehearsal, asked.program, &pretended, &tables, blocks)
        .map_err(|e| refused(EvaluationError::Program(e)))?
        .with_seeded_keys(asked.server.memory.seeded_keys);
    if common.json {
        return emit_json(&Report::from(&found));
    }
    let indexed = pretended.iter().filter(|(_, x)| x.has_index()).map(|(name, _)| name.as_str());
    let indexed: Vec<&str> = indexed.collect();
    let mut told = found.to_string();
    if !indexed.is_empty() {
        let without = Estimate::of_program(&rehearsal, asked.program, &plain, &tables, blocks);
        told += &of_indexes(&indexed, &found, without.ok().as_ref());
    }
    told += &at_once(rayon::current_num_threads(), found.bootstraps);
    emit(&told)
}

/// A line that says what the indexes of these inputs save.
fn of_indexes(names: &[&str], with: &Estimate, without: Option<&Estimate>) -> String {
    let (names, products) = (names.join(", "), |x: &Estimate| x.total().products);
    match without {
        None => format!("\nWithout the indexes of {names} the program would be refused."),
        Some(x) if products(x) == products(with) => {
            format!("\nThe indexes of {names} are not read.")
        }
        Some(x) => format!(
            "\nThe indexes of {names} are read: without them the program would take {} products.",
            products(x)
        ),
    }
}

/// A line that says what is computed at the same time by a number of threads.
pub fn at_once(threads: usize, bootstraps: bool) -> String {
    if threads < 2 {
        return String::new();
    }
    let apart = if bootstraps { ", none of them in common" } else { "" };
    format!(
        "\nStatements and operands that need no result of each other are computed at the same time \
         as long as they read at most {threads} ciphertexts together{apart}; the times are those \
         of one core."
    )
}
