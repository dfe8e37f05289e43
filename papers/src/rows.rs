//! The rows that a table is asked for, and the names of their records.

use everlevel_cli::console::errors::CliError;

use crate::args::TableArgs;

/// The end of a record's name: what was asked for beside the row.
pub fn suffix(args: &TableArgs) -> String {
    let method = args.digit_removal.as_ref().map_or_else(String::new, |name| format!("-{name}"));
    method + if args.quick { "-quick" } else { "" }
}

/// The rows of a table of `count` that `--row` asks for, from 0.
pub fn rows(args: &TableArgs, count: usize) -> Result<Vec<usize>, CliError> {
    match args.row {
        None => Ok((0..count).collect()),
        Some(row) if (1..=count).contains(&row) => Ok(vec![row - 1]),
        Some(row) => Err(CliError::usage(format!("--row {row}: the table has rows 1 to {count}"))),
    }
}
