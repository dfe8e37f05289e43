//! Encrypted tables: queries in SQL over encrypted columns of typed integers.
//!
//! * [`Schema`]: the types of the columns, with public bounds; [`Data`]: a table of plaintext
//!   values.
//! * [`Query`]: a query in SQL, bound to a schema; a query that cannot be answered exactly is
//!   refused here, before anything is computed.
//! * [`EncryptedTable`], [`Plan`], [`TableResult`]: the files that owner, analyst, server and
//!   reader exchange.
//! * [`Runner`]: the evaluation of a query on encrypted columns, by a server that learns neither
//!   the data nor which rows meet the condition.
//! * [`Answer`]: the rows of the exact answer, which the reader computes from the decrypted sums.
//! * [`OrderedBy`]: which party orders rows, for least and greatest values, medians and first rows;
//!   [`Search`]: such a value by rounds of counts.
//! * [`Workload`]: finds a method of computation and a parameter set for given values, rows and
//!   operations.
//!
//! A cell is stored as an integer code: an integer, the units of a decimal, a day number, the
//! position of a category. Conditions on a column with few values are evaluated as tables of truth
//! values, others as comparisons; sums are over products of truth values with digits.
#![forbid(unsafe_code)]

mod across;
mod alike;
mod answer;
mod apart;
mod bind;
mod block;
mod call;
mod cell;
pub mod cells;
mod change;
mod compare;
mod condition;
mod consistent;
mod data;
mod decided;
mod error;
mod field;
mod flatten;
mod fold;
mod foreign;
mod formula;
mod from;
mod having;
mod index;
mod indexed;
mod infer;
mod kept;
mod kind;
mod known;
mod layout;
mod literal;
mod nearest;
mod notes;
mod order;
mod ordered;
mod output;
mod parameter;
mod parse;
mod partner;
mod passes;
mod pattern;
mod plan;
mod quantile;
mod query;
mod ranges;
mod ranked;
mod ranker;
mod records;
mod requests;
mod rewrite;
mod rows;
mod run;
mod schema;
mod scope;
mod search;
mod select_list;
mod sought;
mod spelling;
mod sql;
mod starts;
mod stored;
mod text;
mod timestamp;
mod truth;
mod truths;
mod workload;

pub use answer::{Answer, Cell};
pub use change::{Assignment, Change, Edit};
pub use condition::{Comparison, Condition, Number};
pub use data::Data;
pub use error::TablesError;
pub use field::Field;
pub use foreign::ForeignKey;
pub use formula::{Formula, Having, Operator};
pub use indexed::Indexed;
pub use infer::Inferred;
pub use kind::Kind;
pub use known::Known;
pub use layout::Layout;
pub use nearest::did_you_mean;
pub use output::OutputType;
pub use parameter::{Meaning, Parameter};
pub use partner::Partner;
pub use plan::{PLAN_BYTES, Plan};
pub use quantile::Quantile;
pub use query::{Aggregate, Fold, OrderKey, OrderedBy, Output, Query};
pub use ranges::Ranges;
pub use records::{CsvRecords, Records};
pub use rows::Rows;
pub use run::Runner;
pub use schema::{SCHEMA_BYTES, Schema};
pub use search::Search;
pub use stored::change::Changes;
pub use stored::constants::Constants;
pub use stored::cost::{ConditionStart, PlanCost};
pub use stored::encrypt::TableKey;
pub use stored::explain::Explanation;
pub use stored::header::TableId;
pub use stored::part::TablePart;
pub use stored::plain::PlainTable;
pub use stored::result::TableResult;
pub use stored::table::EncryptedTable;
pub use timestamp::TimeUnit;
pub use workload::{
    MOST_ROWS, Operation as WorkloadOperation, OperationCost, Recommendation, Rejected, SetCost,
    Way, Workload, WorkloadError, WorkloadPlan, parse_largest, parse_rows,
};
