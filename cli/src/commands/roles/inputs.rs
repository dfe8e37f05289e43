//! The files of values modulo p^r that a program reads.

use std::collections::BTreeMap;
use std::path::Path;

use everlevel::files::Bounds;
use everlevel::lab::{EvaluationError, ModularInputs};
use everlevel::{Error, Server};
use everlevel_circuit::expression::{ExpressionError, Program};
use everlevel_ring::Engine;

use super::args::SetOfFile;
use super::files::{Column, of_input};
use crate::console::errors::CliError;

/// Why a program is not computed: what it asks for that cannot be is the user's to change, what
/// fails is told by `failed`.
pub fn of_program(e: EvaluationError, text: &str, failed: impl Fn(Error) -> CliError) -> CliError {
    match e {
        EvaluationError::Library(e) => failed(e),
        EvaluationError::Program(e) => {
            let (column, problem) = (e.column, e.error.to_string());
            CliError::program(&ExpressionError { column, problem }, text).with_code(e.code())
        }
        EvaluationError::Lengths { .. } => {
            CliError::usage(format!("{e}; --pad fills up the shorter ones with 0"))
        }
        e => CliError::usage(e.to_string()),
    }
}

/// `NAME=FILE`.
fn named(text: &str) -> Result<(&str, &Path), CliError> {
    let parts = text.split_once('=').filter(|(name, file)| !name.is_empty() && !file.is_empty());
    let (name, file) = parts.ok_or_else(|| {
        let missing = if Path::new(text).exists() { "" } else { ", and there is no such file" };
        CliError::usage(format!(
            "expected NAME=FILE for an input, or a file of typed columns, which `encrypt --types` \
             writes, found {text:?}{missing}"
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

    /// The ciphertexts, which have to belong to the owner of the server keys. Columns have to be of
    /// one length; with `pad` shorter ones are filled up with 0.
    pub fn read<E: Engine>(
        &self,
        server: &Server<E>,
        bounds: &Bounds,
        set: &SetOfFile,
        pad: bool,
    ) -> Result<ModularInputs<E>, CliError> {
        let mut inputs = ModularInputs::default();
        for (name, path) in &self.0 {
            let Column { ciphertexts, metadata } =
                Column::read(path, server.params(), bounds, set)?;
            inputs.add(server, name, ciphertexts, &metadata).map_err(of_input(path))?;
        }
        inputs.aligned(server, pad).map_err(|e| of_program(e, "", CliError::from))
    }
}
