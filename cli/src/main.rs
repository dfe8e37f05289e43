//! The program `everlevel`: keys, encryption, computation, parameter sets, measurements, a
//! self-test.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use everlevel_cli::console::program::finish;

fn main() -> ExitCode {
    finish("everlevel", everlevel_cli::run(std::env::args_os()))
}
