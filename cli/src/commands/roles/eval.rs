//! `everlevel eval` and `everlevel bootstrap`: with server keys alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use everlevel::files::Bounds;
use everlevel::lab::{ModularResult, SchemeError};
use everlevel::{Ciphertext, Error, Params, Server, Value, ValueRange};
use everlevel_circuit::CircuitError;
use everlevel_circuit::expression::Program;
use everlevel_ring::Engine;
use everlevel_wire::Metadata;
use serde::Serialize;

use super::args::{EvalArgs, OutArg, RefreshArgs};
use super::files::{Column, kept_metadata, keys, server, state_range};
use super::inputs::{Inputs, of_program};
use super::manifest::{self, ManifestWriter};
use super::report::report;
use super::typed;
use super::work::{Work, compute};
use super::writer::ResultWriter;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_free, check_standard, create_directory, is_standard, path_text,
};
use crate::console::output::progress;

#[derive(Serialize)]
struct Output {
    name: String,
    #[serde(serialize_with = "path_text")]
    path: PathBuf,
    bytes: u64,
    ciphertexts: usize,
    /// Of the integers, if it is known.
    range: Option<String>,
    /// Of the ciphertext with the least capacity, as what follows.
    level: usize,
    noise_bound_bits: f64,
    capacity_bits: f64,
}

impl Output {
    /// For people.
    fn line(&self) -> String {
        let path = self.path.display();
        format!(
            "{}: {:.1} bits of capacity at level {}, {} bytes: {path}",
            self.name, self.capacity_bits, self.level, self.bytes
        )
    }
}

/// The program, or where it is wrong.
pub fn parse(text: &str) -> Result<Program, CliError> {
    Program::parse(text).map_err(|e| CliError::program(&e, text))
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

/// The file of a result.
fn out(args: &EvalArgs, name: &str) -> OutArg {
    OutArg { out: args.out.join(format!("{name}.ct")), force: args.force }
}

/// A program on values modulo p^r, and what it is run on.
struct Modular<'a> {
    args: &'a EvalArgs,
    program: &'a Program,
    inputs: Inputs<'a>,
    bounds: Bounds,
    started: Instant,
    common: &'a Common,
}

/// Runs `eval`.
pub fn run(args: &EvalArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    args.on.device.check()?;
    let program = parse(&args.program)?;
    for name in program.outputs() {
        check_free(&out(args, name).out, args.force)?;
        check_apart(&out(args, name).out, manifest::files_read(args))?;
    }
    if let Some(files) = typed::inputs(&args.inputs)? {
        return typed::eval(args, &program, &files, common);
    }
    if !args.tables.is_empty() {
        return Err(CliError::usage("--lookup: tables are for columns of typed integers"));
    }
    let inputs = Inputs::named(&program, &args.inputs)?;
    let bounds = args.server.bounds.believed()?;
    let keys = keys(&args.server, common)?;
    let work = Modular { args, program: &program, inputs, bounds, started, common };
    compute(args.on.device, keys, work)
}

impl Work for Modular<'_> {
    fn on<E: Engine>(self, server: &Server<E>) -> Result<(), CliError> {
        let Modular { args, program, inputs, bounds, started, common } = self;
        let params = server.params();
        let mut writer = ResultWriter::new(manifest::of_results(args, program, params)?);
        let loaded = inputs.read(server, &bounds, &args.server.set, args.pad)?;
        let bar = progress(common, "computing", program.len() as u64);
        let step = &mut |done| bar.set_position(done as u64);
        let results = loaded.run(server, program, step);
        let results = results.map_err(|e| of_program(e, &args.program, told))?;
        bar.finish_and_clear();
        create_directory(&args.out)?;
        let mut outputs = Vec::new();
        for ModularResult { name, values, mut metadata } in results {
            let ranges: Vec<Option<ValueRange>> = values.iter().map(Value::range).collect();
            state_range(&mut metadata, &ranges, params);
            let out = out(args, &name);
            outputs.push(written(params, &name, &values, &out, &metadata, &mut writer)?);
        }
        writer.finish()?;
        report(params, server.bootstraps(), started, outputs, Output::line, common)
    }
}

/// Runs `bootstrap`.
pub fn bootstrap(args: &RefreshArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    check_standard(&args.out.out, common)?;
    check_free(&args.out.out, args.out.force)?;
    let believed = &args.server.bounds.manifests;
    let read = std::iter::once(&args.input).chain(&believed.manifests);
    let read: Vec<&Path> = read.chain(&believed.key.manifest_key).map(PathBuf::as_path).collect();
    check_apart(&args.out.out, read.iter().copied())?;
    let bounds = args.server.bounds.believed()?;
    let server = server(&args.server, common)?;
    let files = [&read[..], &[&args.out.out]].concat();
    let (manifest, force) = (&args.manifest, args.out.force);
    let manifest = ManifestWriter::begin(manifest, &believed.key, server.params(), force, &files)?;
    let mut writer = ResultWriter::new(manifest);
    let (params, input) = (server.params(), &args.input);
    let column = Column::read(input, params, &bounds, &args.server.set)?;
    let (array, metadata) = (column.array(input, params)?, column.metadata.clone());
    let values = column.values(input, params)?;
    let bar = progress(common, "bootstrapping", values.len() as u64);
    let mut fresh = Vec::with_capacity(values.len());
    for x in &values {
        fresh.push(Value::from(server.bootstrap(&x.get()).map_err(told)?).within(x.range()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let name =
        args.input.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let metadata = kept_metadata(metadata, array.as_ref());
    let output = written(params, &name, &fresh, &args.out, &metadata, &mut writer)?;
    writer.finish()?;
    if is_standard(&args.out.out) {
        return Ok(());
    }
    report(params, fresh.len(), started, vec![output], Output::line, common)
}

fn written(
    params: &Params,
    name: &str,
    xs: &[Value],
    out: &OutArg,
    metadata: &Metadata,
    writer: &mut ResultWriter,
) -> Result<Output, CliError> {
    let whole: Vec<Arc<Ciphertext>> = xs.iter().map(Value::get).collect();
    let bytes = Column::add_to(writer, &out.out, out.force, params, &whole, metadata)?;
    let capacity = |x: &Arc<Ciphertext>| params.noise().capacity(x.meta());
    let worst = whole.iter().min_by(|x, y| capacity(x).total_cmp(&capacity(y)));
    let worst = worst.ok_or_else(|| CliError::failure("a result without a ciphertext"))?;
    Ok(Output {
        name: name.into(),
        path: out.out.clone(),
        bytes,
        ciphertexts: whole.len(),
        range: joined(xs).map(|range| range.to_string()),
        level: worst.level().0,
        noise_bound_bits: worst.noise_bound_bits(),
        capacity_bits: capacity(worst),
    })
}

/// The range of all integers, if that of each ciphertext is known.
fn joined(xs: &[Value]) -> Option<ValueRange> {
    let ranges = xs.iter().map(Value::range).collect::<Option<Vec<_>>>()?;
    let low = ranges.iter().map(ValueRange::low).min()?;
    ValueRange::new(low, ranges.iter().map(ValueRange::high).max()?)
}
