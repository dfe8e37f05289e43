//! Arguments of the parties that exchange files of tables.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use everlevel_tables::{OrderedBy, TableId};

#[cfg(feature = "service")]
use crate::commands::remote::access::RemoteJobArgs;
use crate::commands::roles::args::{KeyMemoryArg, OutArg, SetOfFile};
use crate::console::args::SetArg;
use crate::console::device::DeviceArg;

/// Tables that a schema has foreign keys to.
#[derive(Args)]
pub struct PartnersArg {
    /// A table that the schema has a foreign key to, as NAME=FILE: its columns are added to each
    /// row; can be repeated (default: the table has these columns itself)
    #[arg(long = "with", value_name = "NAME=FILE")]
    pub partners: Vec<String>,
}

/// A party that puts rows in order.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Orderer {
    /// The holder of the secret key, who learns all rows that meet the condition
    Reader,
    /// The server, which has to bootstrap, so that the reader learns the answer alone
    Server,
}

/// Who puts rows in order.
#[derive(Args)]
pub struct OrderArg {
    /// The party that puts rows in order for min, max, median and order by … limit
    #[arg(long, value_name = "reader|server", value_enum, default_value = "reader")]
    pub ordered_by: Orderer,
}

impl OrderArg {
    /// As plans state it.
    pub fn party(&self) -> OrderedBy {
        match self.ordered_by {
            Orderer::Reader => OrderedBy::Reader,
            Orderer::Server => OrderedBy::Server,
        }
    }
}

/// Arguments of `table encrypt`.
#[derive(Args)]
pub struct EncryptArgs {
    /// The schema, which describes the columns: a JSON file such as `table schema infer` writes
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// The table: a CSV file with the column names in the first line, or - for standard input; a
    /// Parquet file, called .parquet or .pq, if the program was built with the feature parquet
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// Tables of foreign keys.
    #[command(flatten)]
    pub with: PartnersArg,
    /// The public key, or the secret key for ciphertexts of half the size
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The directory to write, with schema.json for the asker
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace an existing encrypted table
    #[arg(long)]
    pub force: bool,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `table ask`.
#[derive(Args)]
pub struct AskArgs {
    /// The schema of the table: schema.json in the directory of an encrypted table
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// The query: select rows, or aggregates such as sums, counts and averages, from a table,
    /// with where, group by, order by and limit. Write :NAME for a constant that the server must
    /// not see, and encrypt it with `table bind`
    #[arg(value_name = "SQL")]
    pub query: String,
    /// Who orders rows.
    #[command(flatten)]
    pub order: OrderArg,
    /// The plan.
    #[command(flatten)]
    pub out: OutArg,
}

/// Arguments of `table bind`.
#[derive(Args)]
pub struct BindArgs {
    /// The plan
    #[arg(long = "plan", value_name = "FILE")]
    pub input: PathBuf,
    /// The public key or the secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The constants, written like the values of the columns that they are compared with
    #[arg(value_name = "NAME=VALUE")]
    pub values: Vec<String>,
    /// More constants, from a JSON file such as {"lo": "0.05"}: other users of this machine can see
    /// arguments, but not the contents of a private file
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// The encrypted constants.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// A table that a server has.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct TableOfServer {
    /// The directory of the encrypted table
    #[arg(long, value_name = "DIR")]
    pub table: Option<PathBuf>,
    /// A table that the server may read, instead of an encrypted one: a CSV file with the column
    /// names in the first line; the encrypted constants of the query stay hidden
    #[arg(long, value_name = "FILE")]
    pub plain: Option<PathBuf>,
}

/// Arguments of `table run`.
#[derive(Args)]
pub struct RunArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableOfServer,
    /// The server keys
    #[arg(long, value_name = "FILE")]
    pub server_keys: PathBuf,
    /// The plan
    #[arg(long = "plan", value_name = "FILE")]
    pub input: PathBuf,
    /// With --plain: the published schema; plans for another schema are refused (default: plans may
    /// ask for any column)
    #[arg(long, value_name = "FILE", requires = "plain")]
    pub schema: Option<PathBuf>,
    /// With --plain: tables of foreign keys.
    #[command(flatten)]
    pub with: PartnersArg,
    /// The encrypted constants of the plan, if it has any, as written by `table bind`
    #[arg(long, value_name = "FILE")]
    pub constants: Option<PathBuf>,
    /// The memory for keys.
    #[command(flatten)]
    pub memory: KeyMemoryArg,
    /// What computes.
    #[command(flatten)]
    pub on: DeviceArg,
    /// The result.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
    /// The service.
    #[cfg(feature = "service")]
    #[command(flatten)]
    pub place: RemoteJobArgs,
}

/// The format of an answer.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// Comma-separated values
    Csv,
    /// The object that --json prints
    Json,
    /// A Parquet file, if the program was built with the feature parquet
    Parquet,
}

/// Arguments of `table read`.
#[derive(Args)]
pub struct ReadArgs {
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The result
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The plan of the query: results of other plans are refused
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// The id of the table, as `table encrypt` and `table inspect` print it: results of other
    /// tables are refused
    #[arg(long, value_name = "ID", value_parser = table_id)]
    pub table_id: Option<TableId>,
    /// The encrypted constants that were sent: results for other constants are refused
    #[arg(long, value_name = "FILE")]
    pub constants: Option<PathBuf>,
    /// The file for the answer, or - for standard output (default: CSV to standard output)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The format of --out (default: what its name ends in, .json, .parquet or .pq, else csv)
    #[arg(long, value_enum)]
    pub format: Option<AnswerFormat>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

fn table_id(text: &str) -> Result<TableId, String> {
    text.parse().map_err(|e: everlevel_tables::TablesError| e.to_string())
}

/// What `table change` does.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct EditArgs {
    /// `update t set COLUMN = VALUE, … where …` or `delete from t where …`; t may be a table that
    /// the schema has a foreign key to: all rows that carry its columns are changed
    #[arg(value_name = "SQL")]
    pub sql: Option<String>,
    /// A CSV file of rows to append, with the column names in the first line
    #[arg(long, value_name = "FILE")]
    pub insert: Option<PathBuf>,
}

/// Arguments of `table change`.
#[derive(Args)]
pub struct ChangeArgs {
    /// The directory of the encrypted table, which is changed completely or not at all
    #[arg(long, value_name = "DIR")]
    pub table: PathBuf,
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The change.
    #[command(flatten)]
    pub edit: EditArgs,
    /// With --insert: tables of foreign keys.
    #[command(flatten)]
    pub with: PartnersArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `table decrypt`.
#[derive(Args)]
pub struct DecryptArgs {
    /// The directory of the encrypted table
    #[arg(long, value_name = "DIR")]
    pub table: PathBuf,
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The table in the clear.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `table inspect`.
#[derive(Args)]
pub struct InspectArgs {
    /// An encrypted table, a plan, encrypted constants or a result
    #[arg(value_name = "DIR|FILE")]
    pub path: PathBuf,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `table explain`.
#[derive(Args)]
pub struct ExplainArgs {
    /// The plan
    #[arg(long, value_name = "FILE")]
    pub plan: PathBuf,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The number of rows of the table (default: one block, the number of slots)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub rows: Option<u64>,
}

/// Commands below `table search`.
#[derive(Subcommand)]
pub enum SearchCommand {
    /// Begin a search: write the plans of all rounds, and what is searched for, into a directory
    Start(SearchStartArgs),
    /// Read the results that are in the directory, and encrypt the constants of the next round, or
    /// print the value or the rows
    Next(SearchNextArgs),
}

/// Arguments of `table search start`.
#[derive(Args)]
pub struct SearchStartArgs {
    /// The schema of the table: schema.json in the directory of an encrypted table
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// The query: select min(COLUMN), max(COLUMN), median(COLUMN) or quantile_cont(COLUMN, Q) from
    /// a table, with where; or columns, with where and order by COLUMN limit N
    #[arg(value_name = "SQL")]
    pub query: String,
    /// The constants that the query refers to as :NAME, encrypted anew for each round
    #[arg(value_name = "NAME=VALUE")]
    pub values: Vec<String>,
    /// More constants, from a JSON file such as {"lo": "0.05"}: other users of this machine can see
    /// arguments, but not the contents of a private file
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Into how many parts a round divides the values that are left, 2 to 32: two take the fewest
    /// comparisons, more take fewer rounds
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = clap::value_parser!(u8).range(2..=32)
    )]
    pub parts: u8,
    /// The directory to write, which only the holder of the secret key reads
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Arguments of `table search next`.
#[derive(Args)]
pub struct SearchNextArgs {
    /// The directory of the search
    #[arg(value_name = "DIR")]
    pub search: PathBuf,
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The id of the table, as `table encrypt` and `table inspect` print it: results of other
    /// tables are refused
    #[arg(long, value_name = "ID", value_parser = table_id)]
    pub table_id: Option<TableId>,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Commands below `table schema`.
#[derive(Subcommand)]
pub enum SchemaCommand {
    /// Infer a schema from a table; review it, since all of it is public
    Infer(InferArgs),
}

/// Arguments of `table schema infer`.
#[derive(Args)]
pub struct InferArgs {
    /// The table: a CSV file with the column names in the first line, or - for standard input; a
    /// Parquet file, called .parquet or .pq, if the program was built with the feature parquet
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// A column that is often asked about, which gets an index: the table takes more space, and
    /// conditions on the column take fewer products; can be repeated
    #[arg(long, value_name = "COLUMN")]
    pub index: Vec<String>,
    /// The schema.
    #[command(flatten)]
    pub out: OutArg,
}
