//! `explain` of programs on typed columns: what they take, before anything is computed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use everlevel::lab::EvaluationError;
use everlevel::{Estimate, Program};
use everlevel_integers::{Column, EstimatedInput, EstimatedStep, Rehearsal};
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
    working_bytes: u64,
    key_bytes: u64,
    input_ciphertexts: u64,
    input_bytes: u64,
    arguments: Vec<Argument>,
    result_ciphertexts: u64,
    result_bytes: u64,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Argument {
    name: String,
    /// Of its digits; none for public integers.
    level: Option<usize>,
    ciphertexts: u64,
    bytes: u64,
}

impl From<&EstimatedInput> for Argument {
    fn from(x: &EstimatedInput) -> Self {
        Argument {
            name: x.name.clone(),
            level: x.level.map(|level| level.0),
            ciphertexts: x.ciphertexts,
            bytes: x.bytes,
        }
    }
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
            working_bytes: x.working_bytes(),
            key_bytes: x.key_bytes(),
            input_ciphertexts: x.input_ciphertexts,
            input_bytes: x.input_bytes,
            arguments: x.inputs.iter().map(Argument::from).collect(),
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
    let blocks = inputs.blocks() as u64;
    let estimate = |without: &dyn Fn(&str) -> bool| {
        // Of their own, as inputs may be bootstrapped in place.
        let own = |(name, x): (&String, &Column<NoOpCiphertext>)| {
            let x = x.detached();
            (name.clone(), if without(name) { x.without_index() } else { x })
        };
        let given: BTreeMap<_, _> = pretended.iter().map(own).collect();
        Estimate::of_program(&rehearsal, asked.program, &given, &tables, blocks)
    };
    let found = estimate(&|_| false)
        .map_err(|e| refused(EvaluationError::Program(e)))?
        .with_seeded_keys(asked.server.memory.seeded_keys);
    let indexed = pretended.iter().filter(|(_, x)| x.has_index()).map(|(name, _)| name.as_str());
    let named = |name: &str| asked.program.inputs().any(|input| input == name);
    let indexes = Indexes::of(&found, indexed, named, |without| estimate(without).ok());
    if common.json {
        let Indexes { read, products_without, .. } = indexes;
        return emit_json(&Explained {
            cost: Report::from(&found),
            indexes_read: read,
            products_without_indexes: products_without,
        });
    }
    let at_once = at_once(rayon::current_num_threads(), found.bootstraps);
    emit(&format!("{found}{indexes}{at_once}"))
}

/// What a program takes, and what it reads of its arguments.
#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    cost: Report,
    indexes_read: Vec<String>,
    products_without_indexes: Option<u64>,
}

/// Which indexes of its arguments a program reads, and what they save.
struct Indexes {
    read: Vec<String>,
    others: Vec<String>,
    /// The products without any index; none if the program would be refused then.
    products_without: Option<u64>,
}

impl Indexes {
    /// Of a program that takes `found`; `estimate` finds what it would take without the indexes of
    /// some arguments. An index is read if what is computed without it alone is something else.
    fn of<'a>(
        found: &Estimate,
        indexed: impl Iterator<Item = &'a str>,
        named: impl Fn(&str) -> bool,
        estimate: impl Fn(&dyn Fn(&str) -> bool) -> Option<Estimate>,
    ) -> Self {
        let counts = |x: &Estimate| {
            let total = x.total();
            (total.products, total.key_switches, total.refreshes)
        };
        let is_read = |name: &str| {
            let without = estimate(&|other| other == name);
            without.is_none_or(|x| counts(&x) != counts(found))
        };
        let all = indexed.map(String::from);
        let (read, others): (Vec<_>, Vec<_>) = all.partition(|x| named(x) && is_read(x));
        let products_without = match read.is_empty() {
            true => Some(found.total().products),
            false => estimate(&|_| true).map(|x| x.total().products),
        };
        Indexes { read, others, products_without }
    }
}

/// A line for those that are read, and one for the others.
impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, others) = (self.read.join(", "), self.others.join(", "));
        match self.products_without {
            _ if read.is_empty() => {}
            None => write!(f, "\nWithout the indexes of {read} the program would be refused.")?,
            Some(products) => write!(
                f,
                "\nThe indexes of {read} are read: without them the program would take {products} \
                 products."
            )?,
        }
        match others.is_empty() {
            true => Ok(()),
            false => write!(f, "\nThe indexes of {others} are not read."),
        }
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
