//! The `everlevel` program.
fn main() {}
