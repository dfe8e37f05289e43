//! `everlevel table demo`.

use std::time::Instant;

use clap::Args;
use everlevel::failure_log2;
use everlevel_tables::Plan;
use serde::Serialize;

use super::ask::{ask, encrypted, refused};
use super::items::{self, Question};
use crate::commands::parties::parties;
use crate::console::args::{Common, SetArg};
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, progress, threads};
use crate::console::params::find_params;

/// Arguments of `table demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The number of line items (default: the number of slots)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub rows: Option<u32>,
    /// Run only this query: Q1, Q6, Q12, Q14 or lookup; can be repeated
    #[arg(long = "only", value_name = "NAME")]
    pub only: Vec<String>,
    /// Also encrypt the constants with which the conditions of the queries compare columns
    #[arg(long)]
    pub encrypted_constants: bool,
    /// Encrypt the table without indexes, which decide most conditions with fewer products
    #[arg(long)]
    pub without_indexes: bool,
}

#[derive(Serialize)]
struct Report {
    note: &'static str,
    queries: Vec<QueryReport>,
    security_bits: f64,
    failure_log2: f64,
    seconds_total: f64,
}

#[derive(Serialize)]
struct QueryReport {
    name: &'static str,
    description: &'static str,
    rows: usize,
    seconds: f64,
    exact: bool,
    constants: &'static str,
    refreshes: usize,
}

/// Runs the demonstration.
pub fn run(args: &DemoArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    let known = |name: &str| items::QUERIES.iter().any(|q| q.name.eq_ignore_ascii_case(name));
    if let Some(name) = args.only.iter().find(|name| !known(name)) {
        let names = items::QUERIES.map(|q| q.name).join(", ");
        return Err(CliError::usage(format!("no query is named {name}: expected {names}")));
    }
    let params = find_params(&args.set.params, common)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let (client, server) = parties(&params, &mut rng, common)?;

    let rows = args.rows.map_or(params.slots(), |rows| rows as usize);
    let schema = items::schema(!args.without_indexes)?;
    let data = items::data(&schema, rows)?;
    let table = encrypted(&client, &schema, &data, common)?;
    let bar = progress(common, "asking", items::QUERIES.len() as u64);
    let (mut queries, mut shown) = (Vec::new(), Vec::new());
    for Question { name, description, sql } in items::QUERIES {
        let (sql, constants) = match args.encrypted_constants {
            true => items::encrypted(sql),
            false => (sql.to_string(), Vec::new()),
        };
        let wanted = |only: &String| only.eq_ignore_ascii_case(name);
        if args.only.is_empty() || args.only.iter().any(wanted) {
            let asked = {
                let plan = Plan::new(&sql, &schema).map_err(refused)?;
                ask((&client, &server), (&table, &data), &plan, &constants, common)?
            };
            let (seconds, exact, refreshes) = (asked.seconds, asked.exact, asked.refreshes);
            shown.push(format!(
                "{name}, {description}, {seconds:.2} s, {refreshes} refreshes:\n{}",
                asked.answer.to_csv().map_err(refused)?
            ));
            let constants = if args.encrypted_constants { "encrypted" } else { "public" };
            queries.push(QueryReport {
                name,
                description,
                rows,
                seconds,
                exact,
                constants,
                refreshes,
            });
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let wrong: Vec<_> = queries.iter().filter(|q| !q.exact).map(|q| q.name).collect();
    let report = Report {
        note: items::NOTE,
        security_bits: params.security().bits(),
        failure_log2: failure_log2(&params, &server.evaluator().cost()),
        seconds_total: started.elapsed().as_secs_f64(),
        queries,
    };
    if common.json {
        emit_json(&report)?;
    } else {
        emit(&format!(
            "{}\n{}: {rows} line items, {:.1} bits of security, {:.1} s in all on {} threads; {}",
            shown.join("\n"),
            params.name(),
            report.security_bits,
            report.seconds_total,
            threads(),
            report.note
        ))?;
    }
    if !wrong.is_empty() {
        let names = wrong.join(", ");
        return Err(CliError::failure(format!("{names}: a wrong answer; please report this")));
    }
    Ok(())
}
