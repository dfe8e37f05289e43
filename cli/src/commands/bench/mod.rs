//! `everlevel bench`.

pub(crate) mod args;
pub(crate) mod bootstrap;
pub(crate) mod integers;
pub mod measure;
pub(crate) mod operations;
pub(crate) mod primitives;
pub(crate) mod profile;
