//! The cost of a program on a parameter set, and the set on which it costs least.

use std::collections::BTreeMap;

use everlevel_circuit::Value;
use everlevel_circuit::expression::Program;
use everlevel_scheme::noop::{NoOpCiphertext, memory_of_ciphertext};
use everlevel_scheme::{KeyPlan, Level, Params};

use crate::column::{BASE, Column};
use crate::context::TablePlans;
use crate::counted::Counted;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::parts::Encrypted;
use crate::program::ProgramError;
use crate::rehearsal::{Rehearsal, ciphertext_bytes};

/// An argument of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EstimatedInput {
    /// Its name.
    pub name: String,
    /// The level of its digits, the highest one if there are several: 0 is the lowest one of the
    /// set. `None` for public integers.
    pub level: Option<Level>,
    /// The level of its index; `None` without one.
    pub index_level: Option<Level>,
    /// The number of its ciphertexts, with those of an index, for all blocks together.
    pub ciphertexts: u64,
    /// Their size in bytes; it is half of that if they are encrypted with the secret key.
    pub bytes: u64,
    /// Their memory in bytes, with a word for each residue.
    pub memory_bytes: u64,
}

impl EstimatedInput {
    /// An argument of this name as it is when the program begins, in one block.
    pub fn of(params: &Params, name: impl Into<String>, x: &Column<NoOpCiphertext>) -> Self {
        let level = |x: &Value<NoOpCiphertext>| x.get().meta().level;
        let Size { ciphertexts, bytes, memory } =
            Size::of(params, x.values().chain(x.index_values()));
        EstimatedInput {
            name: name.into(),
            level: x.values().map(level).max(),
            index_level: x.index_values().map(level).max(),
            ciphertexts,
            bytes,
            memory_bytes: memory,
        }
    }
}

/// One operation, or one statement, of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EstimatedStep {
    /// Its name.
    pub name: String,
    /// The values that its result can have; `None` for a statement whose result is not kept.
    pub interval: Option<Interval>,
    /// Its cost, for all blocks together.
    pub counted: Counted,
}

impl EstimatedStep {
    /// A step of this name.
    pub fn new(name: impl Into<String>, interval: Option<Interval>, counted: Counted) -> Self {
        EstimatedStep { name: name.into(), interval, counted }
    }
}

/// The cost of a program on a parameter set, determined by running it once on the no-op scheme.
///
/// The seconds are those of a model of a typical core, on one thread; products at low levels were
/// measured at about twice the time of the model. All other figures are those of the real run,
/// which takes as many products and bootstrappings if it computes several statements at the same
/// time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// The parameter set.
    pub params: Params,
    /// Whether the server bootstraps; if not, the set has enough levels.
    pub bootstraps: bool,
    /// Whether the digits of short columns are compared side by side
    /// ([`Integers::side_by_side`](crate::Integers::side_by_side)).
    pub side_by_side: bool,
    /// Whether products and large tables are computed in blocks, for less memory
    /// ([`Integers::in_blocks`](crate::Integers::in_blocks)).
    pub in_blocks: bool,
    /// The number of times that the program is run: once for each block of entries that fits the
    /// slots of a ciphertext.
    pub blocks: u64,
    /// The operations, in order.
    pub steps: Vec<EstimatedStep>,
    /// The server keys that the program needs.
    pub keys: KeyPlan,
    /// Whether their uniform halves are seeds in memory, too.
    pub seeded_keys: bool,
    /// The arguments, each with its level and its size.
    pub inputs: Vec<EstimatedInput>,
    /// The number of ciphertexts of the arguments.
    pub input_ciphertexts: u64,
    /// Their size in bytes; it is half of that if they are encrypted with the secret key.
    pub input_bytes: u64,
    /// The number of ciphertexts of the results.
    pub result_ciphertexts: u64,
    /// Their size in bytes.
    pub result_bytes: u64,
    /// The memory of ciphertexts while it computes ([`Estimate::working_bytes`]).
    working: u64,
}

/// Ciphertexts, their bytes in files, and those in memory.
#[derive(Default)]
struct Size {
    ciphertexts: u64,
    bytes: u64,
    memory: u64,
}

impl Size {
    fn of<'a>(params: &Params, values: impl Iterator<Item = &'a Value<NoOpCiphertext>>) -> Self {
        values.fold(Size::default(), |size, x| {
            let level = x.get().meta().level;
            Size {
                ciphertexts: size.ciphertexts + 1,
                bytes: size.bytes + ciphertext_bytes(params, level),
                memory: size.memory + memory_of_ciphertext(params, level),
            }
        })
    }
}

impl Estimate {
    /// The estimate for work that was rehearsed, from its arguments before the work, and its steps
    /// and results on one of `blocks` blocks. The memory that it worked in is that of the rehearsal
    /// until now, and of the arguments and results of all other blocks; it should have been done
    /// [`alone`](Rehearsal::alone).
    pub fn new(
        rehearsal: &Rehearsal,
        blocks: u64,
        inputs: Vec<EstimatedInput>,
        steps: Vec<EstimatedStep>,
        results: &[Encrypted<NoOpCiphertext>],
    ) -> Self {
        let params = rehearsal.params();
        let found = Size::of(params, results.iter().flat_map(Encrypted::values));
        // Columns of other blocks wait for their turn, or are done.
        let given = inputs.iter().fold(0u64, |sum, x| sum.saturating_add(x.memory_bytes));
        let waiting = given.saturating_add(found.memory).saturating_mul(blocks.saturating_sub(1));
        let step = |step: EstimatedStep| EstimatedStep { counted: step.counted * blocks, ..step };
        let input = |x: EstimatedInput| EstimatedInput {
            ciphertexts: x.ciphertexts.saturating_mul(blocks),
            bytes: x.bytes.saturating_mul(blocks),
            memory_bytes: x.memory_bytes.saturating_mul(blocks),
            ..x
        };
        let inputs: Vec<EstimatedInput> = inputs.into_iter().map(input).collect();
        let all = |of: fn(&EstimatedInput) -> u64| {
            inputs.iter().fold(0u64, |sum, x| sum.saturating_add(of(x)))
        };
        let (input_ciphertexts, input_bytes) = (all(|x| x.ciphertexts), all(|x| x.bytes));
        Estimate {
            params: params.clone(),
            bootstraps: rehearsal.session().can_bootstrap(),
            side_by_side: rehearsal.is_side_by_side(),
            in_blocks: rehearsal.is_in_blocks(),
            blocks,
            steps: steps.into_iter().map(step).collect(),
            keys: rehearsal.keys(),
            seeded_keys: false,
            inputs,
            input_ciphertexts,
            input_bytes,
            result_ciphertexts: found.ciphertexts.saturating_mul(blocks),
            result_bytes: found.bytes.saturating_mul(blocks),
            working: rehearsal.working_bytes().saturating_add(waiting),
        }
    }

    /// The estimate for a text program on given columns, statement by statement.
    ///
    /// # Errors
    /// As [`Integers::run`](crate::Integers::run).
    pub fn of_program(
        rehearsal: &Rehearsal,
        program: &Program,
        inputs: &BTreeMap<String, Column<NoOpCiphertext>>,
        tables: &BTreeMap<String, Vec<i128>>,
        blocks: u64,
    ) -> Result<Self, ProgramError> {
        let params = rehearsal.params();
        let given = inputs.iter().map(|(name, x)| EstimatedInput::of(params, name, x)).collect();
        let ints = rehearsal.integers().map_err(|error| ProgramError { column: 1, error })?;
        let mut after = vec![rehearsal.spent()];
        rehearsal.forget_working_bytes();
        // Bootstrapping in place leaves them, as they are somebody else's.
        let given_values = inputs.values().flat_map(|x| x.values().chain(x.index_values()));
        let kept: Vec<_> = given_values.map(Value::get).collect();
        // One statement after the other, for the cost of each.
        let found = rehearsal.alone(|| {
            let count = &mut |_| after.push(rehearsal.spent());
            ints.run_within(1, program, inputs, tables, count)
        })?;
        drop(kept);
        let taken = after.windows(2).map(|w| w[1] - w[0]);
        let step = |(statement, counted): (&everlevel_circuit::expression::Statement, _)| {
            let name = statement.name.clone();
            EstimatedStep { interval: found.get(&name).map(Encrypted::interval), name, counted }
        };
        let steps = program.statements().iter().zip(taken).map(step).collect();
        let results: Vec<_> = found.values().cloned().collect();
        Ok(Self::new(rehearsal, blocks, given, steps, &results))
    }

    /// The cost of all steps together.
    pub fn total(&self) -> Counted {
        self.steps.iter().map(|step| step.counted).sum()
    }

    /// The base of the digits that columns are stored in.
    pub fn base(&self) -> i64 {
        BASE
    }

    /// The size of the keys in a file, in bytes.
    pub fn key_bytes(&self) -> u64 {
        self.keys.seeded_bytes(&self.params)
    }

    /// The most memory that ciphertexts take at a time, in bytes: arguments, results and all that
    /// is computed in between, one operation after the other and each on one thread, with a word
    /// for each residue.
    ///
    /// What an operation of the scheme takes on its way is additional ([`NoOp::live_bytes`]), and
    /// so are the tables of bootstrapping and what further threads work on at the same time, each
    /// thread about what one digit takes.
    ///
    /// [`NoOp::live_bytes`]: everlevel_scheme::NoOp::live_bytes
    pub fn working_bytes(&self) -> u64 {
        self.working
    }

    /// The memory of keys and of ciphertexts ([`Estimate::working_bytes`]), in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let keys = if self.seeded_keys {
            self.keys.seeded_bytes(&self.params)
        } else {
            self.keys.memory_bytes(&self.params)
        };
        keys.saturating_add(self.working)
    }

    /// The same estimate for keys whose uniform halves are seeds in memory, or not
    /// ([`Estimate::memory_bytes`]). Seconds are not affected: they are those of expanded keys.
    #[must_use]
    pub fn with_seeded_keys(self, seeded_keys: bool) -> Self {
        Estimate { seeded_keys, ..self }
    }

    /// Returns the estimate if it takes at most `memory_bytes` bytes of memory.
    ///
    /// # Errors
    /// [`IntegersError::Memory`], with both figures.
    pub fn within(self, memory_bytes: u64) -> Result<Self, IntegersError> {
        if self.memory_bytes() <= memory_bytes {
            return Ok(self);
        }
        Err(IntegersError::Memory {
            name: self.params.name().into(),
            needed: self.memory_bytes().div_ceil(1 << 20),
            limit: memory_bytes >> 20,
        })
    }
}

/// The estimate of least cost among parameter sets. Each set is tried first without bootstrapping,
/// and then with bootstrapping if the program does not fit. All rehearsals share the cache of plans
/// of tables.
///
/// # Errors
/// An error that does not depend on the set; otherwise the reason why the last set was refused.
pub fn best_estimate(
    candidates: impl IntoIterator<Item = Params>,
    plans: &TablePlans,
    mut rehearse: impl FnMut(&Rehearsal) -> Result<Estimate, IntegersError>,
    cost: impl Fn(&Estimate) -> f64,
) -> Result<Estimate, IntegersError> {
    let mut best: Option<Estimate> = None;
    let mut refused = None;
    for params in candidates {
        let ways =
            [false, true].into_iter().take(1 + usize::from(params.spec().bootstrap.is_some()));
        for bootstraps in ways {
            let rehearsal = Rehearsal::new(&params, bootstraps);
            match rehearsal.and_then(|new| rehearse(&new.with_plans(plans.clone()))) {
                Ok(found) => {
                    if best.as_ref().is_none_or(|best| cost(&found) < cost(best)) {
                        best = Some(found);
                    }
                    break;
                }
                Err(error) if error.depends_on_set() => {
                    // One of memory says what to allow.
                    let memory = |e: &IntegersError| matches!(e, IntegersError::Memory { .. });
                    refused = refused.filter(memory).or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
    }
    best.ok_or_else(|| {
        refused.unwrap_or(IntegersError::Set {
            name: "none".into(),
            problem: "there is no set to plan for",
        })
    })
}
