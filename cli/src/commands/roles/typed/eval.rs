//! `eval` on files of typed columns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use everlevel::files::Bounds;
use everlevel::lab::TypedInputs;
use everlevel::{Program, Server};
use everlevel_ring::Engine;
use everlevel_wire::{Metadata, ObjectKind, WireError};
use serde::Serialize;

use super::super::args::{EvalArgs, SetOfFile};
use super::super::files::{keys, of_input};
use super::super::inputs::of_program;
use super::super::manifest::of_results;
use super::super::report::report;
use super::super::work::{Work, compute};
use super::super::writer::ResultWriter;
use super::arrays::{read, write};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{create_directory, of_file, path_text};
use crate::console::output::progress;

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
    let (expected, found) = (ObjectKind::COLUMNS, ObjectKind::COLUMN_RESULTS);
    if let Some((_, path)) = files.iter().find(|(_, path)| kind(path) == Ok(found)) {
        return Err(of_file(path)(WireError::WrongKind { expected, found }));
    }
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
struct Output {
    name: String,
    what: &'static str,
    #[serde(rename = "type")]
    kind: Option<String>,
    low: String,
    high: String,
    ciphertexts: usize,
    #[serde(serialize_with = "path_text")]
    path: PathBuf,
    bytes: u64,
}

impl Output {
    /// For people.
    fn line(&self) -> String {
        let kind = self.kind.as_ref().map_or(String::new(), |kind| format!(" in {kind}"));
        let Output { name, what, low, high, bytes, .. } = self;
        format!("{what} {name}: {low}..{high}{kind}, {bytes} bytes: {}", self.path.display())
    }
}

/// A program on columns, and what it is run on.
struct Typed<'a> {
    args: &'a EvalArgs,
    program: &'a Program,
    files: &'a [Input<'a>],
    tables: BTreeMap<String, Vec<i128>>,
    bounds: Bounds,
    started: Instant,
    common: &'a Common,
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
    let bounds = args.server.bounds.believed()?;
    let tables = tables(&args.tables)?;
    let keys = keys(&args.server, common)?;
    let work = Typed { args, program, files, tables, bounds, started, common };
    compute(args.on.device, keys, work)
}

impl Work for Typed<'_> {
    fn on<E: Engine>(self, server: &Server<E>) -> Result<(), CliError> {
        let Typed { args, program, files, tables, bounds, started, common } = self;
        let params = server.params();
        let mut writer = ResultWriter::new(of_results(args, program, params)?);
        let inputs = columns(files, server, &bounds, &args.server.set)?;
        let bar = progress(common, "computing", (inputs.blocks() * program.len()) as u64);
        let step = &mut |done| bar.set_position(done as u64);
        let results = inputs.run(server, program, &tables, step);
        let results = results.map_err(|e| of_program(e, &args.program, CliError::from))?;
        bar.finish_and_clear();
        create_directory(&args.out)?;
        let mut outputs = Vec::new();
        for x in results {
            let out = args.out.join(format!("{}.ct", x.array.name));
            let (name, interval) = (x.array.name.clone(), x.interval()?);
            let kind = x.smallest()?.map(|t| t.to_string());
            let what = if x.is_total() { "total" } else { "column" };
            let ciphertexts = x.ciphertexts();
            let none = Metadata::new();
            let bytes = write(&out, args.force, params, vec![x], none, &mut writer)?;
            outputs.push(Output {
                name,
                what,
                kind,
                low: interval.low().to_string(),
                high: interval.high().to_string(),
                ciphertexts,
                path: out,
                bytes,
            });
        }
        writer.finish()?;
        report(params, server.bootstraps(), started, outputs, Output::line, common)
    }
}

/// All columns of the files; of a named file its only column has that name.
pub fn columns<E: Engine>(
    files: &[Input<'_>],
    server: &Server<E>,
    bounds: &Bounds,
    set: &SetOfFile,
) -> Result<TypedInputs<E>, CliError> {
    let mut inputs = TypedInputs::default();
    for (name, path) in files {
        let found = read(path, server.params(), bounds, set)?;
        inputs.add(server, *name, found).map_err(of_input(path))?;
    }
    Ok(inputs)
}

/// `NAME=FILE`: a column of integers each.
pub fn tables(texts: &[String]) -> Result<BTreeMap<String, Vec<i128>>, CliError> {
    let mut out = BTreeMap::new();
    for text in texts {
        let (name, path) = text.split_once('=').ok_or_else(|| {
            CliError::usage(format!("expected --lookup NAME=FILE, found {text:?}"))
        })?;
        let entries = crate::columns::integers(Path::new(path), 1 << 16)?;
        if out.insert(name.to_string(), entries).is_some() {
            return Err(CliError::usage(format!("table {name} is given twice")));
        }
    }
    Ok(out)
}
