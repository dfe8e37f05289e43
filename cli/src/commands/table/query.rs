//! `everlevel table query`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use everlevel_tables::Plan;

use super::args::{OrderArg, PartnersArg};
use super::ask::{ask, encrypted, refused, tell};
use super::constants::values;
use super::files::{read_data, read_schema};
use crate::commands::parties::parties;
use crate::console::args::{Common, SetArg};
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, remark, shows_progress};
use crate::console::params::find_params;

/// Arguments of `table query`.
#[derive(Args)]
pub struct QueryArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The schema, which describes the columns: a JSON file such as `table schema infer` writes
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// The table: a CSV file with the column names in the first line
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// Tables of foreign keys.
    #[command(flatten)]
    pub with: PartnersArg,
    /// The query: select rows, or aggregates such as sums, counts and averages, from a table,
    /// with where, group by, order by and limit
    #[arg(value_name = "SQL")]
    pub query: String,
    /// A constant that the query refers to as :NAME, to be encrypted; can be repeated
    #[arg(long = "constant", value_name = "NAME=VALUE")]
    pub constants: Vec<String>,
    /// Who orders rows.
    #[command(flatten)]
    pub order: OrderArg,
}

/// Runs the command.
pub fn run(args: &QueryArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.set.params, common)?;
    let schema = read_schema(&args.schema)?;
    let data = read_data(&args.input, &schema, &args.with)?;
    // What cannot be answered is refused before keys are made.
    let plan = Plan::ordered(&args.query, &schema, args.order.party()).map_err(refused)?;
    let constants = values(&args.constants, None)?;
    plan.codes(&constants).map_err(refused)?;
    plan.check_rows(&params, data.rows()).map_err(refused)?;
    tell(plan.notes());
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let started = Instant::now();
    let (client, server) = parties(&params, &mut rng, common)?;
    let keys = started.elapsed().as_secs_f64();
    let table = encrypted(&client, &schema, &data, common)?;
    let encryption = started.elapsed().as_secs_f64() - keys;
    let asked = ask((&client, &server), (&table, &data), &plan, &constants, common)?;
    if !asked.exact {
        return Err(CliError::failure("the answer is wrong: please report this"));
    }
    if shows_progress(common) {
        let query = asked.seconds;
        remark(format_args!("keys {keys:.1} s, encryption {encryption:.1} s, query {query:.1} s"));
    }
    if common.json {
        let answer = asked.answer.to_json(&plan.query().output_types(&schema));
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "rows": data.rows(),
            "names": answer["names"],
            "types": answer["types"],
            "answer": answer["rows"],
            "exact": asked.exact,
            "seconds": asked.seconds,
            "refreshes": asked.refreshes,
            "notes": plan.notes(),
        }));
    }
    // Blanks at the end of a text are its own.
    emit(asked.answer.to_csv().map_err(refused)?.trim_end_matches('\n'))
}
