//! `everlevel table`: SQL over encrypted tables.

mod ask;
mod demo;
mod items;
mod query;

use clap::Subcommand;

use crate::console::args::Common;
use crate::console::errors::CliError;

/// What to do with tables.
#[derive(Subcommand)]
pub enum TableCommand {
    /// Encrypt line items of a trade, ask the queries that are derived from TPC-H, compare with the
    /// answers in the clear
    Demo(demo::DemoArgs),
    /// Encrypt a table, ask one question, decrypt and compare: all parties on this machine, to see
    /// what a question costs
    Query(query::QueryArgs),
}

/// Runs a command.
pub fn run(command: &TableCommand, common: &Common) -> Result<(), CliError> {
    match command {
        TableCommand::Demo(args) => demo::run(args, common),
        TableCommand::Query(args) => query::run(args, common),
    }
}
