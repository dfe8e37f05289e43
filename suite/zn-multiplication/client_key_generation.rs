//! The stage `client_key_generation` of `Zn-multiplication`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::zn::generate_key)
}
