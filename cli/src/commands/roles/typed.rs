//! Columns of typed integers: `encrypt --types`, `eval` and `decrypt` of files of columns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use everlevel::files::{Bounds, Bytes};
use everlevel::{
    Client, Error, IntegerColumn, IntegerValue, NamedIntegers, Params, Plaintext, Program,
    SecretKey, Server, Type,
};
use everlevel_integers::{Encoded, ProgramError};
use everlevel_scheme::{SchemeError, same_owner};
use everlevel_wire::file::{write_file, write_secret_file};
use everlevel_wire::{Metadata, ObjectKind};
use serde::Serialize;

use super::args::{DecryptArgs, EncryptArgs, EvalArgs, OutArg, SetOfFile};
use super::files::{EncryptionKey, of_decrypted, read_object, server};
use super::manifest::ManifestWriter;
use crate::columns::typed::{self, Named};
use crate::columns::{Format, Header};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_free, create_directory, existing, of_file, of_output,
};
use crate::console::output::{emit, emit_json, progress};

#[derive(Serialize)]
struct ColumnReport {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    ciphertexts: usize,
}

/// Runs `encrypt --types`.
pub fn encrypt(args: &EncryptArgs, types: &str, common: &Common) -> Result<(), CliError> {
    check_free(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.input])?;
    let types = typed::types(types)?;
    if args.header == Header::No {
        return Err(CliError::usage(
            "--header no: columns of --types are found by their names in the header",
        ));
    }
    let key = EncryptionKey::read(&args.key, &args.set, common)?;
    let params = key.params();
    let (manifest, shared) = (&args.manifest, &args.manifest_key);
    let files = [args.input.as_path(), &args.out.out];
    let manifest = ManifestWriter::begin(manifest, shared, params, args.out.force, &files)?;
    let read = typed::read(&args.input, &types, params.slots())?;
    let values = read.first().map_or(0, |column| column.values.len());
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let mut encrypt = |slots: &[u64]| {
        let plain = Plaintext::encode(params, slots)?;
        match &key {
            EncryptionKey::Public(key) => key.encrypt(&plain, &mut rng),
            EncryptionKey::Secret(key) => key.encrypt(&plain, &mut rng),
        }
    };
    let (mut columns, mut reports) = (Vec::new(), Vec::new());
    for Named { name, kind, values, .. } in read {
        let encoded = Encoded::new(&values, kind, params.slots())?;
        let column: IntegerColumn = encoded.encrypt(&mut encrypt)?;
        let ciphertexts = column.ciphertexts();
        reports.push(ColumnReport { name: name.clone(), kind: kind.to_string(), ciphertexts });
        columns.push((name, column.into()));
    }
    let bytes = write(&args.out, params, &columns, &key.metadata(), manifest)?;
    if common.json {
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "values": values,
            "slots": params.slots(),
            "columns": reports,
            "bytes": bytes,
        }));
    }
    let mut lines: Vec<String> = reports
        .iter()
        .map(|c| format!("{}: {}, {} ciphertexts", c.name, c.kind, c.ciphertexts))
        .collect();
    lines.push(format!(
        "{}: {values} values in {} slots, {bytes} bytes: {}",
        params.name(),
        params.slots(),
        args.out.out.display()
    ));
    emit(&lines.join("\n"))
}

/// Writes a file of columns, and the manifest that lists it if there is to be one.
fn write(
    out: &OutArg,
    params: &Params,
    columns: &Vec<NamedIntegers>,
    metadata: &Metadata,
    mut manifest: Option<ManifestWriter>,
) -> Result<u64, CliError> {
    let bytes = write_listed(out, params, columns, metadata, &mut manifest)?;
    manifest.map_or(Ok(()), ManifestWriter::finish)?;
    Ok(bytes)
}

fn write_listed(
    out: &OutArg,
    params: &Params,
    columns: &Vec<NamedIntegers>,
    metadata: &Metadata,
    manifest: &mut Option<ManifestWriter>,
) -> Result<u64, CliError> {
    let bytes = columns.to_bytes(params, metadata).map_err(of(&out.out))?;
    if let Some(manifest) = manifest {
        manifest.list(&bytes).map_err(of_file(&out.out))?;
    }
    write_file(&out.out, &bytes, existing(out.force)).map_err(of_output(&out.out))?;
    Ok(bytes.len() as u64)
}

/// An error with the file that it is about.
fn of(path: &Path) -> impl Fn(Error) -> CliError + '_ {
    move |e| match e {
        Error::Wire(e) => of_file(path)(e),
        Error::Scheme(e @ SchemeError::UnknownOwner { .. }) => of_decrypted(path)(e),
        e => {
            let code = e.code();
            CliError::usage(format!("{}: {e}", path.display())).with_code(code)
        }
    }
}

/// Reads a file of columns of these parameters.
pub fn read(
    path: &Path,
    params: &Params,
    bounds: &Bounds,
    set: &SetOfFile,
) -> Result<Vec<NamedIntegers>, CliError> {
    let (bytes, summary) = read_object(path)?;
    let options = set.options().believing(bounds.policy(&summary.metadata));
    Ok(Bytes::from_bytes(params, &bytes, &options).map_err(of(path))?.0)
}

/// A file, and the name before it, if it has one.
pub type Input<'a> = (Option<&'a str>, &'a Path);

/// The files of columns among the inputs of `eval`, each with the name before it, if it has one;
/// none if there is no such file.
pub fn inputs(texts: &[String]) -> Result<Option<Vec<Input<'_>>>, CliError> {
    let mut files = Vec::with_capacity(texts.len());
    for text in texts {
        let named = text.split_once('=').filter(|(name, file)| {
            !name.is_empty() && !file.is_empty() && !Path::new(text).exists()
        });
        files.push(match named {
            Some((name, file)) => (Some(name), Path::new(file)),
            None => (None, Path::new(text)),
        });
    }
    let kind = |path: &Path| everlevel_wire::inspect_file(path).map(|summary| summary.kind);
    if !files.iter().any(|(_, path)| kind(path) == Ok(ObjectKind::COLUMNS)) {
        return Ok(None);
    }
    for (_, path) in &files {
        if kind(path).map_err(of_file(path))? != ObjectKind::COLUMNS {
            return Err(CliError::usage(format!(
                "{}: expected columns of typed integers, as other inputs are: encrypt it with \
                 --types",
                path.display()
            )));
        }
    }
    Ok(Some(files))
}

#[derive(Serialize)]
struct Report {
    params: String,
    bootstraps: usize,
    outputs: Vec<Output>,
    seconds: f64,
}

#[derive(Serialize)]
struct Output {
    name: String,
    what: &'static str,
    #[serde(rename = "type")]
    kind: Option<String>,
    low: String,
    high: String,
    ciphertexts: usize,
    path: PathBuf,
    bytes: u64,
}

/// Runs `eval` on files of columns.
pub fn eval(
    args: &EvalArgs,
    program: &Program,
    files: &[Input<'_>],
    common: &Common,
) -> Result<(), CliError> {
    let started = Instant::now();
    if args.pad {
        return Err(CliError::usage(
            "--pad is for values modulo p^r: columns of typed integers in one operation have to \
             have one length",
        ));
    }
    let out = |name: &str| OutArg { out: args.out.join(format!("{name}.ct")), force: args.force };
    let bounds = args.server.bounds.believed()?;
    let tables = tables(&args.tables)?;
    let server = server(&args.server, common)?;
    let mut manifest = super::manifest::of_results(args, program, server.params())?;
    let inputs = columns(files, &server, &bounds, &args.server.set)?;
    let ints = server.integers()?;
    let bar = progress(common, "computing", program.len() as u64);
    let results = ints
        .run(program, &inputs, &tables, &mut |done| bar.set_position(done as u64))
        .map_err(|e| told(&e, &args.program))?;
    bar.finish_and_clear();
    create_directory(&args.out)?;
    let mut outputs = Vec::new();
    for (name, value) in results {
        let (interval, out) = (value.interval(), out(&name));
        let what = if matches!(value, IntegerValue::Total(_)) { "total" } else { "column" };
        let ciphertexts = value.values().count();
        let columns = vec![(name.clone(), value)];
        let none = Metadata::new();
        let bytes = write_listed(&out, server.params(), &columns, &none, &mut manifest)?;
        outputs.push(Output {
            name,
            what,
            kind: Type::smallest(interval).map(|t| t.to_string()),
            low: interval.low().to_string(),
            high: interval.high().to_string(),
            ciphertexts,
            path: out.out,
            bytes,
        });
    }
    manifest.map_or(Ok(()), ManifestWriter::finish)?;
    let report = Report {
        params: server.params().name().into(),
        bootstraps: server.bootstraps(),
        outputs,
        seconds: started.elapsed().as_secs_f64(),
    };
    if common.json {
        return emit_json(&report);
    }
    let line = |o: &Output| {
        let kind = o.kind.as_ref().map_or(String::new(), |kind| format!(" in {kind}"));
        let (name, path) = (&o.name, o.path.display());
        format!("{} {name}: {}..{}{kind}, {} bytes: {path}", o.what, o.low, o.high, o.bytes)
    };
    let mut lines: Vec<String> = report.outputs.iter().map(line).collect();
    lines.push(format!(
        "{}: {} bootstraps, {:.1} s",
        report.params, report.bootstraps, report.seconds
    ));
    emit(&lines.join("\n"))
}

/// What the program asks for that cannot be is the user's to change; what fails is not.
fn told(e: &ProgramError, text: &str) -> CliError {
    let at = everlevel_circuit::expression::ExpressionError {
        column: e.column,
        problem: e.error.to_string(),
    };
    CliError::program(&at, text).with_code(e.code())
}

/// All columns of the files, by name; of a named file its only column has that name.
fn columns(
    files: &[Input<'_>],
    server: &Server,
    bounds: &Bounds,
    set: &SetOfFile,
) -> Result<BTreeMap<String, IntegerColumn>, CliError> {
    let owner = server.keys().owner();
    let mut out = BTreeMap::new();
    for (name, path) in files {
        let usage = |problem: String| CliError::usage(format!("{}: {problem}", path.display()));
        let found = read(path, server.params(), bounds, set)?;
        if name.is_some() && found.len() != 1 {
            let problem = "give it without NAME=, as its columns have names";
            return Err(usage(format!("expected one column, found {}: {problem}", found.len())));
        }
        for (own, value) in found {
            let owners = value.values().map(|v| v.get().owner());
            owners
                .into_iter()
                .try_for_each(|x| same_owner(x, owner, "evaluation"))
                .map_err(|e| usage(e.to_string()).with_code(e.code()))?;
            let name = name.map_or(own, str::to_string);
            let IntegerValue::Column(column) = value else {
                return Err(usage(format!("{name} is a total: it can be decrypted only")));
            };
            if out.insert(name.clone(), column).is_some() {
                return Err(usage(format!("column {name} is there twice")));
            }
        }
    }
    Ok(out)
}

/// `NAME=FILE`: a column of integers each.
fn tables(texts: &[String]) -> Result<BTreeMap<String, Vec<i128>>, CliError> {
    let mut out = BTreeMap::new();
    for text in texts {
        let (name, path) = text.split_once('=').ok_or_else(|| {
            CliError::usage(format!("expected --table NAME=FILE, found {text:?}"))
        })?;
        let entries = crate::columns::integers(Path::new(path), 1 << 16)?;
        if out.insert(name.to_string(), entries).is_some() {
            return Err(CliError::usage(format!("table {name} is given twice")));
        }
    }
    Ok(out)
}

/// Runs `decrypt` on a file of columns.
pub fn decrypt(
    args: &DecryptArgs,
    secret: SecretKey,
    format: Option<Format>,
    common: &Common,
) -> Result<(), CliError> {
    let input = &args.input;
    for (given, option) in [
        (args.for_sharing, "--for-sharing"),
        (args.signed, "--signed"),
        (args.wrapping, "--wrapping"),
        (args.all, "--all"),
    ] {
        if given {
            let why = "is for values modulo p^r, and these are columns of typed integers";
            return Err(CliError::usage(format!("{}: {option} {why}", input.display())));
        }
    }
    let bounds = args.manifests.believed(args.bounds)?.unwrap_or(Bounds::Stated);
    let found = read(input, secret.params(), &bounds, &args.set)?;
    let client = Client::with_secret(secret);
    // All of it, before some of it is refused: time does not tell what was wrong.
    let opened: Vec<_> =
        found.iter().map(|(_, value)| client.decrypt_column::<i128>(value)).collect();
    let mut columns = Vec::with_capacity(found.len());
    for ((name, value), values) in found.into_iter().zip(opened) {
        let values = values.map_err(of(input))?.into();
        let interval = value.interval();
        let kind = Type::ranged(interval.low(), interval.high())?;
        let total = matches!(value, IntegerValue::Total(_));
        columns.push(Named { name, kind, values, total });
    }
    let values: usize = columns.iter().map(|column| column.values.len()).sum();
    match (&args.out, format) {
        (Some(out), Some(format)) => {
            let bytes = typed::bytes(format, &columns)?;
            write_secret_file(out, &bytes, existing(args.force)).map_err(of_output(out))?;
            let params = client.params().name();
            if common.json {
                return emit_json(&serde_json::json!({
                    "params": params, "columns": columns.len(), "values": values, "out": out,
                }));
            }
            emit(&format!("{} columns, {values} values: {}", columns.len(), out.display()))
        }
        _ if common.json => emit(&typed::json(&columns)?),
        _ => {
            let text = typed::bytes(Format::Csv, &columns)?;
            emit(String::from_utf8_lossy(&text).trim_end())
        }
    }
}
