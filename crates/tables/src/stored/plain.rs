//! Tables that the server knows, and queries whose constants it does not.

use std::borrow::Cow;

use everlevel::lab::ServerEvaluator;
use everlevel::{Ciphertext, Params, Server};
use everlevel_ring::Engine;
use rand_core::CryptoRng;

use crate::data::Data;
use crate::error::TablesError;
use crate::plan::Plan;
use crate::schema::Schema;
use crate::stored::compute::{Cells, Rows, compute};
use crate::stored::constants::Constants;
use crate::stored::header::TableId;
use crate::stored::result::TableResult;

/// A table in the clear on a server, for queries with encrypted constants. The asker has the keys;
/// the server learns the text of the query, but neither its constants nor its answer.
///
/// The asker may learn more than the answer: the ciphertexts of a result are computed from the
/// table and are not re-randomized, so the holder of the secret key may find more about the table
/// in them. Use this for tables that are public, or that the asker may see.
pub struct PlainTable {
    schema: Schema,
    data: Data,
    id: TableId,
}

impl PlainTable {
    /// A table of these rows, with a random id, which results state.
    pub fn new(schema: Schema, data: Data, rng: &mut impl CryptoRng) -> Self {
        PlainTable { schema, data, id: TableId::random(rng) }
    }

    /// The schema of the table.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The id of this table in memory.
    pub fn id(&self) -> TableId {
        self.id
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.data.rows()
    }

    /// The number of blocks of rows, which are processed one after the other.
    pub fn blocks(&self, params: &Params) -> usize {
        self.rows().div_ceil(params.slots())
    }

    /// The encrypted answer to a plan with encrypted constants, over all rows. Conditions without
    /// such a constant are computed in the clear. `progress(done, blocks)` is called after each
    /// block; an error that it returns ends the work.
    ///
    /// # Errors
    /// [`TablesError::OtherSchema`] for a plan for another schema; [`TablesError::Data`] for rows
    /// that the schema does not describe; [`TablesError::Constants`] for a query without encrypted
    /// constants, which needs no encryption, and for constants that are missing or for another
    /// plan; [`TablesError::Keys`], before anything is computed, for server keys that do not
    /// suffice for the plan; those of typed integers and of `progress`.
    pub fn run<E: From<TablesError>>(
        &self,
        server: &Server<impl Engine>,
        plan: &Plan,
        constants: Option<&Constants>,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<TableResult, E> {
        plan.check_schema(&self.schema)?;
        self.data.check(&self.schema)?;
        if plan.query().parameters.is_empty() {
            let problem = "the query has none, so that nothing of it is hidden from a server \
                           that knows the table: write :NAME for a constant that is";
            return Err(TablesError::Constants { problem: problem.into() }.into());
        }
        let table = Served { table: self, slots: server.params().slots() };
        compute((self.id, &table), server, plan, constants, progress)
    }
}

/// A table in blocks of `slots` rows.
struct Served<'a> {
    table: &'a PlainTable,
    slots: usize,
}

impl Served<'_> {
    fn entries(&self, block: usize, place: usize) -> &[i128] {
        let start = block * self.slots;
        let end = self.table.rows().min(start + self.slots);
        &self.table.data.column(place)[start..end]
    }
}

impl Rows<ServerEvaluator> for Served<'_> {
    fn rows(&self) -> usize {
        self.table.rows()
    }

    fn knows(&self, _: usize) -> bool {
        true
    }

    fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Ciphertext>, TablesError> {
        Ok(Cells::Known(Cow::Borrowed(self.entries(block, place))))
    }
}
