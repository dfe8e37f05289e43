//! The program `papers` as its users see it: tables and records, the report, what it refuses.

mod aes;
mod bad_input;
mod common;
mod list;
mod ltv;
mod measured;
#[path = "../../../cli/tests/it/printed.rs"]
mod printed;
mod program;
mod report;
mod soak;
mod tables;
