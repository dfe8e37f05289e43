//! `everlevel eval` and `everlevel bootstrap`: with server keys alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use everlevel::files::Bounds;
use everlevel::lab::SchemeError;
use everlevel::{Error, Server, Value};
use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::Program;
use everlevel_scheme::same_owner;
use everlevel_wire::Metadata;
use serde::Serialize;

use super::args::{EvalArgs, OutArg, RefreshArgs, SetOfFile};
use super::files::{Column, computed_metadata, kept_metadata, server, values_of};
use super::manifest::{self, ManifestWriter};
use super::typed;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_free, create_directory};
use crate::console::output::{emit, emit_json, progress};

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
    path: PathBuf,
    bytes: u64,
    /// Of the integers, if it is known.
    range: Option<String>,
    level: usize,
    noise_bound_bits: f64,
    capacity_bits: f64,
}

/// The program, or where it is wrong.
pub fn parse(text: &str) -> Result<Program, CliError> {
    Program::parse(text).map_err(|e| CliError::program(&e, text))
}

/// `NAME=FILE`.
fn named(text: &str) -> Result<(&str, &Path), CliError> {
    let parts = text.split_once('=').filter(|(name, file)| !name.is_empty() && !file.is_empty());
    let (name, file) = parts.ok_or_else(|| {
        CliError::usage(format!(
            "expected NAME=FILE for an input, or a file of typed columns, found {text:?}"
        ))
    })?;
    Ok((name, Path::new(file)))
}

/// The files that a program reads, by the names that it has for them.
pub struct Inputs<'a>(BTreeMap<&'a str, &'a Path>);

impl<'a> Inputs<'a> {
    /// From `NAME=FILE` each; names that the program does not read are refused.
    pub fn named(program: &Program, texts: &'a [String]) -> Result<Self, CliError> {
        let mut paths = BTreeMap::new();
        for (name, path) in texts.iter().map(|text| named(text)).collect::<Result<Vec<_>, _>>()? {
            if !program.inputs().any(|wanted| wanted == name) {
                let wanted: Vec<&str> = program.inputs().collect();
                return Err(CliError::usage(format!(
                    "the program does not read {name}: it reads {}",
                    wanted.join(", ")
                )));
            }
            if paths.insert(name, path).is_some() {
                return Err(CliError::usage(format!("{name} is given twice")));
            }
        }
        Ok(Inputs(paths))
    }

    /// Where they are.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.values().copied()
    }

    /// The ciphertexts, which have to belong to the owner of the server keys, and how many values
    /// the columns had, the longest one if they may be padded.
    pub fn read(
        &self,
        server: &Server,
        bounds: &Bounds,
        set: &SetOfFile,
        pad: bool,
    ) -> Result<(BTreeMap<String, Value>, Option<usize>), CliError> {
        let owner = server.keys().owner();
        let mut inputs = BTreeMap::new();
        let mut longest: Option<(usize, &str)> = None;
        for (name, path) in &self.0 {
            let (x, metadata) = Column::read(path, server.params(), bounds, set)?.ranged(path)?;
            same_owner(x.get().owner(), owner, "evaluation").map_err(|e| {
                CliError::usage(format!("{}: {e}", path.display())).with_code(e.code())
            })?;
            if let Some(count) = values_of(&metadata) {
                if let Some((other, of)) = longest.filter(|(other, _)| *other != count && !pad) {
                    return Err(CliError::usage(format!(
                        "{of} has {other} values and {name} has {count}: rows would not belong \
                         together; --pad takes 0 for those that are missing at the end"
                    )));
                }
                longest = longest.max(Some((count, *name)));
            }
            inputs.insert((*name).to_string(), x);
        }
        Ok((inputs, longest.map(|(count, _)| count)))
    }
}

/// What the user can change is a usage error.
pub fn told(e: Error) -> CliError {
    match &e {
        Error::Circuit(
            CircuitError::MissingInput { .. }
            | CircuitError::NoRoute { .. }
            | CircuitError::NoBootstrapping
            | CircuitError::TypedOnly { .. },
        )
        | Error::Circuit(CircuitError::UnknownDimension { .. })
        | Error::Circuit(CircuitError::Scheme(
            SchemeError::MissingKey { .. } | SchemeError::PlainModulusMismatch { .. },
        )) => CliError::usage(e),
        Error::Circuit(CircuitError::Scheme(SchemeError::NoiseOverflow { .. })) => {
            CliError::failure(format!(
                "{e}; if the input was computed elsewhere, --bounds stated trusts what it states"
            ))
            .with_code(e.code())
        }
        _ => e.into(),
    }
}

/// Runs `eval`.
pub fn run(args: &EvalArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    let program = parse(&args.program)?;
    let out = |name: &str| OutArg { out: args.out.join(format!("{name}.ct")), force: args.force };
    for name in program.outputs() {
        check_free(&out(name).out, args.force)?;
        check_apart(&out(name).out, manifest::files_read(args))?;
    }
    if let Some(files) = typed::inputs(&args.inputs)? {
        return typed::eval(args, &program, &files, common);
    }
    if !args.tables.is_empty() {
        return Err(CliError::usage("--table: tables are for columns of typed integers"));
    }
    let inputs = Inputs::named(&program, &args.inputs)?;
    let bounds = args.server.bounds.believed()?;
    let server = server(&args.server, common)?;
    let mut manifest = manifest::of_results(args, &program, server.params())?;
    let (inputs, values) = inputs.read(&server, &bounds, &args.server.set, args.pad)?;
    let moved = moved_rows(&program, values, server.params().slots())?;
    let bar = progress(common, "computing", program.len() as u64);
    let results =
        server.run(&program, &inputs, &mut |done| bar.set_position(done as u64)).map_err(told)?;
    bar.finish_and_clear();
    create_directory(&args.out)?;
    let mut outputs = Vec::new();
    for name in program.outputs() {
        let x = &results[name];
        // Rows that are in other slots now are all shown.
        let values = values.filter(|_| !moved.contains(name));
        let metadata = computed_metadata(values, x.range(), server.params());
        outputs.push(written(&server, name, x, &out(name), &metadata, &mut manifest)?);
    }
    manifest.map_or(Ok(()), ManifestWriter::finish)?;
    finish(&server, server.bootstraps(), outputs, started, common)
}

/// The results whose rows are in other slots than those of columns that leave slots empty.
fn moved_rows(
    program: &Program,
    values: Option<usize>,
    slots: usize,
) -> Result<BTreeSet<&str>, CliError> {
    match values {
        Some(values) if values < slots => program.moved_rows().map_err(|column| {
            CliError::usage(format!(
                "the program, column {column}: sum adds up all {slots} slots, and those without a \
                 value, of which there are {}, would not hold 0 there: add constants after sum",
                slots - values
            ))
        }),
        _ => Ok(BTreeSet::new()),
    }
}

/// Runs `bootstrap`.
pub fn bootstrap(args: &RefreshArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    check_free(&args.out.out, args.out.force)?;
    let believed = &args.server.bounds.manifests;
    let read = std::iter::once(&args.input).chain(&believed.manifests);
    let read: Vec<&Path> = read.chain(&believed.key.manifest_key).map(PathBuf::as_path).collect();
    check_apart(&args.out.out, &read)?;
    let bounds = args.server.bounds.believed()?;
    let server = server(&args.server, common)?;
    let files = [&read[..], &[&args.out.out]].concat();
    let (manifest, force) = (&args.manifest, args.out.force);
    let mut manifest =
        ManifestWriter::begin(manifest, &believed.key, server.params(), force, &files)?;
    let (x, metadata) = Column::read(&args.input, server.params(), &bounds, &args.server.set)?
        .ranged(&args.input)?;
    let fresh = Value::from(server.bootstrap(&x.get()).map_err(told)?).within(x.range());
    let name =
        args.input.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let metadata = kept_metadata(metadata);
    let output = written(&server, &name, &fresh, &args.out, &metadata, &mut manifest)?;
    manifest.map_or(Ok(()), ManifestWriter::finish)?;
    finish(&server, 1, vec![output], started, common)
}

fn written(
    server: &Server,
    name: &str,
    x: &Value,
    out: &OutArg,
    metadata: &Metadata,
    manifest: &mut Option<ManifestWriter>,
) -> Result<Output, CliError> {
    let (params, range, x) = (server.params(), x.range(), x.get());
    let bytes =
        Column::write_listed(out, params, std::slice::from_ref(x.as_ref()), metadata, manifest)?;
    Ok(Output {
        name: name.into(),
        path: out.out.clone(),
        bytes,
        range: range.map(|range| range.to_string()),
        level: x.level().0,
        noise_bound_bits: x.noise_bound_bits(),
        capacity_bits: params.noise().capacity(x.meta()),
    })
}

fn finish(
    server: &Server,
    bootstraps: usize,
    outputs: Vec<Output>,
    started: Instant,
    common: &Common,
) -> Result<(), CliError> {
    let report = Report {
        params: server.params().name().into(),
        bootstraps,
        outputs,
        seconds: started.elapsed().as_secs_f64(),
    };
    if common.json {
        return emit_json(&report);
    }
    let line = |o: &Output| {
        let path = o.path.display();
        format!(
            "{}: {:.1} bits of capacity at level {}, {} bytes: {path}",
            o.name, o.capacity_bits, o.level, o.bytes
        )
    };
    let mut lines: Vec<String> = report.outputs.iter().map(line).collect();
    lines.push(format!(
        "{}: {} bootstraps, {:.1} s",
        report.params, report.bootstraps, report.seconds
    ));
    emit(&lines.join("\n"))
}
