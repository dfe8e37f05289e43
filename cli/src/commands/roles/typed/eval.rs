//! `eval` on files of typed columns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use everlevel::files::Bounds;
use everlevel::{IntegerColumn, IntegerValue, Program, Server, Type};
use everlevel_integers::ProgramError;
use everlevel_scheme::same_owner;
use everlevel_wire::columns::ColumnArray;
use everlevel_wire::{Metadata, ObjectKind};
use serde::Serialize;

use super::super::args::{EvalArgs, SetOfFile};
use super::super::files::server;
use super::super::manifest::{ManifestWriter, of_results};
use super::arrays::{TypedArray, length, read, write};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{create_directory, of_file};
use crate::console::output::{emit, emit_json, progress};

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
    let out = |name: &str| args.out.join(format!("{name}.ct"));
    let bounds = args.server.bounds.believed()?;
    let tables = tables(&args.tables)?;
    let server = server(&args.server, common)?;
    let mut manifest = of_results(args, program, server.params())?;
    let inputs = columns(files, &server, &bounds, &args.server.set)?;
    let results = run(&server, program, &inputs, &tables, args, common)?;
    create_directory(&args.out)?;
    let mut outputs = Vec::new();
    for x in results {
        let out = out(&x.array.name);
        let (name, interval) = (x.array.name.clone(), x.interval()?);
        let what = if x.is_total() { "total" } else { "column" };
        let ciphertexts = x.ciphertexts();
        let (params, none) = (server.params(), Metadata::new());
        let bytes = write(&out, args.force, params, vec![x], none, &mut manifest)?;
        outputs.push(Output {
            name,
            what,
            kind: Type::smallest(interval).map(|t| t.to_string()),
            low: interval.low().to_string(),
            high: interval.high().to_string(),
            ciphertexts,
            path: out,
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

/// The results: of columns that are cut, part by part.
fn run(
    server: &Server,
    program: &Program,
    inputs: &BTreeMap<String, TypedArray>,
    tables: &BTreeMap<String, Vec<i128>>,
    args: &EvalArgs,
    common: &Common,
) -> Result<Vec<TypedArray>, CliError> {
    let parts = program.in_parts();
    let blocks = inputs.values().map(|x| x.blocks.len()).max().unwrap_or(0);
    if let (true, Err(column)) = (blocks > 1, parts) {
        return Err(CliError::usage(format!(
            "the program, column {column}: columns in {blocks} ciphertexts a digit are computed on \
             part by part, and this takes a column as a whole: only sum and count do, as results \
             by themselves; take a set with more slots, such as bgv-786433-n16, or a table"
        )));
    }
    let like = cut(inputs)?;
    let ints = server.integers()?;
    let bar = progress(common, "computing", (blocks * program.len()) as u64);
    let mut results: Vec<(String, Vec<IntegerValue>)> = Vec::new();
    for i in 0..blocks {
        let part = |(name, x): (&String, &TypedArray)| match x.blocks.get(i).or(x.blocks.first()) {
            Some(IntegerValue::Column(x)) => Some((name.clone(), x.clone())),
            _ => None,
        };
        let part: BTreeMap<String, IntegerColumn> = inputs.iter().filter_map(part).collect();
        let step = &mut |done| bar.set_position((i * program.len() + done) as u64);
        let found = ints.run(program, &part, tables, step).map_err(|e| told(&e, &args.program))?;
        for (name, value) in found {
            match results.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value),
                None => results.push((name, vec![value])),
            }
        }
    }
    bar.finish_and_clear();
    let shaped = like.filter(|_| parts.is_ok());
    Ok(results.into_iter().map(|(name, blocks)| of_result(name, blocks, shaped)).collect())
}

/// A result, in the shape of the inputs if it has entries where they have them.
fn of_result(name: String, blocks: Vec<IntegerValue>, like: Option<&ColumnArray>) -> TypedArray {
    let lengths: Option<Vec<usize>> = blocks.iter().map(length).collect();
    let total = blocks.iter().any(|x| matches!(x, IntegerValue::Total(_)));
    let whole = lengths.map(|lengths| lengths.into_iter().sum::<usize>());
    let vector = ColumnArray::vector(&name, blocks.len(), whole.filter(|_| !total));
    let array = match like.filter(|like| !total && like.blocks == blocks.len()) {
        Some(like) => ColumnArray { shape: like.shape.clone(), runs: like.runs, ..vector },
        None => vector,
    };
    TypedArray { array, blocks }
}

/// How columns are cut that are in several ciphertexts a digit: all of them alike, or standing for
/// columns of any length. None if they have several shapes.
fn cut(inputs: &BTreeMap<String, TypedArray>) -> Result<Option<&ColumnArray>, CliError> {
    let of_a_length = |x: &&TypedArray| x.array.shape.is_some() && !x.is_any_length();
    let mut arrays = inputs.values().filter(of_a_length).map(|x| &x.array);
    let Some(first) = arrays.next() else { return Ok(None) };
    let mut shapes = Some(first);
    for array in arrays {
        let alike = (array.shape == first.shape) && array.runs == first.runs;
        if !alike {
            shapes = None;
        }
        if !alike && (array.blocks > 1 || first.blocks > 1) {
            return Err(CliError::usage(format!(
                "{} and {} are columns of several lengths or shapes, in {} and {} ciphertexts a \
                 digit: give columns of one length",
                first.name, array.name, first.blocks, array.blocks
            )));
        }
    }
    Ok(shapes)
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
) -> Result<BTreeMap<String, TypedArray>, CliError> {
    let owner = server.keys().owner();
    let mut out = BTreeMap::new();
    for (name, path) in files {
        let usage = |problem: String| CliError::usage(format!("{}: {problem}", path.display()));
        let found = read(path, server.params(), bounds, set)?;
        if name.is_some() && found.len() != 1 {
            let problem = "give it without NAME=, as its columns have names";
            return Err(usage(format!("expected one column, found {}: {problem}", found.len())));
        }
        for mut x in found {
            let values = x.blocks.iter().flat_map(IntegerValue::values);
            let owners: Vec<_> = values.map(|v| v.get().owner()).collect();
            owners
                .into_iter()
                .try_for_each(|x| same_owner(x, owner, "evaluation"))
                .map_err(|e| usage(e.to_string()).with_code(e.code()))?;
            let name = name.map_or_else(|| x.array.name.clone(), str::to_string);
            if x.is_total() {
                return Err(usage(format!("{name} is a total: it can be decrypted only")));
            }
            x.array.name.clone_from(&name);
            if out.insert(name.clone(), x).is_some() {
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
            CliError::usage(format!("expected --lookup NAME=FILE, found {text:?}"))
        })?;
        let entries = crate::columns::integers(Path::new(path), 1 << 16)?;
        if out.insert(name.to_string(), entries).is_some() {
            return Err(CliError::usage(format!("table {name} is given twice")));
        }
    }
    Ok(out)
}
