//! `everlevel reproduce`: the tables of the papers, run by this library and printed beside what the
//! papers report.

pub mod args;
pub mod chen_han;
mod degrees;
pub mod formulas;
pub mod general;
pub mod ltv;
pub mod ma_et_al;
pub mod record;
mod recrypt;
mod removal;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::reproduce::args::{ChenHanTable, MaEtAlTable, Paper, ReproduceArgs};

/// Runs a table, or some rows of it.
pub fn run(args: &ReproduceArgs, common: &Common) -> Result<(), CliError> {
    if let (Some(directory), false) = (&args.out, matches!(args.paper, Paper::All(_))) {
        // Before hours of work, not after.
        record::make_directory(directory)?;
    }
    match args.paper {
        Paper::ChenHan { table } => match table {
            ChenHanTable::Table1 | ChenHanTable::Table2 => formulas::run(table, args, common),
            ChenHanTable::Table3 => removal::run(args, common),
            ChenHanTable::Table4 | ChenHanTable::Table5 => recrypt::run(table, args, common),
        },
        Paper::MaEtAl { table } => match table {
            MaEtAlTable::Degrees => degrees::run(args, common),
            MaEtAlTable::Table4 => general::table_4(args, common),
            MaEtAlTable::Table6 | MaEtAlTable::Thin => general::bootstrappings(table, args, common),
        },
        Paper::Ltv { table } => ltv::run(table, args, common),
        Paper::All(ref all) => crate::report::run(all, args, common),
    }
}

/// The end of a record's name: what was asked for beside the row.
fn suffix(args: &ReproduceArgs) -> String {
    let method = args.digit_removal.as_ref().map_or_else(String::new, |name| format!("-{name}"));
    method + if args.quick { "-quick" } else { "" }
}

/// The rows of a table of `count` that `--row` asks for, from 0.
fn rows(args: &ReproduceArgs, count: usize) -> Result<Vec<usize>, CliError> {
    match args.row {
        None => Ok((0..count).collect()),
        Some(row) if (1..=count).contains(&row) => Ok(vec![row - 1]),
        Some(row) => Err(CliError::usage(format!("--row {row}: the table has rows 1 to {count}"))),
    }
}
