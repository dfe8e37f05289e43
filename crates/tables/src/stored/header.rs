//! The statements of the files of a table about themselves.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use everlevel_wire::Metadata;
use rand_core::CryptoRng;

use crate::error::TablesError;

/// Metadata: the kind of content of a file.
const CONTENT: &str = "content";
/// Metadata: the id of the table.
const TABLE: &str = "table";
/// Metadata: the number of rows of the table.
const ROWS: &str = "rows";
/// Metadata of blocks: the number of the block.
const BLOCK: &str = "block";
/// Metadata of blocks: the index of the column in the schema.
const COLUMN: &str = "column";
/// Metadata of blocks: the id of the schema.
const SCHEMA: &str = "table schema";
/// Metadata of blocks of a public column: its codes.
const CODES: &str = "codes";
/// Metadata of parts of results: the first block, and the one after the last block.
const BLOCKS: [&str; 2] = ["first block", "end block"];
/// Metadata of results: the plan.
const PLAN: &str = "plan";
/// Metadata of constants: the id of their plan.
const PLAN_ID: &str = "plan id";
/// Metadata of constants, and of results that use them: their id.
const CONSTANTS: &str = "constants";

/// The public id of one encryption of a table, or of constants: 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId([u8; 16]);

impl TableId {
    /// A new random id.
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

/// A value of the metadata; `None` if it is missing or malformed.
fn value<T: FromStr>(metadata: &Metadata, name: &str) -> Option<T> {
    metadata.get(name)?.parse().ok()
}

/// The statements of a block of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub(crate) table: TableId,
    pub(crate) schema: String,
    pub(crate) rows: usize,
    pub(crate) block: usize,
    pub(crate) column: usize,
}

impl BlockHeader {
    /// Adds the statements to the metadata of a file.
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

    /// The statements in the metadata of a file; `None` if it is not a block of a table.
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

/// States the codes of the rows of a public column.
pub(crate) fn state_codes(metadata: &mut Metadata, codes: &[i128]) {
    let codes: Vec<String> = codes.iter().map(i128::to_string).collect();
    metadata.insert(CODES.into(), codes.join(" "));
}

/// The codes of the rows of a public column, if the file holds one.
pub(crate) fn codes_in(metadata: &Metadata) -> Option<Vec<i128>> {
    metadata.get(CODES)?.split(' ').map(|code| code.parse().ok()).collect()
}

/// The statements of encrypted constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstantsHeader {
    pub(crate) id: TableId,
    /// The id of the plan that they are for.
    pub(crate) plan: String,
}

impl ConstantsHeader {
    /// Adds the statements to the metadata of a file.
    pub(crate) fn state(&self, metadata: &mut Metadata) {
        for (name, value) in [
            (CONTENT, "table-constants".to_string()),
            (CONSTANTS, self.id.to_string()),
            (PLAN_ID, self.plan.clone()),
        ] {
            metadata.insert(name.into(), value);
        }
    }

    /// The statements in the metadata of a file; `None` if it does not hold constants.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        (metadata.get(CONTENT)? == "table-constants").then_some(())?;
        Some(ConstantsHeader { id: value(metadata, CONSTANTS)?, plan: value(metadata, PLAN_ID)? })
    }
}

/// The statements of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultHeader {
    pub(crate) table: TableId,
    pub(crate) rows: usize,
    /// The encrypted constants that were used, if there were any.
    pub(crate) constants: Option<TableId>,
    /// The plan as JSON.
    pub(crate) plan: String,
}

impl ResultHeader {
    /// Adds the statements to the metadata of a file.
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

    /// The statements in the metadata of a file; `None` if it is not a result.
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

/// The statements of a part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartHeader {
    /// The statements of the whole result.
    pub(crate) result: ResultHeader,
    /// The blocks from which it is computed.
    pub(crate) blocks: Range<usize>,
}

impl PartHeader {
    /// Adds the statements to the metadata of a file.
    pub(crate) fn state(&self, metadata: &mut Metadata) {
        self.result.state(metadata);
        metadata.insert(CONTENT.into(), "table-part".into());
        for (name, block) in BLOCKS.iter().zip([self.blocks.start, self.blocks.end]) {
            metadata.insert((*name).into(), block.to_string());
        }
    }

    /// The statements in the metadata of a file; `None` if it is not a part of a result.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        let result = ResultHeader::of_content(metadata, "table-part")?;
        let [first, end] = BLOCKS.map(|name| value(metadata, name));
        let blocks: Range<usize> = first?..end?;
        (!blocks.is_empty()).then_some(PartHeader { result, blocks })
    }
}
