//! Encrypted tables.

mod clear;
mod convert;
mod plan;
mod result;
mod search;
mod table;

pub use clear::{index_table_schema, infer_table_schema, table_schema};
pub use plan::{
    encrypt_table_constants, table_constants_facts, table_plan, table_plan_answer, table_plan_cost,
    table_plan_explain, table_plan_facts, table_plan_keys, table_plan_notes, table_plan_parameters,
};
pub use result::{join_table_parts, read_table_result, table_part_result, table_result_facts};
pub use search::TableSearch;
pub use table::{KnownTable, Table};
