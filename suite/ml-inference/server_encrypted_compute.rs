//! The stage `server_encrypted_compute` of `ml-inference`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::ml::compute)
}
