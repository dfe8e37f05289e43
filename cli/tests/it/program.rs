//! The program under test.

use std::process::{Command, Output, Stdio};

pub use self::everlevel as program;

/// What the program calls itself.
pub const NAME: &str = "everlevel";

/// Runs the program with these arguments.
pub fn everlevel(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}
