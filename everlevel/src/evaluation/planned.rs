//! The cost of a program on typed columns before there are keys or data.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{
    Estimate, IntegersError, Origin, ProgramError, Rehearsal, TablePlans, Type, best_estimate,
    index_level,
};
use everlevel_scheme::{KeyPlan, Level, NoOp, Params};

use super::error::EvaluationError;
use super::lowest::{either, lowest, refined};
use crate::error::Error;
use crate::plan::estimates::{best_of_secure, cost};
use crate::plan::levels::levels_of;
use crate::planner::bootstrap_plan;
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
    /// The levels at which columns are encrypted, by name, the top for others; `None`: the lowest
    /// ones at which the program takes no more than at the top, if it needs no bootstrapping.
    pub levels: Option<&'a BTreeMap<String, Level>>,
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
        let (plans, mut place) = (TablePlans::default(), None);
        let sets = vec![params.clone()];
        let found = self.best_of(sets, &plans, Minimize::Latency, memory_bytes, &mut place);
        found.map(|found| self.refined(found, &plans)).map_err(|error| placed(error, place))
    }

    /// The cost on the set with 128 bits of security on which it is least, among those on which the
    /// program takes at most `memory_bytes` bytes of memory.
    ///
    /// # Errors
    /// As [`TypedProgram::estimate`], if no set is left.
    pub fn best(&self, minimize: Minimize, memory_bytes: u64) -> Result<Estimate, EvaluationError> {
        let (plans, mut place) = (TablePlans::default(), None);
        let best = |sets| self.best_of(sets, &plans, minimize, memory_bytes, &mut place);
        let found = best_of_secure(self.rows, minimize, best);
        found.map(|found| self.refined(found, &plans)).map_err(|error| placed(error, place))
    }

    /// Fewer relinearization keys than those of an estimate ([`KeyPlan::smaller`]), if the program
    /// can be computed with them and no others on columns that either key has just encrypted at the
    /// levels of the estimate, as two more rehearsals tell; else those of the estimate.
    pub fn smaller_keys(&self, found: &Estimate) -> KeyPlan {
        let smaller = found.keys.smaller(&found.params);
        if smaller != found.keys && self.suffice(&smaller, found) {
            return smaller;
        }
        found.keys.clone()
    }

    /// Whether a server with these keys and no others can compute the program as estimated.
    fn suffice(&self, keys: &KeyPlan, found: &Estimate) -> bool {
        let params = &found.params;
        let levels = levels_of(found, self.types.iter().map(|(name, _)| name.as_str()));
        let plan = found.bootstraps.then(|| bootstrap_plan(params)).transpose();
        let (Ok(indexes), Ok(plan)) = (self.index_levels(params), plan) else { return false };
        [Origin::Public, Origin::Secret].into_iter().all(|origin| {
            let scheme = NoOp::blank(params).holding(keys.clone());
            let Ok(rehearsal) = Rehearsal::on(scheme, plan.clone()) else { return false };
            let rehearsal = rehearsal.with_side_by_side(found.side_by_side);
            self.rehearsed(&rehearsal, origin, &levels, &indexes).is_ok()
        })
    }

    /// The best of some sets. `place` becomes the last error of the program.
    fn best_of(
        &self,
        sets: Vec<Params>,
        plans: &TablePlans,
        minimize: Minimize,
        memory_bytes: u64,
        place: &mut Option<ProgramError>,
    ) -> Result<Estimate, IntegersError> {
        let rehearse = |rehearsal: &Rehearsal| {
            let found = self.leveled(rehearsal).map_err(|e| {
                let error = e.error.clone();
                *place = Some(e);
                error
            })?;
            match found.memory_bytes() <= memory_bytes {
                true => Ok(found),
                false => self.refined(found, plans).within(memory_bytes),
            }
        };
        best_estimate(sets, plans, rehearse, |x| cost(minimize, x))
    }

    /// The cost in a rehearsal at the levels that are stated, or at the lowest one.
    fn leveled(&self, rehearsal: &Rehearsal) -> Result<Estimate, ProgramError> {
        let params = rehearsal.params();
        let indexes = self.index_levels(params)?;
        let rehearse = |rehearsal: &Rehearsal, origin: Origin, levels: &[Level]| {
            self.rehearsed(rehearsal, origin, levels, &indexes)
        };
        let Some(stated) = self.levels else {
            return lowest(rehearsal, self.types.len(), rehearse);
        };
        let named = |name: &&String| self.types.iter().any(|(other, _)| other == *name);
        if let Some(other) = stated.keys().find(|name| !named(name)) {
            let problem = format!("a level of {other:?}, which is no column of the program");
            return Err(unplaced(IntegersError::Parts { problem }));
        }
        let top = params.chain().top();
        let level = |(name, _): &(String, Type)| stated.get(name).copied().unwrap_or(top);
        let levels: Vec<Level> = self.types.iter().map(level).collect();
        either(|origin, levels| rehearse(&rehearsal.again(), origin, levels), &levels)
    }

    /// The same with lower levels for columns that are used late, unless levels are stated.
    fn refined(&self, found: Estimate, plans: &TablePlans) -> Estimate {
        if self.levels.is_some() {
            return found;
        }
        let Ok(indexes) = self.index_levels(&found.params) else { return found };
        let names: Vec<&str> = self.types.iter().map(|(name, _)| name.as_str()).collect();
        refined(found, plans, &names, |rehearsal: &Rehearsal, origin, levels: &[Level]| {
            self.rehearsed(rehearsal, origin, levels, &indexes)
        })
    }

    /// The levels of the indexes of the columns; `None` for those without one.
    fn index_levels(&self, params: &Params) -> Result<Vec<Option<Level>>, ProgramError> {
        let named = |name: &&String| self.types.iter().any(|(other, _)| other == *name);
        if let Some(other) = self.indexes.iter().find(|name| !named(name)) {
            let problem = format!("an index of {other:?}, which is no column of the program");
            return Err(unplaced(IntegersError::Parts { problem }));
        }
        let index = |(name, kind): &(String, Type)| {
            self.indexes.contains(name).then(|| index_level(params, *kind)).transpose()
        };
        self.types.iter().map(index).collect::<Result<_, _>>().map_err(unplaced)
    }

    /// The cost in a rehearsal, on columns that one of the keys has just encrypted, with digits at
    /// these levels.
    fn rehearsed(
        &self,
        rehearsal: &Rehearsal,
        origin: Origin,
        levels: &[Level],
        indexes: &[Option<Level>],
    ) -> Result<Estimate, ProgramError> {
        let slots = rehearsal.params().slots();
        let blocks = self.rows.div_ceil(slots);
        if let (true, Err(column)) = (blocks > 1, self.program.in_parts()) {
            let expected = format!(
                "at most {slots}, the slots of this set, for what takes a column as a whole"
            );
            let error = IntegersError::Length { found: self.rows, expected };
            return Err(ProgramError { column, error });
        }
        let mut columns = BTreeMap::new();
        for (((name, kind), level), index) in self.types.iter().zip(levels).zip(indexes) {
            let length = self.rows.min(slots);
            let column = rehearsal.argument(*kind, length, (origin, *level), *index);
            columns.insert(name.clone(), column.map_err(unplaced)?);
        }
        let blocks = blocks as u64;
        let found = Estimate::of_program(rehearsal, self.program, &columns, self.tables, blocks)?;
        Ok(found.with_seeded_keys(self.seeded_keys))
    }
}

/// The error of a program as a whole.
fn unplaced(error: IntegersError) -> ProgramError {
    ProgramError { column: 1, error }
}

/// The error with its place in the program, if it has one.
fn placed(error: IntegersError, place: Option<ProgramError>) -> EvaluationError {
    match place {
        Some(place) if place.error == error => EvaluationError::Program(place),
        _ => Error::from(error).into(),
    }
}
