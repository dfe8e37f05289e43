//! `everlevel table query`.

use std::path::PathBuf;

use clap::Args;
use everlevel::{Client, general_keys};
use everlevel_tables::{Data, Query, Schema};

use super::ask::{ask, encrypted, refused};
use crate::console::args::{Common, SetArg};
use crate::console::errors::CliError;
use crate::console::files::read_text;
use crate::console::output::{emit, emit_json, progress};
use crate::console::params::{find_params, find_planner};

/// The largest table in bytes.
const MAX_TABLE_BYTES: u64 = 1 << 30;
/// The largest schema in bytes.
const MAX_SCHEMA_BYTES: u64 = 1 << 20;

/// Arguments of `table query`.
#[derive(Args)]
pub struct QueryArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// A JSON file that describes the columns
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// The table: a CSV file with the column names in the first line
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The query: select sums, counts and averages from a table, with where, group by, order by and
    /// limit
    #[arg(value_name = "SQL")]
    pub question: String,
}

/// Runs the command.
pub fn run(args: &QueryArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.set.params, common)?;
    let schema = read_text(&args.schema, MAX_SCHEMA_BYTES, "the schema")?;
    let schema = Schema::from_json(&schema).map_err(refused)?;
    let text = read_text(&args.input, MAX_TABLE_BYTES, "the table")?;
    let data = Data::from_csv(text.as_bytes(), &schema).map_err(refused)?;
    // What cannot be answered is refused before keys are made.
    Query::parse(&args.question, &schema).map_err(refused)?;
    let planner = find_planner(&params, None)?;
    let plan = general_keys(&params)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let client = Client::new(&params, &mut rng);
    let bar = progress(common, "making keys", (plan.len() + 1) as u64);
    let server = client.server_for(&plan, planner.bootstrap_plan(), &mut rng, |done, _| {
        bar.set_position(done as u64)
    })?;
    bar.finish_and_clear();
    let blocks = encrypted(&client, &schema, &data)?;
    let asked = ask((&client, &server), (&schema, &data), &blocks, &args.question)?;
    if !asked.exact {
        return Err(CliError::failure("the answer is wrong: please report this"));
    }
    if common.json {
        let cells = |row: &Vec<everlevel_tables::Cell>| {
            row.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "rows": data.rows(),
            "names": asked.answer.names,
            "answer": asked.answer.rows.iter().map(cells).collect::<Vec<_>>(),
            "exact": asked.exact,
            "seconds": asked.seconds,
            "refreshes": asked.refreshes,
        }));
    }
    emit(asked.answer.to_csv().map_err(refused)?.trim_end())
}
