//! `everlevel bench`.

pub(crate) mod args;
pub(crate) mod bootstrap;
pub mod measure;
pub(crate) mod primitives;
