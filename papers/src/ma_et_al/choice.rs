//! Which sets a table is run for.

use everlevel_cli::console::errors::CliError;

use super::sets::{PaperSet, paper_sets};
use crate::args::TableArgs;
use crate::rows;

/// The sets that are run unless `--set` asks for another one: those at 128 bits for the
/// encapsulated key.
pub fn usual() -> Vec<PaperSet> {
    paper_sets().filter(|set| !set.braced).collect()
}

/// The sets that `--set` or `--row` asks for.
pub fn chosen(args: &TableArgs, usual: Vec<PaperSet>) -> Result<Vec<PaperSet>, CliError> {
    let Some(wanted) = &args.set else {
        return Ok(rows::rows(args, usual.len())?.into_iter().map(|i| usual[i]).collect());
    };
    let name = format!("ma-{}", wanted.trim_start_matches("ma-"));
    let found: Vec<PaperSet> =
        paper_sets().filter(|set| set.name().eq_ignore_ascii_case(&name)).collect();
    if found.is_empty() {
        let known: Vec<String> =
            paper_sets().map(|set| set.name()["ma-".len()..].to_string()).collect();
        return Err(CliError::usage(format!("--set {wanted}: the paper has {}", known.join(", "))));
    }
    Ok(found)
}
