//! `everlevel bench`.

pub mod args;
pub mod bootstrap;
pub mod machine;
pub mod measure;
pub mod primitives;
