//! `plan`: what a program on typed columns takes, before there are keys or data.

use clap::{Args, ValueEnum};
use everlevel::lab::{EvaluationError, TypedProgram};
use everlevel::{Estimate, KeyPlan, Minimize, Params};
use serde::Serialize;

use super::super::eval::parse;
use super::super::inputs::of_program;
use super::eval::tables;
use super::explain::{Report, at_once};
use crate::columns::{levels, typed};
use crate::console::args::{Common, amount};
use crate::console::errors::CliError;
use crate::console::output::{counted, emit, emit_json, progress};
use crate::console::params::find_params;

/// Arguments of `plan`.
#[derive(Args)]
pub struct PlanArgs {
    /// The program, as for `eval` on typed columns
    #[arg(value_name = "PROGRAM", allow_hyphen_values = true)]
    pub program: String,
    /// The names and types of the columns, as for `encrypt`; for example
    /// age=u8,income=u32:0..5000000,delta=-20..20
    #[arg(long, value_name = "NAME=TYPE,..")]
    pub types: String,
    /// The column of this name is encrypted with an index; can be repeated
    #[arg(long = "index", value_name = "COLUMN")]
    pub indexes: Vec<String>,
    /// Columns are encrypted at these levels, and others at the top (default: the lowest levels at
    /// which the program takes no more products, time and memory than at the top, if it needs no
    /// bootstrapping); requires --params, since levels belong to a set
    #[arg(long, value_name = "NAME=LEVEL,..", requires = "params")]
    pub levels: Option<String>,
    /// The number of rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub rows: u64,
    /// A table of integers, as for `eval`
    #[arg(long = "lookup", value_name = "NAME=FILE")]
    pub tables: Vec<String>,
    /// The parameter set (default: the best of the sets with 128 bits of security)
    #[arg(long, value_name = "NAME|FILE.json")]
    pub params: Option<String>,
    /// The criterion for the parameter set
    #[arg(long, value_enum, default_value = "latency", conflicts_with = "params")]
    pub minimize: Goal,
    /// The most memory in MiB that keys and ciphertexts may take together
    #[arg(long, value_name = "MIB", value_parser = amount())]
    pub memory: Option<u64>,
    /// Count the memory of a server that keeps half of each key as a seed, as with `eval
    /// --seeded-keys`, which takes longer than the estimated time
    #[arg(long)]
    pub seeded_keys: bool,
}

/// What a parameter set is chosen by.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// The time of the program
    Latency,
    /// The memory for keys and ciphertexts
    Memory,
}

#[derive(Serialize)]
struct Planned {
    rows: u64,
    slots: usize,
    security_bits: f64,
    /// Of the digits of the columns.
    base: i64,
    side_by_side: bool,
    #[serde(flatten)]
    cost: Report,
}

/// A program and the columns that it is planned for.
pub struct Columns<'a> {
    /// The text of the program.
    pub text: &'a str,
    /// The names and types of the columns.
    pub types: &'a str,
    /// Which of them are encrypted with an index.
    pub indexes: &'a [String],
    /// At which levels they are encrypted, and others at the top; none: the lowest ones.
    pub levels: Option<&'a str>,
    /// The number of their rows.
    pub rows: u64,
    /// The tables of the program.
    pub tables: &'a [String],
    /// Whether the server keeps seeds of keys in memory.
    pub seeded_keys: bool,
}

impl Columns<'_> {
    /// The keys that the program takes on a set, or fewer of them.
    pub fn keys(&self, params: &Params, small: bool) -> Result<KeyPlan, CliError> {
        let estimated = |program: &TypedProgram<'_>| {
            let mut found = program.estimate(params, u64::MAX)?;
            if small {
                found.keys = program.smaller_keys(&found);
            }
            Ok(found)
        };
        Ok(self.estimated(Some(params), estimated)?.keys)
    }

    /// What `estimate` finds, on a set that is known or chosen. What refuses the program is the
    /// user's to change.
    fn estimated(
        &self,
        params: Option<&Params>,
        estimate: impl FnOnce(&TypedProgram<'_>) -> Result<Estimate, EvaluationError>,
    ) -> Result<Estimate, CliError> {
        let (program, types) = (&parse(self.text)?, &typed::types(self.types)?);
        typed::check_indexes(self.indexes, types)?;
        let levels = self.levels.map(|text| levels::parsed(text, types)).transpose()?;
        if let (Some(params), Some(levels)) = (params, &levels) {
            levels::check(levels, params)?;
        }
        let tables = &tables(self.tables)?;
        let (rows, seeded_keys) = (self.rows as usize, self.seeded_keys);
        let (indexes, levels) = (self.indexes, levels.as_ref());
        let planned = TypedProgram { program, tables, types, indexes, levels, rows, seeded_keys };
        estimate(&planned).map_err(|e| of_program(e, self.text, CliError::usage))
    }
}

/// Runs `plan`.
pub fn plan(args: &PlanArgs, common: &Common) -> Result<(), CliError> {
    let PlanArgs { program: text, types, indexes, rows, tables, .. } = args;
    let (rows, seeded_keys) = (*rows, args.seeded_keys);
    let levels = args.levels.as_deref();
    let columns = Columns { text, types, indexes, levels, rows, tables, seeded_keys };
    let params = args.params.as_deref().map(|name| find_params(name, common)).transpose()?;
    let memory_bytes = args.memory.map_or(u64::MAX, |mib| mib << 20);
    let minimize = match args.minimize {
        Goal::Latency => Minimize::Latency,
        Goal::Memory => Minimize::Memory,
    };
    let bar = progress(common, "rehearsing", 1);
    let found = columns.estimated(params.as_ref(), |program| match &params {
        Some(params) => program.estimate(params, memory_bytes),
        None => program.best(minimize, memory_bytes),
    })?;
    bar.inc(1);
    bar.finish_and_clear();
    let planned = Planned {
        rows,
        slots: found.params.slots(),
        security_bits: found.params.security().bits(),
        base: found.base(),
        side_by_side: found.side_by_side,
        cost: Report::from(&found),
    };
    if common.json { emit_json(&planned) } else { emit(&told(&planned, &found, args, common)) }
}

/// For people.
fn told(planned: &Planned, found: &Estimate, args: &PlanArgs, common: &Common) -> String {
    let PlanArgs { program, types, indexes, rows, tables, .. } = args;
    let layout = match planned.side_by_side {
        true => "side by side in a ciphertext",
        false => "each in a ciphertext of its own",
    };
    let lookups: String = tables.iter().map(|table| format!(" --lookup '{table}'")).collect();
    let indexes: String = indexes.iter().map(|name| format!(" --index {}", quoted(name))).collect();
    let insecure = if common.insecure_research { " --insecure-research" } else { "" };
    let failures = if common.allow_failures { " --allow-failures" } else { "" };
    let columns = format!("--types '{types}'{indexes}{}", option(found));
    format!(
        "{} of {} slots, {:.1} bits of security; {} of digits to base {}, {layout}\n{found}{}\n\n\
         its keys: everlevel keygen --params {}{insecure}{failures} --program '{program}' \
         {columns} --rows {rows}{lookups} --out keys\n\
         its columns: everlevel encrypt --key keys/public.key{insecure}{failures} --in FILE.csv \
         {columns} --out columns.ct",
        counted(found.blocks, "block"),
        planned.slots,
        planned.security_bits,
        counted(*rows, "row"),
        planned.base,
        at_once(rayon::current_num_threads(), found.bootstraps),
        args.params.as_deref().unwrap_or(found.params.name()),
    )
}

/// The option for the levels of columns that are below the top.
fn option(found: &Estimate) -> String {
    let top = found.params.chain().top();
    let below = found.inputs.iter().filter_map(|x| Some((&x.name, x.level.filter(|l| *l < top)?)));
    let below: Vec<String> = below.map(|(name, level)| format!("{name}={level}")).collect();
    match below.is_empty() {
        true => String::new(),
        false => format!(" --levels {}", quoted(&below.join(","))),
    }
}

/// A word of a command as shells read it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,=".contains(c);
    if word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_shells_need_it() {
        for (word, expected) in [
            ("age=90,last_pay=4", "age=90,last_pay=4"),
            ("last pay=4", "'last pay=4'"),
            ("a;b=1", "'a;b=1'"),
            ("it's=0", r"'it'\''s=0'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
