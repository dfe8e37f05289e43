//! What `encrypt` does with its files beside writing them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::console::errors::CliError;

/// The ids of what was sent to a service, by the paths of the files.
pub type Sent = BTreeMap<String, String>;

/// Sends the files that were written; none if nothing is to be sent.
pub type Send<'a> = &'a dyn Fn(&[&Path]) -> Result<Option<Sent>, CliError>;

/// What was sent, as lines.
pub fn lines(sent: Option<Sent>) -> impl Iterator<Item = String> {
    sent.into_iter().flatten().map(|(path, id)| format!("{id}  {path}"))
}
