//! The program `everlevel`, which the wheel brings along.

use std::ffi::OsString;

use everlevel_cli::console::program::report;
use pyo3::prelude::*;

/// Runs the program with these arguments, its own name first, and returns its exit status.
#[pyfunction]
pub fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| report("everlevel", everlevel_cli::run(arguments)))
}
