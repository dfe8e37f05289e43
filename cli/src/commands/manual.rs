//! `everlevel completions` and `everlevel man`: from the arguments themselves.

use std::path::Path;

use crate::commands::examples::command;
use crate::console::errors::CliError;
use crate::console::files::create_directory;
use crate::console::output::emit;

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "everlevel", &mut script);
    emit(String::from_utf8_lossy(&script).trim_end())
}

/// Writes manual pages.
pub fn pages(directory: &Path) -> Result<(), CliError> {
    create_directory(directory)?;
    clap_mangen::generate_to(command(), directory).map_err(|e| {
        CliError::failure(format!("cannot write manual pages to {}: {e}", directory.display()))
    })?;
    emit(&format!("manual pages: {}", directory.display()))
}
