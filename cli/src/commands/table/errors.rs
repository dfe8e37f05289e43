//! Errors with the file or directory that they are about.

use std::path::Path;

use everlevel::Error;
use everlevel_tables::TablesError;

use super::ask::refused;
use crate::console::errors::CliError;
use crate::console::files::{of_file, of_output};
use crate::console::params::refused_set;

/// An error with the file or directory that it is about.
pub fn of(path: &Path) -> impl Fn(TablesError) -> CliError + '_ {
    move |e| match e {
        TablesError::Roles(Error::Wire(e)) => of_file(path)(e),
        TablesError::Roles(Error::Scheme(e)) if e.code() == "scheme.insecure" => refused_set(e),
        TablesError::Roles(e) => {
            let code = e.code();
            CliError::usage(format!("{}: {e}", path.display())).with_code(code)
        }
        e => {
            let code = e.code();
            let way = match &e {
                TablesError::Keys { rows } => format!(
                    "; `everlevel keys server --plan FILE --rows {rows}` makes the former, and \
                     without `--plan` the latter"
                ),
                _ => String::new(),
            };
            CliError::usage(format!("{}: {e}{way}", path.display())).with_code(code)
        }
    }
}

/// What the system refuses to write is told as for other files.
pub fn of_written(path: &Path) -> impl Fn(TablesError) -> CliError + '_ {
    move |e| match e {
        TablesError::Roles(Error::Wire(e)) => of_output(path)(e),
        e => refused(e),
    }
}
