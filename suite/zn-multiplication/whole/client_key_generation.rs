//! The stage `client_key_generation` of `Zn-multiplication`, with results that can be computed on.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::zn::whole::generate_keys)
}
