//! The stage `client_decrypt_decode` of `Zn-multiplication`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::zn::decrypt)
}
