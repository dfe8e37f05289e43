//! The stage `server_encrypted_compute` of `Zn-multiplication`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::zn::compute)
}
