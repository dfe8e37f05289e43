//! `everlevel table`: SQL over encrypted tables.

pub mod args;
mod ask;
mod constants;
mod demo;
mod errors;
mod files;
mod items;
mod look;
mod owner;
#[cfg(feature = "parquet")]
mod parquet;
mod query;
mod records;
mod run;
mod search;

use clap::Subcommand;

use crate::console::args::Common;
use crate::console::errors::CliError;
use args::{SchemaCommand, SearchCommand};

/// What to do with tables.
#[derive(Subcommand)]
pub enum TableCommand {
    /// Encrypt a table for its owner, into a directory to be sent to a server
    Encrypt(args::EncryptArgs),
    /// Compile a query into a plan for the server (no key required); refuse what cannot be
    /// answered exactly
    Ask(args::AskArgs),
    /// Encrypt the constants that a query refers to as :NAME
    Bind(args::BindArgs),
    /// Run a plan on a table with server keys; the result is encrypted
    Run(Box<args::RunArgs>),
    /// Decrypt a result and print it as CSV, or with --json as rows with their types
    Read(args::ReadArgs),
    /// Insert, update or delete rows of an encrypted table, with the secret key; only the files
    /// that change are written
    Change(args::ChangeArgs),
    /// Decrypt a whole table into a CSV or Parquet file, with the secret key
    Decrypt(args::DecryptArgs),
    /// Show the metadata of an encrypted table, a plan, encrypted constants or a result (no key
    /// required)
    Inspect(args::InspectArgs),
    /// Show what a plan costs, and what the server and the reader learn
    Explain(args::ExplainArgs),
    /// Search for a least or greatest value, a quantile or first rows in rounds, in which the
    /// reader learns counts, and for first rows those up to the last of them
    #[command(subcommand)]
    Search(SearchCommand),
    /// Make schemas, which describe the columns of a table
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Encrypt a table of line items, run a lookup and queries derived from TPC-H, which are not
    /// comparable with published TPC-H results, and compare the answers with those in the clear
    Demo(demo::DemoArgs),
    /// Encrypt a table, run one query, decrypt the answer and compare it with that in the clear,
    /// with all parties on this machine, to see what a query costs: its times are on standard
    /// error if that is a terminal or with --progress, and in what --json prints
    Query(query::QueryArgs),
}

/// Runs a command.
pub fn run(command: &TableCommand, common: &Common) -> Result<(), CliError> {
    match command {
        TableCommand::Encrypt(args) => files::encrypt(args, common),
        TableCommand::Ask(args) => files::ask(args, common),
        TableCommand::Bind(args) => files::bind(args, common),
        TableCommand::Run(args) => answer(args, common),
        TableCommand::Read(args) => files::read(args, common),
        TableCommand::Change(args) => owner::change(args, common),
        TableCommand::Decrypt(args) => owner::decrypt(args, common),
        TableCommand::Inspect(args) => look::inspect(args, common),
        TableCommand::Explain(args) => look::explain(args, common),
        TableCommand::Search(SearchCommand::Start(args)) => search::start(args, common),
        TableCommand::Search(SearchCommand::Next(args)) => search::next(args, common),
        TableCommand::Schema(SchemaCommand::Infer(args)) => look::infer(args, common),
        TableCommand::Demo(args) => demo::run(args, common),
        TableCommand::Query(args) => query::run(args, common),
    }
}

/// Runs `table run`, here or at a service.
fn answer(args: &args::RunArgs, common: &Common) -> Result<(), CliError> {
    #[cfg(feature = "service")]
    if let Some(client) = args.place.client()? {
        return super::remote::elsewhere::answer(&client, args, common);
    }
    run::run(args, common)
}
