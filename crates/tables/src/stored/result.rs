//! Results: the encrypted sums of a plan on their way to the reader.

use everlevel::files::{Bounds, Bytes};
use everlevel::lab::Arithmetic;
use everlevel::{Ciphertext, KeyId, Level, SecretKey, Server};
use everlevel_ring::Engine;
use everlevel_scheme::same_owner;
use everlevel_wire::{Metadata, ObjectKind, ParamsId, ReadOptions, inspect};

use crate::answer::Answer;
use crate::error::TablesError;
use crate::plan::Plan;
use crate::stored::files::same_set;
use crate::stored::header::{ResultHeader, TableId};

/// The largest result, in bytes.
pub(crate) const RESULT_BYTES: u64 = 8 << 30;
/// The capacity that is left for decryption, in bits.
const MARGIN: f64 = 1.0;

/// The encrypted answer to a plan, with the plan, which a server gives to the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableResult {
    plan: Plan,
    table: TableId,
    rows: usize,
    constants: Option<TableId>,
    params: ParamsId,
    owner: Option<KeyId>,
    bytes: Vec<u8>,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, TablesError> {
    Err(TablesError::Result { problem: problem.into() })
}

impl TableResult {
    /// A result from packed sums, in the memory of the server's engine.
    pub(crate) fn new<X: Engine>(
        server: &Server<X>,
        plan: &Plan,
        (table, rows): (TableId, usize),
        constants: Option<TableId>,
        sums: Vec<Ciphertext<X>>,
    ) -> Result<Self, TablesError> {
        let evaluator = server.evaluator();
        let sums = sums.iter().map(|x| Ok(evaluator.download(&lowest(evaluator, x)?)?));
        let sums = sums.collect::<Result<Vec<Ciphertext>, TablesError>>()?;
        let mut metadata = Metadata::new();
        ResultHeader { table, rows, constants, plan: plan.to_json()? }.state(&mut metadata);
        Self::from_bytes(sums.to_bytes_with(server.params(), &metadata)?)
    }

    /// A result from bytes. Only the header is read here; the sums are read when they are
    /// decrypted.
    ///
    /// # Errors
    /// [`TablesError::Result`] for an object of another kind; bytes that are cut or damaged; those
    /// of [`Plan::from_json`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, TablesError> {
        let summary = inspect(&bytes, &ReadOptions::default().limited_to(RESULT_BYTES))?;
        let header = ResultHeader::of(&summary.metadata);
        let Some(header) = header.filter(|_| summary.kind == ObjectKind::CIPHERTEXTS) else {
            return wrong(format!("expected what `run` wrote, found {}", summary.kind));
        };
        let plan = Plan::from_json(&header.plan)?;
        let ResultHeader { table, rows, constants, .. } = header;
        if constants.is_some() == plan.query().parameters.is_empty() {
            return wrong("its query and its constants do not go together");
        }
        let (params, owner) = (summary.params, summary.owner);
        Ok(TableResult { plan, table, rows, constants, params, owner, bytes })
    }

    /// The bytes, for [`TableResult::from_bytes`].
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The plan, as stated by the server.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The id of the table, as stated by the server.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// The number of rows of the table.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The id of the encrypted constants that were used, as stated by the server; `None` if the
    /// query has none.
    pub fn constants(&self) -> Option<TableId> {
        self.constants
    }

    /// The id of the secret key that decrypts it; `None` if all sums are public.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// Checks that this is the result for the plan, the table and the encrypted constants that the
    /// reader expects, as far as they are given.
    ///
    /// # Errors
    /// [`TablesError::OtherResult`].
    pub fn check(
        &self,
        plan: Option<&Plan>,
        table: Option<TableId>,
        constants: Option<TableId>,
    ) -> Result<(), TablesError> {
        let other = |what, expected: &str, found: &str| {
            let (expected, found) = (expected.to_string(), found.to_string());
            Err(TablesError::OtherResult { what, expected, found })
        };
        if let Some(plan) = plan {
            self.plan.check_schema(plan.schema())?;
            if self.plan != *plan {
                return other("query", plan.sql(), self.plan.sql());
            }
        }
        if let Some(table) = table.filter(|table| *table != self.table) {
            return other("table", &table.to_string(), &self.table.to_string());
        }
        let shown = |id: Option<TableId>| id.map_or("none".into(), |id| id.to_string());
        match constants {
            Some(_) if constants != self.constants => {
                other("encryption of its constants", &shown(constants), &shown(self.constants))
            }
            _ => Ok(()),
        }
    }

    /// The answer.
    ///
    /// # Errors
    /// A secret key of another parameter set or owner; sums that are missing, duplicate or not
    /// those of the plan ([`TablesError::Result`]); impossible sums; damaged bytes.
    pub fn read(&self, key: &SecretKey) -> Result<Answer, TablesError> {
        self.read_with(key, |_, _| ())
    }

    /// The same; `step(done, ciphertexts)` is called after each decrypted ciphertext.
    ///
    /// # Errors
    /// Those of [`TableResult::read`].
    pub fn read_with(
        &self,
        key: &SecretKey,
        mut step: impl FnMut(usize, usize),
    ) -> Result<Answer, TablesError> {
        let params = key.params();
        same_set(self.params, params)?;
        same_owner(self.owner, Some(key.id()), "decryption")?;
        let (_, layout) = self.plan.layout(params, self.rows)?;
        let options = ReadOptions::default().limited_to(RESULT_BYTES);
        let options = options.believing(Bounds::Stated.policy(&Metadata::new()));
        // A result of public integers alone has no owner.
        let options = options.allowing_unknown_owner(layout.ciphertexts() == 0);
        let (found, _) = Vec::<Ciphertext>::from_bytes_with(params, &self.bytes, &options)?;
        if found.len() != layout.ciphertexts() {
            let expected = layout.ciphertexts();
            return wrong(format!("{} ciphertexts, and the plan has {expected}", found.len()));
        }
        for (place, x) in found.iter().enumerate() {
            let (expected, exponent) = (layout.exponent(place), x.meta().exponent);
            if expected != exponent {
                return wrong(format!(
                    "it is modulo p^{expected}, and this is modulo p^{exponent}"
                ));
            }
        }
        // All are decrypted before one is refused: time does not tell which.
        let decrypt = |(x, done): (&Ciphertext, usize)| {
            let opened = key.decrypt(x);
            step(done, found.len());
            opened
        };
        let opened: Vec<_> = found.iter().zip(1..).map(decrypt).collect();
        let opened = opened.into_iter().collect::<Result<Vec<_>, _>>()?;
        let sums = layout.read(params, &opened)?;
        Answer::new(self.plan.query(), self.plan.schema(), &sums)
    }
}

/// The same ciphertext at the lowest level that decryption allows, where it is smallest.
pub(crate) fn lowest<S: Arithmetic>(
    evaluator: &S,
    x: &S::Ciphertext,
) -> Result<S::Ciphertext, TablesError> {
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
