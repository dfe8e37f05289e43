//! The program `papers`: every table of three papers on homomorphic encryption, run by everlevel
//! and printed beside what the papers report.
//!
//! `chen_han`, `ma_et_al` and `ltv` are the papers, `sets` their parameter sets, `security` what
//! their keys resist; `aes` and `soak` are computations beside them, at any size. `report` runs all
//! of these as jobs, one process and one record each, and writes what papers/report/page.py makes a
//! page of; `rows` and `record` are what tables and records have in common. Everything below may be
//! used here, and nothing uses this.
#![forbid(unsafe_code)]

mod aes;
mod args;
mod chen_han;
mod ltv;
mod ma_et_al;
mod record;
mod report;
mod rows;
mod security;
mod sets;
mod soak;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::program;

use aes::args::AesArgs;
use args::{ChenHanTable, LtvTable, MaEtAlTable, TableArgs};
use report::args::AllArgs;
use soak::SoakArgs;

/// The tables of three papers, computed by everlevel at the papers' parameters and printed next to
/// their figures.
#[derive(Parser)]
#[command(name = "papers", version, about, max_term_width = 110)]
struct Papers {
    /// What to do.
    #[command(subcommand)]
    command: Command,
    /// Options that every command has.
    #[command(flatten)]
    common: Common,
}

/// The commands.
#[derive(Subcommand)]
enum Command {
    /// Run all tables and further measurements, and write a report of them
    All(AllArgs),
    /// Chen, Han: Homomorphic lower digits removal and improved FHE bootstrapping (2018)
    ChenHan {
        /// Which table
        #[arg(value_enum)]
        table: ChenHanTable,
        /// Its options.
        #[command(flatten)]
        args: TableArgs,
    },
    /// Ma, Huang, Wang, Wang: Accelerating BGV bootstrapping for large p using null polynomials
    /// over Z/p^e (2024)
    MaEtAl {
        /// Which table
        #[arg(value_enum)]
        table: MaEtAlTable,
        /// Its options.
        #[command(flatten)]
        args: TableArgs,
    },
    /// Doröz, Hu, Sunar: Homomorphic AES evaluation using the modified LTV scheme (2014), by
    /// formula; its sets are insecure
    Ltv {
        /// Which table
        #[arg(value_enum)]
        table: LtvTable,
        /// Its options.
        #[command(flatten)]
        args: TableArgs,
    },
    /// Encrypt random blocks with AES-128 homomorphically, under a random encrypted key, and check
    /// every block
    Aes(AesArgs),
    /// Bootstrap random and extreme messages with noise up to the bound, under many keys; compare
    /// every slot, and every noise with its bound
    Soak(SoakArgs),
    /// Print the security of the keys of the three papers, as claimed and as estimated today
    Security {
        /// Print the table of docs/security.md
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
    /// Print the names of the parameter sets of the papers, or one set in the form that `everlevel
    /// --params` reads
    Sets {
        /// The name of a set (default: list all names)
        name: Option<String>,
    },
    /// Run a command of `everlevel`, as the report does for what it measures beside the tables
    #[command(hide = true)]
    Everlevel {
        /// The command and its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    program::finish("papers", run())
}

fn run() -> Result<(), CliError> {
    let Some(Papers { command, common }) = program::parse(std::env::args_os())? else {
        return Ok(());
    };
    if let Command::Everlevel { arguments } = command {
        return everlevel_cli::run(std::iter::once("everlevel".into()).chain(arguments));
    }
    let common = &common;
    program::start(common)?;
    match &command {
        Command::All(args) => report::run(args, common),
        Command::ChenHan { table, args } => {
            prepare(args, *table == ChenHanTable::Table3)?;
            chen_han::run(*table, args, common)
        }
        Command::MaEtAl { table, args } => {
            prepare(args, false)?;
            ma_et_al::run(*table, args, common)
        }
        Command::Ltv { table, args } => {
            prepare(args, false)?;
            ltv::run(*table, args, common)
        }
        Command::Aes(args) => aes::run(args, common),
        Command::Soak(args) => soak::run(args, common),
        Command::Security { markdown } => security::run(*markdown, common),
        Command::Sets { name } => sets::run(name.as_deref(), common),
        Command::Everlevel { .. } => Ok(()),
    }
}

/// Refuses an option that the table would ignore, and makes the directory of the records before
/// hours of work, not after.
fn prepare(args: &TableArgs, has_own_moduli: bool) -> Result<(), CliError> {
    if args.own_modulus && !has_own_moduli {
        return Err(CliError::usage("--own-modulus: expected table-3 of chen-han"));
    }
    args.out.as_deref().map_or(Ok(()), |directory: &Path| record::make_directory(directory))
}
