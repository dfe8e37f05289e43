//! Files to a service, jobs on it, and their results back: what all commands that do so share.

use std::collections::BTreeMap;
use std::path::Path;

use everlevel::Program;
use everlevel::files::OpenOptions;
use everlevel_remote::api::{JobInfo, JobRequest};
use everlevel_remote::{Client, IdempotencyKey, ObjectId, RemoteError};
use everlevel_tables::EncryptedTable;
use serde_json::json;

use super::access::{AccessArgs, Manner};
use crate::commands::roles::args::OutArg;
use crate::commands::roles::eval::parse;
use crate::commands::roles::lookup_tables;
use crate::console::args::Common;
use crate::console::errors::{CliError, of_service};
use crate::console::files::{
    check_apart, check_file, check_free, create_directory, existing, read_text,
};
use crate::console::output::{counted, emit, emit_json, progress, stated};

/// The most bytes of a plan.
const TEXT_BYTES: u64 = 2 << 20;

/// A program, and where its results go.
pub struct Evaluation<'a> {
    pub access: &'a AccessArgs,
    pub server_keys: &'a Path,
    pub program: &'a str,
    pub inputs: &'a [String],
    pub lookups: &'a [String],
    pub pad: bool,
    /// A directory.
    pub out: &'a Path,
    pub force: bool,
}

/// A query on a table, and where its answer goes.
pub struct Query<'a> {
    pub access: &'a AccessArgs,
    pub server_keys: &'a Path,
    pub table: &'a Path,
    pub plan: &'a Path,
    pub constants: Option<&'a Path>,
    pub out: &'a OutArg,
}

/// What is given as an id of the service.
fn id_of(given: &Path) -> Option<ObjectId> {
    given.to_str()?.parse().ok()
}

/// An object on the service: one that is there, or a file, which is sent.
fn object(client: &Client, given: &Path, common: &Common) -> Result<ObjectId, CliError> {
    id_of(given).map_or_else(|| push(client, given, common), Ok)
}

/// Sends a file, unless the service has it.
pub fn push(client: &Client, path: &Path, common: &Common) -> Result<ObjectId, CliError> {
    let bar = progress(common, "sending", 1);
    let id = client.push(path, |sent, bytes| {
        bar.set_length(bytes);
        bar.set_position(sent);
    });
    bar.finish_and_clear();
    id.map_err(of_service)
}

/// Sends an encrypted table.
pub fn push_table(client: &Client, path: &Path, common: &Common) -> Result<ObjectId, CliError> {
    // What does not open here would not there.
    let options = OpenOptions::default().accepting(common.opt_in());
    EncryptedTable::open(path, &options).map_err(|e| {
        let code = e.code();
        CliError::usage(format!("{}: {e}", path.display())).with_code(code)
    })?;
    let bar = progress(common, "sending", 1);
    let table = client.push_table(path, |sent, files| {
        bar.set_length(files);
        bar.set_position(sent);
    });
    bar.finish_and_clear();
    Ok(table.map_err(of_service)?.id)
}

/// Estimates a job, or computes it and waits.
fn done(
    client: &Client,
    manner: &Manner,
    request: &JobRequest,
    common: &Common,
) -> Result<Option<JobInfo>, CliError> {
    if manner.estimate {
        let cost = client.estimate(request).map_err(of_service)?;
        if common.json {
            emit_json(&cost)?;
        } else {
            emit(&format!(
                "{:.1} s on a typical core by the model: {} products, {} key switches, {} \
                 bootstraps; {} MiB of memory for keys",
                cost.seconds,
                cost.products,
                cost.key_switches,
                cost.refreshes,
                cost.key_memory_bytes >> 20
            ))?;
        }
        return Ok(None);
    }
    let key = match &manner.job_name {
        Some(name) => name.clone(),
        None => IdempotencyKey::random().map_err(of_service)?,
    };
    let told = |e| match e {
        RemoteError::Unreachable { problem } => {
            let way = format!(
                "{problem}; the same command with --job-name {key} continues the \
                               job, if it has begun"
            );
            of_service(RemoteError::Unreachable { problem: way })
        }
        e => of_service(e),
    };
    let job = client.start(request, &key).map_err(told)?;
    let bar = progress(common, "waiting", 1);
    let done = client.wait(&job.id, |job| {
        bar.set_message(stated(&job.stage));
        bar.set_length(job.total);
        bar.set_position(job.done);
    });
    bar.finish_and_clear();
    done.map(Some).map_err(told)
}

/// Fetches an object into a file; how many bytes it has.
pub fn fetch(
    client: &Client,
    id: &ObjectId,
    (out, force): (&Path, bool),
    common: &Common,
) -> Result<u64, CliError> {
    let bar = progress(common, "fetching", 1);
    let pulled = client.pull(id, out, existing(force), |fetched, bytes| {
        bar.set_length(bytes);
        bar.set_position(fetched);
    });
    bar.finish_and_clear();
    pulled.map_err(of_service)
}

/// The files that a program reads, as far as they are none of the service: an argument with a name
/// before it, and whatever has an equals sign in its own name, too.
fn files_read<'a>(asked: &Evaluation<'a>) -> Vec<&'a Path> {
    fn named(text: &String) -> [Option<&Path>; 2] {
        let file = text.split_once('=').map(|(_, file)| Path::new(file));
        [Some(Path::new(text)), file]
    }
    asked.inputs.iter().chain(asked.lookups).flat_map(named).flatten().collect()
}

/// Runs a program on the service, and fetches its results.
pub fn evaluate(
    client: &Client,
    asked: &Evaluation<'_>,
    manner: &Manner,
    common: &Common,
) -> Result<(), CliError> {
    let program: Program = parse(asked.program)?;
    let path = |name: &str| asked.out.join(format!("{name}.ct"));
    let read = files_read(asked);
    for name in program.outputs() {
        check_free(&path(name), asked.force)?;
        check_apart(&path(name), read.iter().copied())?;
        check_apart(&path(name), asked.access.files())?;
    }
    let tables = tables(asked.lookups)?;
    let (mut named, mut columns) = (BTreeMap::new(), Vec::new());
    for input in asked.inputs {
        let parts = input.split_once('=').filter(|_| !Path::new(input).exists());
        match parts {
            Some((name, text)) => {
                let id = object(client, Path::new(text), common)?;
                if named.insert(name.to_string(), id).is_some() {
                    return Err(CliError::usage(format!("{name} is given twice")));
                }
            }
            None => columns.push(object(client, Path::new(input), common)?),
        }
    }
    let request = JobRequest::Program {
        server_keys: object(client, asked.server_keys, common)?,
        program: asked.program.into(),
        inputs: named,
        columns,
        tables,
        pad: asked.pad,
    };
    let Some(done) = done(client, manner, &request, common)? else { return Ok(()) };
    create_directory(asked.out)?;
    let mut lines = Vec::new();
    // Names of files come from the program here, not from the service.
    for name in program.outputs() {
        let (path, id) = (path(name), done.result(name).map_err(of_service)?);
        let bytes = fetch(client, id, (&path, asked.force), common)?;
        lines.push(format!("{name}: {bytes} bytes: {}", path.display()));
    }
    if common.json {
        return emit_json(&done);
    }
    lines.push(format!("{}, {:.1} s", counted(done.refreshes, "bootstrap"), done.seconds));
    emit(&lines.join("\n"))
}

/// Public tables of a program, as they are sent.
fn tables(lookups: &[String]) -> Result<BTreeMap<String, Vec<i64>>, CliError> {
    let mut out = BTreeMap::new();
    for (name, entries) in lookup_tables(lookups)? {
        let sent: Result<Vec<i64>, _> = entries.into_iter().map(i64::try_from).collect();
        let sent = sent.map_err(|_| {
            CliError::usage(format!("table {name}: a service accepts entries of up to 64 bits"))
        })?;
        out.insert(name, sent);
    }
    Ok(out)
}

/// Runs a query on the service, and fetches its answer.
pub fn ask(
    client: &Client,
    asked: &Query<'_>,
    manner: &Manner,
    common: &Common,
) -> Result<(), CliError> {
    let (out, force) = (asked.out.out.as_path(), asked.out.force);
    check_file(out, force)?;
    check_apart(out, [asked.plan, asked.table].into_iter().chain(asked.constants))?;
    check_apart(out, asked.access.files())?;
    let plan = read_text(asked.plan, TEXT_BYTES, "the plan")?;
    let plan = serde_json::from_str(&plan)
        .map_err(|e| CliError::usage(format!("{}: {e}", asked.plan.display())))?;
    let request = JobRequest::Table {
        server_keys: object(client, asked.server_keys, common)?,
        table: match id_of(asked.table) {
            Some(id) => id,
            None => push_table(client, asked.table, common)?,
        },
        plan,
        constants: asked.constants.map(|given| object(client, given, common)).transpose()?,
    };
    let Some(done) = done(client, manner, &request, common)? else { return Ok(()) };
    let id = done.result("result").map_err(of_service)?;
    let bytes = fetch(client, id, (out, force), common)?;
    if common.json {
        return emit_json(
            &json!({ "job": done, "bytes": bytes, "out": out.display().to_string() }),
        );
    }
    let (refreshes, seconds) = (done.refreshes, done.seconds);
    emit(&format!("{refreshes} refreshes, {seconds:.1} s, {bytes} bytes: {}", out.display()))
}
