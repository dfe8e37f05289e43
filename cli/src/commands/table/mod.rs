//! `everlevel table`: SQL over encrypted tables.

mod args;
mod ask;
mod constants;
mod demo;
mod files;
mod items;
mod look;
mod owner;
mod query;

use clap::Subcommand;

use crate::console::args::Common;
use crate::console::errors::CliError;
use args::SchemaCommand;

/// What to do with tables.
#[derive(Subcommand)]
pub enum TableCommand {
    /// Encrypt a table for its owner, into a directory that a server gets
    Encrypt(args::EncryptArgs),
    /// Make a plan of a question, which the server gets: no key is needed. What cannot be answered
    /// is refused here
    Ask(args::AskArgs),
    /// Encrypt the constants that a question calls by :NAME, for the server
    Bind(args::BindArgs),
    /// Compute the encrypted sums of a plan, with server keys
    Run(args::RunArgs),
    /// Decrypt a result: comma-separated values, or with --json rows with their types
    Read(args::ReadArgs),
    /// Add rows to an encrypted table, or update or delete some, with the secret key: what is not
    /// touched stays as it is
    Change(args::ChangeArgs),
    /// An encrypted table in the clear again, with the secret key
    Decrypt(args::DecryptArgs),
    /// What an encrypted table, a plan, encrypted constants or a result say of themselves
    Inspect(args::InspectArgs),
    /// What a plan costs, what the server learns of it and what the reader does
    Explain(args::ExplainArgs),
    /// Schemas: what the columns of a table hold
    #[command(subcommand)]
    Schema(SchemaCommand),
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
        TableCommand::Encrypt(args) => files::encrypt(args, common),
        TableCommand::Ask(args) => files::ask(args, common),
        TableCommand::Bind(args) => files::bind(args, common),
        TableCommand::Run(args) => files::run(args, common),
        TableCommand::Read(args) => files::read(args, common),
        TableCommand::Change(args) => owner::change(args, common),
        TableCommand::Decrypt(args) => owner::decrypt(args, common),
        TableCommand::Inspect(args) => look::inspect(args, common),
        TableCommand::Explain(args) => look::explain(args, common),
        TableCommand::Schema(SchemaCommand::Infer(args)) => look::infer(args, common),
        TableCommand::Demo(args) => demo::run(args, common),
        TableCommand::Query(args) => query::run(args, common),
    }
}
