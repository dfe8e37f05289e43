//! Plans: queries with their schema, for a server.

use everlevel_wire::ParamsId;
use serde::{Deserialize, Serialize};

use crate::error::TablesError;
use crate::query::{OrderedBy, Query};
use crate::schema::{SCHEMA_BYTES, Schema};
use crate::sql::QUERY_BYTES;

/// The value of the field `format` of a plan.
const FORMAT: &str = "everlevel table plan";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 2;
/// The largest plan as JSON, in bytes, with a line break at its end: a schema, a query of which
/// JSON writes each byte as six, and the names of its fields.
pub const PLAN_BYTES: u64 = SCHEMA_BYTES + 6 * QUERY_BYTES as u64 + 4096;

/// A query with the schema that it was bound to, which the asker gives to the server.
///
/// It holds text only, and the reader binds the text again, so a plan cannot ask for anything that
/// a query could not. Everything in it is public. The same query gives equal plans for all
/// tables of one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    sql: String,
    schema: Schema,
    query: Query,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: String,
    version: u32,
    #[serde(rename = "question")]
    sql: String,
    schema: Schema,
    #[serde(default, skip_serializing_if = "OrderedBy::is_reader")]
    ordered_by: OrderedBy,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, TablesError> {
    Err(TablesError::Plan { problem: problem.into() })
}

impl Plan {
    /// Binds a query to a schema.
    ///
    /// # Errors
    /// As [`Query::parse`]: a query that cannot be answered is refused here.
    pub fn new(sql: &str, schema: &Schema) -> Result<Self, TablesError> {
        Self::ordered(sql, schema, OrderedBy::Reader)
    }

    /// The same, with a statement who orders rows: the reader, or the server, which then has to
    /// bootstrap and reveals only the rows of the answer.
    ///
    /// # Errors
    /// As [`Query::parse_ordered`].
    pub fn ordered(sql: &str, schema: &Schema, ordered_by: OrderedBy) -> Result<Self, TablesError> {
        let (query, notes) = Query::noted(sql, schema, ordered_by)?;
        Ok(Plan { sql: sql.into(), schema: schema.clone(), query, notes })
    }

    /// The text of the query.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The schema that it is bound to.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The bound query.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Notes on comparisons that hold for no row of any table of the schema, such as one with a
    /// text that is no category: the answer is exact, but may not be the one that is meant.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The plan as JSON; equal plans have equal JSON.
    ///
    /// # Errors
    /// [`TablesError::Data`] for more than [`PLAN_BYTES`], which only a schema above
    /// [`SCHEMA_BYTES`] takes.
    pub fn to_json(&self) -> Result<String, TablesError> {
        let stored = Stored {
            format: FORMAT.into(),
            version: VERSION,
            sql: self.sql.clone(),
            schema: self.schema.clone(),
            ordered_by: self.query.ordered_by,
        };
        let text = serde_json::to_string(&stored).or_else(|e| wrong(e.to_string()))?;
        // With the line break that files have.
        match text.len() as u64 + 1 {
            0..=PLAN_BYTES => Ok(text),
            bytes => {
                let problem = format!("plan: {bytes} bytes, above the limit of {PLAN_BYTES}");
                Err(TablesError::Data { problem })
            }
        }
    }

    /// Reads a plan, and binds its query again.
    ///
    /// # Errors
    /// [`TablesError::Plan`] for text that is not a plan of this version, is longer than
    /// [`PLAN_BYTES`], or has unknown or duplicate fields; those of [`Schema::new`] and
    /// [`Query::parse`].
    pub fn from_json(text: &str) -> Result<Self, TablesError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        if text.len() as u64 > PLAN_BYTES {
            return wrong(format!("{} bytes, above the limit of {PLAN_BYTES}", text.len()));
        }
        let parsed = |e: serde_json::Error| TablesError::Plan { problem: e.to_string() };
        let head: Head = serde_json::from_str(text).map_err(parsed)?;
        if head.format != FORMAT || head.version != VERSION {
            return wrong(format!(
                "expected \"{FORMAT}\", version {VERSION}: make it anew from the query, or read \
                 it with the release that wrote it"
            ));
        }
        let stored: Stored = serde_json::from_str(text).map_err(parsed)?;
        Self::ordered(&stored.sql, &stored.schema, stored.ordered_by)
    }

    /// A short id of the plan; equal plans have the same id.
    ///
    /// # Errors
    /// As [`Plan::to_json`].
    pub fn id(&self) -> Result<String, TablesError> {
        Ok(ParamsId::of_json(&self.to_json()?).to_string())
    }

    /// Checks that the plan is for tables of this schema.
    ///
    /// # Errors
    /// [`TablesError::OtherSchema`], with the first column that differs.
    pub fn check_schema(&self, of_table: &Schema) -> Result<(), TablesError> {
        self.schema.check("plan", of_table)
    }
}
