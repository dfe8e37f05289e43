//! The program under test.

use std::path::Path;
use std::process::{Command, Output, Stdio};

pub use self::papers as program;

/// What the program calls itself.
pub const NAME: &str = "papers";

/// Runs the program with these arguments.
pub fn papers(args: &[&str]) -> Output {
    papers_in(Path::new(env!("CARGO_MANIFEST_DIR")), args)
}

/// Runs the program in a directory.
pub fn papers_in(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_papers"))
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}
