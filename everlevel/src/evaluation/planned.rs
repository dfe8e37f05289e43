//! The cost of a program on typed columns before there are keys or data.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{
    Estimate, IntegersError, ProgramError, Rehearsal, Type, best_estimate, index_level,
};
use everlevel_scheme::{Level, Params};

use super::error::EvaluationError;
use crate::error::Error;
use crate::plan::estimates::{best_of_secure, cost};
use crate::requirements::Minimize;

/// A program with its public tables, and the columns that it will be run on.
pub struct TypedProgram<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its tables, by name.
    pub tables: &'a BTreeMap<String, Vec<i128>>,
    /// The names and types of the columns.
    pub types: &'a [(String, Type)],
    /// The names of those that are encrypted with an index.
    pub indexes: &'a [String],
    /// The number of rows of each column.
    pub rows: usize,
    /// Whether the server keeps the uniform halves of its keys as seeds in memory.
    pub seeded_keys: bool,
}

impl TypedProgram<'_> {
    /// The cost on a set: without bootstrapping if the program fits, otherwise with it.
    ///
    /// # Errors
    /// A program that cannot be computed on such columns on this set; more than `memory_bytes`
    /// bytes of memory ([`IntegersError::Memory`]).
    pub fn estimate(
        &self,
        params: &Params,
        memory_bytes: u64,
    ) -> Result<Estimate, EvaluationError> {
        let mut place = None;
        let sets = vec![params.clone()];
        let found = self.best_of(sets, Minimize::Latency, memory_bytes, &mut place);
        found.map(|(_, estimate)| estimate).map_err(|error| placed(error, place))
    }

    /// The cost on the set with 128 bits of security on which it is least, among those on which the
    /// program takes at most `memory_bytes` bytes of memory.
    ///
    /// # Errors
    /// As [`TypedProgram::estimate`], if no set is left.
    pub fn best(&self, minimize: Minimize, memory_bytes: u64) -> Result<Estimate, EvaluationError> {
        let mut place = None;
        let best = |sets| self.best_of(sets, minimize, memory_bytes, &mut place);
        let found = best_of_secure(self.rows, minimize, best);
        found.map(|(_, estimate)| estimate).map_err(|error| placed(error, place))
    }

    /// The best of some sets. `place` becomes the last error of the program.
    fn best_of(
        &self,
        sets: Vec<Params>,
        minimize: Minimize,
        memory_bytes: u64,
        place: &mut Option<ProgramError>,
    ) -> Result<(Level, Estimate), IntegersError> {
        let rehearse = |rehearsal: &Rehearsal| {
            let found = self.rehearsed(rehearsal).map_err(|e| {
                let error = e.error.clone();
                *place = Some(e);
                error
            })?;
            found.with_seeded_keys(self.seeded_keys).within(memory_bytes)
        };
        let found = best_estimate(sets, rehearse, |x| cost(minimize, x))?;
        Ok((found.params.chain().top(), found))
    }

    /// The cost in a rehearsal, on columns that were just encrypted with the public key. The keys
    /// are for columns that were encrypted with either key: their products meet at other levels.
    fn rehearsed(&self, rehearsal: &Rehearsal) -> Result<Estimate, ProgramError> {
        let slots = rehearsal.params().slots();
        let blocks = self.rows.div_ceil(slots);
        if let (true, Err(column)) = (blocks > 1, self.program.in_parts()) {
            let expected = format!(
                "at most {slots}, the slots of this set, for what takes a column as a whole"
            );
            let error = IntegersError::Length { found: self.rows, expected };
            return Err(ProgramError { column, error });
        }
        let unplaced = |error| ProgramError { column: 1, error };
        let (params, top) = (rehearsal.params(), rehearsal.params().chain().top());
        let named = |name: &&String| self.types.iter().any(|(other, _)| other == *name);
        if let Some(other) = self.indexes.iter().find(|name| !named(name)) {
            let problem = format!("an index of {other:?}, which is no column of the program");
            return Err(unplaced(IntegersError::Parts { problem }));
        }
        let index = |(name, kind): &(String, Type)| {
            self.indexes.contains(name).then(|| index_level(params, *kind)).transpose()
        };
        let indexes = self.types.iter().map(index).collect::<Result<Vec<_>, IntegersError>>();
        let indexes = indexes.map_err(unplaced)?;
        let on = |rehearsal: &Rehearsal, publicly: bool| {
            let mut columns = BTreeMap::new();
            for ((name, kind), index) in self.types.iter().zip(&indexes) {
                let length = self.rows.min(slots);
                let column = rehearsal.column_with_index(*kind, length, *index, |s, zero, own| {
                    let level = own.unwrap_or(top);
                    match publicly {
                        true => s.encrypt_publicly_at(zero, level),
                        false => s.encrypt_at(zero, level),
                    }
                });
                columns.insert(name.clone(), column.map_err(unplaced)?);
            }
            Estimate::of_program(rehearsal, self.program, &columns, self.tables, blocks as u64)
        };
        let again = rehearsal.again().map_err(unplaced)?;
        let secret = on(&again, false)?;
        let mut found = on(rehearsal, true)?;
        found.keys = found.keys.merge(&secret.keys);
        Ok(found)
    }
}

/// The error with its place in the program, if it has one.
fn placed(error: IntegersError, place: Option<ProgramError>) -> EvaluationError {
    match place {
        Some(place) if place.error == error => EvaluationError::Program(place),
        _ => Error::from(error).into(),
    }
}
