//! `everlevel remote`: files to a service, jobs on it, and their results back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use everlevel::Program;
use everlevel::files::OpenOptions;
use everlevel_service::api::{JobInfo, JobRequest};
use everlevel_service::{Client, Connecting, Exposure, IdempotencyKey, JobId, ObjectId};
use serde_json::json;

use super::roles::args::OutArg;
use super::roles::eval::parse;
use super::roles::lookup_tables;
use crate::console::args::Common;
use crate::console::errors::{CliError, of_service};
use crate::console::files::{check_free, create_directory, existing, read_text};
use crate::console::output::{emit, emit_json, progress};

/// The most bytes of a plan, and of a file with a token.
const TEXT_BYTES: u64 = 2 << 20;

/// Which service, and who asks.
#[derive(Args, Clone)]
pub struct ServiceArgs {
    /// The address of the service: https://HOST:PORT, or http:// on this machine
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420")]
    pub url: String,
    /// A file that holds the token; without it the token is read from the environment variable
    /// EVERLEVEL_TOKEN
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Send the token to another machine without encryption
    #[arg(long)]
    pub insecure_http: bool,
    /// Believe services with a certificate of these authorities, in PEM, and no others, instead of
    /// those that the system believes
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// A certificate in PEM, for a service that asks its clients for one
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
}

/// A job, and what becomes of it.
#[derive(Args, Clone)]
pub struct JobArgs {
    /// Which service.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// The server keys: a file, or the id of an object
    #[arg(long, value_name = "FILE|ID")]
    pub server_keys: String,
    /// Print what the job would cost, and do not start it
    #[arg(long)]
    pub estimate: bool,
    /// A name for this job: the command with the same name goes on with the job that it has started
    /// before
    #[arg(long, value_name = "NAME")]
    pub job_name: Option<IdempotencyKey>,
}

/// What to do with a service.
#[derive(Subcommand)]
pub enum RemoteCommand {
    /// Send files and encrypted tables, unless the service has them, and print their ids
    Push {
        /// Which service.
        #[command(flatten)]
        service: ServiceArgs,
        /// Server keys, ciphertexts or columns, or the directory of an encrypted table
        #[arg(value_name = "FILE|DIR", required = true)]
        files: Vec<PathBuf>,
    },
    /// Run a program on the service, and fetch its results
    Run {
        /// The job.
        #[command(flatten)]
        job: JobArgs,
        /// The program, as for `eval`
        #[arg(value_name = "PROGRAM", allow_hyphen_values = true)]
        program: String,
        /// The ciphertexts or columns that the program reads: files, or ids of objects. Columns
        /// that have their names in their file go without NAME=
        #[arg(value_name = "[NAME=]FILE|ID", required = true)]
        inputs: Vec<String>,
        /// For typed columns: a table of integers (.csv, .json or .npy) with one entry for each
        /// value of the column, in ascending order of the values; the service sees it
        #[arg(long = "lookup", value_name = "NAME=FILE")]
        tables: Vec<String>,
        /// Allow columns modulo p^r of different lengths: shorter ones are padded with 0
        #[arg(long)]
        pad: bool,
        /// The directory for the results
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Overwrite existing files
        #[arg(long)]
        force: bool,
    },
    /// Ask a question of an encrypted table on the service, and fetch the encrypted answer
    Table {
        /// The job.
        #[command(flatten)]
        job: JobArgs,
        /// The encrypted table: its directory, or its id on the service
        #[arg(long, value_name = "DIR|ID")]
        table: String,
        /// The plan of the question, as `table ask` writes it
        #[arg(long, value_name = "FILE")]
        plan: PathBuf,
        /// The encrypted constants of the question: a file, or the id of an object
        #[arg(long, value_name = "FILE|ID")]
        constants: Option<String>,
        /// Where the result goes.
        #[command(flatten)]
        out: OutArg,
    },
    /// List objects, tables and jobs, and what of the quota is used
    List {
        /// Which service.
        #[command(flatten)]
        service: ServiceArgs,
    },
    /// Fetch an object
    Pull {
        /// Which service.
        #[command(flatten)]
        service: ServiceArgs,
        /// The id of the object
        #[arg(value_name = "ID")]
        id: ObjectId,
        /// Where it goes.
        #[command(flatten)]
        out: OutArg,
    },
    /// Delete objects and tables
    Delete {
        /// Which service.
        #[command(flatten)]
        service: ServiceArgs,
        /// Their ids
        #[arg(value_name = "ID", required = true)]
        ids: Vec<ObjectId>,
    },
    /// Cancel a job
    Cancel {
        /// Which service.
        #[command(flatten)]
        service: ServiceArgs,
        /// The id of the job
        #[arg(value_name = "JOB")]
        id: JobId,
    },
}

fn connect(args: &ServiceArgs) -> Result<Client, CliError> {
    let token = match &args.token_file {
        Some(path) => read_text(path, TEXT_BYTES, "the token")?,
        None => std::env::var("EVERLEVEL_TOKEN").map_err(|_| {
            CliError::usage("expected a token in EVERLEVEL_TOKEN, or --token-file FILE")
        })?,
    };
    let connecting = Connecting {
        exposure: if args.insecure_http { Exposure::Anywhere } else { Exposure::Loopback },
        authority: args.tls_ca.clone(),
        identity: args.tls_certificate.clone().zip(args.tls_key.clone()),
    };
    Client::new(&args.url, token.trim(), connecting).map_err(of_service)
}

/// An object on the service: one that is there, or a file, which is sent.
fn object(client: &Client, text: &str, common: &Common) -> Result<ObjectId, CliError> {
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_) => push(client, Path::new(text), common),
    }
}

fn push(client: &Client, path: &Path, common: &Common) -> Result<ObjectId, CliError> {
    let bar = progress(common, "sending", 1);
    let id = client.push(path, |sent, bytes| {
        bar.set_length(bytes);
        bar.set_position(sent);
    });
    bar.finish_and_clear();
    id.map_err(of_service)
}

fn push_table(client: &Client, path: &Path, common: &Common) -> Result<ObjectId, CliError> {
    let options = OpenOptions::default().accepting(common.opt_in());
    let bar = progress(common, "sending", 1);
    let table = client.push_table(path, &options, |sent, files| {
        bar.set_length(files);
        bar.set_position(sent);
    });
    bar.finish_and_clear();
    Ok(table.map_err(of_service)?.id)
}

/// Estimates a job, or computes it and waits.
fn done(
    client: &Client,
    args: &JobArgs,
    request: &JobRequest,
    common: &Common,
) -> Result<Option<JobInfo>, CliError> {
    if args.estimate {
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
    let key = match &args.job_name {
        Some(name) => name.clone(),
        None => IdempotencyKey::random().map_err(of_service)?,
    };
    let job = client.start(request, &key).map_err(of_service)?;
    let bar = progress(common, "waiting", 1);
    let done = client.wait(&job.id, |job| {
        bar.set_message(job.stage.clone());
        bar.set_length(job.total);
        bar.set_position(job.done);
    });
    bar.finish_and_clear();
    done.map(Some).map_err(of_service)
}

fn result<'a>(done: &'a JobInfo, name: &str) -> Result<&'a ObjectId, CliError> {
    let missing = || CliError::failure(format!("the service has no result {name}"));
    done.results.get(name).ok_or_else(missing)
}

/// Runs a command.
pub fn run(command: &RemoteCommand, common: &Common) -> Result<(), CliError> {
    match command {
        RemoteCommand::Push { service, files } => {
            let client = connect(service)?;
            let mut ids = BTreeMap::new();
            for path in files {
                let id = match path.is_dir() {
                    true => push_table(&client, path, common)?,
                    false => push(&client, path, common)?,
                };
                if !common.json {
                    emit(&format!("{id}  {}", path.display()))?;
                }
                ids.insert(path.display().to_string(), id);
            }
            if common.json { emit_json(&ids) } else { Ok(()) }
        }
        RemoteCommand::Run { job, program, inputs, tables, pad, out, force } => {
            let request = (program.as_str(), inputs.as_slice(), tables.as_slice(), *pad);
            evaluate(job, request, (out, *force), common)
        }
        RemoteCommand::Table { job, table, plan: path, constants, out } => {
            check_free(&out.out, out.force)?;
            let plan = read_text(path, TEXT_BYTES, "the plan")?;
            let plan = serde_json::from_str(&plan)
                .map_err(|e| CliError::usage(format!("{}: {e}", path.display())))?;
            let client = connect(&job.service)?;
            let request = JobRequest::Table {
                server_keys: object(&client, &job.server_keys, common)?,
                table: match table.parse() {
                    Ok(id) => id,
                    Err(_) => push_table(&client, Path::new(table), common)?,
                },
                plan,
                constants: constants
                    .as_ref()
                    .map(|text| object(&client, text, common))
                    .transpose()?,
            };
            let Some(done) = done(&client, job, &request, common)? else { return Ok(()) };
            let id = result(&done, "result")?;
            let bytes = fetch(&client, id, (&out.out, out.force), common)?;
            if common.json {
                return emit_json(&json!({ "job": done, "bytes": bytes, "out": out.out }));
            }
            let (refreshes, seconds) = (done.refreshes, done.seconds);
            let path = out.out.display();
            emit(&format!("{refreshes} refreshes, {seconds:.1} s, {bytes} bytes: {path}"))
        }
        RemoteCommand::List { service } => list(&connect(service)?, common),
        RemoteCommand::Pull { service, id, out } => {
            check_free(&out.out, out.force)?;
            let client = connect(service)?;
            let (bytes, path) = (fetch(&client, id, (&out.out, out.force), common)?, &out.out);
            if common.json {
                return emit_json(&json!({ "bytes": bytes, "out": path }));
            }
            emit(&format!("{bytes} bytes: {}", path.display()))
        }
        RemoteCommand::Delete { service, ids } => {
            let client = connect(service)?;
            let tables = client.tables().map_err(of_service)?;
            for id in ids {
                match tables.iter().any(|table| table.id == *id) {
                    true => client.delete_table(id).map_err(of_service)?,
                    false => client.delete_object(id).map_err(of_service)?,
                }
            }
            if common.json {
                return emit_json(&json!({ "deleted": ids }));
            }
            emit(&format!("{} deleted", ids.len()))
        }
        RemoteCommand::Cancel { service, id } => {
            let job = connect(service)?.cancel(id).map_err(of_service)?;
            if common.json { emit_json(&job) } else { emit(&format!("{id}: {:?}", job.state)) }
        }
    }
}

/// Fetches an object into a file; how many bytes it has.
fn fetch(
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

fn evaluate(
    args: &JobArgs,
    (text, inputs, lookups, pad): (&str, &[String], &[String], bool),
    (out, force): (&Path, bool),
    common: &Common,
) -> Result<(), CliError> {
    let program: Program = parse(text)?;
    let path = |name: &str| out.join(format!("{name}.ct"));
    program.outputs().try_for_each(|name| check_free(&path(name), force))?;
    let tables = tables(lookups)?;
    let client = connect(&args.service)?;
    let (mut named, mut columns) = (BTreeMap::new(), Vec::new());
    for input in inputs {
        let parts = input.split_once('=').filter(|_| !Path::new(input).exists());
        match parts {
            Some((name, text)) => {
                if named.insert(name.to_string(), object(&client, text, common)?).is_some() {
                    return Err(CliError::usage(format!("{name} is given twice")));
                }
            }
            None => columns.push(object(&client, input, common)?),
        }
    }
    let request = JobRequest::Program {
        server_keys: object(&client, &args.server_keys, common)?,
        program: text.into(),
        inputs: named,
        columns,
        tables,
        pad,
    };
    let Some(done) = done(&client, args, &request, common)? else { return Ok(()) };
    create_directory(out)?;
    let mut lines = Vec::new();
    // Names of files come from the program here, not from the service.
    for name in program.outputs() {
        let path = path(name);
        let bytes = fetch(&client, result(&done, name)?, (&path, force), common)?;
        lines.push(format!("{name}: {bytes} bytes: {}", path.display()));
    }
    if common.json {
        return emit_json(&done);
    }
    lines.push(format!("{} bootstraps, {:.1} s", done.refreshes, done.seconds));
    emit(&lines.join("\n"))
}

/// Public tables of a program, as they are sent.
fn tables(lookups: &[String]) -> Result<BTreeMap<String, Vec<i64>>, CliError> {
    let mut out = BTreeMap::new();
    for (name, entries) in lookup_tables(lookups)? {
        let sent: Result<Vec<i64>, _> = entries.into_iter().map(i64::try_from).collect();
        let sent = sent.map_err(|_| {
            CliError::usage(format!("table {name}: a service takes entries of up to 64 bits"))
        })?;
        out.insert(name, sent);
    }
    Ok(out)
}

fn list(client: &Client, common: &Common) -> Result<(), CliError> {
    let (objects, tables) =
        (client.objects().map_err(of_service)?, client.tables().map_err(of_service)?);
    let (jobs, usage) = (client.jobs().map_err(of_service)?, client.usage().map_err(of_service)?);
    if common.json {
        return emit_json(&json!({
            "objects": objects, "tables": tables, "jobs": jobs, "usage": usage,
        }));
    }
    let objects = objects.iter().map(|o| format!("{}  {}, {} bytes", o.id, o.kind, o.bytes));
    let tables =
        tables.iter().map(|t| format!("{}  table of {} rows, {} columns", t.id, t.rows, t.columns));
    let jobs = jobs.iter().map(|j| format!("{}  job, {:?}, {:.1} s", j.id, j.state, j.seconds));
    let used = format!(
        "{} of {} bytes, {} of {} objects, {} of {} active jobs",
        usage.bytes,
        usage.most_bytes,
        usage.objects,
        usage.most_objects,
        usage.active_jobs,
        usage.most_active_jobs
    );
    emit(&objects.chain(tables).chain(jobs).chain([used]).collect::<Vec<_>>().join("\n"))
}
