//! Results: the encrypted sums of a plan on their way to the reader.

use everlevel::files::{Bounds, Bytes};
use everlevel::lab::{Arithmetic, PrimePower, Scheme, ServerEvaluator};
use everlevel::{
    Ciphertext, IntegerTotal, IntegerValue, Interval, KeyId, Level, NamedIntegers, Params,
    SecretKey, Server, Value,
};
use everlevel_integers::Parts;
use everlevel_scheme::same_owner;
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, inspect};

use crate::answer::Answer;
use crate::error::TablesError;
use crate::plan::Plan;
use crate::run::Sums;
use crate::stored::header::{ResultHeader, TableId};

/// The largest result, in bytes.
const RESULT_BYTES: u64 = 8 << 30;
/// The most sums of a result: the columns of a file.
const MOST_SUMS: usize = 1 << 16;
/// Capacity that is left to decryption.
const MARGIN: f64 = 1.0;

/// The encrypted sums that answer a plan, with the plan: what a server gives to the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableResult {
    plan: Plan,
    table: TableId,
    rows: usize,
    owner: Option<KeyId>,
    bytes: Vec<u8>,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, TablesError> {
    Err(TablesError::Result { problem: problem.into() })
}

/// The sum of an aggregate over a group in a block, as it is called in a file.
fn name(block: usize, group: usize, aggregate: usize) -> String {
    format!("{block}.{group}.{aggregate}")
}

impl TableResult {
    /// Passes plans whose sums fit a file.
    pub(crate) fn check_size(plan: &Plan, blocks: usize) -> Result<(), TablesError> {
        let query = plan.query();
        let groups = query.group_codes(plan.schema()).len();
        let sums = groups * query.aggregates.len();
        match sums.checked_mul(blocks) {
            Some(0..=MOST_SUMS) => Ok(()),
            _ => wrong(format!(
                "{groups} groups of {} sums over {blocks} blocks are more than {MOST_SUMS}: ask \
                 for fewer at a time",
                query.aggregates.len()
            )),
        }
    }

    /// Of the sums over each block.
    pub(crate) fn new(
        server: &Server,
        plan: &Plan,
        (table, rows): (TableId, usize),
        sums: Vec<Sums<Ciphertext>>,
    ) -> Result<Self, TablesError> {
        let mut named: Vec<NamedIntegers> = Vec::new();
        for (block, Sums { totals }) in sums.into_iter().enumerate() {
            for (group, totals) in totals.into_iter().enumerate() {
                for (aggregate, total) in totals.into_iter().enumerate() {
                    let total = match total {
                        Some(total) => lowered(server, total)?,
                        None => nothing(server.params())?,
                    };
                    named.push((name(block, group, aggregate), total));
                }
            }
        }
        let mut metadata = Metadata::new();
        ResultHeader { table, rows, plan: plan.to_json()? }.state(&mut metadata);
        let bytes = named.to_bytes(server.params(), &metadata)?;
        Self::from_bytes(bytes)
    }

    /// From bytes. The head is read; the sums are when they are decrypted.
    ///
    /// # Errors
    /// [`TablesError::Result`] for an object of another kind; bytes that are cut or damaged; those
    /// of [`Plan::from_json`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, TablesError> {
        let summary = inspect(&bytes, &ReadOptions::default().limited_to(RESULT_BYTES))?;
        let header = ResultHeader::of(&summary.metadata);
        let Some(header) = header.filter(|_| summary.kind == ObjectKind::COLUMNS) else {
            return wrong(format!("expected what `run` wrote, found {}", summary.kind));
        };
        let plan = Plan::from_json(&header.plan)?;
        let (table, rows, owner) = (header.table, header.rows, summary.owner);
        Ok(TableResult { plan, table, rows, owner, bytes })
    }

    /// The bytes, for [`TableResult::from_bytes`].
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was asked, as the server states it.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Of which table, as the server states it.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The secret key that reads it; none if all sums are public.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// Passes the result of the plan and of the table that the reader means, as far as he says.
    ///
    /// # Errors
    /// [`TablesError::OtherResult`].
    pub fn check(&self, plan: Option<&Plan>, table: Option<TableId>) -> Result<(), TablesError> {
        let other = |what, expected: &str, found: &str| {
            let (expected, found) = (expected.to_string(), found.to_string());
            Err(TablesError::OtherResult { what, expected, found })
        };
        if let Some(plan) = plan {
            self.plan.check_schema(plan.schema())?;
            if self.plan != *plan {
                return other("question", plan.question(), self.plan.question());
            }
        }
        match table.filter(|table| *table != self.table) {
            Some(table) => other("table", &table.to_string(), &self.table.to_string()),
            None => Ok(()),
        }
    }

    /// The answer.
    ///
    /// # Errors
    /// Another secret key; sums that are missing, double or not those of the plan
    /// ([`TablesError::Result`]); sums that cannot be; damaged bytes.
    pub fn read(&self, key: &SecretKey) -> Result<Answer, TablesError> {
        let (params, query) = (key.params(), self.plan.query());
        same_owner(self.owner, Some(key.id()), "decryption")?;
        let options = ReadOptions::default().limited_to(RESULT_BYTES);
        let options = options.believing(Bounds::Stated.policy(&Metadata::new()));
        let (found, _) = Vec::<NamedIntegers>::from_bytes(params, &self.bytes, &options)?;
        let blocks = self.rows.div_ceil(params.slots());
        let groups = query.group_codes(self.plan.schema()).len();
        Self::check_size(&self.plan, blocks)?;
        let expected = blocks * groups * query.aggregates.len();
        if found.len() != expected {
            return wrong(format!("{} sums, and the plan has {expected}", found.len()));
        }
        let mut sums = vec![vec![0i128; query.aggregates.len()]; groups];
        let mut found = found.into_iter();
        for block in 0..blocks {
            for (group, sums) in sums.iter_mut().enumerate() {
                for (aggregate, sum) in sums.iter_mut().enumerate() {
                    let expected = name(block, group, aggregate);
                    let Some((_, IntegerValue::Total(total))) =
                        found.next().filter(|(name, _)| *name == expected)
                    else {
                        return wrong(format!("the sum {expected} is not in its place"));
                    };
                    *sum += decrypted(key, &total)?;
                }
            }
        }
        Answer::new(query, self.plan.schema(), &sums)
    }
}

/// The modulus of typed integers.
pub(crate) fn modulus(params: &Params) -> Result<PrimePower, TablesError> {
    Ok(PrimePower::new(params.spec().plain_prime, 1).map_err(everlevel::Error::from)?)
}

fn decrypted(key: &SecretKey, total: &IntegerTotal) -> Result<i128, TablesError> {
    let params = key.params();
    total.decrypt(modulus(params)?, |x| Ok(key.decrypt(x)?.decode(params)?))
}

/// A sum that is 0 whatever the data, as it is stored.
fn nothing(params: &Params) -> Result<IntegerValue, TablesError> {
    let interval = Interval::point(0)?;
    let parts = Parts { interval, anchor: 0, length: None, divisor: Some(1), digits: vec![] };
    Ok(IntegerValue::from_parts(parts, params.slots(), modulus(params)?)?)
}

/// The same sum with its ciphertexts at the lowest level that decryption allows, where they are
/// smallest.
fn lowered(server: &Server, total: IntegerTotal) -> Result<IntegerValue, TablesError> {
    let (params, modulus) = (server.params(), modulus(server.params())?);
    let mut parts = IntegerValue::from(total).to_parts(params.slots(), modulus)?;
    for digit in &mut parts.digits {
        if let Some(value) = &mut digit.value {
            *value = Value::from(lowest(server.evaluator(), &value.get())?);
        }
    }
    Ok(IntegerValue::from_parts(parts, params.slots(), modulus)?)
}

fn lowest(evaluator: &ServerEvaluator, x: &Ciphertext) -> Result<Ciphertext, TablesError> {
    let Level(level) = evaluator.level(x);
    for level in 0..level {
        let switched = evaluator.mod_switch_to(x, Level(level));
        if let Ok(switched) = switched
            && evaluator.capacity_bits(&switched) >= MARGIN
        {
            return Ok(switched);
        }
    }
    Ok(x.clone())
}
