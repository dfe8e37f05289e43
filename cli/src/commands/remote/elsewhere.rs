//! Commands with `--remote`: what they do by themselves otherwise, with a service.

use std::path::Path;

use everlevel_remote::Client;
use everlevel_wire::{ObjectKind, inspect_file};

use super::jobs::{self, Evaluation, Query, push};
use crate::commands::roles::args::{Bounds, CACHE_MIB, EncryptArgs, EvalArgs, SetOfFile};
use crate::commands::roles::{self, Sent};
use crate::commands::table::args::RunArgs;
use crate::console::args::Common;
use crate::console::device::Device;
use crate::console::errors::{CliError, of_service};
use crate::console::files::{check_apart, is_standard, of_file};
use crate::console::output::remark;

/// Passes if none of these options is given.
fn none_of(options: &[(bool, &str)]) -> Result<(), CliError> {
    match options.iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, option)) => Err(CliError::usage(format!(
            "expected --remote without {option}, which is for a computation here, found both"
        ))),
    }
}

/// The same of those about what files do not say, which the service does not ask.
fn none_of_set(set: &SetOfFile) -> Result<(), CliError> {
    none_of(&[
        (set.params.is_some(), "--params"),
        (set.allow_unknown_owner, "--allow-unknown-owner"),
    ])
}

/// `encrypt --remote`: what was encrypted is sent as well, and the server keys of its owner if the
/// service has none.
pub fn encrypt(client: &Client, args: &EncryptArgs, common: &Common) -> Result<(), CliError> {
    if is_standard(&args.out.out) {
        return Err(CliError::usage(
            "--remote: what is encrypted is sent as a file: give one to --out",
        ));
    }
    // Of several columns each has a file in a directory.
    let out = &args.out.out;
    let each = args.columns.iter().map(|name| out.join(format!("{name}.ct")));
    for path in each.chain([out.clone()]) {
        check_apart(&path, args.place.access.files())?;
    }
    roles::encrypt(args, common, &|files| {
        let mut sent = Sent::new();
        let mut send = |path: &Path| {
            let id = push(client, path, common)?;
            sent.insert(path.display().to_string(), id.to_string());
            Ok::<(), CliError>(())
        };
        send_server_keys(client, &args.key, files, &mut send)?;
        files.iter().try_for_each(|path| send(path))?;
        Ok(Some(sent))
    })
}

/// Sends the server keys that lie beside the key, unless the service has some of this owner.
fn send_server_keys(
    client: &Client,
    key: &Path,
    files: &[&Path],
    send: &mut impl FnMut(&Path) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let owner_of =
        |path: &Path| Ok::<_, CliError>(inspect_file(path).map_err(of_file(path))?.owner);
    let owners = files.iter().map(|path| owner_of(path)).collect::<Result<Vec<_>, _>>()?;
    // Columns with one possible value have no ciphertext, and belong to nobody.
    let Some(owner) = owners.into_iter().flatten().next() else { return Ok(()) };
    let (kind, name) = (ObjectKind::SERVER_KEYS.to_string(), format!("{owner:#}"));
    let there = client.objects().map_err(of_service)?;
    if there.iter().any(|found| found.kind == kind && found.owner.as_ref() == Some(&name)) {
        return Ok(());
    }
    let beside = key.with_file_name("server.keys");
    if beside.exists() && owner_of(&beside)? == Some(owner) {
        return send(&beside);
    }
    remark(format_args!(
        "note: the service has no server keys of the secret key {name}, and {} is not of it: send \
         them by `everlevel remote push` before anything is computed",
        beside.display()
    ));
    Ok(())
}

/// `eval --remote`.
pub fn eval(client: &Client, args: &EvalArgs, common: &Common) -> Result<(), CliError> {
    let (server, believed) = (&args.server, &args.server.bounds);
    none_of(&[
        (args.on.device != Device::Cpu, "--device"),
        (server.memory.cache != CACHE_MIB, "--cache"),
        (server.memory.seeded_keys, "--seeded-keys"),
        (believed.bounds != Bounds::Stated, "--bounds"),
        (!believed.manifests.manifests.is_empty(), "--manifest"),
        (believed.manifests.key.manifest_key.is_some(), "--manifest-key"),
        (args.manifest.write_manifest.is_some(), "--write-manifest"),
    ])?;
    none_of_set(&server.set)?;
    let asked = Evaluation {
        access: &args.place.place.access,
        server_keys: &server.server_keys,
        program: &args.program,
        inputs: &args.inputs,
        lookups: &args.tables,
        pad: args.pad,
        out: &args.out,
        force: args.force,
    };
    jobs::evaluate(client, &asked, &args.place.manner, common)
}

/// `table run --remote`.
pub fn answer(client: &Client, args: &RunArgs, common: &Common) -> Result<(), CliError> {
    none_of(&[
        (args.on.device != Device::Cpu, "--device"),
        (args.memory.cache != CACHE_MIB, "--cache"),
        (args.memory.seeded_keys, "--seeded-keys"),
        (args.schema.is_some(), "--schema"),
        (!args.with.partners.is_empty(), "--with"),
    ])?;
    none_of_set(&args.set)?;
    let Some(table) = &args.table.table else {
        return none_of(&[(true, "--plain")]);
    };
    let asked = Query {
        access: &args.place.place.access,
        server_keys: &args.server_keys,
        table,
        plan: &args.input,
        constants: args.constants.as_deref(),
        out: &args.out,
    };
    jobs::ask(client, &asked, &args.place.manner, common)
}
