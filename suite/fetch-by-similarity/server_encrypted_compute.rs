//! The stage `server_encrypted_compute` of `fetch-by-similarity`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::fetch::compute)
}
