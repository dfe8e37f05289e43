//! The stage `client_decrypt_decode` of `ml-inference`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::ml::decrypt)
}
