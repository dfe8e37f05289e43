//! The stage `server_encrypted_compute` of `fetch-by-similarity`, with a server that stays.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::fetch::resident::compute)
}
