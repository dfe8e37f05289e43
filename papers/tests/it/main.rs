//! The program `papers` as its users see it: tables and records, the report, what it refuses.

mod aes;
mod bad_input;
mod common;
mod list;
mod ltv;
mod report;
mod security;
mod soak;
mod tables;
