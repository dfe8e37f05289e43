//! Owner, analyst and reader of a table, who share nothing but files with each other and a server.

use std::path::Path;

use everlevel::files::OpenOptions;
use everlevel_tables::{
    Constants, Data, EncryptedTable, PLAN_BYTES, Partner, Plan, SCHEMA_BYTES, Schema, TableKey,
    TableResult, TablesError,
};
use everlevel_wire::file::{read_file, write_file};
use serde_json::json;

use super::args::{AnswerFormat, AskArgs, BindArgs, EncryptArgs, PartnersArg, ReadArgs};
use super::ask::{refused, tell};
use super::constants::values;
use super::errors::{of, of_written};
use super::records::{Source, check_parquet, is_parquet, opened, parquet_answer};
use crate::commands::roles::args::SetOfFile;
use crate::commands::roles::files::{EncryptionKey, secret_key};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_file, check_free, check_standard, existing, is_standard, of_file, of_output,
    read_text, write_secret_output,
};
use crate::console::output::{counted, emit, emit_json, progress};
use crate::console::params::tell_failures;

/// The largest result, in bytes.
const MAX_RESULT_BYTES: u64 = 8 << 30;

/// The schema of a file.
pub fn read_schema(path: &Path) -> Result<Schema, CliError> {
    Schema::from_json(&read_text(path, SCHEMA_BYTES, "the schema")?).map_err(of(path))
}

/// The table in the clear of a file, with the columns that its rows carry of others.
pub fn read_data(path: &Path, schema: &Schema, with: &PartnersArg) -> Result<Data, CliError> {
    let partners = read_partners(schema, with)?;
    Data::from_records(opened(path)?, schema, &partners).map_err(of(path))
}

/// Tables whose columns rows carry.
fn read_partners(schema: &Schema, with: &PartnersArg) -> Result<Vec<Partner>, CliError> {
    let partner = |(name, path): (&str, &Path)| {
        Partner::from_records(opened(path)?, schema, name).map_err(of(path))
    };
    with.files()?.into_iter().map(partner).collect()
}

impl PartnersArg {
    /// The names of tables, and their files.
    pub fn files(&self) -> Result<Vec<(&str, &Path)>, CliError> {
        let mut found: Vec<(&str, &Path)> = Vec::with_capacity(self.partners.len());
        for text in &self.partners {
            let (name, path) = text
                .split_once('=')
                .ok_or_else(|| CliError::usage(format!("{text:?}: expected NAME=FILE")))?;
            if found.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return Err(CliError::usage(format!("--with {name} is given twice")));
            }
            found.push((name, Path::new(path)));
        }
        Ok(found)
    }

    /// Refuses tables of foreign keys where none are read.
    pub fn check_none(&self, with: &str) -> Result<(), CliError> {
        match self.partners.is_empty() {
            true => Ok(()),
            false => Err(CliError::usage(format!("--with needs {with}"))),
        }
    }
}

/// The plan of a file.
pub fn read_plan(path: &Path) -> Result<Plan, CliError> {
    Plan::from_json(&read_text(path, PLAN_BYTES, "the plan")?).map_err(of(path))
}

/// The encrypted constants of a file.
pub fn read_constants(path: &Path) -> Result<Constants, CliError> {
    let bytes = read_file(path, MAX_RESULT_BYTES).map_err(of_file(path))?;
    Constants::from_bytes(bytes.to_vec()).map_err(of(path))
}

/// The result of a file.
pub fn read_result(path: &Path) -> Result<TableResult, CliError> {
    let bytes = read_file(path, MAX_RESULT_BYTES).map_err(of_file(path))?;
    TableResult::from_bytes(bytes.to_vec()).map_err(of(path))
}

/// The encrypted table of a directory.
pub fn open_table(
    path: &Path,
    params: Option<everlevel::Params>,
    set: &SetOfFile,
    common: &Common,
) -> Result<EncryptedTable, CliError> {
    let named = set.params.as_ref();
    let asked = named.map(|name| crate::console::params::find_params(name, common)).transpose()?;
    let params = params.or(asked);
    let options = OpenOptions::default().with_params(params).accepting(common.opt_in());
    EncryptedTable::open(path, &options).map_err(of(path))
}

/// Runs `table encrypt`.
pub fn encrypt(args: &EncryptArgs, common: &Common) -> Result<(), CliError> {
    if !args.force {
        check_free(&args.out, false)?;
    }
    check_apart(&args.out, [&args.input, &args.key])?;
    check_apart(&args.out, args.with.files()?.iter().map(|(_, path)| *path))?;
    let schema = read_schema(&args.schema)?;
    let key = EncryptionKey::read(&args.key, &args.set, common)?;
    let partners = read_partners(&schema, &args.with)?;
    let source = Source::of(&args.input)?;
    // What cannot be opened is told before anything is made.
    drop(source.open().map_err(of(&args.input))?);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let bar = progress(common, "encrypting", 1);
    let step = |done, blocks: Option<usize>| {
        if let Some(blocks) = blocks {
            bar.set_length(blocks as u64);
            bar.set_position(done as u64);
        }
        Ok::<_, TablesError>(())
    };
    let (out, key) = (&args.out, table_key(&key));
    let (existing, input) = (existing(args.force), (&schema, &partners[..]));
    let open = || source.open();
    let table = EncryptedTable::create_from(out, existing, key, input, open, &mut rng, step)
        .map_err(|e| match e {
            e @ TablesError::Roles(_) => of_written(out)(e),
            e => of(&args.input)(e),
        })?;
    bar.finish_and_clear();
    let bytes = table.bytes();
    if common.json {
        return emit_json(&json!({
            "table": table.id().to_string(),
            "params": table.params().name(),
            "rows": table.rows(),
            "columns": schema.columns().count(),
            "blocks": table.blocks(),
            "bytes": bytes,
            "out": args.out.display().to_string(),
        }));
    }
    emit(&format!(
        "table {}: {} of {} in {} under {}, {bytes} bytes: {}",
        table.id(),
        counted(table.rows() as u64, "row"),
        counted(schema.columns().count() as u64, "column"),
        counted(table.blocks() as u64, "block"),
        table.params().name(),
        args.out.display()
    ))
}

fn table_key(key: &EncryptionKey) -> TableKey<'_> {
    match key {
        EncryptionKey::Public(key) => TableKey::Public(key),
        EncryptionKey::Secret(key) => TableKey::Secret(key),
    }
}

/// Runs `table ask`.
pub fn ask(args: &AskArgs, common: &Common) -> Result<(), CliError> {
    check_file(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.schema])?;
    let schema = read_schema(&args.schema)?;
    let plan = Plan::ordered(&args.query, &schema, args.order.party()).map_err(refused)?;
    let text = plan.to_json().map_err(refused)? + "\n";
    let out = &args.out.out;
    write_file(out, text.as_bytes(), existing(args.out.force)).map_err(of_output(out))?;
    let query = plan.query();
    let (groups, sums) = (query.group_codes(&schema).len(), query.aggregates.len());
    let id = plan.id().map_err(refused)?;
    tell(plan.notes());
    if common.json {
        return emit_json(&json!({
            "plan": id, "groups": groups, "sums": sums, "rows": query.listed.is_some(),
            "bytes": text.len(), "notes": plan.notes(), "out": out.display().to_string(),
        }));
    }
    let asked = match &query.listed {
        Some(columns) => format!("rows of {}", counted(columns.len() as u64, "column")),
        None => {
            let (groups, sums) = (counted(groups as u64, "group"), counted(sums as u64, "sum"));
            format!("{groups} of {sums}")
        }
    };
    emit(&format!("plan {id}: {asked}, {} bytes: {}", text.len(), out.display()))
}

/// Runs `table bind`.
pub fn bind(args: &BindArgs, common: &Common) -> Result<(), CliError> {
    check_file(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.input].into_iter().chain(&args.from))?;
    let plan = read_plan(&args.input)?;
    let values = values(&args.values, args.from.as_deref())?;
    plan.codes(&values).map_err(of(&args.input))?;
    let key = EncryptionKey::read(&args.key, &args.set, common)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let constants =
        Constants::encrypt(table_key(&key), &plan, &values, &mut rng).map_err(refused)?;
    let (out, bytes) = (&args.out.out, constants.as_bytes());
    write_file(out, bytes, existing(args.out.force)).map_err(of_output(out))?;
    let (id, of_plan) = (constants.id().to_string(), constants.plan());
    if common.json {
        return emit_json(&json!({
            "constants": id,
            "plan": of_plan,
            "params": key.params().name(),
            "count": values.len(),
            "bytes": bytes.len(),
            "out": out.display().to_string(),
        }));
    }
    emit(&format!(
        "constants {id}: {} for plan {of_plan}, {} bytes: {}",
        counted(values.len() as u64, "value"),
        bytes.len(),
        out.display()
    ))
}

/// The format of an answer: the one that is asked for, or that of the name of its file.
fn answer_format(args: &ReadArgs) -> AnswerFormat {
    let json = |out: &Path| out.extension() == Some("json".as_ref());
    match (args.format, args.out.as_deref()) {
        (Some(format), _) => format,
        (None, Some(out)) if json(out) => AnswerFormat::Json,
        (None, Some(out)) if is_parquet(out) => AnswerFormat::Parquet,
        (None, _) => AnswerFormat::Csv,
    }
}

/// Runs `table read`.
pub fn read(args: &ReadArgs, common: &Common) -> Result<(), CliError> {
    if let Some(out) = &args.out {
        check_standard(out, common)?;
        check_free(out, args.force)?;
        let read = [&args.input].into_iter().chain(&args.plan).chain(&args.constants);
        check_apart(out, read)?;
    }
    let format = answer_format(args);
    if format == AnswerFormat::Parquet {
        check_parquet().map_err(refused)?;
        if args.out.is_none() {
            return Err(CliError::usage("--format parquet takes --out FILE, as it is no text"));
        }
    }
    let result = read_result(&args.input)?;
    let plan = args.plan.as_deref().map(read_plan).transpose()?;
    let constants = args.constants.as_deref().map(read_constants).transpose()?;
    let constants = constants.map(|constants| constants.id());
    result.check(plan.as_ref(), args.table_id, constants).map_err(of(&args.input))?;
    let key = secret_key(&args.key, &args.set, common)?;
    tell_failures(key.params());
    let bar = progress(common, "decrypting", 1);
    let answer = result.read_with(&key, |done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    });
    let answer = answer.map_err(of(&args.input))?;
    bar.finish_and_clear();
    let types = result.plan().query().output_types(result.plan().schema());
    let object = || {
        let mut told = answer.to_json(&types);
        told["query"] = result.plan().sql().into();
        told["table"] = result.table().to_string().into();
        told["table_rows"] = result.rows().into();
        told
    };
    let bytes = match format {
        AnswerFormat::Json => format!("{:#}\n", object()).into_bytes(),
        AnswerFormat::Csv => answer.to_csv().map_err(refused)?.into_bytes(),
        AnswerFormat::Parquet => parquet_answer(&answer, &types).map_err(refused)?,
    };
    if let Some(out) = &args.out {
        write_secret_output(out, &bytes, args.force)?;
    }
    match &args.out {
        _ if common.json => emit_json(&object()),
        Some(out) if is_standard(out) => Ok(()),
        Some(out) => {
            let rows = counted(answer.rows.len() as u64, "row");
            emit(&format!("{rows}: {}", out.display()))
        }
        None => emit(String::from_utf8_lossy(&bytes).trim_end_matches('\n')),
    }
}
