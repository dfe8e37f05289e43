//! Files of measured times, which `bench bootstrap` records and `params datasheet` shows.

use std::collections::BTreeMap;
use std::path::Path;

use everlevel::Measured;

use crate::console::errors::CliError;
use crate::console::files::read_text;

/// The largest file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The times in the file that an option names, by set.
pub fn read(option: &str, path: &Path) -> Result<BTreeMap<String, Measured>, CliError> {
    serde_json::from_str(&read_text(path, MAX_BYTES, option)?).map_err(|e| {
        let shown = path.display();
        CliError::usage(format!("{option} {shown}: not a file of measurements: {e}"))
    })
}
