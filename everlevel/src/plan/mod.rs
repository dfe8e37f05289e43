//! Programs on typed integers whose cost is determined before they run.

mod checked;
pub(crate) mod estimates;
pub(crate) mod levels;
#[cfg(feature = "unstable")]
mod schedule;
mod wanted;

use std::collections::BTreeMap;
use std::sync::Mutex;

use everlevel_bgv::{Ciphertext, ServerKeys};
use everlevel_integers::{
    Column, Encrypted, Estimate, IntegerScheme, Integers, IntegersError, Operation, Orders, Type,
    index_level,
};
use everlevel_scheme::{Level, Params};
use everlevel_wire::columns::ColumnArray;
use rand_core::CryptoRng;

use crate::client::Client;
use crate::columns::NamedIntegers;
use crate::compute::{Room, computed, evaluate, operations};
use crate::error::Error;
use crate::expression::Expr;
use crate::operand::{Arithmetic, Linear, Operand, linear, no_value};
use crate::planner::KeyPlanner;
use crate::rehearsed::is_general;
use crate::server::Server;
use levels::level_of;

/// A column in the trace of a plan: its interval and length are known, but not its values.
#[derive(Clone, Debug)]
pub struct PlannedColumn {
    name: String,
    pub(crate) kind: Type,
    pub(crate) length: usize,
    /// Whether it has an index.
    indexed: bool,
}

impl PlannedColumn {
    /// The level of its index on a set; `None` without one.
    pub(crate) fn index_level(&self, params: &Params) -> Result<Option<Level>, IntegersError> {
        self.indexed.then(|| index_level(params, self.kind)).transpose()
    }
}

impl Operand for PlannedColumn {}

impl Arithmetic for PlannedColumn {
    type Operation = Operation;
    const NEGATIVE: Operation = Operation::Negative;
    const ADD: Operation = Operation::Add;
    const SUBTRACT: Operation = Operation::Subtract;
    const MULTIPLY: Operation = Operation::Multiply;

    fn linear(operation: &Operation) -> Option<Linear> {
        linear(operation)
    }

    fn multiples(factors: Vec<i128>) -> Option<Operation> {
        Some(Operation::WeightedSum(factors))
    }

    fn is_order(operation: &Operation) -> bool {
        operation.is_order()
    }
}

/// A result of a plan.
struct Output {
    name: String,
    value: Expr<PlannedColumn>,
    /// Whether it is the sum of its entries.
    total: bool,
}

/// A program on typed integers that is traced once, so that its cost is known before anything is
/// encrypted: the parameter set, the levels of encryption, the keys, the number of refreshes and
/// the seconds.
///
/// Its expressions are those of encrypted columns ([`Expr`]); they are evaluated on the no-op
/// scheme, which counts operations, and then on a server.
///
/// ```
/// use everlevel::{Client, OptIn, Params, Plan, Type};
///
/// let plan = Plan::trace(|g| {
///     let score = g.input("score", Type::ranged(0, 4000)?, 5);
///     g.output("best", &score.argmax());
///     Ok(())
/// })?;
/// let toy = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
/// println!("{}", plan.explain(&toy)?); // or `plan.params(..)`, the best set of 128 bits
/// let mut rng = everlevel::system_rng()?;
/// let client = Client::new(&toy, &mut rng);
/// let server = plan.server(&client, &mut rng)?; // with the keys of the plan, and no others
/// let score = client.encrypt_for(&plan, "score", &[12, 700, 3999, 8, 41], &mut rng)?;
/// let found = plan.run(&server, &[score])?;
/// assert_eq!(client.decrypt_column::<u8>(&found[0].1)?, [2]);
/// # Ok::<(), everlevel::Error>(())
/// ```
pub struct Plan {
    inputs: Vec<PlannedColumn>,
    outputs: Vec<Output>,
    /// Whether servers keep the uniform halves of their keys as seeds.
    seeded_keys: bool,
    /// The cost, with the levels of encryption, for each set that was requested.
    known: Mutex<Vec<Estimate>>,
}

/// The tracer of a plan, which declares arguments and results.
pub struct PlanTracer(Plan);

impl PlanTracer {
    /// Declares an argument by its name, its type and its number of entries.
    pub fn input(&mut self, name: &str, kind: Type, length: usize) -> Expr<PlannedColumn> {
        self.declared(PlannedColumn { name: name.into(), kind, length, indexed: false })
    }

    /// Declares an argument with an index ([`Client::encrypt_indexed`]), which the operations that
    /// can do so read. The plan counts it, and [`Client::encrypt_for`] encrypts it. What an index
    /// decides has few levels left: a program that does not fit without bootstrapping for this
    /// reason may do so if the argument is declared by [`PlanTracer::input`].
    ///
    /// The type has to be one that can have an index; others are refused when the cost is
    /// determined.
    pub fn indexed_input(&mut self, name: &str, kind: Type, length: usize) -> Expr<PlannedColumn> {
        self.declared(PlannedColumn { name: name.into(), kind, length, indexed: true })
    }

    fn declared(&mut self, column: PlannedColumn) -> Expr<PlannedColumn> {
        self.0.inputs.push(column.clone());
        Expr::new(column)
    }

    /// Declares a result by its name.
    pub fn output(&mut self, name: &str, value: &Expr<PlannedColumn>) {
        self.0.outputs.push(Output { name: name.into(), value: value.clone(), total: false });
    }

    /// Declares the sum of all entries of a column as a result, which can only be decrypted. Of a
    /// product that nothing else needs it takes the products of digits only
    /// ([`Integers::sum_of_products`]).
    pub fn total(&mut self, name: &str, of: &Expr<PlannedColumn>) {
        self.0.outputs.push(Output { name: name.into(), value: of.clone(), total: true });
    }
}

fn wrong(problem: String) -> Error {
    IntegersError::Parts { problem }.into()
}

impl Plan {
    /// Traces a program: it runs once, on columns with a type and a length, but without values.
    ///
    /// # Errors
    /// Those of `program`; [`IntegersError::Parts`] for two arguments or two results with one name,
    /// or no result.
    pub fn trace(
        program: impl FnOnce(&mut PlanTracer) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let empty = Plan {
            inputs: Vec::new(),
            outputs: Vec::new(),
            seeded_keys: false,
            known: Mutex::default(),
        };
        let mut tracer = PlanTracer(empty);
        program(&mut tracer)?;
        let plan = tracer.0;
        let names = |names: Vec<&str>| {
            let all = names.len();
            names.into_iter().collect::<std::collections::BTreeSet<_>>().len() == all
        };
        if !names(plan.inputs.iter().map(|x| x.name.as_str()).collect())
            || !names(plan.outputs.iter().map(|x| x.name.as_str()).collect())
            || plan.outputs.is_empty()
        {
            return Err(wrong(
                "expected at least one result, and a different name for each".into(),
            ));
        }
        Ok(plan)
    }

    /// The same plan for servers that keep the uniform halves of their keys as seeds in memory, or
    /// not ([`OpenOptions::seeded_keys`](crate::files::OpenOptions::seeded_keys)): its memory counts
    /// such keys, and [`Plan::server`] makes them. Its seconds are those of expanded keys.
    #[must_use]
    pub fn with_seeded_keys(self, seeded_keys: bool) -> Self {
        Plan { seeded_keys, known: Mutex::default(), ..self }
    }

    /// The number of columns of each argument on a set with this number of slots.
    ///
    /// # Errors
    /// For arguments in several columns: different lengths, and operations on whole columns, whose
    /// results would be wrong.
    pub(crate) fn blocks(&self, slots: usize) -> Result<usize, IntegersError> {
        let longest = self.inputs.iter().map(|x| x.length).max().unwrap_or(1);
        if longest <= slots {
            return Ok(1);
        }
        if let Some(x) = self.inputs.iter().find(|x| x.length != longest) {
            let expected = format!("{longest}, as others have: they are computed on part by part");
            return Err(IntegersError::Length { found: x.length, expected });
        }
        let roots: Vec<_> = self.outputs.iter().map(|x| &*x.value.0).collect();
        if let Some(operation) = operations(&roots).find(|x| x.takes_whole_columns()) {
            let expected = format!(
                "at most {slots}, the slots of this set, for {}, which takes a column as a whole",
                operation.name()
            );
            return Err(IntegersError::Length { found: longest, expected });
        }
        Ok(longest.div_ceil(slots))
    }

    /// Runs the program on a scheme; `told` receives its steps with their results, each before the
    /// next one is computed if there is room for one only.
    fn evaluated<S: IntegerScheme>(
        &self,
        ints: &Integers<'_, S>,
        room: Room,
        inputs: &BTreeMap<&str, Column<S::Ciphertext>>,
        mut told: impl FnMut(&'static str, everlevel_integers::Interval),
    ) -> Result<Vec<Encrypted<S::Ciphertext>>, Error> {
        let (wanted, orders) = (self.wanted(), Orders::default());
        let roots: Vec<_> = wanted.iter().flatten().copied().collect();
        let found = evaluate(
            &roots,
            room,
            |x: &PlannedColumn| {
                let column = inputs.get(x.name.as_str()).cloned();
                column.ok_or_else(|| wrong(format!("argument {} is missing", x.name)))
            },
            |x: &Column<S::Ciphertext>| x.values().map(|value| value.address()).collect(),
            |calls| {
                let found = computed(calls, |call| {
                    let operands: Vec<_> = call.operands.iter().map(|x| (*x).into()).collect();
                    Ok(ints.operate_sharing(call.operation, &operands, call.along, &orders)?)
                });
                for (call, x) in calls.iter().zip(&found) {
                    if let Ok(x) = x {
                        told(call.operation.name(), x.interval());
                    }
                }
                found
            },
        )?;
        let (mut found, mut results) = (found.into_iter(), Vec::with_capacity(wanted.len()));
        for (nodes, output) in wanted.iter().zip(&self.outputs) {
            let own: Vec<_> = found.by_ref().take(nodes.len()).collect();
            results.push(match (&own[..], output.total) {
                ([x], false) => x.clone().into(),
                ([x], true) => {
                    let total = ints.sum(x)?;
                    told("sum", total.interval());
                    total.into()
                }
                ([x, y], _) => {
                    let total = ints.sum_of_products(x, y)?;
                    told("sum_of_products", total.interval());
                    total.into()
                }
                _ => return Err(no_value()),
            });
        }
        Ok(results)
    }

    /// A server for this client with exactly the keys that the program needs.
    ///
    /// # Errors
    /// As [`Plan::explain`].
    pub fn server(&self, client: &Client, rng: &mut impl CryptoRng) -> Result<Server, Error> {
        let estimate = self.explain(client.params())?;
        let planner = estimate.bootstraps.then(|| KeyPlanner::new(client.params())).transpose()?;
        let (secret, keys) = (client.secret(), &estimate.keys);
        let keys = match self.seeded_keys {
            true => ServerKeys::generate_seeded(secret, keys, rng, |_, _| ())?,
            false => ServerKeys::generate(secret, keys, rng, |_, _| ())?,
        };
        match planner {
            Some(planner) => Server::new(keys, planner.bootstrap_plan().clone()),
            None => Ok(Server::leveled(keys)),
        }
    }

    /// Runs the program on named arguments ([`Client::encrypt_for`]) and returns the results by
    /// name, in their order.
    ///
    /// Arguments in several columns, `NAME#0`, `NAME#1` and so on ([`Client::encrypt_parts_for`]),
    /// are computed part by part; results then have the same number of columns, for
    /// [`Client::decrypt_parts_for`].
    ///
    /// Only indexes of arguments that were declared with one are read
    /// ([`PlanTracer::indexed_input`]). Arguments above the level of the plan, such as those of
    /// [`Client::encrypt_integers`], are switched down to it, but for servers with general keys;
    /// the keys of [`Plan::server`] are for these, too. If arguments have less capacity than the
    /// plan assumes, or other noise bounds, or if the server has other keys, the program is
    /// rehearsed with these keys first, so that what does not fit is refused before anything is
    /// computed.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] for arguments other than those of the plan, such as one without the
    /// index that the plan reads; a missing key, or too little capacity; errors of the operations.
    pub fn run(
        &self,
        server: &Server,
        inputs: &[NamedIntegers],
    ) -> Result<Vec<NamedIntegers>, Error> {
        let (params, slots) = (server.params(), server.params().slots());
        let blocks = self.blocks(slots)?;
        let mut parts: Vec<BTreeMap<&str, Column<Ciphertext>>> = vec![BTreeMap::new(); blocks];
        for (name, x) in inputs {
            let (planned, block) = self.part(name, blocks)?;
            let Encrypted::Column(x) = x else {
                return Err(wrong(format!("argument {name} is a total")));
            };
            let length = slots.min(planned.length - block * slots);
            if x.length() != Some(length) || x.interval() != planned.kind.interval() {
                return Err(wrong(format!(
                    "argument {name} of {} entries of {}: the plan is for {length} of {}",
                    x.length().unwrap_or(0),
                    x.interval(),
                    planned.kind.interval()
                )));
            }
            if planned.indexed && !x.has_index() {
                return Err(wrong(format!(
                    "argument {name} has no index, and the plan is for a column with one: encrypt \
                     it for the plan"
                )));
            }
            // In the plan arguments have ciphertexts of their own: what a run bootstraps in place
            // is not fresh for another argument, nor for a later run.
            let x = x.detached();
            // What an index decides takes other keys, and has fewer levels left.
            let x = if planned.indexed { x } else { x.without_index() };
            if parts[block].insert(&planned.name, x).is_some() {
                return Err(wrong(format!("argument {name} is given twice")));
            }
        }
        let estimate = self.explain(params)?;
        let ints = server.integers()?.side_by_side(estimate.side_by_side);
        let ints = ints.in_blocks(estimate.in_blocks);
        // A server that can compute everything keeps capacity for bootstrapping, which levels of a
        // plan without it do not have.
        if !is_general(server) {
            for (name, x) in parts.iter_mut().flatten() {
                let level = level_of(&estimate, name);
                if x.values().any(|v| v.get().level() > level) {
                    *x = ints.lowered(x, level)?;
                }
            }
        }
        self.check(server, &estimate, &parts)?;
        let room = Room::of(server);
        let found = parts.iter().map(|part| self.evaluated(&ints, room, part, |_, _| ()));
        let mut found: Vec<_> = found.map(|x| Ok(x?.into_iter())).collect::<Result<_, Error>>()?;
        let results = self.outputs.iter().flat_map(|output| {
            let array = ColumnArray::vector(&output.name, blocks, None);
            let own: Vec<_> = found.iter_mut().filter_map(Iterator::next).collect();
            own.into_iter().enumerate().map(move |(i, x)| (array.column(i), x))
        });
        Ok(results.collect())
    }

    /// The argument that a name belongs to, and the number of the column.
    fn part(&self, name: &str, blocks: usize) -> Result<(&PlannedColumn, usize), Error> {
        let own = |x: &PlannedColumn| {
            let array = ColumnArray::vector(&x.name, blocks, Some(x.length));
            (0..blocks).find(|i| array.column(*i) == name)
        };
        if let Some(found) = self.inputs.iter().find_map(|x| Some((x, own(x)?))) {
            return Ok(found);
        }
        self.input(name)?;
        Err(wrong(format!(
            "argument {name} is in one column: the plan is for {blocks}, {name}#0 .."
        )))
    }

    pub(crate) fn input(&self, name: &str) -> Result<&PlannedColumn, Error> {
        self.inputs.iter().find(|x| x.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.inputs.iter().map(|x| x.name.as_str()).collect();
            wrong(format!("no argument of the plan is named {name}: it has {}", names.join(", ")))
        })
    }
}
