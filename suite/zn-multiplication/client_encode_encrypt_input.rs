//! The stage `client_encode_encrypt_input` of `Zn-multiplication`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::zn::encrypt)
}
