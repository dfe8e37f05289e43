//! `everlevel table run`: with server keys alone.

use std::path::Path;
use std::time::Instant;

use everlevel::{Params, Server};
use everlevel_ring::Engine;
use everlevel_tables::{Constants, EncryptedTable, PlainTable, Plan, TableId, TablesError};
use everlevel_wire::file::write_file;
use serde_json::json;

use super::args::RunArgs;
use super::ask::refused;
use super::errors::of;
use super::files::{open_table, read_constants, read_data, read_plan, read_schema};
use crate::commands::roles::files::server_keys;
use crate::commands::roles::work::{Work, compute};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_file, existing, of_output};
use crate::console::output::{counted, emit, emit_json, progress};

/// A table on a server.
enum Served {
    Encrypted(EncryptedTable),
    Plain(PlainTable),
}

impl Served {
    /// Its name, and how many rows it has.
    fn named(&self) -> (TableId, usize) {
        match self {
            Served::Encrypted(table) => (table.id(), table.rows()),
            Served::Plain(table) => (table.id(), table.rows()),
        }
    }
}

/// The table of `table run`, and where it is.
fn served<'a>(
    args: &'a RunArgs,
    plan: &Plan,
    params: &Params,
    common: &Common,
) -> Result<(&'a Path, Served), CliError> {
    match (&args.table.table, &args.table.plain) {
        (Some(path), _) => {
            args.with.check_none("--plain")?;
            let table = open_table(path, Some(params.clone()), &args.set, common)?;
            Ok((path, Served::Encrypted(table)))
        }
        (None, Some(path)) => {
            let schema = match &args.schema {
                Some(schema) => read_schema(schema)?,
                None => plan.schema().clone(),
            };
            plan.check_schema(&schema).map_err(of(&args.input))?;
            let data = read_data(path, &schema, &args.with)?;
            let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
            Ok((path, Served::Plain(PlainTable::new(schema, data, &mut rng))))
        }
        (None, None) => Err(CliError::usage("give --table DIR or --plain FILE")),
    }
}

/// A plan that is to be run, and what was read for it.
struct Run<'a> {
    args: &'a RunArgs,
    plan: Plan,
    constants: Option<Constants>,
    started: Instant,
    common: &'a Common,
}

/// Runs `table run`.
pub fn run(args: &RunArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    args.on.device.check()?;
    check_file(&args.out.out, args.out.force)?;
    let table = args.table.table.iter().chain(&args.table.plain);
    let read = [&args.input].into_iter().chain(table).chain(&args.schema).chain(&args.constants);
    check_apart(&args.out.out, read)?;
    check_apart(&args.out.out, args.with.files()?.iter().map(|(_, path)| *path))?;
    let plan = read_plan(&args.input)?;
    let constants = args.constants.as_deref().map(read_constants).transpose()?;
    let keys = server_keys(&args.server_keys, args.memory, &args.set, common)?;
    compute(args.on.device, keys, Run { args, plan, constants, started, common })
}

impl Work for Run<'_> {
    fn on<E: Engine>(self, server: &Server<E>) -> Result<(), CliError> {
        let Run { args, plan, constants, started, common } = self;
        let (path, table) = served(args, &plan, server.params(), common)?;
        let (id, rows) = table.named();
        let blocks = rows.div_ceil(server.params().slots());
        let bar = progress(common, "computing", blocks as u64);
        let step = |done, _| {
            bar.set_position(done as u64);
            Ok::<_, TablesError>(())
        };
        let result = match &table {
            Served::Encrypted(table) => table.run(server, &plan, constants.as_ref(), step),
            Served::Plain(table) => table.run(server, &plan, constants.as_ref(), step),
        };
        let result = result.map_err(of(path))?;
        bar.finish_and_clear();
        let (out, bytes) = (&args.out.out, result.as_bytes().len());
        write_file(out, result.as_bytes(), existing(args.out.force)).map_err(of_output(out))?;
        let seconds = started.elapsed().as_secs_f64();
        if common.json {
            return emit_json(&json!({
                "table": id.to_string(),
                "plan": plan.id().map_err(refused)?,
                "params": server.params().name(),
                "rows": rows,
                "refreshes": server.bootstraps(),
                "seconds": seconds,
                "bytes": bytes,
                "out": out.display().to_string(),
            }));
        }
        emit(&format!(
            "{}, {} refreshes, {seconds:.1} s, {bytes} bytes: {}",
            counted(rows as u64, "row"),
            server.bootstraps(),
            out.display()
        ))
    }
}
