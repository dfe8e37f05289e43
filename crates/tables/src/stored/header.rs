//! What the files of a table say about themselves.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use everlevel_wire::Metadata;
use rand_core::CryptoRng;

use crate::error::TablesError;

/// Metadata: what the columns of a file are.
const CONTENT: &str = "content";
/// Metadata: the id of the table.
const TABLE: &str = "table";
/// Metadata: how many rows the table has.
const ROWS: &str = "rows";
/// Metadata of blocks: the number of the block.
const BLOCK: &str = "block";
/// Metadata of blocks: the place of the column in the schema.
const COLUMN: &str = "column";
/// Metadata of blocks: the id of the schema.
const SCHEMA: &str = "table schema";
/// Metadata of blocks of a public column: its codes.
const CODES: &str = "codes";
/// Metadata of parts of results: the first block, and the one behind the last one.
const BLOCKS: [&str; 2] = ["first block", "end block"];
/// Metadata of results: the plan.
const PLAN: &str = "plan";
/// Metadata of constants: the id of their plan.
const PLAN_ID: &str = "plan id";
/// Metadata of constants, and of results of them: their id.
const CONSTANTS: &str = "constants";

/// The public name of one encryption of a table, or of constants: 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId([u8; 16]);

impl TableId {
    /// A new one.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut bits = [0; 16];
        rng.fill_bytes(&mut bits);
        TableId(bits)
    }
}

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for TableId {
    type Err = TablesError;

    fn from_str(text: &str) -> Result<Self, TablesError> {
        let digit = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
        let bits = u128::from_str_radix(text, 16).ok();
        let bits = bits.filter(|_| text.len() == 32 && text.as_bytes().iter().all(digit));
        let problem = || "the id of a table has 32 hexadecimal digits".into();
        let bits = bits.ok_or_else(|| TablesError::Table { problem: problem() })?;
        Ok(TableId(bits.to_be_bytes()))
    }
}

/// A value of metadata; none if it is not there or not what it should be.
fn value<T: FromStr>(metadata: &Metadata, name: &str) -> Option<T> {
    metadata.get(name)?.parse().ok()
}

/// What a block of a column says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub(crate) table: TableId,
    pub(crate) schema: String,
    pub(crate) rows: usize,
    pub(crate) block: usize,
    pub(crate) column: usize,
}

impl BlockHeader {
    /// What it adds to the metadata of a file.
    pub(crate) fn state(&self, metadata: &mut Metadata) {
        for (name, value) in [
            (CONTENT, "table-block".to_string()),
            (TABLE, self.table.to_string()),
            (SCHEMA, self.schema.clone()),
            (ROWS, self.rows.to_string()),
            (BLOCK, self.block.to_string()),
            (COLUMN, self.column.to_string()),
        ] {
            metadata.insert(name.into(), value);
        }
    }

    /// From the metadata of a file; none if it is no block of a table.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        (metadata.get(CONTENT)? == "table-block").then_some(())?;
        Some(BlockHeader {
            table: value(metadata, TABLE)?,
            schema: value(metadata, SCHEMA)?,
            rows: value(metadata, ROWS).filter(|rows| *rows > 0)?,
            block: value(metadata, BLOCK)?,
            column: value(metadata, COLUMN)?,
        })
    }
}

/// States what the rows of a public column hold.
pub(crate) fn state_codes(metadata: &mut Metadata, codes: &[i128]) {
    let codes: Vec<String> = codes.iter().map(i128::to_string).collect();
    metadata.insert(CODES.into(), codes.join(" "));
}

/// What the rows of a public column hold, if the file is of one.
pub(crate) fn codes_in(metadata: &Metadata) -> Option<Vec<i128>> {
    metadata.get(CODES)?.split(' ').map(|code| code.parse().ok()).collect()
}

/// What encrypted constants say of themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstantsHeader {
    pub(crate) id: TableId,
    /// The id of the plan that they are for.
    pub(crate) plan: String,
}

impl ConstantsHeader {
    /// What it adds to the metadata of a file.
    pub(crate) fn state(&self, metadata: &mut Metadata) {
        for (name, value) in [
            (CONTENT, "table-constants".to_string()),
            (CONSTANTS, self.id.to_string()),
            (PLAN_ID, self.plan.clone()),
        ] {
            metadata.insert(name.into(), value);
        }
    }

    /// From the metadata of a file; none if it holds no constants.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        (metadata.get(CONTENT)? == "table-constants").then_some(())?;
        Some(ConstantsHeader { id: value(metadata, CONSTANTS)?, plan: value(metadata, PLAN_ID)? })
    }
}

/// What a result says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultHeader {
    pub(crate) table: TableId,
    pub(crate) rows: usize,
    /// The encrypted constants that were used, if there were any.
    pub(crate) constants: Option<TableId>,
    /// As JSON.
    pub(crate) plan: String,
}

impl ResultHeader {
    /// What it adds to the metadata of a file.
    pub(crate) fn state(&self, metadata: &mut Metadata) {
        for (name, value) in [
            (CONTENT, "table-result".to_string()),
            (TABLE, self.table.to_string()),
            (ROWS, self.rows.to_string()),
            (PLAN, self.plan.clone()),
        ] {
            metadata.insert(name.into(), value);
        }
        if let Some(constants) = self.constants {
            metadata.insert(CONSTANTS.into(), constants.to_string());
        }
    }

    /// From the metadata of a file; none if it is no result.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        Self::of_content(metadata, "table-result")
    }

    fn of_content(metadata: &Metadata, content: &str) -> Option<Self> {
        (metadata.get(CONTENT)? == content).then_some(())?;
        Some(ResultHeader {
            table: value(metadata, TABLE)?,
            rows: value(metadata, ROWS).filter(|rows| *rows > 0)?,
            constants: value(metadata, CONSTANTS),
            plan: value(metadata, PLAN)?,
        })
    }
}

/// What a part of a result says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartHeader {
    /// What the result will say.
    pub(crate) result: ResultHeader,
    /// The blocks that it is computed of.
    pub(crate) blocks: Range<usize>,
}

impl PartHeader {
    /// What it adds to the metadata of a file.
    pub(crate) fn state(&self, metadata: &mut Metadata) {
        self.result.state(metadata);
        metadata.insert(CONTENT.into(), "table-part".into());
        for (name, block) in BLOCKS.iter().zip([self.blocks.start, self.blocks.end]) {
            metadata.insert((*name).into(), block.to_string());
        }
    }

    /// From the metadata of a file; none if it is no part of a result.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        let result = ResultHeader::of_content(metadata, "table-part")?;
        let [first, end] = BLOCKS.map(|name| value(metadata, name));
        let blocks: Range<usize> = first?..end?;
        (!blocks.is_empty()).then_some(PartHeader { result, blocks })
    }
}
