//! What can be said of tables, plans and results without any key, and schemas from data.

use everlevel_tables::{Constants, Field, ForeignKey, Plan, Schema, TableResult};
use everlevel_wire::ObjectKind;
use everlevel_wire::file::write_file;
use serde_json::json;

use super::args::{ExplainArgs, InferArgs, InspectArgs};
use super::ask::refused;
use super::errors::of;
use super::files::{open_table, read_constants, read_plan, read_result};
use super::records::opened;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_file, existing, of_output};
use crate::console::output::{counted, emit, emit_json};
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
    let line = |f: &Field| {
        let public = if f.is_public() { ", in the clear" } else { "" };
        let index = match f.index_ciphertexts() as u64 {
            0 => String::new(),
            many => format!(", with an index of {} for each block", counted(many, "ciphertext")),
        };
        format!("column {}: {}{public}{index}", f.name(), f.expected())
    };
    let key = |k: ForeignKey| {
        format!("join {} on {} = {}: {}", k.table, k.column, k.key, k.include.join(", "))
    };
    let keys = schema.foreign_keys().into_iter().map(key);
    schema.columns().map(line).chain(keys).collect()
}

fn of_table(args: &InspectArgs, common: &Common) -> Result<(), CliError> {
    let table = open_table(&args.path, None, &args.set, common)?;
    let bytes = table.bytes();
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
        format!(
            "{} in {}, {bytes} bytes",
            counted(table.rows() as u64, "row"),
            counted(table.blocks() as u64, "block")
        ),
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
            "query": result.plan().sql(),
            "schema": result.plan().schema(),
        }));
    }
    let mut lines = vec![
        format!("result of table {}", result.table()),
        format!("of {}, {} bytes", counted(result.rows() as u64, "row"), result.as_bytes().len()),
        format!("query: {}", clean(result.plan().sql())),
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
            "query": plan.sql(),
            "schema": plan.schema(),
        }));
    }
    let mut lines = vec![
        format!("plan {}", plan.id().map_err(refused)?),
        format!("query: {}", clean(plan.sql())),
    ];
    lines.extend(columns(plan.schema()));
    emit(&lines.join("\n"))
}

/// A query is anybody's.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Runs `table explain`.
pub fn explain(args: &ExplainArgs, common: &Common) -> Result<(), CliError> {
    let path = args.plan.as_path();
    let plan = read_plan(path)?;
    let params = find_params(&args.set.params, common)?;
    let rows = args.rows.unwrap_or(params.slots() as u64);
    let mut explanation = plan.explain(&params, rows as usize).map_err(of(path))?;
    if args.rows.is_none() {
        let assumed = format!(
            "the number of rows is not known: this is for one block of {}; --rows N explains the \
             plan for a table of N rows",
            counted(rows, "row")
        );
        explanation.notes.insert(0, assumed);
    }
    if common.json {
        return emit_json(&explanation);
    }
    emit(&explanation.to_string())
}

/// Runs `table schema infer`.
pub fn infer(args: &InferArgs, common: &Common) -> Result<(), CliError> {
    let out = &args.out.out;
    check_file(out, args.out.force)?;
    check_apart(out, [&args.input])?;
    let of_input = of(&args.input);
    let (schema, mut told) = Schema::infer_records(opened(&args.input)?).map_err(&of_input)?;
    let schema = schema.with_inferred_indexes(&mut told, &args.index).map_err(&of_input)?;
    let text = schema.to_json().map_err(of_input)?;
    write_file(out, text.as_bytes(), existing(args.out.force)).map_err(of_output(out))?;
    let remark = "the schema is public, with all bounds and categories: review it, and narrow or \
                  widen the bounds before you use it";
    if common.json {
        let columns = told.iter();
        let columns = columns.map(|i| json!({"name": i.column, "kept": i.kept, "told": i.told}));
        let columns: Vec<_> = columns.collect();
        return emit_json(
            &json!({ "columns": columns, "remark": remark, "out": out.display().to_string() }),
        );
    }
    let mut lines: Vec<String> =
        told.iter().map(|i| format!("{}: {}", clean(&i.column), clean(&i.told))).collect();
    lines.push(format!("{}: {remark}", out.display()));
    emit(&lines.join("\n"))
}
