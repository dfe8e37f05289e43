//! Arguments of `papers all`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `papers all`.
#[derive(Args)]
pub struct AllArgs {
    /// Small rings: minutes (the default)
    #[arg(long)]
    pub quick: bool,
    /// The papers' parameters instead of small rings: hours
    #[arg(long)]
    pub full: bool,
    /// The directory of the report (default: report)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also use the records in this directory, instead of running their jobs; can be repeated
    #[arg(long, value_name = "DIR")]
    pub records: Vec<PathBuf>,
    /// Run only jobs whose names contain this; * stands for anything
    #[arg(long, value_name = "PATTERN")]
    pub only: Option<String>,
    /// Print the jobs, their estimated times and their records, without running them; those of
    /// papers/results count where there is this directory and no --records
    #[arg(long)]
    pub list: bool,
    /// Run no jobs; report on the existing records
    #[arg(long, conflicts_with = "list")]
    pub no_run: bool,
}

/// Whether a name contains a pattern whose stars stand for anything.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = name;
    pattern.split('*').all(|part| {
        let found = rest.find(part);
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        assert!(
            matches("", "a")
                && matches("table-5", "chen-han-table-5-row-1")
                && matches("chen*row-1", "chen-han-table-5-row-1")
        );
        assert!(
            !matches("table-6", "chen-han-table-5-row-1")
                && !matches("row*chen", "chen-han-table-5-row-1")
        );
    }
}
