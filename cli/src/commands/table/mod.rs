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
    /// Encrypt a table of line items, run queries derived from TPC-H, and compare the answers with
    /// those in the clear
    Demo(demo::DemoArgs),
    /// Encrypt a table, run one query, decrypt and compare, with all parties on this machine, to
    /// see what a query costs
    Query(query::QueryArgs),
}

/// Runs a command.
pub fn run(command: &TableCommand, common: &Common) -> Result<(), CliError> {
    match command {
        TableCommand::Demo(args) => demo::run(args, common),
        TableCommand::Query(args) => query::run(args, common),
    }
}
