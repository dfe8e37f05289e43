//! Arguments that say what server keys are for.

use std::path::PathBuf;

use clap::Args;

/// What server keys are for.
#[derive(Args, Clone, Default)]
pub struct PurposeArgs {
    /// Only the server keys of this program (see `eval`), instead of general keys for products,
    /// bootstrapping and any rotation
    #[arg(long, value_name = "PROGRAM", conflicts_with = "table_plans")]
    pub program: Option<String>,
    /// With --program: the types of the columns that it reads, as for `encrypt`; the keys are those
    /// that `plan` counts for columns of --rows rows
    #[arg(long, value_name = "NAME=TYPE,..", requires_all = ["program", "rows"], group = "of_rows")]
    pub types: Option<String>,
    /// With --types: a table of integers, as for `eval`
    #[arg(long = "lookup", value_name = "NAME=FILE", requires = "types")]
    pub tables: Vec<String>,
    /// With --types: the column of this name is encrypted with an index; can be repeated
    #[arg(long = "index", value_name = "COLUMN", requires = "types")]
    pub indexes: Vec<String>,
    /// With --types: columns are encrypted at these levels, others at the top; the keys need not
    /// suffice for columns at other levels
    #[arg(long, value_name = "NAME=LEVEL,..", requires = "types")]
    pub levels: Option<String>,
    /// Only the server keys of this query, a plan as written by `table ask`, for a table of
    /// --rows rows; can be repeated
    #[arg(long = "plan", value_name = "FILE", requires = "rows", group = "of_rows")]
    pub table_plans: Vec<PathBuf>,
    /// With --plan or --types: fewer keys for products, which take fewer bytes; answers are the
    /// same, and relinearizations take up to 1.6 times as many transforms. Where that would save
    /// less than a tenth, or the work could not be computed with them, keys stay as they are
    #[arg(long, requires = "of_rows")]
    pub small_keys: bool,
    /// With --plan or --types: the number of rows
    #[arg(
        long,
        value_name = "N",
        requires = "of_rows",
        value_parser = clap::value_parser!(u64).range(1..1 << 40)
    )]
    pub rows: Option<u64>,
}
