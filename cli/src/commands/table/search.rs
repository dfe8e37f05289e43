//! `everlevel table search`: a least or greatest value, a quantile or first rows in rounds, whose
//! state is a directory of the asker.

use std::path::Path;

use everlevel_tables::{Answer, Constants, Schema, Search, TableId, TableKey};
use everlevel_wire::file::{Existing, write_file, write_secret_file};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::args::{SearchNextArgs, SearchStartArgs};
use super::ask::{refused, tell};
use super::constants::values;
use super::errors::of;
use super::files::{read_constants, read_result, read_schema};
use crate::commands::roles::files::secret_key;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_free, create_directory, of_output, read_text};
use crate::console::output::{emit, emit_json};
use crate::console::params::tell_failures;

/// What is searched for, which is not for the server.
const STATE_FILE: &str = "search.json";
/// The plan of the rounds that count, and that of the round that lists rows, if there is one.
const PLAN_FILES: [&str; 2] = ["rounds.plan", "rows.plan"];
/// The largest state, in bytes: a schema, a query, and the constants of all rounds.
const MAX_STATE_BYTES: u64 = 16 << 20;

/// Names and texts of constants.
type Values = Vec<(String, String)>;

/// What a search keeps between its rounds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    query: String,
    schema: Schema,
    parts: usize,
    /// Those that the query itself has.
    constants: Values,
    /// All of each round so far, those of the query included.
    sent: Vec<Values>,
}

impl State {
    fn read(directory: &Path) -> Result<Self, CliError> {
        let path = directory.join(STATE_FILE);
        let text = zeroize::Zeroizing::new(read_text(&path, MAX_STATE_BYTES, "the search")?);
        let wrong = |e: serde_json::Error| {
            CliError::usage(format!("{}: this is no search: {e}", path.display()))
        };
        serde_json::from_str(&text).map_err(wrong)
    }

    fn write(&self, directory: &Path) -> Result<(), CliError> {
        let path = directory.join(STATE_FILE);
        let text = zeroize::Zeroizing::new(serde_json::to_string(self).map_err(CliError::failure)?);
        write_secret_file(&path, text.as_bytes(), Existing::Replace).map_err(of_output(&path))
    }

    fn search(&self) -> Result<Search, CliError> {
        Search::new(&self.query, &self.schema, self.parts).map_err(refused)
    }

    /// The constants of the query and of a round.
    fn with(&self, of_round: &[(String, String)]) -> Values {
        [&self.constants[..], of_round].concat()
    }
}

/// Runs `table search start`.
pub fn start(args: &SearchStartArgs, common: &Common) -> Result<(), CliError> {
    let out = &args.out;
    check_free(out, false)?;
    let constants = values(&args.values, args.from.as_deref())?;
    let (query, schema) = (args.query.clone(), read_schema(&args.schema)?);
    let state = State { query, schema, parts: args.parts.into(), constants, sent: Vec::new() };
    let search = state.search()?;
    let (plan, first) = (search.plan(), search.constants().unwrap_or_default());
    plan.codes(&state.with(&first)).map_err(refused)?;
    create_directory(out)?;
    for (name, plan) in PLAN_FILES.iter().zip(search.plans()) {
        let path = out.join(name);
        let text = plan.to_json().map_err(refused)? + "\n";
        write_file(&path, text.as_bytes(), Existing::Keep).map_err(of_output(&path))?;
    }
    state.write(out)?;
    let (id, rounds) = (plan.id().map_err(refused)?, search.rounds());
    tell(plan.notes());
    if common.json {
        return emit_json(
            &json!({ "plan": id, "rounds": rounds, "out": out.display().to_string() }),
        );
    }
    emit(&format!("plan {id}: {rounds} rounds: {}", out.display()))
}

/// Runs `table search next`.
pub fn next(args: &SearchNextArgs, common: &Common) -> Result<(), CliError> {
    let directory = &args.search;
    let mut state = State::read(directory)?;
    let mut search = state.search()?;
    let key = secret_key(&args.key, &args.set, common)?;
    tell_failures(key.params());
    let mut table = args.table_id;
    for round in 1.. {
        let Some(given) = search.constants() else { break };
        let all = state.with(&given);
        let constants = directory.join(format!("{round}.constants"));
        let result = directory.join(format!("{round}.result"));
        match state.sent.get(round - 1) {
            None => {
                let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
                let made =
                    Constants::encrypt(TableKey::Secret(&key), search.plan(), &all, &mut rng);
                let made = made.map_err(refused)?;
                // What an interrupted run left is of no use.
                write_file(&constants, made.as_bytes(), Existing::Replace)
                    .map_err(of_output(&constants))?;
                state.sent.push(all);
                state.write(directory)?;
            }
            Some(sent) if *sent == all => {}
            Some(_) => {
                let told = format!(
                    "{}: it was made for other constants, or for other results of the rounds \
                     before: start the search again",
                    constants.display()
                );
                return Err(CliError::usage(told).with_code("table.result"));
            }
        }
        let sent = read_constants(&constants)?;
        if !result.exists() {
            let paths = [directory, &constants, &result].map(|path| path.as_path());
            return asked(&search, round, &sent, paths, common);
        }
        let found = read_result(&result)?;
        let check = found.check(Some(search.plan()), table, Some(sent.id()));
        check.map_err(of(&result))?;
        // All rounds are about one table, as it was.
        table = Some(found.table());
        let answer = found.read(&key).map_err(of(&result))?;
        search.learn(&answer).map_err(of(&result))?;
    }
    let answer = search.answer().map_err(refused)?;
    let answer = answer.ok_or_else(|| CliError::failure("a search that does not end"))?;
    found(&answer, &search, (state.query.as_str(), table), common)
}

/// Tells what a server has to be asked.
fn asked(
    search: &Search,
    round: usize,
    sent: &Constants,
    [directory, constants, result]: [&Path; 3],
    common: &Common,
) -> Result<(), CliError> {
    let rounds = search.rounds();
    let place = search.plans().iter().position(|plan| plan == search.plan());
    let plan = directory.join(PLAN_FILES[place.unwrap_or(0)]);
    if common.json {
        return emit_json(&json!({
            "plan": search.plan().id().map_err(refused)?,
            "plan_file": plan.display().to_string(),
            "constants": sent.id().to_string(),
            "round": round,
            "rounds": rounds,
            "bytes": sent.as_bytes().len(),
            "out": constants.display().to_string(),
        }));
    }
    emit(&format!(
        "round {round} of {rounds}: run the plan {} with the constants {}, and put the result into \
         {}",
        plan.display(),
        constants.display(),
        result.display()
    ))
}

/// Prints what was searched for.
fn found(
    answer: &Answer,
    search: &Search,
    (query, table): (&str, Option<TableId>),
    common: &Common,
) -> Result<(), CliError> {
    if common.json {
        let mut told = answer.to_json(&search.output_types());
        told["query"] = query.into();
        told["table"] = table.map(|id| id.to_string()).into();
        return emit_json(&told);
    }
    emit(answer.to_csv().map_err(refused)?.trim_end_matches('\n'))
}
