//! What can be said of tables, plans and results without any key, and schemas from data.

use everlevel_tables::{Constants, Field, Plan, Schema, TableResult};
use everlevel_wire::ObjectKind;
use everlevel_wire::file::write_file;
use serde_json::json;

use super::args::{ExplainArgs, InferArgs, InspectArgs};
use super::ask::refused;
use super::files::{MAX_TABLE_BYTES, of, open_table, read_constants, read_plan, read_result};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_free, existing, of_output, read_bytes};
use crate::console::output::{emit, emit_json};
use crate::console::params::find_params;

/// Runs `table inspect`.
pub fn inspect(args: &InspectArgs, common: &Common) -> Result<(), CliError> {
    // Files are looked at, not used: sets below 128 bits need no opt-in.
    let common = &Common { insecure_research: true, allow_failures: true, ..common.clone() };
    let path = &args.path;
    if path.is_dir() {
        return of_table(args, common);
    }
    // Results and constants are objects of the format, plans are text.
    if let Ok(found) = everlevel_wire::inspect_file(path) {
        if found.kind == ObjectKind::COLUMNS {
            return of_constants(&read_constants(path)?, common);
        }
        return of_result(&read_result(path)?, common);
    }
    of_plan(&read_plan(path)?, common)
}

fn columns(schema: &Schema) -> Vec<String> {
    let line = |f: &Field| format!("column {}: {}", f.name(), f.expected());
    schema.fields().iter().map(line).collect()
}

fn of_table(args: &InspectArgs, common: &Common) -> Result<(), CliError> {
    let table = open_table(&args.path, None, &args.set, common)?;
    let bytes = table.bytes().map_err(of(&args.path))?;
    let owner = table.owner().map(|id| format!("{id:#}"));
    if common.json {
        return emit_json(&json!({
            "what": "table",
            "table": table.id().to_string(),
            "params": table.params().name(),
            "key_id": owner,
            "rows": table.rows(),
            "blocks": table.blocks(),
            "bytes": bytes,
            "schema": table.schema(),
        }));
    }
    let mut lines = vec![
        format!("encrypted table {}", table.id()),
        format!("{} rows in {} blocks, {bytes} bytes", table.rows(), table.blocks()),
        format!("parameter set {}", table.params().name()),
    ];
    lines.extend(owner.map(|id| format!("of secret key {id}")));
    lines.extend(columns(table.schema()));
    emit(&lines.join("\n"))
}

fn of_result(result: &TableResult, common: &Common) -> Result<(), CliError> {
    let owner = result.owner().map(|id| format!("{id:#}"));
    if common.json {
        return emit_json(&json!({
            "what": "result",
            "table": result.table().to_string(),
            "key_id": owner,
            "rows": result.rows(),
            "bytes": result.as_bytes().len(),
            "query": result.plan().question(),
            "schema": result.plan().schema(),
        }));
    }
    let mut lines = vec![
        format!("result of table {}", result.table()),
        format!("of {} rows, {} bytes", result.rows(), result.as_bytes().len()),
        format!("question: {}", clean(result.plan().question())),
    ];
    lines.extend(owner.map(|id| format!("of secret key {id}")));
    emit(&lines.join("\n"))
}

fn of_constants(constants: &Constants, common: &Common) -> Result<(), CliError> {
    let (id, bytes) = (constants.id().to_string(), constants.as_bytes().len());
    let owner = constants.owner().map(|id| format!("{id:#}"));
    if common.json {
        return emit_json(&json!({
            "what": "constants",
            "constants": id,
            "plan": constants.plan(),
            "key_id": owner,
            "bytes": bytes,
        }));
    }
    let mut lines = vec![
        format!("encrypted constants {id}"),
        format!("for plan {}, {bytes} bytes", clean(constants.plan())),
    ];
    lines.extend(owner.map(|id| format!("of secret key {id}")));
    emit(&lines.join("\n"))
}

fn of_plan(plan: &Plan, common: &Common) -> Result<(), CliError> {
    if common.json {
        return emit_json(&json!({
            "what": "plan",
            "plan": plan.id().map_err(refused)?,
            "query": plan.question(),
            "schema": plan.schema(),
        }));
    }
    let mut lines = vec![
        format!("plan {}", plan.id().map_err(refused)?),
        format!("question: {}", clean(plan.question())),
    ];
    lines.extend(columns(plan.schema()));
    emit(&lines.join("\n"))
}

/// A question is anybody's.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Runs `table explain`.
pub fn explain(args: &ExplainArgs, common: &Common) -> Result<(), CliError> {
    let path = args.plan.as_path();
    let plan = read_plan(path)?;
    let params = find_params(&args.set.params, common)?;
    let (schema, query) = (plan.schema(), plan.query());
    let rows = args.rows.unwrap_or(params.slots() as u64);
    let blocks = rows.div_ceil(params.slots() as u64);
    let cost = plan.cost(&params, rows as usize).map_err(of(path))?;
    let name = |place: usize| schema.fields()[place].name();
    let places = query.columns().into_iter().filter(|place| *place < schema.fields().len());
    let read: Vec<&str> = places.map(name).collect();
    let (groups, sums) = (query.group_codes(schema).len(), query.aggregates.len());
    let encrypted: Vec<_> = query.parameters.iter().map(|p| (&p.name, name(p.column))).collect();
    if common.json {
        return emit_json(&json!({
            "query": plan.question(),
            "params": params.name(),
            "rows": rows,
            "blocks": blocks,
            "columns_read": read,
            "encrypted_constants": encrypted,
            "groups": groups,
            "sums": sums,
            "rows_listed": query.listed.is_some(),
            "cost": cost,
        }));
    }
    let learned = match &query.listed {
        Some(columns) => {
            let names: Vec<&str> = columns.iter().map(|place| name(*place)).collect();
            let of =
                if names.is_empty() { "".into() } else { format!(", with {}", names.join(", ")) };
            format!("the rows that are meant{of}, and their places in the table")
        }
        None => format!(
            "for each of {groups} groups {sums} sums, made of {} sums over all rows that are meant",
            cost.sums
        ),
    };
    emit(&format!(
        "question: {}\nthe server learns: the question with its constants{}, the schema with its \
         bounds and categories, that there are {rows} rows, when it was asked; of the data \
         nothing, not even how many rows are meant: it does the same for all data\nit reads the \
         columns: {}\nthe reader learns: {}\n{}: {blocks} blocks of {} rows\n{} ciphertexts read, \
         {} products, {} key switches, {} refreshes, about {:.1} s on one core by a model\n{} \
         ciphertexts of result",
        clean(plan.question()),
        if encrypted.is_empty() { "" } else { ", but for those that are encrypted" },
        if read.is_empty() { "none but for the number of rows".into() } else { read.join(", ") },
        learned,
        params.name(),
        params.slots(),
        cost.ciphertexts,
        cost.products,
        cost.key_switches,
        cost.refreshes,
        cost.seconds,
        cost.result_ciphertexts,
    ))
}

/// Runs `table schema infer`.
pub fn infer(args: &InferArgs, common: &Common) -> Result<(), CliError> {
    let out = &args.out.out;
    check_free(out, args.out.force)?;
    check_apart(out, [&args.input])?;
    let bytes = zeroize::Zeroizing::new(read_bytes(&args.input, MAX_TABLE_BYTES, "the table")?);
    let (schema, told) = Schema::infer(&bytes[..]).map_err(of(&args.input))?;
    let text = schema.to_json().map_err(of(&args.input))?;
    write_file(out, text.as_bytes(), existing(args.out.force)).map_err(of_output(out))?;
    let remark = "the schema is public, with all bounds and categories: review it, and narrow or \
                  widen the bounds before you use it";
    if common.json {
        let columns = told.iter();
        let columns = columns.map(|i| json!({"name": i.column, "kept": i.kept, "told": i.told}));
        let columns: Vec<_> = columns.collect();
        return emit_json(&json!({ "columns": columns, "remark": remark, "out": out }));
    }
    let mut lines: Vec<String> =
        told.iter().map(|i| format!("{}: {}", clean(&i.column), clean(&i.told))).collect();
    lines.push(format!("{}: {remark}", out.display()));
    emit(&lines.join("\n"))
}
