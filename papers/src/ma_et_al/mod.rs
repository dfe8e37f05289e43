//! Ma, Huang, Wang, Wang: Accelerating BGV bootstrapping for large p using null polynomials over
//! Z/p^e (2024).

pub mod choice;
mod degrees;
mod general;
mod keys;
mod parameters;
pub mod results;
pub mod sets;
pub mod tables;

use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;

use crate::args::{MaEtAlTable, TableArgs};

/// Runs a table, or some rows of it.
pub fn run(table: MaEtAlTable, args: &TableArgs, common: &Common) -> Result<(), CliError> {
    match table {
        MaEtAlTable::Degrees => degrees::run(args, common),
        MaEtAlTable::Table4 => parameters::table_4(args, common),
        MaEtAlTable::Table6 | MaEtAlTable::Thin => general::bootstrappings(table, args, common),
    }
}
