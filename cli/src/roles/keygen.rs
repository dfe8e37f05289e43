//! `everlevel keygen`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use everlevel::circuit::expression::Program;
use everlevel::circuit::{AutoRefresh, CircuitError};
use everlevel::wire::file::{Existing, write_file, write_secret_file};
use everlevel::wire::{self, Metadata, WireError};
use everlevel::{Bootstrapper, KeyPlan, KeyPlanner, NoOp, Params, Plaintext, PublicKey, SecretKey, general_keys};
use serde::Serialize;

use super::args::KeygenArgs;
use super::eval::parse;
use super::files::{Written, check_free, create_directory, of_file};
use crate::args::Common;
use crate::common::{emit, emit_json, find_params, find_planner, progress};
use crate::error::CliError;

const PARAMS: &str = "params.json";
const SECRET: &str = "secret.key";
const PUBLIC: &str = "public.key";
const SERVER: &str = "server.keys";

#[derive(Serialize)]
struct Report {
    params: String,
    security_bits: f64,
    server_keys: usize,
    files: Vec<Written>,
    seconds: f64,
}

/// The server keys of a program, or general ones.
pub fn plan(params: &Params, program: Option<&str>) -> Result<KeyPlan, CliError> {
    match program {
        Some(text) => Ok(plan_for(params, &parse(text)?)?),
        None if params.spec().bootstrap.is_some() => {
            // The same checks, with advice.
            find_planner(params, None)?;
            Ok(general_keys(params)?)
        }
        None => Ok(general_keys(params)?),
    }
}

/// What the program takes on fresh inputs, found out without cryptography.
fn plan_for(params: &Params, program: &Program) -> Result<KeyPlan, everlevel::Error> {
    let scheme = Arc::new(NoOp::blank(params));
    let zero = scheme.encrypt(&Plaintext::encode(params, &[])?)?;
    let (auto, bootstrapping) = match params.spec().bootstrap {
        None => (AutoRefresh::leveled(scheme.clone()), KeyPlan::default()),
        Some(_) => {
            let planner = KeyPlanner::new(params)?;
            let bootstrapper = Bootstrapper::new(&*scheme, planner.bootstrap_plan().clone())?;
            // Inputs may arrive worn out.
            (AutoRefresh::new(scheme.clone(), Arc::new(bootstrapper)), planner.keys())
        }
    };
    let inputs: BTreeMap<_, _> = program.inputs().map(|name| (name.to_string(), auto.share(zero.clone()))).collect();
    program.run(&auto, &inputs, &mut |_| ()).map_err(|e| match e {
        CircuitError::Empty { .. } => CircuitError::MissingInput { name: "nothing".into(), given: "none".into() },
        e => e,
    })?;
    Ok(scheme.key_plan().merge(&bootstrapping))
}

/// Runs the command.
pub fn run(args: &KeygenArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.set.params, common)?;
    make(&params, &plan(&params, args.program.as_deref())?, &args.out, args.force, common)
}

/// Makes keys and writes their files.
pub fn make(params: &Params, plan: &KeyPlan, out: &Path, force: bool, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    create_directory(out)?;
    let names = [SERVER, PUBLIC, PARAMS, SECRET];
    for name in names {
        check_free(&out.join(name), force)?;
    }
    // All files are made before the first one gets its name: keys of two generations never lie side by side after a failure.
    let pending = Pending::create(out)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let secret = SecretKey::generate(params, &mut rng);
    let at = |name: &str| pending.0.join(name);
    let none = Metadata::new();
    let bar = progress(common, "making keys", (plan.len() + usize::from(plan.bootstrap)) as u64);
    let made = wire::generate_to_file(&at(SERVER), Existing::Keep, &secret, plan, &none, &mut rng, |done, _| {
        bar.set_position(done as u64)
    });
    bar.finish_and_clear();
    made.map_err(of_file(&at(SERVER)))?;
    let public = PublicKey::generate(&secret, &mut rng);
    let write = |name: &str, bytes: Result<Vec<u8>, WireError>| {
        bytes.and_then(|bytes| write_file(&at(name), &bytes, Existing::Keep)).map_err(of_file(&out.join(name)))
    };
    write(PUBLIC, wire::public_key::to_bytes(&public, &none))?;
    let spec = serde_json::to_string_pretty(params.spec()).map_err(CliError::failure)?;
    write(PARAMS, Ok(format!("{spec}\n").into_bytes()))?;
    let exposed = wire::secret_key::expose_to_bytes(&secret, &none);
    exposed.and_then(|bytes| write_secret_file(&at(SECRET), &bytes, Existing::Keep)).map_err(of_file(&out.join(SECRET)))?;
    let mut files = Vec::new();
    for name in names {
        let path = out.join(name);
        let failed = |e: std::io::Error| CliError::failure(format!("cannot write {}: {e}", path.display()));
        std::fs::rename(at(name), &path).map_err(failed)?;
        let bytes = path.metadata().map_err(failed)?.len();
        files.push(Written { path: path.clone(), bytes });
    }
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
        "{}: {:.1} bits of security; {} server keys, {:.1} s",
        report.params, report.security_bits, report.server_keys, report.seconds
    )];
    lines.extend(report.files.iter().map(|f| format!("{:>12} bytes  {}", f.bytes, f.path.display())));
    lines.push(format!(
        "keep {} to yourself: it decrypts. Server keys rest on circular security, see SECURITY.md",
        out.join(SECRET).display()
    ));
    emit(&lines.join("\n"))
}

/// A directory for files under construction; removed with what is left in it.
struct Pending(PathBuf);

impl Pending {
    fn create(out: &Path) -> Result<Self, CliError> {
        let path = out.join(format!(".keys-{}.part", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| CliError::usage(format!("cannot create {}: {e}", path.display())))?;
        Ok(Pending(path))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Nothing can be done if it stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
