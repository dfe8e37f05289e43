//! `everlevel remote`: files to a service, jobs on it, and their results back.

pub mod access;
pub mod elsewhere;
mod jobs;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use everlevel_remote::{Client, JobId, ObjectId};
use serde_json::json;

use self::access::{Manner, ServiceArgs};
use self::jobs::{Evaluation, Query, ask, evaluate, fetch, push, push_table};
use super::roles::args::OutArg;
use crate::console::args::Common;
use crate::console::errors::{CliError, of_service};
use crate::console::files::{check_apart, check_file};
use crate::console::output::{counted, emit, emit_json, stated};

/// A job, and what becomes of it.
#[derive(Args, Clone)]
pub struct JobArgs {
    /// Which service.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// The server keys: a file, or the id of an object
    #[arg(long, value_name = "FILE|ID")]
    pub server_keys: PathBuf,
    /// What becomes of it.
    #[command(flatten)]
    pub manner: Manner,
}

/// What to do with a service.
#[derive(Subcommand)]
pub enum RemoteCommand {
    /// Send files and encrypted tables that the service does not have yet, and print their ids
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
        /// The ciphertexts or columns that the program reads: files, or ids of objects; omit NAME=
        /// for typed columns, whose files contain the names
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
    /// Have the service run a query on an encrypted table, and fetch the encrypted answer
    Table {
        /// The job.
        #[command(flatten)]
        job: JobArgs,
        /// The encrypted table: its directory, or its id on the service
        #[arg(long, value_name = "DIR|ID")]
        table: PathBuf,
        /// The plan of the query, as `table ask` writes it
        #[arg(long, value_name = "FILE")]
        plan: PathBuf,
        /// The encrypted constants of the query: a file, or the id of an object
        #[arg(long, value_name = "FILE|ID")]
        constants: Option<PathBuf>,
        /// Where the result goes.
        #[command(flatten)]
        out: OutArg,
    },
    /// List objects, tables and jobs, and how much of the quota is used
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
        /// The ids of the objects and tables
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

/// Runs a command.
pub fn run(command: &RemoteCommand, common: &Common) -> Result<(), CliError> {
    match command {
        RemoteCommand::Push { service, files } => {
            let client = service.client()?;
            // All are sent, whether anybody reads their ids or not.
            let (mut ids, mut told) = (BTreeMap::new(), Ok(()));
            for path in files {
                let id = match path.is_dir() {
                    true => push_table(&client, path, common)?,
                    false => push(&client, path, common)?,
                };
                if !common.json && told.is_ok() {
                    told = emit(&format!("{id}  {}", path.display()));
                }
                ids.insert(path.display().to_string(), id);
            }
            if common.json { emit_json(&ids) } else { told }
        }
        RemoteCommand::Run { job, program, inputs, tables, pad, out, force } => {
            let asked = Evaluation {
                access: &job.service.access,
                server_keys: &job.server_keys,
                program,
                inputs,
                lookups: tables,
                pad: *pad,
                out,
                force: *force,
            };
            evaluate(&job.service.client()?, &asked, &job.manner, common)
        }
        RemoteCommand::Table { job, table, plan, constants, out } => {
            let (server_keys, constants) = (job.server_keys.as_path(), constants.as_deref());
            let access = &job.service.access;
            let asked = Query { access, server_keys, table, plan, constants, out };
            ask(&job.service.client()?, &asked, &job.manner, common)
        }
        RemoteCommand::List { service } => list(&service.client()?, common),
        RemoteCommand::Pull { service, id, out } => {
            check_file(&out.out, out.force)?;
            check_apart(&out.out, service.access.files())?;
            let client = service.client()?;
            let (bytes, path) = (fetch(&client, id, (&out.out, out.force), common)?, &out.out);
            if common.json {
                return emit_json(&json!({ "bytes": bytes, "out": path.display().to_string() }));
            }
            emit(&format!("{bytes} bytes: {}", path.display()))
        }
        RemoteCommand::Delete { service, ids } => {
            let client = service.client()?;
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
            let job = service.client()?.cancel(id).map_err(of_service)?;
            if common.json { emit_json(&job) } else { emit(&format!("{id}: {}", job.state.name())) }
        }
    }
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
    let objects =
        objects.iter().map(|o| format!("{}  {}, {} bytes", o.id, stated(&o.kind), o.bytes));
    let tables = tables.iter().map(|t| {
        let (rows, columns) = (counted(t.rows as u64, "row"), counted(t.columns as u64, "column"));
        format!("{}  table of {rows}, {columns}", t.id)
    });
    let jobs =
        jobs.iter().map(|j| format!("{}  job, {}, {:.1} s", j.id, j.state.name(), j.seconds));
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
