//! Answers for some of the blocks of a table, which several servers compute and one server joins.

use std::ops::Range;

use everlevel::files::{Bounds, Bytes};
use everlevel::lab::Arithmetic;
use everlevel::{Ciphertext, Server};
use everlevel_scheme::same_owner;
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, inspect};

use crate::error::TablesError;
use crate::layout::Layout;
use crate::plan::Plan;
use crate::stored::compute::{bound, cancelled, evaluate};
use crate::stored::constants::Constants;
use crate::stored::files::same_set;
use crate::stored::header::{PartHeader, ResultHeader, TableId};
use crate::stored::result::{RESULT_BYTES, TableResult, lowest};
use crate::stored::table::EncryptedTable;

/// The answer of a server for neighboring blocks of a table: their sums, or their rows.
///
/// Parts that together contain all blocks, each block in one of them, make up the answer
/// ([`TablePart::result`]). Like all objects they are not authenticated: a server should join only
/// parts of servers that it trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePart {
    header: PartHeader,
    plan: Plan,
    bytes: Vec<u8>,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, TablesError> {
    Err(TablesError::Result { problem: problem.into() })
}

impl EncryptedTable {
    /// The part of the answer to a plan for these blocks. `progress(done, blocks)` is called after
    /// each block. The result depends only on the plan and the blocks, so lost work can be computed
    /// again, by any server.
    ///
    /// It costs as much as [`EncryptedTable::run`] for these blocks, and for sums its last steps,
    /// once for each part.
    ///
    /// # Errors
    /// [`TablesError::Data`] for no blocks or blocks that the table does not have; those of
    /// [`EncryptedTable::run`].
    pub fn run_part<E: From<TablesError>>(
        &self,
        server: &Server,
        plan: &Plan,
        constants: Option<&Constants>,
        blocks: Range<usize>,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<TablePart, E> {
        self.check(server, plan)?;
        if blocks.is_empty() || blocks.end > self.blocks() {
            let (Range { start, end }, count) = (blocks, self.blocks());
            let problem = format!("blocks from {start} to before {end}: the table has {count}");
            return Err(TablesError::Data { problem }.into());
        }
        let (_, layout) = plan.layout(server.params(), self.rows())?;
        if layout.extremes() > 0 && blocks != (0..self.blocks()) {
            return Err(TablesError::unsupported(
                "a part of an answer with least or greatest values, ordered by the server",
                "run all blocks at once: what is found in parts is not joined",
            )
            .into());
        }
        let bound = bound(server, plan, constants)?;
        let ints = server.integers().map_err(TablesError::from)?;
        let params = server.params();
        let (keys, cancelled) = (Some(server.keys().plan()), cancelled(server));
        let with = (&ints, keys.as_ref(), Some(&cancelled));
        let found = evaluate(self, with, params, plan, &bound, blocks.clone(), progress)?;
        let result = ResultHeader {
            table: self.id(),
            rows: self.rows(),
            constants: constants.map(Constants::id).filter(|_| !bound.is_empty()),
            plan: plan.to_json()?,
        };
        // Sums have noise to come; rows are as they will be.
        let found = match plan.query().listed {
            Some(_) => found
                .iter()
                .map(|x| lowest(server.evaluator(), x))
                .collect::<Result<_, TablesError>>()?,
            None => found,
        };
        Ok(TablePart::new(server, PartHeader { result, blocks }, found)?)
    }
}

impl TablePart {
    fn new(
        server: &Server,
        header: PartHeader,
        found: Vec<Ciphertext>,
    ) -> Result<Self, TablesError> {
        let mut metadata = Metadata::new();
        header.state(&mut metadata);
        Self::from_bytes(found.to_bytes_with(server.params(), &metadata)?)
    }

    /// A part from bytes. Only the header is read here; the ciphertexts are read when parts are
    /// joined.
    ///
    /// # Errors
    /// [`TablesError::Result`] for an object of another kind; bytes that are cut or damaged; those
    /// of [`Plan::from_json`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, TablesError> {
        let summary = inspect(&bytes, &ReadOptions::default().limited_to(RESULT_BYTES))?;
        let header = PartHeader::of(&summary.metadata);
        let Some(header) = header.filter(|_| summary.kind == ObjectKind::CIPHERTEXTS) else {
            return wrong(format!("expected a part of a result, found {}", summary.kind));
        };
        let plan = Plan::from_json(&header.result.plan)?;
        Ok(TablePart { header, plan, bytes })
    }

    /// The bytes, for [`TablePart::from_bytes`].
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The blocks, as stated by the server that computed the part.
    pub fn blocks(&self) -> Range<usize> {
        self.header.blocks.clone()
    }

    /// The id of the table, as stated by the server that computed the part.
    pub fn table(&self) -> TableId {
        self.header.result.table
    }

    /// Joins two parts, of which the second begins where the first ends: sums are added, and rows
    /// are concatenated.
    ///
    /// # Errors
    /// [`TablesError::OtherResult`] for parts of different answers, or parts that are not
    /// neighbors; [`TablesError::Result`] for another number of ciphertexts than the plan has; keys
    /// of another owner; those of the scheme.
    pub fn joined(&self, next: &TablePart, server: &Server) -> Result<Self, TablesError> {
        let (a, b) = (&self.header, &next.header);
        let other = |what, expected: String, found: String| {
            Err(TablesError::OtherResult { what, expected, found })
        };
        if self.plan != next.plan {
            let (expected, found) = (self.plan.sql(), next.plan.sql());
            return other("query", expected.into(), found.into());
        }
        if (a.result.table, a.result.rows) != (b.result.table, b.result.rows) {
            return other("table", self.table().to_string(), next.table().to_string());
        }
        if a.result.constants != b.result.constants {
            let shown = |id: Option<TableId>| id.map_or("none".into(), |id| id.to_string());
            let (expected, found) = (shown(a.result.constants), shown(b.result.constants));
            return other("encryption of its constants", expected, found);
        }
        if a.blocks.end != b.blocks.start {
            let expected = format!("blocks from {} on", a.blocks.end);
            return other("part of the table", expected, format!("from {} on", b.blocks.start));
        }
        let (first, second) = (self.ciphertexts(server)?, next.ciphertexts(server)?);
        let found = match self.plan.query().listed {
            Some(_) => first.into_iter().chain(second).collect(),
            // None are those of blocks that were passed over.
            None if first.is_empty() => second,
            None if second.is_empty() => first,
            None => {
                let pairs = first.iter().zip(&second);
                let added = pairs.map(|(x, y)| server.evaluator().add(x, y));
                added.collect::<Result<_, _>>()?
            }
        };
        let blocks = a.blocks.start..b.blocks.end;
        Self::new(server, PartHeader { result: a.result.clone(), blocks }, found)
    }

    /// The result, from a part that contains all blocks.
    ///
    /// # Errors
    /// [`TablesError::OtherResult`] for a part that does not contain all blocks; those of
    /// [`TablePart::joined`].
    pub fn result(&self, server: &Server) -> Result<TableResult, TablesError> {
        let ResultHeader { table, rows, constants, .. } = self.header.result;
        let all = 0..rows.div_ceil(server.params().slots());
        if self.header.blocks != all {
            return Err(TablesError::OtherResult {
                what: "part of the table",
                expected: format!("all {} blocks", all.end),
                found: format!("{} to before {}", self.blocks().start, self.blocks().end),
            });
        }
        let found = self.ciphertexts(server)?;
        TableResult::new(server, &self.plan, (table, rows), constants, found)
    }

    /// The number of ciphertexts in a part of this number of blocks, if there are any.
    fn count(&self, layout: &Layout) -> usize {
        match self.plan.query().listed {
            Some(_) => {
                let each = layout.ciphertexts() / layout.block_count();
                each.saturating_mul(self.header.blocks.len())
            }
            None => layout.ciphertexts(),
        }
    }

    fn ciphertexts(&self, server: &Server) -> Result<Vec<Ciphertext>, TablesError> {
        let params = server.params();
        let options = ReadOptions::default().limited_to(RESULT_BYTES);
        let summary = inspect(&self.bytes, &options)?;
        same_set(summary.params, params)?;
        same_owner(summary.owner, server.keys().owner(), "evaluation")?;
        let (_, layout) = self.plan.layout(params, self.header.result.rows)?;
        let options = options.believing(Bounds::Stated.policy(&Metadata::new()));
        let options = options.allowing_unknown_owner(summary.records == 0);
        let (found, _) = Vec::<Ciphertext>::from_bytes_with(params, &self.bytes, &options)?;
        let (expected, sums) = (self.count(&layout), self.plan.query().listed.is_none());
        if found.len() != expected && !(sums && found.is_empty()) {
            return wrong(format!("{} ciphertexts, and the plan has {expected}", found.len()));
        }
        Ok(found)
    }
}
