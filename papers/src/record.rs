//! What every recorded run says of its circumstances, and where it is put.

use std::path::Path;

use everlevel_cli::console::errors::CliError;
use serde::Serialize;

/// Makes the directory of the records, if it is not there.
pub fn make_directory(directory: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(directory).map_err(|e| {
        CliError::usage(format!("--out {}: cannot make this directory: {e}", directory.display()))
    })
}

/// Writes a record as JSON, whole or not at all.
pub fn write(directory: &Path, name: &str, record: &impl Serialize) -> Result<(), CliError> {
    let target = directory.join(format!("{name}.json"));
    let failed =
        |e: std::io::Error| CliError::failure(format!("cannot write {}: {e}", target.display()));
    let mut text = serde_json::to_string_pretty(record).map_err(CliError::failure)?;
    text.push('\n');
    let partial = directory.join(format!(".{name}.json.partial"));
    std::fs::write(&partial, text).map_err(failed)?;
    std::fs::rename(&partial, &target).map_err(failed)
}
