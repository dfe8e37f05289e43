//! The keys and the levels that an operation on typed integers needs, as rehearsals show them.

use everlevel::lab::work_estimate;
use everlevel::{Estimate, IntegersError, KeyPlan, Level, Params, Type};
use everlevel_integers::{EstimatedInput, EstimatedStep, Origin, Rehearsal};
use everlevel_scheme::NoOp;

use super::args::IntegersArgs;
use super::operations::{ALL, Operation, named};
use crate::console::errors::CliError;

/// The names of the three columns in estimates.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// An operation as it is measured, before there are keys.
pub struct Rehearsed {
    operation: &'static Operation<NoOp>,
    kind: Type,
    values: Option<usize>,
    side_by_side: bool,
}

impl Rehearsed {
    /// The operation of the arguments, of which `option` asks for a rehearsal.
    pub fn new(args: &IntegersArgs, kind: Type, option: &str) -> Result<Self, CliError> {
        let operation = named::<NoOp>(&args.op).ok_or_else(|| {
            CliError::usage(format!("{option} is for one operation, not for {ALL}"))
        })?;
        let (values, side_by_side) = (args.values.map(|n| n as usize), args.side_by_side);
        Ok(Rehearsed { operation, kind, values, side_by_side })
    }

    /// The keys that the operation needs on columns at the top, on a server that bootstraps if the
    /// set does.
    pub fn keys(&self, params: &Params) -> Result<KeyPlan, IntegersError> {
        let rehearsal = Rehearsal::new(params, params.spec().bootstrap.is_some())?
            .with_side_by_side(self.side_by_side);
        Ok(self.done(&rehearsal, Origin::Secret, [params.chain().top(); 3])?.keys)
    }

    /// What a plan of the operation takes, and the levels at which it has the three columns; the
    /// top for those that are not read.
    pub fn planned(&self, params: &Params) -> Result<(Estimate, [Level; 3]), IntegersError> {
        let top = params.chain().top();
        let read: Vec<usize> = (0..3).filter(|i| self.operation.reads[*i]).collect();
        let names: Vec<&str> = read.iter().map(|i| NAMES[*i]).collect();
        let each = |levels: &[Level]| {
            let mut each = [top; 3];
            read.iter().zip(levels).for_each(|(i, level)| each[*i] = *level);
            each
        };
        let found =
            work_estimate(params, &names, self.side_by_side, |rehearsal, origin, levels| {
                self.done(rehearsal, origin, each(levels))
            })?;
        let level = |name: &str| found.inputs.iter().find(|x| x.name == name)?.level;
        let levels = NAMES.map(|name| level(name).unwrap_or(top));
        Ok((found, levels))
    }

    /// The estimate of the operation on columns of an origin at these levels: as many of the
    /// greatest length as are measured, and the last one, for which it may need other keys. The
    /// columns and results are those of one of them.
    fn done(
        &self,
        rehearsal: &Rehearsal,
        origin: Origin,
        levels: [Level; 3],
    ) -> Result<Estimate, IntegersError> {
        let ints = rehearsal.integers()?;
        let types = self.operation.operands.types(self.kind)?;
        let most = self.operation.longest.entries(&ints);
        let total = self.values.unwrap_or(most);
        let (mut given, mut steps) = (None, Vec::new());
        for (length, times) in [(most, total / most), (total % most, 1)] {
            if length == 0 || times == 0 {
                continue;
            }
            let column = |i: usize| rehearsal.argument(types[i], length, (origin, levels[i]), None);
            let columns = [column(0)?, column(1)?, column(2)?];
            // Before the operation, which may bootstrap them.
            let read = (0..3).filter(|i| self.operation.reads[*i]);
            let inputs: Vec<EstimatedInput> = read
                .map(|i| EstimatedInput::of(rehearsal.params(), NAMES[i], &columns[i]))
                .collect();
            let before = rehearsal.spent();
            let (run, kind) = (self.operation.run, self.kind);
            let results = rehearsal.alone(|| run(&ints, kind, columns.each_ref()))?;
            let counted = (rehearsal.spent() - before) * times as u64;
            steps.push(EstimatedStep::new(self.operation.name, None, counted));
            given = given.or(Some((inputs, results)));
        }
        let (inputs, results) = given.unwrap_or_default();
        Ok(Estimate::new(rehearsal, 1, inputs, steps, &results))
    }
}
