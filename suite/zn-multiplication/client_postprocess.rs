//! The stage `client_postprocess` of `Zn-multiplication`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::zn::postprocess)
}
