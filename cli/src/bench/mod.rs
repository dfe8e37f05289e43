//! `everlevel bench`.

pub mod bootstrap;
pub mod machine;
pub mod primitives;
