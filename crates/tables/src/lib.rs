//! Encrypted tables: SQL over columns of typed integers that the server cannot read.
//!
//! * [`Schema`]: what the columns hold, with public bounds; [`Data`]: a table in the clear.
//! * [`Query`]: a question in SQL, bound to a schema; what cannot be answered exactly is refused
//!   here, before anything is computed.
//! * [`EncryptedTable`], [`Plan`], [`TableResult`]: the same as files, which owner, analyst, server
//!   and reader exchange.
//! * [`Runner`]: its sums over encrypted columns, on a server that sees neither data nor which rows
//!   are meant.
//! * [`Answer`]: the rows that the reader makes of the decrypted sums, exactly.
//! * [`OrderedBy`]: who puts rows in order, for least and greatest values, medians and first rows;
//!   [`Search`]: the same value in rounds of counts.
//! * [`Workload`]: from values, rows and operations to a way of computing and a parameter set.
//!
//! A cell is an integer code: an integer, units of a decimal, a day, the place of a category.
//! Conditions on a column with few values are tables of truth values, others are comparisons; sums
//! are over a product of truth values with digits.
#![forbid(unsafe_code)]

mod answer;
mod bind;
mod block;
mod cell;
pub mod cells;
mod change;
mod compare;
mod condition;
mod consistent;
mod data;
mod error;
mod field;
mod flatten;
mod fold;
mod foreign;
mod formula;
mod from;
mod having;
mod infer;
mod kind;
mod known;
mod layout;
mod literal;
mod nearest;
mod order;
mod ordered;
mod output;
mod parse;
mod partner;
mod pattern;
mod plan;
mod query;
mod ranges;
mod records;
mod requests;
mod rewrite;
mod rows;
mod run;
mod schema;
mod scope;
mod search;
mod select_list;
mod spelling;
mod sql;
mod stored;
mod text;
mod timestamp;
mod truth;
mod workload;

pub use answer::{Answer, Cell};
pub use change::{Assignment, Change, Edit};
pub use condition::{Comparison, Condition, Number};
pub use data::Data;
pub use error::TablesError;
pub use field::Field;
pub use foreign::ForeignKey;
pub use formula::{Formula, Having, Operator};
pub use infer::Inferred;
pub use kind::Kind;
pub use known::Known;
pub use layout::Layout;
pub use nearest::did_you_mean;
pub use output::OutputType;
pub use partner::Partner;
pub use plan::Plan;
pub use query::{Aggregate, Fold, OrderKey, OrderedBy, Output, Parameter, Query};
pub use ranges::Ranges;
pub use records::{CsvRecords, Records};
pub use rows::Rows;
pub use run::Runner;
pub use schema::{SCHEMA_BYTES, Schema};
pub use search::Search;
pub use stored::change::Changes;
pub use stored::constants::Constants;
pub use stored::cost::PlanCost;
pub use stored::encrypt::TableKey;
pub use stored::explain::Explanation;
pub use stored::header::TableId;
pub use stored::part::TablePart;
pub use stored::plain::PlainTable;
pub use stored::result::TableResult;
pub use stored::table::EncryptedTable;
pub use timestamp::TimeUnit;
pub use workload::{
    MOST_ROWS, Operation as WorkloadOperation, OperationCost, Recommendation, Rejected, Way,
    Workload, WorkloadError, WorkloadPlan, parse_largest, parse_rows,
};
