//! `everlevel bench`.

pub mod bootstrap;
pub mod machine;
pub mod measure;
pub mod primitives;
