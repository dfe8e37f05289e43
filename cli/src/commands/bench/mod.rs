//! `everlevel bench`.

pub(crate) mod args;
pub(crate) mod bootstrap;
#[cfg(feature = "cuda")]
pub(crate) mod cuda;
pub(crate) mod integers;
pub mod measure;
pub(crate) mod operations;
pub(crate) mod primitives;
pub(crate) mod profile;
pub(crate) mod rehearsed;
