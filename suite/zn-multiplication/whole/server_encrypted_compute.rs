//! The stage `server_encrypted_compute` of `Zn-multiplication`, with results that can be
//! computed on.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::zn::whole::compute)
}
