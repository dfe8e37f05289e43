//! Encrypted tables, plans, constants and results as the files that owner, asker, server and reader
//! exchange.

pub(crate) mod advice;
pub(crate) mod change;
pub(crate) mod compute;
pub(crate) mod constants;
pub(crate) mod cost;
pub(crate) mod create;
pub(crate) mod decrypt;
pub(crate) mod directory;
pub(crate) mod encrypt;
pub(crate) mod explain;
pub(crate) mod files;
pub(crate) mod header;
pub(crate) mod keys;
pub(crate) mod levels;
pub(crate) mod listing;
pub(crate) mod part;
pub(crate) mod plain;
pub(crate) mod rehearse;
#[cfg(test)]
mod rehearse_apart;
pub(crate) mod result;
pub(crate) mod start;
mod suffice;
pub(crate) mod table;
