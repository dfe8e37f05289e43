//! Chen, Han: Homomorphic lower digits removal and improved FHE bootstrapping (2018).

pub mod formulas;
pub mod recrypt;
mod removal;
pub mod sets;
pub mod tables;

use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;

use crate::args::{ChenHanTable, TableArgs};

/// Runs a table, or some rows of it.
pub fn run(table: ChenHanTable, args: &TableArgs, common: &Common) -> Result<(), CliError> {
    match table {
        ChenHanTable::Table1 | ChenHanTable::Table2 => formulas::run(table, args, common),
        ChenHanTable::Table3 => removal::run(args, common),
        ChenHanTable::Table4 | ChenHanTable::Table5 => recrypt::run(table, args, common),
    }
}
