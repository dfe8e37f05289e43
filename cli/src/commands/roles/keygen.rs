//! `everlevel keygen`.

use std::path::Path;
use std::time::Instant;

use everlevel::files::{KeyFiles, Metadata, generate_to_file};
use everlevel::{KeyPlan, Params, SecretKey, general_keys, program_keys};
use everlevel_tables::{PLAN_BYTES, Plan};
use everlevel_wire::WireError;
use serde::Serialize;

use super::args::KeygenArgs;
use super::eval::parse;
use super::files::secret_key;
use super::keys_args::ServerKeysArgs;
use super::purpose::PurposeArgs;
use super::typed::plan::Columns;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{Written, check_apart, check_file, existing, of_output, read_text};
use crate::console::output::{counted, emit, emit_json, progress};
use crate::console::params::{find_params, find_planner, tell_failures};

#[derive(Serialize)]
struct Report {
    params: String,
    security_bits: f64,
    server_keys: usize,
    files: Vec<Written>,
    seconds: f64,
}

/// The server keys of a program or of queries, or general ones.
pub fn plan(params: &Params, purpose: &PurposeArgs) -> Result<KeyPlan, CliError> {
    let small = purpose.small_keys;
    if let (Some(text), Some(types), Some(rows)) = (&purpose.program, &purpose.types, purpose.rows)
    {
        let PurposeArgs { tables, indexes, .. } = purpose;
        // At the top, where `encrypt` puts them.
        let levels = Some(purpose.levels.as_deref().unwrap_or_default());
        let columns = Columns { text, types, indexes, levels, rows, tables, seeded_keys: false };
        return columns.keys(params, small);
    }
    if let Some(rows) = purpose.rows {
        let (mut keys, mut plans) = (KeyPlan::default(), Vec::new());
        for path in &purpose.table_plans {
            let text = read_text(path, PLAN_BYTES, "the plan")?;
            let of_one = Plan::from_json(&text)
                .and_then(|plan| Ok((plan.keys(params, rows as usize)?, plan)));
            let (of_one, plan) = of_one.map_err(|e| {
                let code = e.code();
                CliError::usage(format!("{}: {e}", path.display())).with_code(code)
            })?;
            keys = keys.merge(&of_one);
            plans.push(plan);
        }
        return Ok(match small {
            true => Plan::smaller_keys(&plans, params, rows as usize, &keys),
            false => keys,
        });
    }
    match &purpose.program {
        Some(text) => Ok(program_keys(params, &parse(text)?)?),
        None if params.spec().bootstrap.is_some() => {
            // The same checks, with advice.
            find_planner(params, None)?;
            Ok(general_keys(params)?)
        }
        None => Ok(general_keys(params)?),
    }
}

/// Runs the command.
pub fn run(args: &KeygenArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.set.params, common)?;
    make(&params, &plan(&params, &args.purpose)?, &args.out, args.force, common)
}

/// Runs `keys server`.
pub fn for_server(args: &ServerKeysArgs, common: &Common) -> Result<(), CliError> {
    check_file(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, args.purpose.table_plans.iter().chain([&args.key]))?;
    let lookups = args.purpose.tables.iter().filter_map(|text| text.split_once('='));
    check_apart(&args.out.out, lookups.map(|(_, file)| Path::new(file)))?;
    let secret = secret_key(&args.key, &args.set, common)?;
    tell_failures(secret.params());
    let plan = plan(secret.params(), &args.purpose)?;
    let started = Instant::now();
    let bar = progress(common, "making keys", (plan.len() + usize::from(plan.bootstrap)) as u64);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let (out, kept) = (&args.out.out, existing(args.out.force));
    let step = |done, _| bar.set_position(done as u64);
    let made = generate_to_file(out, kept, &secret, &plan, &Metadata::new(), &mut rng, step);
    bar.finish_and_clear();
    let report = Report {
        params: secret.params().name().into(),
        security_bits: secret.params().security().bits(),
        server_keys: plan.len() + usize::from(plan.bootstrap),
        files: vec![Written {
            path: out.clone(),
            bytes: made.map_err(of_output(out))?.total_bytes(),
        }],
        seconds: started.elapsed().as_secs_f64(),
    };
    if common.json {
        return emit_json(&report);
    }
    emit(&format!(
        "{}: {}, {} bytes, {:.1} s: {}",
        report.params,
        counted(report.server_keys as u64, "server key"),
        report.files[0].bytes,
        report.seconds,
        out.display()
    ))
}

/// Makes keys and writes their files.
pub fn make(
    params: &Params,
    plan: &KeyPlan,
    out: &Path,
    force: bool,
    common: &Common,
) -> Result<(), CliError> {
    let started = Instant::now();
    tell_failures(params);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let secret = SecretKey::generate(params, &mut rng);
    let bar = progress(common, "making keys", (plan.len() + usize::from(plan.bootstrap)) as u64);
    let progress = |done: usize, _: usize| {
        bar.set_position(done as u64);
        Ok::<(), WireError>(())
    };
    let made =
        KeyFiles::in_directory(out).write(&secret, plan, existing(force), &mut rng, progress);
    bar.finish_and_clear();
    let made = made.map_err(of_output(out))?;
    let files: Vec<Written> =
        made.files.into_iter().map(|(path, bytes)| Written { path, bytes }).collect();
    let report = Report {
        params: params.name().into(),
        security_bits: params.security().bits(),
        server_keys: plan.len() + usize::from(plan.bootstrap),
        files,
        seconds: started.elapsed().as_secs_f64(),
    };
    if common.json {
        return emit_json(&report);
    }
    let mut lines = vec![format!(
        "{}: {:.1} bits of security; {}, {:.1} s",
        report.params,
        report.security_bits,
        counted(report.server_keys as u64, "server key"),
        report.seconds
    )];
    lines.extend(
        report.files.iter().map(|f| format!("{:>12} bytes  {}", f.bytes, f.path.display())),
    );
    lines.push(format!(
        "keep {} secret: it decrypts everything. Server keys assume circular security, see \
         SECURITY.md",
        KeyFiles::in_directory(out).secret.display()
    ));
    emit(&lines.join("\n"))
}
